// What a module has to do at least, whatever compiles it: for the share of the machine's limit that
// a run reaches.
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
