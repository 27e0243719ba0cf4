// Estimates the oracle's work on a program before it is asked.
#pragma once

#include "spec/ir/module.h"

namespace assay {

// Products that the dots and convolutions of the module form, each of them counted once, however
// often a loop runs it. A floating-point number, for it may be huge.
double ProductsOf(const Module& module);
// The same of one instruction; 0 of any but dots and convolutions.
double ProductsOf(const Instruction& instruction);

// More than the oracle forms in some seconds: so big a program is judged by samples.
inline constexpr double kManyProducts = 0x1p29;

}  // namespace assay
