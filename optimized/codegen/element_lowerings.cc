// The table of lowerings: one row per opcode that a kernel can compute.
#include <array>

#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/codegen/contraction.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/codegen/elementwise.h"
#include "optimized/codegen/functions/bent_element.h"
#include "optimized/codegen/functions/complex.h"
#include "optimized/codegen/indexing.h"
#include "optimized/codegen/movement.h"
#include "optimized/codegen/reduction.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

using llvm::Value;

namespace {

absl::StatusOr<ElementValues> EmitElementwise(ElementEmitter& emitter,
                                              const ElementEmitter::Frame* frame,
                                              const Instruction& instruction,
                                              const ElementIndex& index) {
  std::vector<Value*> operands;
  for (const Instruction* operand : instruction.operands()) {
    // A scalar beside arrays (the predicate of select, the bounds of clamp) has one element for
    // all.
    bool scalar = operand->shape().rank() == 0 && instruction.shape().rank() > 0;
    ASSAY_ASSIGN_OR_RETURN(
        Value * value,
        emitter.EmitSpread(frame, operand, scalar ? ElementIndex() : index, index.width));
    operands.push_back(value);
  }
  const ElementwiseFn emit = InvolvesComplex(instruction)
                                 ? FindComplexElementwise(instruction.opcode())
                                 : FindElementwise(instruction.opcode());
  if (emit == nullptr) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("cpu: no code for this op on its type: ", instruction.ToString()));
  }
  return ElementValues{BentElement(emitter.builder(), instruction, operands,
                                   emit(emitter.builder(), instruction, operands))};
}

absl::StatusOr<ElementValues> EmitMap(ElementEmitter& emitter, const ElementEmitter::Frame* frame,
                                      const Instruction& instruction, const ElementIndex& index) {
  std::vector<ElementValues> arguments;
  for (const Instruction* operand : instruction.operands()) {
    ASSAY_ASSIGN_OR_RETURN(auto* value, emitter.EmitOne(frame, operand, index));
    arguments.push_back({value});
  }
  return emitter.Apply(*instruction.callee(), std::move(arguments), index.width);
}

constexpr ElementLowering kRows[] = {
    {Opcode::kBitcast, EmitBitcast},
    {Opcode::kBitcastConvert, EmitBitcastConvert},
    {Opcode::kBroadcast, EmitBroadcast},
    {Opcode::kConcatenate, EmitConcatenate},
    {Opcode::kConvolution, EmitConvolution},
    {Opcode::kCopy, EmitCopy},
    {Opcode::kDomain, EmitCopy},
    {Opcode::kDot, EmitDot},
    {Opcode::kDynamicSlice, EmitDynamicSlice},
    {Opcode::kDynamicUpdateSlice, EmitDynamicUpdateSlice},
    {Opcode::kGather, EmitGather},
    {Opcode::kIota, EmitIota},
    {Opcode::kMap, EmitMap},
    {Opcode::kOptBarrier, EmitCopy},
    {Opcode::kPad, EmitPad},
    {Opcode::kReduce, EmitReduce},
    {Opcode::kReduceWindow, EmitReduceWindow},
    {Opcode::kReshape, EmitReshape},
    {Opcode::kReverse, EmitReverse},
    {Opcode::kSlice, EmitSlice},
    {Opcode::kTranspose, EmitTranspose},
};

struct Table {
  std::array<ElementLowering, kOpcodeCount> rows{};
  std::array<bool, kOpcodeCount> present{};
  Table() {
    for (int k = 0; k < kOpcodeCount; ++k) {
      Opcode opcode = static_cast<Opcode>(k);
      if (FindElementwise(opcode) == nullptr && FindComplexElementwise(opcode) == nullptr) continue;
      rows[k] = {opcode, EmitElementwise};
      present[k] = true;
    }
    for (const ElementLowering& row : kRows) {
      rows[static_cast<int>(row.opcode)] = row;
      present[static_cast<int>(row.opcode)] = true;
    }
  }
};

}  // namespace

const ElementLowering* FindElementLowering(Opcode opcode) {
  static const Table& table = *new Table();
  int k = static_cast<int>(opcode);
  return table.present[k] ? &table.rows[k] : nullptr;
}

}  // namespace assay
