// From the results back to all that members read.
#include "optimized/passes/fusion/fusion_writer.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "optimized/passes/util/while_util.h"

namespace assay {

FusionWriter::FusionWriter(std::vector<Instruction*> members, std::vector<Instruction*> results,
                           std::string_view name)
    : members_(std::move(members)),
      results_(std::move(results)),
      module_(members_[0]->parent()->parent()),
      fused_(module_->AddComputation(std::string(name))) {
  std::vector<Instruction*> inside;
  std::vector<Shape> shapes;
  for (Instruction* result : results_) {
    inside.push_back(Inside(result));
    shapes.push_back(result->shape());
  }
  fused_->set_root(inside.size() == 1 ? inside[0]
                                      : fused_->Add(Opcode::kTuple, Shape::Tuple(shapes), inside));
}

Instruction* FusionWriter::Inside(Instruction* value) {
  const auto known = inside_.find(value);
  if (known != inside_.end()) return known->second;
  Instruction* made = nullptr;
  if (absl::c_linear_search(members_, value)) {
    made = CopyMember(*value);
  } else {
    made = fused_->AddParameter(static_cast<int64_t>(operands_.size()), value->shape());
    operands_.push_back(value);
  }
  inside_[value] = made;
  return made;
}

Instruction* FusionWriter::CopyMember(const Instruction& member) {
  std::vector<Instruction*> arguments;
  for (Instruction* operand : member.operands()) arguments.push_back(Inside(operand));
  if (member.opcode() != Opcode::kFusion) return Copy(member, arguments);
  absl::flat_hash_map<const Instruction*, Instruction*> copies;
  for (const Instruction* inst : member.callee()->PostOrder()) {
    if (inst->opcode() == Opcode::kParameter) {
      copies[inst] = arguments[static_cast<size_t>(inst->parameter_number())];
      continue;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* operand : inst->operands()) operands.push_back(copies.at(operand));
    copies[inst] = Copy(*inst, operands);
  }
  return copies.at(member.callee()->root());
}

Instruction* FusionWriter::Copy(const Instruction& like,
                                const std::vector<Instruction*>& operands) {
  Instruction* copy = fused_->Add(like.opcode(), like.shape(), operands, like.attributes(),
                                  like.callees(), like.name());
  copy->set_literal(like.shared_literal());
  return copy;
}

void FusionWriter::Replace() {
  Computation* computation = members_[0]->parent();
  Instruction* fusion =
      computation->Add(Opcode::kFusion, fused_->root()->shape(), operands_,
                       Attributes().Set(Attr::kFusionKind, FusionKind::kLoop), {&fused_, 1});
  for (size_t k = 0; k < results_.size(); ++k) {
    results_[k]->ReplaceAllUsesWith(
        results_.size() == 1 ? fusion : AddElement(computation, fusion, static_cast<int64_t>(k)));
  }
  // Nothing reads the results now: none of them dies with another.
  for (Instruction* result : results_) computation->RemoveWithDeadOperands(result);
}

}  // namespace assay
