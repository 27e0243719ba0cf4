// Loads, stores and addresses.
#include "optimized/cpu/native/direct/function_translator.h"

namespace assay::direct {
namespace {

int64_t TypeBytes(const llvm::GetElementPtrInst& gep) {
  const llvm::DataLayout& layout = gep.getDataLayout();
  return static_cast<int64_t>(layout.getTypeAllocSize(gep.getSourceElementType()).getFixedValue());
}

int64_t ConstantOffset(const llvm::GetElementPtrInst& gep) {
  llvm::APInt bytes(64, 0);
  (void)gep.accumulateConstantOffset(gep.getDataLayout(), bytes);
  return bytes.getSExtValue();
}

uint8_t Exponent(int64_t size) {
  uint8_t exponent = 0;
  while ((int64_t{1} << exponent) < size) ++exponent;
  return exponent;
}

bool IsShort(int64_t value) { return value == static_cast<int32_t>(value); }

}  // namespace

Address FunctionTranslator::AddressOf(const Value& pointer) {
  const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&pointer);
  if (gep == nullptr || !IsDeferred(*gep)) {
    if (llvm::isa<llvm::AllocaInst>(pointer)) return values_.Slot(pointer);
    return Address::At(values_.General(pointer), 0);
  }
  const Value& start = *gep->getPointerOperand();
  if (gep->hasAllConstantIndices()) {
    const int64_t offset = ConstantOffset(*gep);
    if (llvm::isa<llvm::AllocaInst>(start) && IsShort(offset)) {
      return values_.Slot(start).Plus(static_cast<int32_t>(offset));
    }
    const Gpr base = values_.General(start);
    if (IsShort(offset)) return Address::At(base, static_cast<int32_t>(offset));
    a_.MoveImmediate(kScratch2, static_cast<uint64_t>(offset));
    return {Address::Kind::kIndexed, base, kScratch2, 0, 0};
  }
  const Gpr base = values_.General(start);
  const Gpr index = values_.General(*gep->getOperand(1));
  return {Address::Kind::kIndexed, base, index, Exponent(TypeBytes(*gep)), 0};
}

void FunctionTranslator::Offset(const llvm::GetElementPtrInst& gep) {
  if (gep.getType()->isVectorTy()) return Refuse("addresses in a vector");
  const Value& start = *gep.getPointerOperand();
  if (gep.hasAllConstantIndices()) {
    const int64_t offset = ConstantOffset(gep);
    const Gpr to = values_.GeneralCopy(start);
    if (IsShort(offset)) {
      if (offset != 0) a_.GroupImmediate(kAddImm, 64, to, static_cast<int32_t>(offset));
    } else {
      a_.MoveImmediate(kScratch, static_cast<uint64_t>(offset));
      a_.Int(kAdd, 64, to, kScratch);
    }
    return values_.Define(gep, to);
  }
  if (gep.getNumIndices() != 1 || !gep.getOperand(1)->getType()->isIntegerTy(64)) {
    return Refuse("an offset");
  }
  const int64_t size = TypeBytes(gep);
  const Gpr index = values_.General(*gep.getOperand(1));
  const Gpr base = values_.General(start);
  const Gpr to = values_.NewGeneral();
  if (size <= 8 && (size & (size - 1)) == 0) {
    a_.Int(kLea, 64, to, Address{Address::Kind::kIndexed, base, index, Exponent(size), 0});
  } else {
    a_.MoveImmediate(kScratch, static_cast<uint64_t>(size));
    a_.Int(kImul, 64, kScratch, index);
    a_.Int(kLea, 64, to, Address{Address::Kind::kIndexed, base, kScratch, 0, 0});
  }
  values_.Define(gep, to);
}

void FunctionTranslator::Allocate(const llvm::AllocaInst& alloca) {
  const auto* count = llvm::dyn_cast<llvm::ConstantInt>(alloca.getArraySize());
  const bool is_at_entry = alloca.getParent() == &function_.getEntryBlock();
  constexpr uint64_t kMost = 1 << 16;
  if (count == nullptr || !is_at_entry || count->getZExtValue() > kMost) {
    return Refuse("memory of the stack");
  }
  const uint64_t each =
      function_.getDataLayout().getTypeAllocSize(alloca.getAllocatedType()).getFixedValue();
  if (each > kMost) return Refuse("memory of the stack");
  values_.PlaceArray(alloca, static_cast<int64_t>(each * count->getZExtValue()));
}

void FunctionTranslator::LoadPiece(Vec to, const Address& at, int bytes) {
  if (bytes == 32 || bytes == 16) return a_.Vex(kMovUps, bytes * 8, to, at);
  if (bytes == 8) return a_.Vex(kMovSd, 128, to, at);
  if (bytes == 4) return a_.Vex(kMovSs, 128, to, at);
  a_.Int(bytes == 2 ? kMovzx16 : kMovzx8, 32, kScratch, at);
  a_.Vex(kMovD, 128, to, kScratch);
}

void FunctionTranslator::StorePiece(const Address& at, Vec from, int bytes) {
  bytes = static_cast<int>(bends_.Number("direct-code/stored-bytes", nullptr, bytes));
  if (bytes == 32 || bytes == 16) return a_.Vex(kMovUpsStore, bytes * 8, from, at);
  if (bytes == 8) return a_.Vex(kMovSdStore, 128, from, at);
  if (bytes == 4) return a_.Vex(kMovSsStore, 128, from, at);
  a_.Vex(kMovDStore, 128, from, kScratch);
  a_.Int(bytes == 2 ? kMovStore : kMovStore8, bytes == 2 ? 16 : 32, kScratch, at);
}

Address FunctionTranslator::InScratch(const Address& at) {
  a_.Int(kLea, 64, kScratch3, at);
  return Address::At(kScratch3, 0);
}

void FunctionTranslator::Load(const llvm::LoadInst& load) {
  const Kind kind = values_.KindOf(load);
  if (!kind.is_whole()) return Refuse("a load of bits");
  Address at = AddressOf(*load.getPointerOperand());
  if (kind.is_vector) {
    has_vectors_ = true;
    const int bytes = kind.lanes * kind.bytes;
    // The registers of the address are not held from piece to piece.
    if (bytes > kPieceBytes) at = InScratch(at);
    for (int k = 0; k < values_.Pieces(load); ++k) {
      const Vec to = values_.NewVector();
      LoadPiece(to, at.Plus(k * kPieceBytes), std::min(bytes, kPieceBytes));
      values_.Define(load, k, to);
      values_.ReleasePins();
    }
    return;
  }
  if (kind.in_general) {
    const Gpr to = values_.NewGeneral();
    const IntOp& op = kind.bytes == 1 ? kMovzx8 : kind.bytes == 2 ? kMovzx16 : kMov;
    a_.Int(op, kind.bytes == 8 ? 64 : 32, to, at);
    return values_.Define(load, to);
  }
  for (int k = 0; k < kind.lanes; ++k) {
    const Vec to = values_.NewVector();
    LoadPiece(to, at.Plus(k * kind.bytes), kind.bytes);
    values_.Define(load, k, to);
  }
}

void FunctionTranslator::Store(const llvm::StoreInst& store) {
  const Value& value = *store.getValueOperand();
  const Kind kind = values_.KindOf(value);
  if (!kind.is_known || !kind.is_whole()) return Refuse("a store of bits");
  Address at = AddressOf(*store.getPointerOperand());
  if (kind.is_vector) {
    has_vectors_ = true;
    const int bytes = kind.lanes * kind.bytes;
    if (bytes > kPieceBytes) at = InScratch(at);
    for (int k = 0; k < values_.Pieces(value); ++k) {
      StorePiece(at.Plus(k * kPieceBytes), values_.Vector(value, k), std::min(bytes, kPieceBytes));
      values_.ReleasePins();
    }
    return;
  }
  if (kind.in_general) {
    const Gpr from = values_.General(value);
    return a_.Int(kind.bytes == 1 ? kMovStore8 : kMovStore, kind.bytes == 1 ? 32 : kind.bits, from,
                  at);
  }
  for (int k = 0; k < kind.lanes; ++k) {
    StorePiece(at.Plus(k * kind.bytes), values_.Vector(value, k), kind.bytes);
  }
}

}  // namespace assay::direct
