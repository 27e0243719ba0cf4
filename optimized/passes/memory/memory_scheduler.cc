// Makes a list schedule and a depth-first one, and takes the one that needs the least memory.
#include "optimized/passes/memory/memory_scheduler.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/passes/util/module_util.h"

namespace assay {
namespace {

// A list schedule looks at what is ready before each step; larger computations keep their order.
constexpr int64_t kMostInstructions = 20'000;

// True of ops that buffer assignment may let write over an operand.
bool MayReuse(const Instruction& inst) {
  switch (inst.opcode()) {
    case Opcode::kFusion:
    case Opcode::kWhile:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kScatter:
      return true;
    default:
      return IsElementwise(inst.opcode());
  }
}

// The instructions whose values an instruction reads, through what only renames them.
class Sources {
 public:
  explicit Sources(const Computation& computation) {
    for (const Instruction* inst : computation.PostOrder()) Add(*inst);
  }
  const std::vector<const Instruction*>& Of(const Instruction* inst) const { return of_.at(inst); }
  // The values that the instruction reads.
  std::vector<const Instruction*> ReadBy(const Instruction& inst) const {
    std::vector<const Instruction*> read;
    for (const Instruction* operand : inst.operands())
      for (const Instruction* source : Of(operand))
        if (!absl::c_linear_search(read, source)) read.push_back(source);
    return read;
  }

 private:
  void Add(const Instruction& inst) {
    std::vector<const Instruction*>& sources = of_[&inst];
    if (!OnlyRenames(inst)) {
      if (!IsAlwaysThere(inst)) sources.push_back(&inst);
      return;
    }
    for (const Instruction* operand : inst.operands()) {
      for (const Instruction* source : of_.at(operand))
        if (!absl::c_linear_search(sources, source)) sources.push_back(source);
    }
  }

  absl::flat_hash_map<const Instruction*, std::vector<const Instruction*>> of_;
};

// The values that are alive while instructions run one after the other.
class LiveMemory {
 public:
  explicit LiveMemory(const Computation& computation) : sources_(computation) {
    for (const Instruction* inst : computation.PostOrder())
      for (const Instruction* source : ReadBy(*inst)) ++readers_[source];
    for (const Instruction* source : sources_.Of(computation.root())) results_.insert(source);
  }
  // Bytes that are alive after the instruction, less those before it.
  int64_t Growth(const Instruction& inst) const {
    int64_t growth = BytesOf(inst);
    for (const Instruction* source : ReadBy(inst))
      if (readers_.at(source) == 1) growth -= BytesOf(*source);
    return growth;
  }
  void Run(const Instruction& inst) {
    const int64_t made = BytesOf(inst);
    int64_t freed = 0, reused = 0;
    for (const Instruction* source : ReadBy(inst)) {
      if (--readers_[source] > 0) continue;
      const int64_t bytes = BytesOf(*source);
      freed += bytes;
      // The result may take the place of a value of its size that dies.
      if (bytes == made && MayReuse(inst)) reused = made;
    }
    peak_.plain = std::max(peak_.plain, alive_ + made);
    peak_.reusing = std::max(peak_.reusing, alive_ + made - reused);
    alive_ += made - freed;
    if (made > 0 && readers_[&inst] == 0) alive_ -= made;
  }
  PeakMemory peak() const { return peak_; }
  // The bytes of the value that the instruction makes. Results have places of their own from the
  // beginning.
  int64_t BytesOf(const Instruction& inst) const {
    const bool is_placed = OnlyRenames(inst) || IsAlwaysThere(inst) || results_.contains(&inst);
    return is_placed ? 0 : inst.shape().ByteSize();
  }

 private:
  // Renaming reads nothing itself; its readers read the values behind it.
  std::vector<const Instruction*> ReadBy(const Instruction& inst) const {
    return OnlyRenames(inst) ? std::vector<const Instruction*>() : sources_.ReadBy(inst);
  }

  Sources sources_;
  absl::flat_hash_set<const Instruction*> results_;
  absl::flat_hash_map<const Instruction*, int64_t> readers_;
  int64_t alive_ = 0;
  PeakMemory peak_;
};

// For each instruction of a computation what must come before it.
class Dependencies {
 public:
  Dependencies(const InstructionOrder& trivial, const Purity& purity) {
    Instruction* effect = nullptr;
    for (Instruction* inst : trivial) {
      std::vector<Instruction*>& before = of_[inst];
      before.assign(inst->operands().begin(), inst->operands().end());
      before.insert(before.end(), inst->control_predecessors().begin(),
                    inst->control_predecessors().end());
      if (purity.IsPure(*inst)) continue;
      if (effect != nullptr) before.push_back(effect);
      effect = inst;
    }
  }
  std::vector<Instruction*>& Of(const Instruction* inst) { return of_.at(inst); }

 private:
  absl::flat_hash_map<const Instruction*, std::vector<Instruction*>> of_;
};

// Chooses the next instruction step by step.
class ListSchedule {
 public:
  ListSchedule(const Computation& computation, const Purity& purity)
      : trivial_(computation.PostOrder()), memory_(computation) {
    Dependencies dependencies(trivial_, purity);
    for (size_t i = 0; i < trivial_.size(); ++i) {
      number_[trivial_[i]] = static_cast<int64_t>(i);
      for (const Instruction* before : dependencies.Of(trivial_[i])) {
        ++waits_for_[trivial_[i]];
        waiting_[before].push_back(trivial_[i]);
      }
    }
  }

  InstructionOrder Make() {
    for (Instruction* inst : trivial_)
      if (waits_for_[inst] == 0) ready_.insert(number_.at(inst));
    InstructionOrder order;
    while (!ready_.empty()) {
      Instruction* next = Next();
      ready_.erase(number_.at(next));
      memory_.Run(*next);
      order.push_back(next);
      for (Instruction* waiting : waiting_[next])
        if (--waits_for_[waiting] == 0) ready_.insert(number_.at(waiting));
    }
    return order;
  }

 private:
  // Looks at the first few that are ready: what lies far behind may wait.
  Instruction* Next() const {
    constexpr int kMostLookedAt = 64;
    Instruction* best = nullptr;
    int64_t least = 0;
    int looked_at = 0;
    for (int64_t number : ready_) {
      Instruction* inst = trivial_[static_cast<size_t>(number)];
      const int64_t growth = memory_.Growth(*inst);
      if (best == nullptr || growth < least) {
        best = inst;
        least = growth;
      }
      if (++looked_at == kMostLookedAt) break;
    }
    return best;
  }

  InstructionOrder trivial_;
  LiveMemory memory_;
  absl::flat_hash_map<const Instruction*, int64_t> number_, waits_for_;
  absl::flat_hash_map<const Instruction*, std::vector<Instruction*>> waiting_;
  std::set<int64_t> ready_;
};

// Walks from the root, into the operand first that needs the most memory beyond what it leaves
// (Sethi and Ullman's numbers, as if every value had one reader).
class DepthFirstSchedule {
 public:
  DepthFirstSchedule(const Computation& computation, const Purity& purity)
      : trivial_(computation.PostOrder()),
        memory_(computation),
        dependencies_(trivial_, purity),
        root_(computation.root()) {
    for (const Instruction* inst : trivial_) Weigh(*inst);
  }

  InstructionOrder Make() {
    Visit(root_);
    for (Instruction* inst : trivial_) Visit(inst);
    return std::move(order_);
  }

 private:
  struct Weight {
    int64_t needed = 0;  // bytes that are alive at once on the way to the value
    int64_t left = 0;    // bytes of the value itself
    int64_t Surplus() const { return needed - left; }
  };

  void Weigh(const Instruction& inst) {
    std::vector<Instruction*>& before = dependencies_.Of(&inst);
    std::stable_sort(before.begin(), before.end(), [this](Instruction* a, Instruction* b) {
      return weights_.at(a).Surplus() > weights_.at(b).Surplus();
    });
    Weight& weight = weights_[&inst];
    int64_t held = 0;
    for (const Instruction* operand : before) {
      weight.needed = std::max(weight.needed, held + weights_.at(operand).needed);
      held += weights_.at(operand).left;
    }
    const int64_t own = memory_.BytesOf(inst);
    weight.left = OnlyRenames(inst) ? held : own;
    weight.needed = std::max(weight.needed, held + own);
  }

  void Visit(Instruction* first) {
    std::vector<std::pair<Instruction*, size_t>> open = {{first, 0}};
    if (!seen_.insert(first).second) return;
    while (!open.empty()) {
      auto& [inst, next] = open.back();
      const std::vector<Instruction*>& before = dependencies_.Of(inst);
      if (next == before.size()) {
        order_.push_back(inst);
        open.pop_back();
      } else if (Instruction* operand = before[next++]; seen_.insert(operand).second) {
        open.emplace_back(operand, 0);
      }
    }
  }

  InstructionOrder trivial_, order_;
  LiveMemory memory_;
  Dependencies dependencies_;
  Instruction* root_;
  absl::flat_hash_map<const Instruction*, Weight> weights_;
  absl::flat_hash_set<const Instruction*> seen_;
};

void Store(Computation& computation, const InstructionOrder& order) {
  for (size_t i = order.size() - 1; i-- > 0;) computation.MoveBefore(order[i], order[i + 1]);
}

}  // namespace

bool OnlyRenames(const Instruction& inst) {
  switch (inst.opcode()) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kReshape:
    case Opcode::kOptBarrier:
    case Opcode::kAfterAll:
    case Opcode::kDomain:
      return true;
    default:
      return false;
  }
}

bool IsAlwaysThere(const Instruction& inst) {
  return inst.opcode() == Opcode::kParameter || inst.opcode() == Opcode::kConstant;
}

PeakMemory PeakOf(const InstructionOrder& order) {
  if (order.empty()) return {};
  LiveMemory memory(*order[0]->parent());
  for (const Instruction* inst : order) memory.Run(*inst);
  return memory.peak();
}

InstructionOrder LeastMemoryOrder(const Computation& computation, const Purity& purity) {
  InstructionOrder best = computation.PostOrder();
  PeakMemory least = PeakOf(best);
  InstructionOrder orders[] = {ListSchedule(computation, purity).Make(),
                               DepthFirstSchedule(computation, purity).Make()};
  for (InstructionOrder& order : orders) {
    const PeakMemory peak = PeakOf(order);
    if (!peak.IsBetterThan(least)) continue;
    least = peak;
    best = std::move(order);
  }
  return best;
}

absl::StatusOr<bool> MemoryScheduler::Run(Module& module, PassContext& context) {
  const Purity purity(module);
  absl::flat_hash_map<const Computation*, InstructionOrder> better;
  for (Computation* computation : UnitComputations(module)) {
    if (computation->instruction_count() > kMostInstructions) continue;
    InstructionOrder order = LeastMemoryOrder(*computation, purity);
    if (order == computation->PostOrder()) continue;
    if (context.gates.Allow(DecisionKind::kBuffer, "schedule-for-memory", computation->root()))
      better[computation] = std::move(order);
  }
  if (better.empty()) return false;
  for (Computation* computation : module.computations()) {
    const auto found = better.find(computation);
    Store(*computation, found == better.end() ? computation->PostOrder() : found->second);
  }
  module.config().is_scheduled = true;
  return true;
}

}  // namespace assay
