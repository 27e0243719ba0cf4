// The engine: tries the rules of an opcode on each instruction and on what rules have added.
#include "optimized/passes/rules/algebraic_simplifier.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/module_util.h"

namespace assay {
namespace {

// Rules by the opcode they look at, in the order of AllRules.
const std::array<std::vector<const Rule*>, kOpcodeCount>& RulesByOpcode() {
  static const auto& table = *[] {
    auto* rules = new std::array<std::vector<const Rule*>, kOpcodeCount>;
    for (const Rule& rule : AllRules()) {
      (*rules)[static_cast<size_t>(rule.opcode)].push_back(&rule);
    }
    return rules;
  }();
  return table;
}

bool IsComplexArray(const Instruction* inst) {
  return inst->shape().IsArray() && IsComplex(inst->shape().element_type());
}

// The rules of arithmetic and of constants were written for one number per element; those that move
// elements hold for complex ones too.
bool RulesKnowItsType(const Instruction& inst) {
  const auto is_constant = [](const Instruction* operand) {
    return operand->opcode() == Opcode::kConstant && IsComplexArray(operand);
  };
  if (!IsComplexArray(&inst) && !absl::c_any_of(inst.operands(), IsComplexArray)) return true;
  if (absl::c_any_of(inst.operands(), is_constant)) return false;
  switch (inst.opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kCopy:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGetTupleElement:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    default:
      return false;
  }
}

class Simplifier {
 public:
  Simplifier(Computation* computation, RuleContext& context)
      : computation_(computation),
        context_(context),
        budget_(64 * computation->instruction_count() + 1024) {}

  bool Run() {
    // A rule removes its target and operands of it, all of which come before what is still to be
    // visited.
    for (Instruction* inst : computation_->InPostOrder()) Visit(inst);
    return changed_;
  }

 private:
  void Visit(Instruction* inst) {
    std::vector<Instruction*> pending = {inst};  // last first; operands above their users
    while (!pending.empty()) {
      Instruction* at = pending.back();
      pending.pop_back();
      const int64_t first_new_id = context_.module.next_id();
      if (!TryRules(at)) continue;
      changed_ = true;
      // Instructions that the rule added are visited too, operands first. They come after
      // everything pending that they read.
      const std::vector<Instruction*> added = Added(first_new_id);
      pending.insert(pending.end(), added.rbegin(), added.rend());
    }
  }

  bool TryRules(Instruction* inst) {
    if (!IsPlain(*inst) || !RulesKnowItsType(*inst)) return false;
    for (const Rule* rule : RulesByOpcode()[static_cast<size_t>(inst->opcode())]) {
      if (budget_ == 0) return false;
      if (rule->apply(inst, context_, rule->name)) {
        --budget_;
        return true;
      }
    }
    return false;
  }

  // Instructions of the computation with ids from `first` on: the tail of the stored order.
  std::vector<Instruction*> Added(int64_t first) const {
    std::vector<Instruction*> added;
    for (Instruction* at = computation_->last(); at != nullptr && at->id() >= first;
         at = at->previous()) {
      added.push_back(at);
    }
    std::reverse(added.begin(), added.end());
    return added;
  }

  Computation* computation_;
  RuleContext& context_;
  int64_t
      budget_;  // rules applied; every rule shrinks something, this is for the one that does not
  bool changed_ = false;
};

}  // namespace

absl::Span<const Rule> AllRules() {
  static const auto& all = *[] {
    auto* rules = new std::vector<Rule>;
    for (const auto family :
         {SliceRules(), DynamicSliceRules(), PadRules(), ReshapeRules(), BroadcastRules(),
          ConcatenateRules(), ConvertRules(), ArithmeticRules(), LogicRules(), SelectRules(),
          CombinerRules(), ContractionRules()}) {
      rules->insert(rules->end(), family.begin(), family.end());
    }
    return rules;
  }();
  return all;
}

absl::StatusOr<bool> AlgebraicSimplifier::Run(Module& module, PassContext& context) {
  RuleContext rule_context{module, context.gates, context.profile};
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    changed |= Simplifier(computation, rule_context).Run();
  }
  return changed;
}

}  // namespace assay
