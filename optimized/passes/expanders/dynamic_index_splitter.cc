// Takes index vectors apart by slices and reshapes.
#include "optimized/passes/expanders/dynamic_index_splitter.h"

#include <vector>

#include "optimized/passes/util/dynamic_index.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

// A copy of the op that takes the elements of its index vector as scalars.
Instruction* WithScalarStarts(Instruction* inst, Instruction* vector) {
  Computation* into = inst->parent();
  const ElementType type = vector->shape().element_type();
  std::vector<Instruction*> operands(inst->operands().begin(), inst->operands().end() - 1);
  for (int64_t d = 0; d < vector->shape().dimension(0); ++d) {
    Instruction* element = into->Add(Opcode::kSlice, Shape::Array(type, {1}), {vector},
                                     SliceAttr({TightRange(d, 1, 1)}));
    operands.push_back(into->Add(Opcode::kReshape, Shape::Array(type, {}), {element}));
  }
  return into->Add(inst->opcode(), inst->shape(), operands, inst->attributes());
}

}  // namespace

absl::StatusOr<bool> DynamicIndexSplitter::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kDynamicSlice, Opcode::kDynamicUpdateSlice})) return false;
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kDynamicSlice &&
          inst->opcode() != Opcode::kDynamicUpdateSlice) {
        continue;
      }
      const absl::Span<Instruction* const> starts = StartIndices(inst);
      if (starts.size() != 1 || starts[0]->shape().rank() != 1) continue;
      Rewrite rewrite(context.gates, "split-dynamic-index", inst, /*required=*/true);
      changed |= rewrite.Replace(WithScalarStarts(inst, starts[0]));
    }
  }
  return changed;
}

}  // namespace assay
