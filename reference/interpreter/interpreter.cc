// Runs plans: one step, a block of steps, or a computation on scalars applied to whole arrays.
#include "reference/interpreter/interpreter.h"

#include <algorithm>

#include "reference/bounds/choices/legal_choices.h"
#include "reference/bounds/error_forms.h"
#include "reference/bounds/magnitudes.h"
#include "reference/interpreter/blockwise.h"
#include "reference/interpreter/capture/captured_run.h"
#include "reference/interpreter/dynamic_shapes.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/interpreter/scattered_sum.h"
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

Literal Repeat(const Literal& scalar, const Shape& shape) {
  Literal result(shape);
  size_t width = scalar.bytes().size();
  for (size_t at = 0; at < result.bytes().size(); at += width)
    std::memcpy(result.bytes().data() + at, scalar.bytes().data(), width);
  return result;
}

// Chooses, where the result of a step is a sum of products of its own computation, whether those
// are rounded before they are added.
void ChooseFusedProducts(const Plan& plan, const Plan::Step& step, absl::Span<const Value> values,
                         const LegalChoices& choices, MemoryMeter& memory, Value& result) {
  const Opcode opcode = step.instruction->opcode();
  if ((opcode != Opcode::kAdd && opcode != Opcode::kSubtract) || result.IsTuple()) return;
  const ElementType type = result.array->literal.element_type();
  if (type != ElementType::kF32 && type != ElementType::kF64) return;
  const Literal* operands[2];
  Factors factors[2];
  for (int k : {0, 1}) {
    const Plan::Step& operand = plan.steps[step.operands[k]];
    operands[k] = &values[step.operands[k]].array->literal;
    if (operand.instruction->opcode() != Opcode::kMultiply) continue;
    factors[k] = {&values[operand.operands[0]].array->literal,
                  &values[operand.operands[1]].array->literal};
  }
  if (factors[0].lhs == nullptr && factors[1].lhs == nullptr) return;
  Array fused = *result.array;
  FuseProducts(opcode == Opcode::kSubtract, operands, factors, choices, fused.literal);
  result = MakeValue(std::move(fused), memory);
}

int LeastSignificand(const Value& value) {
  if (!value.IsTuple()) return value.array->significand;
  int least = ArrayExpectation::kOwnSignificand;
  for (const Value& element : value.elements) least = std::min(least, LeastSignificand(element));
  return least;
}

// Sets the precision of what an op made: that of its operands, and of its own rounding if there is
// more than one answer. Integers and predicates are exact.
void NotePrecision(const OpContext& op, Array& result) {
  const ElementType type = result.literal.element_type();
  if (BoundsPerElement(type) == 0) return;
  for (const Value* operand : op.operands)
    result.significand = std::min(result.significand, LeastSignificand(*operand));
  const int own = Format(ComponentType(type)).precision();
  if (own >= result.significand) return;
  const bool is_rounded =
      std::any_of(result.bounds.begin(), result.bounds.end(),
                  [](const ElementBound& bound) { return (bound.flags & kForced) == 0; });
  if (is_rounded) result.significand = own;
}

// Says whether the bits of NaNs in what an op made are known: moves keep them.
void NoteNanBits(const OpContext& op, Array& result) {
  result.nan_bits = IsMove(op.instruction.opcode()) &&
                    std::all_of(op.operands.begin(), op.operands.end(), [](const Value* operand) {
                      if (operand->IsTuple()) return false;
                      const Array& array = *operand->array;
                      return array.nan_bits || BoundsPerElement(array.literal.element_type()) == 0;
                    });
}

// Sets the precision of those arrays in `value` that the op has just made itself: nobody else holds
// them. Arrays that passed through, or were made by computations that it called, have theirs.
void NoteFreshPrecision(const OpContext& op, MemoryMeter& memory, Value& value) {
  for (Value& element : value.elements) NoteFreshPrecision(op, memory, element);
  if (value.IsTuple() || value.array->significand != ArrayExpectation::kOwnSignificand) return;
  std::optional<Array> fresh = value.Release();
  if (!fresh.has_value()) return;
  NotePrecision(op, *fresh);
  NoteFreshMagnitudes(op, *fresh);
  value.array = MakeValue(*std::move(fresh), memory).array;
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

  explicit Execution(const Plan& of) : plan(of), values(of.steps.size()) {}
  absl::InlinedVector<const Value*, 4> OperandsOf(const Plan::Step& step) const {
    absl::InlinedVector<const Value*, 4> operands;
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

absl::StatusOr<Value> Interpreter::ApplyRow(const OpEvaluation& general, const OpContext& op) {
  ASSAY_RETURN_IF_ERROR(budget_.Take(general.cost != nullptr ? general.cost(op) : op.count()));
  // Beside the value, data movement holds an index per element.
  const int64_t bytes = op.shape.ByteSize(), count = op.count();
  const int64_t indices = count > (int64_t{1} << 58) ? bytes : count * int64_t{8};
  for (int64_t need : {bytes, indices}) ASSAY_RETURN_IF_ERROR(memory().Check(need));
  Array result{Literal(op.shape)};
  const auto [row, is_widened] = RowFor(general, op);
  if (is_widened) {
    ASSAY_RETURN_IF_ERROR(ApplyWidened(op, *row, bounding(), result));
  } else {
    ASSAY_RETURN_IF_ERROR(row->evaluate(op, result.literal));
    const bool is_elementwise = Info(op.instruction.opcode()).Is(kElementwise);
    if (analysis_.choices != nullptr && is_elementwise && HasChoice(op))
      ASSAY_RETURN_IF_ERROR(PushToBounds(op, row->bound, *analysis_.choices, result.literal));
    if (bounding()) ASSAY_RETURN_IF_ERROR(BoundResult(*row, op, result));
  }
  if (bounding()) {
    NotePrecision(op, result);
    NoteNanBits(op, result);
    NoteMagnitudes(op, result);
  }
  return MakeValue(std::move(result), memory());
}

absl::StatusOr<Value> Interpreter::ApplyFlushed(const OpEvaluation& row, const OpContext& op) {
  std::vector<Value> values;
  std::vector<const Value*> operands;
  for (const Value* operand : op.operands) values.push_back(FlushSubnormals(*operand, memory()));
  for (const Value& value : values) operands.push_back(&value);
  const OpContext flushed{op.instruction, op.shape,    operands, op.clauses,
                          op.analysis,    op.licensed, op.lanes};
  ASSAY_ASSIGN_OR_RETURN(const Value value,
                         row.apply == nullptr ? ApplyRow(row, flushed) : row.apply(*this, flushed));
  return FlushSubnormals(value, memory());
}

absl::StatusOr<Value> Interpreter::Apply(const OpEvaluation& row, const OpContext& op) {
  const LegalChoices* const choices = op.analysis.choices;
  const bool is_flushed = choices != nullptr && choices->flushes() && IsFlushed(op.instruction);
  absl::StatusOr<Value> value = is_flushed             ? ApplyFlushed(row, op)
                                : row.apply == nullptr ? ApplyRow(row, op)
                                                       : row.apply(*this, op);
  ASSAY_RETURN_IF_ERROR(budget_.CheckTime());
  if (row.apply == nullptr) return value;
  if (bounding() && value.ok()) NoteFreshPrecision(op, memory(), *value);
  return value;
}

OpContext Interpreter::ContextOf(const Plan::Step& step, const Shape& shape,
                                 absl::Span<const Value* const> operands) const {
  const Opcode opcode = step.instruction->opcode();
  const bool is_product = opcode == Opcode::kMultiply || opcode == Opcode::kDivide;
  const bool is_rounded = is_product && !step.may_feed_sum && IsFloat(shape.element_type());
  return {*step.instruction, shape,
          operands,          is_rounded ? clauses_.Without(ClauseId::kContraction) : clauses_,
          analysis_,         step.licensed,
          std::nullopt};
}

absl::StatusOr<Value> Interpreter::Evaluate(const Execution& execution, const Plan::Step& step) {
  const Instruction& instruction = *step.instruction;
  const auto operands = execution.OperandsOf(step);
  if (step.kind == StepKind::kRunTimeSize) {
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, RunTimeShape(instruction, operands));
    return Apply(*step.evaluation, ContextOf(step, shape, operands));
  }
  const OpContext op = ContextOf(step, instruction.shape(), operands);
  if (step.kind == StepKind::kWindows) return ApplyToWindows(*this, *step.evaluation, op);
  ASSAY_ASSIGN_OR_RETURN(Value value, Apply(*step.evaluation, op));
  if (MakesScatteredSum(op)) NoteScatteredSum(op, value);
  if (AddsToScatteredSum(op)) ASSAY_RETURN_IF_ERROR(HullWithPulledAddition(*this, op, value));
  return value;
}

// Evaluates a step and shows its result to who captured it; of what costs much only a sample.
absl::StatusOr<Value> Interpreter::EvaluateCaptured(const Execution& execution,
                                                    const Plan::Step& step) {
  const Instruction& instruction = *step.instruction;
  const bool has_own_size = step.kind == StepKind::kPlain || step.kind == StepKind::kBlockwise;
  if (has_own_size && captured_->Watches(instruction)) {
    const auto operands = execution.OperandsOf(step);
    const OpContext whole = ContextOf(step, instruction.shape(), operands);
    const auto cost = step.evaluation->cost;
    std::optional<CapturedRun::Sample> sample =
        captured_->SampleOf(instruction, cost != nullptr ? cost(whole) : 0);
    if (sample.has_value()) {
      const Shape list = Shape::Array(instruction.shape().element_type(),
                                      {static_cast<int64_t>(sample->elements.size())});
      Analysis analysis = analysis_;
      analysis.sample = &sample->elements;
      Value value = MakeValue(Array{Literal(list)}, memory());
      if (!sample->elements.empty()) {
        ASSAY_ASSIGN_OR_RETURN(
            value, Apply(*step.evaluation,
                         {instruction, list, operands, whole.clauses, analysis, step.licensed}));
      }
      ASSAY_RETURN_IF_ERROR(
          captured_->PassSample(instruction, *std::move(sample), value, memory()));
      return value;
    }
  }
  ASSAY_ASSIGN_OR_RETURN(Value value, Evaluate(execution, step));
  // The states of loops are captured trip by trip.
  if (instruction.opcode() != Opcode::kWhile)
    ASSAY_RETURN_IF_ERROR(
        captured_->Pass(instruction, value, memory(), execution.OperandsOf(step)));
  return value;
}

void Interpreter::Finish(Execution& execution, size_t number, Value value) {
  const Plan::Step& step = execution.plan.steps[number];
  std::vector<Value>& values = execution.values;
  values[number] = std::move(value);
  if (analysis_.choices != nullptr)
    ChooseFusedProducts(execution.plan, step, values, *analysis_.choices, memory(), values[number]);
  if (watch_) watch_(*step.instruction, values[number]);
  // Products that may be fused are read as factors by the op that adds them.
  if (analysis_.choices != nullptr) return;
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
    return Apply(*step.evaluation, ContextOf(step, shape, operands));
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

absl::StatusOr<Value> Interpreter::RunPlan(const Plan& plan, absl::Span<const Value> arguments) {
  ASSAY_RETURN_IF_ERROR(Enter());
  const LeaveComputation leave{depth_};
  Execution execution(plan);
  for (size_t number = 0; number < plan.steps.size(); ++number) {
    const Plan::Step& step = plan.steps[number];
    if (step.kind == StepKind::kParameter) {
      execution.values[number] = arguments[step.instruction->parameter_number()];
    } else if (step.kind == StepKind::kConstant) {
      execution.values[number] = step.constant;
    }
  }
  for (size_t number = 0; number < plan.steps.size();) {
    const Plan::Step& step = plan.steps[number];
    if (step.kind == StepKind::kParameter || step.kind == StepKind::kConstant) {
      ++number;
      continue;
    }
    if (step.kind == StepKind::kBlockwise) {
      ASSAY_ASSIGN_OR_RETURN(const size_t end, RunBlocks(execution, number));
      if (end > number) {
        number = end;
        continue;
      }
    }
    absl::StatusOr<Value> value =
        captured_ != nullptr ? EvaluateCaptured(execution, step) : Evaluate(execution, step);
    if (!value.ok()) return WithPlace(value.status(), *step.instruction);
    Finish(execution, number++, *std::move(value));
  }
  return std::move(execution.values[plan.root]);
}

absl::StatusOr<Value> Interpreter::Run(const Computation& computation,
                                       absl::Span<const Value> arguments) {
  ASSAY_ASSIGN_OR_RETURN(const Plan* plan, PlanOf(computation));
  return RunPlan(*plan, arguments);
}

absl::StatusOr<Value> Interpreter::RunLifted(const Computation& computation,
                                             absl::Span<const Value> arguments,
                                             absl::Span<const int64_t> dimensions) {
  ASSAY_ASSIGN_OR_RETURN(const Plan* plan, PlanOf(computation));
  ASSAY_RETURN_IF_ERROR(Enter());
  const LeaveComputation leave{depth_};
  Execution execution(*plan);
  for (size_t number = 0; number < plan->steps.size(); ++number) {
    const Plan::Step& step = plan->steps[number];
    if (step.kind == StepKind::kParameter) {
      execution.values[number] = arguments[step.instruction->parameter_number()];
      continue;
    }
    const Shape shape = Lift(step.instruction->shape(), dimensions);
    if (step.kind == StepKind::kConstant) {
      execution.values[number] =
          MakeGivenValue(Repeat(step.constant.array->literal, shape), memory());
      continue;
    }
    if (PassesOneElementOn(*step.instruction)) {
      Finish(execution, number, execution.values[step.operands[0]]);
      continue;
    }
    const auto operands = execution.OperandsOf(step);
    OpContext op = ContextOf(step, shape, operands);
    op.lanes = dimensions;
    absl::StatusOr<Value> value = Apply(*step.evaluation, op);
    if (!value.ok()) return WithPlace(value.status(), *step.instruction);
    Finish(execution, number, *std::move(value));
  }
  return std::move(execution.values[plan->root]);
}

absl::StatusOr<bool> Interpreter::CanLift(const Computation& computation) {
  ASSAY_ASSIGN_OR_RETURN(const Plan* plan, PlanOf(computation));
  return plan->liftable;
}

}  // namespace assay::reference
