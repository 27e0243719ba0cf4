// Runs a suspect again, as users compile it, and asks in the cheapest way what it is.
#include "fuzz/campaign/second_check.h"

#include <algorithm>
#include <utility>

#include "fuzz/opinions/far_off.h"
#include "fuzz/opinions/notable.h"
#include "fuzz/opinions/rearranged.h"
#include "fuzz/reduce/edit.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

bool HasFloats(const Module& module) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      if (IsFloat(instruction->shape().element_type())) return true;
    }
  }
  return false;
}

std::string ExactInWords(Outcome::Kind kind) {
  return IsFinding(kind) ? "fail" : std::string(Name(kind));
}

void NoteNotable(const std::string& notable, ConfirmRecord& confirm) {
  confirm.notable = confirm.culprit.notable = notable;
  confirm.signature = SignatureText(confirm.culprit);
}

CompileOptions WithFlags(CompileOptions options, const std::map<std::string, std::string>& flags) {
  for (const auto& [name, value] : flags) options.flags[name] = value;
  return options;
}

CheckSubject WithOptions(const CheckSubject& like, const CompileOptions& options) {
  return {like.oracle, like.backend, like.profile, options, options.limits, like.oracle_steps};
}

}  // namespace

ConfirmRecord SecondCheck::Run() {
  ConfirmRecord confirm;
  const Case made = runner_.Make(key_);
  confirm.instructions = made.module->InstructionCount();
  confirm.draws_numbers = DrawsNumbers(*made.module);
  state_.index.store(key_.index);
  state_.backend.store(static_cast<uint8_t>(key_.backend));
  state_.exact.store(key_.exact ? 1 : 0);
  state_.set.store(key_.set);
  if (runner_.BackendOf(key_).Describe().in_process) {
    RunHere(made, confirm);
  } else {
    RunElsewhere(made, confirm);
    if (confirm.fails == 0 && !confirm.fails_cheaply && !confirm.draws_numbers && !confirm.alike)
      CheckBesideOthers(confirm);
  }
  state_.phase.store(Phase::kIdle);
  return confirm;
}

void SecondCheck::RunHere(const Case& made, ConfirmRecord& confirm) {
  Backend& backend = runner_.BackendOf(key_);
  CaseRecord ignored;
  ignored.repeated = true;
  // The inputs of the case are those of the set, and all of its outputs are asked about.
  CaseKey whole = key_;
  whole.set = 0;
  whole.output = -1;
  for (; confirm.runs < CheckPolicy::kRuns; ++confirm.runs) {
    BackendRecord record = runner_.RunOn(backend, made, whole, {}, ignored, state_);
    if (!IsFinding(record.kind)) continue;
    ++confirm.fails;
    confirm.record = record;
  }
  if (!key_.exact && HasFloats(*made.module)) {
    ignored.repeated = false;
    CaseKey exact = whole;
    exact.exact = true;
    confirm.exact = ExactInWords(runner_.RunOn(backend, made, exact, {}, ignored, state_).kind);
  }
  if (confirm.fails != confirm.runs) return;
  const CheckSubject subject = runner_.SubjectOf(key_, runner_.OptionsFor(key_));
  const Question question{made, key_, key_.exact ? made.exact_inputs : made.inputs};
  const Outcome outcome =
      CheckIsolated(subject, CheckCase::Of(*made.module, question.inputs)).outcome;
  if (outcome.Fails(confirm.record.kind)) Sign(subject, question, outcome, {}, confirm);
}

void SecondCheck::RunElsewhere(const Case& made, ConfirmRecord& confirm) {
  if (std::optional<ConfirmRecord> of_output = CheckOutputs(made, confirm)) {
    confirm = *std::move(of_output);
    return;
  }
  CaseKey all = key_;
  all.output = -1;
  Ask(made, all, confirm);
}

std::optional<ConfirmRecord> SecondCheck::CheckOutputs(const Case& made,
                                                       const ConfirmRecord& confirm) {
  if (confirm.draws_numbers) return std::nullopt;
  std::optional<ConfirmRecord> first = CheckOutput(made, key_, confirm);
  if (!first.has_value() || first->notable.empty()) return first;
  // The whole is no better asked: what keeps another opinion from a program may be in outputs that
  // are right.
  CaseKey other = key_;
  other.screened = false;  // nobody has seen it fail
  const int64_t count = made.module->entry()->root()->operand_count();
  for (other.output = 0; other.output < count; ++other.output) {
    if (other.output == key_.output) continue;
    std::optional<ConfirmRecord> seen = CheckOutput(made, other, confirm);
    if (seen.has_value() && seen->notable.empty()) return seen;
  }
  return first;
}

std::optional<ConfirmRecord> SecondCheck::CheckOutput(const Case& made, const CaseKey& key,
                                                      ConfirmRecord confirm) {
  std::optional<ReduceCase> program =
      WithOneOutput({made.module->Clone(""), made.exact_inputs}, key.output);
  if (!program.has_value()) return std::nullopt;
  Case part;
  part.module = std::move(program->module);
  part.exact_inputs = std::move(program->inputs);
  confirm.instructions = part.module->InstructionCount();
  confirm.output = key.output;
  Ask(part, key, confirm);
  const bool fails = confirm.fails == confirm.runs && confirm.record.kind == Outcome::kWrong;
  const bool is_told = fails || confirm.fails_cheaply || confirm.alike;
  return is_told ? std::optional(std::move(confirm)) : std::nullopt;
}

void SecondCheck::CheckBesideOthers(ConfirmRecord& confirm) {
  const Case own = runner_.Make(key_);
  const int64_t leaves = LeafCount(own.module->entry()->root()->shape());
  for (const int64_t other : key_.pack) {
    CaseKey key = key_;
    key.output = -1;
    key.with = {other};
    const Case joined = runner_.Make(key);
    ConfirmRecord beside;
    beside.instructions = joined.module->InstructionCount();
    Ask(joined, key, beside);
    // The other one may have a bug of its own.
    const bool is_own = beside.record.kind != Outcome::kWrong || beside.record.leaf < leaves;
    if (beside.fails == 0 || beside.fails < beside.runs || !is_own) continue;
    beside.with = key.with;
    beside.culprit.causes.insert(kBesideAnother);
    if (!beside.signature.empty()) beside.signature = SignatureText(beside.culprit);
    beside.place.clear();  // what fails there alone is another bug
    confirm = std::move(beside);
    return;
  }
}

void SecondCheck::Ask(const Case& made, const CaseKey& key, ConfirmRecord& confirm) {
  const Question question{made, key, runner_.MakeFinding(key).inputs};
  const CheckSubject subject = runner_.SubjectOf(key, runner_.OptionsFor(key));
  std::optional<WrongArray> first = FirstWhereCheap(subject, question);
  if (first.has_value() && first->instruction != nullptr) {
    confirm.place = PlaceOfWrongValue(*first->instruction);
    confirm.alike = familiar_.enough.contains(confirm.place);
    if (confirm.alike) return;
  }
  const CheckCase check_case = CheckCase::Of(*made.module, question.inputs);
  Checker checker(subject, check_case);
  checker.NotePhaseIn(&state_.phase);
  const Outcome outcome = RunAgain(check_case, key, checker, confirm);
  if (!confirm.fails_cheaply) confirm.place.clear();  // signing says it, of what is no better known
  // A failure that hangs on the numbers that are drawn is no answer that changes.
  if (confirm.draws_numbers && confirm.fails < confirm.runs) confirm.fails = 0;
  const bool is_wrong = outcome.Fails(Outcome::kWrong) && confirm.fails == confirm.runs;
  const CheckSubject cheap = is_wrong ? WhereCheap(subject, check_case, key, first)
                                      : WithOptions(subject, subject.options);
  const Literal answer = checker.answer();
  if (is_wrong) first = NoteWhatIsNotable(checker, cheap, question, std::move(first), confirm);
  if (!is_wrong) first.reset();
  if (is_wrong && !key.exact && HasFloats(*made.module)) {
    confirm.exact = ExactInWords(
        checker.CheckAgain(CheckCase::OfPointers(*made.module, made.ExactArguments()).arguments)
            .outcome.kind);
  }
  if (confirm.fails != confirm.runs) return;
  // It has failed again; the rest asks what it is.
  state_.Begin(key.index, CheckPolicy::kTimesAsLong);
  state_.phase.store(Phase::kJudge);
  if (confirm.notable.empty()) {
    Sign(cheap, question, outcome, {familiar_, std::move(first), answer}, confirm);
  } else {
    NoteNotable(confirm.notable, confirm);
  }
}

// A compilation costs more than all else, so one serves all runs: it is the second one already, as
// the suspect failed in the campaign's own process. What failed while it was screened has often
// nothing wrong with it, and is not tried in vain again.
Outcome SecondCheck::RunAgain(const CheckCase& check_case, const CaseKey& key, Checker& checker,
                              ConfirmRecord& confirm) const {
  Outcome outcome;
  while (confirm.runs < CheckPolicy::kRuns) {
    CheckRequest request;
    const bool repeats = confirm.runs == 0 && !DrawsNumbers(check_case.module);
    if (repeats) request = {.repeats = CheckPolicy::kRuns - 1, .compile_every = CheckPolicy::kRuns};
    const Outcome seen = checker.Check(request).outcome;
    const BackendRecord record = RecordOf(seen, key.exact);
    const bool fails = IsFinding(record.kind);
    // A wrong value that came back with the same bits has been seen on all runs.
    const int64_t runs = repeats && seen.Fails(Outcome::kWrong) ? CheckPolicy::kRuns : 1;
    confirm.runs += runs;
    if (!fails && key.screened) {
      confirm.fails_cheaply = IsFinding(OutcomeAsScreened(checker.subject(), check_case, key).kind);
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

Outcome SecondCheck::OutcomeAsScreened(const CheckSubject& subject, const CheckCase& check_case,
                                       const CaseKey& key) const {
  const CompileOptions options = runner_.IsScreened(key)
                                     ? WithFlags(subject.options, runner_.options().screening)
                                     : subject.options;
  return CheckOn(WithOptions(subject, options), check_case).outcome;
}

std::optional<WrongArray> SecondCheck::FirstWhereCheap(const CheckSubject& subject,
                                                       const Question& question) const {
  const CaseKey& key = question.key;
  const bool has_cheap_flags =
      !runner_.options().screening.empty() && subject.backend.Describe().dumps_passes;
  if (!has_cheap_flags || key.output < 0) return std::nullopt;
  const bool was_cheap = key.screened && runner_.IsScreened(key);
  if (!was_cheap && key.by_licence) return std::nullopt;
  CompileOptions options = WithFlags(subject.options, runner_.options().screening);
  options.limits.seconds = std::min(options.limits.seconds, CheckPolicy::kQuickSeconds);
  WrongArray first =
      FirstWrongArray(WithOptions(subject, options), *question.made.module, question.inputs);
  if (first.instruction == nullptr && !was_cheap) return std::nullopt;
  return first;
}

CheckSubject SecondCheck::WhereCheap(const CheckSubject& subject, const CheckCase& check_case,
                                     const CaseKey& key, std::optional<WrongArray>& first) const {
  const std::map<std::string, std::string>& screening = runner_.options().screening;
  CompileOptions options = subject.options;
  CheckSubject quick = WithOptions(subject, options);
  quick.limits.seconds = std::min(quick.limits.seconds, CheckPolicy::kQuickSeconds);
  if (key.screened && runner_.IsScreened(key)) {
    quick.options = WithFlags(quick.options, screening);  // where it was wrong, too
    return quick;
  }
  const CheckSubject cheap = UnderCheapFlags(quick, check_case, Outcome::kWrong, screening);
  if (cheap.options.flags == quick.options.flags) first.reset();
  quick.options = cheap.options;
  return quick;
}

std::optional<WrongArray> SecondCheck::NoteWhatIsNotable(const Checker& checker,
                                                         const CheckSubject& cheap,
                                                         const Question& question,
                                                         std::optional<WrongArray> first,
                                                         ConfirmRecord& confirm) const {
  const CheckSubject& subject = checker.subject();
  const Module& module = *question.made.module;
  const std::vector<const Literal*>& arguments = checker.check_case().arguments[0];
  if (question.key.by_licence) {
    confirm.notable = FarOffByLicence(subject, module, arguments, checker.answer());
    confirm.fails_cheaply = confirm.notable.empty();  // it was near where it was screened
    if (confirm.notable.empty()) confirm.fails = 0;
    return std::nullopt;
  }
  const absl::StatusOr<Expectation> expectation =
      subject.oracle.Expect(module, arguments, subject.profile, subject.limits);
  if (expectation.ok()) confirm.notable = NotableDifference(*expectation, checker.answer());
  if (!confirm.notable.empty()) return std::nullopt;
  NotedOrigin origin =
      NotableOrigin(cheap, module, question.inputs, checker.answer(), std::move(first));
  confirm.notable = origin.notable;
  return std::move(origin.first);
}

void SecondCheck::Sign(const CheckSubject& subject, const Question& question,
                       const Outcome& outcome, const SigningHints& hints,
                       ConfirmRecord& confirm) const {
  const Module& module = *question.made.module;
  const Signature first = SignatureOf(subject, module, question.inputs, outcome, hints);
  if (IsRearrangedBy({first.blame, first.wrong}, subject, module, question.inputs, hints.answer,
                     runner_.options().python)) {
    return NoteNotable(kRearranged, confirm);
  }
  confirm.culprit = first.culprit;
  confirm.signature = first.text;
  confirm.variant = first.variant;
  confirm.place = first.place;
}

}  // namespace assay
