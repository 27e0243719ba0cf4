// Goes through fusions, callers first, so that one within another has its spaces by then.
#include "optimized/passes/memory/memory_space_propagation.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace assay {
namespace {

int64_t SpaceOf(const Shape& array) {
  const LayoutExtras* extras = array.layout().extras();
  return extras == nullptr ? 0 : extras->memory_space;
}

// Gives the arrays of `to` the spaces of those of `from`, a shape of the same tree.
bool TakeSpaces(const Shape& from, Shape& to) {
  bool changed = false;
  if (from.IsTuple() && to.IsTuple() && from.elements().size() == to.elements().size()) {
    for (size_t i = 0; i < from.elements().size(); ++i) {
      changed |= TakeSpaces(from.elements()[i], to.mutable_elements()[i]);
    }
    return changed;
  }
  if (!from.IsArray() || !to.IsArray() || SpaceOf(from) == SpaceOf(to)) return changed;
  Layout layout = to.layout();
  LayoutExtras extras = layout.extras() == nullptr ? LayoutExtras() : *layout.extras();
  extras.memory_space = SpaceOf(from);
  layout.set_extras(std::move(extras));
  to.set_layout(std::move(layout));
  to.mark_layout_written(true);
  return true;
}

bool AgreesWith(const Instruction& fusion, const Instruction& other) {
  if (!(fusion.shape() == other.shape())) return false;
  for (int64_t k = 0; k < fusion.operand_count(); ++k) {
    if (!(fusion.operand(k)->shape() == other.operand(k)->shape())) return false;
  }
  return true;
}

// True if the fusion's computation says otherwise than the fusion.
bool IsBehind(const Instruction& fusion) {
  const Computation& callee = *fusion.callee();
  for (int64_t k = 0; k < fusion.operand_count(); ++k) {
    Shape copy = callee.parameter(k)->shape();
    if (TakeSpaces(fusion.operand(k)->shape(), copy)) return true;
  }
  Shape copy = callee.root()->shape();
  return TakeSpaces(fusion.shape(), copy);
}

// The elements of a tuple are where the tuple says.
void TakeResult(const Shape& result, Instruction* value) {
  if (value->opcode() == Opcode::kParameter) return;  // where the operand is
  TakeSpaces(result, value->mutable_shape());
  if (value->opcode() != Opcode::kTuple) return;
  for (int64_t i = 0; i < value->operand_count(); ++i) {
    TakeResult(result.elements()[static_cast<size_t>(i)], value->operand(i));
  }
}

}  // namespace

absl::StatusOr<bool> MemorySpacePropagation::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kFusion})) return false;
  std::vector<Computation*> computations = module.ComputationPostOrder();
  std::reverse(computations.begin(), computations.end());
  absl::flat_hash_map<const Computation*, const Instruction*> seen;
  bool changed = false;
  for (Computation* computation : computations) {
    for (Instruction* fusion : *computation) {
      if (fusion->opcode() != Opcode::kFusion || !IsBehind(*fusion)) continue;
      // One computation cannot say two things.
      const Instruction* first = seen.emplace(fusion->callee(), fusion).first->second;
      if (first != fusion && !AgreesWith(*first, *fusion)) continue;
      if (!context.gates.Allow(DecisionKind::kRewrite, "propagate-memory-space", fusion)) continue;
      for (int64_t k = 0; k < fusion->operand_count(); ++k) {
        TakeSpaces(fusion->operand(k)->shape(), fusion->callee()->parameter(k)->mutable_shape());
      }
      TakeResult(fusion->shape(), fusion->callee()->root());
      changed = true;
    }
  }
  return changed;
}

}  // namespace assay
