// Decides producer by producer whether it moves into the loops of its consumers.
#include "optimized/passes/fusion/loop_fusion.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/passes/util/fusible.h"
#include "optimized/passes/util/module_util.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr size_t kMaxFusionSize = 64;  // instructions in one fusion that compute something
constexpr size_t kMaxOutputs = 8;      // that one fusion stores beside its root
constexpr size_t kMaxDuplicates = 8;   // of them, how many are computed elsewhere too
constexpr size_t kMaxUsers = 256;  // of an instruction that is fused; more are not looked through
constexpr double kMaxRepeats = 4;  // how often one instruction is emitted into one fusion

bool IsPlainReduce(const Instruction& inst) {
  const auto is_plain = [](const Shape& shape) {
    return shape.IsArray() && !shape.HasDynamicDimension() && HasPlainMemory(shape) &&
           !IsComplex(shape.element_type());
  };
  bool plain = inst.control_predecessors().empty() && inst.control_successors().empty();
  ForEachLeaf(inst.shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    plain = plain && is_plain(leaf);
  });
  return plain && std::all_of(inst.operands().begin(), inst.operands().end(),
                              [&](const Instruction* o) { return is_plain(o->shape()); });
}

bool CanBeRoot(const Instruction& inst, const Purity& purity) {
  if (inst.opcode() == Opcode::kConstant || inst.opcode() == Opcode::kIota) return false;
  // A reduce of several arrays may join as well: their results are made together.
  if (inst.opcode() == Opcode::kReduce) return IsPlainReduce(inst) && purity.IsPure(inst);
  return IsFusible(inst, purity);
}

double Elements(const Instruction& inst) {
  return static_cast<double>(std::max<int64_t>(inst.shape().ElementCount(), 1));
}

// One instruction as it stands in a fusion.
struct Member {
  bool exclusive = true;   // nobody outside reads it
  double repeats = 1;      // how often its code is emitted
  double evaluations = 1;  // how many elements of it are computed, estimated
  int index_space = 0;     // instructions in one space are read at one index
};

struct Group {
  Instruction* root = nullptr;
  std::vector<Instruction*> members;  // root first, users before operands
  std::vector<Instruction*> outputs;  // members that are stored too, users before operands
};

class Planner {
 public:
  Planner(Computation* computation, Gates& gates, const Purity& purity)
      : gates_(gates),
        purity_(purity),
        order_(computation->PostOrder()),
        root_(computation->root()) {
    for (size_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
  }

  // One group for each instruction that must be computed by itself, users before operands.
  std::vector<Group> Plan() {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (!IsNeeded(*it)) continue;
      const size_t number = groups_.size();
      groups_.push_back(Grow(*it));
      for (Instruction* member : groups_.back().members) groups_of_[member].push_back(number);
    }
    return std::move(groups_);
  }

 private:
  // Some group with a user of `inst` does not compute `inst` itself.
  bool IsNeeded(Instruction* inst) {
    if (inst == root_ || inst->users().empty()) return true;
    if (stored_.contains(inst)) return false;
    const std::vector<size_t>& list = groups_of_[inst];
    const absl::flat_hash_set<size_t> own(list.begin(), list.end());
    for (Instruction* user : inst->users()) {
      for (size_t group : groups_of_.at(user)) {
        if (!own.contains(group)) return true;
      }
    }
    return false;
  }

  Group Grow(Instruction* root) {
    Group group{root, {root}, {}};
    if (!CanBeRoot(*root, purity_)) return group;
    absl::flat_hash_map<const Instruction*, Member> members;
    Member& first = members[root];
    first.evaluations = Elements(root->opcode() == Opcode::kReduce ? *root->operand(0) : *root);
    size_t duplicates = 0, computed = 1;
    int spaces = 0;
    // Candidates by position, latest first: all users of one inside the group are decided before
    // it.
    std::map<size_t, Instruction*> candidates;
    const auto add_operands = [&](Instruction* of) {
      for (Instruction* operand : of->operands()) candidates[position_.at(operand)] = operand;
    };
    add_operands(root);
    while (!candidates.empty()) {
      const auto last = std::prev(candidates.end());
      Instruction* candidate = last->second;
      candidates.erase(last);
      if (!IsFusible(*candidate, purity_)) continue;
      // A formula may have very many users; where they are does not matter.
      const bool is_formula = IsFormula(*candidate);
      if (!is_formula && (computed >= kMaxFusionSize || candidate->users().size() > kMaxUsers)) {
        continue;
      }
      if (stored_.contains(candidate)) continue;
      Member member = is_formula ? Formula(*candidate) : Placed(candidate, members, spaces);
      const bool stores = !is_formula && StoresToo(*candidate, member, members, group);
      if (!is_formula && !stores && !IsWorthIt(*candidate, member, duplicates)) continue;
      if (!gates_.Allow(DecisionKind::kKernel, "fuse-loop", candidate)) continue;
      if (stores) {
        member.exclusive = true;  // others read what this group stores
        group.outputs.push_back(candidate);
      }
      duplicates += member.exclusive ? 0 : 1;
      computed += is_formula || candidate->opcode() == Opcode::kBroadcast ? 0 : 1;
      members[candidate] = member;
      group.members.push_back(candidate);
      add_operands(candidate);
    }
    stored_.insert(group.outputs.begin(), group.outputs.end());
    return group;
  }

  // The formula of a broadcast scalar would be computed for each element.
  static Member Formula(const Instruction& inst) {
    Member formula;
    if (inst.operand_count() > 0) {
      formula.exclusive = false;
      formula.evaluations = Elements(inst);
      formula.index_space = -1;
    }
    return formula;
  }

  // The way in which `candidate` would be computed, given its users inside the group.
  Member Placed(Instruction* candidate,
                const absl::flat_hash_map<const Instruction*, Member>& members, int& spaces) const {
    Member placed;
    placed.exclusive = candidate != root_;
    placed.repeats = 0;
    placed.evaluations = 0;
    placed.index_space = -1;
    std::vector<int> seen_spaces;
    std::vector<const Instruction*> users(candidate->users().begin(), candidate->users().end());
    std::sort(users.begin(), users.end(), [&](const Instruction* a, const Instruction* b) {
      return position_.at(a) < position_.at(b);
    });
    for (const Instruction* user : users) {
      const auto found = members.find(user);
      if (found == members.end()) {
        placed.exclusive = false;
        continue;
      }
      const Member& reader = found->second;
      placed.exclusive &= reader.exclusive && !IsReadElsewhere(*candidate, *user);
      const bool same_index =
          IsElementwiseOp(*user) && SameDimensions(user->shape(), candidate->shape());
      const int space = same_index ? reader.index_space : ++spaces;
      if (std::find(seen_spaces.begin(), seen_spaces.end(), space) != seen_spaces.end()) continue;
      seen_spaces.push_back(space);
      placed.index_space = space;
      placed.repeats += reader.repeats;
      placed.evaluations += reader.evaluations * PartRead(*user, *candidate);
    }
    return placed;
  }

  // A group that was planned before computes `user` as well, and not `operand`.
  bool IsReadElsewhere(const Instruction& operand, const Instruction& user) const {
    const auto with_user = groups_of_.find(&user), with_operand = groups_of_.find(&operand);
    if (with_user == groups_of_.end() || with_user->second.empty()) return false;
    if (with_operand == groups_of_.end()) return true;
    // Both are in ascending order.
    return !std::includes(with_operand->second.begin(), with_operand->second.end(),
                          with_user->second.begin(), with_user->second.end());
  }

  // For each element of `user` computed, how many of `operand` are read.
  static double PartRead(const Instruction& user, const Instruction& operand) {
    if (user.opcode() == Opcode::kConcatenate || user.opcode() == Opcode::kPad) {
      return std::min(1.0, Elements(operand) / Elements(user));
    }
    return 1;
  }

  // Others want `inst` as well, and the group stores it for them: where it is read element for
  // element with the root, and all others come after the root, so that the groups stay in order.
  bool StoresToo(const Instruction& inst, const Member& member,
                 const absl::flat_hash_map<const Instruction*, Member>& members,
                 const Group& group) const {
    const Instruction& root = *group.root;
    if (inst.operand_count() == 0 || member.exclusive || &inst == root_ ||
        group.outputs.size() >= kMaxOutputs || !IsElementwiseOp(root) || !IsElementwiseOp(inst) ||
        !SameDimensions(inst.shape(), root.shape())) {
      return false;
    }
    if (member.repeats != 1 || member.index_space != 0) return false;
    // An op that reads one array and computes little costs no more to repeat than to store.
    const auto is_array = [](const Instruction* operand) {
      return operand->shape().rank() > 0 && operand->opcode() != Opcode::kBroadcast;
    };
    if (IsCheapArithmetic(inst.opcode()) &&
        std::count_if(inst.operands().begin(), inst.operands().end(), is_array) < 2) {
      return false;
    }
    const size_t end = position_.at(&root);
    return std::all_of(inst.users().begin(), inst.users().end(), [&](const Instruction* user) {
      const auto found = members.find(user);
      return found != members.end() ? found->second.exclusive : position_.at(user) > end;
    });
  }

  bool IsWorthIt(const Instruction& inst, const Member& member, size_t duplicates) const {
    const bool is_movement = MovesData(inst.opcode());
    const bool is_cheap = is_movement || IsCheapArithmetic(inst.opcode());
    if (member.repeats > kMaxRepeats || (member.repeats > 1 && !is_cheap)) return false;
    if (!member.exclusive && (!is_cheap || duplicates >= kMaxDuplicates)) return false;
    const bool computed_again = member.evaluations > Elements(inst);
    return !computed_again || is_movement || (is_cheap && inst.shape().rank() == 0);
  }

  Gates& gates_;
  const Purity& purity_;
  std::vector<Instruction*> order_;
  Instruction* root_;
  absl::flat_hash_map<const Instruction*, size_t> position_;
  std::vector<Group> groups_;
  absl::flat_hash_set<const Instruction*> stored_;  // outputs of groups beside their roots
  absl::flat_hash_map<const Instruction*, std::vector<size_t>> groups_of_;
};

// Moves copies of the members into a computation of their own and calls it.
void Build(Computation* computation, const Group& group) {
  Computation* fused =
      computation->parent()->AddComputation(StrCat("fused_", Name(group.root->opcode())));
  absl::flat_hash_map<const Instruction*, Instruction*> inside;
  std::vector<Instruction*> operands;
  const absl::flat_hash_set<const Instruction*> members(group.members.begin(), group.members.end());
  for (auto it = group.members.rbegin(); it != group.members.rend(); ++it) {
    Instruction* member = *it;
    std::vector<Instruction*> arguments;
    for (Instruction* operand : member->operands()) {
      Instruction*& copy = inside[operand];
      if (copy == nullptr) {
        copy = fused->AddParameter(static_cast<int64_t>(operands.size()), operand->shape());
        operands.push_back(operand);
      }
      arguments.push_back(copy);
    }
    Instruction* copy = fused->Add(member->opcode(), member->shape(), arguments,
                                   member->attributes(), member->callees(), member->name());
    copy->set_literal(member->shared_literal());
    inside[member] = copy;
  }
  std::vector<Instruction*> outputs = {group.root};
  outputs.insert(outputs.end(), group.outputs.begin(), group.outputs.end());
  std::vector<Instruction*> results;
  std::vector<Shape> shapes;
  for (Instruction* output : outputs) {
    results.push_back(inside.at(output));
    shapes.push_back(output->shape());
  }
  const bool one = outputs.size() == 1;
  const Shape shape = one ? shapes[0] : Shape::Tuple(shapes);
  fused->set_root(one ? results[0] : fused->Add(Opcode::kTuple, shape, results));
  Instruction* fusion =
      computation->Add(Opcode::kFusion, shape, operands,
                       Attributes().Set(Attr::kFusionKind, FusionKind::kLoop), {&fused, 1});
  for (size_t k = 0; k < outputs.size(); ++k) {
    Instruction* value = fusion;
    if (!one) {
      value = computation->Add(Opcode::kGetTupleElement, shapes[k], {fusion},
                               Attributes().Set(Attr::kIndex, static_cast<int64_t>(k)));
    }
    outputs[k]->ReplaceAllUsesWith(value);
  }
  // Nothing reads the outputs now: none of them dies with another.
  for (Instruction* output : outputs) computation->RemoveWithDeadOperands(output);
}

}  // namespace

absl::StatusOr<bool> LoopFusion::Run(Module& module, PassContext& context) {
  const Purity purity(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    // Users are built before their operands; what a later group needs is still used by nothing but
    // fusions then.
    for (const Group& group : Planner(computation, context.gates, purity).Plan()) {
      if (group.members.size() < 2) continue;
      Build(computation, group);
      changed = true;
    }
  }
  return changed;
}

}  // namespace assay
