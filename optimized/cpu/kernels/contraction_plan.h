// Dots and convolutions as plans of the runtime's contraction.
#pragma once

#include <optional>

#include "optimized/runtime/kernels/contraction.h"
#include "spec/ir/module.h"

namespace assay {

// nullopt: an op, a type or a rank that the runtime has no code for. `vector_bits` and `use_fma`
// choose the instruction set that results are computed with.
std::optional<ContractionPlan> PlanContraction(const Instruction& instruction, int vector_bits,
                                               bool use_fma);
// Products that are added up.
double ProductsOf(const ContractionPlan& plan);

}  // namespace assay
