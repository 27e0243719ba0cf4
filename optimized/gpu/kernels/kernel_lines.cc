// Debug locations in as little as LLVM's verifier asks for: a unit of each module that says nothing
// to debuggers, and a subprogram per kernel.
#include "optimized/gpu/kernels/kernel_lines.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/Module.h"

namespace assay::gpu {
namespace {

llvm::DICompileUnit* UnitOf(llvm::Module& module) {
  llvm::NamedMDNode* units = module.getNamedMetadata("llvm.dbg.cu");
  if (units != nullptr && units->getNumOperands() > 0) {
    return llvm::cast<llvm::DICompileUnit>(units->getOperand(0));
  }
  llvm::DIBuilder builder(module);
  llvm::DICompileUnit* unit = builder.createCompileUnit(
      llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C), builder.createFile(module.getName(), ""),
      "assay", /*isOptimized=*/true, "", 0, "", llvm::DICompileUnit::NoDebug);
  builder.finalize();
  return unit;
}

}  // namespace

void KernelLines::Begin(llvm::Function& kernel) {
  llvm::Module& module = *kernel.getParent();
  llvm::DICompileUnit* unit = UnitOf(module);
  llvm::DIBuilder builder(module, /*AllowUnresolved=*/false, unit);
  kernel_ = builder.createFunction(unit->getFile(), kernel.getName(), "", unit->getFile(), 0,
                                   builder.createSubroutineType(builder.getOrCreateTypeArray({})),
                                   0, llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
  builder.finalizeSubprogram(kernel_);
  kernel.setSubprogram(kernel_);
}

void KernelLines::Set(const Instruction* instruction) {
  if (kernel_ == nullptr) return;
  llvm::DILocation* location = nullptr;
  if (instruction != nullptr) {
    llvm::DILocation*& known = locations_[instruction];
    if (known == nullptr) {
      named_.push_back(instruction);
      known =
          llvm::DILocation::get(ir_.getContext(), static_cast<unsigned>(named_.size()), 0, kernel_);
    }
    location = known;
  }
  ir_.SetCurrentDebugLocation(location);
}

}  // namespace assay::gpu
