// One state after the other is read and run; a state that says nothing new costs its hash.
#include "conformance/dumps/validate.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/case_files.h"
#include "conformance/dumps/diff.h"
#include "conformance/inputs/recorded_run.h"
#include "spec/backend/loop_notes.h"
#include "spec/base/clock.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Inputs of one kind, and what the state at hand computes of them.
struct InputSet {
  std::vector<Literal> arguments;
  std::optional<ProgramRun> run;
};

StepVerdict NotJudged(std::string reason) {
  StepVerdict verdict;
  verdict.kind = StepVerdict::kNotJudged;
  verdict.reason = std::move(reason);
  return verdict;
}

std::string FirstLine(absl::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// The first line of what is wrong with a file, without the file's own place, which is told beside
// it: the same complaint about many files reads the same.
std::string Complaint(absl::string_view text, const std::string& path) {
  std::string line = FirstLine(text);
  if (line.starts_with(path)) line.erase(0, path.size());
  const size_t at = line.find_first_not_of("0123456789: ");
  if (at != std::string::npos) line.erase(0, at);
  return line.starts_with("error: ") ? line.substr(7) : line;
}

// Turns an error of the oracle into the verdict on a step: a program that it cannot evaluate is not
// judged, and a limit leaves the verdict open.
StepVerdict FromError(const absl::Status& status) {
  StepVerdict verdict = NotJudged(FirstLine(status.message()));
  const ErrorClass error = ClassOf(status);
  if (error == ErrorClass::kTimeout || error == ErrorClass::kOutOfMemory)
    verdict.kind = StepVerdict::kInconclusive;
  return verdict;
}

class Validation {
 public:
  Validation(const DumpedModule& dumped, Oracle& oracle, const ValidateOptions& options,
             const std::function<void(const DumpStep&)>& tell)
      : dumped_(dumped), oracle_(oracle), options_(options), tell_(tell) {}

  absl::Status Run() {
    absl::Status first_error;
    size_t next = Start(first_error);
    const size_t end = std::min(options_.last, dumped_.snapshots.size() - 1);
    for (; next <= end; ++next) {
      ASSAY_ASSIGN_OR_RETURN(const bool goes_on, Follow(next, first_error));
      if (!goes_on) return absl::OkStatus();
    }
    if (!before_.has_value()) return options_.first == 0 ? first_error : absl::OkStatus();
    return options_.judges_recorded ? JudgeRecorded() : absl::OkStatus();
  }

 private:
  // The state before the first step. Returns the number of the next one.
  size_t Start(absl::Status& first_error) {
    for (size_t k = options_.first + 1; k-- > 0 && !before_.has_value();) {
      absl::StatusOr<ProgramState> state = LoadState(dumped_.snapshots[k].path);
      if (!state.ok()) first_error.Update(state.status());
      if (!state.ok()) continue;
      before_ = *std::move(state);
      snapshot_ = &dumped_.snapshots[k];
    }
    return options_.first + 1;
  }

  // One state further. False: the module ends here.
  absl::StatusOr<bool> Follow(size_t number, absl::Status& first_error) {
    const DumpSnapshot& snapshot = dumped_.snapshots[number];
    if (options_.begin) options_.begin(number);
    const double start = Now();
    absl::StatusOr<ProgramState> after = LoadState(snapshot.path);
    if (!after.ok()) {
      first_error.Update(after.status());
      if (before_.has_value()) {
        tell_({*snapshot_, snapshot, NotJudged(Complaint(after.status().message(), snapshot.path)),
               Now() - start, ""});
      }
      return true;
    }
    if (before_.has_value()) {
      if (sets_.empty()) ASSAY_RETURN_IF_ERROR(Begin());
      const StepVerdict verdict = Judge(*after);
      const bool fails = verdict.kind == StepVerdict::kFailed;
      tell_({*snapshot_, snapshot, verdict, Now() - start,
             fails ? DiffOf(*before_->module, *after->module, kMostDiffLines) : ""});
      if (fails) return false;
      if (verdict.kind == StepVerdict::kUnchanged) return true;
    }
    for (size_t k = 0; k < sets_.size(); ++k)
      sets_[k].run = k < next_.size() ? std::move(next_[k]) : std::nullopt;
    before_ = *std::move(after);
    snapshot_ = &snapshot;
    return true;
  }

  absl::Status Begin() {
    const Module& module = *before_->module;
    if (options_.inputs.empty() && !dumped_.recorded.empty())
      return ReadRecorded(module, dumped_.recorded.front());
    return Draw(module, options_.inputs, options_.seed);
  }

  // Inputs are drawn for what the first state takes, as long as the state at hand takes the same:
  // in whatever parts the states are followed, they are the same inputs.
  absl::Status Draw(const Module& module, const std::string& path, uint64_t seed) {
    absl::StatusOr<ProgramState> first = absl::NotFoundError("");
    if (path.empty() && options_.first > 0) first = LoadState(dumped_.snapshots.front().path);
    const bool is_same = first.ok() && WhyNotComparable(*first->module, module).empty();
    ASSAY_ASSIGN_OR_RETURN(CaseArrays arrays, LoadArrays(is_same ? *first->module : module, path,
                                                         seed, DeviceAssignment()));
    sets_.emplace_back().arguments = std::move(arrays.arguments);
    return absl::OkStatus();
  }

  absl::Status ReadRecorded(const Module& module, const std::string& path) {
    ASSAY_ASSIGN_OR_RETURN(Snapshot run, ReadRecordedRun(path));
    absl::StatusOr<RecordedArrays> arrays = FitRecordedRun(module, std::move(run));
    if (!arrays.ok()) {
      return absl::Status(arrays.status().code(),
                          StrCat(path, ": ", ToStd(arrays.status().message())));
    }
    if (arrays->devices > 1) {
      return absl::InvalidArgumentError(StrCat(path, ": holds the arguments of ", arrays->devices,
                                               " devices; give those of one with --inputs"));
    }
    sets_.emplace_back().arguments = std::move(arrays->arguments);
    if (!arrays->result.empty()) recorded_ = std::move(arrays->result);
    return absl::OkStatus();
  }

  StepVerdict Judge(const ProgramState& after) {
    StepVerdict verdict = JudgeMeaning(after);
    std::string notes = NotesOf(*after.module);
    const bool is_known = verdict.kind == StepVerdict::kUnchanged && notes == notes_;
    notes_ = std::move(notes);
    const bool may_pass =
        verdict.kind != StepVerdict::kNotJudged && verdict.kind != StepVerdict::kFailed;
    if (notes_.empty() || is_known || !may_pass || sets_.empty()) return verdict;
    const std::string wrong = WrongNote(*after.module, Pointers(sets_.front().arguments));
    if (wrong.empty()) return verdict;
    verdict.kind = StepVerdict::kFailed;
    verdict.reason = wrong;
    verdict.where = "what is noted of a loop";
    verdict.failure = StrCat("      ", wrong, ", and the program computes something else then");
    return verdict;
  }

  // All that is noted of loops.
  static std::string NotesOf(const Module& module) {
    std::string notes;
    for (const Computation* computation : module.computations()) {
      for (const Instruction* at : *computation) {
        if (at->opcode() == Opcode::kWhile)
          StrAppend(&notes, at->attributes().String(Attr::kBackendConfig));
      }
    }
    return notes;
  }

  // Returns the note of a loop by which the program would be another one; else "".
  std::string WrongNote(const Module& module, const std::vector<const Literal*>& arguments) {
    std::optional<absl::StatusOr<Literal>> right;
    return WrongLoopNote(module, [&](const Module& noted) {
      if (!right.has_value()) right = oracle_.Evaluate(module, arguments, options_.limits);
      if (!right->ok()) return false;
      const absl::StatusOr<Literal> value = oracle_.Evaluate(noted, arguments, options_.limits);
      return value.ok() && !value->BitwiseEqual(**right);
    });
  }

  // Judges the step on one set of inputs after the other until one decides.
  StepVerdict JudgeMeaning(const ProgramState& after) {
    next_.clear();
    if (before_->module->Hash() == after.module->Hash()) return StepVerdict();
    if (std::string reason = WhyNotComparable(*before_->module, *after.module); !reason.empty())
      return NotJudged(std::move(reason));
    // Partitioning changes what the program takes: from there on other inputs are drawn.
    if (CanDraw() && !sets_.empty() && !Fits(sets_.front(), *before_->module)) sets_.clear();
    StepVerdict verdict;
    for (size_t k = 0; k == 0 || (CanDraw() && k < static_cast<size_t>(options_.most_sets)); ++k) {
      if (k == sets_.size() && !Draw(*before_->module, "", options_.seed + k).ok()) break;
      const StepVerdict next = JudgeOn(sets_[k], after);
      // One set that passes without doubt decides; so does one that fails.
      if (k == 0 || next.kind == StepVerdict::kFailed || next.kind == StepVerdict::kPassed)
        verdict = next;
      const bool is_open = verdict.kind == StepVerdict::kInconclusive || verdict.is_doubtful;
      if (!is_open) break;
    }
    return verdict;
  }

  static bool Fits(const InputSet& set, const Module& module) {
    const absl::Span<Instruction* const> parameters = module.entry()->parameters();
    if (parameters.size() != set.arguments.size()) return false;
    for (size_t k = 0; k < parameters.size(); ++k)
      if (!Compatible(parameters[k]->shape(), set.arguments[k].shape())) return false;
    return true;
  }

  bool CanDraw() const { return options_.inputs.empty() && dumped_.recorded.empty(); }

  StepVerdict JudgeOn(InputSet& set, const ProgramState& after) {
    const std::vector<const Literal*> arguments = Pointers(set.arguments);
    if (!set.run.has_value()) {
      absl::StatusOr<ProgramRun> run = RunProgram(*before_, arguments, oracle_, options_.limits);
      if (!run.ok()) return FromError(run.status());
      set.run = *std::move(run);
    }
    absl::StatusOr<ProgramRun> run = RunProgram(after, arguments, oracle_, options_.limits);
    next_.emplace_back();
    if (!run.ok()) return FromError(run.status());
    absl::StatusOr<StepVerdict> verdict =
        JudgeStep(*set.run, *run, arguments, oracle_, *options_.profile, options_.limits);
    next_.back() = *std::move(run);
    return verdict.ok() ? *std::move(verdict) : FromError(verdict.status());
  }

  // The states were followed on the arguments of the first recorded run; the results of all are
  // judged.
  absl::Status JudgeRecorded() {
    if (!options_.inputs.empty()) return absl::OkStatus();
    for (const std::string& path : dumped_.recorded) {
      if (&path != &dumped_.recorded.front()) sets_.clear();
      if (sets_.empty()) {
        recorded_.reset();
        ASSAY_RETURN_IF_ERROR(ReadRecorded(*before_->module, path));
      }
      if (!recorded_.has_value()) continue;
      const double start = Now();
      const DumpSnapshot recorded{path, "", std::string(kRecordedRun)};
      const StepVerdict verdict = RecordedVerdict();
      tell_({*snapshot_, recorded, verdict, Now() - start, ""});
      if (verdict.kind == StepVerdict::kFailed) break;
    }
    return absl::OkStatus();
  }

  StepVerdict RecordedVerdict() {
    InputSet& set = sets_.front();
    const std::vector<const Literal*> arguments = Pointers(set.arguments);
    if (!set.run.has_value()) {
      absl::StatusOr<ProgramRun> run = RunProgram(*before_, arguments, oracle_, options_.limits);
      if (!run.ok()) return FromError(run.status());
      set.run = *std::move(run);
    }
    ProgramRun run;
    run.module = before_->joined;
    run.unknown = set.run->unknown;
    run.flat.module = set.run->flat.module->Clone("");
    const std::vector<const Literal*> leaves = Pointers(*recorded_);
    if (leaves.size() != set.run->results.size())
      return NotJudged("the recorded result has another shape than the program's");
    for (size_t k = 0; k < leaves.size(); ++k) {
      if (!Compatible(leaves[k]->shape(), set.run->results[k].shape()))
        return NotJudged("the recorded result has another shape than the program's");
      run.results.push_back(*leaves[k]);
    }
    absl::StatusOr<StepVerdict> verdict =
        JudgeStep(*set.run, run, arguments, oracle_, *options_.profile, options_.limits);
    return verdict.ok() ? *std::move(verdict) : FromError(verdict.status());
  }

  const DumpedModule& dumped_;
  Oracle& oracle_;
  const ValidateOptions& options_;
  const std::function<void(const DumpStep&)>& tell_;
  std::optional<ProgramState> before_;
  std::string notes_;  // of its loops
  const DumpSnapshot* snapshot_ = nullptr;
  std::vector<InputSet> sets_;
  std::vector<std::optional<ProgramRun>> next_;   // of the state after, by set
  std::optional<std::vector<Literal>> recorded_;  // leaves of the result
};

}  // namespace

absl::Status ValidateDump(const DumpedModule& dumped, Oracle& oracle,
                          const ValidateOptions& options,
                          const std::function<void(const DumpStep&)>& tell) {
  return Validation(dumped, oracle, options, tell).Run();
}

}  // namespace assay
