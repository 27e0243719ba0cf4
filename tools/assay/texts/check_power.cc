// assay check --power and --mistakes: how many wrong answers the bounds convict.
#include "tools/assay/texts/check_power.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "optimized/pipeline/registry.h"
#include "reference/interpreter/interpreter.h"
#include "reference/power/choice_search.h"
#include "spec/base/strings.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

// Element evaluations spent on the search for the worst legal deviation of a program.
constexpr int64_t kStepsOfSearch = 20'000'000;

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

// Legal compilations of Assay's own compiler and of XLA:CPU: passes left out one at a time, other
// numbers of threads, other instruction sets, less freedom with floats.
std::vector<std::map<std::string, std::string>> LegalFlags(const BackendDescription& backend) {
  std::vector<std::map<std::string, std::string>> flags;
  if (backend.has_decisions) {
    for (const char* passes : {"on", "off", "all"}) flags.push_back({{"passes", passes}});
    for (const char* threads : {"1", "2", "3"}) flags.push_back({{"threads", threads}});
    for (const char* isa : {"baseline", "avx2"}) flags.push_back({{"isa", isa}});
    for (const char* tier : {"fast", "full"}) flags.push_back({{"tier", tier}});
    for (const PassInfo& pass : AllPasses())
      if (pass.runs_in == RunsIn::kPipeline) flags.push_back({{"without", std::string(pass.name)}});
  } else if (backend.dumps_passes) {
    flags = {{{"xla_cpu_enable_fast_math", "false"}},
             {{"xla_cpu_enable_fast_math", "true"}},
             {{"xla_cpu_enable_fast_min_max", "false"}},
             {{"xla_cpu_use_fusion_emitters", "false"}},
             {{"xla_llvm_disable_expensive_passes", "true"}},
             {{"xla_backend_optimization_level", "0"}},
             {{"xla_cpu_max_isa", "AVX2"}},
             {{"xla_cpu_max_isa", "SSE4_2"}},
             {{"xla_cpu_prefer_vector_width", "128"}},
             {{"xla_cpu_multi_thread_eigen", "false"}},
             {{"xla_allow_excess_precision", "false"}}};
    for (const char* pass : {"algsimp",
                             "batch-dot-simplification",
                             "call-inliner",
                             "change-op-data-type",
                             "constant_folding",
                             "cse",
                             "dce",
                             "dot-merger",
                             "dot_dimension_merger",
                             "fusion",
                             "gather_simplifier",
                             "convolution-group-converter",
                             "reduce-decomposer",
                             "reshape-mover",
                             "simplify-fp-conversions",
                             "simplify-sorts",
                             "slice-sinker",
                             "transpose-folding",
                             "tree_reduction_rewriter",
                             "while-loop-constant-sinking",
                             "while-loop-invariant-code-motion",
                             "simplify-while-loops",
                             "zero_sized_hlo_elimination"})
      flags.push_back({{"xla_disable_hlo_passes", pass}});
  }
  return flags;
}

nlohmann::json LineOf(const CutPower& power) {
  nlohmann::json mistakes = nlohmann::json::array();
  for (const MistakePower& mistake : power.mistakes) {
    mistakes.push_back({{"instruction", mistake.instruction},
                        {"kind", mistake.kind},
                        {"what", mistake.what},
                        {"verdict", Name(mistake.verdict)},
                        {"is_whole", mistake.is_whole},
                        {"is_named", mistake.is_named},
                        {"in_its_stretch", mistake.in_its_stretch},
                        {"reason", mistake.reason}});
    const bool is_finite = std::isfinite(mistake.visibility);
    mistakes.back()["visibility"] =
        is_finite ? nlohmann::json(mistake.visibility) : nlohmann::json(nullptr);
  }
  return {{"type", "mistakes"},
          {"name", power.name},
          {"tried", power.tried},
          {"not_visible", power.not_visible},
          {"mistakes", std::move(mistakes)},
          {"recompiled", power.recompiled},
          {"recompiled_failed", power.recompiled_failed},
          {"recompiled_open", power.recompiled_open},
          {"not_compiled", power.not_compiled},
          {"alarms", power.alarms},
          {"seconds", power.seconds}};
}

// Verdicts on the mistakes of one kind.
struct KindSums {
  int64_t visible = 0, fails = 0, named = 0, passes = 0, inconclusive = 0, not_visible = 0;

  void Add(const MistakePower& mistake) {
    ++visible;
    fails += mistake.Fails() ? 1 : 0;
    named += mistake.Fails() && mistake.is_named ? 1 : 0;
    passes += mistake.verdict == MistakePower::kPasses ? 1 : 0;
    inconclusive += mistake.verdict == MistakePower::kInconclusive ? 1 : 0;
  }
};

struct MistakeSums {
  KindSums all;
  std::map<std::string, KindSums> kinds;
  int64_t in_its_stretch = 0;
  int64_t recompiled = 0, recompiled_failed = 0, errors = 0;

  void Add(const CutPower& power) {
    for (const MistakePower& mistake : power.mistakes) {
      all.Add(mistake);
      kinds[mistake.kind].Add(mistake);
      in_its_stretch += mistake.Fails() && mistake.in_its_stretch ? 1 : 0;
    }
    for (const auto& [kind, count] : power.not_visible) {
      all.not_visible += count;
      kinds[kind].not_visible += count;
    }
    recompiled += power.recompiled;
    recompiled_failed += power.recompiled_failed;
  }
  std::string ToString() const {
    return StrCat(Share(all.fails, all.visible), " visible mistakes fail, ",
                  Share(all.named, all.fails), " of these named, ", Grouped(all.passes), " pass, ",
                  Grouped(all.inconclusive), " inconclusive, ",
                  Share(recompiled_failed, recompiled), " legal recompilations fail");
  }
  bool IsEnough() const {
    return 20 * all.fails >= 19 * all.visible && 10 * all.named >= 9 * all.fails &&
           all.passes == 0 && recompiled_failed == 0 && errors == 0;
  }
};

std::string TableOf(const std::map<std::string, KindSums>& kinds) {
  Table table({{"kind"},
               {"visible", Table::kRight},
               {"fail", Table::kRight},
               {"named", Table::kRight},
               {"pass", Table::kRight},
               {"inconclusive", Table::kRight},
               {"not visible", Table::kRight}});
  for (const auto& [kind, sums] : kinds) {
    table.Add({kind, Grouped(sums.visible), Grouped(sums.fails), Grouped(sums.named),
               Grouped(sums.passes), Grouped(sums.inconclusive), Grouped(sums.not_visible)});
  }
  return table.ToString();
}

nlohmann::json JsonOf(const std::map<std::string, KindSums>& kinds) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [kind, sums] : kinds) {
    json[kind] = {{"visible", sums.visible},
                  {"fails", sums.fails},
                  {"named", sums.named},
                  {"passes", sums.passes},
                  {"inconclusive", sums.inconclusive},
                  {"not_visible", sums.not_visible}};
  }
  return json;
}

void PrintMistakes(const CutPower& power) {
  MistakeSums sums;
  sums.Add(power);
  Print(StrCat(power.name, ": ", sums.ToString(), " in ", Seconds(power.seconds)));
  for (const MistakePower& mistake : power.mistakes) {
    if (mistake.Fails() && mistake.is_named) continue;
    const std::string_view how = mistake.Fails() ? "not named" : Name(mistake.verdict);
    Print(StrCat("  ", how, ": ", mistake.kind, " of ", mistake.instruction, ", ", mistake.what,
                 ", ", absl::StrFormat("%.3g", mistake.visibility),
                 " times the worst legal deviation; ",
                 mistake.reason.substr(0, mistake.reason.find('\n'))));
  }
  for (const std::string& alarm : power.alarms) Print(StrCat("  false alarm: ", alarm));
}

}  // namespace

int RunMistakes(const std::vector<CaseFile>& cases, Backend& backend, const CheckOptions& options,
                const CutPowerOptions& wanted, bool json) {
  std::unique_ptr<Oracle> oracle = MakeOracle();
  CutPowerOptions all = wanted;
  all.flags = LegalFlags(backend.Describe());
  MistakeSums sums;
  ProgressLine progress;
  for (const CaseFile& file : cases) {
    progress.Show(StrCat("mistaking ", file.name));
    absl::StatusOr<CutPower> power = MeasureCutPower(
        file, *oracle, backend,
        [](const CheckCase& check_case) {
          return reference::SearchChoices(check_case, kStepsOfSearch);
        },
        options, all);
    progress.Clear();
    if (!power.ok()) {
      ++sums.errors;
      PrintError(StrCat(file.name, ": ", ToStd(power.status().message())));
      continue;
    }
    sums.Add(*power);
    if (json) {
      PrintJson(LineOf(*power));
    } else {
      PrintMistakes(*power);
    }
  }
  if (json) {
    PrintJson({{"type", "summary"},
               {"verb", "check"},
               {"modules", cases.size()},
               {"visible", sums.all.visible},
               {"fails", sums.all.fails},
               {"named", sums.all.named},
               {"in_its_stretch", sums.in_its_stretch},
               {"passes", sums.all.passes},
               {"inconclusive", sums.all.inconclusive},
               {"not_visible", sums.all.not_visible},
               {"kinds", JsonOf(sums.kinds)},
               {"recompiled", sums.recompiled},
               {"recompiled_failed", sums.recompiled_failed},
               {"errors", sums.errors}});
  } else {
    Print(TableOf(sums.kinds));
    Print(StrCat(Count(static_cast<int64_t>(cases.size()), "module"), ": ", sums.ToString(), ", ",
                 Grouped(sums.errors), " modules could not be measured"));
  }
  return sums.IsEnough() ? kExitOk : kExitFailure;
}

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
