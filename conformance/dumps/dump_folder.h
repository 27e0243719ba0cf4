// The folder that a compiler of XLA's family fills under --xla_dump_to with --xla_dump_hlo_pass_re:
// modules in the state between passes, as text or binary, and runs that were recorded. Only names
// are read here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace assay {

// One file: the module after one pass.
struct DumpSnapshot {
  std::string path;
  std::string pipeline;  // "simplification"; "" of the first and the last file of a module
  std::string pass;      // after which it was written: "algsimp", "pipeline-start", "" of the first
};

// The files of one module, in the order in which they were written.
struct DumpedModule {
  std::string name;  // "module_0010.jit_mlp"
  std::vector<DumpSnapshot> snapshots;
  std::vector<std::string> recorded;  // HloSnapshot files: arguments, and maybe the result
};

// The name of a state for people: "simplification after algsimp", "before optimizations".
std::string TitleOf(const DumpSnapshot& snapshot);

// All modules of the folder that have two states or more, by name. Errors: no such folder, no
// permission, or no two states of any module in it.
absl::StatusOr<std::vector<DumpedModule>> FindDumps(const std::string& folder);

}  // namespace assay
