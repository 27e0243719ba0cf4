// Compares the buffers of loop states, branches and results, and copies where they clash.
#include "optimized/passes/memory/copy_insertion.h"

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/analysis/alias_analysis.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/while_util.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

using Readers = absl::flat_hash_map<BufferDefinition, std::vector<Instruction*>>;

// Whoever reads a buffer of `computation`; handing it on is no reading.
Readers ReadersIn(const Computation& computation, const AliasAnalysis& aliases) {
  Readers readers;
  for (Instruction* inst : computation) {
    if (AliasAnalysis::Forwards(inst->opcode())) continue;
    for (const Instruction* operand : inst->operands()) {
      for (const BufferSet& leaf : aliases.Of(operand).leaves()) {
        for (const BufferDefinition& buffer : leaf) {
          std::vector<Instruction*>& list = readers[buffer];
          if (list.empty() || list.back() != inst) list.push_back(inst);
        }
      }
    }
  }
  return readers;
}

// The instructions that must have run before `inst`.
absl::flat_hash_set<const Instruction*> Ancestors(const Instruction* inst) {
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<const Instruction*> work = {inst};
  while (!work.empty()) {
    const Instruction* at = work.back();
    work.pop_back();
    for (const absl::Span<Instruction* const> before :
         {at->operands(), at->control_predecessors()}) {
      for (const Instruction* other : before) {
        if (seen.insert(other).second) work.push_back(other);
      }
    }
  }
  return seen;
}

bool LivesElsewhere(const BufferDefinition& buffer) {
  return buffer.instruction->opcode() == Opcode::kParameter ||
         buffer.instruction->opcode() == Opcode::kConstant;
}

// Element i of the result in the place of element i of an operand, without harm to others.
bool UpdatesInPlace(const Instruction& inst, const BufferDefinition& buffer,
                    const AliasAnalysis& aliases) {
  if (!inst.shape().IsArray() || !inst.callees().empty()) return false;
  if (!Info(inst.opcode()).Is(kElementwise)) return false;
  for (const Instruction* operand : inst.operands()) {
    const std::vector<BufferSet>& leaves = aliases.Of(operand).leaves();
    const bool reads =
        leaves.size() == 1 && std::binary_search(leaves[0].begin(), leaves[0].end(), buffer);
    if (reads && !(operand->shape() == inst.shape())) return false;
  }
  return true;
}

class CopyInserter {
 public:
  CopyInserter(Module& module, Gates& gates) : module_(module), gates_(gates) {}

  bool Run() {
    for (Computation* computation : UnitComputations(module_)) Conditionals(computation);
    for (Computation* computation : UnitComputations(module_)) Loops(computation);
    Results();
    return changed_;
  }

 private:
  using Leaves = std::set<int64_t>;  // numbers of leaves

  Instruction* Copy(Instruction* value, std::string_view rule) {
    gates_.Require(DecisionKind::kRequired, rule, value);
    changed_ = true;
    return value->parent()->Add(Opcode::kCopy, value->shape(), {value});
  }

  // `value` with some of its leaves copied. `first` counts the leaves passed.
  Instruction* WithCopies(Instruction* value, const Leaves& which, std::string_view rule,
                          int64_t& first, absl::flat_hash_map<int64_t, Instruction*>& copies) {
    const int64_t count = LeafCount(value->shape());
    const auto next = which.lower_bound(first);
    if (next == which.end() || *next >= first + count) {
      first += count;
      return value;
    }
    if (!value->shape().IsTuple()) return copies[first++] = Copy(value, rule);
    std::vector<Instruction*> elements;
    for (int64_t i = 0; i < static_cast<int64_t>(value->shape().elements().size()); ++i) {
      Instruction* element = value->opcode() == Opcode::kTuple
                                 ? value->operand(i)
                                 : AddElement(value->parent(), value, i);
      elements.push_back(WithCopies(element, which, rule, first, copies));
    }
    return value->parent()->Add(Opcode::kTuple, value->shape(), elements);
  }
  Instruction* WithCopies(Instruction* value, const Leaves& which, std::string_view rule,
                          absl::flat_hash_map<int64_t, Instruction*>& copies) {
    int64_t first = 0;
    return WithCopies(value, which, rule, first, copies);
  }
  // Returns the copies by leaf.
  absl::flat_hash_map<int64_t, Instruction*> CopyRoot(Computation* computation, const Leaves& which,
                                                      std::string_view rule) {
    absl::flat_hash_map<int64_t, Instruction*> copies;
    Instruction* old = computation->root();
    computation->set_root(WithCopies(old, which, rule, copies));
    if (computation->root() != old && old->IsDead()) computation->RemoveWithDeadOperands(old);
    return copies;
  }

  // Leaves of type array that are not one buffer of their own: ambiguous, of the caller, constant,
  // or in another leaf as well (the first one may stay).
  static Leaves NotOwn(const Instruction* value, const AliasAnalysis& aliases,
                       const std::function<bool(int64_t leaf, const BufferSet&)>& may_stay = {}) {
    Leaves out;
    std::vector<bool> is_array;
    ForEachLeaf(value->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
      is_array.push_back(leaf.IsArray());
    });
    absl::flat_hash_set<BufferDefinition> taken;
    const std::vector<BufferSet>& leaves = aliases.Of(value).leaves();
    for (size_t k = 0; k < leaves.size(); ++k) {
      const auto leaf = static_cast<int64_t>(k);
      if (!is_array[k]) continue;
      const bool own = leaves[k].size() == 1 && !taken.contains(leaves[k][0]) &&
                       (!LivesElsewhere(leaves[k][0]) || (may_stay && may_stay(leaf, leaves[k])));
      if (own) {
        taken.insert(leaves[k][0]);
      } else {
        out.insert(leaf);
      }
    }
    return out;
  }

  // All branches write one result buffer: a value that only some of them hand on is copied there,
  // and one that all hand on stays where it was.
  void Conditionals(Computation* computation) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kConditional) continue;
      const AliasAnalysis aliases(module_);
      Leaves handed_on;
      const std::vector<BufferSet>& results = aliases.Of(inst).leaves();
      for (size_t k = 0; k < results.size(); ++k) {
        if (results[k].size() == 1 && results[k][0].instruction != inst) {
          handed_on.insert(static_cast<int64_t>(k));
        }
      }
      std::vector<std::pair<Computation*, Leaves>> not_own;
      for (Computation* branch : inst->callees()) {
        Leaves leaves = NotOwn(branch->root(), aliases, [&](int64_t leaf, const BufferSet&) {
          return handed_on.contains(leaf);
        });
        if (!leaves.empty()) not_own.emplace_back(branch, std::move(leaves));
      }
      absl::flat_hash_set<Computation*> done;
      for (const auto& [branch, leaves] : not_own) {
        if (done.insert(branch).second) CopyRoot(branch, leaves, "copy-branch-result");
      }
    }
  }

  void Loops(Computation* computation) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kWhile) continue;
      BodyOf(inst);
      StateOf(inst);
    }
  }

  // State that the loop overwrites starts in a buffer that nobody else needs.
  void StateOf(Instruction* loop) {
    const AliasAnalysis aliases(module_);
    const Readers readers = ReadersIn(*loop->parent(), aliases);
    const absl::flat_hash_set<const Instruction*> before = Ancestors(loop);
    const std::vector<BufferSet>& results = aliases.Of(loop).leaves();
    const std::vector<BufferSet>& leaves = aliases.Of(loop->operand(0)).leaves();
    const std::vector<BufferSet>& root = aliases.Of(loop->parent()->root()).leaves();
    absl::flat_hash_map<BufferDefinition, int> uses;
    for (const BufferSet& leaf : leaves) {
      for (const BufferDefinition& buffer : leaf) ++uses[buffer];
    }
    const Leaves not_own = NotOwn(loop->operand(0), aliases);
    Leaves copied;
    for (size_t k = 0; k < leaves.size(); ++k) {
      const auto leaf = static_cast<int64_t>(k);
      // Not overwritten: it may stay where it is, whoever else reads it.
      if (!(results[k] == BufferSet{{loop, leaf}})) continue;
      bool needed = not_own.contains(leaf);
      for (const BufferDefinition& buffer : leaves[k]) {
        const auto at = readers.find(buffer);
        for (const Instruction* reader :
             at == readers.end() ? std::vector<Instruction*>() : at->second) {
          needed |= reader != loop && !before.contains(reader);
        }
        needed |= uses[buffer] > 1;
        needed |= std::any_of(root.begin(), root.end(), [&](const BufferSet& result) {
          return std::binary_search(result.begin(), result.end(), buffer);
        });
      }
      // A token has no buffer.
      if (needed && IsArrayLeaf(loop->operand(0)->shape(), leaf)) copied.insert(leaf);
    }
    if (copied.empty()) return;
    absl::flat_hash_map<int64_t, Instruction*> copies;
    Instruction* old = loop->operand(0);
    loop->ReplaceOperand(0, WithCopies(old, copied, "copy-loop-state", copies));
    if (old->IsDead()) old->parent()->RemoveWithDeadOperands(old);
  }

  static bool IsArrayLeaf(const Shape& shape, int64_t number) {
    int64_t k = 0;
    bool is_array = false;
    ForEachLeaf(shape, [&](const Shape& leaf, absl::Span<const int64_t>) {
      if (k++ == number) is_array = leaf.IsArray();
    });
    return is_array;
  }

  // The next state is written over the last one: each element must be a value of its own, and made
  // when the old one has been read for the last time. Where that does not follow from the graph, a
  // copy is made at the end, and told to wait for the readers.
  void BodyOf(Instruction* loop) {
    Computation* body = loop->callees()[1];
    const Instruction* state = body->parameter(0);
    {
      const AliasAnalysis aliases(module_);
      const Leaves not_own =
          NotOwn(body->root(), aliases, [&](int64_t leaf, const BufferSet& buffers) {
            return buffers == BufferSet{{state, leaf}};
          });
      if (!not_own.empty()) CopyRoot(body, not_own, "copy-next-state");
    }
    const AliasAnalysis aliases(module_);
    const Readers readers = ReadersIn(*body, aliases);
    const std::vector<BufferSet>& next = aliases.Of(body->root()).leaves();
    Leaves late;
    for (size_t k = 0; k < next.size(); ++k) {
      const auto leaf = static_cast<int64_t>(k);
      if (!IsArrayLeaf(body->root()->shape(), leaf)) continue;
      const BufferDefinition old{state, leaf};
      if (next[k] == BufferSet{old}) continue;
      const Instruction* maker = next[k][0].instruction;
      if (!OthersReadBefore(old, maker, readers, aliases)) late.insert(leaf);
    }
    if (late.empty()) return;
    const absl::flat_hash_map<int64_t, Instruction*> copies = CopyRoot(body, late, "copy-late");
    for (const auto& [leaf, copy] : copies) {
      const auto at = readers.find({state, leaf});
      if (at == readers.end()) continue;
      const absl::flat_hash_set<const Instruction*> before = Ancestors(copy);
      for (Instruction* reader : at->second) {
        if (!before.contains(reader)) copy->AddControlPredecessor(reader);
      }
    }
  }

  bool OthersReadBefore(const BufferDefinition& old, const Instruction* maker,
                        const Readers& readers, const AliasAnalysis& aliases) {
    const auto at = readers.find(old);
    if (at == readers.end()) return true;
    const absl::flat_hash_set<const Instruction*> before = Ancestors(maker);
    return std::all_of(at->second.begin(), at->second.end(), [&](const Instruction* reader) {
      return reader == maker ? UpdatesInPlace(*maker, old, aliases) : before.contains(reader);
    });
  }

  // Makes the results of the entry unambiguous, distinct and its own; an output that is to alias a
  // parameter may be that parameter.
  void Results() {
    Computation* entry = module_.entry();
    const AliasAnalysis aliases(module_);
    std::vector<ShapeIndex> indices;
    ForEachLeaf(entry->root()->shape(), [&](const Shape&, absl::Span<const int64_t> index) {
      indices.emplace_back(index.begin(), index.end());
    });
    const Leaves leaves =
        NotOwn(entry->root(), aliases, [&](int64_t leaf, const BufferSet& buffers) {
          return IsAliased(indices[leaf], buffers[0]);
        });
    if (!leaves.empty()) CopyRoot(entry, leaves, "copy-live-out");
  }

  bool IsAliased(const ShapeIndex& output, const BufferDefinition& buffer) const {
    if (buffer.instruction->opcode() != Opcode::kParameter) return false;
    for (const InputOutputAlias& alias : module_.config().input_output_alias) {
      if (alias.output_index != output ||
          alias.parameter != buffer.instruction->parameter_number()) {
        continue;
      }
      int64_t k = 0;
      bool same = false;
      ForEachLeaf(buffer.instruction->shape(), [&](const Shape&, absl::Span<const int64_t> index) {
        if (k++ == buffer.leaf) {
          same = std::equal(index.begin(), index.end(), alias.parameter_index.begin(),
                            alias.parameter_index.end());
        }
      });
      if (same) return true;
    }
    return false;
  }

  Module& module_;
  Gates& gates_;
  bool changed_ = false;
};

}  // namespace

absl::StatusOr<bool> CopyInsertion::Run(Module& module, PassContext& context) {
  return CopyInserter(module, context.gates).Run();
}

}  // namespace assay
