// Looks from each contraction at its only reader, and writes both down as one fusion.
#include "optimized/passes/fusion/epilogue_fusion.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/passes/fusion/fusion_writer.h"
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
    FusionWriter({contraction_, reader_}, {reader_}, "fused_epilogue").Replace();
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

  Instruction* contraction_;
  Gates& gates_;
  Instruction* reader_ = nullptr;
};

}  // namespace

absl::StatusOr<bool> EpilogueFusion::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kDot, Opcode::kConvolution})) return false;
  const Purity purity(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (purity.IsPure(*inst)) changed |= Epilogue(inst, context.gates).Run();
    }
  }
  if (changed) module.RemoveUnusedComputations().IgnoreError();
  return changed;
}

}  // namespace assay
