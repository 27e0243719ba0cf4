// A program as a compiler may make it that keeps results of narrow floats in f32: a legal
// evaluation by which the visible is told from what is permitted.
#pragma once

#include <memory>
#include <random>

#include "conformance/cuts/programs/flat_module.h"

namespace assay {

// A copy of the flat module that computes in f32 wherever it has f16 or bf16, and rounds a random
// share of the results to the type that they had. Null where nothing is narrow, or where that
// cannot be: bits of narrow numbers are looked at, a call by name takes them.
std::unique_ptr<Module> WithExcessPrecision(const Module& flat, std::mt19937_64& random);

}  // namespace assay
