// The second check of a suspect, in a process that has run nothing else: does it fail again, what
// is it by its looks, and is another failure behind it?
#include <algorithm>
#include <optional>
#include <utility>

#include "fuzz/campaign/case_runner.h"
#include "fuzz/opinions/far_off.h"
#include "fuzz/opinions/notable.h"
#include "fuzz/opinions/rearranged.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/wrong_instruction.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int64_t kRuns = 3;

bool HasFloats(const Module& module) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      if (IsFloat(instruction->shape().element_type())) return true;
    }
  }
  return false;
}

std::string NotableSignature(const std::string& notable) { return StrCat("notable: ", notable); }

CompileOptions WithFlags(CompileOptions options, const std::map<std::string, std::string>& flags) {
  for (const auto& [name, value] : flags) options.flags[name] = value;
  return options;
}

// The instruction of that name in the entry; null if there is none.
const Instruction* Namesake(const Module& module, const Instruction& instruction) {
  for (const Instruction* at : *module.entry()) {
    if (at->name() == instruction.name()) return at;
  }
  return nullptr;
}

CheckSubject SubjectOf(const CheckSubject& like, const CompileOptions& options) {
  return {like.oracle, like.backend, like.profile, options, options.limits, like.oracle_steps};
}

}  // namespace

ConfirmRecord CaseRunner::Confirm(const CaseKey& key, const FamiliarPlaces& familiar,
                                  WorkerState& state) {
  ConfirmRecord confirm;
  const Case made = Make(key);
  confirm.instructions = made.module->InstructionCount();
  confirm.draws_numbers = DrawsNumbers(*made.module);
  state.index.store(key.index);
  state.backend.store(static_cast<uint8_t>(key.backend));
  state.exact.store(key.exact ? 1 : 0);
  state.set.store(key.set);
  if (backends_[key.backend]->Describe().in_process) {
    ConfirmHere(made, key, confirm, state);
  } else {
    ConfirmThere(made, key, familiar, confirm, state);
  }
  // Of several joined programs the first is asked about.
  if (!key.with.empty() && confirm.record.kind == Outcome::kWrong) {
    const Case own = Make({.index = key.index});
    const int64_t leaves = LeafCount(own.module->entry()->root()->shape());
    if (confirm.record.leaf >= leaves) confirm.fails = 0;
  }
  state.phase.store(Phase::kIdle);
  return confirm;
}

void CaseRunner::ConfirmHere(const Case& made, const CaseKey& key, ConfirmRecord& confirm,
                             WorkerState& state) {
  Backend& backend = *backends_[key.backend];
  CaseRecord ignored;
  ignored.repeated = true;
  // The inputs of the case are those of the set, and all of its outputs are asked about.
  CaseKey whole = key;
  whole.set = 0;
  whole.output = -1;
  for (; confirm.runs < kRuns; ++confirm.runs) {
    BackendRecord record = RunOn(backend, made, whole, {}, ignored, state);
    if (!IsFinding(record.kind)) continue;
    ++confirm.fails;
    confirm.record = record;
  }
  if (!key.exact && HasFloats(*made.module)) {
    ignored.repeated = false;
    CaseKey exact = whole;
    exact.exact = true;
    BackendRecord record = RunOn(backend, made, exact, {}, ignored, state);
    confirm.exact = IsFinding(record.kind) ? "fail" : std::string(Name(record.kind));
  }
  if (confirm.fails != confirm.runs) return;
  const CompileOptions options = OptionsFor(key);
  const CheckSubject subject{oracle_, backend,        ProfileOf(key),
                             options, options.limits, options_.oracle_steps};
  const std::vector<Literal>& inputs = key.exact ? made.exact_inputs : made.inputs;
  const Outcome outcome = CheckIsolated(subject, CheckCase::Of(*made.module, inputs)).outcome;
  if (outcome.Fails(confirm.record.kind)) {
    Sign(subject, {made}, inputs, outcome, {}, confirm);
  }
}

// A compilation costs more than all else, so one serves all runs: it is the second one already, as
// the suspect failed in the campaign's own process. What failed while it was screened has often
// nothing wrong with it, and is not tried in vain again.
Outcome CaseRunner::RunAgain(const CheckSubject& subject, const CheckCase& check_case,
                             const CaseKey& key, Checker& checker, ConfirmRecord& confirm) const {
  constexpr int64_t kMore = kRuns - 1;
  Outcome outcome;
  while (confirm.runs < kRuns) {
    CheckRequest request;
    const bool repeats = confirm.runs == 0 && !DrawsNumbers(check_case.module);
    if (repeats) request = {.repeats = kMore, .compile_every = kRuns};
    const Outcome seen = checker.Check(request).outcome;
    const BackendRecord record = RecordOf(seen, key.exact);
    const bool fails = IsFinding(record.kind);
    // A wrong value that came back with the same bits has been seen on all runs.
    const int64_t runs = repeats && seen.Fails(Outcome::kWrong) ? kRuns : 1;
    confirm.runs += runs;
    if (!fails && key.screened) {
      confirm.fails_cheaply = IsFinding(OutcomeAsScreened(subject, check_case, key).kind);
      break;
    }
    if (!fails && key.output >= 0) break;
    if (!fails) continue;
    confirm.fails += runs;
    confirm.record = record;
    outcome = seen;
    // A compiler that died of it before dies of it again, and each time costs a process. What
    // hangs, as a corrupted heap may make it, costs its whole limit.
    if (seen.Fails(Outcome::kCompileCrash) || seen.Fails(Outcome::kTimeout)) break;
  }
  return outcome;
}

void CaseRunner::ConfirmThere(const Case& made, const CaseKey& key, const FamiliarPlaces& familiar,
                              ConfirmRecord& confirm, WorkerState& state) {
  std::optional<ConfirmRecord> of_output = ConfirmOutputs(made, key, familiar, confirm, state);
  if (of_output.has_value()) {
    confirm = *std::move(of_output);
    return;
  }
  CaseKey all = key;
  all.output = -1;
  ConfirmPart({made}, all, familiar, confirm, state);
}

std::optional<ConfirmRecord> CaseRunner::ConfirmOutputs(const Case& made, const CaseKey& key,
                                                        const FamiliarPlaces& familiar,
                                                        const ConfirmRecord& confirm,
                                                        WorkerState& state) {
  if (confirm.draws_numbers || !key.with.empty()) return std::nullopt;
  std::optional<ConfirmRecord> first = ConfirmOutput(made, key, familiar, confirm, state);
  if (!first.has_value() || first->notable.empty()) return first;
  // The whole is no better asked: what keeps another opinion from a program may be in outputs that
  // are right.
  CaseKey other = key;
  other.screened = false;  // nobody has seen it fail
  const int64_t count = made.module->entry()->root()->operand_count();
  for (other.output = 0; other.output < count; ++other.output) {
    if (other.output == key.output) continue;
    std::optional<ConfirmRecord> seen = ConfirmOutput(made, other, familiar, confirm, state);
    if (seen.has_value() && seen->notable.empty()) return seen;
  }
  return first;
}

std::optional<ConfirmRecord> CaseRunner::ConfirmOutput(const Case& made, const CaseKey& key,
                                                       const FamiliarPlaces& familiar,
                                                       ConfirmRecord confirm, WorkerState& state) {
  std::optional<ReduceCase> program =
      WithOneOutput({made.module->Clone(""), made.exact_inputs}, key.output);
  if (!program.has_value()) return std::nullopt;
  Case part;
  part.module = std::move(program->module);
  part.exact_inputs = std::move(program->inputs);
  confirm.instructions = part.module->InstructionCount();
  confirm.output = key.output;
  CaseKey all = key;
  all.output = -1;
  const ReduceCase whole{made.module->Clone(""), MakeFinding(all).inputs};
  ConfirmPart({part, &whole}, key, familiar, confirm, state);
  const bool fails = confirm.fails == confirm.runs && confirm.record.kind == Outcome::kWrong;
  const bool is_told = fails || confirm.fails_cheaply || confirm.alike;
  return is_told ? std::optional(std::move(confirm)) : std::nullopt;
}

std::optional<WrongArray> CaseRunner::FirstWhereCheap(const CheckSubject& subject,
                                                      const Module& module,
                                                      const std::vector<Literal>& inputs,
                                                      const CaseKey& key) const {
  const bool has_cheap_flags =
      !options_.screening.empty() && subject.backend.Describe().dumps_passes;
  if (!has_cheap_flags || key.output < 0) return std::nullopt;
  const bool was_cheap = key.screened && IsScreened(key);
  if (!was_cheap && key.by_licence) return std::nullopt;
  CompileOptions options = WithFlags(subject.options, options_.screening);
  options.limits.seconds = std::min(options.limits.seconds, kQuickSeconds);
  WrongArray first = FirstWrongArray(SubjectOf(subject, options), module, inputs);
  if (first.instruction == nullptr && !was_cheap) return std::nullopt;
  return first;
}

void CaseRunner::ConfirmPart(const Part& part, const CaseKey& key, const FamiliarPlaces& familiar,
                             ConfirmRecord& confirm, WorkerState& state) {
  const Case& made = part.made;
  const Finding finding = MakeFinding(key);
  const CheckSubject subject{oracle_,         *backends_[key.backend], ProfileOf(key),
                             finding.options, finding.options.limits,  options_.oracle_steps};
  std::optional<WrongArray> first = FirstWhereCheap(subject, *made.module, finding.inputs, key);
  if (first.has_value() && first->instruction != nullptr) {
    confirm.place = PlaceOfWrongValue(*first->instruction);
    confirm.alike = familiar.enough.contains(confirm.place);
    if (confirm.alike) return;
  }
  const CheckCase check_case = CheckCase::Of(*made.module, finding.inputs);
  Checker checker(subject, check_case);
  checker.NotePhaseIn(&state.phase);
  const Outcome outcome = RunAgain(subject, check_case, key, checker, confirm);
  if (!confirm.fails_cheaply) confirm.place.clear();  // signing says it, of what is no better known
  // Whether it fails depends on the numbers that it draws, which is no answer that changes.
  if (confirm.draws_numbers && confirm.fails < confirm.runs) confirm.fails = 0;
  const bool is_wrong = outcome.Fails(Outcome::kWrong) && confirm.fails == confirm.runs;
  // What is asked from here on is asked of what compiles in a third of the time, where that will
  // do.
  CheckSubject quick{oracle_,         subject.backend, subject.profile,
                     subject.options, subject.limits,  options_.oracle_steps};
  quick.limits.seconds = std::min(quick.limits.seconds, kQuickSeconds);
  CheckSubject asked = is_wrong ? quick : subject;
  if (is_wrong && key.screened && IsScreened(key)) {
    asked.options = WithFlags(quick.options, options_.screening);  // where it was wrong, too
  } else if (is_wrong) {
    const CheckSubject cheap =
        UnderCheapFlags(quick, check_case, Outcome::kWrong, options_.screening);
    if (cheap.options.flags == quick.options.flags) first.reset();  // it was seen where it is cheap
    asked.options = cheap.options;
  }
  NotedOrigin origin;
  const Literal answer = checker.answer();
  if (is_wrong && key.by_licence) {
    confirm.notable =
        FarOffByLicence(subject, *made.module, check_case.arguments[0], checker.answer());
    confirm.fails_cheaply = confirm.notable.empty();  // it was near where it was screened
    if (confirm.notable.empty()) confirm.fails = 0;
  } else if (is_wrong) {
    const absl::StatusOr<Expectation> expectation =
        oracle_.Expect(*made.module, check_case.arguments[0], subject.profile, subject.limits);
    if (expectation.ok()) confirm.notable = NotableDifference(*expectation, answer);
    if (confirm.notable.empty()) {
      origin = NotableOrigin(asked, *made.module, finding.inputs, answer, std::move(first));
      confirm.notable = origin.notable;
    }
  }
  if (is_wrong && !key.exact && HasFloats(*made.module)) {
    const Outcome exact =
        checker.CheckAgain(CheckCase::OfPointers(*made.module, made.ExactArguments()).arguments)
            .outcome;
    confirm.exact = IsFinding(exact.kind) ? "fail" : std::string(Name(exact.kind));
  }
  if (confirm.fails != confirm.runs) return;
  // It has failed again; the rest asks what it is.
  constexpr double kTimesAsLong = 3;
  state.Begin(key.index, kTimesAsLong);
  state.phase.store(Phase::kJudge);
  if (confirm.notable.empty()) {
    Sign(asked, part, finding.inputs, outcome, {familiar, std::move(origin.first), answer},
         confirm);
  } else {
    confirm.signature = NotableSignature(confirm.notable);
  }
}

Outcome CaseRunner::OutcomeAsScreened(const CheckSubject& subject, const CheckCase& check_case,
                                      const CaseKey& key) const {
  const bool is_cheap = IsScreened(key);
  const CompileOptions options =
      is_cheap ? WithFlags(subject.options, options_.screening) : subject.options;
  return CheckOn(SubjectOf(subject, options), check_case).outcome;
}

void CaseRunner::Sign(const CheckSubject& subject, const Part& part,
                      const std::vector<Literal>& inputs, const Outcome& outcome,
                      const SigningHints& hints, ConfirmRecord& confirm) const {
  const Case& made = part.made;
  const Signature first = SignatureOf(subject, *made.module, inputs, outcome, hints);
  if (IsRearrangedBy({first.blame, first.wrong}, subject, *made.module, inputs, hints.answer,
                     options_.python)) {
    confirm.notable = kRearranged;
    confirm.signature = NotableSignature(kRearranged);
    return;
  }
  confirm.signature = first.text;
  confirm.variant = first.variant;
  confirm.place = first.place;
  if (first.unmasking.empty()) {
    if (first.wrong == nullptr) return;
    // The other outputs of the program may show another bug.
    ReduceCase program =
        part.whole != nullptr ? part.whole->Clone() : ReduceCase{made.module->Clone(""), inputs};
    const int64_t wrong = NumberOfArray(*program.module, Namesake(*program.module, *first.wrong));
    return LookBehind(subject, std::move(program), first, wrong, {hints.familiar, std::nullopt},
                      confirm);
  }
  CompileOptions options = subject.options;
  for (const auto& [name, value] : first.unmasking) options.flags[name] = value;
  const CheckSubject unmasked = SubjectOf(subject, options);
  const Outcome other = CheckIsolated(unmasked, CheckCase::Of(*made.module, inputs)).outcome;
  if (!other.Fails(outcome.kind)) return;
  const Signature behind =
      SignatureOf(unmasked, *made.module, inputs, other, {hints.familiar, std::nullopt});
  // Another pass may make the same mistake when the first one may not.
  if (behind.text == first.text) return;
  confirm.unmasking = first.unmasking;
  confirm.behind = behind.text;
}

EvaluateFunction CaseRunner::OraclesValues() const {
  return [this](const Module& module, const std::vector<Literal>& inputs) {
    Limits limits = options_.compile.limits;
    limits.steps = options_.oracle_steps;
    return oracle_.Evaluate(module, CheckCase::Of(module, inputs).arguments[0], limits);
  };
}

ReduceCase CaseRunner::WithGivenArrays(ReduceCase program,
                                       const std::vector<int64_t>& given) const {
  for (const int64_t number : given) {
    std::optional<ReduceCase> next = WithArrayGiven(program, number, OraclesValues());
    if (next.has_value()) program = *std::move(next);
  }
  return program;
}

// A flag that silences the first bug is not always there, and needs a search: the value of the
// instruction that is wrong costs nothing.
void CaseRunner::LookBehind(const CheckSubject& subject, ReduceCase program, const Signature& first,
                            int64_t wrong, const SigningHints& hints,
                            ConfirmRecord& confirm) const {
  constexpr size_t kMostGiven = 3;
  std::vector<int64_t> given;
  while (wrong >= 0 && given.size() < kMostGiven) {
    given.push_back(wrong);
    std::optional<ReduceCase> next = WithArrayGiven(program, wrong, OraclesValues());
    if (!next.has_value()) return;
    program = *std::move(next);
    const NotedOutcome noted = CheckAndNote(subject, *program.module, program.inputs);
    if (!noted.outcome.Fails(Outcome::kWrong) || !noted.notable.empty()) return;
    const Signature behind =
        SignatureOf(subject, *program.module, program.inputs, noted.outcome, hints);
    if (behind.text != first.text) {
      confirm.given = given;
      confirm.behind = behind.text;
      return;
    }
    wrong = behind.wrong == nullptr ? -1 : NumberOfArray(*program.module, behind.wrong);
  }
}

}  // namespace assay
