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

}  // namespace assay
