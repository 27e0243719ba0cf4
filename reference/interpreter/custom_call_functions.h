// Functions that custom calls run, as linked code has them.
#pragma once

#include <map>
#include <string>

namespace assay {

// Arrays are pointers to their elements, row-major; tuples are arrays of such pointers. It must be
// a pure function of its arguments.
using CustomCallFunction = void (*)(void* out, const void** in);
// The functions by the name of the target.
using CustomCallFunctions = std::map<std::string, CustomCallFunction>;

}  // namespace assay
