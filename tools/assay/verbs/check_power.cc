// assay check --power: how many wrong answers the bounds convict.
#include "tools/assay/verbs/check_power.h"

#include "reference/interpreter/interpreter.h"
#include "reference/power/choice_search.h"
#include "spec/base/strings.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

std::string Share(int64_t part, int64_t whole) {
  return StrCat(Grouped(part), " of ", Grouped(whole), " (",
                Percent(static_cast<double>(part), static_cast<double>(whole)), ")");
}

nlohmann::json CountsOf(const ModulePower& power) {
  return {{"moved", power.moved},
          {"moved_caught", power.moved_caught},
          {"flipped", power.flipped},
          {"flipped_caught", power.flipped_caught},
          {"skipped", power.skipped},
          {"legal", power.legal},
          {"legal_rejected", power.legal_rejected}};
}

}  // namespace

int RunPower(const std::vector<CaseFile>& cases, Backend* backend, const CheckOptions& options,
             bool all, bool json) {
  std::unique_ptr<Oracle> oracle = MakeOracle();
  ModulePower total;
  int64_t errors = 0;
  ProgressLine progress;
  for (const CaseFile& file : cases) {
    progress.Show(StrCat("bending ", file.name));
    absl::StatusOr<ModulePower> power =
        MeasurePower(file, *oracle, backend, reference::EvaluateWithChoices, options);
    progress.Clear();
    if (!power.ok()) {
      ++errors;
      PrintError(StrCat(file.name, ": ", ToStd(power.status().message())));
      continue;
    }
    total.moved += power->moved;
    total.moved_caught += power->moved_caught;
    total.flipped += power->flipped;
    total.flipped_caught += power->flipped_caught;
    total.skipped += power->skipped;
    total.legal += power->legal;
    total.legal_rejected += power->legal_rejected;
    if (json) {
      nlohmann::json line = CountsOf(*power);
      line["type"] = "power";
      line["name"] = file.name;
      line["missed"] = power->missed;
      line["outputs"] = nlohmann::json::array();
      for (const MovedOutput& output : power->outputs) {
        line["outputs"].push_back({{"output", output.output},
                                   {"deviation", output.deviation},
                                   {"radius", output.radius},
                                   {"caught", output.caught}});
      }
      PrintJson(line);
    } else if (all || !power->missed.empty()) {
      for (const std::string& missed : power->missed)
        Print(StrCat("missed ", file.name, ": ", missed));
      if (power->missed.empty()) Print(StrCat("caught ", file.name));
    }
  }
  if (json) {
    nlohmann::json summary = CountsOf(total);
    summary["type"] = "summary";
    summary["verb"] = "check";
    summary["modules"] = cases.size();
    summary["errors"] = errors;
    PrintJson(summary);
  } else {
    Print(StrCat(Count(static_cast<int64_t>(cases.size()), "module"), ": ",
                 Share(total.moved_caught, total.moved), " moved elements fail, ",
                 Share(total.flipped_caught, total.flipped), " flipped bits fail, ",
                 Share(total.legal_rejected, total.legal), " legal evaluations are rejected, ",
                 Grouped(total.skipped), " outputs had nothing to bend, ", Grouped(errors),
                 " modules had no expectation"));
  }
  const bool enough = 10 * total.moved_caught >= 9 * total.moved &&
                      total.flipped_caught == total.flipped && total.legal_rejected == 0 &&
                      errors == 0;
  return enough ? kExitOk : kExitFailure;
}

}  // namespace assay
