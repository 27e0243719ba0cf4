// The places of variables, allocas and arguments, and which of them a pointer points into.
#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "optimized/gpu/simulator/decoding/decoder.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

constexpr unsigned kSharedSpace = 3;

// The variables of the module that the function names, itself or within constants.
llvm::SetVector<const llvm::GlobalVariable*> VariablesOf(const llvm::Function& function) {
  llvm::SetVector<const llvm::GlobalVariable*> found;
  llvm::SetVector<const llvm::Constant*> seen;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    for (const llvm::Use& use : instruction.operands()) {
      if (const auto* constant = llvm::dyn_cast<llvm::Constant>(use)) seen.insert(constant);
    }
  }
  for (size_t k = 0; k < seen.size(); ++k) {
    const llvm::Constant* constant = seen[k];
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(constant)) {
      found.insert(variable);
      continue;
    }
    for (const llvm::Use& use : constant->operands()) {
      if (const auto* part = llvm::dyn_cast<llvm::Constant>(use)) seen.insert(part);
    }
  }
  return found;
}

uint64_t RoundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

absl::Status Decoder::PlaceVariables() {
  constexpr uint64_t kMost = 1 << 30;
  std::vector<const llvm::GlobalVariable*> dynamic;
  uint64_t shared = 0;
  for (const llvm::GlobalVariable* variable : VariablesOf(function_)) {
    const uint64_t bytes = layout_.getTypeAllocSize(variable->getValueType());
    const uint64_t alignment = std::max<uint64_t>(layout_.getPreferredAlign(variable).value(), 4);
    if (bytes > kMost) return Unknown(*variable, "it is too large");
    if (variable->getAddressSpace() == kSharedSpace) {
      if (bytes == 0) {
        dynamic.push_back(variable);
        continue;
      }
      shared = RoundUp(shared, alignment);
      variables_[variable] = {kSharedTag + shared, shared, shared + bytes};
      shared += bytes;
    } else if (variable->hasInitializer() && variable->isConstant()) {
      const uint64_t at = RoundUp(code_.constants.size(), alignment);
      code_.constants.resize(at + bytes);
      if (!BytesOfConstant(*variable->getInitializer(), layout_, code_.constants.data() + at)) {
        return Unknown(*variable, "its value has no bytes");
      }
      variables_[variable] = {kConstantTag + at, at, at + bytes};
    } else {
      return Unknown(*variable, "variables are shared, or constant with a value");
    }
    if (shared > kMost || code_.constants.size() > kMost) return Unknown(*variable, "too large");
  }
  code_.shared_bytes = shared;
  code_.dynamic_shared_at = RoundUp(shared, 16);
  for (const llvm::GlobalVariable* variable : dynamic) {
    variables_[variable] = {kSharedTag + code_.dynamic_shared_at, code_.dynamic_shared_at,
                            ~uint64_t{0}};
  }
  uint64_t local = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(function_)) {
    const auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (alloca == nullptr) continue;
    const std::optional<llvm::TypeSize> size = alloca->getAllocationSize(layout_);
    if (!size.has_value() || !alloca->isStaticAlloca() || size->getFixedValue() > kMost) {
      return Unknown(instruction, "its size is not known before");
    }
    local = RoundUp(local, std::max<uint64_t>(alloca->getAlign().value(), 4));
    variables_[alloca] = {kLocalTag + local, local, local + size->getFixedValue()};
    local += size->getFixedValue();
    if (local > (1 << 20)) return Unknown(instruction, "threads have a megabyte of local memory");
  }
  code_.local_bytes = RoundUp(local, 16);
  return absl::OkStatus();
}

absl::Status Decoder::PlaceArguments() {
  for (const llvm::Argument& argument : function_.args()) {
    ASSAY_ASSIGN_OR_RETURN(const ScalarType type, Scalar(argument.getType()));
    ArgumentInfo info;
    info.bytes = type.bytes();
    info.is_pointer = argument.getType()->isPointerTy();
    info.place = writer_.Uniform(type.bytes());
    Define(&argument, {info.place});
    code_.arguments.push_back(info);
  }
  return absl::OkStatus();
}

void Decoder::FindBase(const llvm::Value* pointer, bool is_write, MemoryOp& to) {
  llvm::SmallVector<const llvm::Value*, 4> bases;
  llvm::getUnderlyingObjects(pointer, bases, nullptr, 0);
  if (bases.size() == 1) {
    const llvm::Value* base = bases[0];
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(base)) {
      to.base = BaseKind::kArgument;
      to.argument = argument->getArgNo();
    } else if (const auto found = variables_.find(base); found != variables_.end()) {
      const uint64_t tag = found->second.address & kTagMask;
      to.base = tag == kSharedTag  ? BaseKind::kShared
                : tag == kLocalTag ? BaseKind::kLocal
                                   : BaseKind::kConstant;
      to.low = found->second.low;
      to.high = found->second.high;
    }
  }
  if (!is_write) return;
  // Whatever may be the base is written, as far as races are concerned.
  for (const llvm::Value* base : bases) {
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(base)) {
      code_.arguments[argument->getArgNo()].is_written = true;
    } else if (!variables_.contains(base)) {
      code_.writes_unknown = true;
    }
  }
}

bool BytesOfConstant(const llvm::Constant& constant, const llvm::DataLayout& layout,
                     std::byte* to) {
  llvm::Type* type = constant.getType();
  if (llvm::isa<llvm::ConstantAggregateZero, llvm::UndefValue, llvm::ConstantPointerNull>(
          constant)) {
    return true;
  }
  if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(&constant)) {
    const llvm::StringRef bytes = data->getRawDataValues();
    std::memcpy(to, bytes.data(), bytes.size());
    return true;
  }
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&constant)) {
    if (integer->getBitWidth() > 64 || type->isVectorTy()) return false;
    const uint64_t value = integer->getZExtValue();
    std::memcpy(to, &value, (integer->getBitWidth() + 7) / 8);
    return true;
  }
  if (const auto* real = llvm::dyn_cast<llvm::ConstantFP>(&constant)) {
    if (type->isVectorTy()) return false;
    const uint64_t value = real->getValueAPF().bitcastToAPInt().getLimitedValue();
    std::memcpy(to, &value, type->getPrimitiveSizeInBits() / 8);
    return true;
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    const uint64_t stride = layout.getTypeAllocSize(array->getElementType());
    for (uint64_t k = 0; k < array->getNumElements(); ++k) {
      const llvm::Constant* element = constant.getAggregateElement(k);
      if (element == nullptr || !BytesOfConstant(*element, layout, to + k * stride)) return false;
    }
    return true;
  }
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout* places = layout.getStructLayout(structure);
    for (unsigned k = 0; k < structure->getNumElements(); ++k) {
      const llvm::Constant* element = constant.getAggregateElement(k);
      if (element == nullptr ||
          !BytesOfConstant(*element, layout, to + places->getElementOffset(k).getFixedValue())) {
        return false;
      }
    }
    return true;
  }
  return false;
}

}  // namespace assay::gpu
