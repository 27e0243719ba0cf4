// Finds the elements of a loop state that never change, and the trips of counted loops.
#include "optimized/analysis/while_state.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "nlohmann/json.hpp"
#include "optimized/analysis/direction.h"
#include "spec/attributes/mirrored_direction.h"
#include "spec/base/strings.h"
#include "spec/ir/computation.h"

namespace assay {
namespace {

const Literal* IntegerScalar(const Instruction* inst) {
  const bool is_constant = inst != nullptr && inst->opcode() == Opcode::kConstant &&
                           inst->literal() != nullptr && inst->shape().IsScalar() &&
                           IsInteger(inst->shape().element_type());
  return is_constant ? inst->literal() : nullptr;
}

// The constant that `inst`, in body or condition, always is: spelled there, or an element that
// never changes.
std::optional<int64_t> LoopConstant(const WhileState& state, const Instruction* inst) {
  if (const Literal* literal = IntegerScalar(inst)) return literal->GetInteger(0);
  const std::optional<int64_t> element = state.ElementRead(inst);
  if (!element || !state.IsInvariant(*element)) return std::nullopt;
  const Literal* literal = IntegerScalar(state.Initial(*element));
  if (literal == nullptr) return std::nullopt;
  return literal->GetInteger(0);
}

struct Counter {
  int64_t element;
  ElementType type;
  int64_t first, step, bound;
  Direction direction;  // counter DIRECTION bound
};

// condition: compare(counter, bound) in either order.
bool ReadCondition(const WhileState& state, const Instruction* root, Counter& counter) {
  if (root->opcode() != Opcode::kCompare) return false;
  counter.direction = static_cast<Direction>(root->attributes().Integer(Attr::kDirection));
  for (int64_t side = 0; side < 2; ++side) {
    const std::optional<int64_t> element = state.ElementRead(root->operand(side));
    const std::optional<int64_t> bound = LoopConstant(state, root->operand(1 - side));
    if (!element || !bound || state.IsInvariant(*element)) continue;
    if (side == 1) counter.direction = Mirrored(counter.direction);
    counter.element = *element;
    counter.bound = *bound;
    counter.type = root->operand(side)->shape().element_type();
    return IsInteger(counter.type);
  }
  return false;
}

// body: counter + step, step + counter or counter - step.
bool ReadStep(const WhileState& state, Counter& counter) {
  const Instruction* next = state.Next(counter.element);
  if (next == nullptr || next->operand_count() != 2) return false;
  const auto reads_counter = [&](int64_t i) {
    return state.ElementRead(next->operand(i)) == counter.element;
  };
  if (next->opcode() != Opcode::kAdd && next->opcode() != Opcode::kSubtract) return false;
  const int64_t side = reads_counter(0) ? 0 : 1;
  if (!reads_counter(side) || (side == 1 && next->opcode() == Opcode::kSubtract)) return false;
  const std::optional<int64_t> step = LoopConstant(state, next->operand(1 - side));
  if (!step) return false;
  counter.step =
      next->opcode() == Opcode::kAdd ? *step : static_cast<int64_t>(-static_cast<uint64_t>(*step));
  return true;
}

// The trips of a counter that reaches its bound before it wraps, without counting; nullopt for any
// other.
std::optional<int64_t> TripsInClosedForm(const Counter& counter) {
  if (counter.type == ElementType::kU64 || counter.step == 0) return std::nullopt;
  const bool goes_up = counter.step > 0;
  __int128 distance = static_cast<__int128>(counter.bound) - counter.first;
  if (!goes_up) distance = -distance;
  switch (counter.direction) {
    case Direction::kLt:
    case Direction::kGt:
      break;
    case Direction::kLe:
    case Direction::kGe:
      ++distance;
      break;
    default:
      return std::nullopt;
  }
  const bool is_upper = counter.direction == Direction::kLt || counter.direction == Direction::kLe;
  if (is_upper != goes_up) return std::nullopt;
  if (distance <= 0) return 0;
  const __int128 step = goes_up ? counter.step : -static_cast<__int128>(counter.step);
  const __int128 trips = (distance + step - 1) / step;
  const __int128 last = counter.first + trips * counter.step;
  const auto bits = static_cast<int>(BitWidth(counter.type));
  const bool is_signed = IsSigned(counter.type);
  const __int128 highest = (__int128{1} << (is_signed ? bits - 1 : bits)) - 1;
  const __int128 lowest = is_signed ? -highest - 1 : 0;
  if (last < lowest || last > highest) return std::nullopt;
  return static_cast<int64_t>(trips);
}

std::optional<int64_t> CountTrips(const Counter& counter, int64_t most) {
  if (const std::optional<int64_t> trips = TripsInClosedForm(counter))
    return *trips <= most ? trips : std::nullopt;
  constexpr int64_t kMostCounted = 10'000;
  most = std::min(most, kMostCounted);
  Literal value(Shape::Scalar(counter.type));  // wraps as the type does
  value.SetInteger(0, counter.first);
  for (int64_t trips = 0; trips <= most; ++trips) {
    const int64_t now = value.GetInteger(0);
    const bool goes_on = counter.type == ElementType::kU64
                             ? Holds(counter.direction, static_cast<uint64_t>(now),
                                     static_cast<uint64_t>(counter.bound))
                             : Holds(counter.direction, now, counter.bound);
    if (!goes_on) return trips;
    value.SetInteger(
        0, static_cast<int64_t>(static_cast<uint64_t>(now) + static_cast<uint64_t>(counter.step)));
  }
  return std::nullopt;
}

}  // namespace

WhileState::WhileState(const Instruction* loop)
    : loop_(loop),
      is_tuple_(loop->shape().IsTuple()),
      size_(is_tuple_ ? static_cast<int64_t>(loop->shape().elements().size()) : 1) {}

Instruction* WhileState::Initial(int64_t i) const {
  Instruction* operand = loop_->operand(0);
  if (!is_tuple_) return operand;
  return operand->opcode() == Opcode::kTuple ? operand->operand(i) : nullptr;
}

Instruction* WhileState::Next(int64_t i) const {
  Instruction* root = loop_->callee(1)->root();
  if (!is_tuple_) return root;
  return root->opcode() == Opcode::kTuple ? root->operand(i) : nullptr;
}

std::optional<int64_t> WhileState::ElementRead(const Instruction* inst) const {
  if (!is_tuple_) {
    if (inst->opcode() == Opcode::kParameter) return 0;
    return std::nullopt;
  }
  if (inst->opcode() != Opcode::kGetTupleElement ||
      inst->operand(0)->opcode() != Opcode::kParameter) {
    return std::nullopt;
  }
  return inst->tuple_index();
}

bool WhileState::IsInvariant(int64_t i) const {
  const Instruction* root = loop_->callee(1)->root();
  if (root->opcode() == Opcode::kParameter) return true;
  const Instruction* next = Next(i);
  return next != nullptr && ElementRead(next) == i;
}

bool WhileState::IsReadByElement(const Computation* computation) const {
  if (!is_tuple_) return true;
  for (const Instruction* user : computation->parameter(0)->users()) {
    if (user->opcode() != Opcode::kGetTupleElement) return false;
  }
  return computation->root() != computation->parameter(0);
}

std::optional<int64_t> TripCount(const Instruction* loop, int64_t most) {
  const WhileState state(loop);
  Counter counter{};
  if (!ReadCondition(state, loop->callee(0)->root(), counter) || !ReadStep(state, counter)) {
    return std::nullopt;
  }
  const Literal* first = IntegerScalar(state.Initial(counter.element));
  if (first == nullptr) return std::nullopt;
  counter.first = first->GetInteger(0);
  return CountTrips(counter, most);
}

std::optional<int64_t> NotedTripCount(const Instruction& loop) {
  const std::string& config = loop.attributes().String(Attr::kBackendConfig);
  if (config.find("known_trip_count") == std::string::npos) return std::nullopt;
  const auto json = nlohmann::json::parse(config, nullptr, /*allow_exceptions=*/false);
  const auto* note = json.is_object() && json.contains("known_trip_count")
                         ? &json.at("known_trip_count")
                         : nullptr;
  int64_t trips = 0;
  if (note == nullptr || !note->is_object() || !note->contains("n") || !note->at("n").is_string() ||
      !absl::SimpleAtoi(note->at("n").get<std::string>(), &trips) || trips < 0)
    return std::nullopt;
  return trips;
}

void NoteTripCount(Instruction* loop, int64_t trips) {
  const std::string& config = loop->attributes().String(Attr::kBackendConfig);
  auto json = nlohmann::json::parse(config, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) json = nlohmann::json::object();
  json["known_trip_count"] = {{"n", StrCat(trips)}};
  loop->mutable_attributes().Set(Attr::kBackendConfig, json.dump());
}

}  // namespace assay
