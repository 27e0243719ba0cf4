// Rules of reader and writer about async sugar: "dot-start(...)" for an async-start around a
// computation of one dot. Document: hlo-format chapter 3.11.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "spec/ir/module.h"
#include "spec/ops/op_table.h"

namespace assay::text_internal {

// False for ops with a start and done of their own, and those that no computation can be made of.
bool TakesAsyncSugar(Opcode opcode);

// Attributes that start and wrapped instruction both have.
inline constexpr Attr kSharedWithWrapped[] = {Attr::kMetadata, Attr::kOrigin, Attr::kBackendConfig,
                                              Attr::kFrontendAttributes, Attr::kStatistics};

// The async-starts whose sugar says all that they and their computations do (but for the names in
// there): nobody else calls the computation, its root takes the parameters in their order, and has
// no attributes that have no place in the sugar (metadata aside, where it is not written).
using SugaredStarts = absl::flat_hash_set<const Instruction*>;
SugaredStarts FindSugaredStarts(const Module& module, bool metadata);

// The instruction that a sugared async-start wraps, also for updates and dones that follow it
// directly; nullptr for all others.
const Instruction* SugaredRoot(const SugaredStarts& starts, const Instruction& instruction);

}  // namespace assay::text_internal
