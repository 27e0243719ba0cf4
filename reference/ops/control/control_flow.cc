// Ops that run other computations. Document: operation semantics chapter 14.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/interpreter/capture/captured_run.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

std::vector<Value> Arguments(const OpContext& op) {
  std::vector<Value> arguments;
  for (const Value* operand : op.operands) arguments.push_back(*operand);
  return arguments;
}

// call and fusion: the body is run with the operands as its arguments.
absl::StatusOr<Value> ApplyBody(Interpreter& interpreter, const OpContext& op) {
  const Computation& body = *op.instruction.callee();
  return op.lanes.has_value() ? interpreter.RunLifted(body, Arguments(op), *op.lanes)
                              : interpreter.Run(body, Arguments(op));
}

// A value whose elements may each be what they are in `value` or what they are in `other`.
Value Hull(const Value& value, const Value& other, MemoryMeter& memory) {
  if (value.IsTuple()) {
    std::vector<Value> elements;
    for (size_t i = 0; i < value.elements.size(); ++i)
      elements.push_back(Hull(value.elements[i], other.elements[i], memory));
    return Value::Tuple(std::move(elements));
  }
  Array merged = *value.array;
  HullArrays(*other.array, merged);
  return MakeValue(std::move(merged), memory);
}

// Most trips that are followed one by one after it became unclear whether the loop still runs.
constexpr int64_t kMaxUnclearTrips = 256;
// The work of nested loops is a product of their trips. Such a loop is followed for twice the trips
// of the plain loop and so many more.
constexpr int64_t kFewTrips = 16;
// Most rounds in which elements that still change from trip to trip are made undecided.
constexpr int kMaxWideningRounds = 64;

// Makes those elements of `state` undecided that `next` describes differently. True if there were
// any.
bool Widen(Value& state, const Value& next, MemoryMeter& memory) {
  if (state.IsTuple()) {
    bool changed = false;
    for (size_t i = 0; i < state.elements.size(); ++i)
      changed = Widen(state.elements[i], next.elements[i], memory) || changed;
    return changed;
  }
  Array widened = *state.array;
  bool changed = false;
  for (int64_t i = 0; i < widened.literal.element_count(); ++i) {
    if (IsUndecided(widened, i) || SameBound(widened, *next.array, i)) continue;
    SetUndecided(widened, i);
    changed = true;
  }
  if (changed) state = MakeValue(std::move(widened), memory);
  return changed;
}

// True if the computation, or one that it calls, has a loop.
bool HasLoop(const Computation& computation) {
  std::vector<const Computation*> called = {&computation};
  absl::flat_hash_set<const Computation*> seen = {&computation};
  while (!called.empty()) {
    const Computation& next = *called.back();
    called.pop_back();
    for (const Instruction* instruction : next) {
      if (instruction->opcode() == Opcode::kWhile) return true;
      for (const Computation* callee : instruction->callees())
        if (seen.insert(callee).second) called.push_back(callee);
    }
  }
  return false;
}

bool HasTokens(const Shape& shape) {
  if (!shape.IsTuple()) return !shape.IsArray();
  return std::any_of(shape.elements().begin(), shape.elements().end(), HasTokens);
}

// Runs a loop from a state on at which rounding decides if it goes on. Every trip that some legal
// evaluation makes is followed, with all that the state may be then; the result may be any state at
// which some evaluation may stop.
class UnclearLoop {
 public:
  UnclearLoop(Interpreter& interpreter, const OpContext& op) : interpreter_(interpreter), op_(op) {}

  // `state` is the first unclear one, after `clear_trips` trips.
  absl::StatusOr<Value> Run(Value state, int64_t clear_trips) {
    int64_t most = kMaxUnclearTrips;
    const bool is_nested = interpreter_.unclear_loops() > 0 || HasLoop(*op_.instruction.callee(1));
    struct Level {
      int& loops;
      explicit Level(int& count) : loops(count) { ++loops; }
      ~Level() { --loops; }
    } level(interpreter_.unclear_loops());
    for (int64_t trip = 0; trip < most || !plain_ended_; ++trip) {
      if (is_nested && !plain_ended_)
        most = std::min(kMaxUnclearTrips, 2 * trip + clear_trips + kFewTrips);
      ASSAY_ASSIGN_OR_RETURN(bool more, Look(state));
      if (!more) return *std::move(result_);
      ASSAY_ASSIGN_OR_RETURN(Value next, Body(state));
      state = std::move(next);
    }
    // A state that the body maps into itself covers every later one.
    for (int round = 0; round < kMaxWideningRounds; ++round) {
      ASSAY_ASSIGN_OR_RETURN(Value next, Body(state));
      if (Widen(state, next, interpreter_.memory())) continue;
      ASSAY_RETURN_IF_ERROR(Look(state).status());
      return *std::move(result_);
    }
    return Inconclusive(StrCat("how often the loop ", op_.instruction.name(),
                               " runs depends on rounding, and no state holds for all its trips"));
  }

 private:
  // Keeps `state` if the loop may end there. True if it may go on.
  absl::StatusOr<bool> Look(const Value& state) {
    ASSAY_RETURN_IF_ERROR(interpreter_.budget().Take(1));
    ASSAY_ASSIGN_OR_RETURN(Value proceed, interpreter_.Run(*op_.instruction.callee(0), {state}));
    const Array& outcome = *proceed.array;
    const bool plain = outcome.literal.data<bool>()[0];
    if (outcome.Certain()) {
      if (!plain) Keep(state, true);
      return plain;
    }
    Keep(state, !plain);
    return true;
  }

  // The plain value of the result is the state at which the plain loop ends.
  void Keep(const Value& state, bool plain_ends) {
    const bool is_plain = plain_ends && !plain_ended_;
    plain_ended_ = plain_ended_ || plain_ends;
    if (!result_.has_value()) {
      result_ = state;
    } else if (is_plain) {
      result_ = Hull(state, *result_, interpreter_.memory());
    } else {
      result_ = Hull(*result_, state, interpreter_.memory());
    }
  }

  absl::StatusOr<Value> Body(const Value& state) {
    ASSAY_RETURN_IF_ERROR(interpreter_.budget().Take(1));
    return interpreter_.Run(*op_.instruction.callee(1), {state});
  }

  Interpreter& interpreter_;
  const OpContext& op_;
  std::optional<Value> result_;
  bool plain_ended_ = false;
};

// The trip of a loop among those of the loops around it.
class Trip {
 public:
  explicit Trip(std::vector<int64_t>& trips) : trips_(trips) { trips_.push_back(0); }
  ~Trip() { trips_.pop_back(); }
  Trip(const Trip&) = delete;
  void Set(int64_t trip) { trips_.back() = trip; }

 private:
  std::vector<int64_t>& trips_;
};

// state := init; while condition(state): state := body(state).
absl::StatusOr<Value> ApplyWhile(Interpreter& interpreter, const OpContext& op) {
  const Computation &condition = *op.instruction.callee(0), &body = *op.instruction.callee(1);
  std::vector<Value> state = {*op.operands[0]};
  CapturedRun* const captured = interpreter.captured();
  std::vector<int64_t> no_trips;
  Trip at_work(captured != nullptr ? captured->trips() : no_trips);
  for (int64_t trips = 0;; ++trips) {
    at_work.Set(trips);
    ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(1));
    ASSAY_ASSIGN_OR_RETURN(Value proceed, interpreter.Run(condition, state));
    if (!proceed.array->Certain()) {
      if (interpreter.HasEffects(body) || interpreter.HasEffects(condition) ||
          HasTokens(op.instruction.shape())) {
        return Inconclusive(StrCat("whether the loop ", op.instruction.name(),
                                   " with its effects goes on depends on rounding"));
      }
      const Counting aside(captured != nullptr ? &captured->aside() : nullptr);
      return UnclearLoop(interpreter, op).Run(std::move(state[0]), trips);
    }
    if (!proceed.array->literal.data<bool>()[0]) return state[0];
    ASSAY_ASSIGN_OR_RETURN(Value next, interpreter.Run(body, state));
    state[0] = std::move(next);
    if (captured != nullptr)
      ASSAY_RETURN_IF_ERROR(captured->Pass(op.instruction, state[0], interpreter.memory()));
  }
}

// The branch that a code of operand 0 selects: branch 0 for true, the last one for an index out of
// range.
int64_t BranchOf(const OpContext& op, uint64_t code) {
  const auto branches = static_cast<int64_t>(op.instruction.callees().size());
  if (IsPred(op.literal(0).element_type())) return code != 0 ? 0 : 1;
  const auto index = static_cast<int64_t>(static_cast<int32_t>(code));
  return index < 0 || index >= branches ? branches - 1 : index;
}

absl::StatusOr<Value> RunBranch(Interpreter& interpreter, const OpContext& op, int64_t branch) {
  const Computation& computation = *op.instruction.callee(branch);
  std::vector<Value> arguments;
  if (computation.parameter_count() > 0) arguments.push_back(*op.operands[branch + 1]);
  return op.lanes.has_value() ? interpreter.RunLifted(computation, arguments, *op.lanes)
                              : interpreter.Run(computation, arguments);
}

// The branches that element `lane` of the index may select.
std::vector<bool> PossibleBranches(const OpContext& op, int64_t lane) {
  const std::vector<uint64_t> codes = CodesOf(op.array(0), lane);
  std::vector<bool> possible(op.instruction.callees().size(), codes.empty());
  for (uint64_t code : codes) possible[BranchOf(op, code)] = true;
  return possible;
}

// Takes those elements of the arrays of `value`, as arrays of one dimension.
Value TakeLanes(const Value& value, absl::Span<const int64_t> lanes, MemoryMeter& memory) {
  if (!value.IsTuple()) return PickElements(*value.array, lanes, memory);
  std::vector<Value> elements;
  for (const Value& element : value.elements) elements.push_back(TakeLanes(element, lanes, memory));
  return Value::Tuple(std::move(elements));
}

// `whole` but for those elements, which become the elements of `part`.
Value PutLanes(const Value& whole, absl::Span<const int64_t> lanes, const Value& part,
               MemoryMeter& memory) {
  if (whole.IsTuple()) {
    std::vector<Value> elements;
    for (size_t i = 0; i < whole.elements.size(); ++i)
      elements.push_back(PutLanes(whole.elements[i], lanes, part.elements[i], memory));
    return Value::Tuple(std::move(elements));
  }
  Array put = *whole.array;
  put.facts().significand = std::min(put.facts().significand, part.array->facts().significand);
  put.facts().nan_bits = put.facts().nan_bits && part.array->facts().nan_bits;
  for (size_t k = 0; k < lanes.size(); ++k)
    CopyElements(*part.array, static_cast<int64_t>(k), put, lanes[k], 1);
  return MakeValue(std::move(put), memory);
}

// Arrays into which the lanes of all branches are put.
Value NoLanes(const Shape& shape, MemoryMeter& memory) {
  if (shape.IsTuple()) {
    std::vector<Value> elements;
    for (const Shape& element : shape.elements()) elements.push_back(NoLanes(element, memory));
    return Value::Tuple(std::move(elements));
  }
  Array none{Literal(shape)};
  none.facts().nan_bits = true;
  return MakeValue(std::move(none), memory);
}

using LanesByBranch = std::map<int64_t, std::vector<int64_t>>;

// The lanes that may take a branch besides the one that the plain index selects.
absl::StatusOr<LanesByBranch> OtherBranches(Interpreter& interpreter, const OpContext& op) {
  LanesByBranch others;
  const Array& index = op.array(0);
  const auto branches = static_cast<int64_t>(op.instruction.callees().size());
  int64_t listed = 0;
  for (int64_t lane = 0; !index.Certain() && lane < index.literal.element_count(); ++lane) {
    ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(branches));
    const int64_t chosen = BranchOf(op, index.literal.GetBits(lane));
    const std::vector<bool> possible = PossibleBranches(op, lane);
    for (int64_t branch = 0; branch < branches; ++branch) {
      if (!possible[static_cast<size_t>(branch)] || branch == chosen) continue;
      others[branch].push_back(lane);
      ++listed;
    }
    ASSAY_RETURN_IF_ERROR(
        interpreter.memory().Check(listed * static_cast<int64_t>(sizeof(int64_t))));
  }
  return others;
}

// Applies a conditional within a computation of scalars to many elements at once: each branch runs
// on the elements that take it, so that nested ones cost no more than one by one.
absl::StatusOr<Value> ApplyConditionalToLanes(Interpreter& interpreter, const OpContext& op) {
  MemoryMeter& memory = interpreter.memory();
  const Array& index = op.array(0);
  const int64_t count = index.literal.element_count();
  LanesByBranch taken;
  for (int64_t lane = 0; lane < count; ++lane)
    taken[BranchOf(op, index.literal.GetBits(lane))].push_back(lane);
  if (taken.size() <= 1 && index.Certain())
    return RunBranch(interpreter, op, taken.empty() ? 0 : taken.begin()->first);
  const auto run = [&](int64_t branch, const std::vector<int64_t>& lanes) -> absl::StatusOr<Value> {
    const Computation& computation = *op.instruction.callee(branch);
    std::vector<Value> arguments;
    if (computation.parameter_count() > 0)
      arguments.push_back(TakeLanes(*op.operands[branch + 1], lanes, memory));
    ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(count));
    return interpreter.RunLifted(computation, arguments, {static_cast<int64_t>(lanes.size())});
  };
  Value result = NoLanes(op.shape, memory);
  for (const auto& [branch, lanes] : taken) {
    ASSAY_ASSIGN_OR_RETURN(const Value part, run(branch, lanes));
    result = PutLanes(result, lanes, part, memory);
  }
  ASSAY_ASSIGN_OR_RETURN(const LanesByBranch others, OtherBranches(interpreter, op));
  for (const auto& [branch, lanes] : others) {
    ASSAY_ASSIGN_OR_RETURN(const Value part, run(branch, lanes));
    result = Hull(result, PutLanes(result, lanes, part, memory), memory);
  }
  return result;
}

absl::StatusOr<Value> ApplyConditional(Interpreter& interpreter, const OpContext& op) {
  if (op.lanes.has_value()) return ApplyConditionalToLanes(interpreter, op);
  int64_t chosen = BranchOf(op, op.literal(0).GetBits(0));
  const std::vector<bool> possible = PossibleBranches(op, 0);
  CapturedRun* const captured = interpreter.captured();
  const int64_t taken = captured == nullptr ? -1 : captured->BranchTaken(op.instruction);
  // The branch that the compiled program took comes first, if it may be taken.
  const auto branches = static_cast<int64_t>(possible.size());
  if (taken >= 0 && taken < branches && possible[taken]) chosen = taken;
  if (!op.array(0).Certain()) {
    for (const Computation* branch : op.instruction.callees()) {
      if (!interpreter.HasEffects(*branch)) continue;
      return Inconclusive(StrCat("which branch of ", op.instruction.name(),
                                 " with its effects is taken depends on rounding"));
    }
  }
  // Nothing was seen of the branches that were not taken.
  auto run = [&](int64_t branch) {
    const bool is_unseen = taken >= 0 && taken != branch;
    const Counting aside(is_unseen ? &captured->aside() : nullptr);
    return RunBranch(interpreter, op, branch);
  };
  absl::StatusOr<Value> result = run(chosen);
  if (!result.ok() || op.array(0).Certain()) return result;
  for (int64_t branch = 0; branch < branches; ++branch) {
    if (!possible[branch] || branch == chosen) continue;
    ASSAY_ASSIGN_OR_RETURN(Value other, run(branch));
    result = Hull(*result, other, interpreter.memory());
  }
  return result;
}

}  // namespace

absl::Span<const OpEvaluation> ControlFlowEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kCall, .apply = ApplyBody},
      {.opcode = Opcode::kFusion, .apply = ApplyBody},
      {.opcode = Opcode::kWhile, .apply = ApplyWhile},
      {.opcode = Opcode::kConditional, .apply = ApplyConditional},
  };
  return kRows;
}

}  // namespace assay::reference
