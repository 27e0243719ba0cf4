// Tells whether two findings that triage has put into different buckets are the same bug.
#pragma once

#include "fuzz/campaign/looks.h"

namespace assay {

// True if what the reduced program of `large` shows is probably the bug of `small`, whose reduced
// program needs no more opcodes; both were triaged, on one backend. A pass that is to blame makes
// many rewrites, which opcodes tell apart, so there only a program that was not reduced to the end
// is taken for another's, or one that differs in what the pass does not look at. Where code
// generation is to blame the op that is wrong is the bug: what stands around it, a crash instead of
// a wrong value, minimum instead of maximum make no other one. The rules are a table in
// duplicates.cc; each has a case in buckets_test.cc.
bool IsDuplicate(const Looks& large, const Looks& small);

}  // namespace assay
