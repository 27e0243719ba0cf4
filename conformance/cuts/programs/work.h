// Estimates the oracle's work on a program before it is asked.
#pragma once

#include "spec/backend/backend.h"
#include "spec/ir/module.h"

namespace assay {

// Products that the dots and convolutions of the module form, each of them counted once, however
// often a loop runs it. A floating-point number, for it may be huge.
double ProductsOf(const Module& module);
// The products of one instruction; 0 of any but dots and convolutions.
double ProductsOf(const Instruction& instruction);

// The limits for a program that announces so much work: those that were given are for a small one.
// The time doubles with every 2^34 products, 2^28 elements of arguments and results, and 10,000
// instructions.
Limits LimitsFor(const Module& module, const Limits& small);

// More than the oracle forms in some seconds: so big a program is judged by samples.
inline constexpr double kManyProducts = 0x1p29;

}  // namespace assay
