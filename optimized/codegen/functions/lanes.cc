// Calls of functions on lanes through memory.
#include "optimized/codegen/functions/lanes.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

namespace assay {

using llvm::Value;

Lanes::Lanes(ValueBuilder& b, Value* like)
    : b_(b), ir_(b.ir()), width_(ValueBuilder::WidthOf(like)), type_(like->getType()) {
  integer_ = ValueBuilder::WithWidth(ir_.getIntNTy(type_->getScalarSizeInBits()), width_);
}

Value* Lanes::Polynomial(Value* x, llvm::ArrayRef<double> coefficients) {
  Value* sum = Of(coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back())) sum = MulAdd(sum, x, Of(c));
  return sum;
}

Value* Lanes::CallLanes(const std::string& function, llvm::ArrayRef<Value*> arguments) {
  llvm::Function* inside = ir_.GetInsertBlock()->getParent();
  llvm::BasicBlock& entry = inside->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  llvm::SmallVector<Value*, 3> passed;
  llvm::SmallVector<llvm::Type*, 3> types;
  for (Value* argument : arguments) {
    passed.push_back(at_entry.CreateAlloca(argument->getType()));
    types.push_back(ir_.getPtrTy());
    ir_.CreateStore(argument, passed.back());
  }
  Value* results = passed.front();
  passed.push_back(ir_.getInt64(width_));
  types.push_back(ir_.getInt64Ty());
  ir_.CreateCall(inside->getParent()->getOrInsertFunction(
                     "assay_lanes_" + function,
                     llvm::FunctionType::get(ir_.getVoidTy(), types, /*isVarArg=*/false)),
                 passed);
  return ir_.CreateLoad(type_, results);
}

Value* Lanes::FromLibrary(const std::string& function, Value* far, Value* x, Value* result) {
  Value* any = width_ > 1 ? ir_.CreateOrReduce(far) : far;
  llvm::BasicBlock* near_block = ir_.GetInsertBlock();
  llvm::Function* inside = near_block->getParent();
  llvm::BasicBlock* cold = llvm::BasicBlock::Create(ir_.getContext(), "far", inside);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(ir_.getContext(), "reduced", inside);
  ir_.CreateCondBr(any, cold, done);
  ir_.SetInsertPoint(cold);
  // Lane by lane: what an element gives must not hang on its neighbours. The function reads tables
  // at places that only far numbers have.
  Value* only_far = width_ > 1 ? Select(far, x, Of(0x1p40)) : x;
  Value* from_library = Select(far, CallLanes(function, {only_far}), result);
  ir_.CreateBr(done);
  ir_.SetInsertPoint(done);
  llvm::PHINode* value = ir_.CreatePHI(type_, 2);
  value->addIncoming(result, near_block);
  value->addIncoming(from_library, cold);
  return value;
}

}  // namespace assay
