// Follows every value through the instructions that give it on without writing it anew.
#include "optimized/analysis/alias_analysis.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace assay {
namespace {

void Merge(BufferSet& into, const BufferSet& from) {
  into.insert(into.end(), from.begin(), from.end());
  std::sort(into.begin(), into.end());
  into.erase(std::unique(into.begin(), into.end()), into.end());
}

std::vector<BufferSet> OwnBuffers(const Instruction& inst) {
  std::vector<BufferSet> leaves;
  for (int64_t k = 0; k < LeafCount(inst.shape()); ++k) leaves.push_back({{&inst, k}});
  return leaves;
}

}  // namespace

bool InstructionAliasSet::IsAmbiguous() const {
  return std::any_of(leaves_.begin(), leaves_.end(),
                     [](const BufferSet& leaf) { return leaf.size() > 1; });
}

bool InstructionAliasSet::IsDistinct() const {
  absl::flat_hash_set<BufferDefinition> seen;
  for (const BufferSet& leaf : leaves_) {
    for (const BufferDefinition& buffer : leaf) {
      if (!seen.insert(buffer).second) return false;
    }
  }
  return true;
}

bool AliasAnalysis::Forwards(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAddDependency:
    case Opcode::kBitcast:
    case Opcode::kDomain:
    case Opcode::kGetTupleElement:
    case Opcode::kOptBarrier:
    case Opcode::kTuple:
      return true;
    default:
      return false;
  }
}

AliasAnalysis::AliasAnalysis(const Module& module) {
  for (const Computation* computation : module.ComputationPostOrder()) {
    for (const Instruction* inst : computation->PostOrder()) {
      sets_[inst] = InstructionAliasSet(Leaves(*inst));
    }
  }
}

std::vector<BufferSet> AliasAnalysis::Leaves(const Instruction& inst) const {
  switch (inst.opcode()) {
    case Opcode::kTuple: {
      std::vector<BufferSet> leaves;
      for (const Instruction* operand : inst.operands()) {
        const std::vector<BufferSet>& more = Of(operand).leaves();
        leaves.insert(leaves.end(), more.begin(), more.end());
      }
      return leaves;
    }
    case Opcode::kGetTupleElement: {
      const std::vector<Shape>& elements = inst.operand(0)->shape().elements();
      int64_t first = 0;
      for (int64_t i = 0; i < inst.tuple_index(); ++i) first += LeafCount(elements[i]);
      const auto from = Of(inst.operand(0)).leaves().begin() + first;
      return std::vector<BufferSet>(from, from + LeafCount(inst.shape()));
    }
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kWhile:
      return CallLeaves(inst);
    default:
      if (Forwards(inst.opcode())) return Of(inst.operand(0)).leaves();
      return OwnBuffers(inst);
  }
}

BufferSet AliasAnalysis::SeenByCaller(const Instruction& caller, const Computation& callee,
                                      absl::Span<Instruction* const> arguments,
                                      int64_t leaf) const {
  const std::vector<BufferSet>& results = Of(callee.root()).leaves();
  BufferSet seen;
  for (const BufferDefinition& buffer : results[leaf]) {
    const Instruction* maker = buffer.instruction;
    if (maker->opcode() == Opcode::kParameter) {
      Merge(seen, Of(arguments[maker->parameter_number()]).leaves()[buffer.leaf]);
    } else if (maker->opcode() == Opcode::kConstant) {
      Merge(seen, {buffer});  // the same wherever it is seen
    } else {
      // Two results in one buffer are one buffer for the caller as well.
      int64_t first = 0;
      while (!std::binary_search(results[first].begin(), results[first].end(), buffer)) ++first;
      Merge(seen, {{&caller, first}});
    }
  }
  return seen;
}

std::vector<BufferSet> AliasAnalysis::CallLeaves(const Instruction& inst) const {
  std::vector<BufferSet> leaves = OwnBuffers(inst);
  for (size_t k = 0; k < leaves.size(); ++k) {
    const auto leaf = static_cast<int64_t>(k);
    if (inst.opcode() == Opcode::kCall) {
      leaves[k] = SeenByCaller(inst, *inst.callee(), inst.operands(), leaf);
    } else if (inst.opcode() == Opcode::kConditional) {
      leaves[k].clear();
      for (size_t branch = 0; branch < inst.callees().size(); ++branch) {
        Merge(leaves[k], SeenByCaller(inst, *inst.callees()[branch],
                                      inst.operands().subspan(1 + branch, 1), leaf));
      }
    } else {
      // State that no trip changes is where it was.
      const Computation& body = *inst.callees()[1];
      const BufferSet& next = Of(body.root()).leaves()[k];
      if (next == BufferSet{{body.parameter(0), leaf}}) leaves[k] = Of(inst.operand(0)).leaves()[k];
    }
  }
  return leaves;
}

}  // namespace assay
