// Weighs functions by the number of their instructions and deals them out.
#include "optimized/cpu/native/module_cut.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace assay {
namespace {

// Instructions for which a thread of their own is worth its start, and cold ones for which an
// object of their own is.
constexpr int64_t kWorthAThread = 150;
constexpr int64_t kWorthAnObject = 400;
constexpr int64_t kMostParts = 16;
// Optimizing an instruction takes about so many times as long as translating it does.
constexpr int64_t kHotWeight = 5;

bool IsPartOfItsOwn(const llvm::Function& function) {
  return !function.isDeclaration() && function.hasFnAttribute(kPartAttribute);
}

// Parts have copies of data, which nobody notices unless it changes.
bool HasVariables(const llvm::Module& module) {
  return std::any_of(module.global_begin(), module.global_end(),
                     [](const llvm::GlobalVariable& data) { return !data.isConstant(); });
}

struct Weighed {
  int64_t instructions = 0;
  const llvm::Function* function = nullptr;
};

// `function` with the helpers it calls, those of helpers included.
void AddWithHelpers(const llvm::Function& function,
                    absl::flat_hash_set<const llvm::Function*>& part) {
  if (!part.insert(&function).second) return;
  for (const llvm::BasicBlock& block : function) {
    for (const llvm::Instruction& instruction : block) {
      for (const llvm::Use& use : instruction.operands()) {
        const auto* helper = llvm::dyn_cast<llvm::Function>(use->stripPointerCasts());
        if (helper == nullptr || helper->isDeclaration() || IsPartOfItsOwn(*helper)) continue;
        AddWithHelpers(*helper, part);
      }
    }
  }
}

}  // namespace

bool IsCold(const llvm::Function& function) {
  return function.getFnAttribute(kPartAttribute).getValueAsString() == kCold;
}

void SpareCold(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!IsPartOfItsOwn(function) || !IsCold(function)) continue;
    function.addFnAttr(llvm::Attribute::OptimizeNone);
    function.addFnAttr(llvm::Attribute::NoInline);
  }
}

ModuleCut PlanCut(const llvm::Module& module, int threads) {
  std::vector<Weighed> hot, cold;
  int64_t hot_instructions = 0, cold_instructions = 0;
  for (const llvm::Function& function : module) {
    if (!IsPartOfItsOwn(function)) continue;
    const auto count = static_cast<int64_t>(function.getInstructionCount());
    (IsCold(function) ? cold : hot).push_back({count, &function});
    (IsCold(function) ? cold_instructions : hot_instructions) += count;
  }
  ModuleCut cut;
  cut.all_cold = hot.empty();
  if (hot.empty() || HasVariables(module)) return cut;
  if (cold_instructions < kWorthAnObject) {
    hot.insert(hot.end(), cold.begin(), cold.end());
    hot_instructions += cold_instructions;
    cold.clear();
  }
  const int64_t parts = std::clamp<int64_t>(hot_instructions / kWorthAThread, 1,
                                            std::min<int64_t>(std::max(1, threads), kMostParts));
  if (parts == 1 && cold.empty()) return cut;
  // The largest first, each to whom has least; the last part's thread makes the cold one as well.
  std::stable_sort(hot.begin(), hot.end(), [](const Weighed& a, const Weighed& b) {
    return a.instructions > b.instructions;
  });
  std::vector<int64_t> load(parts, 0);
  load.back() = cold.empty() ? 0 : cold_instructions / kHotWeight;
  cut.hot.resize(parts);
  for (const Weighed& each : hot) {
    const auto least = std::min_element(load.begin(), load.end()) - load.begin();
    load[least] += each.instructions;
    cut.hot[least].push_back(each.function->getName().str());
  }
  for (const Weighed& each : cold) cut.cold.push_back(each.function->getName().str());
  std::erase_if(cut.hot, [](const std::vector<std::string>& part) { return part.empty(); });
  return cut;
}

void ExportParts(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (IsPartOfItsOwn(function)) function.setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
}

void KeepPart(llvm::Module& module, const std::vector<std::string>& functions) {
  absl::flat_hash_set<const llvm::Function*> part;
  for (const std::string& name : functions) AddWithHelpers(*module.getFunction(name), part);
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() && !part.contains(&function)) function.deleteBody();
  }
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
  }
  for (llvm::GlobalVariable& data : llvm::make_early_inc_range(module.globals())) {
    if (data.use_empty()) data.eraseFromParent();
  }
}

}  // namespace assay
