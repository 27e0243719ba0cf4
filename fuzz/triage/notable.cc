// Puts the oracle's zeros and subnormal numbers in the place of the answer's zeros and judges
// again.
#include "fuzz/triage/notable.h"

#include <cmath>

#include "spec/types/float_format.h"

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
    if (!(std::fabs(right) < least)) continue;
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
  absl::StatusOr<Expectation> expectation =
      subject.oracle.Expect(module, check_case.arguments[0], subject.profile, subject.limits);
  if (expectation.ok()) noted.notable = NotableDifference(*expectation, noted.answer);
  return noted;
}

}  // namespace assay
