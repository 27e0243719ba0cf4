// Collects kernels in clusters, whose graph stays free of cycles, and writes each down as a fusion.
#include "optimized/passes/fusion/multi_output_fusion.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/while_util.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

constexpr int64_t kMaxInstructions = 384;  // in one fusion that compute something
constexpr int64_t kMaxOperands = 48;       // of one fusion
constexpr int64_t kMaxResults = 16;        // of one fusion
constexpr size_t kMaxNear = 16;            // clusters that are told apart upstream
constexpr size_t kMaxLooks = 256;          // clusters that are looked at before one grows
constexpr size_t kMaxUsers = 64;           // of an array whose readers are looked for

bool IsMapOp(const Instruction& inst) {
  return Info(inst.opcode()).Is(kElementwise) && inst.operand_count() > 0 &&
         inst.callees().empty() && inst.opcode() != Opcode::kCopy;
}

bool IsPlainArray(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamicDimension() && !IsComplex(shape.element_type()) &&
         shape.layout().extras() == nullptr;
}

// The array of the first result; nullptr: there is none.
const Shape* FirstResult(const Instruction& inst) {
  if (inst.shape().IsArray()) return &inst.shape();
  return inst.shape().elements().empty() ? nullptr : &inst.shape().elements()[0];
}

// True if every element of the results is made of elements at the same place, of single numbers and
// of arrays that are repeated.
bool MapsElements(const Computation& computation, const Shape& result) {
  return absl::c_all_of(computation, [&](const Instruction* inst) {
    switch (inst->opcode()) {
      case Opcode::kParameter:
        return IsPlainArray(inst->shape());
      case Opcode::kTuple:
        return inst == computation.root();
      case Opcode::kConstant:
        return IsPlainArray(inst->shape()) && inst->shape().rank() == 0;
      case Opcode::kBroadcast:
      case Opcode::kIota:
        return IsPlainArray(inst->shape());
      default:
        return IsMapOp(*inst) && IsPlainArray(inst->shape()) &&
               (inst->shape().rank() == 0 || SameDimensions(inst->shape(), result));
    }
  });
}

bool IsKernel(const Instruction& inst, const Purity& purity) {
  if (!inst.control_predecessors().empty() || !inst.control_successors().empty() ||
      !purity.IsPure(inst)) {
    return false;
  }
  const Shape* result = FirstResult(inst);
  if (result == nullptr || !result->IsArray() || result->ElementCount() < 2) return false;
  if (inst.opcode() != Opcode::kFusion) return IsMapOp(inst) && IsPlainArray(*result);
  if (!MapsElements(*inst.callee(), *result)) return false;
  if (inst.shape().IsArray()) return true;
  return inst.parent()->root() != &inst &&
         absl::c_all_of(inst.shape().elements(),
                        [&](const Shape& leaf) { return SameDimensions(leaf, *result); }) &&
         absl::c_all_of(inst.users(), [](const Instruction* user) {
           return user->opcode() == Opcode::kGetTupleElement;
         });
}

// True if `inst` reads its operand `number` at the place of the element that it makes.
bool ReadsInPlace(const Instruction& inst, int64_t number, const Shape& result) {
  if (inst.opcode() != Opcode::kFusion) return true;
  return absl::c_all_of(inst.callee()->parameter(number)->users(), [&](const Instruction* user) {
    return user->opcode() == Opcode::kTuple ||
           (IsMapOp(*user) && SameDimensions(user->shape(), result));
  });
}

// True if arrays are repeated in it: it is not walked by one linear index.
bool RepeatsArrays(const Instruction& inst) {
  return inst.opcode() == Opcode::kFusion &&
         absl::c_any_of(*inst.callee(), [](const Instruction* inner) {
           return inner->opcode() == Opcode::kIota ||
                  (inner->opcode() == Opcode::kBroadcast && inner->operand(0)->shape().rank() > 0);
         });
}

// Instructions that compute something.
int64_t SizeOf(const Instruction& inst) {
  if (inst.opcode() != Opcode::kFusion) return 1;
  int64_t size = 0;
  for (const Instruction* inner : *inst.callee()) size += IsMapOp(*inner) ? 1 : 0;
  return size;
}

const Instruction* MakerOf(const Instruction* value) {
  return value->opcode() == Opcode::kGetTupleElement ? value->operand(0) : value;
}

struct Cluster {
  std::vector<Instruction*> members;  // operands before users
  std::vector<int> needs;             // clusters from which something leads here
  int64_t size = 0;
  absl::flat_hash_set<const Instruction*> operands;  // of others
};

class Clusters {
 public:
  Clusters(Computation* computation, const Purity& purity) : purity_(purity) {
    for (Instruction* inst : computation->InPostOrder()) Place(inst);
  }

  const std::vector<Cluster>& all() const { return clusters_; }

 private:
  // Clusters that an instruction is in, or else those that lead to it; nullopt: many.
  using Near = std::optional<std::vector<int>>;

  void Place(Instruction* inst) {
    Near before = std::vector<int>();
    for (const Instruction* operand : inst->operands()) Join(before, near_.at(operand));
    if (!IsKernel(*inst, purity_)) {
      near_[inst] = std::move(before);
      return;
    }
    const int cluster = ClusterFor(*inst, before);
    Cluster& chosen = clusters_[static_cast<size_t>(cluster)];
    chosen.members.push_back(inst);
    chosen.size += SizeOf(*inst);
    for (const Instruction* operand : inst->operands()) {
      const auto maker = cluster_of_.find(MakerOf(operand));
      if (maker == cluster_of_.end() || maker->second != cluster) chosen.operands.insert(operand);
    }
    if (!before.has_value()) {
      chosen.needs.push_back(kUnknown);
    } else {
      for (int other : *before) {
        if (other != cluster && !absl::c_linear_search(chosen.needs, other)) {
          chosen.needs.push_back(other);
        }
      }
    }
    cluster_of_[inst] = cluster;
    near_[inst] = std::vector<int>{cluster};
  }

  static void Join(Near& near, const Near& more) {
    if (!near.has_value()) return;
    if (!more.has_value()) {
      near.reset();
      return;
    }
    for (int cluster : *more) {
      if (!absl::c_linear_search(*near, cluster)) near->push_back(cluster);
    }
    if (near->size() > kMaxNear) near.reset();
  }

  // The cluster that `inst` joins, or a new one.
  int ClusterFor(const Instruction& inst, const Near& before) {
    std::vector<int> candidates;
    if (before.has_value()) {
      candidates = *before;
      for (const Instruction* operand : inst.operands()) {
        if (operand->shape().rank() == 0 || operand->users().size() > kMaxUsers) continue;
        for (const Instruction* reader : operand->users()) {
          const auto found = cluster_of_.find(reader);
          if (found != cluster_of_.end()) candidates.push_back(found->second);
        }
      }
    }
    absl::c_sort(candidates, std::greater<int>());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    for (int candidate : candidates) {
      if (MayJoin(inst, candidate)) return candidate;
    }
    clusters_.emplace_back();
    return static_cast<int>(clusters_.size()) - 1;
  }

  bool MayJoin(const Instruction& inst, int candidate) const {
    const Cluster& cluster = clusters_[static_cast<size_t>(candidate)];
    const Shape& result = *FirstResult(inst);
    if (!SameDimensions(result, *FirstResult(*cluster.members[0])) ||
        cluster.size + SizeOf(inst) > kMaxInstructions ||
        static_cast<int64_t>(cluster.operands.size()) + inst.operand_count() > kMaxOperands) {
      return false;
    }
    // Short lines are not walked in vectors.
    constexpr int64_t kShortLine = 16;
    if (result.dimension(result.rank() - 1) < kShortLine &&
        RepeatsArrays(inst) != RepeatsArrays(*cluster.members[0])) {
      return false;
    }
    std::vector<int> outside;
    for (int64_t k = 0; k < inst.operand_count(); ++k) {
      const auto maker = cluster_of_.find(MakerOf(inst.operand(k)));
      if (maker != cluster_of_.end() && maker->second == candidate) {
        if (!ReadsInPlace(inst, k, result)) return false;
      } else {
        const std::vector<int>& near = *near_.at(inst.operand(k));
        outside.insert(outside.end(), near.begin(), near.end());
      }
    }
    return !Leads(candidate, std::move(outside));
  }

  // True if one of `to` needs `from`, or might.
  bool Leads(int from, std::vector<int> to) const {
    absl::flat_hash_set<int> seen(to.begin(), to.end());
    while (!to.empty()) {
      const int cluster = to.back();
      to.pop_back();
      if (cluster == from || cluster == kUnknown || seen.size() > kMaxLooks) return true;
      for (int need : clusters_[static_cast<size_t>(cluster)].needs) {
        if (seen.insert(need).second) to.push_back(need);
      }
    }
    return false;
  }

  static constexpr int kUnknown = -1;

  const Purity& purity_;
  std::vector<Cluster> clusters_;
  absl::flat_hash_map<const Instruction*, int> cluster_of_;
  absl::flat_hash_map<const Instruction*, Near> near_;
};

// The computation of a cluster. What its members compute alike is there once.
class ClusterBuilder {
 public:
  ClusterBuilder(absl::Span<Instruction* const> members, const Gates& gates)
      : in_order_(members), members_(members.begin(), members.end()), gates_(gates) {
    computation_ = members[0]->parent();
    fused_ = computation_->parent()->AddComputation("fused_results");
  }

  // False if there are too many results; nothing has changed then.
  bool Build() {
    for (Instruction* member : in_order_) AddMember(member);
    std::vector<Instruction*> results;
    std::vector<Shape> shapes;
    std::vector<size_t> places;
    for (const Instruction* output : outputs_) {
      Instruction* value = inside_.at(output);
      const auto at = absl::c_find(results, value);
      places.push_back(static_cast<size_t>(at - results.begin()));
      if (at != results.end()) continue;
      results.push_back(value);
      shapes.push_back(output->shape());
    }
    if (static_cast<int64_t>(results.size()) > kMaxResults) return false;
    const bool one = results.size() == 1;
    const Shape shape = one ? shapes[0] : Shape::Tuple(shapes);
    fused_->set_root(one ? results[0] : fused_->Add(Opcode::kTuple, shape, results));
    Instruction* fusion =
        computation_->Add(Opcode::kFusion, shape, operands_,
                          Attributes().Set(Attr::kFusionKind, FusionKind::kLoop), {&fused_, 1});
    for (size_t k = 0; k < outputs_.size(); ++k) {
      outputs_[k]->ReplaceAllUsesWith(
          one ? fusion
              : AddElement(computation_, fusion, ResultOf(outputs_[k], places[k], shapes)));
    }
    // Nothing reads the outputs now: none of them dies with another.
    for (Instruction* output : outputs_) computation_->RemoveWithDeadOperands(output);
    return true;
  }

 private:
  // The number of the result that stands for an output.
  int64_t ResultOf(const Instruction* output, size_t place,
                   const std::vector<Shape>& shapes) const {
    const auto known = static_cast<int64_t>(place);
    const int64_t bent = gates_.Number("fuse-results/result", output, known);
    const bool exists = bent >= 0 && bent < static_cast<int64_t>(shapes.size());
    return exists && shapes[static_cast<size_t>(bent)] == output->shape() ? bent : known;
  }

  // The value of an operand of a member.
  Instruction* Inside(Instruction* operand) {
    Instruction*& value = inside_[operand];
    if (value == nullptr) {
      value = fused_->AddParameter(static_cast<int64_t>(operands_.size()), operand->shape());
      operands_.push_back(operand);
    }
    return value;
  }

  bool IsReadOutside(const Instruction* value) const {
    return value == computation_->root() ||
           !absl::c_all_of(value->users(),
                           [&](const Instruction* user) { return members_.contains(user); });
  }

  void NoteValue(Instruction* value, Instruction* inside) {
    inside_[value] = inside;
    if (IsReadOutside(value)) outputs_.push_back(value);
  }

  void AddMember(Instruction* member) {
    std::vector<Instruction*> arguments;
    for (Instruction* operand : member->operands()) arguments.push_back(Inside(operand));
    if (member->opcode() != Opcode::kFusion) {
      NoteValue(member, AddOnce(*member, arguments));
      return;
    }
    const Computation& callee = *member->callee();
    absl::flat_hash_map<const Instruction*, Instruction*> copies;
    for (const Instruction* inst : callee.PostOrder()) {
      if (inst->opcode() == Opcode::kTuple) continue;
      if (inst->opcode() == Opcode::kParameter) {
        copies[inst] = arguments[static_cast<size_t>(inst->parameter_number())];
        continue;
      }
      std::vector<Instruction*> of;
      for (const Instruction* operand : inst->operands()) of.push_back(copies.at(operand));
      copies[inst] = AddOnce(*inst, of);
    }
    if (member->shape().IsArray()) {
      NoteValue(member, copies.at(callee.root()));
      return;
    }
    for (Instruction* element : member->users()) {
      NoteValue(element, copies.at(callee.root()->operand(element->tuple_index())));
    }
  }

  Instruction* AddOnce(const Instruction& inst, const std::vector<Instruction*>& operands) {
    std::vector<Instruction*>& alike =
        added_[{static_cast<int>(inst.opcode()), operands.empty() ? nullptr : operands[0]}];
    for (Instruction* other : alike) {
      if (absl::c_equal(other->operands(), operands) && other->shape() == inst.shape() &&
          gates_.Holds("fuse-results/same-operation", &inst, other->SameOperation(inst))) {
        return other;
      }
    }
    Instruction* copy =
        fused_->Add(inst.opcode(), inst.shape(), operands, inst.attributes(), {}, inst.name());
    copy->set_literal(inst.shared_literal());
    alike.push_back(copy);
    return copy;
  }

  const absl::Span<Instruction* const> in_order_;
  const absl::flat_hash_set<const Instruction*> members_;
  const Gates& gates_;
  Computation* computation_;
  Computation* fused_;
  std::vector<Instruction*> operands_;
  std::vector<Instruction*> outputs_;  // values that others read
  absl::flat_hash_map<const Instruction*, Instruction*> inside_;
  absl::flat_hash_map<std::pair<int, const Instruction*>, std::vector<Instruction*>> added_;
};

// With too many results it becomes two: nothing in the second half leads to the first.
bool BuildAll(absl::Span<Instruction* const> members, const Gates& gates) {
  if (members.size() < 2) return false;
  if (ClusterBuilder(members, gates).Build()) return true;
  const size_t half = members.size() / 2;
  const bool first = BuildAll(members.first(half), gates);
  return BuildAll(members.subspan(half), gates) || first;
}

}  // namespace

absl::StatusOr<bool> MultiOutputFusion::Run(Module& module, PassContext& context) {
  const Purity purity(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    const Clusters clusters(computation, purity);
    for (const Cluster& cluster : clusters.all()) {
      if (cluster.members.size() < 2) continue;
      if (!context.gates.Allow(DecisionKind::kKernel, "fuse-results", cluster.members[0])) continue;
      changed |= BuildAll(cluster.members, context.gates);
    }
  }
  module.RemoveUnusedComputations().IgnoreError();
  return changed;
}

}  // namespace assay
