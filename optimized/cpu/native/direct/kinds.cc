// Types of LLVM that our emitter writes.
#include "optimized/cpu/native/direct/kinds.h"

namespace assay::direct {
namespace {

Kind ScalarKind(const llvm::Type* type) {
  Kind kind;
  if (type->isPointerTy()) {
    kind.bits = 64;
    kind.in_general = true;
  } else if (type->isIntegerTy() && type->getIntegerBitWidth() <= 64) {
    kind.bits = static_cast<int>(type->getIntegerBitWidth());
    kind.in_general = true;
  } else if (type->isHalfTy()) {
    kind.bits = 16;
    kind.in_general = true;
  } else if (type->isFloatTy() || type->isDoubleTy()) {
    kind.bits = type->isFloatTy() ? 32 : 64;
    kind.is_float = true;
  }
  kind.bytes = kind.bits <= 8 ? 1 : kind.bits <= 16 ? 2 : kind.bits <= 32 ? 4 : 8;
  kind.is_known = kind.bits != 0 && (kind.bits <= 8 || kind.is_whole());
  return kind;
}

constexpr int kMostLanes = 256;

}  // namespace

Kind KindOf(const llvm::Type* type) {
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    Kind kind = ScalarKind(vector->getElementType());
    kind.is_vector = true;
    kind.in_general = false;
    kind.lanes = static_cast<int>(vector->getNumElements());
    kind.is_known = kind.is_known && kind.lanes > 1 && kind.lanes <= kMostLanes &&
                    (kind.lanes & (kind.lanes - 1)) == 0 &&
                    !vector->getElementType()->isPointerTy();
    return kind;
  }
  if (const auto* pair = llvm::dyn_cast<llvm::StructType>(type)) {
    if (pair->getNumElements() != 2 || pair->getElementType(0) != pair->getElementType(1))
      return {};
    Kind kind = ScalarKind(pair->getElementType(0));
    kind.lanes = 2;
    kind.is_known = kind.is_float;
    return kind;
  }
  return ScalarKind(type);
}

bool ConstantBits(const llvm::Constant& constant, int lane, uint64_t& bits) {
  const llvm::Constant* element = &constant;
  if (constant.getType()->isVectorTy() || constant.getType()->isStructTy()) {
    element = constant.getAggregateElement(static_cast<unsigned>(lane));
    if (element == nullptr) return false;
  }
  bits = 0;
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(element)) {
    bits = integer->getZExtValue();
    return true;
  }
  if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(element)) {
    bits = number->getValueAPF().bitcastToAPInt().getZExtValue();
    return true;
  }
  return llvm::isa<llvm::ConstantPointerNull, llvm::UndefValue>(element);
}

}  // namespace assay::direct
