// A module as a graph in graphviz's DOT language: a box per computation, a node per instruction,
// operands to users, control dependencies dashed, calls dotted.
#pragma once

#include <string>

#include "spec/ir/module.h"

namespace assay {

std::string WriteDot(const Module& module);

}  // namespace assay
