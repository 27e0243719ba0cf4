// Labels of functions, places of data, and the runtime's symbols by their names.
#include "optimized/cpu/native/direct/links.h"

#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Operator.h"
#include "optimized/runtime/symbols.h"

namespace assay::direct {

Label Links::LabelOf(const llvm::Function& function) {
  const auto [known, is_new] = labels_.try_emplace(&function, Label{});
  if (is_new) known->second = assembler_.NewLabel();
  return known->second;
}

std::optional<int32_t> Links::PlaceOf(const llvm::GlobalVariable& data) {
  const auto known = places_.find(&data);
  if (known != places_.end()) return known->second;
  if (!data.isConstant() || !data.hasInitializer()) return std::nullopt;
  std::string bytes;
  if (const auto* array = llvm::dyn_cast<llvm::ConstantDataSequential>(data.getInitializer())) {
    const llvm::StringRef raw = array->getRawDataValues();
    bytes.assign(raw.data(), raw.size());
  } else if (llvm::isa<llvm::ConstantAggregateZero>(data.getInitializer())) {
    bytes.resize(data.getDataLayout().getTypeAllocSize(data.getValueType()));
  } else {
    return std::nullopt;
  }
  const int32_t place = assembler_.Data(bytes);
  places_[&data] = place;
  return place;
}

void* Links::Runtime(llvm::StringRef name) {
  static const auto& symbols = *[] {
    auto* map = new absl::flat_hash_map<std::string_view, void*>;
    for (const RuntimeSymbol& symbol : RuntimeSymbols()) (*map)[symbol.name] = symbol.address;
    return map;
  }();
  const auto found = symbols.find(std::string_view(name.data(), name.size()));
  return found == symbols.end() ? nullptr : found->second;
}

bool Links::LoadAddress(Gpr to, const llvm::Constant& constant) {
  if (const auto* function = llvm::dyn_cast<llvm::Function>(&constant)) {
    if (!function->isDeclaration()) {
      assembler_.LoadAddress(to, LabelOf(*function));
      return true;
    }
    void* address = Runtime(function->getName());
    assembler_.MoveImmediate(to, reinterpret_cast<uintptr_t>(address));
    return address != nullptr;
  }
  int64_t offset = 0;
  const llvm::Value* base = &constant;
  if (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(&constant)) {
    const auto* first = llvm::dyn_cast<llvm::GlobalVariable>(gep->getPointerOperand());
    if (first == nullptr) return false;
    const llvm::DataLayout& layout = first->getDataLayout();
    llvm::APInt bytes(layout.getIndexSizeInBits(0), 0);
    if (!gep->accumulateConstantOffset(layout, bytes)) return false;
    offset = bytes.getSExtValue();
    base = first;
  }
  const auto* data = llvm::dyn_cast<llvm::GlobalVariable>(base);
  if (data == nullptr || offset != static_cast<int32_t>(offset)) return false;
  const std::optional<int32_t> place = PlaceOf(*data);
  if (!place) return false;
  assembler_.Int(kLea, 64, to, Address::Constant(*place + static_cast<int32_t>(offset)));
  return true;
}

}  // namespace assay::direct
