// Puts the entry of a module into another computation.
#include "fuzz/matrix/modes.h"

#include <array>

#include "fuzz/matrix/sharded_mode.h"
#include "fuzz/peers/pack.h"
#include "spec/attributes/attribute_words.h"

namespace assay {
namespace {

// Compilers fold what is small; the oracle's time is no matter here.
constexpr int64_t kMostFolded = 4096;  // elements of all inputs
constexpr int64_t kTrips = 2;

constexpr std::array<std::string_view, kMatrixModeCount> kNames = {
    "arguments", "folded", "call", "loop", "branch", "sharded", "donated"};

std::unique_ptr<Module> Folded(const Module& module, std::vector<Literal>& inputs) {
  int64_t elements = 0;
  for (const Literal& input : inputs) elements += input.element_count();
  if (elements > kMostFolded) return nullptr;
  std::unique_ptr<Module> folded = module.Clone("");
  Computation* entry = folded->entry();
  for (size_t i = inputs.size(); i-- > 0;) {
    const auto number = static_cast<int64_t>(i);
    entry->parameter(number)->ReplaceAllUsesWith(entry->AddConstant(std::move(inputs[i])));
    entry->RemoveParameter(number);
  }
  inputs.clear();
  return folded;
}

std::vector<Instruction*> Parameters(Computation& computation, const Computation& like) {
  std::vector<Instruction*> parameters;
  for (const Instruction* parameter : like.parameters())
    parameters.push_back(
        computation.AddParameter(computation.parameter_count(), parameter->shape()));
  return parameters;
}

Instruction* Element(Computation& computation, Instruction* tuple, size_t index) {
  Attributes attributes;
  attributes.Set(Attr::kIndex, AttrValue(static_cast<int64_t>(index)));
  return computation.Add(Opcode::kGetTupleElement, tuple->shape().elements()[index], {tuple},
                         std::move(attributes));
}

Instruction* Tuple(Computation& computation, const std::vector<Instruction*>& elements) {
  std::vector<Shape> shapes;
  for (const Instruction* element : elements) shapes.push_back(element->shape());
  return computation.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements);
}

Instruction* Call(Computation& computation, Computation& callee,
                  const std::vector<Instruction*>& arguments) {
  return computation.Add(Opcode::kCall, callee.root()->shape(), arguments, {}, {&callee});
}

Instruction* Number(Computation& computation, int64_t value) {
  Literal literal(Shape::Scalar(ElementType::kS32));
  literal.SetInteger(0, value);
  return computation.AddConstant(std::move(literal));
}

// Arrays of zeros, or a tuple of such.
Instruction* Zeros(Computation& computation, const Shape& shape) {
  if (!shape.IsTuple()) return computation.AddConstant(Literal(shape));
  std::vector<Instruction*> elements;
  for (const Shape& element : shape.elements()) elements.push_back(Zeros(computation, element));
  return Tuple(computation, elements);
}

// A computation of the tuple of all arguments, which calls `callee`.
Computation* OnTuple(Module& module, Computation& callee, const Shape& arguments) {
  Computation* branch = module.AddComputation("branch");
  Instruction* parameter = branch->AddParameter(0, arguments);
  std::vector<Instruction*> elements;
  for (size_t i = 0; i < arguments.elements().size(); ++i)
    elements.push_back(Element(*branch, parameter, i));
  branch->set_root(Call(*branch, callee, elements));
  return branch;
}

// The state is the counter, the arguments, and the result of the trip before, which is nothing at
// first: what comes out was computed in the loop.
Instruction* Loop(Module& module, Computation& entry, Computation& callee,
                  const std::vector<Instruction*>& arguments) {
  std::vector<Instruction*> start = {Number(entry, 0)};
  start.insert(start.end(), arguments.begin(), arguments.end());
  start.push_back(Zeros(entry, callee.root()->shape()));
  Instruction* init = Tuple(entry, start);

  Computation* condition = module.AddComputation("condition");
  Instruction* state = condition->AddParameter(0, init->shape());
  Attributes less;
  less.Set(Attr::kDirection, AttrValue(static_cast<int64_t>(Direction::kLt)));
  condition->set_root(condition->Add(Opcode::kCompare, Shape::Scalar(ElementType::kPred),
                                     {Element(*condition, state, 0), Number(*condition, kTrips)},
                                     std::move(less)));

  Computation* body = module.AddComputation("body");
  state = body->AddParameter(0, init->shape());
  Instruction* counter = Element(*body, state, 0);
  std::vector<Instruction*> next = {
      body->Add(Opcode::kAdd, counter->shape(), {counter, Number(*body, 1)})};
  std::vector<Instruction*> operands;
  for (size_t i = 0; i < arguments.size(); ++i) operands.push_back(Element(*body, state, i + 1));
  next.insert(next.end(), operands.begin(), operands.end());
  next.push_back(Call(*body, callee, operands));
  body->set_root(Tuple(*body, next));

  Instruction* loop = entry.Add(Opcode::kWhile, init->shape(), {init}, {}, {condition, body});
  return Element(entry, loop, start.size() - 1);
}

// A parameter of the result's shape lends it its buffer; the buffers of all others are free once
// the program runs.
std::unique_ptr<Module> Donated(const Module& module) {
  std::unique_ptr<Module> donated = module.Clone("");
  const Shape& result = donated->entry()->root()->shape();
  bool is_lent = false;
  for (int64_t i = 0; i < donated->entry()->parameter_count(); ++i) {
    const Shape& shape = donated->entry()->parameter(i)->shape();
    if (!is_lent && result.IsArray() && shape == result) {
      is_lent = true;
      donated->config().input_output_alias.push_back({{}, i, {}, false});
    } else {
      donated->config().buffer_donors.push_back({i, {}});
    }
  }
  return donated->entry()->parameter_count() == 0 ? nullptr : std::move(donated);
}

}  // namespace

std::string_view Name(MatrixMode mode) { return kNames[static_cast<size_t>(mode)]; }

std::unique_ptr<Module> InMode(const Module& module, MatrixMode mode,
                               std::vector<Literal>& inputs) {
  if (mode == MatrixMode::kArguments) return module.Clone("");
  if (!CanBeJoined(module)) return nullptr;
  if (mode == MatrixMode::kFolded) return Folded(module, inputs);
  if (mode == MatrixMode::kSharded) return ShardedMode(module);
  if (mode == MatrixMode::kDonated) return Donated(module);
  std::unique_ptr<Module> made = module.Clone("");
  Computation& callee = *made->entry();
  Computation& entry = *made->AddComputation("in_mode");
  const std::vector<Instruction*> arguments = Parameters(entry, callee);
  if (mode == MatrixMode::kCall) {
    entry.set_root(Call(entry, callee, arguments));
  } else if (mode == MatrixMode::kLoop) {
    entry.set_root(Loop(*made, entry, callee, arguments));
  } else {
    Instruction* chosen =
        entry.AddParameter(entry.parameter_count(), Shape::Scalar(ElementType::kPred));
    Instruction* all = Tuple(entry, arguments);
    Computation* taken = OnTuple(*made, callee, all->shape());
    Computation* other = OnTuple(*made, callee, all->shape());
    entry.set_root(entry.Add(Opcode::kConditional, callee.root()->shape(), {chosen, all, all}, {},
                             {taken, other}));
    Literal yes(Shape::Scalar(ElementType::kPred));
    yes.SetInteger(0, 1);
    inputs.push_back(std::move(yes));
  }
  made->set_entry(&entry);
  return made;
}

}  // namespace assay
