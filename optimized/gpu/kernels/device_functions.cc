// Takes from the bitcode what is called, and no more: its functions are read when they are linked.
#include "optimized/gpu/kernels/device_functions.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace assay::gpu {

extern const unsigned char kDeviceCode[];
extern const size_t kDeviceCodeBytes;

namespace {

constexpr llvm::StringRef kRuntimePrefix = "assay_";

bool IsMissing(const llvm::Function& function) {
  return function.isDeclaration() && function.getName().starts_with(kRuntimePrefix);
}

bool LacksFunctions(const llvm::Module& kernels) {
  for (const llvm::Function& function : kernels) {
    if (IsMissing(function)) return true;
  }
  return false;
}

// The device's own instruction, under the name that functions in C++ have for it.
void DefineWarpSync(llvm::Module& kernels) {
  llvm::Function* sync = kernels.getFunction("assay_device_warp_sync");
  if (sync == nullptr || !sync->isDeclaration()) return;
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(kernels.getContext(), "entry", sync));
  constexpr uint32_t kAllLanes = ~uint32_t{0};
  ir.CreateIntrinsic(ir.getVoidTy(), llvm::Intrinsic::nvvm_bar_warp_sync, {ir.getInt32(kAllLanes)});
  ir.CreateRetVoid();
}

// Drops what the code says for the sake of the host.
void MakeDeviceFunction(llvm::Function& function) {
  llvm::AttributeMask words;
  for (const llvm::Attribute attribute : function.getAttributes().getFnAttrs()) {
    if (attribute.isStringAttribute()) words.addAttribute(attribute.getKindAsString());
  }
  words.addAttribute(llvm::Attribute::UWTable);
  function.removeFnAttrs(words);
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.setDSOLocal(false);
  function.setComdat(nullptr);
  // Calls to declarations went by the default convention, and so does all of it.
  function.setCallingConv(llvm::CallingConv::C);
  for (llvm::User* user : function.users()) {
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) {
      call->setCallingConv(llvm::CallingConv::C);
    }
  }
}

}  // namespace

absl::Status LinkDeviceFunctions(llvm::Module& kernels) {
  if (!LacksFunctions(kernels)) return absl::OkStatus();
  const llvm::MemoryBufferRef bytes(
      llvm::StringRef(reinterpret_cast<const char*>(kDeviceCode), kDeviceCodeBytes),
      "device functions");
  llvm::Expected<std::unique_ptr<llvm::Module>> read =
      llvm::getLazyBitcodeModule(bytes, kernels.getContext());
  if (!read) {
    return absl::InternalError(
        absl::StrCat("gpu: code of device functions: ", llvm::toString(read.takeError())));
  }
  std::unique_ptr<llvm::Module> code = std::move(*read);
  code->setTargetTriple(kernels.getTargetTriple());
  code->setDataLayout(kernels.getDataLayout());
  if (llvm::NamedMDNode* flags = code->getModuleFlagsMetadata()) code->eraseNamedMetadata(flags);
  std::vector<const llvm::Function*> before;
  for (const llvm::Function& function : kernels) {
    if (!function.isDeclaration()) before.push_back(&function);
  }
  const llvm::SmallPtrSet<const llvm::Function*, 32> known(before.begin(), before.end());
  if (llvm::Linker::linkModules(kernels, std::move(code), llvm::Linker::LinkOnlyNeeded)) {
    return absl::InternalError("gpu: device functions cannot be linked");
  }
  DefineWarpSync(kernels);
  for (llvm::Function& function : kernels) {
    if (!function.isDeclaration() && !known.contains(&function)) MakeDeviceFunction(function);
  }
  if (llvm::NamedMDNode* flags = kernels.getModuleFlagsMetadata()) {
    kernels.eraseNamedMetadata(flags);
  }
  return absl::OkStatus();
}

}  // namespace assay::gpu
