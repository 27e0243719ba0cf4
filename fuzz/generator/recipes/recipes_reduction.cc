// Reductions with reducers of many forms, windows, map, scans and batch normalisation (requirements
// 5, 26, 28, 44). Reducers are associative and commutative on what they are given, or their
// operands are kept in order by definition; initial values are identities unless any value is
// harmless.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"
#include "fuzz/generator/recipes/scalar_scope.h"
#include "spec/ops/combiners.h"

namespace assay {
namespace {

constexpr TypeMask kMovable = kAnyArray, kNumber = kI | kF | kC;

// A reducer under construction: (accumulator, element).
class ReducerScope : public ScalarScope {
 public:
  ReducerScope(Program& program, ElementType type)
      : ScalarScope(program, "reducer", {type, type}), a(at[0]), b(at[1]) {}
  Instruction *a, *b;
};

Instruction* InitFor(Program& program, Opcode opcode, ElementType type) {
  Choices& choices = program.choices();
  // XLA drops a reduction over one element together with its initial value, which is licensed by
  // the document that demands an identity there.
  bool harmless = !program.options().portable && (IsIdempotent(opcode) || IsInteger(type));
  if (harmless && choices.Percent(20)) return program.OperandOf(type, {});
  Literal identity = IdentityOf(opcode, type);
  bool as_parameter = program.scope().entry && choices.Percent(20);
  return as_parameter ? program.FixedParameter(std::move(identity))
                      : program.Constant(std::move(identity));
}

// convert(op(convert(a), convert(b))): the combiner of narrow types as frameworks write it.
Instruction* ThroughWider(Program& program, Opcode opcode, Instruction* a, Instruction* b) {
  const ElementType type = a->shape().element_type();
  const ElementType wide = type == ElementType::kC64 ? ElementType::kC128 : WiderType(type);
  if (wide == type || !program.options().Takes(wide)) return program.Binary(opcode, a, b);
  Instruction* wide_a = program.Convert(a, wide);
  Instruction* wide_b = program.Convert(b, wide);
  return program.Convert(program.Binary(opcode, wide_a, wide_b), type);
}

// Combines by way of a narrower type: every step rounds. For extremes alone that has one answer in
// any order.
Instruction* ThroughNarrower(Program& program, Opcode opcode, Instruction* a, Instruction* b) {
  const ElementType type = a->shape().element_type();
  std::vector<ElementType> narrow;
  for (ElementType other : {ElementType::kF32, ElementType::kF16, ElementType::kBF16})
    if (BitWidth(other) < BitWidth(type) && program.options().Takes(other)) narrow.push_back(other);
  if (!IsFloat(type) || narrow.empty()) return program.Binary(opcode, a, b);
  const ElementType way = program.choices().Pick(narrow);
  Instruction* narrow_a = program.Convert(a, way);
  Instruction* narrow_b = program.Convert(b, way);
  return program.Convert(program.Binary(opcode, narrow_a, narrow_b), type);
}

// select(a > b, a, b): a maximum by another name. Integers only, where it is one.
Instruction* SelectExtreme(Program& program, bool greatest, Instruction* a, Instruction* b) {
  Direction direction = greatest ? Direction::kGt : Direction::kLe;
  return program.Select(program.Compare(direction, a, b), a, b);
}

// min(a + b, limit) in a type that does not wrap: saturation of narrow unsigned types.
Instruction* Saturate(Program& program, Instruction* a, Instruction* b) {
  ElementType type = a->shape().element_type();
  Instruction* wide_a = program.Convert(a, ElementType::kU32);
  Instruction* wide_b = program.Convert(b, ElementType::kU32);
  Instruction* sum = program.Binary(Opcode::kAdd, wide_a, wide_b);
  Instruction* limit = program.ScalarConstant(ElementType::kU32, MaxOf(type));
  return program.Convert(program.Binary(Opcode::kMinimum, sum, limit), type);
}

// The plain op dressed up: operands exchanged, an ignored sum, a neutral constant.
Instruction* Dressed(Program& program, Opcode opcode, Instruction* a, Instruction* b) {
  switch (program.choices().Draw(3)) {
    case 0:
      return program.Binary(opcode, b, a);
    case 1: {
      program.Binary(opcode, a, a);
      return program.Binary(opcode, a, b);
    }
    default: {
      Instruction* neutral = program.Constant(IdentityOf(opcode, a->shape().element_type()));
      return program.Binary(opcode, program.Binary(opcode, a, neutral), b);
    }
  }
}

std::vector<Opcode> CombinersOf(ElementType type, int64_t reduced_elements) {
  if (IsPred(type)) return {Opcode::kOr, Opcode::kAnd, Opcode::kXor, Opcode::kMaximum};
  std::vector<Opcode> opcodes = {Opcode::kAdd};
  if (!IsComplex(type)) opcodes.insert(opcodes.end(), {Opcode::kMaximum, Opcode::kMinimum});
  // Long products of floats run off to infinity or zero and show nothing.
  if (IsInteger(type) || reduced_elements <= 12) opcodes.push_back(Opcode::kMultiply);
  if (IsInteger(type)) opcodes.insert(opcodes.end(), {Opcode::kAnd, Opcode::kOr, Opcode::kXor});
  return opcodes;
}

Computation* SelectReducer(Program& program, ElementType type, bool greatest) {
  ReducerScope scope(program, type);
  return scope.Finish(SelectExtreme(program, greatest, scope.a, scope.b));
}

Computation* SaturatingReducer(Program& program, ElementType type) {
  ReducerScope scope(program, type);
  return scope.Finish(Saturate(program, scope.a, scope.b));
}

int64_t CountOf(const Shape& shape, absl::Span<const int64_t> dimensions) {
  int64_t count = 1;
  for (int64_t d : dimensions) count *= shape.dimension(d);
  return count;
}

// Any subset: minor, major, middle, all, sometimes none.
DimVector DrawReduced(Choices& choices, int64_t rank) {
  if (rank == 0 || choices.Percent(3)) return {};
  DimVector all;
  for (int64_t i = 0; i < rank; ++i) all.push_back(i);
  switch (choices.Draw(4)) {
    case 0:
      return {rank - 1};
    case 1:
      return all;
    default:
      return RandomSubset(choices, rank);
  }
}

Instruction* ReduceOf(Program& program, Instruction* operand) {
  DimVector dimensions = DrawReduced(program.choices(), operand->shape().rank());
  int64_t count = CountOf(operand->shape(), dimensions);
  Reducer reducer = MakeReducer(program, operand->shape().element_type(), count);
  return program.Reduce(operand, reducer.init, dimensions, reducer.computation);
}

Instruction* BuildReduce(Program& program, Opcode) {
  return ReduceOf(program, program.Operand(kMovable, 1));
}

// Returns its element: the last one of the reduced range wins. Order matters by definition.
Instruction* BuildLastWins(Program& program, Opcode) {
  Instruction* x = program.Operand(kNumber, 1);
  ElementType type = x->shape().element_type();
  DimVector dimensions = DrawReduced(program.choices(), x->shape().rank());
  ReducerScope scope(program, type);
  Instruction* root = program.choices().Percent(30) ? scope.a : scope.b;
  Computation* reducer = scope.Finish(root);
  return program.Reduce(x, program.OperandOf(type, {}), dimensions, reducer);
}

// convert, multiply or broadcast before, and a reduction of the result of a reduction.
Instruction* BuildPreparedReduce(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kNumber, 1);
  switch (choices.Draw(4)) {
    case 0:
      x = program.Convert(x, WiderType(x->shape().element_type()));
      break;
    case 1:
      x = program.Binary(Opcode::kMultiply, x, program.OperandLike(x->shape()));
      break;
    case 2: {
      int64_t size = choices.Range(1, 4);
      if (!program.Fits(x->shape().ElementCount() * size)) break;
      DimVector dimensions = {size}, mapping;
      for (int64_t i = 0; i < x->shape().rank(); ++i) {
        dimensions.push_back(x->shape().dimension(i));
        mapping.push_back(i + 1);
      }
      x = program.Broadcast(x, dimensions, mapping);
      break;
    }
    default: {
      x = ReduceOf(program, x);
      break;
    }
  }
  return ReduceOf(program, x);
}

// Two reductions of one array that differ in the reducer or the dimensions, and meet when they can.
Instruction* BuildSiblingReduces(Program& program, Opcode) {
  Instruction* x = program.Operand(kNumber, 1);
  DimVector dimensions = DrawReduced(program.choices(), x->shape().rank());
  int64_t count = CountOf(x->shape(), dimensions);
  Instruction* results[2];
  for (Instruction*& result : results) {
    Reducer reducer = MakeReducer(program, x->shape().element_type(), count);
    result = program.Reduce(x, reducer.init, dimensions, reducer.computation);
  }
  return program.Binary(Opcode::kSubtract, results[0], results[1]);
}

// x - max(x) along a dimension: producer and consumer must see the same maximum.
Instruction* BuildSubtractMaximum(Program& program, Opcode) {
  Instruction* x = program.Operand(kI | kF, 1);
  int64_t rank = x->shape().rank();
  int64_t d = static_cast<int64_t>(program.choices().Draw(rank));
  Reducer reducer = MakeReducerOf(program, Opcode::kMaximum, x->shape().element_type());
  Instruction* maximum = program.Reduce(x, reducer.init, {d}, reducer.computation);
  DimVector mapping;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != d) mapping.push_back(i);
  }
  DimVector dimensions(x->shape().dimensions().begin(), x->shape().dimensions().end());
  Instruction* back = program.Broadcast(maximum, dimensions, mapping);
  Instruction* shifted = program.Binary(Opcode::kSubtract, x, back);
  bool softmax =
      IsFloat(x->shape().element_type()) && Admits(Opcode::kExponential, x->shape().element_type());
  return softmax ? program.Unary(Opcode::kExponential, shifted) : shifted;
}

Instruction* BuildArgReduce(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kI | kF, 1);
  const Shape& shape = x->shape();
  int64_t d = static_cast<int64_t>(choices.Draw(shape.rank()));
  if (shape.dimension(d) > 100) return nullptr;  // s8 indices would wrap
  ElementType index_type = choices.Percent(75) ? ElementType::kS32 : program.DrawIndexType();
  bool greatest = choices.Percent(50);
  Computation* reducer = ArgReducer(program, shape.element_type(), index_type, greatest);
  Instruction* indices = program.Iota(Shape::Array(index_type, shape.dimensions()), d);
  Opcode like = greatest ? Opcode::kMaximum : Opcode::kMinimum;
  Instruction* init = program.Constant(IdentityOf(like, shape.element_type()));
  Instruction* init_index = program.ScalarConstant(index_type, 0);
  DimVector kept;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i != d) kept.push_back(shape.dimension(i));
  }
  Attributes attributes;
  attributes.Set(Attr::kDimensions, {d});
  Shape result =
      Shape::Tuple({Shape::Array(shape.element_type(), kept), Shape::Array(index_type, kept)});
  Instruction* both =
      program.Emit(Opcode::kReduce, std::move(result), {x, indices, init, init_index},
                   std::move(attributes), {reducer});
  bool values_too = choices.Percent(50);
  if (values_too) program.GetTupleElement(both, 0);
  return program.GetTupleElement(both, 1);
}

int64_t Dilate(int64_t size, int64_t dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; }

// Every field of the window for itself; `places` receives the result's sizes.
std::vector<WindowDim> DrawWindow(Program& program, const Shape& shape, bool dilated,
                                  DimVector& places) {
  Choices& choices = program.choices();
  std::vector<WindowDim> window;
  int64_t room = 4 * program.element_cap();
  for (int64_t size : shape.dimensions()) {
    WindowDim dim;
    switch (choices.Draw(5)) {
      case 0:
        break;
      case 1:  // the whole dimension
        dim.size = std::max<int64_t>(size, 1);
        break;
      case 2:  // as cumulative sums have it
        dim.size = std::clamp<int64_t>(size, 1, 64);
        dim.low = dim.size - 1;
        break;
      default:
        dim.size = choices.Range(1, 4);
        break;
    }
    if (choices.Percent(30)) dim.stride = choices.Range(2, 3);
    if (dilated && choices.Percent(20)) dim.base_dilation = choices.Range(2, 3);
    if (dilated && choices.Percent(20)) dim.window_dilation = choices.Range(2, 3);
    // A window that is reversed holds the same elements. Not every compiler takes it.
    if (dilated && !program.options().portable) dim.reversal = choices.Percent(6);
    // Some places beyond an edge or within it, now and then as many as there are.
    const int64_t all = std::min<int64_t>(Dilate(size, dim.base_dilation), 12);
    const auto edge = [&] {
      return choices.Percent(12) ? choices.Range(-all, all) : choices.Range(-2, 3);
    };
    if (choices.Percent(30)) dim.low += edge();
    if (choices.Percent(30)) dim.high += edge();
    auto count = [&] {
      const int64_t base = Dilate(size, dim.base_dilation) + dim.low + dim.high;
      const int64_t extent = Dilate(dim.size, dim.window_dilation);
      return base <= 0 || base < extent ? int64_t{0} : (base - extent) / dim.stride + 1;
    };
    // Windows that fit nowhere are rare.
    if ((count() == 0 && !choices.Percent(3)) || count() * dim.size > std::max<int64_t>(room, 1))
      dim = WindowDim();
    room /= std::max<int64_t>(count() * dim.size, 1);
    places.push_back(count());
    window.push_back(dim);
  }
  return window;
}

Instruction* BuildReduceWindow(Program& program, Opcode) {
  Instruction* x = program.Operand(kMovable, 1);
  DimVector places;
  std::vector<WindowDim> window = DrawWindow(program, x->shape(), true, places);
  if (!program.Fits(Product(places))) return nullptr;
  int64_t terms = 1;
  for (const WindowDim& dim : window) terms *= dim.size;
  const ElementType type = x->shape().element_type();
  Reducer reducer = MakeReducer(program, type, terms);
  Attributes attributes;
  attributes.Set(Attr::kWindow, AttrValue(std::move(window)));
  return program.Emit(Opcode::kReduceWindow, Shape::Array(type, places), {x, reducer.init},
                      std::move(attributes), {reducer.computation});
}

// Sums of all that comes before, or after, along a dimension.
Instruction* BuildRunningWindow(Program& program, Opcode opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kMovable, 1);
  const Shape shape = Shape::Array(x->shape().element_type(), x->shape().dimensions());
  const auto along = static_cast<size_t>(choices.Draw(static_cast<uint64_t>(shape.rank())));
  const int64_t size = shape.dimension(static_cast<int64_t>(along));
  if (size < 2) return nullptr;
  std::vector<WindowDim> window(static_cast<size_t>(shape.rank()));
  window[along].size = size;
  (choices.Percent(50) ? window[along].low : window[along].high) = size - 1;
  // A combiner that is no plain op is applied anew for each pair of elements.
  constexpr int64_t kMostPairs = 100000;
  const bool may_be_any = shape.ElementCount() * size <= kMostPairs;
  Reducer reducer =
      may_be_any ? MakeReducer(program, shape.element_type(), size)
                 : MakeReducerOf(program, choices.Pick(CombinersOf(shape.element_type(), size)),
                                 shape.element_type());
  Attributes attributes;
  attributes.Set(Attr::kWindow, AttrValue(std::move(window)));
  return program.Emit(opcode, shape, {x, reducer.init}, std::move(attributes),
                      {reducer.computation});
}

Instruction* BuildSelectAndScatter(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kNumber, 1);
  DimVector places;
  std::vector<WindowDim> window = DrawWindow(program, x->shape(), false, places);
  if (!program.Fits(Product(places))) return nullptr;
  const ElementType type = x->shape().element_type();
  Instruction* source = program.OperandOf(type, places);
  Computation* select;
  {
    ScalarScope scope(program, "select", {type, type});
    const Direction direction =
        choices.Pick<Direction>({Direction::kGe, Direction::kLe, Direction::kGt, Direction::kLt});
    Instruction *a = scope.at[0], *b = scope.at[1];
    if (IsComplex(type)) {  // which have no order
      a = program.Unary(Opcode::kReal, a);
      b = program.Unary(Opcode::kReal, b);
    }
    select = scope.Finish(program.Compare(direction, a, b));
  }
  const bool is_sum = IsComplex(type) || choices.Percent(70);
  Reducer reducer = MakeReducerOf(program, is_sum ? Opcode::kAdd : Opcode::kMaximum, type);
  Attributes attributes;
  attributes.Set(Attr::kWindow, AttrValue(std::move(window)));
  return program.Emit(Opcode::kSelectAndScatter, Shape::Array(type, x->shape().dimensions()),
                      {x, source, reducer.init}, std::move(attributes),
                      {select, reducer.computation});
}

Instruction* BuildMap(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kNumber);
  const ElementType type = x->shape().element_type();
  Instruction* y = program.OperandLike(x->shape());
  Computation* body;
  {
    ScalarScope scope(program, "mapped", {type, type});
    const bool has_order = !IsComplex(type);
    const Opcode opcode = choices.Pick<Opcode>(
        {Opcode::kAdd, Opcode::kSubtract, has_order ? Opcode::kMaximum : Opcode::kMultiply});
    Instruction* root = program.Binary(opcode, scope.at[0], scope.at[1]);
    if (choices.Percent(40))
      root = program.Binary(has_order ? Opcode::kMinimum : Opcode::kMultiply, root, scope.at[1]);
    body = scope.Finish(root);
  }
  Attributes attributes;
  DimVector dimensions;
  for (int64_t d = 0; d < x->shape().rank(); ++d) dimensions.push_back(d);
  attributes.Set(Attr::kDimensions, dimensions);
  return program.Emit(Opcode::kMap, Shape::Array(type, x->shape().dimensions()), {x, y},
                      std::move(attributes), {body});
}

Instruction* Everywhere(Program& program, const Literal& scalar, const Shape& shape) {
  Literal all(shape);
  const int64_t parts = scalar.component_count();
  for (int64_t k = 0; k < all.component_count(); ++k)
    all.SetComponentBits(k, scalar.GetComponentBits(k % parts));
  return program.Constant(std::move(all));
}

// A running combination of the slices, with the last one and, now and then, what each slice adds.
Instruction* BuildScan(Program& program, Opcode opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kNumber, 1);
  const ElementType type = x->shape().element_type();
  const auto d = static_cast<int64_t>(choices.Draw(x->shape().rank()));
  DimVector slice(x->shape().dimensions().begin(), x->shape().dimensions().end());
  slice.erase(slice.begin() + d);
  const Shape step = Shape::Array(type, slice);
  // XLA asks for a constant with one value in all elements where the scan is associative.
  const bool has_constant = program.options().portable;
  constexpr int64_t kMostConstants = 256;
  const bool associative =
      choices.Percent(30) && (!has_constant || step.ElementCount() <= kMostConstants);
  const bool has_order = !IsComplex(type);
  const Opcode most = has_order ? Opcode::kMaximum : Opcode::kAdd;
  const Opcode combine =
      associative ? choices.Pick({Opcode::kAdd, most, has_order ? Opcode::kMinimum : most})
                  : choices.Pick({Opcode::kAdd, Opcode::kSubtract, most});
  Instruction* init = associative && has_constant
                          ? Everywhere(program, IdentityOf(combine, type), step)
                          : program.OperandOf(type, slice);
  Computation* body = program.NewComputation("scanned");
  Scope scope;
  scope.computation = body;
  scope.depth = program.scope().depth + 1;
  Scope* outer = program.EnterScope(&scope);
  Instruction* value = program.ScopeParameter(0, step);
  Instruction* carry = program.ScopeParameter(1, step);
  Instruction* next = program.Binary(combine, value, carry);
  Instruction* out = next;
  if (!associative && choices.Percent(40))
    out = program.Binary(has_order ? Opcode::kMinimum : Opcode::kMultiply, next, value);
  body->set_root(program.Tuple({out, next}));
  program.EnterScope(outer);
  Attributes attributes;
  attributes.Set(Attr::kDimension, {d});
  attributes.Set(Attr::kNumCarries, AttrValue(int64_t{1}));
  if (choices.Percent(40)) attributes.Set(Attr::kIsReverse, AttrValue(true));
  if (associative) attributes.Set(Attr::kIsAssociative, AttrValue(true));
  const Shape whole = Shape::Array(type, x->shape().dimensions());
  Instruction* all =
      program.Emit(opcode, Shape::Tuple({whole, step}), {x, init}, std::move(attributes), {body});
  program.GetTupleElement(all, 1);
  return program.GetTupleElement(all, 0);
}

Instruction* BuildBatchNorm(Program& program, Opcode opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kF, 1);
  const ElementType type = x->shape().element_type();
  const auto feature = static_cast<int64_t>(choices.Draw(x->shape().rank()));
  const Shape batch = Shape::Array(type, x->shape().dimensions());
  const DimVector features = {x->shape().dimension(feature)};
  auto vector = [&] { return program.OperandOf(type, features); };
  // Variances are not negative.
  auto variance = [&] {
    Instruction* root = program.OperandOf(type, features);
    return program.Binary(Opcode::kMultiply, root, root);
  };
  Attributes attributes;
  attributes.Set(Attr::kEpsilon, AttrValue(choices.Pick<double>({0.5, 1.0, 0.25})));
  attributes.Set(Attr::kFeatureIndex, AttrValue(feature));
  const Shape triple =
      Shape::Tuple({batch, Shape::Array(type, features), Shape::Array(type, features)});
  Instruction* scale = vector();
  Instruction* second = vector();
  if (opcode == Opcode::kBatchNormTraining) {
    Instruction* all = program.Emit(opcode, triple, {x, scale, second}, std::move(attributes));
    program.GetTupleElement(all, 1);
    program.GetTupleElement(all, 2);
    return program.GetTupleElement(all, 0);
  }
  if (opcode == Opcode::kBatchNormInference) {
    Instruction* mean = vector();
    Instruction* spread = variance();
    return program.Emit(opcode, batch, {x, scale, second, mean, spread}, std::move(attributes));
  }
  Instruction* spread = variance();
  Instruction* gradient = program.OperandLike(batch);
  Instruction* all =
      program.Emit(opcode, triple, {x, scale, second, spread, gradient}, std::move(attributes));
  program.GetTupleElement(all, 1);
  program.GetTupleElement(all, 2);
  return program.GetTupleElement(all, 0);
}

constexpr Recipe kRecipes[] = {
    {Opcode::kReduce, "reduce", RecipeGroup::kReduce, 12, BuildReduce},
    {Opcode::kReduce, "reduce-last-wins", RecipeGroup::kReduce, 1, BuildLastWins, kNotPortable},
    {Opcode::kReduce, "prepared-reduce", RecipeGroup::kReduce, 6, BuildPreparedReduce},
    {Opcode::kReduce, "sibling-reduces", RecipeGroup::kReduce, 3, BuildSiblingReduces},
    {Opcode::kReduce, "subtract-maximum", RecipeGroup::kReduce, 3, BuildSubtractMaximum},
    {Opcode::kReduce, "arg-reduce", RecipeGroup::kReduce, 4, BuildArgReduce},
};

constexpr Recipe kWindowRecipes[] = {
    {Opcode::kReduceWindow, "reduce-window", RecipeGroup::kReduce, 5, BuildReduceWindow},
    {Opcode::kReduceWindow, "running-window", RecipeGroup::kReduce, 2, BuildRunningWindow},
    {Opcode::kSelectAndScatter, "select-and-scatter", RecipeGroup::kReduce, 3,
     BuildSelectAndScatter},
    {Opcode::kMap, "map", RecipeGroup::kReduce, 2, BuildMap},
    {Opcode::kScan, "scan", RecipeGroup::kReduce, 2, BuildScan},
    {Opcode::kBatchNormTraining, "batch-norm-training", RecipeGroup::kReduce, 1, BuildBatchNorm},
    {Opcode::kBatchNormInference, "batch-norm-inference", RecipeGroup::kReduce, 1, BuildBatchNorm},
    {Opcode::kBatchNormGrad, "batch-norm-grad", RecipeGroup::kReduce, 1, BuildBatchNorm},
};

}  // namespace

Computation* ArgReducer(Program& program, ElementType type, ElementType index_type, bool greatest) {
  Scope scope;
  scope.computation = program.NewComputation("arg_reducer");
  scope.depth = program.scope().depth + 1;
  Scope* outer = program.EnterScope(&scope);
  Instruction* value_a = program.ScopeParameter(0, Shape::Scalar(type));
  Instruction* index_a = program.ScopeParameter(1, Shape::Scalar(index_type));
  Instruction* value_b = program.ScopeParameter(2, Shape::Scalar(type));
  Instruction* index_b = program.ScopeParameter(3, Shape::Scalar(index_type));
  Instruction* first =
      program.Compare(greatest ? Direction::kGt : Direction::kLt, value_a, value_b);
  if (IsFloat(type)) {
    Instruction* nan = program.Compare(Direction::kNe, value_a, value_a);
    first = program.Binary(Opcode::kOr, first, nan);
  }
  Instruction* equal = program.Compare(Direction::kEq, value_a, value_b);
  Instruction* earlier = program.Compare(Direction::kLt, index_a, index_b);
  Instruction* tie = program.Binary(Opcode::kAnd, equal, earlier);
  Instruction* pick = program.Binary(Opcode::kOr, first, tie);
  Instruction* value = program.Select(first, value_a, value_b);
  Instruction* index = program.Select(pick, index_a, index_b);
  scope.computation->set_root(program.Tuple({value, index}));
  program.EnterScope(outer);
  return scope.computation;
}

ElementType WiderType(ElementType type) {
  switch (type) {
    case ElementType::kF16:
    case ElementType::kBF16:
      return ElementType::kF32;
    case ElementType::kS8:
    case ElementType::kS16:
      return ElementType::kS32;
    case ElementType::kU8:
    case ElementType::kU16:
      return ElementType::kU32;
    default:
      return type;
  }
}

Reducer MakeReducerOf(Program& program, Opcode opcode, ElementType type) {
  Reducer reducer;
  {
    ReducerScope scope(program, type);
    reducer.computation = scope.Finish(program.Binary(opcode, scope.a, scope.b));
  }
  reducer.init = program.Constant(IdentityOf(opcode, type));
  return reducer;
}

Reducer MakeReducer(Program& program, ElementType type, int64_t reduced_elements) {
  Choices& choices = program.choices();
  Reducer reducer;
  bool narrow_unsigned = type == ElementType::kU8 || type == ElementType::kU16;
  if (IsInteger(type) && choices.Percent(12)) {
    bool greatest = choices.Percent(50);
    reducer.computation = SelectReducer(program, type, greatest);
    reducer.init = InitFor(program, greatest ? Opcode::kMaximum : Opcode::kMinimum, type);
    return reducer;
  }
  if (narrow_unsigned && choices.Percent(15)) {
    reducer.computation = SaturatingReducer(program, type);
    reducer.init = program.ScalarConstant(type, 0);
    return reducer;
  }
  Opcode opcode = choices.Pick(CombinersOf(type, reduced_elements));
  {
    ReducerScope scope(program, type);
    Instruction* root;
    bool arithmetic = opcode == Opcode::kAdd || opcode == Opcode::kMultiply;
    const bool is_extreme = opcode == Opcode::kMaximum || opcode == Opcode::kMinimum;
    const bool rounds = is_extreme && IsFloat(type) && !program.options().portable;
    switch (choices.Weighted({65, arithmetic ? 20 : 0, 15, rounds ? 10 : 0})) {
      case 0:
        root = program.Binary(opcode, scope.a, scope.b);
        break;
      case 1:
        root = ThroughWider(program, opcode, scope.a, scope.b);
        break;
      case 3:
        root = ThroughNarrower(program, opcode, scope.a, scope.b);
        break;
      default:
        root = Dressed(program, opcode, scope.a, scope.b);
        break;
    }
    reducer.computation = scope.Finish(root);
  }
  reducer.init = InitFor(program, opcode, type);
  return reducer;
}

absl::Span<const Recipe> ReductionRecipes() { return kRecipes; }
absl::Span<const Recipe> WindowRecipes() { return kWindowRecipes; }

}  // namespace assay
