// What a compiler may make of an instruction because of what its operands are: the rewrites that
// the clauses on neighbouring ops license (nested-quotients, constant-chains, exponentials,
// reciprocal-division). Found once per instruction; which of them count is for the profile to say.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "spec/ir/module.h"

namespace assay::reference {

struct Rewrites {
  bool divisor_is_invariant = false;  // operand 1 is a constant or a broadcast (divide only)
  // How many operands of a division are quotients themselves.
  int8_t quotients = 0;
  // Scales by a constant what was scaled by a constant.
  bool scales_twice = false;
  // Adds a constant to what a constant was added to: the largest magnitude of that one.
  bool shifts_twice = false;
  double first_shift = 0;
  // A product or quotient of exponentials.
  bool joins_exponentials = false;
  // Divides by an exponential or a power: the reciprocal may be made as one.
  Opcode inverted = Opcode::kDivide;  // kExponential or kPower; kDivide for neither
  // The logarithm of a root.
  bool is_log_of_root = false;

  bool InvertsFunction() const { return inverted != Opcode::kDivide; }
};

// Who calls which computation, by the ops that are inlined.
using InliningCallers = absl::flat_hash_map<const Computation*, std::vector<const Instruction*>>;
InliningCallers FindInliningCallers(const Module& module);

// All but `divisor_is_invariant`.
Rewrites RewritesOf(const Instruction& instruction, const InliningCallers& callers);

}  // namespace assay::reference
