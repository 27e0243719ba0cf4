// Addresses, loads, stores and atomics.
#include <bit>
#include <utility>
#include <vector>

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Operator.h"
#include "optimized/gpu/simulator/decoding/decoder.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

AtomicScope ScopeOf(const llvm::Instruction& instruction, llvm::SyncScope::ID scope) {
  llvm::SmallVector<llvm::StringRef, 8> names;
  instruction.getContext().getSyncScopeNames(names);
  const llvm::StringRef name = scope < names.size() ? names[scope] : "";
  return name == "block" ? AtomicScope::kBlock : AtomicScope::kDevice;
}

struct Access {
  const llvm::Value* pointer;
  llvm::Type* type;
  uint64_t alignment;
  bool is_write;
};

// All of the operation but the places of the scalars that it moves.
absl::StatusOr<MemoryOp> StartAccess(Decoder& decoder, const Access& access,
                                     const std::vector<PlacedScalar>& scalars) {
  MemoryOp op;
  ASSAY_ASSIGN_OR_RETURN(op.address, decoder.ScalarOf(access.pointer));
  op.space = access.pointer->getType()->getPointerAddressSpace();
  const uint64_t bytes = decoder.layout().getTypeStoreSize(access.type);
  if (bytes > 4096 || bytes == 0) return decoder.Unknown(*access.pointer, "its access's size");
  op.bytes = bytes;
  op.alignment = access.alignment;
  decoder.FindBase(access.pointer, access.is_write, op);
  for (const PlacedScalar& scalar : scalars) {
    Piece piece;
    piece.bytes = (scalar.type.bits + 7) / 8;
    if (std::popcount(piece.bytes) != 1 ||
        (scalar.type.bits % 8 != 0 && access.type->isVectorTy())) {
      return decoder.Unknown(*access.pointer, "bits that share a byte, or widths such as 24");
    }
    piece.offset = scalar.offset;
    if (scalar.type.is_odd() && scalar.type.bits < 64) {
      piece.mask = (uint64_t{1} << scalar.type.bits) - 1;
    }
    op.pieces.push_back(piece);
  }
  return op;
}

struct AtomicRow {
  llvm::AtomicRMWInst::BinOp operation;
  AtomicKind kind;
};
constexpr AtomicRow kAtomicRows[] = {
    {llvm::AtomicRMWInst::Xchg, AtomicKind::kExchange},
    {llvm::AtomicRMWInst::Add, AtomicKind::kAdd},
    {llvm::AtomicRMWInst::Sub, AtomicKind::kSub},
    {llvm::AtomicRMWInst::And, AtomicKind::kAnd},
    {llvm::AtomicRMWInst::Nand, AtomicKind::kNand},
    {llvm::AtomicRMWInst::Or, AtomicKind::kOr},
    {llvm::AtomicRMWInst::Xor, AtomicKind::kXor},
    {llvm::AtomicRMWInst::Max, AtomicKind::kSMax},
    {llvm::AtomicRMWInst::Min, AtomicKind::kSMin},
    {llvm::AtomicRMWInst::UMax, AtomicKind::kUMax},
    {llvm::AtomicRMWInst::UMin, AtomicKind::kUMin},
    {llvm::AtomicRMWInst::FAdd, AtomicKind::kFAdd},
    {llvm::AtomicRMWInst::FSub, AtomicKind::kFSub},
    {llvm::AtomicRMWInst::FMax, AtomicKind::kFMax},
    {llvm::AtomicRMWInst::FMin, AtomicKind::kFMin},
    {llvm::AtomicRMWInst::UIncWrap, AtomicKind::kIncrement},
    {llvm::AtomicRMWInst::UDecWrap, AtomicKind::kDecrement},
};

}  // namespace

absl::Status DecodeAddress(Decoder& decoder, const llvm::GetElementPtrInst& address) {
  if (address.getType()->isVectorTy()) return decoder.Unknown(address, "vectors of pointers");
  ASSAY_ASSIGN_OR_RETURN(Register at, decoder.ScalarOf(address.getPointerOperand()));
  llvm::SmallMapVector<llvm::Value*, llvm::APInt, 4> terms;
  const unsigned bits = decoder.layout().getIndexTypeSizeInBits(address.getType());
  llvm::APInt offset(bits, 0);
  if (!llvm::cast<llvm::GEPOperator>(address).collectOffset(decoder.layout(), bits, terms,
                                                            offset)) {
    return decoder.Unknown(address);
  }
  for (const auto& [index, factor] : terms) {
    ASSAY_ASSIGN_OR_RETURN(const ScalarType type, decoder.Scalar(index->getType()));
    ASSAY_ASSIGN_OR_RETURN(Register value, decoder.ScalarOf(index));
    ASSAY_RETURN_IF_ERROR(RequireIndexFits(decoder, *index));
    value = decoder.SignExtended(type, value);
    const uint64_t stride = factor.getSExtValue();
    if (std::has_single_bit(stride)) {
      at = decoder.Apply(kIndexShift, type.lane, at, value,
                         decoder.Number(8, std::countr_zero(stride)));
    } else {
      at = decoder.Apply(kIndexTimes, type.lane, at, value, decoder.Number(8, stride));
    }
  }
  if (!offset.isZero()) {
    at = decoder.Apply(kAdd, kI64, at,
                       decoder.Number(8, static_cast<uint64_t>(offset.getSExtValue())));
  }
  decoder.Define(&address, {at});
  return absl::OkStatus();
}

absl::Status DecodeLoad(Decoder& decoder, const llvm::LoadInst& load) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<PlacedScalar> scalars, decoder.Scalars(load.getType()));
  const Access access = {load.getPointerOperand(), load.getType(), load.getAlign().value(), false};
  ASSAY_ASSIGN_OR_RETURN(MemoryOp op, StartAccess(decoder, access, scalars));
  if (load.isAtomic()) op.scope = ScopeOf(load, load.getSyncScopeID());
  Registers result;
  for (size_t k = 0; k < scalars.size(); ++k) {
    op.pieces[k].place = decoder.writer().New(scalars[k].type.bytes());
    result.push_back(op.pieces[k].place);
  }
  decoder.code().memory.push_back(std::move(op));
  decoder.writer().Emit(OpKind::kLoad, decoder.code().memory.size() - 1);
  decoder.Define(&load, std::move(result));
  return absl::OkStatus();
}

absl::Status DecodeStore(Decoder& decoder, const llvm::StoreInst& store) {
  llvm::Type* type = store.getValueOperand()->getType();
  ASSAY_ASSIGN_OR_RETURN(const std::vector<PlacedScalar> scalars, decoder.Scalars(type));
  const Access access = {store.getPointerOperand(), type, store.getAlign().value(), true};
  ASSAY_ASSIGN_OR_RETURN(MemoryOp op, StartAccess(decoder, access, scalars));
  op.reads = false;
  if (store.isAtomic()) op.scope = ScopeOf(store, store.getSyncScopeID());
  ASSAY_ASSIGN_OR_RETURN(const Registers values, decoder.ValueOf(store.getValueOperand()));
  for (size_t k = 0; k < scalars.size(); ++k) op.pieces[k].place = values[k];
  decoder.code().memory.push_back(std::move(op));
  decoder.writer().Emit(OpKind::kStore, decoder.code().memory.size() - 1);
  return absl::OkStatus();
}

absl::Status DecodeAtomic(Decoder& decoder, const llvm::AtomicRMWInst& atomic) {
  llvm::Type* type = atomic.getType();
  ASSAY_ASSIGN_OR_RETURN(const std::vector<PlacedScalar> scalars, decoder.Scalars(type));
  if (scalars.size() != 1 || scalars[0].type.is_odd() || scalars[0].type.bytes() > 8) {
    return decoder.Unknown(atomic);
  }
  const Access access = {atomic.getPointerOperand(), type, atomic.getAlign().value(), true};
  AtomicOp op;
  ASSAY_ASSIGN_OR_RETURN(op.memory, StartAccess(decoder, access, scalars));
  op.memory.scope = ScopeOf(atomic, atomic.getSyncScopeID());
  ASSAY_ASSIGN_OR_RETURN(op.memory.pieces[0].place, decoder.ScalarOf(atomic.getValOperand()));
  op.type = scalars[0].type.lane;
  op.old = decoder.writer().New(scalars[0].type.bytes());
  for (const AtomicRow& row : kAtomicRows) {
    if (row.operation != atomic.getOperation()) continue;
    op.kind = row.kind;
    decoder.Define(&atomic, {op.old});
    decoder.code().atomics.push_back(std::move(op));
    decoder.writer().Emit(OpKind::kAtomic, decoder.code().atomics.size() - 1);
    return absl::OkStatus();
  }
  return decoder.Unknown(atomic);
}

absl::Status DecodeExchange(Decoder& decoder, const llvm::AtomicCmpXchgInst& exchange) {
  llvm::Type* type = exchange.getNewValOperand()->getType();
  ASSAY_ASSIGN_OR_RETURN(const std::vector<PlacedScalar> scalars, decoder.Scalars(type));
  if (scalars.size() != 1 || scalars[0].type.is_odd() || scalars[0].type.bytes() > 8) {
    return decoder.Unknown(exchange);
  }
  const Access access = {exchange.getPointerOperand(), type, exchange.getAlign().value(), true};
  AtomicOp op;
  ASSAY_ASSIGN_OR_RETURN(op.memory, StartAccess(decoder, access, scalars));
  op.memory.scope = ScopeOf(exchange, exchange.getSyncScopeID());
  ASSAY_ASSIGN_OR_RETURN(op.memory.pieces[0].place, decoder.ScalarOf(exchange.getNewValOperand()));
  ASSAY_ASSIGN_OR_RETURN(op.expected, decoder.ScalarOf(exchange.getCompareOperand()));
  op.kind = AtomicKind::kCompareExchange;
  op.type = scalars[0].type.lane;
  op.old = decoder.writer().New(scalars[0].type.bytes());
  op.success = decoder.writer().New(1);
  decoder.Define(&exchange, {op.old, op.success});
  decoder.code().atomics.push_back(std::move(op));
  decoder.writer().Emit(OpKind::kAtomic, decoder.code().atomics.size() - 1);
  return absl::OkStatus();
}

}  // namespace assay::gpu
