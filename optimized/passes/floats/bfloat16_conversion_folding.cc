// Looks at what stands before and behind dots and convolutions: other ops have no form of mixed
// types.
#include "optimized/passes/floats/bfloat16_conversion_folding.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/floats/bfloat16_support.h"
#include "optimized/passes/util/module_util.h"

namespace assay {
namespace {

constexpr ElementType kNarrow = ElementType::kBF16, kWide = ElementType::kF32;

ElementType TypeOf(const Instruction* inst) { return inst->shape().element_type(); }

bool IsConvert(const Instruction* inst, ElementType to) {
  return inst->opcode() == Opcode::kConvert && IsPlain(*inst) && TypeOf(inst) == to;
}

class Folding {
 public:
  Folding(const BFloat16Support& support, Gates& gates) : support_(support), gates_(gates) {}

  // Returns true if anything changed; `inst` may be gone then.
  bool Fold(Instruction* inst) {
    if (inst->opcode() != Opcode::kDot && inst->opcode() != Opcode::kConvolution) return false;
    if (!IsPlain(*inst) || TypeOf(inst) != kWide || !support_.SupportsMixedPrecision(*inst))
      return false;
    // Folding operands puts another instruction in the place of `inst`, whose result is folded
    // next.
    const bool folds_operands = FoldOperands(inst);
    const bool folds_result = FoldResult(inst);
    return folds_operands || folds_result;
  }

 private:
  bool FoldOperands(Instruction*& inst) {
    std::vector<Instruction*> operands(inst->operands().begin(), inst->operands().end());
    bool any = false;
    for (int64_t i = 0; i < inst->operand_count(); ++i) {
      Instruction*& operand = operands[static_cast<size_t>(i)];
      if (!IsConvert(operand, kWide) || !support_.SupportsOperand(*inst, i)) continue;
      // Numbers of another type are rounded, or are not numbers of BF16 at all.
      if (!gates_.Holds("fold-bf16-operand/from-bf16", inst,
                        TypeOf(operand->operand(0)) == kNarrow))
        continue;
      operand = operand->operand(0);
      any = true;
    }
    if (!any) return false;
    Rewrite rewrite(gates_, "fold-bf16-operand", inst);
    if (!rewrite) return false;
    Instruction* narrow = inst->parent()->Add(inst->opcode(), inst->shape(), operands,
                                              inst->attributes(), {}, inst->name());
    rewrite.Replace(narrow);
    inst = narrow;
    return true;
  }

  // The sum is rounded once, as by the convert.
  bool FoldResult(Instruction* inst) {
    if (!support_.SupportsOutput(*inst) || inst == inst->parent()->root()) return false;
    const std::vector<Instruction*> readers(inst->users().begin(), inst->users().end());
    const bool all_round =
        !readers.empty() && std::all_of(readers.begin(), readers.end(), [](const Instruction* at) {
          return IsConvert(at, kNarrow);
        });
    if (!all_round) return false;
    bool changed = false;
    Instruction* narrow = nullptr;
    for (Instruction* convert : readers) {
      Rewrite rewrite(gates_, "fold-bf16-result", convert);
      if (!rewrite) continue;
      if (narrow == nullptr) {
        narrow = inst->parent()->Add(inst->opcode(), convert->shape(), inst->operands(),
                                     inst->attributes());
      }
      changed |= rewrite.Replace(narrow);
    }
    return changed;
  }

  const BFloat16Support& support_;
  Gates& gates_;
};

}  // namespace

absl::StatusOr<bool> BFloat16ConversionFolding::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kDot, Opcode::kConvolution})) return false;
  const BFloat16Support* table = context.options.bfloat16;
  Folding folding(table != nullptr ? *table : *BFloat16Support::Find("all"), context.gates);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) changed |= folding.Fold(inst);
  }
  return changed;
}

}  // namespace assay
