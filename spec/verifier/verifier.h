// Checks that a module obeys every constraint of its ops and of the module level.
// Documents: operation semantics ("must reject"), hlo-format chapter 1.2, 3, 4.5.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "spec/ir/module.h"
#include "spec/ops/op_table.h"

namespace assay {

// One violated constraint, and whose it is: at most one of the three is set.
struct VerifyError {
  const Instruction* instruction = nullptr;
  const Computation* computation = nullptr;
  std::string header_attribute;
  std::string message;
};

struct VerifyOptions {
  bool layout_sensitive = false;  // written layouts must agree where hlo-format 4.5 says so
  int max_errors = 10;
};

// OK, or an invalid-argument status listing the violated constraints, one per line, each with
// computation and instruction. Structure is checked first (entry, operands, calls, cycles), and
// only a sound structure goes on to shapes. An op that is not defined (OpInfo::IsDefined) is not an
// error here: its attributes and operand count are checked, its meaning is not.
absl::Status Verify(const Module& module, const VerifyOptions& options = {});
// The violated constraints as data, for callers that know where in a text the instructions stand.
std::vector<VerifyError> FindErrors(const Module& module, const VerifyOptions& options = {});

// Finds what is valid and yet no program says on purpose: infeeds that nothing orders, whose data a
// compiler may give to either. Empty for a module with errors.
std::vector<VerifyError> FindWarnings(const Module& module, const VerifyOptions& options = {});

// Names of the undefined ops and uncomputed element types that keep a module from being evaluated,
// sorted; empty: it can be.
std::vector<std::string> Unsupported(const Module& module);

}  // namespace assay
