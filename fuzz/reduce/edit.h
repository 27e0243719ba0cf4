// A program that is being reduced with what it is given, and small edits of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "spec/ir/module.h"
#include "spec/types/literal.h"

namespace assay {

struct ReduceCase {
  std::unique_ptr<Module> module;
  std::vector<Literal> inputs;  // in parameter order of the entry

  ReduceCase Clone() const { return {module->Clone(""), inputs}; }
};

// The instruction of `clone` that stands where `original` stands in the module that `clone` was
// cloned from.
Instruction* Counterpart(const Module& clone, const Instruction* original);
Computation* Counterpart(const Module& clone, const Computation* original);

// Finds the counterparts of all instructions at once.
class Counterparts {
 public:
  Counterparts(const Module& clone, const Module& original);
  Instruction* Of(const Instruction* original) const { return there_.at(original); }

 private:
  absl::flat_hash_map<const Instruction*, Instruction*> there_;
};

// All instructions, computation by computation, and within each the last first. Where one of them
// goes with its operands, those before it in this order stay.
std::vector<const Instruction*> LastFirst(const Module& module);

// True of parameters and constants, which a reduction cannot take apart.
bool IsLeaf(const Instruction* instruction);

// A new entry parameter with `value`, at the end of the list.
Instruction* AddInput(ReduceCase& reduce_case, Literal value);

// Replaces all uses of `from` and removes it with what became dead. False, and no change, when
// `with` depends on `from`.
bool Substitute(Instruction* from, Instruction* with);

// Takes away dead instructions but those with the names in `needed`, unused computations and unused
// entry parameters with their inputs; brings instructions in an order in which operands come first.
void RemoveUnused(ReduceCase& reduce_case, const absl::flat_hash_set<std::string>& needed = {});

// The caller's layout and aliases hold only for a result of the same shape.
void ForgetResultLayout(Module& module);

// The names of all dead instructions.
absl::flat_hash_set<std::string> DeadInstructions(const Module& module);

// A copy whose result is what `root`, of its entry, gives.
ReduceCase WithRoot(const ReduceCase& whole, const Instruction* root);

// The program with that leaf of its result alone, without what computes only the others. None where
// the result is no tuple of several arrays.
std::optional<ReduceCase> WithOneOutput(const ReduceCase& whole, int64_t leaf);

// A copy of `module` whose results are all arrays of the entry but those of run-time size, operands
// first, and which of the instructions of `module` they are.
struct Exposed {
  std::unique_ptr<Module> module;
  std::vector<const Instruction*> arrays;
};
Exposed WithAllArrays(const Module& module, bool with_leaves);

// An array of `shape` whose element at `index` is that of `literal` at `source`, which `place`
// fills in.
using PlaceFunction =
    std::function<void(const std::vector<int64_t>& index, std::vector<int64_t>& source)>;
Literal ElementsOf(const Literal& literal, const Shape& shape, const PlaceFunction& place);

// Zero-filled or one-filled array.
Literal Splat(const Shape& shape, int64_t value);

}  // namespace assay
