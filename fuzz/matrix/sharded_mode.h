// An op on two devices, whose operands and result are split between them.
#pragma once

#include <memory>

#include "spec/ir/module.h"

namespace assay {

// Both replicas take their half of every operand that has a dimension longer than one (of even size
// if there is one; halves of an odd size share its middle), gather the halves, do what `module`
// does, and do the same with the result: what comes out on each is what `module` gives. nullptr
// where nothing can be halved. The entry of `module` has arrays as parameters.
std::unique_ptr<Module> ShardedMode(const Module& module);

}  // namespace assay
