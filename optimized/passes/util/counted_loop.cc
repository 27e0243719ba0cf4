// A while loop whose state begins with the number of trips done.
#include "optimized/passes/util/counted_loop.h"

#include "optimized/passes/util/rule_util.h"
#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

Shape CountShape() { return Shape::Array(ElementType::kS64, {}); }

// Zeros but for `at` in dimension `d`.
std::vector<Instruction*> StartsAt(Computation* into, const Shape& whole, int64_t d,
                                   Instruction* at) {
  std::vector<Instruction*> starts;
  for (int64_t k = 0; k < whole.rank(); ++k) {
    starts.push_back(k == d ? at : AddScalarInteger(into, ElementType::kS64, 0));
  }
  return starts;
}

Shape WithSize(const Shape& shape, int64_t d, int64_t size) {
  DimVector dimensions(shape.dimensions().begin(), shape.dimensions().end());
  dimensions[d] = size;
  return Shape::Array(shape.element_type(), dimensions);
}

}  // namespace

std::vector<Instruction*> AddCountedLoop(Computation* into, int64_t trips,
                                         absl::Span<Instruction* const> values, size_t first_result,
                                         const TripBuilder& build_trip) {
  Module* module = into->parent();
  std::vector<Shape> shapes = {CountShape()};
  std::vector<Instruction*> initial = {AddScalarInteger(into, ElementType::kS64, 0)};
  for (Instruction* value : values) {
    shapes.push_back(value->shape());
    initial.push_back(value);
  }
  const Shape state = Shape::Tuple(shapes);

  Computation* condition = module->AddComputation("trips");
  Instruction* count = AddElement(condition, condition->AddParameter(0, state), 0);
  condition->set_root(condition->Add(Opcode::kCompare, Shape::Array(ElementType::kPred, {}),
                                     {count, AddScalarInteger(condition, ElementType::kS64, trips)},
                                     Attributes().Set(Attr::kDirection, Direction::kLt)));

  Computation* body = module->AddComputation("trip");
  Instruction* before = body->AddParameter(0, state);
  Instruction* trip = AddElement(body, before, 0);
  std::vector<Instruction*> now;
  for (size_t k = 0; k < values.size(); ++k) {
    now.push_back(AddElement(body, before, static_cast<int64_t>(k) + 1));
  }
  std::vector<Instruction*> next = build_trip(body, trip, now);
  next.insert(next.begin(), body->Add(Opcode::kAdd, CountShape(),
                                      {trip, AddScalarInteger(body, ElementType::kS64, 1)}));
  body->set_root(body->Add(Opcode::kTuple, state, next));

  Computation* const callees[] = {condition, body};
  Instruction* loop =
      into->Add(Opcode::kWhile, state, {into->Add(Opcode::kTuple, state, initial)}, {}, callees);
  std::vector<Instruction*> last;
  for (size_t k = first_result; k < values.size(); ++k) {
    last.push_back(AddElement(into, loop, static_cast<int64_t>(k) + 1));
  }
  return last;
}

Instruction* AddSliceAt(Computation* into, Instruction* whole, int64_t d, Instruction* at) {
  std::vector<Instruction*> operands = StartsAt(into, whole->shape(), d, at);
  operands.insert(operands.begin(), whole);
  const Shape slice = WithSize(whole->shape(), d, 1);
  Instruction* part = into->Add(Opcode::kDynamicSlice, slice, operands,
                                Attributes().Set(Attr::kDynamicSliceSizes, slice.dimensions()));
  DimVector rest(slice.dimensions().begin(), slice.dimensions().end());
  rest.erase(rest.begin() + d);
  return into->Add(Opcode::kReshape, Shape::Array(slice.element_type(), rest), {part});
}

Instruction* AddUpdateAt(Computation* into, Instruction* whole, int64_t d, Instruction* at,
                         Instruction* part) {
  std::vector<Instruction*> operands = StartsAt(into, whole->shape(), d, at);
  Instruction* update = into->Add(Opcode::kReshape, WithSize(whole->shape(), d, 1), {part});
  operands.insert(operands.begin(), {whole, update});
  return into->Add(Opcode::kDynamicUpdateSlice, whole->shape(), operands);
}

}  // namespace assay
