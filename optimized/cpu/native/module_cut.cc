// Weighs functions by the number of their instructions and deals them out.
#include "optimized/cpu/native/module_cut.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "llvm/Bitcode/BitcodeReader.h"

namespace assay {
namespace {

// Instructions for which a thread of their own is worth its start, and cold ones for which an
// object of their own is.
constexpr int64_t kWorthAThread = 150;
constexpr int64_t kWorthAnObject = 400;
constexpr int64_t kMostThreads = 16;
// The size of a part, so that its work stays in the caches. Each part has its own copy of the
// helpers.
constexpr int64_t kMostInstructions = 20000;
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

// The helpers that a function refers to.
template <typename Visit>
void ForEachHelper(const llvm::Function& function, const Visit& visit) {
  for (const llvm::BasicBlock& block : function) {
    for (const llvm::Instruction& instruction : block) {
      for (const llvm::Use& use : instruction.operands()) {
        auto* helper = llvm::dyn_cast<llvm::Function>(use.get()->stripPointerCasts());
        if (helper == nullptr || helper->isDeclaration() || IsPartOfItsOwn(*helper)) continue;
        visit(*helper);
      }
    }
  }
}

// Instructions of functions once helpers stand where they are called, if they will.
class Scale {
 public:
  int64_t Weigh(const llvm::Function& function) {
    const auto [at, is_new] = known_.try_emplace(&function, 0);
    if (!is_new) return at->second;
    auto weight = static_cast<int64_t>(function.getInstructionCount());
    ForEachHelper(function, [&](const llvm::Function& helper) {
      if (helper.hasFnAttribute(llvm::Attribute::AlwaysInline)) weight += Weigh(helper);
    });
    return known_[&function] = weight;
  }

 private:
  absl::flat_hash_map<const llvm::Function*, int64_t> known_;
};

// Deals functions, the largest first, each to the part that has least.
std::vector<CodePart> Deal(std::vector<Weighed> functions, int64_t parts, bool is_cold,
                           int64_t head_start) {
  std::stable_sort(functions.begin(), functions.end(), [](const Weighed& a, const Weighed& b) {
    return a.instructions > b.instructions;
  });
  std::vector<CodePart> dealt(parts);
  for (CodePart& part : dealt) part.is_cold = is_cold;
  dealt.back().work = head_start;
  const auto has_more = [](const CodePart* a, const CodePart* b) { return a->work > b->work; };
  std::vector<CodePart*> heap;
  for (CodePart& part : dealt) heap.push_back(&part);
  std::make_heap(heap.begin(), heap.end(), has_more);
  for (const Weighed& each : functions) {
    std::pop_heap(heap.begin(), heap.end(), has_more);
    heap.back()->work += each.instructions;
    heap.back()->functions.push_back(each.function->getName().str());
    std::push_heap(heap.begin(), heap.end(), has_more);
  }
  dealt.back().work -= head_start;
  if (is_cold) {
    for (CodePart& part : dealt) part.work /= kHotWeight;
  }
  std::erase_if(dealt, [](const CodePart& part) { return part.functions.empty(); });
  return dealt;
}

int64_t PartsOf(int64_t instructions) {
  return (instructions + kMostInstructions - 1) / kMostInstructions;
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
  Scale scale;
  std::vector<Weighed> hot, cold;
  int64_t hot_instructions = 0, cold_instructions = 0;
  for (const llvm::Function& function : module) {
    if (!IsPartOfItsOwn(function)) continue;
    const int64_t count = scale.Weigh(function);
    (IsCold(function) ? cold : hot).push_back({count, &function});
    (IsCold(function) ? cold_instructions : hot_instructions) += count;
  }
  ModuleCut cut;
  cut.all_cold = hot.empty();
  if (HasVariables(module)) return cut;
  if (!hot.empty() && cold_instructions < kWorthAnObject) {
    hot.insert(hot.end(), cold.begin(), cold.end());
    hot_instructions += std::exchange(cold_instructions, 0);
    cold.clear();
  }
  const int64_t most = std::min<int64_t>(std::max(1, threads), kMostThreads);
  const int64_t hot_parts = std::max(std::clamp<int64_t>(hot_instructions / kWorthAThread, 1, most),
                                     PartsOf(hot_instructions));
  const int64_t cold_parts = PartsOf(cold_instructions);
  if (hot.empty() ? cold_parts <= 1 : hot_parts == 1 && cold.empty()) return cut;
  if (!hot.empty()) {
    // If each part has a thread, that of the last one makes the cold code as well.
    const int64_t head_start = hot_parts <= most ? cold_instructions / kHotWeight : 0;
    cut.parts = Deal(std::move(hot), hot_parts, /*is_cold=*/false, head_start);
  }
  if (!cold.empty()) {
    for (CodePart& part : Deal(std::move(cold), cold_parts, /*is_cold=*/true, 0)) {
      cut.parts.push_back(std::move(part));
    }
  }
  std::stable_sort(cut.parts.begin(), cut.parts.end(),
                   [](const CodePart& a, const CodePart& b) { return a.work > b.work; });
  return cut;
}

void ExportParts(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (IsPartOfItsOwn(function)) function.setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
}

llvm::Expected<std::unique_ptr<llvm::Module>> ReadPart(llvm::MemoryBufferRef bitcode,
                                                       const CodePart& part,
                                                       llvm::LLVMContext& context) {
  auto read = llvm::getLazyBitcodeModule(bitcode, context);
  if (!read) return read.takeError();
  llvm::Module& module = **read;
  absl::flat_hash_set<const llvm::Function*> kept;
  std::vector<llvm::Function*> todo;
  for (const std::string& name : part.functions) todo.push_back(module.getFunction(name));
  while (!todo.empty()) {
    llvm::Function& function = *todo.back();
    todo.pop_back();
    if (!kept.insert(&function).second) continue;
    if (llvm::Error failed = function.materialize()) return failed;
    ForEachHelper(function, [&](llvm::Function& helper) { todo.push_back(&helper); });
  }
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() && !kept.contains(&function)) function.deleteBody();
  }
  if (llvm::Error failed = module.materializeAll()) return failed;
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
  }
  for (llvm::GlobalVariable& data : llvm::make_early_inc_range(module.globals())) {
    if (data.use_empty()) data.eraseFromParent();
  }
  return read;
}

}  // namespace assay
