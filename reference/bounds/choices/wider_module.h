// A program with its intermediate values of narrow float types kept in a wider one, as the clause
// excess-precision permits: the extreme case, in which nothing is rounded before the results are.
// Document: operation semantics 1.4.
#pragma once

#include <memory>

#include "spec/ir/module.h"

namespace assay::reference {

// Which values are kept, and in which type.
enum class ExcessType : uint8_t {
  kSingle,  // all floats narrower than f32 as f32
  kHalf,    // those of at most 8 bits as f16
};

// A clone whose parameters and results have the types of `module`, and whose intermediate values
// the wider one. Null where nothing would be kept, or where an op in it has a meaning of its own
// for every type: those that look at bits or call functions by name.
std::unique_ptr<Module> KeepWider(const Module& module, ExcessType wider);

}  // namespace assay::reference
