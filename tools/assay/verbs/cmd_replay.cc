// assay replay: one case again, from a bug folder, a module, or a campaign's seed and index.
#include <memory>
#include <optional>

#include "conformance/recorded_result.h"
#include "fuzz/blame/requests.h"
#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/failure_options.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  FailureOptions failure;
  int64_t limit = -1;
  bool repeat = false;
  bool show = false;
  bool json = false;
};

absl::StatusOr<int> Run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<FailureCase> failure, OpenFailure(options.failure));
  const FailureCase& c = *failure;
  const CheckRequest request =
      options.repeat ? Repeated(options.limit) : CheckRequest{.decision_limit = options.limit};
  const CheckResult result = CheckIsolated(c.Subject(), c.Case(), request);
  const Outcome& outcome = result.outcome;
  const std::string detail = outcome.Describe();
  const bool fails = outcome.IsFailure();
  if (options.json) {
    PrintJson({{"backend", c.finding.backend},
               {"state", StateWord(outcome)},
               {"kind", fails ? Name(outcome.kind) : ""},
               {"detail", detail},
               {"decisions", result.decisions.size()}});
    return fails ? kExitFailure : kExitOk;
  }
  if (!c.inputs.empty()) Print(c.inputs);
  if (options.show) Print(c.finding.module_text);
  Print(StrCat(c.finding.backend, ": ",
               Styled(fails ? Style::kBad : Style::kGood, StateWord(outcome)),
               fails ? StrCat(", ", Name(outcome.kind)) : "", ", profile ", c.profile->name(), ", ",
               Count(static_cast<int64_t>(result.decisions.size()), "decision")));
  if (!detail.empty()) Print(detail);
  if (!c.inputs.empty()) {
    const std::optional<Outcome> recorded =
        JudgeRecorded(c.file, *c.oracle, *c.profile, kTriageLimits);
    if (recorded.has_value()) Print(StrCat("recorded result: ", StateWord(*recorded)));
    if (recorded.has_value() && recorded->kind == Outcome::kWrong) {
      Print(recorded->Describe());
      return kExitFailure;
    }
  }
  return fails ? kExitFailure : kExitOk;
}

}  // namespace

void DeclareReplay(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  options->failure.Declare(line, true);
  line.Add("--limit", options->limit, "Refuse the backend's decisions above this number")
      .NonNegative();
  line.AddFlag("--repeat", options->repeat, "Compile and run several times; bits must not differ");
  line.AddFlag("--show", options->show, "Print the program first");
  line.AddFlag("--json", options->json, "One JSON object");
  action = [options] { return Run(*options); };
}

}  // namespace assay
