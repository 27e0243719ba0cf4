// A module as a graph in graphviz's DOT language: a box per computation, a node per instruction,
// operands to users, control dependencies dashed, calls dotted.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "spec/ir/module.h"

namespace assay {

std::string WriteDot(const Module& module);

// What is known of an instruction beside the module: its colour, a line below its name, and
// whether it stands out by a thick red frame.
struct DotNote {
  std::string colour, text;
  bool is_marked = false;
};
// Of the others only the outlines are drawn; `legend` explains the colours, in pairs of colour and
// meaning.
struct DotNotes {
  absl::flat_hash_map<const Instruction*, DotNote> notes;
  std::vector<std::pair<std::string, std::string>> legend;
};
std::string WriteDot(const Module& module, const DotNotes& notes);

}  // namespace assay
