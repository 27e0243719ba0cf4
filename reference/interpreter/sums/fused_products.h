// Legal choices about sums of products: whether the products are rounded before they are added.
#pragma once

#include "reference/bounds/choices/legal_choices.h"
#include "reference/interpreter/plan.h"

namespace assay::reference {

// Makes the choice where `result`, that of a step, is a sum of products of the same computation,
// whose values so far are `values`.
void ChooseFusedProducts(const Plan& plan, const Plan::Step& step, absl::Span<const Value> values,
                         const LegalChoices& choices, MemoryMeter& memory, Value& result);

}  // namespace assay::reference
