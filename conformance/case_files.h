// Modules on disk with their arrays: NAME.hlo and, beside it, NAME.npz with in0.. (the leaves of
// the entry parameters, in order) and out0.. (the leaves of a result that somebody stored). XLA's
// dump names (*.before_optimizations.txt, and *after_optimizations.txt where the module before is
// not there) are modules too, and so is the binary form (*.hlo.pb, *.hlo.pb.gz) where no text of
// the same name is. Arrays of several devices are called in0_d0, in0_d1, ..., out0_d0, ... Where
// there is no .npz, a run that the compiler recorded (*snapshot*.pb) has the arrays. A file of
// several modules is as many cases, FILE#PART, with their arrays in NAME.PART.npz.
#pragma once

#include <memory>
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
  std::string arrays_path;  // an .npz or a recorded run; "" when there are no arrays

  bool IsRecorded() const;
  // "inputs recorded in F", "inputs of F" or "inputs drawn, seed 1".
  std::string DescribeInputs(uint64_t seed) const;
};

// The module at `path`, or all of a folder in the order of their names. NAME.opt.hlo (a compiler's
// optimized form of NAME.hlo) is taken only when it is named itself; it uses the arrays of
// NAME.npz. A module of which several runs were recorded is a case for each; a recorded run whose
// module lies not there in another form is one itself. Of a program of a dump with parts that are
// written for one device (shard_map) the form after the partitioner is taken. Not found, or a
// folder without modules, is an error.
absl::StatusOr<std::vector<CaseFile>> FindCases(const std::string& path);

// Tells in one line where the inputs of the cases come from.
std::string DescribeInputs(const std::vector<CaseFile>& cases, uint64_t seed);

// Reads and verifies the module of the case. Constants that a dump left out of its text are looked
// for beside it (recorded_run.h).
absl::StatusOr<std::unique_ptr<Module>> LoadCaseModule(const CaseFile& file);

// Constants that are nowhere to be found: a program with other values in their place is another
// program, but has the same shapes, ops and layouts to go wrong in. On request they are drawn, and
// whoever reads of it is told.

// Gives every constant without a value one that `seed` and its place decide; how many there were.
absl::StatusOr<int64_t> DrawElided(Module& module, uint64_t seed);

struct DrawnModule {
  std::unique_ptr<Module> module;
  int64_t drawn = 0;  // constants with values that are not the program's
};
// LoadCaseModule; with a seed what it does not find is drawn, without one that is an error.
absl::StatusOr<DrawnModule> LoadOrDrawCaseModule(const CaseFile& file,
                                                 std::optional<uint64_t> draw_elided);

struct CaseArrays {
  DeviceAssignment devices;
  std::vector<Literal> arguments;  // per device (replica major), then per entry parameter
  std::vector<Literal> stored;     // per device the leaves of the result; empty: none is stored
  bool generated = false;          // the arguments were drawn from the seed, not read
};

// Arguments as the entry's parameters want them; from the file when it names one (an .npz, or a
// recorded run in a .pb or .pb.gz), otherwise drawn from `seed` (drawn_inputs.h). With `devices`,
// for that many; without, for as many as the file has arrays for, or as the module's header says
// when there is no file. An array without a device's number is every device's. Errors name the
// array, its shape and the parameter's. An array that the module has no use for, one that is
// missing (a part of the results among them) and one that is larger than what it is for are errors;
// the last before it is unpacked.
absl::StatusOr<CaseArrays> LoadArrays(const Module& module, const std::string& arrays_path,
                                      uint64_t seed,
                                      std::optional<DeviceAssignment> devices = std::nullopt);

// The arrays of an .npz file that infeeds take, per device: item0, item1, ... of the only or of
// every device, item0_d1 of device 1.
absl::StatusOr<std::vector<std::vector<Literal>>> LoadInfeed(const std::string& path,
                                                             const DeviceAssignment& devices);

// Arguments by device, as executables take them.
std::vector<std::vector<const Literal*>> ArgumentsByDevice(const CaseArrays& arrays);

std::vector<const Literal*> Pointers(const std::vector<Literal>& literals);

}  // namespace assay
