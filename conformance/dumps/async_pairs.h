// Operations that start and end apart, as compilers write them at the end: a copy, a collective or
// a call that goes on beside the rest of the program.
#pragma once

#include <memory>

#include "spec/ir/module.h"

namespace assay {

// The module with the plain op in the place of each end, under the end's name, so that what an
// asynchronous call runs can be seen. nullptr: it has no such pair that is started and ended in one
// computation.
std::unique_ptr<Module> WithoutAsyncPairs(const Module& module);

// True of ops that give what is not there yet: their results are for their ends alone.
bool IsUnderWay(Opcode opcode);

}  // namespace assay
