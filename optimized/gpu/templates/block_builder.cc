// Intrinsics of NVVM behind plain names. Documents: PTX ISA 8.8, shfl.sync and barrier.cta.
#include "optimized/gpu/templates/block_builder.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::gpu {

using llvm::Value;

namespace {
constexpr unsigned kSharedSpace = 3;
}  // namespace

Value* BlockBuilder::SharedArray(ElementType type, int64_t count, std::string_view name) {
  llvm::Type* array =
      llvm::ArrayType::get(elements_.builder().StorageType(type), static_cast<uint64_t>(count));
  llvm::Function* function = ir_.GetInsertBlock()->getParent();
  auto* global = new llvm::GlobalVariable(
      *function->getParent(), array, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
      llvm::UndefValue::get(array), StrCat(name, ".", std::string_view(function->getName())),
      nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  global->setAlignment(llvm::Align(16));
  return global;
}

void BlockBuilder::Barrier() {
  ir_.CreateIntrinsic(ir_.getVoidTy(), llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all,
                      {ir_.getInt32(0)});
}

Value* BlockBuilder::ShuffleWord(Value* word, const Exchange& exchange) {
  return ir_.CreateIntrinsic(
      ir_.getInt32Ty(), exchange.id,
      {ir_.getInt32(static_cast<uint32_t>(exchange.mask)), word,
       ir_.getInt32(static_cast<uint32_t>(exchange.lanes)), ir_.getInt32(exchange.edge)});
}

Value* BlockBuilder::Shuffle(Value* value, const Exchange& exchange) {
  llvm::Type* type = value->getType();
  const unsigned bits = type->getPrimitiveSizeInBits();
  llvm::Type* integer = ir_.getIntNTy(bits);
  Value* whole = ir_.CreateBitCast(value, integer);
  if (bits <= 32) {
    Value* moved = ShuffleWord(ir_.CreateZExt(whole, ir_.getInt32Ty()), exchange);
    return ir_.CreateBitCast(ir_.CreateTrunc(moved, integer), type);
  }
  Value* low = ShuffleWord(ir_.CreateTrunc(whole, ir_.getInt32Ty()), exchange);
  Value* high = ShuffleWord(ir_.CreateTrunc(ir_.CreateLShr(whole, 32), ir_.getInt32Ty()), exchange);
  Value* joined =
      ir_.CreateOr(ir_.CreateZExt(low, integer), ir_.CreateShl(ir_.CreateZExt(high, integer), 32));
  return ir_.CreateBitCast(joined, type);
}

Value* BlockBuilder::ShuffleXor(Value* value, int64_t lanes, int64_t mask) {
  return Shuffle(value, {llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, lanes, mask, 31});
}

Value* BlockBuilder::ShuffleUp(Value* value, int64_t lanes, int64_t mask) {
  return Shuffle(value, {llvm::Intrinsic::nvvm_shfl_sync_up_i32, lanes, mask, 0});
}

absl::Status BlockBuilder::If(Value* condition, const std::function<absl::Status()>& body) {
  llvm::Function* function = ir_.GetInsertBlock()->getParent();
  auto* inside = llvm::BasicBlock::Create(ir_.getContext(), "if", function);
  auto* behind = llvm::BasicBlock::Create(ir_.getContext(), "behind", function);
  ir_.CreateCondBr(condition, inside, behind);
  ir_.SetInsertPoint(inside);
  ASSAY_RETURN_IF_ERROR(elements_.Scoped(body));
  ir_.CreateBr(behind);
  ir_.SetInsertPoint(behind);
  return absl::OkStatus();
}

absl::StatusOr<ElementValues> BlockBuilder::ValuesIf(
    Value* condition, const ElementValues& otherwise,
    const std::function<absl::StatusOr<ElementValues>()>& body) {
  llvm::Function* function = ir_.GetInsertBlock()->getParent();
  llvm::BasicBlock* before = ir_.GetInsertBlock();
  auto* inside = llvm::BasicBlock::Create(ir_.getContext(), "if", function);
  auto* behind = llvm::BasicBlock::Create(ir_.getContext(), "behind", function);
  ir_.CreateCondBr(condition, inside, behind);
  ir_.SetInsertPoint(inside);
  ElementValues given;
  ASSAY_RETURN_IF_ERROR(elements_.Scoped([&]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(given, body());
    return absl::OkStatus();
  }));
  llvm::BasicBlock* last = ir_.GetInsertBlock();
  ir_.CreateBr(behind);
  ir_.SetInsertPoint(behind);
  ElementValues values;
  for (size_t k = 0; k < otherwise.size(); ++k) {
    llvm::PHINode* phi = ir_.CreatePHI(otherwise[k]->getType(), 2);
    phi->addIncoming(otherwise[k], before);
    phi->addIncoming(given[k], last);
    values.push_back(phi);
  }
  return values;
}

Value* BlockBuilder::AtMost(Value* value, int64_t last) {
  return ir_.CreateSelect(Below(value, last), value, elements_.Index(last));
}

}  // namespace assay::gpu
