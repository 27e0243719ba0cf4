// Counts the work that a module needs at least, whatever compiles it. From it follows which share
// of the machine's limit a run reaches.
#pragma once

#include "spec/ir/module.h"

namespace assay {

struct Cost {
  double flops = 0;            // additions, multiplications, comparisons, ... of elements
  double transcendentals = 0;  // elements of exp, tanh and the like; not part of flops
  double bytes = 0;            // compulsory: every input read once, every output written once
};

// Counted over the module as written, which is unoptimized: dead and common code counts too, and
// the body of a loop once.
Cost CostOf(const Module& module);

}  // namespace assay
