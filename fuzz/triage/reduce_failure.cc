// The predicate of a failure, and the limits and flags under which it is asked.
#include "fuzz/triage/reduce_failure.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/opinions/notable.h"
#include "fuzz/opinions/rearranged.h"
#include "fuzz/portable.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/wrong_instruction.h"
#include "fuzz/triage/bucket.h"
#include "fuzz/triage/signature.h"
#include "spec/base/clock.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Tells notable differences from failures; only a backend that runs in another process has them.
NotedOutcome CheckFor(const CheckSubject& subject, const Module& module,
                      const std::vector<Literal>& inputs, Outcome::Kind kind) {
  if (kind == Outcome::kWrong && !subject.backend.Describe().in_process) {
    return CheckAndNote(subject, module, inputs, RequestFor(kind));
  }
  NotedOutcome noted;
  noted.outcome = CheckIsolated(subject, CheckCase::Of(module, inputs), RequestFor(kind)).outcome;
  return noted;
}

// Candidates often loop for ever or grow; they must not eat the time that the others need.
Limits TightLimits(Limits limits, Outcome::Kind kind, int64_t steps) {
  constexpr double kSeconds = 1;
  limits.steps = std::min(limits.steps, steps);
  if (kind != Outcome::kTimeout) limits.seconds = std::min(limits.seconds, kSeconds);
  return limits;
}

Outcome CheckUnder(const CheckSubject& subject, const PeerFlag& flag, const Module& module,
                   const std::vector<Literal>& inputs) {
  CheckSubject silenced{subject.oracle, subject.backend, subject.profile, subject.options,
                        subject.limits};
  flag.AddTo(silenced.options.flags);
  return CheckIsolated(silenced, CheckCase::Of(module, inputs)).outcome;
}

// Finds a flag under which the program is right. Smaller programs have to be right under it as
// well, which keeps the reducer from sliding from one wrong value to another. The flag that
// disables the guilty pass is the best.
std::optional<PeerFlag> GuardOf(const CheckSubject& subject, const ReduceCase& reduce_case,
                                Outcome::Kind kind) {
  if (kind != Outcome::kWrong || !subject.backend.Describe().dumps_passes) return std::nullopt;
  const Peer& peer = PeerOf(subject.backend.Describe());
  std::vector<PeerFlag> flags = peer.telling;
  const PassBlame blame = FindWrongSnapshot(subject, *reduce_case.module, reduce_case.inputs);
  if (!blame.pass.empty() && blame.pass != "import") {
    flags.insert(flags.begin(), peer.Without(blame.pass));
  }
  for (const PeerFlag& flag : flags) {
    if (CheckUnder(subject, flag, *reduce_case.module, reduce_case.inputs).IsPass()) return flag;
  }
  return std::nullopt;
}

// A write to the wrong place gives a wrong value at one time and dies at another, even of what is
// compiled next: of that without a word. A compiler that says what it died of does so again, and is
// not asked twice.
bool FailsOtherwise(const Outcome& outcome, Outcome::Kind kind) {
  if (kind != Outcome::kWrong && kind != Outcome::kRunCrash) return false;
  if (outcome.Fails(kind)) return false;
  const bool dies_without_a_word =
      outcome.Fails(Outcome::kCompileCrash) && outcome.reason.find("SIGSEGV") != std::string::npos;
  return dies_without_a_word || outcome.Fails(Outcome::kWrong) || outcome.Fails(Outcome::kRunCrash);
}

// A process elsewhere may die of what a program before this one wrote over. The one that comes
// after it has run nothing.
bool DiesByItself(const CheckSubject& subject, const Module& module,
                  const std::vector<Literal>& inputs) {
  constexpr int kTries = 2;
  if (subject.backend.Describe().in_process) return true;
  for (int i = 0; i < kTries; ++i) {
    const Outcome again = CheckFor(subject, module, inputs, Outcome::kRunCrash).outcome;
    if (again.Fails(Outcome::kRunCrash) || again.Fails(Outcome::kWrong)) return true;
  }
  return false;
}

// Adds in which other words it dies, if it does: a compiler that looks at things in the order of
// their addresses dies now of this check, now of that one.
void AddOtherDeaths(const CheckSubject& subject, const ReduceCase& reduce_case, Outcome::Kind kind,
                    std::set<std::string>& signatures) {
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    const Outcome again = CheckFor(subject, *reduce_case.module, reduce_case.inputs, kind).outcome;
    if (again.Fails(kind)) signatures.insert(CrashSignature(again.reason));
  }
}

// Tells the reducer what it may do in what is left of the time, which began at `begun`. An oracle
// that dies of the program, where the fault `is_ours`, would take triage along.
ReduceOptions ReducerOptions(const CheckSubject& subject, const TriageOptions& options,
                             double begun, bool is_ours) {
  ReduceOptions reduce;
  reduce.seconds = options.reduce_seconds - (Now() - begun);
  reduce.progress = options.progress;
  reduce.jobs = options.jobs;
  reduce.is_enough = options.is_enough;
  if (is_ours) return reduce;
  reduce.evaluate = [&subject](const Module& module, const std::vector<Literal>& inputs) {
    return subject.oracle.Evaluate(module, CheckCase::Of(module, inputs).arguments[0],
                                   subject.limits);
  };
  return reduce;
}

absl::StatusOr<ReduceResult> ReduceWithin(const CheckSubject& subject,
                                          const ReduceCase& reduce_case, Outcome::Kind kind,
                                          const std::string& rule, const TriageOptions& options) {
  constexpr int kMoreTries = 2;
  const double begun = Now();
  NotedOutcome whole = CheckFor(subject, *reduce_case.module, reduce_case.inputs, kind);
  for (int i = 0; i < kMoreTries && FailsOtherwise(whole.outcome, kind); ++i) {
    whole = CheckFor(subject, *reduce_case.module, reduce_case.inputs, kind);
  }
  if (!whole.outcome.Fails(kind)) {
    return absl::FailedPreconditionError(
        StrCat("under its limits it does not fail in this way: ", StateWord(whole.outcome)));
  }
  const bool is_ours = kind == Outcome::kOurFault;
  // In which words it may die; empty for what does not die.
  std::set<std::string> signatures;
  if (IsCrash(kind) || is_ours) signatures.insert(CrashSignature(whole.outcome.reason));
  if (IsCrash(kind)) AddOtherDeaths(subject, reduce_case, kind, signatures);
  const auto dies_alike = [&](const Outcome& outcome) {
    return signatures.empty() || signatures.contains(CrashSignature(outcome.reason));
  };
  const std::string notable = whole.notable;
  const std::optional<PeerFlag> guard = GuardOf(subject, reduce_case, kind);
  // A program that does not compile need not mean the same to all; what is compiled of a comparator
  // that is no order may do anything when it runs.
  const bool portable = !subject.backend.Describe().in_process &&
                        (kind == Outcome::kWrong || kind == Outcome::kRunCrash);
  const UnportableCount unportable = UnportableUses(*reduce_case.module, reduce_case.inputs);
  auto predicate = [&](const Module& module, const std::vector<Literal>& inputs) {
    if (portable && UnportableUses(module, inputs).IsWorseThan(unportable)) return false;
    if (!rule.empty()) return FailsByRule(subject, module, inputs, kind, rule);
    NotedOutcome now = CheckFor(subject, module, inputs, kind);
    for (int i = 0; i < kMoreTries && FailsOtherwise(now.outcome, kind); ++i) {
      now = CheckFor(subject, module, inputs, kind);
    }
    const Outcome& outcome = now.outcome;
    if (!outcome.Fails(kind) || now.notable != notable) return false;
    if (kind == Outcome::kRunCrash && !DiesByItself(subject, module, inputs)) return false;
    if (guard.has_value() && CheckUnder(subject, *guard, module, inputs).Fails(kind)) return false;
    if (!dies_alike(outcome)) {
      const Outcome again = CheckFor(subject, module, inputs, kind).outcome;
      if (!again.Fails(kind) || !dies_alike(again)) return false;
    }
    // A licence to put another form in its place is one to round in another order, too.
    return options.may_rearrange || subject.profile.IsAsWritten() ||
           !IsRearranged(subject, {module.Clone(""), inputs}, options.python);
  };
  const ReduceOptions reduce = ReducerOptions(subject, options, begun, is_ours);
  if (kind == Outcome::kWrong && subject.backend.Describe().dumps_passes) {
    // Most of a program stands around the op that is wrong: what is next to it may do.
    const Instruction* wrong =
        FirstWrongArray(subject, *reduce_case.module, reduce_case.inputs).instruction;
    std::vector<ReduceCase> around;
    if (wrong != nullptr) around = ProgramsAround(reduce_case, wrong, reduce.evaluate);
    for (const ReduceCase& small : around) {
      if (predicate(*small.module, small.inputs))
        return Reduce(*small.module, small.inputs, predicate, reduce);
    }
  }
  absl::StatusOr<ReduceResult> reduced =
      Reduce(*reduce_case.module, reduce_case.inputs, predicate, reduce);
  if (reduced.ok() || !IsCrash(kind)) return reduced;
  AddOtherDeaths(subject, reduce_case, kind, signatures);
  if (signatures.size() == 1) return reduced;
  return Reduce(*reduce_case.module, reduce_case.inputs, predicate, reduce);
}

// Under flags that make compiling cheap, if it fails there as well and what comes out also fails
// without them; an error otherwise.
absl::StatusOr<ReduceResult> ReduceCheaply(const CheckSubject& subject,
                                           const ReduceCase& reduce_case, Outcome::Kind kind,
                                           const TriageOptions& options) {
  CheckSubject cheap{subject.oracle, subject.backend, subject.profile, subject.options,
                     subject.limits};
  for (const auto& [name, value] : CheapFlags(subject.backend)) {
    cheap.options.flags.emplace(name, value);
  }
  // The way in which it fails there, of crashes with their signature; "" if it does not.
  const auto failure = [&](const CheckSubject& on, const ReduceCase& what) -> std::string {
    const Outcome outcome = CheckFor(on, *what.module, what.inputs, kind).outcome;
    if (!outcome.Fails(kind)) return "";
    return StrCat(Name(kind), IsCrash(kind) ? CrashSignature(outcome.reason) : "");
  };
  const std::string wanted = failure(cheap, reduce_case);
  if (wanted.empty()) return absl::FailedPreconditionError("not under cheap flags");
  if (IsCrash(kind) && failure(subject, reduce_case) != wanted) {
    return absl::FailedPreconditionError("another crash under cheap flags");
  }
  ASSAY_ASSIGN_OR_RETURN(ReduceResult reduced, ReduceWithin(cheap, reduce_case, kind, "", options));
  if (failure(subject, reduced.reduced) == wanted) return reduced;
  return absl::FailedPreconditionError("another failure");
}

}  // namespace

// A larger result is reduced a second time.
constexpr int64_t kFewInstructions = 8;

absl::StatusOr<ReduceResult> ReduceFailure(const CheckSubject& subject,
                                           const ReduceCase& reduce_case, Outcome::Kind kind,
                                           const std::string& rule, const TriageOptions& options) {
  const double begun = Now();
  CheckSubject brief = subject;
  brief.limits.backtraces = false;
  const bool has_cheap_flags =
      (kind == Outcome::kWrong || IsCrash(kind)) && subject.backend.Describe().dumps_passes;
  // One that takes long by nature has no limit but the caller's in the end.
  for (const int64_t steps : {int64_t{1} << 16, int64_t{1} << 21, brief.limits.steps}) {
    CheckSubject tight = brief;
    const bool is_last = steps >= brief.limits.steps;
    if (!is_last) tight.limits = TightLimits(brief.limits, kind, steps);
    // A worker in another process is slow to compile, and the oracle ends loops before it is asked.
    if (!subject.backend.Describe().in_process) tight.limits.seconds = brief.limits.seconds;
    if (has_cheap_flags) {
      absl::StatusOr<ReduceResult> reduced = ReduceCheaply(tight, reduce_case, kind, options);
      if (reduced.ok()) {
        const bool is_large = reduced->reduced.module->InstructionCount() > kFewInstructions;
        if (!is_large || reduced->was_enough) return reduced;
        // Cheap code may fail on smaller programs in another way than what users compile.
        TriageOptions rest = options;
        rest.reduce_seconds -= Now() - begun;
        absl::StatusOr<ReduceResult> more = ReduceWithin(tight, reduced->reduced, kind, rule, rest);
        if (more.ok()) return more;
        return reduced;
      }
    }
    absl::StatusOr<ReduceResult> reduced = ReduceWithin(tight, reduce_case, kind, rule, options);
    if (is_last || reduced.status().code() != absl::StatusCode::kFailedPrecondition) return reduced;
  }
  return absl::InternalError("the last limit ends the loop");
}

}  // namespace assay
