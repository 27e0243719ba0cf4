// Alignment of wide accesses from what is known of the bits of their addresses.
#include <algorithm>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"
#include "optimized/gpu/templates/templates.h"

namespace assay::gpu {
namespace {

// Elements of a vector that one access of this alignment may move.
unsigned LanesFor(const llvm::FixedVectorType& type, const llvm::DataLayout& layout,
                  llvm::Align known) {
  const uint64_t element = layout.getTypeStoreSize(type.getElementType());
  return static_cast<unsigned>(
      std::clamp<uint64_t>(known.value() / element, 1, type.getNumElements()));
}

llvm::Value* PartOf(llvm::IRBuilder<>& ir, llvm::Value* vector, unsigned first, unsigned lanes) {
  if (lanes == 1) return ir.CreateExtractElement(vector, first);
  std::vector<int> places;
  for (unsigned k = 0; k < lanes; ++k) places.push_back(static_cast<int>(first + k));
  return ir.CreateShuffleVector(vector, places);
}

llvm::Value* WithPart(llvm::IRBuilder<>& ir, llvm::Value* vector, llvm::Value* part, unsigned first,
                      unsigned lanes) {
  if (lanes == 1) return ir.CreateInsertElement(vector, part, first);
  for (unsigned k = 0; k < lanes; ++k) {
    vector = ir.CreateInsertElement(vector, ir.CreateExtractElement(part, k), first + k);
  }
  return vector;
}

void Split(llvm::Instruction* access, const llvm::FixedVectorType& type, unsigned lanes,
           llvm::Align known) {
  llvm::IRBuilder<> ir(access);
  auto* load = llvm::dyn_cast<llvm::LoadInst>(access);
  auto* store = llvm::dyn_cast<llvm::StoreInst>(access);
  llvm::Value* pointer = llvm::getLoadStorePointerOperand(access);
  llvm::Type* element = type.getElementType();
  llvm::Type* part_type =
      lanes == 1 ? element : static_cast<llvm::Type*>(llvm::FixedVectorType::get(element, lanes));
  llvm::Value* vector = load != nullptr ? llvm::PoisonValue::get(load->getType())
                                        : static_cast<llvm::Value*>(store->getValueOperand());
  for (unsigned first = 0; first < type.getNumElements(); first += lanes) {
    llvm::Value* at = ir.CreateConstInBoundsGEP1_64(element, pointer, first);
    if (load != nullptr) {
      vector = WithPart(ir, vector, ir.CreateAlignedLoad(part_type, at, known), first, lanes);
    } else {
      ir.CreateAlignedStore(PartOf(ir, vector, first, lanes), at, known);
    }
  }
  if (load != nullptr) load->replaceAllUsesWith(vector);
  access->eraseFromParent();
}

}  // namespace

void AlignAccesses(llvm::Function& kernel) {
  const llvm::DataLayout& layout = kernel.getParent()->getDataLayout();
  std::vector<llvm::Instruction*> wide;
  for (llvm::Instruction& each : llvm::instructions(kernel)) {
    if (!llvm::isa<llvm::LoadInst, llvm::StoreInst>(each)) continue;
    if (llvm::isa<llvm::FixedVectorType>(llvm::getLoadStoreType(&each))) wide.push_back(&each);
  }
  for (llvm::Instruction* access : wide) {
    const auto& type = *llvm::cast<llvm::FixedVectorType>(llvm::getLoadStoreType(access));
    const llvm::Align known =
        llvm::getKnownAlignment(llvm::getLoadStorePointerOperand(access), layout, access);
    const unsigned lanes = LanesFor(type, layout, known);
    const uint64_t bytes = lanes * layout.getTypeStoreSize(type.getElementType());
    if (lanes < type.getNumElements()) {
      Split(access, type, lanes, llvm::Align(std::min<uint64_t>(known.value(), bytes)));
    } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(access)) {
      load->setAlignment(llvm::Align(bytes));
    } else {
      llvm::cast<llvm::StoreInst>(access)->setAlignment(llvm::Align(bytes));
    }
  }
}

}  // namespace assay::gpu
