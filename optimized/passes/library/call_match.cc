// A call that is not there yet is tried in a module of its own.
#include "optimized/passes/library/call_match.h"

#include <cmath>
#include <utility>

#include "optimized/passes/util/rule_util.h"

namespace assay {

const GpuFacts& FactsOf(const PassContext& context) {
  return context.options.gpu == nullptr ? GpuFacts::Default() : *context.options.gpu;
}

Instruction* CallPlan::AddTo(Computation* into) const {
  Attributes all = attributes;
  all.Set(Attr::kCustomCallTarget, std::string(TargetOf(routine).name));
  if (!config.empty()) all.Set(Attr::kBackendConfig, config);
  return into->Add(Opcode::kCustomCall, shape, operands, std::move(all));
}

bool CallPlan::IsSound() const {
  Module trial("trial");
  Computation* main = trial.AddComputation("main");
  CallPlan there = *this;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Instruction& operand = *operands[k];
    there.operands[k] = operand.opcode() == Opcode::kConstant
                            ? main->AddConstant(operand.shared_literal())
                            : main->AddParameter(static_cast<int64_t>(k), operand.shape());
  }
  return ReadLibraryCall(*there.AddTo(main)).ok();
}

std::optional<MadeByCall> CallBehind(Instruction* value) {
  Instruction* call = value;
  if (value->opcode() == Opcode::kGetTupleElement) {
    call = value->operand(0);
    if (value->tuple_index() != 0 || !call->HasOneUse()) return std::nullopt;
  }
  if (!IsLibraryCall(*call) || call == call->parent()->root() ||
      !call->control_predecessors().empty() || !call->control_successors().empty())
    return std::nullopt;
  absl::StatusOr<LibraryCall> read = ReadLibraryCall(*call);
  if (!read.ok()) return std::nullopt;
  return MadeByCall{call, *std::move(read)};
}

bool IsReadOnce(const Instruction* value) {
  return value->HasOneUse() && value->parent()->root() != value;
}

CallPlan PlanOf(const MadeByCall& made) {
  CallPlan plan{.routine = made.read.routine,
                .shape = made.call->shape(),
                .operands = {made.call->operands().begin(), made.call->operands().end()},
                .attributes = made.call->attributes(),
                .config = made.call->attributes().String(Attr::kBackendConfig)};
  plan.attributes.Remove(Attr::kCustomCallTarget);
  plan.attributes.Remove(Attr::kBackendConfig);
  return plan;
}

std::optional<CallAndOther> SplitByCall(Instruction* binary, LibraryRoutine first,
                                        LibraryRoutine last) {
  for (int64_t k = 0; k < 2; ++k) {
    Instruction *value = binary->operand(k), *other = binary->operand(1 - k);
    std::optional<MadeByCall> made = CallBehind(value);
    if (made.has_value() && made->read.routine >= first && made->read.routine <= last)
      return CallAndOther{*std::move(made), value, other};
  }
  return std::nullopt;
}

std::optional<double> FiniteSplat(const Instruction* inst) {
  const std::optional<double> value = SplatFloat(inst);
  return value.has_value() && std::isfinite(*value) ? value : std::nullopt;
}

Scaled SplitScale(Instruction* value) {
  if (value->opcode() != Opcode::kMultiply || !value->HasOneUse()) return {value, 1};
  for (int64_t k = 0; k < 2; ++k) {
    const std::optional<double> factor = FiniteSplat(value->operand(k));
    // A config without a factor has no C either.
    if (factor.has_value() && *factor != 0) return {value->operand(1 - k), *factor};
  }
  return {value, 1};
}

bool MayRoundOnce(ElementType type, const PassContext& context) {
  return BitWidth(type) >= 32 || context.profile.Grants(ClauseId::kExcessPrecision);
}

}  // namespace assay
