// Values that a compiler may take for constants after inlining, folding and moving slices around:
// the divisors of ClauseId::kReciprocalDivision.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "spec/ir/module.h"

namespace assay::reference {

// Says how a value depends on the parameters of the entry.
enum class Dependence : uint8_t {
  kVaries,
  kPartly,  // some of its elements may not depend on them: a slice may take these alone
  kNone,    // no element may, or it is the same for many elements of what is computed with it
};

using Dependences = absl::flat_hash_map<const Instruction*, Dependence>;

// `known` holds the answers of earlier instructions of its computation.
Dependence DependenceOf(const Instruction& instruction, bool is_entry, const Dependences& known);

}  // namespace assay::reference
