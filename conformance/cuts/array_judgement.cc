// Sums of judgements keep counts and the largest deviation; places and reasons are of one array.
#include "conformance/cuts/array_judgement.h"

#include <algorithm>

namespace assay {

void AddTo(Judgement& sum, const Judgement& more) {
  sum.elements += more.elements;
  sum.passed += more.passed;
  sum.failed += more.failed;
  sum.inconclusive += more.inconclusive;
  sum.forced += more.forced;
  sum.max_ulps_used = std::max(sum.max_ulps_used, more.max_ulps_used);
}

void SetVerdict(Judgement& judgement) {
  judgement.verdict = judgement.failed > 0         ? Verdict::kFail
                      : judgement.inconclusive > 0 ? Verdict::kInconclusive
                                                   : Verdict::kPass;
}

Judgement JudgeArray(const ArrayExpectation& expected, const Literal& seen, std::string* failure) {
  Expectation expectation;
  expectation.leaves.push_back(expected);
  const Literal* leaf = &seen;
  Judgement judgement = JudgeLeaves(expectation, absl::MakeConstSpan(&leaf, 1));
  if (failure != nullptr && failure->empty() && judgement.failed > 0)
    *failure = DescribeFailure(expectation, seen, judgement);
  return judgement;
}

Judgement JudgeResult(const Expectation& results, size_t leaf, const Literal& seen,
                      std::string* failure) {
  if (!results.inconclusive.empty() || leaf >= results.leaves.size()) {
    Judgement judgement;
    judgement.elements = judgement.inconclusive = seen.element_count();
    SetVerdict(judgement);
    return judgement;
  }
  return JudgeArray(results.leaves[leaf], seen, failure);
}

Judgement Joined(const Judgement& careful, int64_t open) {
  Judgement joined = careful;
  joined.inconclusive = std::min({careful.inconclusive, open, joined.elements - joined.failed});
  joined.passed = joined.elements - joined.failed - joined.inconclusive;
  SetVerdict(joined);
  return joined;
}

}  // namespace assay
