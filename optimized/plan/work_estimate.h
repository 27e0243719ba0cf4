// Rough amounts of work, for decisions about optimizing and splitting: counted in operations on one
// element.
#pragma once

#include <cstdint>

#include "spec/ir/module.h"

namespace assay {

// Operations per element of the result of an instruction or a fusion.
int64_t WorkPerElement(const Instruction& instruction);
// Operations of one run of a kernel.
int64_t EstimateKernelWork(const Instruction& instruction);
// Operations of one run: loops of unknown length count a hundred times.
int64_t EstimateWork(const Module& module);

}  // namespace assay
