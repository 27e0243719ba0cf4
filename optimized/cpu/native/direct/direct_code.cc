// Function by function, and what they refer to.
#include "optimized/cpu/native/direct/direct_code.h"

#include <algorithm>
#include <array>

#include "llvm/TargetParser/Host.h"
#include "optimized/cpu/native/direct/function_translator.h"

namespace assay::direct {

bool CanTranslate() {
  static const bool can = [] {
    constexpr std::array kNeeded = {"avx2", "fma", "f16c", "bmi2", "lzcnt", "popcnt"};
    const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
    return std::all_of(kNeeded.begin(), kNeeded.end(),
                       [&](const char* feature) { return host.lookup(feature); });
  }();
  return can;
}

std::unique_ptr<DirectCode> Translate(const llvm::Module& module, const char* entry,
                                      std::string& why, const KernelBends& bends) {
  const llvm::Function* first = module.getFunction(entry);
  if (first == nullptr || first->isDeclaration()) {
    why = "no function of this name";
    return nullptr;
  }
  Assembler assembler;
  Links links(assembler);
  for (const llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    why = FunctionTranslator(function, assembler, links, bends).Run();
    if (!why.empty()) return nullptr;
  }
  auto code = std::make_unique<DirectCode>();
  const std::vector<uint8_t>& bytes = assembler.Finish();
  code->block = CodeBlock::Make(bytes);
  if (code->block == nullptr) {
    why = "no memory for code";
    return nullptr;
  }
  code->bytes = static_cast<int64_t>(bytes.size());
  code->entry = code->block->At(assembler.PlaceOf(links.LabelOf(*first)));
  return code;
}

}  // namespace assay::direct
