// Calls of intrinsic functions, one by one.
#include "optimized/cpu/native/plain_forms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace assay {
namespace {

using llvm::Value;

// nullptr: none is known.
Value* PlainForm(llvm::IntrinsicInst& call) {
  if (!call.getType()->isIntegerTy()) return nullptr;
  llvm::IRBuilder<> ir(&call);
  Value* x = call.getArgOperand(0);
  if (const auto* choice = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&call)) {
    Value* y = call.getArgOperand(1);
    return ir.CreateSelect(ir.CreateICmp(choice->getPredicate(), x, y), x, y);
  }
  if (call.getIntrinsicID() == llvm::Intrinsic::abs) {
    Value* zero = llvm::ConstantInt::get(x->getType(), 0);
    return ir.CreateSelect(ir.CreateICmpSLT(x, zero), ir.CreateSub(zero, x), x);
  }
  return nullptr;
}

}  // namespace

void UsePlainForms(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      Value* plain = call == nullptr ? nullptr : PlainForm(*call);
      if (plain == nullptr) continue;
      call->replaceAllUsesWith(plain);
      call->eraseFromParent();
    }
  }
}

}  // namespace assay
