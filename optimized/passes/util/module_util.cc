// Units, purity and inlining.
#include "optimized/passes/util/module_util.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

bool RunsAsUnit(Opcode caller) {
  return caller == Opcode::kCall || caller == Opcode::kWhile || caller == Opcode::kConditional;
}

bool IsPlainShape(const Shape& shape) { return shape.IsArray() && !shape.HasDynamicDimension(); }

}  // namespace

std::vector<Computation*> UnitComputations(const Module& module) {
  absl::flat_hash_set<const Computation*> excluded;
  for (const Computation* computation : module.computations()) {
    if (!computation->has_calls()) continue;
    for (const Instruction* inst : *computation) {
      if (RunsAsUnit(inst->opcode())) continue;
      excluded.insert(inst->callees().begin(), inst->callees().end());
    }
  }
  std::vector<Computation*> units;
  // Callers come after callees here, so whether a caller is a unit is known only going backwards.
  std::vector<Computation*> order = module.ComputationPostOrder();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!excluded.contains(*it)) {
      units.push_back(*it);
      continue;
    }
    if (!(*it)->has_calls()) continue;
    for (const Instruction* inst : **it) {
      excluded.insert(inst->callees().begin(), inst->callees().end());
    }
  }
  std::reverse(units.begin(), units.end());
  return units;
}

bool IsPlain(const Instruction& inst) { return IsPlainShape(inst.shape()) && IsPlainOrTuple(inst); }

bool IsPlainOrTuple(const Instruction& inst) {
  const Shape& shape = inst.shape();
  const bool has_plain_result =
      shape.IsTuple() ? std::all_of(shape.elements().begin(), shape.elements().end(), IsPlainShape)
                      : IsPlainShape(shape);
  return has_plain_result && inst.control_predecessors().empty() &&
         inst.control_successors().empty() &&
         std::all_of(inst.operands().begin(), inst.operands().end(),
                     [](const Instruction* operand) { return IsPlainShape(operand->shape()); });
}

namespace {

// By itself, without what it calls.
bool IsPureOperation(const Instruction& inst) {
  switch (inst.opcode()) {
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState:
    case Opcode::kCustomCall:
    case Opcode::kOptBarrier:
      return false;
    default:
      break;
  }
  const OpInfo& info = Info(inst.opcode());
  return !info.Is(kSideEffect) && !info.Is(kCollective);
}

}  // namespace

Purity::Purity(const Module& module) {
  for (const Computation* computation : module.ComputationPostOrder()) {  // callees first
    if (!std::all_of(computation->begin(), computation->end(),
                     [this](const Instruction* inst) { return IsPure(*inst); })) {
      impure_.insert(computation);
    }
  }
}

bool Purity::IsPure(const Instruction& inst) const {
  return IsPureOperation(inst) &&
         std::all_of(inst.callees().begin(), inst.callees().end(),
                     [this](const Computation* callee) { return IsPure(*callee); });
}

Instruction* InlineCopy(Computation* into, const Computation& callee,
                        absl::Span<Instruction* const> arguments) {
  if (static_cast<int64_t>(arguments.size()) != callee.parameter_count()) return nullptr;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!(arguments[i]->shape() == callee.parameter(i)->shape())) return nullptr;
  }
  return into->CopyFrom(callee, arguments);
}

}  // namespace assay
