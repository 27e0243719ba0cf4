// One thread, one element.
#include "optimized/gpu/kernels/combine_kernel.h"

#include <algorithm>

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/gpu/kernels/gpu_target.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::gpu {

using llvm::Value;

namespace {
constexpr unsigned kThreadsPerBlock = 128;
}  // namespace

LaunchShape CombineShape(int64_t count) {
  LaunchShape shape;
  shape.grid = {static_cast<uint32_t>((count + kThreadsPerBlock - 1) / kThreadsPerBlock), 1, 1};
  shape.block = {kThreadsPerBlock, 1, 1};
  return shape;
}

absl::StatusOr<llvm::Function*> EmitCombineKernel(const KernelContext& context,
                                                  const Instruction& collective) {
  llvm::IRBuilder<> ir(context.module.getContext());
  llvm::Type* pointer = llvm::PointerType::get(ir.getContext(), /*AddressSpace=*/1);
  llvm::Function* function = llvm::Function::Create(
      llvm::FunctionType::get(ir.getVoidTy(), {pointer, pointer, ir.getInt64Ty()}, false),
      llvm::Function::ExternalLinkage, StrCat("combine.", collective.name()), context.module);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->setDoesNotThrow();
  ir.SetInsertPoint(llvm::BasicBlock::Create(ir.getContext(), "entry", function));
  ValueBuilder builder(ir);
  builder.set_use_fma(true);
  ElementEmitter e(builder);
  e.set_target(&GpuTarget());
  const auto number = [&](llvm::Intrinsic::ID id) {
    return ir.CreateZExt(ir.CreateIntrinsic(ir.getInt32Ty(), id, {}), ir.getInt64Ty());
  };
  Value* at = ir.CreateAdd(
      ir.CreateMul(number(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), e.Index(kThreadsPerBlock)),
      number(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x));
  auto* inside = llvm::BasicBlock::Create(ir.getContext(), "inside", function);
  auto* done = llvm::BasicBlock::Create(ir.getContext(), "done", function);
  ir.CreateCondBr(ir.CreateICmpULT(at, function->getArg(2)), inside, done);
  ir.SetInsertPoint(inside);
  const ElementType type = collective.operand(0)->shape().element_type();
  Value* accumulator = e.Address(type, function->getArg(0), at);
  Value* operand = builder.Load(type, e.Address(type, function->getArg(1), at), 1);
  ASSAY_ASSIGN_OR_RETURN(
      const ElementValues combined,
      e.Apply(*collective.callee(), {{builder.Load(type, accumulator, 1)}, {operand}}, 1));
  builder.Store(type, combined.front(), accumulator);
  ir.CreateBr(done);
  ir.SetInsertPoint(done);
  ir.CreateRetVoid();
  return function;
}

}  // namespace assay::gpu
