// Dots and convolutions as plans of the runtime's contraction.
#pragma once

#include <optional>

#include "optimized/analysis/walks/contraction_views.h"
#include "optimized/runtime/kernels/contraction.h"
#include "optimized/runtime/kernels/micro_kernels.h"
#include "spec/ir/module.h"

namespace assay {

// nullopt: an op, a type or a rank that the runtime has no code for.
// A fusion of a dot with what moves elements before and behind it is one plan.
std::optional<ContractionPlan> PlanContraction(const Instruction& kernel, KernelIsa isa,
                                               const NumberBend& bend = nullptr);
// Products that are added up.
double ProductsOf(const ContractionPlan& plan);

}  // namespace assay
