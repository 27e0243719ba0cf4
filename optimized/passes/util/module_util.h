// Questions that passes ask of a module.
#pragma once

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "spec/ir/module.h"

namespace assay {

// The entry and the computations that run as a unit, called by call, while or conditional and by
// nothing else; callees before callers.
std::vector<Computation*> UnitComputations(const Module& module);

// Result and operands are arrays of static shape; no control dependencies.
bool IsPlain(const Instruction& inst);
// True also where the result is a tuple of such arrays.
bool IsPlainOrTuple(const Instruction& inst);

// Finds instructions that may be executed again, dropped, moved or merged with their like: no side
// effect, randomness or communication, in them or in what they call. Looks at the module once, when
// made; what is added later counts as pure if its op is.
class Purity {
 public:
  explicit Purity(const Module& module);
  bool IsPure(const Instruction& inst) const;
  bool IsPure(const Computation& computation) const { return !impure_.contains(&computation); }

 private:
  absl::flat_hash_set<const Computation*> impure_;
};

// The body of `callee` in the computation of `arguments`' user: its copied root, or nullptr if the
// shapes of arguments and parameters are not the same, layouts included.
Instruction* InlineCopy(Computation* into, const Computation& callee,
                        absl::Span<Instruction* const> arguments);

// Copying stops when a module has this many instructions: calls of calls may double at each level.
inline constexpr int64_t kMaxInlinedInstructions = 100'000;

}  // namespace assay
