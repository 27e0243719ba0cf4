// Puts the body into a computation around it, of which every result is the body's.
#include "fuzz/generator/recipes/bodies.h"

#include <utility>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"
#include "fuzz/generator/recipes/scalar_scope.h"

namespace assay {
namespace {

std::vector<Shape> ParametersOf(const Computation& body) {
  std::vector<Shape> shapes;
  for (const Instruction* parameter : body.parameters()) shapes.push_back(parameter->shape());
  return shapes;
}

Instruction* CallOf(Program& program, Computation* body, const std::vector<Instruction*>& with) {
  return program.Emit(Opcode::kCall, body->root()->shape(), with, {}, {body});
}

// The parts of a tuple that are the body's parameters, from the first one on.
std::vector<Instruction*> PartsOf(Program& program, Instruction* tuple, const Computation& body) {
  std::vector<Instruction*> parts;
  for (int64_t i = 0; i < body.parameter_count(); ++i)
    parts.push_back(program.GetTupleElement(tuple, i));
  return parts;
}

// Takes its parameters as a tuple.
Computation* BranchOf(Program& program, Computation* body) {
  const Shape tuple = Shape::Tuple(ParametersOf(*body));
  ScalarScope branch(program, "branch", absl::MakeConstSpan(&tuple, 1));
  return branch.Finish(CallOf(program, body, PartsOf(program, branch.at[0], *body)));
}

// Both branches are the body; which of them is taken is known, or told by the parameters.
Instruction* Branched(Program& program, Computation* body, const std::vector<Instruction*>& with) {
  Choices& choices = program.choices();
  const bool compares =
      with.size() > 1 && with[0]->shape() == with[1]->shape() && choices.Percent(70);
  Instruction* chosen = compares ? program.Compare(Direction::kLt, with[0], with[1])
                                 : program.Compare(Direction::kEq, with[0], with[0]);
  Computation* first = BranchOf(program, body);
  Computation* second = choices.Percent(50) ? first : BranchOf(program, body);
  Instruction* tuple = program.Tuple(with);
  return program.Emit(Opcode::kConditional, body->root()->shape(), {chosen, tuple, tuple}, {},
                      {first, second});
}

// A loop of one trip or two, each of which computes the body. The state: the parameters, the
// result, the trips.
Instruction* Looped(Program& program, Computation* body, const std::vector<Instruction*>& with) {
  const int64_t trips = program.choices().Range(1, 2), result = body->parameter_count();
  std::vector<Instruction*> state = with;
  state.push_back(program.ScalarConstant(body->root()->shape().element_type(), 0));
  state.push_back(program.ScalarConstant(ElementType::kS32, 0));
  Instruction* init = program.Tuple(state);
  const Shape shape = init->shape();
  ScalarScope condition(program, "condition", absl::MakeConstSpan(&shape, 1));
  Instruction* ran = program.GetTupleElement(condition.at[0], result + 1);
  Instruction* most = program.ScalarConstant(ElementType::kS32, trips);
  Computation* goes_on = condition.Finish(program.Compare(Direction::kLt, ran, most));
  ScalarScope trip(program, "trip", absl::MakeConstSpan(&shape, 1));
  std::vector<Instruction*> next = PartsOf(program, trip.at[0], *body);
  Instruction* computed = CallOf(program, body, next);
  Instruction* before = program.GetTupleElement(trip.at[0], result + 1);
  Instruction* one = program.ScalarConstant(ElementType::kS32, 1);
  next.push_back(computed);
  next.push_back(program.Binary(Opcode::kAdd, before, one));
  Computation* once = trip.Finish(program.Tuple(next));
  Instruction* loop = program.Emit(Opcode::kWhile, shape, {init}, {}, {goes_on, once});
  return program.GetTupleElement(loop, result);
}

// The least of a few that are equal, by a sort or a reduction.
Instruction* LeastOf(Program& program, Instruction* value, bool sorts) {
  const ElementType type = value->shape().element_type();
  const int64_t count = program.choices().Range(1, 3);
  const Shape row = Shape::Array(type, {count});
  Instruction* all = program.Splat(value, row.dimensions());
  Attributes attributes;
  if (!sorts) {
    const Reducer reducer = MakeReducerOf(program, Opcode::kMinimum, type);
    return program.Reduce(all, reducer.init, {0}, reducer.computation);
  }
  ScalarScope comparator(program, "comparator", {type, type});
  Instruction* before = program.Compare(Direction::kLt, comparator.at[0], comparator.at[1]);
  if (IsFloat(type)) before->mutable_attributes().Set(Attr::kCompareType, CompareType::kTotalOrder);
  Computation* order = comparator.Finish(before);
  attributes.Set(Attr::kDimension, {int64_t{0}});
  Instruction* sorted = program.Emit(Opcode::kSort, row, {all}, std::move(attributes), {order});
  return program.Reshape(program.Slice(sorted, {{0, 1, 1}}), {});
}

bool HasOrder(ElementType type) { return IsInteger(type) || IsFloat(type); }

Computation* InMoreWords(Program& program, Computation* body) {
  enum Words : uint8_t { kCall, kBranch, kLoop, kReduction, kSort };
  const Shape& result = body->root()->shape();
  const bool is_scalar = result.IsScalar(),
             is_ordered = is_scalar && HasOrder(result.element_type());
  // Our own compiler has no loops and sorts within a kernel; it computes both sides of a branch.
  const bool has_control = program.options().portable;
  const auto words = static_cast<Words>(
      program.choices().Weighted({40, 25, has_control && is_scalar ? 15 : 0, is_ordered ? 10 : 0,
                                  has_control && is_ordered ? 10 : 0}));
  ScalarScope around(program, "in_more_words", ParametersOf(*body));
  switch (words) {
    case kCall:
      return around.Finish(CallOf(program, body, around.at));
    case kBranch:
      return around.Finish(Branched(program, body, around.at));
    case kLoop:
      return around.Finish(Looped(program, body, around.at));
    case kReduction:
    case kSort:
      return around.Finish(LeastOf(program, CallOf(program, body, around.at), words == kSort));
  }
  return body;
}

bool HasBody(Opcode opcode) {
  switch (opcode) {
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
      return true;
    default:
      return false;
  }
}

}  // namespace

void SayBodiesInMoreWords(Program& program, int64_t first) {
  if (program.body_percent() == 0) return;
  std::vector<Instruction*> added;
  int64_t number = 0;
  for (Instruction* at : *program.scope().computation) {
    if (number++ >= first && HasBody(at->opcode())) added.push_back(at);
  }
  for (Instruction* at : added) {
    for (size_t k = 0; k < at->callees().size(); ++k) {
      if (!program.choices().Percent(program.body_percent())) continue;
      const auto number_of_body = static_cast<int64_t>(k);
      at->set_callee(number_of_body, InMoreWords(program, at->callee(number_of_body)));
    }
  }
}

}  // namespace assay
