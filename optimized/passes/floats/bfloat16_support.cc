// The named tables of what a backend does in BF16.
#include "optimized/passes/floats/bfloat16_support.h"

#include "spec/ops/op_table.h"

namespace assay {

bool BFloat16Support::IsMovement(const Instruction& inst) {
  return Info(inst.opcode()).Is(kDataMovement) || inst.opcode() == Opcode::kConvert ||
         inst.opcode() == Opcode::kParameter || inst.opcode() == Opcode::kConstant;
}

bool BFloat16Support::Answer(const Instruction& inst, What what, int64_t operand) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->opcode != inst.opcode() || rule->what != what) continue;
    if (what == What::kOperand && rule->operand != kAnyOperand && rule->operand != operand)
      continue;
    return rule->supported;
  }
  return by_default_;
}

bool BFloat16Support::SupportsOperand(const Instruction& inst, int64_t operand) const {
  return IsMovement(inst) || Answer(inst, What::kOperand, operand);
}
bool BFloat16Support::SupportsOutput(const Instruction& inst) const {
  return IsMovement(inst) || Answer(inst, What::kOutput, kAnyOperand);
}
bool BFloat16Support::SupportsMixedPrecision(const Instruction& inst) const {
  return inst.opcode() == Opcode::kConvert || Answer(inst, What::kMixedPrecision, kAnyOperand);
}

const BFloat16Support* BFloat16Support::Find(std::string_view name) {
  static const auto& tables =
      *new std::vector<BFloat16Support>{{"all", true, {}},
                                        {"none", false, {}},
                                        {"separate",
                                         true,
                                         {{Opcode::kDot, What::kMixedPrecision, false},
                                          {Opcode::kConvolution, What::kMixedPrecision, false}}},
                                        {"dot",
                                         false,
                                         {{Opcode::kDot, What::kOperand, true},
                                          {Opcode::kDot, What::kMixedPrecision, true},
                                          {Opcode::kConvolution, What::kOperand, true},
                                          {Opcode::kConvolution, What::kMixedPrecision, true}}}};
  for (const BFloat16Support& table : tables) {
    if (table.name() == name) return &table;
  }
  return nullptr;
}

}  // namespace assay
