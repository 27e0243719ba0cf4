// Compiles a program wrongly, and rightly in other ways, and counts what verdicts by cuts say.
#include "conformance/cut_power.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "conformance/cuts/cut_check.h"
#include "conformance/cuts/excess_precision.h"
#include "conformance/cuts/mistakes.h"
#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/element_sizes.h"
#include "spec/numerics/sharpness.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

constexpr int kExcessPrecisionRuns = 12;

// A compiler that makes one mistake in whatever is made of the program.
class MistakenBackend : public Backend {
 public:
  MistakenBackend(Backend& right, const Mistake& mistake) : right_(right), mistake_(mistake) {}
  const BackendDescription& Describe() const override { return right_.Describe(); }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module& module,
                                                      const CompileOptions& options) override {
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> wrong, WithMistake(module, mistake_));
    return right_.Compile(*wrong, options);
  }

 private:
  Backend& right_;
  const Mistake& mistake_;
};

// Returns how far each result strays from the right one, in parts of the larger of the element and
// the root mean square of all.
std::vector<double> Strayed(absl::Span<const Literal* const> right,
                            absl::Span<const Literal* const> other) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> strayed(right.size());
  for (size_t k = 0; k < right.size(); ++k) {
    if (BoundsPerElement(right[k]->element_type()) == 0) {
      if (!right[k]->BitwiseEqual(*other[k])) strayed[k] = kInfinity;
      continue;
    }
    const int64_t count = right[k]->component_count();
    const double mean = RootMeanSquare(*right[k]);
    for (int64_t i = 0; i < count; ++i) {
      const double x = right[k]->GetComponent(i), y = other[k]->GetComponent(i);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      const double scale = std::max(std::fabs(x), mean);
      const bool is_finite = std::isfinite(x) && std::isfinite(y) && scale > 0;
      strayed[k] = std::max(strayed[k], is_finite ? std::fabs(x - y) / scale : kInfinity);
    }
  }
  return strayed;
}

class PowerOfCuts {
 public:
  PowerOfCuts(const FlatModule& flat, const CaseArrays& arrays, Oracle& oracle, Backend& backend,
              const CheckOptions& options)
      : flat_(flat),
        arguments_(Pointers(arrays.arguments)),
        oracle_(oracle),
        backend_(backend),
        options_(options),
        random_(options.seed) {}

  absl::StatusOr<CutPower> Measure(const LegalAnswers& legal, const CutPowerOptions& wanted) {
    const double start = Now();
    ASSAY_ASSIGN_OR_RETURN(right_, Run(backend_, options_.compile));
    strayed_.resize(LeavesOf(right_).size());
    if (wanted.mistakes > 0) {
      ASSAY_ASSIGN_OR_RETURN(expectation_, ExpectationOf(Case(), oracle_, options_));
    }
    if (legal != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(const std::vector<Literal> answers, legal(Case()));
      for (const Literal& answer : answers) NoteLegal(Leaves(answer));
    }
    NoteExcessPrecision();
    for (int64_t k = 0; k < wanted.recompilations; ++k) Recompile(k, wanted.flags);
    std::vector<Mistake> mistakes = Shuffled();
    for (const Mistake& mistake : mistakes) {
      if (static_cast<int64_t>(power_.mistakes.size()) >= wanted.mistakes) break;
      TryMistake(mistake);
    }
    power_.seconds = Now() - start;
    return std::move(power_);
  }

 private:
  static std::vector<const Literal*> LeavesOf(const RunResult& run) {
    return Leaves(run.outputs[0]);
  }

  absl::StatusOr<RunResult> Run(Backend& backend, const CompileOptions& compile) {
    return CompileAndRun(backend, *flat_.module, arguments_, compile);
  }

  void NoteLegal(absl::Span<const Literal* const> answer) {
    const std::vector<double> strayed = Strayed(LeavesOf(right_), answer);
    for (size_t k = 0; k < strayed.size(); ++k) strayed_[k] = std::max(strayed_[k], strayed[k]);
  }

  void NoteExcessPrecision() {
    if (!options_.profile->Grants(ClauseId::kExcessPrecision)) return;
    for (int k = 0; k < kExcessPrecisionRuns; ++k) {
      const std::unique_ptr<Module> wide = WithExcessPrecision(*flat_.module, random_);
      if (wide == nullptr) return;
      absl::StatusOr<RunResult> run = CompileAndRun(backend_, *wide, arguments_, options_.compile);
      if (run.ok()) NoteLegal(LeavesOf(*run));
    }
  }

  CheckCase Case() const { return {*flat_.module, {arguments_}}; }

  CutSubject Subject(Backend& backend, const CompileOptions& compile, const RunResult& plain) {
    return {*flat_.module, arguments_,      oracle_, backend, *options_.profile,
            compile,       LeavesOf(plain), {},      false,   {}};
  }

  // Mistakes of all kinds by turns, at random places.
  std::vector<Mistake> Shuffled() {
    std::map<std::string, std::vector<Mistake>> kinds;
    for (Mistake& mistake : MistakesIn(*flat_.module))
      kinds[mistake.kind].push_back(std::move(mistake));
    std::vector<Mistake> shuffled;
    for (auto& [kind, list] : kinds) std::shuffle(list.begin(), list.end(), random_);
    for (size_t k = 0; !kinds.empty(); ++k) {
      for (auto& [kind, list] : kinds)
        if (k < list.size()) shuffled.push_back(std::move(list[k]));
      std::erase_if(kinds, [&](const auto& entry) { return k >= entry.second.size(); });
    }
    return shuffled;
  }

  void TryMistake(const Mistake& mistake) {
    MistakenBackend mistaken(backend_, mistake);
    absl::StatusOr<RunResult> wrong = Run(mistaken, options_.compile);
    if (!wrong.ok()) return;
    ++power_.tried;
    MistakePower result{mistake.instruction, mistake.kind, mistake.what};
    result.visibility = VisibilityOf(*wrong);
    if (!(result.visibility > 1)) {
      ++power_.not_visible[mistake.kind];
      return;
    }
    const CheckCase check_case = Case();
    const SubjectResult judged =
        JudgeAnswer({check_case, expectation_, wrong->outputs[0]}, oracle_, mistaken, options_);
    result.verdict = judged.outcome.kind == Outcome::kWrong ? MistakePower::kFails
                     : judged.outcome.IsPass()              ? MistakePower::kPasses
                                                            : MistakePower::kInconclusive;
    result.is_whole = judged.cuts.is_null() || judged.cuts["verdict"] != Name(Verdict::kFail);
    result.reason = judged.outcome.reason;
    if (result.Fails() && !result.is_whole) NotePlace(judged.cuts, result);
    power_.mistakes.push_back(std::move(result));
  }

  // The distance of the wrong results in parts of the worst legal deviation; 0 where it does not
  // show.
  double VisibilityOf(const RunResult& wrong) const {
    const std::vector<const Literal*> right = LeavesOf(right_);
    const std::vector<double> strayed = Strayed(right, LeavesOf(wrong));
    double visibility = 0;
    for (size_t k = 0; k < strayed.size(); ++k) {
      const ElementType type = right[k]->element_type();
      const double share = BoundsPerElement(type) == 0 ? 0 : VisibleShare(type);
      if (strayed[k] > share) visibility = std::max(visibility, strayed[k] / strayed_[k]);
    }
    return visibility;
  }

  // Notes whether the verdict names the instruction with the mistake, or one that reads it.
  void NotePlace(const nlohmann::json& cuts, MistakePower& result) const {
    const std::string named = cuts.value("smallest_instruction", "");
    result.is_named = named == result.instruction;
    for (const Computation* computation : flat_.module->computations()) {
      for (const Instruction* each : *computation) {
        if (each->name() != named) continue;
        for (const Instruction* operand : each->operands())
          result.is_named = result.is_named || Source(*operand).name() == result.instruction;
      }
    }
    for (const nlohmann::json& stretch : cuts["stretches"]) {
      if (stretch["failed"] == 0) continue;
      for (const nlohmann::json& each : stretch.value("instructions", nlohmann::json::array()))
        result.in_its_stretch = result.in_its_stretch || each == result.instruction;
      break;
    }
  }

  // The value as it was before it was moved.
  static const Instruction& Source(const Instruction& value) {
    const Instruction* at = &value;
    while (Info(at->opcode()).Is(kDataMovement) && at->operand_count() == 1) at = at->operand(0);
    return *at;
  }

  // Compiles with other flags, or up to a random decision, and with captures at random places.
  void Recompile(int64_t number, const std::vector<std::map<std::string, std::string>>& flags) {
    CompileOptions compile = options_.compile;
    std::string how;
    const bool refuses = backend_.Describe().has_decisions && (number % 2 == 1 || flags.empty());
    if (refuses) {
      compile.decision_limit =
          static_cast<int64_t>(random_() % (2 * flat_.module->InstructionCount()));
      how = StrCat("decisions up to ", compile.decision_limit);
    } else if (!flags.empty()) {
      const auto& chosen = flags[random_() % flags.size()];
      for (const auto& [name, value] : chosen) {
        compile.flags[name] = value;
        StrAppend(&how, name, "=", value, " ");
      }
    }
    absl::StatusOr<RunResult> plain = Run(backend_, compile);
    if (!plain.ok()) {
      ++power_.not_compiled;
      return;
    }
    NoteLegal(LeavesOf(*plain));
    CutSubject subject = Subject(backend_, compile, *plain);
    const uint64_t seed = random_();
    subject.choose = [seed](const Module& flat) {
      std::mt19937_64 random(seed);
      const uint64_t share = 1 + random() % 100;
      std::vector<CapturePoint> points = AllPoints(flat);
      std::erase_if(points, [&](const CapturePoint&) { return random() % 100 >= share; });
      return points;
    };
    const CutReport report = CheckByCuts(subject);
    if (report.rounds == 0 || report.elements == 0) {
      ++power_.not_compiled;
      return;
    }
    ++power_.recompiled;
    if (report.verdict == Verdict::kInconclusive) ++power_.recompiled_open;
    if (report.verdict != Verdict::kFail) return;
    ++power_.recompiled_failed;
    power_.alarms.push_back(StrCat(how, ", captures of seed ", seed, "\n", Describe(report)));
  }

  const FlatModule& flat_;
  const std::vector<const Literal*> arguments_;
  Oracle& oracle_;
  Backend& backend_;
  const CheckOptions& options_;
  std::mt19937_64 random_;
  RunResult right_;
  std::vector<double> strayed_;  // of legal evaluations, by result
  Expectation expectation_;      // of the program as a whole
  CutPower power_;
};

}  // namespace

std::string_view Name(MistakePower::Verdict verdict) {
  switch (verdict) {
    case MistakePower::kFails:
      return "fail";
    case MistakePower::kPasses:
      return "pass";
    case MistakePower::kInconclusive:
      return "inconclusive";
  }
  return "";
}

absl::StatusOr<CutPower> MeasureCutPower(const CaseFile& file, Oracle& oracle, Backend& backend,
                                         const LegalAnswers& legal, const CheckOptions& options,
                                         const CutPowerOptions& wanted) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, LoadCaseModule(file));
  ASSAY_ASSIGN_OR_RETURN(const CaseArrays arrays,
                         LoadArrays(*module, file.arrays_path, options.seed));
  if (arrays.devices.replicas * arrays.devices.partitions != 1)
    return MakeError(ErrorClass::kUnsupported, "programs of several devices are not cut");
  ASSAY_ASSIGN_OR_RETURN(const FlatModule flat, Flatten(*module));
  ASSAY_ASSIGN_OR_RETURN(
      CutPower power, PowerOfCuts(flat, arrays, oracle, backend, options).Measure(legal, wanted));
  power.name = file.name;
  return power;
}

}  // namespace assay
