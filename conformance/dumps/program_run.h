// A state of a program, and what it computes on the oracle: every array between its inputs and its
// results.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/cuts/programs/flat_module.h"
#include "spec/backend/oracle.h"

namespace assay {

// A module as a dump has it, made fit for the oracle.
struct ProgramState {
  std::shared_ptr<const Module> module;
  std::shared_ptr<const Module> joined;  // the same without async pairs (async_pairs.h)
  std::vector<std::string> unknown;      // constants that the dump left out (unknown_values.h)
};
// Errors are those of LoadModule.
absl::StatusOr<ProgramState> LoadState(const std::string& path);

struct ProgramRun {
  std::shared_ptr<const Module> module;  // without async pairs
  std::vector<std::string> unknown;      // what was drawn in the place of unknown values, sorted
  FlatModule flat;  // of `module`; fusions are inlined, so that what is in them has a name
  std::vector<Capture> values;   // of `flat`, in the order of evaluation inside a computation
  std::vector<Literal> results;  // the leaves of its result, and what calls of libraries read
};

// Plain evaluation. Errors are the oracle's own.
absl::StatusOr<ProgramRun> RunProgram(const ProgramState& state,
                                      const std::vector<const Literal*>& arguments, Oracle& oracle,
                                      const Limits& limits);

// The name of the instruction in the module that the flat one was made of.
const Instruction& OriginOf(const FlatModule& flat, const Instruction& instruction);

}  // namespace assay
