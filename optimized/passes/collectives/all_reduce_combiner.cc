// Collects all-reduces that agree in what they do, in groups of which no member needs another.
#include "optimized/passes/collectives/all_reduce_combiner.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

// Larger ones gain nothing: the time of their bytes hides that of the meeting.
constexpr int64_t kSmallBytes = 1 << 20;
constexpr size_t kMostMembers = 256;

bool IsSmallSum(const Instruction& inst) {
  return inst.opcode() == Opcode::kAllReduce && inst.operand_count() == 1 && IsPlain(inst) &&
         !inst.attributes().Has(Attr::kChannelId) && inst.shape().IsArray() &&
         inst.shape().layout() == inst.operand(0)->shape().layout() &&
         inst.shape().ElementCount() * 16 <= kSmallBytes;
}

// The attributes that say what an all-reduce does, without those that name it.
Attributes Meaning(const Instruction& all_reduce) {
  Attributes attributes = all_reduce.attributes();
  attributes.Remove(Attr::kCollectiveTag);
  attributes.Remove(Attr::kMetadata);
  return attributes;
}

bool Agree(const Instruction& a, const Instruction& b) {
  return a.shape().element_type() == b.shape().element_type() && Meaning(a) == Meaning(b) &&
         a.callee()->Equal(*b.callee());
}

// True if `inst` is computed from one of `sources`.
bool DependsOn(const Instruction* inst, const std::vector<Instruction*>& sources) {
  const absl::flat_hash_set<const Instruction*> goals(sources.begin(), sources.end());
  absl::flat_hash_set<const Instruction*> seen = {inst};
  std::vector<const Instruction*> open = {inst};
  while (!open.empty()) {
    const Instruction* at = open.back();
    open.pop_back();
    for (const auto needed : {at->operands(), at->control_predecessors()}) {
      for (const Instruction* before : needed) {
        if (goals.contains(before)) return true;
        if (seen.insert(before).second) open.push_back(before);
      }
    }
  }
  return false;
}

using Group = std::vector<Instruction*>;

// The first of `waiting`, which are in post-order, with all that can join it; the others stay.
Group TakeGroup(std::vector<Instruction*>& waiting) {
  Group group = {waiting[0]};
  std::vector<Instruction*> others;
  for (Instruction* inst : absl::MakeConstSpan(waiting).subspan(1)) {
    const bool joins =
        group.size() < kMostMembers && Agree(*group[0], *inst) && !DependsOn(inst, group);
    (joins ? group : others).push_back(inst);
  }
  waiting = std::move(others);
  return group;
}

void Combine(const Group& group) {
  Computation* computation = group[0]->parent();
  std::vector<Instruction*> operands;
  std::vector<Shape> shapes;
  for (const Instruction* member : group) {
    operands.push_back(member->operand(0));
    shapes.push_back(member->shape());
  }
  Instruction* all = computation->Add(Opcode::kAllReduce, Shape::Tuple(shapes), operands,
                                      group[0]->attributes(), group[0]->callees());
  for (size_t k = 0; k < group.size(); ++k) {
    group[k]->ReplaceAllUsesWith(AddElement(computation, all, static_cast<int64_t>(k)));
    computation->Remove(group[k]);
  }
}

// One group after another: what is combined ties together what did not need each other before.
bool CombineAll(Computation* computation, Gates& gates) {
  std::vector<Instruction*> waiting;
  for (Instruction* inst : computation->InPostOrder())
    if (IsSmallSum(*inst)) waiting.push_back(inst);
  bool changed = false;
  while (!waiting.empty()) {
    const Group group = TakeGroup(waiting);
    if (group.size() < 2 ||
        !gates.Allow(DecisionKind::kRewrite, "combine-small-all-reduces", group[0]))
      continue;
    Combine(group);
    changed = true;
    const absl::flat_hash_set<const Instruction*> left(waiting.begin(), waiting.end());
    waiting.clear();
    for (Instruction* inst : computation->InPostOrder())
      if (left.contains(inst)) waiting.push_back(inst);
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> AllReduceCombiner::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kAllReduce})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module))
    changed |= CombineAll(computation, context.gates);
  return changed;
}

}  // namespace assay
