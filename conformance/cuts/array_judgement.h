// Judgements of single arrays and their sums: what a reading of captures is made of.
#pragma once

#include <string>

#include "spec/numerics/expectation.h"

namespace assay {

void AddTo(Judgement& sum, const Judgement& more);
// From the counts: fail, else inconclusive, else pass.
void SetVerdict(Judgement& judgement);

// `failure`, if given and still empty, receives the description of what is wrong.
Judgement JudgeArray(const ArrayExpectation& expected, const Literal& seen, std::string* failure);
// The judgement of one leaf of the result of a program.
Judgement JudgeResult(const Expectation& results, size_t leaf, const Literal& seen,
                      std::string* failure);

// The elements that were not called right.
inline int64_t OpenOf(const Judgement& judgement) {
  return judgement.inconclusive + judgement.failed;
}

// The judgement of an array that was read in several ways: an element that passes in any reading is
// right, one that fails in the careful one is wrong. Readings count elements, so what is undecided
// is the most that it can be. `open`: what no reading that follows all captures calls right.
Judgement Joined(const Judgement& careful, int64_t open);

}  // namespace assay
