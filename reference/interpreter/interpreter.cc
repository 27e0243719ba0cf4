#include "reference/interpreter/interpreter.h"

#include <algorithm>

#include "reference/bounds/forms.h"
#include "reference/bounds/liberties.h"
#include "reference/interpreter/blocks.h"
#include "reference/interpreter/dynamic_shapes.h"
#include "reference/values/complex.h"
#include "reference/values/narrow_types.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

// Calls within calls. Each takes a few hundred bytes of the C++ stack.
constexpr int kMaxDepth = 500;
constexpr int64_t kClockInterval = 1 << 16;  // steps between two looks at the clock
constexpr std::string_view kInconclusiveKey = "assay.inconclusive";

// Ops through which a divisor still is the same for many elements after simplification.
bool MovesOnly(const Instruction& instruction) {
  return Info(instruction.opcode()).Is(kDataMovement) ||
         Info(instruction.opcode()).Is(kElementwise);
}

// Whether a compiler may take `instruction` for a constant or a broadcast after inlining and
// folding (ClauseId::kReciprocalDivision). `known` holds the answers of earlier instructions.
bool IsInvariant(const Instruction& instruction, bool is_entry,
                 const absl::flat_hash_map<const Instruction*, bool>& known) {
  switch (instruction.opcode()) {
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kBroadcast:
      return true;
    case Opcode::kParameter:
      return !is_entry;
    case Opcode::kGetTupleElement:
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kWhile:
    case Opcode::kConditional:
      return true;
    default:
      break;
  }
  if (!MovesOnly(instruction)) return false;
  for (const Instruction* operand : instruction.operands()) {
    auto it = known.find(operand);
    if (it == known.end() || !it->second) return false;
  }
  return true;
}

// What becomes of an operand that an addition could read before it is rounded (kSumView).
enum class ViewOfOperand {
  kIgnored,    // it is read rounded
  kPassedOn,   // the result may be read so in its turn
  kMayBeRead,  // an addition, or an op that may hold one
};

ViewOfOperand ViewBy(const Instruction& user) {
  switch (user.opcode()) {
    case Opcode::kAtan2:
    case Opcode::kCbrt:
    case Opcode::kCeil:
    case Opcode::kClamp:
    case Opcode::kCompare:
    case Opcode::kCosine:
    case Opcode::kErf:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kFloor:
    case Opcode::kIsFinite:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kPower:
    case Opcode::kRemainder:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kRsqrt:
    case Opcode::kSign:
    case Opcode::kSine:
    case Opcode::kSqrt:
    case Opcode::kTan:
    case Opcode::kTanh:
      return ViewOfOperand::kIgnored;
    case Opcode::kAbs:
    case Opcode::kDivide:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kSelect:
    case Opcode::kTuple:
      return ViewOfOperand::kPassedOn;
    default:
      return Info(user.opcode()).Is(kDataMovement) ? ViewOfOperand::kPassedOn
                                                   : ViewOfOperand::kMayBeRead;
  }
}

bool IsEffect(const Instruction& instruction,
              const absl::flat_hash_map<const Computation*, bool>& computations) {
  if (Info(instruction.opcode()).Is(kSideEffect) ||
      instruction.attributes().Flag(Attr::kCustomCallHasSideEffect)) {
    return true;
  }
  return std::any_of(instruction.callees().begin(), instruction.callees().end(),
                     [&](const Computation* callee) {
                       auto it = computations.find(callee);
                       return it != computations.end() && it->second;
                     });
}

// Operands and control predecessors come before their users.
bool IsExecutable(absl::Span<Instruction* const> order) {
  absl::flat_hash_map<const Instruction*, bool> seen;
  for (const Instruction* instruction : order) {
    for (const Instruction* operand : instruction->operands())
      if (!seen.contains(operand)) return false;
    for (const Instruction* predecessor : instruction->control_predecessors())
      if (!seen.contains(predecessor)) return false;
    seen[instruction] = true;
  }
  return true;
}

bool IsScalarOrScalarTuple(const Shape& shape) {
  if (shape.IsTuple()) {
    return std::all_of(shape.elements().begin(), shape.elements().end(), IsScalarOrScalarTuple);
  }
  return shape.IsArray() && shape.rank() == 0;
}

bool IsLiftable(const Instruction& instruction) {
  if (!IsScalarOrScalarTuple(instruction.shape())) return false;
  switch (instruction.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
      return true;
    default:
      return Info(instruction.opcode()).Is(kElementwise) && FindEvaluation(instruction.opcode());
  }
}

Freedoms FreedomsOf(const Profile* profile) {
  if (profile == nullptr) return {};
  return {.flush = profile->Grants(ClauseId::kFlushSubnormals),
          .excess = profile->Grants(ClauseId::kExcessPrecision),
          .contract = profile->Grants(ClauseId::kContraction),
          .reassociate = profile->Grants(ClauseId::kReassociation),
          .commute = profile->IsXla(),
          .reciprocal = profile->Grants(ClauseId::kReciprocalDivision),
          .reciprocal_root = profile->Grants(ClauseId::kReciprocalRoot),
          .nested_quotients = profile->Grants(ClauseId::kNestedQuotients),
          .constant_chains = profile->Grants(ClauseId::kConstantChains),
          .exponentials = profile->Grants(ClauseId::kExponentials),
          .literal_reducer = profile->Grants(ClauseId::kLiteralReducer),
          .xla_budgets = profile->IsXla()};
}

Freedoms WithoutContraction(Freedoms freedoms) {
  freedoms.contract = false;
  return freedoms;
}

// `shape` with `dimensions` at every leaf, which are scalars.
Shape Lift(const Shape& shape, absl::Span<const int64_t> dimensions) {
  if (!shape.IsTuple()) return Shape::Array(shape.element_type(), dimensions);
  std::vector<Shape> elements;
  for (const Shape& element : shape.elements()) elements.push_back(Lift(element, dimensions));
  return Shape::Tuple(std::move(elements));
}

// Whether the result or an array operand has such a type.
bool AnyType(const OpContext& op, bool (*is)(ElementType)) {
  if (op.shape.IsArray() && is(op.type())) return true;
  return std::any_of(op.operands.begin(), op.operands.end(), [is](const Value* operand) {
    return !operand->IsTuple() && is(operand->array->literal.element_type());
  });
}

// The row for the op on its element types.
const OpEvaluation& RowFor(const OpEvaluation& row, const OpContext& op) {
  const Opcode opcode = op.instruction.opcode();
  const OpEvaluation* special = nullptr;
  if (AnyType(op, IsComplex)) {
    special = FindComplexEvaluation(opcode);
  } else if (op.shape.IsArray() && IsNarrowType(op.type()) && !IsFloat(op.type())) {
    special = FindNarrowEvaluation(opcode);
  }
  return special != nullptr ? *special : row;
}

bool IsWidened(const OpEvaluation& row, const OpContext& op) {
  if (row.any_type || Info(op.instruction.opcode()).Is(kDataMovement)) return false;
  return FindNarrowEvaluation(row.opcode) != &row && AnyType(op, IsNarrowType);
}

// Where the result of a step is a sum of products of its own computation, some of them may not have
// been rounded.
void ContractProducts(const Plan& plan, const Plan::Step& step, absl::Span<const Value> values,
                      const Liberties& liberties, MemoryMeter& memory, Value& result) {
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
  Array contracted = *result.array;
  Contract(opcode == Opcode::kSubtract, operands, factors, liberties, contracted.literal);
  result = MakeValue(std::move(contracted), memory);
}

// A limit says in which instruction it was met: the innermost, other errors name theirs themselves.
absl::Status WithPlace(const absl::Status& status, const Instruction& at) {
  constexpr char kPlaced[] = "assay/placed";
  const ErrorClass error_class = ClassOf(status);
  const bool is_limit =
      error_class == ErrorClass::kTimeout || error_class == ErrorClass::kOutOfMemory;
  if (!is_limit || status.GetPayload(kPlaced).has_value()) return status;
  absl::Status placed =
      MakeError(error_class, StrCat("computation ", at.parent()->name(), ", instruction ",
                                    at.name(), ": ", ToStd(status.message())));
  placed.SetPayload(kPlaced, absl::Cord("1"));
  return placed;
}

Literal Repeat(const Literal& scalar, const Shape& shape) {
  Literal result(shape);
  size_t width = scalar.bytes().size();
  for (size_t at = 0; at < result.bytes().size(); at += width)
    std::memcpy(result.bytes().data() + at, scalar.bytes().data(), width);
  return result;
}

}  // namespace

Budget::Budget(const Limits& limits)
    : limits_(limits),
      memory_(limits.memory_bytes),
      steps_left_(limits.steps),
      deadline_(std::chrono::steady_clock::now() +
                std::chrono::microseconds(
                    static_cast<int64_t>(std::clamp(limits.seconds, 0.0, 1e9) * 1e6))) {}

absl::Status Budget::Take(int64_t steps) {
  if (steps > steps_left_) {
    return MakeError(
        ErrorClass::kTimeout,
        StrCat("the program needs more than the limit of ", limits_.steps,
               " element evaluations; raise the step limit (--max-steps) if it does end"));
  }
  steps_left_ -= steps;
  next_clock_check_ -= steps + 64;  // an instruction costs something even without elements
  if (next_clock_check_ > 0) return absl::OkStatus();
  next_clock_check_ = kClockInterval;
  if (std::chrono::steady_clock::now() < deadline_) return absl::OkStatus();
  return MakeError(ErrorClass::kTimeout,
                   StrCat("the oracle ran longer than the limit of ", limits_.seconds,
                          " seconds; raise the time limit (--timeout) if it does end"));
}

Interpreter::Interpreter(Budget& budget, const Profile* profile)
    : budget_(budget),
      profile_(profile),
      freedoms_(FreedomsOf(profile)),
      without_contraction_(WithoutContraction(freedoms_)),
      plans_(std::make_shared<Plans>()) {
  if (profile == nullptr) return;
  errors_ = std::make_unique<ErrorNumbers>();
  freedoms_.errors = without_contraction_.errors = errors_.get();
}

Interpreter::Interpreter(Budget& budget, const Profile* profile, Device& device,
                         std::shared_ptr<Plans> plans)
    : Interpreter(budget, profile) {
  plans_ = std::move(plans);
  device_ = &device;
  // Each device would number its errors for itself, and values are exchanged.
  if (device.machine().device_count() == 1) return;
  freedoms_.errors = without_contraction_.errors = nullptr;
  errors_.reset();
}

Interpreter::~Interpreter() = default;

Device& Interpreter::device() {
  if (device_ == nullptr) {
    own_machine_ = std::make_unique<Machine>(1, 1);
    device_ = &own_machine_->device(0);
  }
  return *device_;
}

bool Interpreter::HasEffects(const Computation& computation) {
  const Module& module = *computation.parent();
  if (plans_->module != &module) {
    plans_->module = &module;
    plans_->effects.clear();
    plans_->inlining_callers = FindInliningCallers(module);
    for (const Computation* each : module.ComputationPostOrder()) {
      plans_->effects[each] = std::any_of(
          each->begin(), each->end(),
          [&](const Instruction* instruction) { return IsEffect(*instruction, plans_->effects); });
    }
  }
  return plans_->effects[&computation];
}

absl::StatusOr<const Plan*> Interpreter::PlanOf(const Computation& computation) {
  std::unique_ptr<Plan>& slot = plans_->plans[&computation];
  if (slot != nullptr) return slot.get();
  auto plan = std::make_unique<Plan>();
  plan->computation = &computation;
  plan->liftable = true;
  std::vector<Instruction*> order = computation.PostOrder();
  absl::flat_hash_map<const Instruction*, bool> needed, invariant;
  needed[computation.root()] = true;
  if (HasEffects(computation)) {
    // Effects happen in the order that the text gives, if it is one that can be executed.
    std::vector<Instruction*> stored(computation.begin(), computation.end());
    if (IsExecutable(stored)) order = std::move(stored);
    for (const Instruction* instruction : order)
      if (IsEffect(*instruction, plans_->effects)) needed[instruction] = true;
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!needed[*it]) continue;
    for (const Instruction* operand : (*it)->operands()) needed[operand] = true;
  }
  const bool is_entry = computation.parent()->entry() == &computation;
  absl::flat_hash_map<const Instruction*, int> place;
  std::vector<int> last_user;
  for (const Instruction* instruction : order) {
    if (!needed[instruction]) continue;
    Plan::Step step{.instruction = instruction,
                    .evaluation = FindEvaluation(instruction->opcode())};
    if (step.evaluation == nullptr) {
      return MakeError(ErrorClass::kUnsupported,
                       StrCat(instruction->name(), ": the oracle does not evaluate ",
                              Name(instruction->opcode())));
    }
    invariant[instruction] = IsInvariant(*instruction, is_entry, invariant);
    if (bounding()) step.rewrites = RewritesOf(*instruction, plans_->inlining_callers);
    if (instruction->opcode() == Opcode::kDivide)
      step.rewrites.divisor_is_invariant = invariant[instruction->operand(1)];
    if (instruction->opcode() == Opcode::kConstant) {
      if (instruction->literal() == nullptr) {
        return MakeError(ErrorClass::kUnsupported,
                         StrCat(instruction->name(),
                                ": the text leaves the value of this constant out ({...}); print "
                                "the module with large constants"));
      }
      step.constant = MakeValue(*instruction->literal(), memory());
    }
    int number = static_cast<int>(plan->steps.size());
    for (const Instruction* operand : instruction->operands()) {
      int at = place[operand];
      step.operands.push_back(at);
      last_user[at] = number;
    }
    plan->liftable = plan->liftable && IsLiftable(*instruction);
    place[instruction] = number;
    if (instruction == computation.root()) plan->root = plan->steps.size();
    last_user.push_back(-1);
    plan->steps.push_back(std::move(step));
  }
  for (size_t at = 0; at < last_user.size(); ++at) {
    if (last_user[at] >= 0 && at != plan->root)
      plan->steps[last_user[at]].dead_after.push_back(static_cast<int>(at));
  }
  // What other computations do with a result is not looked at; the program's own are rounded.
  for (Plan::Step& step : plan->steps)
    step.may_feed_sum = step.instruction == computation.root() && !is_entry;
  for (size_t number = plan->steps.size(); number-- > 0;) {
    const Plan::Step& user = plan->steps[number];
    const ViewOfOperand view = ViewBy(*user.instruction);
    if (view == ViewOfOperand::kIgnored) continue;
    if (view == ViewOfOperand::kPassedOn && !user.may_feed_sum) continue;
    for (int at : user.operands) plan->steps[at].may_feed_sum = true;
  }
  // `slot` may have moved: making constants does not plan other computations, so it has not.
  slot = std::move(plan);
  return slot.get();
}

namespace {

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

// The same for the arrays that the op has just made itself; those that passed through or were made
// by computations that it called have theirs.
void NoteFreshPrecision(const OpContext& op, Value& value) {
  for (Value& element : value.elements) NoteFreshPrecision(op, element);
  if (value.IsTuple() || value.array.use_count() != 1) return;
  if (value.array->significand != ArrayExpectation::kOwnSignificand) return;
  NotePrecision(op, const_cast<Array&>(*value.array));
}

}  // namespace

absl::StatusOr<Value> Interpreter::Apply(const OpEvaluation& general_row, const OpContext& op) {
  if (general_row.apply != nullptr) {
    absl::StatusOr<Value> value = general_row.apply(*this, op);
    if (bounding() && value.ok()) NoteFreshPrecision(op, *value);
    return value;
  }
  if (absl::Status status =
          budget_.Take(general_row.cost != nullptr ? general_row.cost(op) : op.count());
      !status.ok())
    return status;
  // Beside the value, data movement holds an index per element.
  const int64_t bytes = op.shape.ByteSize(), count = op.count();
  const int64_t indices = count > (int64_t{1} << 58) ? bytes : count * int64_t{8};
  for (int64_t need : {bytes, indices})
    if (absl::Status status = memory().Check(need); !status.ok()) return status;
  Array result{Literal(op.shape)};
  const OpEvaluation& row = RowFor(general_row, op);
  if (IsWidened(row, op)) {
    if (absl::Status status = ApplyWidened(op, row, bounding(), result); !status.ok())
      return status;
    if (bounding()) NotePrecision(op, result);
    return MakeValue(std::move(result), memory());
  }
  if (absl::Status status = row.evaluate(op, result.literal); !status.ok()) return status;
  if (freedoms_.liberties != nullptr && Info(op.instruction.opcode()).Is(kElementwise) &&
      HasLiberty(op)) {
    absl::Status moved = MoveElements(op, row.bound, *freedoms_.liberties, result.literal);
    if (!moved.ok()) return moved;
  }
  if (bounding()) {
    if (const int64_t width = BoundsPerElement(op.type()); width != 0) {
      if (absl::Status status =
              memory().Check(op.count() * width * static_cast<int64_t>(sizeof(ElementBound)));
          !status.ok())
        return status;
    }
    if (absl::Status status = row.bound(op, result); !status.ok()) return status;
    if (Info(op.instruction.opcode()).Is(kElementwise)) NarrowElementwise(op, result);
    NotePrecision(op, result);
  }
  return MakeValue(std::move(result), memory());
}

absl::StatusOr<Value> Interpreter::RunPlan(const Plan& plan, absl::Span<const Value> arguments,
                                           const absl::Span<const int64_t>* lifted) {
  if (depth_ >= kMaxDepth) {
    return MakeError(ErrorClass::kTimeout,
                     StrCat("computations call each other more than ", kMaxDepth, " levels deep"));
  }
  // Calls cost something without any element: a chain of computations that call the next one twice
  // runs as long as its text is exponential in.
  if (absl::Status status = budget_.Take(1); !status.ok()) return status;
  ++depth_;
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{depth_};
  std::vector<Value> values(plan.steps.size());
  auto context = [&](const Plan::Step& step, const Shape& shape,
                     absl::Span<const Value* const> operands) {
    const Opcode opcode = step.instruction->opcode();
    const bool is_product = opcode == Opcode::kMultiply || opcode == Opcode::kDivide;
    const bool is_rounded = is_product && !step.may_feed_sum && IsFloat(shape.element_type());
    return OpContext{*step.instruction, shape, operands,
                     is_rounded ? without_contraction_ : freedoms_, step.rewrites};
  };
  for (size_t number = 0; number < plan.steps.size(); ++number) {
    const Plan::Step& step = plan.steps[number];
    if (step.instruction->opcode() == Opcode::kParameter) {
      values[number] = arguments[step.instruction->parameter_number()];
    } else if (step.instruction->opcode() == Opcode::kConstant && lifted == nullptr) {
      values[number] = step.constant;
    }
  }
  const bool may_go_blockwise =
      bounding() && lifted == nullptr && freedoms_.liberties == nullptr && watch_ == nullptr;
  for (size_t number = 0; number < plan.steps.size(); ++number) {
    const Plan::Step& step = plan.steps[number];
    const Instruction& instruction = *step.instruction;
    if (instruction.opcode() == Opcode::kParameter) continue;
    if (instruction.opcode() == Opcode::kConstant) {
      if (lifted == nullptr) continue;
      const Shape shape = Lift(instruction.shape(), *lifted);
      values[number] = MakeValue(Array(Repeat(step.constant.array->literal, shape)), memory());
      continue;
    }
    if (may_go_blockwise) {
      const size_t end = EndOfBlockwiseSteps(plan, number, values);
      if (end > number) {
        auto apply = [&](const Plan::Step& one, const Shape& shape,
                         absl::Span<const Value* const> operands) {
          return Apply(*one.evaluation, context(one, shape, operands));
        };
        absl::Status status = RunBlockwise(plan, number, end, memory(), apply, values);
        if (!status.ok()) return status;
        for (size_t done = number; done < end; ++done)
          for (int at : plan.steps[done].dead_after) values[at] = Value();
        number = end - 1;
        continue;
      }
    }
    absl::InlinedVector<const Value*, 4> operands;
    for (int at : step.operands) operands.push_back(&values[at]);
    Shape lifted_shape;
    if (lifted != nullptr) lifted_shape = Lift(instruction.shape(), *lifted);
    const bool dynamic = lifted == nullptr && TouchesDynamic(instruction);
    const bool windows = dynamic && ReadsWindows(instruction);
    if (dynamic && !windows) {
      absl::StatusOr<Shape> sized = RunTimeShape(instruction, operands);
      if (!sized.ok()) return sized.status();
      lifted_shape = *std::move(sized);
    }
    const bool as_written = lifted == nullptr && (!dynamic || windows);
    const OpContext op = context(step, as_written ? instruction.shape() : lifted_shape, operands);
    absl::StatusOr<Value> value =
        windows ? ApplyToWindows(*this, *step.evaluation, op) : Apply(*step.evaluation, op);
    if (!value.ok()) return WithPlace(value.status(), instruction);
    values[number] = *std::move(value);
    if (freedoms_.liberties != nullptr)
      ContractProducts(plan, step, values, *freedoms_.liberties, memory(), values[number]);
    if (watch_) watch_(instruction, values[number]);
    // The factors of a product are read where it is added.
    if (freedoms_.liberties != nullptr) continue;
    for (int at : step.dead_after) values[at] = Value();
  }
  return std::move(values[plan.root]);
}

absl::StatusOr<Value> Interpreter::Run(const Computation& computation,
                                       absl::Span<const Value> arguments) {
  absl::StatusOr<const Plan*> plan = PlanOf(computation);
  if (!plan.ok()) return plan.status();
  return RunPlan(**plan, arguments, nullptr);
}

absl::StatusOr<Value> Interpreter::RunLifted(const Computation& computation,
                                             absl::Span<const Value> arguments,
                                             absl::Span<const int64_t> dimensions) {
  absl::StatusOr<const Plan*> plan = PlanOf(computation);
  if (!plan.ok()) return plan.status();
  return RunPlan(**plan, arguments, &dimensions);
}

absl::StatusOr<bool> Interpreter::CanLift(const Computation& computation) {
  absl::StatusOr<const Plan*> plan = PlanOf(computation);
  if (!plan.ok()) return plan.status();
  return (*plan)->liftable;
}

absl::Status Inconclusive(std::string_view reason) {
  absl::Status status = absl::AbortedError(ToAbsl(reason));
  status.SetPayload(ToAbsl(kInconclusiveKey), absl::Cord("1"));
  return status;
}

bool IsInconclusive(const absl::Status& status) {
  return status.GetPayload(ToAbsl(kInconclusiveKey)).has_value();
}

}  // namespace assay::reference
