// Looks from each contraction at its only reader, and writes both down as one fusion.
#include "optimized/passes/fusion/epilogue_fusion.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/passes/util/module_util.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

bool IsMapOp(const Instruction& inst) {
  return Info(inst.opcode()).Is(kElementwise) && inst.callees().empty() &&
         inst.operand_count() > 0 && inst.opcode() != Opcode::kCopy;
}

bool IsReal(const Shape& shape) { return shape.IsArray() && !IsComplex(shape.element_type()); }

class Epilogue {
 public:
  Epilogue(Instruction* contraction, Gates& gates) : contraction_(contraction), gates_(gates) {}

  bool Run() {
    if (!IsContraction() || !HasOneReader() || !MapsIt() ||
        !gates_.Allow(DecisionKind::kKernel, "fuse-epilogue", contraction_)) {
      return false;
    }
    Build();
    return true;
  }

 private:
  bool IsContraction() const {
    return (contraction_->opcode() == Opcode::kDot ||
            contraction_->opcode() == Opcode::kConvolution) &&
           IsPlain(*contraction_) && IsReal(contraction_->shape()) &&
           contraction_->shape().ElementCount() > 0 &&
           contraction_ != contraction_->parent()->root();
  }

  bool HasOneReader() {
    if (contraction_->users().empty()) return false;
    reader_ = contraction_->users()[0];
    if (!absl::c_all_of(contraction_->users(),
                        [&](const Instruction* user) { return user == reader_; })) {
      return false;
    }
    const bool is_loop = reader_->opcode() == Opcode::kFusion;
    return (is_loop || IsMapOp(*reader_)) && IsPlain(*reader_) && IsReal(reader_->shape()) &&
           SameDimensions(reader_->shape(), contraction_->shape());
  }

  // True if the reader makes each element of the sum at its place, and of arrays that are repeated.
  bool MapsIt() const {
    if (reader_->opcode() != Opcode::kFusion) return true;
    const Computation& callee = *reader_->callee();
    absl::flat_hash_set<const Instruction*> of_sum;  // values that are made of the sum
    for (const Instruction* inst : callee.PostOrder()) {
      if (inst->opcode() == Opcode::kParameter) {
        if (reader_->operand(inst->parameter_number()) == contraction_) of_sum.insert(inst);
        continue;
      }
      const bool reads_sum = absl::c_any_of(
          inst->operands(), [&](const Instruction* operand) { return of_sum.contains(operand); });
      const bool is_map =
          IsMapOp(*inst) && IsReal(inst->shape()) &&
          (inst->shape().rank() == 0 || SameDimensions(inst->shape(), contraction_->shape()));
      const bool is_source = inst->opcode() == Opcode::kConstant ||
                             inst->opcode() == Opcode::kBroadcast ||
                             inst->opcode() == Opcode::kIota;
      if (!is_map && (reads_sum || !is_source)) return false;
      if (reads_sum) of_sum.insert(inst);
    }
    return of_sum.contains(callee.root());
  }

  Instruction* Parameter(Computation* fused, Instruction* value) {
    Instruction*& inside = inside_[value];
    if (inside == nullptr) {
      inside = fused->AddParameter(static_cast<int64_t>(operands_.size()), value->shape());
      operands_.push_back(value);
    }
    return inside;
  }

  static Instruction* Copy(Computation* fused, const Instruction& inst,
                           const std::vector<Instruction*>& operands) {
    Instruction* copy = fused->Add(inst.opcode(), inst.shape(), operands, inst.attributes(),
                                   inst.callees(), inst.name());
    copy->set_literal(inst.shared_literal());
    return copy;
  }

  void Build() {
    Computation* computation = contraction_->parent();
    Computation* fused = computation->parent()->AddComputation("fused_epilogue");
    std::vector<Instruction*> factors, arguments;
    for (Instruction* operand : contraction_->operands()) {
      factors.push_back(Parameter(fused, operand));
    }
    inside_[contraction_] = Copy(fused, *contraction_, factors);
    for (Instruction* operand : reader_->operands()) arguments.push_back(Parameter(fused, operand));
    if (reader_->opcode() != Opcode::kFusion) {
      fused->set_root(Copy(fused, *reader_, arguments));
    } else {
      absl::flat_hash_map<const Instruction*, Instruction*> copies;
      for (const Instruction* inst : reader_->callee()->PostOrder()) {
        if (inst->opcode() == Opcode::kParameter) {
          copies[inst] = arguments[static_cast<size_t>(inst->parameter_number())];
          continue;
        }
        std::vector<Instruction*> operands;
        for (const Instruction* operand : inst->operands()) operands.push_back(copies.at(operand));
        copies[inst] = Copy(fused, *inst, operands);
      }
      fused->set_root(copies.at(reader_->callee()->root()));
    }
    Instruction* fusion =
        computation->Add(Opcode::kFusion, reader_->shape(), operands_,
                         Attributes().Set(Attr::kFusionKind, FusionKind::kLoop), {&fused, 1});
    reader_->ReplaceAllUsesWith(fusion);
    computation->RemoveWithDeadOperands(reader_);
  }

  Instruction* contraction_;
  Gates& gates_;
  Instruction* reader_ = nullptr;
  std::vector<Instruction*> operands_;
  absl::flat_hash_map<const Instruction*, Instruction*> inside_;
};

}  // namespace

absl::StatusOr<bool> EpilogueFusion::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kDot, Opcode::kConvolution})) return false;
  const Purity purity(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->PostOrder()) {
      if (!purity.IsPure(*inst)) continue;
      changed |= Epilogue(inst, context.gates).Run();
    }
  }
  if (changed) module.RemoveUnusedComputations().IgnoreError();
  return changed;
}

}  // namespace assay
