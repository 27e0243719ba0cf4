// PTX by LLVM's NVPTX back end.
#include "optimized/gpu/driver/module_image.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

constexpr std::string_view kMark = "// assay-ir: ";
constexpr size_t kColumns = 96;

// Names of PTX are letters, digits, '_' and '$'; the number keeps them apart.
std::string PlainName(llvm::StringRef name, size_t number) {
  std::string plain;
  for (const char letter : name) plain += llvm::isAlnum(letter) ? letter : '_';
  return absl::StrCat(plain, "_", number);
}

// PTX of the module, whose data layout becomes that of the target.
absl::StatusOr<std::string> PtxOf(llvm::Module& module, const ImageOptions& image) {
  static const bool initialised = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialised;
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return absl::UnimplementedError(absl::StrCat("PTX: ", error));
  // Nothing may be joined or reordered that changes bits.
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  const std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, image.processor, image.features, options, llvm::Reloc::Static, std::nullopt,
      llvm::CodeGenOptLevel::Default));
  if (machine == nullptr) {
    return absl::UnimplementedError(absl::StrCat("LLVM has no target ", image.processor));
  }
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return absl::UnimplementedError("LLVM writes no PTX");
  }
  passes.run(module);
  return std::string(text.data(), text.size());
}

}  // namespace

absl::StatusOr<KernelImage> MakeKernelImage(const llvm::Module& module,
                                            const ImageOptions& options) {
  KernelImage image;
  const std::unique_ptr<llvm::Module> clone = llvm::CloneModule(module);
  llvm::StripDebugInfo(*clone);
  size_t number = 0;
  for (llvm::Function& function : *clone) {
    if (function.isDeclaration()) continue;
    const std::string name = PlainName(function.getName(), number++);
    image.names[function.getName().str()] = name;
    function.setName(name);
  }
  for (llvm::GlobalVariable& variable : clone->globals()) {
    variable.setName(PlainName(variable.getName(), number++));
  }
  std::string comments;
  if (options.with_ir) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::WriteBitcodeToFile(*clone, stream);
    const std::string encoded = absl::Base64Escape(absl::string_view(bytes.data(), bytes.size()));
    for (size_t at = 0; at < encoded.size(); at += kColumns) {
      absl::StrAppend(&comments, std::string(kMark), encoded.substr(at, kColumns), "\n");
    }
  }
  ASSAY_ASSIGN_OR_RETURN(image.text, PtxOf(*clone, options));
  absl::StrAppend(&image.text, "\n", comments);
  return image;
}

std::string IrOfImage(std::string_view image) {
  std::string encoded, decoded;
  for (size_t at = image.find(kMark); at != std::string_view::npos; at = image.find(kMark, at)) {
    at += kMark.size();
    const size_t end = image.find('\n', at);
    encoded += image.substr(at, end == std::string_view::npos ? end : end - at);
  }
  return absl::Base64Unescape(encoded, &decoded) ? decoded : "";
}

}  // namespace assay::gpu
