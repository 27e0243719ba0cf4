// Finds the peak on a line of time, and recomputes what lies across it.
#include "optimized/passes/memory/rematerialization.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "optimized/passes/memory/memory_scheduler.h"
#include "optimized/passes/util/module_util.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

// Each step looks at the whole computation: the steps end when so many instructions have been
// looked at, which takes a second or two.
constexpr int64_t kMostLooks = 10'000'000;

// A few operations per element, and nothing that is read twice to make one.
bool IsCheapOp(const Instruction& inst) {
  switch (inst.opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kIota:
    case Opcode::kConvert:
    case Opcode::kSlice:
    case Opcode::kTranspose:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kConstant:
    case Opcode::kParameter:
      return true;
    default:
      return Info(inst.opcode()).Is(kElementwise);
  }
}

bool IsCheap(const Instruction& inst) {
  if (!inst.shape().IsArray() || IsAlwaysThere(inst) || OnlyRenames(inst)) return false;
  if (!inst.control_predecessors().empty() || !inst.control_successors().empty()) return false;
  if (inst.opcode() != Opcode::kFusion) return inst.callees().empty() && IsCheapOp(inst);
  return absl::c_all_of(*inst.callee(), [](const Instruction* inner) {
    return inner->callees().empty() && IsCheapOp(*inner);
  });
}

// False of a few bytes: how values are packed matters more.
bool IsWorthIt(int64_t bytes, int64_t peak) { return bytes >= 4096 || bytes >= peak / 16; }

// The values of a computation in the order of running: when each is made, and who reads it. What
// lies in arguments, constants and results is not on it.
class Timeline {
 public:
  struct Value {
    int made = 0;
    absl::InlinedVector<int, 4> readers;  // in order
    int64_t bytes = 0;
  };

  Timeline(const InstructionOrder& order, const absl::flat_hash_map<Computation*, int64_t>& below) {
    values_.reserve(order.size());
    for (size_t t = 0; t < order.size(); ++t) Add(*order[t], static_cast<int>(t));
    ForEachSource(order[0]->parent()->root(),
                  [&](const Instruction* source) { values_.erase(source); });
    Sum(order, below);
  }

  int64_t peak() const { return peak_; }
  int at() const { return at_; }  // where it is, for the first time
  int64_t times() const { return times_; }
  const Value* Find(const Instruction* inst) const {
    const auto found = values_.find(inst);
    return found == values_.end() ? nullptr : &found->second;
  }

  // Calls f with each value that is read where `inst` is.
  template <typename F>
  void ForEachSource(const Instruction* inst, const F& f) const {
    if (OnlyRenames(*inst)) {
      for (const Instruction* source : renamed_.at(inst)) f(source);
    } else if (!IsAlwaysThere(*inst)) {
      f(inst);
    }
  }

  // The bytes that are not there at the peak any more if `value` is made behind it. Those of
  // operands that are dead by then are there instead.
  int64_t GainOf(const Instruction& value) const {
    int64_t gain = Find(&value)->bytes;
    absl::flat_hash_set<const Instruction*> seen;
    for (const Instruction* operand : value.operands()) {
      ForEachSource(operand, [&](const Instruction* source) {
        const Value* of = Find(source);
        const bool is_dead = of != nullptr && of->readers.back() < at_;
        if (is_dead && seen.insert(source).second) gain -= of->bytes;
      });
    }
    return gain;
  }

 private:
  void Add(const Instruction& inst, int time) {
    const bool renames = OnlyRenames(inst);
    std::vector<const Instruction*> sources;
    for (const Instruction* operand : inst.operands()) {
      ForEachSource(operand, [&](const Instruction* source) {
        if (renames) {
          if (!absl::c_linear_search(sources, source)) sources.push_back(source);
        } else if (auto& readers = values_.at(source).readers;
                   readers.empty() || readers.back() != time) {
          readers.push_back(time);
        }
      });
    }
    if (renames) {
      renamed_[&inst] = std::move(sources);
    } else if (!IsAlwaysThere(inst)) {
      Value& value = values_[&inst];
      value.made = time;
      value.bytes = inst.shape().ByteSize();
    }
  }

  void Sum(const InstructionOrder& order, const absl::flat_hash_map<Computation*, int64_t>& below) {
    std::vector<int64_t> change(order.size() + 1, 0);
    for (const auto& [inst, value] : values_) {
      const int last = value.readers.empty() ? value.made : value.readers.back();
      change[value.made] += value.bytes;
      change[last + 1] -= value.bytes;
    }
    int64_t alive = 0;
    for (size_t t = 0; t < order.size(); ++t) {
      alive += change[t];
      int64_t inside = 0;
      for (Computation* callee : order[t]->callees()) {
        const auto found = below.find(callee);
        if (found != below.end()) inside = std::max(inside, found->second);
      }
      if (alive + inside > peak_) {
        peak_ = alive + inside;
        at_ = static_cast<int>(t);
        times_ = 0;
      }
      times_ += alive + inside == peak_;
    }
  }

  absl::flat_hash_map<const Instruction*, std::vector<const Instruction*>> renamed_;
  absl::flat_hash_map<const Instruction*, Value> values_;
  int64_t peak_ = 0, times_ = 0;
  int at_ = 0;
};

class Rematerializer {
 public:
  Rematerializer(Module& module, PassContext& context)
      : context_(context), purity_(module), is_scheduled_(module.has_schedule()) {
    for (Computation* computation : UnitComputations(module)) {
      InstructionOrder order = computation->PostOrder();
      if (is_scheduled_) order.assign(computation->begin(), computation->end());
      orders_[computation] = std::move(order);
      peaks_[computation] = Timeline(orders_[computation], peaks_).peak();
    }
  }

  int64_t PeakOf(Computation* computation) const { return peaks_.at(computation); }
  int64_t steps() const { return steps_; }
  // There may be more to gain, but it would take too long.
  bool IsOver() const { return looks_ > kMostLooks; }

  // Lowers the peak of the computation and of what it runs, to `limit` if that can be.
  void Lower(Computation* computation, int64_t limit) {
    if (peaks_.at(computation) <= limit) return;
    InstructionOrder& order = orders_.at(computation);
    RenameLate(order);
    absl::flat_hash_set<const Instruction*> tried;
    Timeline timeline = LookAt(order);
    while (true) {
      peaks_[computation] = timeline.peak();
      if (timeline.peak() <= limit || IsOver()) return;
      if (Instruction* value = Best(order, timeline, tried)) {
        tried.insert(value);
        TryStep(computation, value, timeline);
      } else if (LowerBelow(*order[timeline.at()], timeline.peak() - limit)) {
        timeline = LookAt(order);
      } else {
        return;
      }
    }
  }

  void Store(Module& module) const {
    for (Computation* computation : module.computations()) {
      const auto found = orders_.find(computation);
      const InstructionOrder order =
          found == orders_.end() ? computation->PostOrder() : found->second;
      for (size_t i = order.size() - 1; i-- > 0;) computation->MoveBefore(order[i], order[i + 1]);
    }
    module.config().is_scheduled = true;
  }

 private:
  Timeline LookAt(const InstructionOrder& order) {
    looks_ += static_cast<int64_t>(order.size());
    return Timeline(order, peaks_);
  }

  // Moves renamings in front of their first readers, so that readers are met where they read.
  static void RenameLate(InstructionOrder& order) {
    const Instruction* root = order[0]->parent()->root();
    absl::flat_hash_set<const Instruction*> waiting;
    InstructionOrder late;
    const auto emit = [&](auto& self, Instruction* inst) -> void {
      for (Instruction* operand : inst->operands()) {
        if (waiting.erase(operand) > 0) self(self, operand);
      }
      late.push_back(inst);
    };
    for (Instruction* inst : order) {
      const bool may_wait = OnlyRenames(*inst) && inst != root && !inst->users().empty() &&
                            inst->control_predecessors().empty() &&
                            inst->control_successors().empty();
      if (may_wait) {
        waiting.insert(inst);
      } else {
        emit(emit, inst);
      }
    }
    for (Instruction* inst : order) {
      if (waiting.erase(inst) > 0) emit(emit, inst);
    }
    order = std::move(late);
  }

  // The largest value across the peak that nobody reads there; the first one made of several.
  Instruction* Best(const InstructionOrder& order, const Timeline& timeline,
                    const absl::flat_hash_set<const Instruction*>& tried) const {
    Instruction* best = nullptr;
    int64_t most = 0;
    for (int t = 0; t < timeline.at(); ++t) {
      Instruction* inst = order[t];
      const Timeline::Value* value = timeline.Find(inst);
      if (value == nullptr || value->readers.empty() || value->readers.back() <= timeline.at() ||
          value->bytes <= most || !IsWorthIt(value->bytes, timeline.peak()) ||
          tried.contains(inst) || absl::c_linear_search(value->readers, timeline.at()) ||
          !IsCheap(*inst) || !purity_.IsPure(*inst) || timeline.GainOf(*inst) <= 0) {
        continue;
      }
      best = inst;
      most = value->bytes;
    }
    return best;
  }

  // Computes `value` again in front of its first user behind the peak; takes that back where the
  // peak is not lower, or as high at fewer places.
  void TryStep(Computation* computation, Instruction* value, Timeline& timeline) {
    InstructionOrder& order = orders_.at(computation);
    const absl::flat_hash_set<const Instruction*> users(value->users().begin(),
                                                        value->users().end());
    const auto first = std::find_if(order.begin() + timeline.at() + 1, order.end(),
                                    [&](Instruction* inst) { return users.contains(inst); });
    if (first == order.end() ||
        !context_.gates.Allow(DecisionKind::kBuffer, "rematerialize", value)) {
      return;
    }
    Instruction* again = AddAgain(computation, value);
    for (auto at = first; at != order.end(); ++at) {
      for (int64_t k = 0; users.contains(*at) && k < (*at)->operand_count(); ++k) {
        if ((*at)->operand(k) == value) (*at)->ReplaceOperand(k, again);
      }
    }
    Instruction* reader = *first;
    InstructionOrder tried = order;
    tried.insert(tried.begin() + (first - order.begin()), again);
    Timeline after = LookAt(tried);
    const bool is_better = after.peak() < timeline.peak() ||
                           (after.peak() == timeline.peak() && after.times() < timeline.times());
    if (is_better) {
      order = std::move(tried);
      timeline = std::move(after);
      ++steps_;
      Explain(*value, *reader);
      return;
    }
    again->ReplaceAllUsesWith(value);
    computation->Remove(again);
  }

  Instruction* AddAgain(Computation* computation, const Instruction* value) const {
    const std::vector<Computation*> callees(value->callees().begin(), value->callees().end());
    std::vector<Instruction*> operands(value->operands().begin(), value->operands().end());
    for (size_t k = 0; k < operands.size(); ++k) {
      const int64_t at =
          context_.gates.Number("rematerialize/operand", value, static_cast<int64_t>(k));
      const bool is_legal = at >= 0 && at < value->operand_count() &&
                            value->operand(at)->shape() == operands[k]->shape();
      if (is_legal) operands[k] = value->operand(at);
    }
    return computation->Add(value->opcode(), value->shape(), operands, value->attributes(), callees,
                            StrCat(value->name(), ".remat"));
  }

  void Explain(const Instruction& value, const Instruction& reader) const {
    if (!context_.options.explain) return;
    context_.options.explain(StrCat(value.name(), ": computed again before ", reader.name(), ", ",
                                    value.shape().ByteSize(), " bytes"));
  }

  // The peak is in a loop, a branch or a call: lowers those.
  bool LowerBelow(const Instruction& inst, int64_t excess) {
    bool is_lower = false;
    for (Computation* callee : inst.callees()) {
      const auto before = peaks_.find(callee);
      if (before == peaks_.end() || before->second == 0) continue;
      const int64_t old = before->second;
      Lower(callee, std::max<int64_t>(0, old - excess));
      is_lower |= peaks_.at(callee) < old;
    }
    return is_lower;
  }

  PassContext& context_;
  const Purity purity_;
  const bool is_scheduled_;
  absl::flat_hash_map<Computation*, InstructionOrder> orders_;
  absl::flat_hash_map<Computation*, int64_t> peaks_;  // of values, with those of what is run
  int64_t steps_ = 0;
  int64_t looks_ = 0;  // at instructions
};

// Arguments, results and constants, which are there all the time.
int64_t BytesAlwaysThere(const Module& module) {
  int64_t bytes = module.entry()->root()->shape().ByteSize();
  for (const Instruction* parameter : module.entry()->parameters()) {
    bytes += parameter->shape().ByteSize();
  }
  for (const Computation* computation : UnitComputations(module)) {
    for (const Instruction* inst : *computation) {
      if (inst->opcode() == Opcode::kConstant) bytes += inst->shape().ByteSize();
    }
  }
  return bytes;
}

// True if all values have room side by side.
bool HasRoomForAll(const Module& module, int64_t limit) {
  double bytes = 0;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* inst : *computation) {
      bytes += static_cast<double>(inst->shape().ByteSize());
    }
  }
  return bytes <= static_cast<double>(limit);
}

}  // namespace

absl::StatusOr<bool> Rematerialization::Run(Module& module, PassContext& context) {
  const int64_t limit = context.options.memory_limit;
  if (limit < 0 || HasRoomForAll(module, limit)) return false;
  const int64_t always = BytesAlwaysThere(module);
  Rematerializer rematerializer(module, context);
  const int64_t before = rematerializer.PeakOf(module.entry());
  rematerializer.Lower(module.entry(), limit - always);
  const int64_t after = rematerializer.PeakOf(module.entry());
  if (context.options.explain) {
    context.options.explain(StrCat("peak ", before + always, " bytes, ", after + always,
                                   " afterwards, ", rematerializer.steps(),
                                   " computed again; the limit is ", limit,
                                   rematerializer.IsOver() ? "; the search was ended" : ""));
  }
  if (rematerializer.steps() == 0) return false;
  rematerializer.Store(module);
  return true;
}

}  // namespace assay
