// Modules on disk with their arrays: NAME.hlo and, beside it, NAME.npz with in0.. (the leaves of
// the entry parameters, in order) and out0.. (the leaves of a result that somebody stored). XLA's
// dump names (*.before_optimizations.txt) are modules too, and so is the binary form (*.hlo.pb,
// *.hlo.pb.gz) where no text of the same name is. Arrays of several devices are called
// in0_d0, in0_d1, ..., out0_d0, ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"
#include "spec/types/literal.h"

namespace assay {

struct CaseFile {
  std::string name;         // file name without its ending
  std::string module_path;  // HLO text or binary
  std::string arrays_path;  // "" when there are no arrays
};

// The module at `path`, or all of a folder in the order of their names. NAME.opt.hlo (a compiler's
// optimized form of NAME.hlo) is taken only when it is named itself; it uses the arrays of
// NAME.npz. Not found, or a folder without modules, is an error.
absl::StatusOr<std::vector<CaseFile>> FindCases(const std::string& path);

struct CaseArrays {
  DeviceAssignment devices;
  std::vector<Literal> arguments;  // per device (replica major), then per entry parameter
  std::vector<Literal> stored;     // per device the leaves of the result; empty: none is stored
  bool generated = false;          // the arguments were drawn from the seed, not read
};

// Arguments as the entry's parameters want them; from the file when it names one, otherwise drawn
// from `seed`. With `devices`, for that many; without, for as many as the file has arrays for, or
// as the module's header says when there is no file. An array without a device's number is every
// device's. Errors name the array, its shape and the parameter's. An array that the module has no
// use for, one that is missing (a part of the results among them) and one that is larger than what
// it is for are errors; the last before it is unpacked.
absl::StatusOr<CaseArrays> LoadArrays(const Module& module, const std::string& arrays_path,
                                      uint64_t seed,
                                      std::optional<DeviceAssignment> devices = std::nullopt);

// Arguments by device, as executables take them.
std::vector<std::vector<const Literal*>> ArgumentsByDevice(const CaseArrays& arrays);

std::vector<const Literal*> Pointers(const std::vector<Literal>& literals);

}  // namespace assay
