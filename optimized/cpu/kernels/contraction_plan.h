// Dots and convolutions as plans of the runtime's contraction.
#pragma once

#include <optional>

#include "optimized/runtime/kernels/contraction.h"
#include "optimized/runtime/kernels/micro_kernels.h"
#include "spec/ir/module.h"

namespace assay {

// nullopt: an op, a type or a rank that the runtime has no code for.
std::optional<ContractionPlan> PlanContraction(const Instruction& instruction, KernelIsa isa);
// Products that are added up.
double ProductsOf(const ContractionPlan& plan);

}  // namespace assay
