// A module as a graph in graphviz's DOT language: a box per computation, a node per instruction,
// operands to users, control dependencies dashed, calls dotted.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "spec/ir/module.h"

namespace assay {

std::string WriteDot(const Module& module);

// The notes on an instruction that a drawing shows: its colour, a line below its name, and whether
// it stands out by a thick red frame.
struct DotNote {
  std::string colour, text;
  bool is_marked = false;
};
// The notes of a drawing. Instructions without a note are drawn as outlines; `legend` explains the
// colours, in pairs of colour and meaning.
struct DotNotes {
  absl::flat_hash_map<const Instruction*, DotNote> notes;
  std::vector<std::pair<std::string, std::string>> legend;
};
std::string WriteDot(const Module& module, const DotNotes& notes);

}  // namespace assay
