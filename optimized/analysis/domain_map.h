// The domains of a computation: sets of connected instructions, with domain instructions for
// borders. A domain instruction has a sharding on either side: `exit` on that of its operand, whose
// domain values leave, `entry` on that of its users. Document: optimization passes, HLO domain
// isolator, remover, verifier.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "spec/ir/module.h"

namespace assay {

// The shardings of the two domains that `domain` separates: of its operand and of its users.
const Sharding& OperandSideMetadata(const Instruction& domain);
const Sharding& UserSideMetadata(const Instruction& domain);

struct Domain {
  std::vector<Instruction*> instructions;  // operands before users; no domain instructions
  // Domain instructions at the border, as seen from inside: those that members use, and those that
  // use members.
  std::vector<const Instruction*> entries, exits;

  // The sharding that all of the border has on this side; nullptr where there is no border. An
  // error (failed precondition) naming two domain instructions that differ.
  absl::StatusOr<const Sharding*> CommonMetadata() const;
};

std::vector<Domain> DomainsOf(const Computation& computation);

}  // namespace assay
