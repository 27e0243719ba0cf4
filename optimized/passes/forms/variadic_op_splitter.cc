// Joins operands in groups, then the groups.
#include "optimized/passes/forms/variadic_op_splitter.h"

#include <vector>

#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

// Parameters of a kernel: 4,096 bytes hold more, but each operand is an address with its size.
constexpr size_t kMostOperands = 128;

Instruction* Joined(absl::Span<Instruction* const> parts, int64_t dimension) {
  Shape shape = Shape::Array(parts[0]->shape().element_type(), parts[0]->shape().dimensions());
  int64_t size = 0;
  for (const Instruction* part : parts) size += part->shape().dimension(dimension);
  shape.set_dimension(dimension, size);
  return parts[0]->parent()->Add(Opcode::kConcatenate, shape, parts,
                                 Attributes().Set(Attr::kDimension, {dimension}));
}

Instruction* Split(const Instruction& concatenate) {
  const int64_t dimension = concatenate.attributes().Integers(Attr::kDimension)[0];
  std::vector<Instruction*> parts(concatenate.operands().begin(), concatenate.operands().end());
  while (parts.size() > kMostOperands) {
    std::vector<Instruction*> groups;
    for (size_t at = 0; at < parts.size(); at += kMostOperands) {
      const auto group = absl::MakeConstSpan(parts).subspan(at, kMostOperands);
      groups.push_back(group.size() == 1 ? group[0] : Joined(group, dimension));
    }
    parts = std::move(groups);
  }
  return Joined(parts, dimension);
}

}  // namespace

absl::StatusOr<bool> VariadicOpSplitter::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kConcatenate})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kConcatenate || !IsPlain(*inst) ||
          !inst->shape().layout().IsRowMajor() || inst->shape().layout().extras() != nullptr ||
          inst->operands().size() <= kMostOperands)
        continue;
      Rewrite rewrite(context.gates, "split-concatenate", inst);
      if (rewrite) changed |= rewrite.Replace(Split(*inst));
    }
  }
  return changed;
}

}  // namespace assay
