// Puts the oracle's zeros and subnormal numbers in the place of the answer's zeros and judges
// again.
#include "fuzz/opinions/notable.h"

#include <cmath>
#include <utility>

#include "fuzz/opinions/far_off.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/wrong_instruction.h"
#include "spec/types/float_format.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

struct Seen {
  bool sign = false, flush = false;
};

// The answer with the oracle's own number where the answer has a zero and the oracle a subnormal
// number or the other zero; complex numbers part by part.
Literal Mended(const Literal& plain, const Literal& answer, Seen& seen) {
  Literal mended = answer;
  const ElementType type = answer.element_type();
  if (!(IsFloat(type) || IsComplex(type)) || !Compatible(plain.shape(), answer.shape())) {
    return mended;
  }
  const double least = Format(ComponentType(type)).MinNormal();
  for (int64_t k = 0; k < answer.component_count(); ++k) {
    if (answer.GetComponent(k) != 0 || plain.GetComponentBits(k) == answer.GetComponentBits(k)) {
      continue;
    }
    const double right = plain.GetComponent(k);
    // Hardware that flushes asks before it rounds to the least normal number.
    if (!(std::fabs(right) <= least)) continue;
    (right == 0 ? seen.sign : seen.flush) = true;
    mended.SetComponentBits(k, plain.GetComponentBits(k));
  }
  return mended;
}

}  // namespace

std::string NotableDifference(const Expectation& expectation, const Literal& answer) {
  if (!answer.shape().IsValid()) return "";
  const std::vector<const Literal*> leaves = Leaves(answer);
  if (leaves.size() != expectation.leaves.size()) return "";
  if (JudgeLeaves(expectation, leaves).verdict != Verdict::kFail) return "";
  Seen seen;
  std::vector<Literal> mended;
  for (size_t i = 0; i < leaves.size(); ++i) {
    mended.push_back(Mended(expectation.leaves[i].plain, *leaves[i], seen));
  }
  std::vector<const Literal*> pointers;
  for (const Literal& leaf : mended) pointers.push_back(&leaf);
  if (JudgeLeaves(expectation, pointers).verdict == Verdict::kFail) return "";
  return seen.flush ? "a subnormal number became zero" : "sign of a zero";
}

NotedOutcome CheckAndNote(const CheckSubject& subject, const Module& module,
                          const std::vector<Literal>& inputs, const CheckRequest& request) {
  const CheckCase check_case = CheckCase::Of(module, inputs);
  Checker checker(subject, check_case);
  NotedOutcome noted;
  noted.outcome = checker.Check(request).outcome;
  noted.answer = checker.answer();
  if (!noted.outcome.Fails(Outcome::kWrong)) return noted;
  if (subject.profile.IsAsWritten()) {
    noted.notable = FarOffByLicence(subject, module, check_case.arguments[0], noted.answer);
    return noted;
  }
  absl::StatusOr<Expectation> expectation =
      subject.oracle.Expect(module, check_case.arguments[0], subject.profile, subject.limits);
  if (expectation.ok()) noted.notable = NotableDifference(*expectation, noted.answer);
  return noted;
}

namespace {

// Describes what is notable of the array that is wrong.
std::string NotableOf(const CheckSubject& subject, const Module& module,
                      const std::vector<Literal>& inputs, const WrongArray& wrong) {
  if (wrong.instruction == nullptr) return "";
  const Exposed exposed = WithAllArrays(module, /*with_leaves=*/false);
  const CheckCase check_case = CheckCase::Of(*exposed.module, inputs);
  absl::StatusOr<Expectation> all = subject.oracle.Expect(*exposed.module, check_case.arguments[0],
                                                          subject.profile, subject.limits);
  const std::vector<const Literal*> leaves = Leaves(wrong.answer);
  const auto number = static_cast<size_t>(wrong.number);
  const bool is_there = all.ok() && number < leaves.size() && all->leaves.size() == leaves.size();
  if (!is_there) return "";
  Expectation one;
  one.leaves.push_back(std::move(all->leaves[number]));
  return NotableDifference(one, *leaves[number]);
}

// True if nothing is wrong any more. What cannot be decided, such as the bits of a NaN, could not
// before.
bool IsExplained(const NotedOutcome& rest) {
  const Judgement& judgement = rest.outcome.judgement;
  const bool is_mostly_decided = rest.outcome.kind == Outcome::kInconclusive &&
                                 judgement.failed == 0 &&
                                 2 * judgement.inconclusive < judgement.elements;
  return rest.outcome.IsPass() || is_mostly_decided || !rest.notable.empty();
}

// Gives zeros the other sign; false if there are none.
bool TurnZeros(Literal& value) {
  const ElementType type = value.shape().element_type();
  if (!value.shape().IsArray() || !(IsFloat(type) || IsComplex(type))) return false;
  const FloatFormat& format = Format(ComponentType(type));
  if (!format.HasNegativeZero()) return false;
  const uint64_t zeros[] = {EncodeFloat(format, 0.0), EncodeFloat(format, -0.0)};
  bool turned = false;
  for (int64_t k = 0; k < value.component_count(); ++k) {
    const uint64_t bits = value.GetComponentBits(k);
    if (bits != zeros[0] && bits != zeros[1]) continue;
    value.SetComponentBits(k, bits == zeros[0] ? zeros[1] : zeros[0]);
    turned = true;
  }
  return turned;
}

bool IsRightForOtherZeros(const CheckSubject& subject, const ReduceCase& program,
                          const EvaluateFunction& evaluate, const Literal& answer) {
  constexpr int64_t kMostInstructions = 64;  // the oracle runs twice for each
  if (!answer.shape().IsValid() || program.module->InstructionCount() > kMostInstructions) {
    return false;
  }
  const std::vector<const Literal*> leaves = Leaves(answer);
  const auto count = static_cast<int64_t>(WithAllArrays(*program.module, false).arrays.size());
  // All arrays are asked for at once, and of the same program each time.
  std::optional<absl::StatusOr<Literal>> all;
  const EvaluateFunction evaluate_once = [&](const Module& exposed,
                                             const std::vector<Literal>& values) {
    if (!all.has_value()) all = evaluate(exposed, values);
    return *all;
  };
  for (int64_t number = 0; number < count; ++number) {
    std::optional<ReduceCase> given = WithArrayGiven(program, number, evaluate_once);
    if (!given.has_value() || given->inputs.empty()) continue;
    // The array that is given now is the last of the inputs.
    if (!TurnZeros(given->inputs.back())) continue;
    const CheckCase turned = CheckCase::Of(*given->module, given->inputs);
    const absl::StatusOr<Expectation> expectation =
        subject.oracle.Expect(*given->module, turned.arguments[0], subject.profile, subject.limits);
    const bool is_right = expectation.ok() && expectation->leaves.size() == leaves.size() &&
                          JudgeLeaves(*expectation, leaves).verdict == Verdict::kPass;
    if (is_right) return true;
  }
  return false;
}

}  // namespace

NotedOrigin NotableOrigin(const CheckSubject& subject, const Module& module,
                          const std::vector<Literal>& inputs, const Literal& answer,
                          std::optional<WrongArray> known) {
  constexpr int kMostArrays = 3;
  const EvaluateFunction evaluate = [&subject](const Module& program,
                                               const std::vector<Literal>& values) {
    return subject.oracle.Evaluate(program, CheckCase::Of(program, values).arguments[0],
                                   subject.limits);
  };
  if (IsRightForOtherZeros(subject, {module.Clone(""), inputs}, evaluate, answer)) {
    return {"sign of a zero", std::nullopt};
  }
  if (!known.has_value()) known = FirstWrongArray(subject, module, inputs);
  NotedOrigin origin{"", std::move(known)};
  const std::string first = NotableOf(subject, module, inputs, *origin.first);
  std::string notable = first;
  int64_t number = origin.first->number;
  ReduceCase program{module.Clone(""), inputs};
  for (int arrays = 1; !notable.empty(); ++arrays) {
    std::optional<ReduceCase> given = WithArrayGiven(program, number, evaluate);
    if (!given.has_value()) break;
    program = *std::move(given);
    const NotedOutcome rest = CheckAndNote(subject, *program.module, program.inputs);
    if (IsExplained(rest)) origin.notable = first;
    if (!rest.outcome.Fails(Outcome::kWrong) || !rest.notable.empty() || arrays == kMostArrays)
      break;
    const WrongArray wrong = FirstWrongArray(subject, *program.module, program.inputs);
    notable = NotableOf(subject, *program.module, program.inputs, wrong);
    number = wrong.number;
  }
  return origin;
}

}  // namespace assay
