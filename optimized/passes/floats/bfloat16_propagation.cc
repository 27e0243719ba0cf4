// Starts with all values that could be narrow, and takes out those that a reader needs wide, until
// nothing changes: so loops keep what every trip only hands on. Then types change in place, and
// converts stand where a wide value meets a narrow one.
#include "optimized/passes/floats/bfloat16_propagation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

constexpr ElementType kNarrow = ElementType::kBF16, kWide = ElementType::kF32;

bool IsWide(const Shape& shape) {
  return shape.IsArray() && shape.element_type() == kWide && !shape.HasDynamicDimension();
}

// An op that hands numbers on as they are, and the operands from which it takes them.
struct Carrier {
  Opcode opcode;
  int64_t first, last;
};
constexpr int64_t kAll = INT64_MAX;
constexpr Carrier kCarriers[] = {
    {Opcode::kBroadcast, 0, 0}, {Opcode::kConcatenate, 0, kAll},
    {Opcode::kCopy, 0, 0},      {Opcode::kDynamicSlice, 0, 0},
    {Opcode::kGather, 0, 0},    {Opcode::kDynamicUpdateSlice, 0, 1},
    {Opcode::kPad, 0, 1},       {Opcode::kReshape, 0, 0},
    {Opcode::kReverse, 0, 0},   {Opcode::kSelect, 1, 2},
    {Opcode::kSlice, 0, 0},     {Opcode::kTranspose, 0, 0},
};
const Carrier* CarrierOf(Opcode opcode) {
  const auto* at = std::find_if(std::begin(kCarriers), std::end(kCarriers),
                                [&](const Carrier& carrier) { return carrier.opcode == opcode; });
  return at == std::end(kCarriers) ? nullptr : at;
}
bool Carries(const Carrier& carrier, int64_t operand) {
  return carrier.first <= operand && operand <= carrier.last;
}

// An array, or one element of a tuple of arrays.
using Leaf = std::pair<const Instruction*, int64_t>;
constexpr int64_t kWhole = -1;

template <typename F>
void ForEachWideLeaf(const Instruction* inst, F f) {
  const Shape& shape = inst->shape();
  if (IsWide(shape)) f(Leaf{inst, kWhole});
  if (!shape.IsTuple()) return;
  for (size_t k = 0; k < shape.elements().size(); ++k) {
    if (IsWide(shape.elements()[k])) f(Leaf{inst, static_cast<int64_t>(k)});
  }
}

class Propagation {
 public:
  Propagation(Module& module, Gates& gates) : module_(module), gates_(gates) {
    for (const Computation* computation : module.computations()) {
      for (const Instruction* inst : *computation) {
        for (const Computation* callee : inst->callees()) {
          const auto [at, is_new] = callers_.try_emplace(callee, inst);
          if (!is_new) at->second = nullptr;
        }
      }
    }
  }

  bool Run() {
    for (Computation* computation : module_.ComputationPostOrder()) {
      for (Instruction* inst : computation->InPostOrder()) Note(inst);
    }
    Shrink();
    // A refusal may need others wide.
    for (const Leaf& leaf : order_) {
      const bool is_asked = leaf.second == kWhole && CarrierOf(leaf.first->opcode()) != nullptr;
      if (!is_asked || !narrow_.contains(leaf)) continue;
      if (gates_.Allow(DecisionKind::kRewrite, "propagate-bf16", leaf.first)) continue;
      narrow_.erase(leaf);
      Shrink();
    }
    // Without anything that carries there is nothing to gain.
    const bool gains = std::any_of(order_.begin(), order_.end(), [&](const Leaf& leaf) {
      return narrow_.contains(leaf) && CarrierOf(leaf.first->opcode()) != nullptr;
    });
    if (!gains) return false;
    Retype();
    return true;
  }

 private:
  // ---- Which values may be narrow.

  // The caller that alone decides the types of the computation's parameters and result.
  const Instruction* SoleCaller(const Computation* computation) const {
    const auto at = callers_.find(computation);
    const Instruction* caller = at == callers_.end() ? nullptr : at->second;
    if (caller == nullptr || computation == module_.entry()) return nullptr;
    const bool may_change =
        caller->opcode() == Opcode::kFusion || caller->opcode() == Opcode::kWhile;
    return may_change && caller->control_predecessors().empty() &&
                   caller->control_successors().empty()
               ? caller
               : nullptr;
  }
  static bool IsLoop(const Instruction* inst) { return inst->opcode() == Opcode::kWhile; }

  bool OwnsItsCallees(const Instruction* inst) const {
    for (const Computation* callee : inst->callees())
      if (SoleCaller(callee) != inst) return false;
    return true;
  }

  // The leaves that have one type with this one: the state of a loop, inside and out.
  Leaf Representative(const Leaf& leaf) const {
    if (leaf.first->opcode() != Opcode::kParameter) return leaf;
    const Instruction* caller = SoleCaller(leaf.first->parent());
    return caller != nullptr && IsLoop(caller) ? Leaf{caller, leaf.second} : leaf;
  }

  bool IsCandidate(const Instruction* inst) const {
    if (!inst->control_predecessors().empty() || !inst->control_successors().empty()) return false;
    switch (inst->opcode()) {
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
        return true;
      case Opcode::kConvert:  // nothing is lost on the way to F32 and back
        return gates_.Holds("propagate-bf16/widened", inst,
                            inst->operand(0)->shape().element_type() == kNarrow);
      case Opcode::kWhile:
        return OwnsItsCallees(inst);
      case Opcode::kFusion:
        return OwnsItsCallees(inst);
      case Opcode::kParameter:
        return SoleCaller(inst->parent()) != nullptr;
      default:
        return CarrierOf(inst->opcode()) != nullptr;
    }
  }

  void Note(const Instruction* inst) {
    if (!IsCandidate(inst)) return;
    ForEachWideLeaf(inst, [&](const Leaf& leaf) {
      order_.push_back(leaf);
      narrow_.insert(leaf);
    });
  }

  bool IsNarrow(const Leaf& leaf) const { return narrow_.contains(Representative(leaf)); }

  // Whoever reads the leaf through `user` rounds it, or hands it on to those who do.
  bool IsRoundedBy(const Leaf& leaf, const Instruction* user, int64_t operand) const {
    const bool is_array = leaf.second == kWhole;
    switch (user->opcode()) {
      case Opcode::kConvert:
        return is_array && user->shape().element_type() == kNarrow;
      case Opcode::kTuple:
        return is_array && IsNarrow({user, operand});
      case Opcode::kGetTupleElement:
        return user->tuple_index() != leaf.second || IsNarrow({user, kWhole});
      case Opcode::kWhile:
        return !is_array && IsNarrow({user, leaf.second});
      case Opcode::kFusion:
        return is_array && IsNarrow({user->callee()->parameter(operand), kWhole});
      default: {
        const Carrier* carrier = CarrierOf(user->opcode());
        return is_array && carrier != nullptr && Carries(*carrier, operand) &&
               IsNarrow({user, kWhole});
      }
    }
  }

  bool AllReadersRound(const Leaf& leaf) const {
    const Instruction* inst = leaf.first;
    for (const Instruction* user : inst->users()) {
      for (int64_t k = 0; k < user->operand_count(); ++k) {
        if (user->operand(k) == inst && !IsRoundedBy(leaf, user, k)) return false;
      }
    }
    if (inst != inst->parent()->root()) return true;
    const Instruction* caller = SoleCaller(inst->parent());
    return caller != nullptr && IsNarrow({caller, leaf.second});
  }

  // Rounding earlier is rounding more where a part is taken of a large array that stays wide.
  bool Pays(const Leaf& leaf) const {
    const Carrier* carrier = CarrierOf(leaf.first->opcode());
    if (carrier == nullptr) return true;
    for (int64_t k = 0; k < leaf.first->operand_count(); ++k) {
      const Instruction* operand = leaf.first->operand(k);
      if (Carries(*carrier, k) && !IsNarrow({operand, kWhole}) &&
          operand->shape().ElementCount() > leaf.first->shape().ElementCount())
        return false;
    }
    return true;
  }

  bool Stays(const Leaf& leaf) const {
    return IsNarrow(leaf) && Pays(leaf) &&
           gates_.Holds("propagate-bf16/rounded", leaf.first, AllReadersRound(leaf));
  }

  void Shrink() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Leaf& leaf : order_) {
        if (!narrow_.contains(leaf) || Stays(leaf)) continue;
        narrow_.erase(leaf);
        narrow_.erase(Representative(leaf));
        changed = true;
      }
    }
  }

  // ---- Other types.

  static void SetType(Instruction* inst, int64_t element) {
    Shape& shape = inst->mutable_shape();
    (element == kWhole ? shape : shape.mutable_elements()[static_cast<size_t>(element)])
        .set_element_type(kNarrow);
  }

  // The value in these types, by converts where they differ.
  static Instruction* InTypesOf(Instruction* value, const Shape& shape) {
    Computation* into = value->parent();
    if (shape.IsArray()) {
      if (value->shape().element_type() == shape.element_type()) return value;
      Shape as = value->shape();
      as.set_element_type(shape.element_type());
      return into->Add(Opcode::kConvert, as, {value});
    }
    if (!shape.IsTuple() || value->shape() == shape) return value;
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < shape.elements().size(); ++k) {
      parts.push_back(
          InTypesOf(AddElement(into, value, static_cast<int64_t>(k)), shape.elements()[k]));
    }
    return into->Add(Opcode::kTuple, shape, parts);
  }

  static void Match(Instruction* inst, int64_t operand, const Shape& shape) {
    Instruction* value = inst->operand(operand);
    Instruction* with = InTypesOf(value, shape);
    if (with != value) inst->ReplaceOperand(operand, with);
  }

  void MatchOperands(Instruction* inst) const {
    const Shape& shape = inst->shape();
    if (inst->opcode() == Opcode::kTuple) {
      for (int64_t k = 0; k < inst->operand_count(); ++k) {
        const Shape& element = shape.elements()[static_cast<size_t>(k)];
        if (element.IsArray()) Match(inst, k, element);
      }
    } else if (IsLoop(inst)) {
      Match(inst, 0, shape);
    } else if (inst->opcode() == Opcode::kFusion) {
      for (int64_t k = 0; k < inst->operand_count(); ++k) {
        const Shape& taken = inst->callee()->parameter(k)->shape();
        if (taken.IsArray()) Match(inst, k, taken);
      }
    } else if (const Carrier* carrier = CarrierOf(inst->opcode());
               carrier != nullptr && IsNarrow({inst, kWhole})) {
      for (int64_t k = 0; k < inst->operand_count(); ++k)
        if (Carries(*carrier, k)) Match(inst, k, shape);
    }
  }

  static bool IsIdentity(const Instruction* inst) {
    return inst->opcode() == Opcode::kConvert && inst->operand(0)->shape() == inst->shape() &&
           inst->shape().element_type() == kNarrow;
  }

  void Retype() {
    for (const Leaf& leaf : order_) {
      if (IsNarrow(leaf)) SetType(const_cast<Instruction*>(leaf.first), leaf.second);
    }
    for (Computation* computation : module_.ComputationPostOrder()) {
      const std::vector<Instruction*> order = computation->PostOrder();
      for (Instruction* inst : order) MatchOperands(inst);
      if (const Instruction* caller = SoleCaller(computation); caller != nullptr) {
        const bool gives_state =
            caller->opcode() == Opcode::kFusion || caller->callee(1) == computation;
        if (gives_state) computation->set_root(InTypesOf(computation->root(), caller->shape()));
      }
      for (Instruction* inst : order) {
        if (!IsIdentity(inst)) continue;
        inst->ReplaceAllUsesWith(inst->operand(0));
        if (inst == computation->root()) computation->set_root(inst->operand(0));
        if (inst->IsDead()) computation->Remove(inst);
      }
    }
  }

  Module& module_;
  Gates& gates_;
  // nullptr: there are several.
  absl::flat_hash_map<const Computation*, const Instruction*> callers_;
  std::vector<Leaf> order_;
  absl::flat_hash_set<Leaf> narrow_;
};

}  // namespace

absl::StatusOr<bool> BFloat16Propagation::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kConvert})) return false;
  return Propagation(module, context.gates).Run();
}

}  // namespace assay
