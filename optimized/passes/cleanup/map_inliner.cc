// Applies the function of a map to whole arrays, op by op.
#include "optimized/passes/cleanup/map_inliner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

bool HasArrayForm(const Instruction& inst) {
  const bool is_value = inst.opcode() == Opcode::kParameter || inst.opcode() == Opcode::kConstant;
  return inst.control_predecessors().empty() && inst.shape().IsScalar() &&
         (is_value || IsElementwise(inst.opcode()));
}

bool CanInline(const Instruction& map) {
  return map.opcode() == Opcode::kMap && IsPlain(map) &&
         std::all_of(map.callee()->begin(), map.callee()->end(),
                     [](const Instruction* inst) { return HasArrayForm(*inst); });
}

// The arrays of the function's values at all places of the map; the last one is its result.
Instruction* OnArrays(const Instruction& map) {
  Computation* computation = map.parent();
  absl::flat_hash_map<const Instruction*, Instruction*> arrays;
  for (const Instruction* inst : map.callee()->PostOrder()) {
    Shape shape = map.shape();
    shape.set_element_type(inst->shape().element_type());
    Instruction*& array = arrays[inst];
    if (inst->opcode() == Opcode::kParameter) {
      array = map.operand(inst->parameter_number());
    } else if (inst->opcode() == Opcode::kConstant) {
      array = AddSplat(computation, shape, computation->AddConstant(inst->shared_literal()));
    } else {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : inst->operands()) operands.push_back(arrays.at(operand));
      array = computation->Add(inst->opcode(), std::move(shape), operands, inst->attributes());
    }
  }
  return arrays.at(map.callee()->root());
}

}  // namespace

absl::StatusOr<bool> MapInliner::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kMap})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (!CanInline(*inst)) continue;
      Rewrite rewrite(context.gates, "inline-map", inst);
      if (!rewrite) continue;
      changed |= rewrite.Replace(OnArrays(*inst));
    }
  }
  return changed;
}

}  // namespace assay
