// Siblings of a program that fails: the same with other types, and which of them fail.
#pragma once

#include <vector>

#include "conformance/known/ledger.h"
#include "spec/backend/check.h"

namespace assay {

// Fills in `fails` and `passes`: "f64 for f32".
void NoteSiblings(const CheckSubject& subject, const Module& module,
                  const std::vector<Literal>& inputs, Outcome::Kind kind, MeasuredCause& measured);

}  // namespace assay
