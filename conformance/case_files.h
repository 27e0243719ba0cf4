// Modules on disk with their arrays: NAME.hlo and, beside it, NAME.npz with in0.. (the leaves of
// the entry parameters, in order) and out0.. (the leaves of a result that somebody stored). XLA's
// dump names (*.before_optimizations.txt) are modules too.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/ir/module.h"
#include "spec/types/literal.h"

namespace assay {

struct CaseFile {
  std::string name;         // file name without its ending
  std::string module_path;  // HLO text
  std::string arrays_path;  // "" when there are no arrays
};

// The module at `path`, or all of a folder in the order of their names. NAME.opt.hlo (a compiler's
// optimized form of NAME.hlo) is taken only when it is named itself; it uses the arrays of
// NAME.npz. Not found, or a folder without modules, is an error.
absl::StatusOr<std::vector<CaseFile>> FindCases(const std::string& path);

struct CaseArrays {
  std::vector<Literal> arguments;  // per entry parameter
  std::vector<Literal> stored;     // leaves of the stored result; empty: none is stored
  bool generated = false;          // the arguments were drawn from the seed, not read
};

// Arguments as the entry's parameters want them; from the file when it names one, otherwise drawn
// from `seed`. Errors name the array, its shape and the parameter's.
absl::StatusOr<CaseArrays> LoadArrays(const Module& module, const std::string& arrays_path,
                                      uint64_t seed);

std::vector<const Literal*> Pointers(const std::vector<Literal>& literals);

}  // namespace assay
