// A program in the form in which its inside is captured: calls are inlined, and every computation
// that a loop or a conditional runs is its own. So each instruction stands for one place of the
// program, executed once for every trip of the loops around it.
#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "spec/ir/module.h"

namespace assay {

struct FlatModule {
  std::unique_ptr<Module> module;
  // The instruction of the user's module that an instruction is a copy of.
  absl::flat_hash_map<const Instruction*, const Instruction*> origin;
};

enum class Fusions : uint8_t { kKept, kInlined };

// `module` outlives the result. Resource exhausted: calls of calls that make it too big.
absl::StatusOr<FlatModule> Flatten(const Module& module, Fusions fusions = Fusions::kKept);

// Computation by computation, instruction by instruction: what `clone`, a fresh Module::Clone of
// `module`, made of what.
absl::flat_hash_map<const Instruction*, Instruction*> CloneMap(const Module& module,
                                                               const Module& clone);

// Brings the stored order of every computation into one in which operands come first.
void OrderByUse(Module& module);

// The op's name and source from the instruction's metadata: "jit(f)/dot_general", "model.py:12"; ""
// if it has none.
std::string OpNameOf(const Instruction& instruction);
std::string SourceOf(const Instruction& instruction);

}  // namespace assay
