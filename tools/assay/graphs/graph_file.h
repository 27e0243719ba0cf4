// Graphs in the DOT language as files: as they are, or drawn by graphviz.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace assay {

// Invalid argument: a file of that name cannot be written; .svg, .png, .pdf, .dot, .gv and names
// without an ending can.
absl::Status CheckGraphPath(const std::string& path);
// Writes the graph in the form that the ending of the name says. Unavailable: graphviz is not
// there; then the graph is left in PATH.dot.
absl::Status WriteGraph(const std::string& path, const std::string& dot);

}  // namespace assay
