// Runs LLVM's code generator over a copy: it changes what it is given.
#include "optimized/gpu/ptx.h"

#include <memory>
#include <optional>

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

// Names of PTX are letters, digits, '_' and '$'.
std::string PlainName(llvm::StringRef name) {
  std::string plain;
  for (const char letter : name) {
    plain += llvm::isAlnum(letter) ? letter : '_';
  }
  return plain;
}

const llvm::Target* NvptxTarget() {
  static const llvm::Target* target = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(llvm::Triple("nvptx64-nvidia-cuda"), error);
  }();
  return target;
}

}  // namespace

absl::StatusOr<std::string> ToPtx(const llvm::Module& kernels, const Architecture& architecture) {
  const llvm::Target* target = NvptxTarget();
  if (target == nullptr) {
    return absl::UnimplementedError("gpu: this LLVM was built without its target NVPTX");
  }
  const std::unique_ptr<llvm::Module> module = llvm::CloneModule(kernels);
  int number = 0;
  for (llvm::Function& function : *module) {
    if (function.isDeclaration()) continue;
    function.setName(StrCat(PlainName(function.getName()), "_", number++));
  }
  for (llvm::GlobalVariable& variable : module->globals()) {
    variable.setName(StrCat(PlainName(variable.getName()), "_", number++));
  }
  const std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(module->getTargetTriple(), architecture.name,
                                  architecture.features, llvm::TargetOptions(), std::nullopt));
  module->setDataLayout(machine->createDataLayout());
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return absl::InternalError("gpu: LLVM writes no PTX");
  }
  passes.run(*module);
  return std::string(text.str());
}

}  // namespace assay::gpu
