// Collectives and device ids: calls of the runtime. A reduction's computation is emitted as a
// function of two arrays. Documents: operation semantics chapter 15.
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/passes/collectives/collective_numbering.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

using llvm::Value;

namespace {

// accumulator[i] = f(accumulator[i], operand[i]).
absl::StatusOr<llvm::Function*> EmitCombine(ArrayKernelContext& context) {
  llvm::IRBuilder<>& ir = context.ir();
  const llvm::IRBuilder<>::InsertPoint before = ir.saveIP();
  llvm::Type* pointer = ir.getPtrTy();
  llvm::Function* function = llvm::Function::Create(
      llvm::FunctionType::get(ir.getVoidTy(), {pointer, pointer, ir.getInt64Ty()}, false),
      llvm::Function::InternalLinkage, StrCat("combine.", context.instruction.name()),
      context.module);
  function->setDoesNotThrow();
  ir.SetInsertPoint(llvm::BasicBlock::Create(context.module.getContext(), "entry", function));
  ValueBuilder builder(ir);
  ElementEmitter e(builder);
  const ElementType type = context.instruction.operand(0)->shape().element_type();
  absl::Status status =
      e.Loop(e.Index(0), function->getArg(2), 1, {},
             [&](Value* at, const ElementValues&) -> absl::StatusOr<ElementValues> {
               Value* accumulator = e.Address(type, function->getArg(0), at);
               Value* operand = e.Address(type, function->getArg(1), at);
               absl::StatusOr<ElementValues> combined = e.Apply(
                   *context.instruction.callee(),
                   {{builder.Load(type, accumulator, 1)}, {builder.Load(type, operand, 1)}}, 1);
               if (!combined.ok()) return combined;
               builder.Store(type, combined->front(), accumulator);
               return ElementValues{};
             })
          .status();
  if (!status.ok()) return status;
  ir.CreateRetVoid();
  ir.restoreIP(before);
  return function;
}

// An array on the stack that holds the pointers.
Value* List(ArrayKernelContext& context, const std::vector<Value*>& pointers) {
  llvm::IRBuilder<>& ir = context.ir();
  llvm::Type* pointer = ir.getPtrTy();
  Value* list = ir.CreateAlloca(pointer, ir.getInt64(pointers.size()));
  for (size_t k = 0; k < pointers.size(); ++k) {
    ir.CreateStore(pointers[k], ir.CreateConstInBoundsGEP1_64(pointer, list, k));
  }
  return list;
}

}  // namespace

absl::Status EmitCollective(ArrayKernelContext& context) {
  Value* combine = llvm::ConstantPointerNull::get(context.ir().getPtrTy());
  if (!context.instruction.callees().empty()) {
    ASSAY_ASSIGN_OR_RETURN(combine, EmitCombine(context));
  }
  std::vector<Value*> operands;
  for (const std::vector<Value*>& leaves : context.operands) operands.push_back(leaves[0]);
  context.CallRuntime("assay_collective",
                      {LoadContext(context.ir(), context.function->getArg(0)),
                       context.elements.Index(CollectiveNumber(context.instruction)),
                       List(context, operands), List(context, context.results), combine});
  return absl::OkStatus();
}

absl::Status EmitDeviceId(ArrayKernelContext& context) {
  const bool replica = context.instruction.opcode() == Opcode::kReplicaId;
  context.CallRuntime(replica ? "assay_replica_id" : "assay_partition_id",
                      {LoadContext(context.ir(), context.function->getArg(0)), context.results[0]});
  return absl::OkStatus();
}

}  // namespace assay
