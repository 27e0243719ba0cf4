// Runs plans: one step, a block of steps, or a computation on scalars applied to whole arrays.
#include "reference/interpreter/interpreter.h"

#include <algorithm>

#include "reference/bounds/choices/legal_choices.h"
#include "reference/bounds/error_forms.h"
#include "reference/bounds/note_facts.h"
#include "reference/interpreter/blockwise.h"
#include "reference/interpreter/capture/captured_run.h"
#include "reference/interpreter/dynamic_shapes.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/interpreter/sums/fused_products.h"
#include "reference/interpreter/sums/scattered_sum.h"
#include "reference/interpreter/widening.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

// Calls within calls. Each takes a few hundred bytes of the C++ stack.
constexpr int kMaxDepth = 500;

// `shape` with `dimensions` at every leaf, each of which has one element.
Shape Lift(const Shape& shape, absl::Span<const int64_t> dimensions) {
  if (!shape.IsTuple()) return Shape::Array(shape.element_type(), dimensions);
  std::vector<Shape> elements;
  for (const Shape& element : shape.elements()) elements.push_back(Lift(element, dimensions));
  return Shape::Tuple(std::move(elements));
}

Value Lift(const Value& scalar, absl::Span<const int64_t> dimensions, MemoryMeter& memory) {
  const Literal& one = scalar.array->literal;
  Literal result(Lift(one.shape(), dimensions));
  const size_t width = one.bytes().size();
  for (size_t at = 0; at < result.bytes().size(); at += width)
    std::memcpy(result.bytes().data() + at, one.bytes().data(), width);
  return MakeGivenValue(result, memory);
}

// Counts a level of calls less when a computation has run.
struct LeaveComputation {
  int& depth;
  ~LeaveComputation() { --depth; }
};

}  // namespace

// One execution of a plan: the results of its steps so far that are still needed.
struct Interpreter::Execution {
  const Plan& plan;
  std::vector<Value> values;

  Operands OperandsOf(const Plan::Step& step) const {
    Operands operands;
    for (int at : step.operands) operands.push_back(&values[at]);
    return operands;
  }
};

Interpreter::Interpreter(Budget& budget, const Profile* profile)
    : budget_(budget),
      profile_(profile),
      clauses_(profile != nullptr ? profile->Clauses() : ClauseSet()),
      plans_(std::make_shared<Plans>(profile != nullptr)) {
  analysis_.deadline = &budget_.deadline();
  if (profile == nullptr) return;
  analysis_.is_xla = profile->IsXla();
  errors_ = std::make_unique<ErrorNumbers>();
  analysis_.errors = errors_.get();
}

Interpreter::Interpreter(Budget& budget, const Profile* profile, Device& device,
                         std::shared_ptr<Plans> plans)
    : Interpreter(budget, profile) {
  plans_ = std::move(plans);
  device_ = &device;
  // Each device would number its errors for itself, and values are exchanged.
  if (device.mesh().device_count() == 1) return;
  analysis_.errors = nullptr;
  errors_.reset();
}

Interpreter::~Interpreter() = default;

Device& Interpreter::device() {
  if (device_ == nullptr) {
    own_mesh_ = std::make_unique<DeviceMesh>(1, 1);
    device_ = &own_mesh_->device(0);
  }
  return *device_;
}

void Interpreter::FollowErrorsOf(const LegalChoices& choices) { errors_->FollowChoices(choices); }

void Interpreter::set_captured(CapturedRun* captured) {
  captured_ = captured;
  plans_->KeepWhole(
      [captured](const Instruction& instruction) { return captured->Watches(instruction); });
}

CustomCallFunction Interpreter::custom_call(const std::string& target) const {
  if (custom_calls_ == nullptr) return nullptr;
  const auto found = custom_calls_->find(target);
  return found == custom_calls_->end() ? nullptr : found->second;
}

absl::Status Interpreter::BoundResult(const OpEvaluation& row, const OpContext& op, Array& result) {
  if (const int64_t width = BoundsPerElement(op.type()); width != 0) {
    ASSAY_RETURN_IF_ERROR(
        memory().Check(op.count() * width * static_cast<int64_t>(sizeof(ElementBound))));
  }
  ASSAY_RETURN_IF_ERROR(row.bound(op, result));
  if (Info(op.instruction.opcode()).Is(kElementwise)) NarrowElementwise(op, result);
  return absl::OkStatus();
}

absl::StatusOr<Value> Interpreter::ApplyRow(const Evaluation& how, const OpContext& op) {
  ASSAY_RETURN_IF_ERROR(budget_.Take(how.CostOf(op)));
  // Beside the value, data movement holds an index per element.
  const int64_t bytes = op.shape.ByteSize(), count = op.count();
  const int64_t indices = count > (int64_t{1} << 58) ? bytes : count * int64_t{8};
  for (int64_t need : {bytes, indices}) ASSAY_RETURN_IF_ERROR(memory().Check(need));
  Array result{Literal(op.shape)};
  if (how.is_widened) {
    ASSAY_RETURN_IF_ERROR(ApplyWidened(op, *how.row, bounding(), result));
  } else {
    ASSAY_RETURN_IF_ERROR(how.row->evaluate(op, result.literal));
    if (analysis_.choices != nullptr)
      ASSAY_RETURN_IF_ERROR(ChooseResult(op, how.row->bound, *analysis_.choices, result.literal));
    if (bounding()) ASSAY_RETURN_IF_ERROR(BoundResult(*how.row, op, result));
  }
  if (bounding()) NoteFacts(op, result);
  return MakeValue(std::move(result), memory());
}

absl::StatusOr<Value> Interpreter::ApplyOnce(const Evaluation& how, const OpContext& op) {
  if (how.row->apply == nullptr) return ApplyRow(how, op);
  absl::StatusOr<Value> value = how.row->apply(*this, op);
  if (bounding() && value.ok()) NoteFreshFacts(op, memory(), *value);
  return value;
}

absl::StatusOr<Value> Interpreter::ApplyFlushed(const Evaluation& how, const OpContext& op) {
  std::vector<Value> values;
  Operands operands;
  for (const Value* operand : op.operands) values.push_back(FlushSubnormals(*operand, memory()));
  for (const Value& value : values) operands.push_back(&value);
  ASSAY_ASSIGN_OR_RETURN(const Value value, ApplyOnce(how, op.On(op.shape, operands)));
  return FlushSubnormals(value, memory());
}

absl::StatusOr<Value> Interpreter::Apply(const Evaluation& how, const OpContext& op) {
  const LegalChoices* const choices = op.analysis.choices;
  const bool is_flushed = choices != nullptr && choices->flushes() && IsFlushed(op.instruction);
  absl::StatusOr<Value> value = is_flushed ? ApplyFlushed(how, op) : ApplyOnce(how, op);
  ASSAY_RETURN_IF_ERROR(budget_.CheckTime());
  return value;
}

OpContext Interpreter::ContextOf(const Plan::Step& step, const Shape& shape,
                                 absl::Span<const Value* const> operands) const {
  return {*step.instruction,
          shape,
          operands,
          step.is_rounded_product ? clauses_.Without(ClauseId::kContraction) : clauses_,
          analysis_,
          step.licensed};
}

absl::StatusOr<Value> Interpreter::Evaluate(const Plan::Step& step, const OpContext& op) {
  switch (step.kind) {
    case StepKind::kRunTimeSize:
      return ApplyAtRunTimeSize(*this, step.evaluation, op);
    case StepKind::kWindows:
      return ApplyToWindows(*this, step.evaluation, op);
    case StepKind::kScatteredSum:
      return ApplyToScatteredSum(*this, step.evaluation, op);
    default:
      return Apply(step.evaluation, op);
  }
}

absl::StatusOr<Value> Interpreter::EvaluateSeen(const Plan::Step& step,
                                                absl::Span<const Value* const> operands) {
  const OpContext op = ContextOf(step, step.instruction->shape(), operands);
  const bool is_seen = captured_ != nullptr && captured_->Watches(*step.instruction);
  return is_seen ? captured_->Evaluate(*this, step, op) : Evaluate(step, op);
}

// A step of a computation on scalars, for arrays of `lanes`.
absl::StatusOr<Value> Interpreter::EvaluateLifted(const Plan::Step& step,
                                                  absl::Span<const Value* const> operands,
                                                  absl::Span<const int64_t> lanes) {
  if (PassesOneElementOn(*step.instruction)) return *operands[0];
  const Shape shape = Lift(step.instruction->shape(), lanes);
  OpContext op = ContextOf(step, shape, operands);
  op.lanes = lanes;
  return Apply(step.evaluation, op);
}

void Interpreter::Finish(Execution& execution, size_t number, Value value) {
  const Plan::Step& step = execution.plan.steps[number];
  std::vector<Value>& values = execution.values;
  values[number] = std::move(value);
  const LegalChoices* const choices = analysis_.choices;
  if (choices != nullptr)
    ChooseFusedProducts(execution.plan, step, values, *choices, memory(), values[number]);
  if (watch_) watch_(*step.instruction, values[number]);
  // Products that may be fused are read as factors by the op that adds them.
  if (choices != nullptr) return;
  for (int at : step.dead_after) values[at] = Value();
}

// Runs the steps from `first` on that gain by it a block of elements at a time. Returns the step
// after them; `first` if there are none.
absl::StatusOr<size_t> Interpreter::RunBlocks(Execution& execution, size_t first) {
  if (!bounding() || analysis_.choices != nullptr || watch_ != nullptr) return first;
  const Plan& plan = execution.plan;
  const size_t end = EndOfBlockwiseSteps(plan, first, execution.values);
  if (end == first) return first;
  auto apply = [&](const Plan::Step& step, const Shape& shape,
                   absl::Span<const Value* const> operands) {
    return Apply(step.evaluation, ContextOf(step, shape, operands));
  };
  ASSAY_RETURN_IF_ERROR(RunBlockwise(plan, first, end, memory(), apply, execution.values));
  for (size_t done = first; done < end; ++done)
    for (int at : plan.steps[done].dead_after) execution.values[at] = Value();
  return end;
}

absl::Status Interpreter::Enter() {
  if (depth_ >= kMaxDepth) {
    return MakeError(ErrorClass::kTimeout,
                     StrCat("computations call each other more than ", kMaxDepth, " levels deep"));
  }
  // Calls cost something without any element: a chain of computations that call the next one twice
  // runs for a time exponential in the length of its text.
  ASSAY_RETURN_IF_ERROR(budget_.Take(1));
  ++depth_;
  return absl::OkStatus();
}

absl::StatusOr<Value> Interpreter::RunPlan(const Plan& plan, absl::Span<const Value> arguments,
                                           std::optional<absl::Span<const int64_t>> lanes) {
  ASSAY_RETURN_IF_ERROR(Enter());
  const LeaveComputation leave{depth_};
  Execution execution{plan, std::vector<Value>(plan.steps.size())};
  for (size_t number = 0; number < plan.steps.size(); ++number) {
    const Plan::Step& step = plan.steps[number];
    if (step.kind == StepKind::kParameter)
      execution.values[number] = arguments[step.instruction->parameter_number()];
    if (step.kind == StepKind::kConstant)
      execution.values[number] =
          lanes.has_value() ? Lift(step.constant, *lanes, memory()) : step.constant;
  }
  for (size_t number = 0; number < plan.steps.size();) {
    const Plan::Step& step = plan.steps[number];
    if (step.IsLeaf()) {
      ++number;
      continue;
    }
    if (step.in_blocks && !lanes.has_value()) {
      ASSAY_ASSIGN_OR_RETURN(const size_t end, RunBlocks(execution, number));
      if (end > number) {
        number = end;
        continue;
      }
    }
    const Operands operands = execution.OperandsOf(step);
    absl::StatusOr<Value> value =
        lanes.has_value() ? EvaluateLifted(step, operands, *lanes) : EvaluateSeen(step, operands);
    if (!value.ok()) return WithPlace(value.status(), *step.instruction);
    Finish(execution, number++, *std::move(value));
  }
  return std::move(execution.values[plan.root]);
}

absl::StatusOr<Value> Interpreter::Run(const Computation& computation,
                                       absl::Span<const Value> arguments) {
  ASSAY_ASSIGN_OR_RETURN(const Plan* plan, PlanOf(computation));
  return RunPlan(*plan, arguments, std::nullopt);
}

absl::StatusOr<Value> Interpreter::RunLifted(const Computation& computation,
                                             absl::Span<const Value> arguments,
                                             absl::Span<const int64_t> dimensions) {
  ASSAY_ASSIGN_OR_RETURN(const Plan* plan, PlanOf(computation));
  return RunPlan(*plan, arguments, dimensions);
}

absl::StatusOr<bool> Interpreter::CanLift(const Computation& computation) {
  ASSAY_ASSIGN_OR_RETURN(const Plan* plan, PlanOf(computation));
  return plan->liftable;
}

}  // namespace assay::reference
