// Reads what is noted as JSON, and writes loops around loops that count their own trips.
#include "spec/backend/loop_notes.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "nlohmann/json.hpp"
#include "spec/base/strings.h"
#include "spec/types/literal.h"

namespace assay {
namespace {

constexpr ElementType kCount = ElementType::kS64;

// The values of a counter are start, start + step, ... modulo the size of its type.
struct Counter {
  int64_t element = 0;  // of the state, which is a tuple
  int64_t start = 0, step = 0;
};

struct LoopNotes {
  int64_t trips = 0;
  std::optional<Counter> counter;
};

// Numbers are strings in the JSON of a proto; those of u64 may be past the end of int64.
std::optional<int64_t> NumberAt(const nlohmann::json& json, const char* outer, const char* inner) {
  const auto at = json.find(outer);
  if (at == json.end() || !at->is_object()) return std::nullopt;
  if (!at->contains(inner)) return 0;  // as the JSON of a proto leaves it out
  const nlohmann::json& value = at->at(inner);
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_string()) return std::nullopt;
  int64_t number = 0;
  uint64_t large = 0;
  if (absl::SimpleAtoi(value.get<std::string>(), &number)) return number;
  if (absl::SimpleAtoi(value.get<std::string>(), &large)) return static_cast<int64_t>(large);
  return std::nullopt;
}

std::optional<LoopNotes> NotesOf(const Instruction& loop) {
  if (loop.opcode() != Opcode::kWhile) return std::nullopt;
  const std::string& text = loop.attributes().String(Attr::kBackendConfig);
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  // XLA notes negative trips as well, of a range that it takes to be empty.
  const std::optional<int64_t> trips = NumberAt(json, "known_trip_count", "n");
  if (!trips.has_value()) return std::nullopt;
  LoopNotes notes{*trips, std::nullopt};
  const auto element = NumberAt(json, "known_induction_variable", "tuple_index");
  const auto start = NumberAt(json, "known_init_step", "init");
  const auto step = NumberAt(json, "known_init_step", "step");
  const Shape& state = loop.shape();
  const bool is_counted = element.has_value() && start.has_value() && step.has_value() &&
                          state.IsTuple() && *element >= 0 &&
                          *element < static_cast<int64_t>(state.elements().size());
  if (is_counted) {
    const Shape& of = state.elements()[*element];
    if (of.IsScalar() && IsInteger(of.element_type())) notes.counter = {*element, *start, *step};
  }
  return notes;
}

std::string InWords(const LoopNotes& notes) {
  std::string words =
      StrCat("a loop is taken to run ", notes.trips, notes.trips == 1 ? " time" : " times");
  if (notes.counter.has_value()) {
    StrAppend(&words, ", and to count from ", notes.counter->start, " by ", notes.counter->step);
  }
  return words;
}

Instruction* Number(Computation& computation, ElementType type, int64_t value) {
  Literal literal(Shape::Array(type, {}));
  literal.SetInteger(0, value);
  return computation.AddConstant(std::move(literal));
}

Instruction* Element(Computation& computation, Instruction* tuple, int64_t index) {
  return computation.Add(Opcode::kGetTupleElement, tuple->shape().elements()[index], {tuple},
                         Attributes().Set(Attr::kIndex, AttrValue(index)));
}

// The state with the counter that trip number `trip` begins with.
Instruction* WithCounter(Computation& body, Instruction* state, Instruction* trip,
                         const Counter& counter) {
  const Shape& shape = state->shape();
  std::vector<Instruction*> elements;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.elements().size()); ++i) {
    if (i != counter.element) {
      elements.push_back(Element(body, state, i));
      continue;
    }
    const Shape& of = shape.elements()[i];
    Instruction* number = trip;
    if (of.element_type() != kCount) number = body.Add(Opcode::kConvert, of, {trip});
    Instruction* step = Number(body, of.element_type(), counter.step);
    Instruction* start = Number(body, of.element_type(), counter.start);
    Instruction* way = body.Add(Opcode::kMultiply, of, {number, step});
    elements.push_back(body.Add(Opcode::kAdd, of, {way, start}));
  }
  return body.Add(Opcode::kTuple, shape, elements);
}

// while (state) becomes while (state, trip), which ends after so many trips.
void Apply(Module& module, Instruction* loop, const LoopNotes& notes) {
  const Shape state = loop->shape(), count = Shape::Array(kCount, {});
  const Shape both = Shape::Tuple({state, count});

  Computation* condition = module.AddComputation("goes_on");
  Instruction* trip = Element(*condition, condition->AddParameter(0, both), 1);
  condition->set_root(condition->Add(Opcode::kCompare, Shape::Array(ElementType::kPred, {}),
                                     {trip, Number(*condition, kCount, notes.trips)},
                                     Attributes().Set(Attr::kDirection, Direction::kLt)));

  Computation* body = module.AddComputation("trip");
  Instruction* before = body->AddParameter(0, both);
  trip = Element(*body, before, 1);
  Instruction* given = Element(*body, before, 0);
  if (notes.counter.has_value()) given = WithCounter(*body, given, trip, *notes.counter);
  Computation* const old_body[] = {loop->callee(1)};
  Instruction* after = body->Add(Opcode::kCall, state, {given}, {}, old_body);
  Instruction* next = body->Add(Opcode::kAdd, count, {trip, Number(*body, kCount, 1)});
  body->set_root(body->Add(Opcode::kTuple, both, {after, next}));

  Computation* around = loop->parent();
  Instruction* start =
      around->Add(Opcode::kTuple, both, {loop->operand(0), Number(*around, kCount, 0)});
  Computation* const callees[] = {condition, body};
  Instruction* counted = around->Add(Opcode::kWhile, both, {start}, {}, callees);
  Instruction* result = Element(*around, counted, 0);
  loop->ReplaceAllUsesWith(result);
  if (loop->IsDead()) around->Remove(loop);
}

}  // namespace

std::vector<std::string> ApplyLoopNotes(Module& module, bool with_counters) {
  std::vector<std::pair<Instruction*, LoopNotes>> loops;
  for (Computation* computation : module.computations()) {
    for (Instruction* at : *computation) {
      if (const auto notes = NotesOf(*at)) loops.emplace_back(at, *notes);
    }
  }
  std::vector<std::string> words;
  for (auto& [loop, notes] : loops) {
    if (!with_counters) notes.counter.reset();
    words.push_back(InWords(notes));
    Apply(module, loop, notes);
  }
  return words;
}

std::string WrongLoopNote(const Module& module,
                          const std::function<bool(const Module&)>& is_wrong) {
  for (const bool with_counters : {false, true}) {
    const std::unique_ptr<Module> noted = module.Clone("");
    const std::vector<std::string> notes = ApplyLoopNotes(*noted, with_counters);
    if (notes.empty()) return "";
    if (is_wrong(*noted)) return notes.size() == 1 ? notes[0] : "a loop is taken to run otherwise";
  }
  return "";
}

}  // namespace assay
