// Loops, conditionals, calls and fusions (requirements 17 to 25). No program runs for ever: a loop
// either was simulated to its end here or carries a fuel counter, which is among its results so
// that a wrong trip count is seen.
#include <algorithm>
#include <optional>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"
#include "spec/attributes/mirrored_direction.h"

namespace assay {
namespace {

constexpr int64_t kMostTrips = 12;

// Opens a scope in a new computation and returns to the outer one when it ends.
class NestedScope {
 public:
  NestedScope(Program& program, std::string_view name, int64_t trips, bool control)
      : program_(program) {
    scope_.computation = program.NewComputation(name);
    scope_.depth = program.scope().depth + 1;
    scope_.trips = program.scope().trips * trips;
    scope_.control = control && program.scope().control && scope_.depth < 3;
    outer_ = program.EnterScope(&scope_);
  }
  ~NestedScope() { program_.EnterScope(outer_); }
  NestedScope(const NestedScope&) = delete;
  NestedScope& operator=(const NestedScope&) = delete;

  Computation* computation() { return scope_.computation; }
  void set_root(Instruction* root) { scope_.computation->set_root(root); }

 private:
  Program& program_;
  Scope scope_;
  Scope* outer_;
};

void AddSteps(Program& program, int64_t steps) {
  for (int64_t i = 0; i < steps && !program.Exhausted(); ++i) {
    bool control = program.scope().control && program.choices().Percent(40);
    size_t at = program.choices().Weighted({45, 40, 9, 6});
    constexpr RecipeGroup kGroups[] = {RecipeGroup::kElementwise, RecipeGroup::kIndex,
                                       RecipeGroup::kReduce, RecipeGroup::kDot};
    ApplyRecipe(program, control ? RecipeGroup::kControl : kGroups[at]);
  }
}

// Chooses what a state element becomes: itself, another value of its shape (so elements rotate), or
// something computed from it.
Instruction* NextValue(Program& program, Instruction* now) {
  Choices& choices = program.choices();
  if (choices.Percent(15)) return now;
  if (!choices.Percent(30)) {
    Instruction* existing = program.Existing(now->shape());
    if (existing != nullptr && existing != now) return existing;
  }
  ElementType type = now->shape().element_type();
  if (IsPred(type)) return program.Unary(Opcode::kNot, now);
  const Opcode most = IsComplex(type) ? Opcode::kMultiply : Opcode::kMaximum;
  const Opcode opcode = choices.Pick({Opcode::kAdd, most, Opcode::kSubtract});
  return program.Binary(opcode, now, program.OperandLike(now->shape()));
}

// ---- while

int64_t WrapTo(ElementType type, int64_t value) {
  Literal literal(Shape::Scalar(type));
  literal.SetInteger(0, value);
  return literal.GetInteger(0);
}

bool Holds(ElementType type, Direction direction, int64_t a, int64_t b) {
  bool less = IsUnsigned(type) ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  switch (direction) {
    case Direction::kEq:
      return a == b;
    case Direction::kNe:
      return a != b;
    case Direction::kGe:
      return !less;
    case Direction::kGt:
      return !less && a != b;
    case Direction::kLe:
      return less || a == b;
    case Direction::kLt:
      return less;
  }
  return false;
}

struct LoopPlan {
  ElementType type;
  int64_t start, bound, step;
  Direction direction;
  std::optional<int64_t> trips;  // nullopt: more than kMostTrips
  // The way in which the counter goes on. Most add the step; the others are what an analysis must
  // not take for that.
  enum class Form : uint8_t { kAdd, kTakenFrom, kMultiply, kXor } form = Form::kAdd;
  // Added to the bound and the step in each trip: not 0 where they only look like constants.
  int64_t bound_drift = 0, step_drift = 0;
};

int64_t Next(const LoopPlan& plan, int64_t counter, int64_t step_now) {
  const auto now = static_cast<uint64_t>(counter), step = static_cast<uint64_t>(step_now);
  switch (plan.form) {
    case LoopPlan::Form::kTakenFrom:
      return WrapTo(plan.type, static_cast<int64_t>(step - now));
    case LoopPlan::Form::kMultiply:
      return WrapTo(plan.type, static_cast<int64_t>(step * now));
    case LoopPlan::Form::kXor:
      return WrapTo(plan.type, static_cast<int64_t>(step ^ now));
    default:
      return WrapTo(plan.type, static_cast<int64_t>(step + now));
  }
}

void Simulate(LoopPlan& plan) {
  int64_t counter = WrapTo(plan.type, plan.start), bound = WrapTo(plan.type, plan.bound);
  int64_t step = plan.step;
  for (int64_t trip = 0; trip <= kMostTrips; ++trip) {
    if (!Holds(plan.type, plan.direction, counter, bound)) {
      plan.trips = trip;
      return;
    }
    counter = Next(plan, counter, step);
    bound = WrapTo(plan.type, static_cast<int64_t>(static_cast<uint64_t>(bound) +
                                                   static_cast<uint64_t>(plan.bound_drift)));
    step += plan.step_drift;
  }
}

LoopPlan DrawLoop(Program& program) {
  Choices& choices = program.choices();
  LoopPlan plan;
  plan.type = program.DrawIndexType();
  plan.step = choices.Percent(50) ? 1 : choices.Range(1, 5);
  bool descending = choices.Percent(25);
  if (descending) plan.step = -plan.step;
  switch (choices.Weighted({50, 25, 12, 13})) {
    case 0:
      plan.start = descending ? choices.Range(4, 20) : 0;
      break;
    case 1:
      plan.start = choices.Range(-6, 6);
      break;
    case 2:
      plan.start = MaxOf(plan.type) - choices.Range(0, 12);
      break;
    default:
      plan.start = MinOf(plan.type) + choices.Range(0, 12);
      break;
  }
  int64_t trips = choices.Percent(22) ? choices.Range(0, 1) : choices.Range(2, 6);
  int64_t offset = choices.Percent(35) ? choices.Range(-2, 2) : 0;
  plan.bound = static_cast<int64_t>(static_cast<uint64_t>(plan.start) +
                                    static_cast<uint64_t>(plan.step * trips + offset));
  constexpr Direction kUp[] = {Direction::kLt, Direction::kLe, Direction::kNe};
  constexpr Direction kDown[] = {Direction::kGt, Direction::kGe, Direction::kNe};
  size_t at = choices.Weighted({50, 30, 20});
  plan.direction = descending ? kDown[at] : kUp[at];
  if (choices.Percent(25)) {
    // Only where it ends by itself: with fuel in the condition nobody counts its trips.
    LoopPlan other = plan;
    using Form = LoopPlan::Form;
    const size_t way = choices.Weighted({15, 8, 4});
    if (way == 0)
      other.form = choices.Pick({Form::kTakenFrom, Form::kTakenFrom, Form::kMultiply, Form::kXor});
    if (way == 1) other.bound_drift = choices.Pick<int64_t>({-1, 1, -2, 2});
    if (way == 2) other.step_drift = choices.Pick<int64_t>({1, -1, 2});
    Simulate(other);
    if (other.trips.has_value()) return other;
  }
  Simulate(plan);
  return plan;
}

// The places of the parts of a counted loop's state in its tuple.
struct LoopState {
  std::vector<Instruction*> init;
  int64_t counter = 0, fuel = 0;
  int64_t bound = -1, step = -1;  // -1: constants
  std::vector<int64_t> payload;
};

LoopState DrawState(Program& program, const LoopPlan& plan) {
  Choices& choices = program.choices();
  LoopState state;
  auto add = [&](Instruction* element) {
    state.init.push_back(element);
    return static_cast<int64_t>(state.init.size()) - 1;
  };
  auto add_payload = [&] {
    int64_t count = choices.Range(1, 3);
    for (int64_t i = 0; i < count; ++i) {
      bool again = !state.payload.empty() && choices.Percent(40);
      Instruction* first = again ? state.init[state.payload[0]] : nullptr;
      // A duplicate, a partner to rotate with, or something else.
      Instruction* element = first == nullptr      ? program.Operand(kAnyArray)
                             : choices.Percent(40) ? first
                                                   : program.OperandLike(first->shape());
      state.payload.push_back(add(element));
    }
  };
  bool payload_first = choices.Percent(40);
  if (payload_first) add_payload();
  state.counter = add(program.KnownScalar(plan.type, plan.start));
  state.fuel = add(program.ScalarConstant(ElementType::kS32, 0));
  if (plan.bound_drift != 0 || choices.Percent(20))
    state.bound = add(program.KnownScalar(plan.type, plan.bound));
  if (plan.step_drift != 0 || choices.Percent(12))
    state.step = add(program.KnownScalar(plan.type, plan.step));
  if (!payload_first) add_payload();
  return state;
}

Shape TupleOf(const std::vector<Instruction*>& elements) {
  std::vector<Shape> shapes;
  for (Instruction* element : elements) shapes.push_back(element->shape());
  return Shape::Tuple(std::move(shapes));
}

Computation* BuildCondition(Program& program, const LoopPlan& plan, const LoopState& state) {
  Choices& choices = program.choices();
  NestedScope scope(program, "condition", kMostTrips, false);
  Instruction* parameter = program.ScopeParameter(0, TupleOf(state.init));
  Instruction* counter = program.GetTupleElement(parameter, state.counter);
  Instruction* bound = state.bound >= 0 ? program.GetTupleElement(parameter, state.bound)
                                        : program.ScalarConstant(plan.type, plan.bound);
  bool swapped = choices.Percent(25);
  Instruction* going = swapped ? program.Compare(Mirrored(plan.direction), bound, counter)
                               : program.Compare(plan.direction, counter, bound);
  if (!plan.trips.has_value() || choices.Percent(35)) {
    int64_t limit = choices.Percent(70) ? kMostTrips : choices.Range(1, 6);
    Instruction* fuel = program.GetTupleElement(parameter, state.fuel);
    Instruction* most = program.ScalarConstant(ElementType::kS32, limit);
    Instruction* fuelled = program.Compare(Direction::kLt, fuel, most);
    going = choices.Percent(50) ? program.Binary(Opcode::kAnd, going, fuelled)
                                : program.Binary(Opcode::kAnd, fuelled, going);
  }
  scope.set_root(going);
  return scope.computation();
}

// Writes a row at the counter, as scans do.
Instruction* WriteRow(Program& program, Instruction* operand, Instruction* counter) {
  DimVector sizes(operand->shape().dimensions().begin(), operand->shape().dimensions().end());
  sizes[0] = std::min<int64_t>(sizes[0], 1);
  std::vector<Instruction*> starts = {counter};
  for (size_t i = 1; i < sizes.size(); ++i) {
    starts.push_back(program.ScalarConstant(counter->shape().element_type(), 0));
  }
  Instruction* row = program.choices().Percent(50)
                         ? program.DynamicSlice(operand, starts, sizes)
                         : program.OperandOf(operand->shape().element_type(), sizes);
  if (!IsPred(row->shape().element_type())) row = program.Binary(Opcode::kAdd, row, row);
  Instruction* written = program.DynamicUpdateSlice(operand, row, starts);
  if (program.choices().Percent(30)) program.DynamicSlice(written, starts, sizes);
  return written;
}

Computation* BuildBody(Program& program, const LoopPlan& plan, const LoopState& state) {
  Choices& choices = program.choices();
  NestedScope scope(program, "body", kMostTrips, choices.Percent(60));
  Instruction* parameter = program.ScopeParameter(0, TupleOf(state.init));
  std::vector<Instruction*> now;
  for (size_t i = 0; i < state.init.size(); ++i) {
    now.push_back(program.GetTupleElement(parameter, static_cast<int64_t>(i)));
  }
  Instruction* counter = now[state.counter];
  std::vector<Instruction*> next = now;
  const bool adds = plan.form == LoopPlan::Form::kAdd;
  bool subtract = adds && state.step < 0 && plan.step < 0 && choices.Percent(50);
  Instruction* step = state.step >= 0
                          ? now[state.step]
                          : program.ScalarConstant(plan.type, subtract ? -plan.step : plan.step);
  const bool takes_from = plan.form == LoopPlan::Form::kTakenFrom;
  const Opcode opcode = subtract || takes_from                   ? Opcode::kSubtract
                        : plan.form == LoopPlan::Form::kMultiply ? Opcode::kMultiply
                        : plan.form == LoopPlan::Form::kXor      ? Opcode::kXor
                                                                 : Opcode::kAdd;
  next[state.counter] =
      program.Binary(opcode, takes_from ? step : counter, takes_from ? counter : step);
  const auto drift = [&](int64_t element, int64_t by) {
    if (by == 0) return;
    next[element] =
        program.Binary(Opcode::kAdd, now[element], program.ScalarConstant(plan.type, by));
  };
  drift(state.bound, plan.bound_drift);
  drift(state.step, plan.step_drift);
  Instruction* one = program.ScalarConstant(ElementType::kS32, 1);
  next[state.fuel] = program.Binary(Opcode::kAdd, now[state.fuel], one);
  AddSteps(program, choices.Range(0, 3));
  for (int64_t at : state.payload) {
    bool scan = now[at]->shape().rank() > 0 && choices.Percent(25);
    next[at] = scan ? WriteRow(program, now[at], counter) : NextValue(program, now[at]);
  }
  scope.set_root(program.Tuple(next));
  return scope.computation();
}

Instruction* BuildCountedLoop(Program& program, Opcode) {
  if (!program.scope().control) return nullptr;
  Choices& choices = program.choices();
  LoopPlan plan = DrawLoop(program);
  LoopState state = DrawState(program, plan);
  Computation* condition = BuildCondition(program, plan, state);
  Computation* body = BuildBody(program, plan, state);
  Instruction* init = program.Tuple(state.init);
  Instruction* loop = program.Emit(Opcode::kWhile, init->shape(), {init}, {}, {condition, body});
  // The loop again from where it stopped: shared computations, and an operand that is a loop.
  if (choices.Percent(8)) {
    loop = program.Emit(Opcode::kWhile, init->shape(), {loop}, {}, {condition, body});
  }
  // Shows how often it ran, and where it ended.
  program.AlwaysShow(program.GetTupleElement(loop, state.fuel));
  program.AlwaysShow(program.GetTupleElement(loop, state.counter));
  Instruction* last = nullptr;
  for (int64_t at : state.payload) {
    if (last == nullptr || choices.Percent(60)) last = program.GetTupleElement(loop, at);
  }
  return last;
}

// State that is one array and no tuple. Starts within [-3, 3] and grows by at least one until its
// first element passes a bound.
Instruction* BuildArrayLoop(Program& program, Opcode) {
  if (!program.scope().control) return nullptr;
  Choices& choices = program.choices();
  ElementType type = choices.Pick({ElementType::kS32, ElementType::kS64, ElementType::kS16});
  DimVector dimensions;
  if (choices.Percent(60)) dimensions.push_back(choices.Range(1, 6));
  Instruction* low = program.ScalarConstant(type, -3);
  Instruction* high = program.ScalarConstant(type, 3);
  Instruction* x = program.OperandOf(type, dimensions);
  Shape shape = Shape::Array(type, dimensions);
  Instruction* init = program.Emit(Opcode::kClamp, shape, {low, x, high});
  int64_t step = choices.Range(1, 3);
  Computation* condition;
  {
    NestedScope scope(program, "condition", kMostTrips, false);
    Instruction* first = program.ScopeParameter(0, shape);
    if (!dimensions.empty()) {
      first = program.Slice(first, {{0, 1, 1}});
      first = program.Reshape(first, {});
    }
    Instruction* bound = program.ScalarConstant(type, choices.Range(0, 7));
    scope.set_root(program.Compare(Direction::kLt, first, bound));
    condition = scope.computation();
  }
  Computation* body;
  {
    NestedScope scope(program, "body", kMostTrips, false);
    Instruction* now = program.ScopeParameter(0, shape);
    Instruction* by = program.ScalarConstant(type, step);
    if (!dimensions.empty()) by = program.Splat(by, dimensions);
    scope.set_root(program.Binary(Opcode::kAdd, now, by));
    body = scope.computation();
  }
  return program.Emit(Opcode::kWhile, shape, {init}, {}, {condition, body});
}

// ---- conditional

// Arrays handed to a branch, as one array or a tuple.
Instruction* DrawBranchOperand(Program& program, bool tuple) {
  Instruction* a = program.Operand(kAnyArray);
  if (!tuple) return a;
  Instruction* b = program.Operand(kAnyArray);
  return program.Tuple({a, b});
}

Computation* BuildBranch(Program& program, const Shape& operand, const Shape& result) {
  Choices& choices = program.choices();
  NestedScope scope(program, "branch", 1, choices.Percent(30));
  Instruction* parameter = program.ScopeParameter(0, operand);
  for (size_t i = 0; i < operand.elements().size(); ++i) {
    program.GetTupleElement(parameter, static_cast<int64_t>(i));
  }
  AddSteps(program, choices.Range(0, 2));
  std::vector<Instruction*> roots;
  std::vector<Shape> wanted = result.IsTuple() ? result.elements() : std::vector<Shape>{result};
  for (const Shape& shape : wanted) {
    Instruction* value = program.OperandLike(shape);
    roots.push_back(choices.Percent(50) ? value : NextValue(program, value));
  }
  scope.set_root(result.IsTuple() ? program.Tuple(roots) : roots[0]);
  return scope.computation();
}

Instruction* BranchSelector(Program& program, int64_t branches, bool indexed) {
  Choices& choices = program.choices();
  if (!indexed) return program.OperandOf(ElementType::kPred, {});
  Shape scalar = Shape::Scalar(ElementType::kS32);
  if (choices.Percent(25)) {
    if (Instruction* existing = program.Existing(scalar)) return existing;
  }
  int64_t value = choices.Range(0, branches - 1);
  if (choices.Percent(35)) {
    value = choices.Pick<int64_t>(
        {-1, branches, branches + 3, MinOf(ElementType::kS32), MaxOf(ElementType::kS32)});
  }
  return program.KnownScalar(ElementType::kS32, value);
}

Instruction* BuildConditional(Program& program, Opcode) {
  if (!program.scope().control) return nullptr;
  Choices& choices = program.choices();
  bool indexed = choices.Percent(50);
  int64_t branches = indexed ? choices.Range(1, 6) : 2;
  Instruction* selector = BranchSelector(program, branches, indexed);
  bool tuple = choices.Percent(45);
  bool one_operand = choices.Percent(60);
  std::vector<Instruction*> operands = {selector};
  std::vector<Computation*> callees;
  Instruction* first = DrawBranchOperand(program, tuple);
  Shape result = tuple ? first->shape().elements()[0] : first->shape();
  result = Shape::Array(result.element_type(), result.dimensions());
  if (choices.Percent(30)) result = Shape::Tuple({result, result});
  for (int64_t i = 0; i < branches; ++i) {
    Instruction* operand = i == 0 || one_operand ? first : DrawBranchOperand(program, tuple);
    bool same_shape = i > 0 && Compatible(operand->shape(), first->shape());
    Computation* callee = same_shape && choices.Percent(20)
                              ? callees[0]
                              : BuildBranch(program, operand->shape(), result);
    operands.push_back(operand);
    callees.push_back(callee);
  }
  Instruction* picked = program.Emit(Opcode::kConditional, result, operands, {}, callees);
  if (!result.IsTuple()) return picked;
  if (choices.Percent(50)) program.GetTupleElement(picked, 1);
  return program.GetTupleElement(picked, 0);
}

// ---- call, fusion

Program::SharedCallee BuildCallee(Program& program, std::string_view name,
                                  const std::vector<Instruction*>& arguments, bool control) {
  Choices& choices = program.choices();
  Program::SharedCallee callee;
  NestedScope scope(program, name, 1, control);
  for (size_t i = 0; i < arguments.size(); ++i) {
    Shape shape =
        Shape::Array(arguments[i]->shape().element_type(), arguments[i]->shape().dimensions());
    program.ScopeParameter(static_cast<int64_t>(i), shape);
    callee.parameters.push_back(std::move(shape));
  }
  AddSteps(program, choices.Range(1, 3));
  Instruction* root = program.scope().values.back();
  scope.set_root(root);
  callee.computation = scope.computation();
  callee.result = root->shape();
  return callee;
}

std::vector<Instruction*> DrawArguments(Program& program) {
  int64_t count = program.choices().Range(1, 3);
  std::vector<Instruction*> arguments;
  for (int64_t i = 0; i < count; ++i) arguments.push_back(program.Operand(kAnyArray));
  return arguments;
}

// Operands for a computation that exists already; empty if there are none.
std::vector<Instruction*> MatchingArguments(Program& program, const Program::SharedCallee& callee) {
  std::vector<Instruction*> arguments;
  for (const Shape& shape : callee.parameters) {
    Instruction* existing = program.Existing(shape);
    if (existing == nullptr) return {};
    arguments.push_back(existing);
  }
  return arguments;
}

Instruction* BuildCall(Program& program, Opcode) {
  if (!program.scope().control) return nullptr;
  Choices& choices = program.choices();
  std::vector<Program::SharedCallee>& shared = program.shared_callees();
  // Only the entry shares: a computation that is still open must not call itself.
  if (program.scope().entry && !shared.empty() && choices.Percent(50)) {
    const Program::SharedCallee& callee = shared[choices.Draw(shared.size())];
    std::vector<Instruction*> arguments = MatchingArguments(program, callee);
    if (!arguments.empty()) {
      return program.Emit(Opcode::kCall, callee.result, arguments, {}, {callee.computation});
    }
  }
  std::vector<Instruction*> arguments = DrawArguments(program);
  Program::SharedCallee callee = BuildCallee(program, "callee", arguments, choices.Percent(30));
  Instruction* call =
      program.Emit(Opcode::kCall, callee.result, arguments, {}, {callee.computation});
  // A second call with other operands, so that an edit in place shows.
  std::vector<Instruction*> others = MatchingArguments(program, callee);
  if (!others.empty() && choices.Percent(40)) {
    call = program.Emit(Opcode::kCall, callee.result, others, {}, {callee.computation});
  }
  if (program.scope().entry) shared.push_back(std::move(callee));
  return call;
}

// A fused computation holds nothing dead, parameters included: drops what its root does not need,
// and the operands with it.
void DropUnusedOperands(Computation& fused, std::vector<Instruction*>& arguments) {
  RemoveDeadInstructions(fused);
  for (int64_t number = fused.parameter_count() - 1; number >= 0; --number) {
    Instruction* parameter = fused.parameter(number);
    if (!parameter->users().empty() || parameter == fused.root()) continue;
    fused.RemoveParameter(number);
    arguments.erase(arguments.begin() + number);
  }
}

Instruction* BuildFusion(Program& program, Opcode) {
  std::vector<Instruction*> arguments = DrawArguments(program);
  Program::SharedCallee callee = BuildCallee(program, "fused", arguments, false);
  DropUnusedOperands(*callee.computation, arguments);
  Attributes attributes;
  attributes.Set(Attr::kFusionKind, FusionKind::kLoop);
  return program.Emit(Opcode::kFusion, callee.result, arguments, std::move(attributes),
                      {callee.computation});
}

constexpr RecipeGroup kGroup = RecipeGroup::kControl;
constexpr Recipe kRecipes[] = {
    {Opcode::kWhile, "counted-loop", kGroup, 10, BuildCountedLoop},
    {Opcode::kWhile, "array-loop", kGroup, 2, BuildArrayLoop},
    {Opcode::kConditional, "conditional", kGroup, 7, BuildConditional},
    {Opcode::kCall, "call", kGroup, 5, BuildCall},
    {Opcode::kFusion, "fusion", kGroup, 3, BuildFusion, kNotPortable},
};

}  // namespace

absl::Span<const Recipe> ControlRecipes() { return kRecipes; }

}  // namespace assay
