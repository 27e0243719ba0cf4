// Gather, scatter, sort, top-k, windows and map (requirements 5, 13 to 16, 26 to 28, 32). Indices
// lie at the edges, beyond them, and on each other; promises about them are kept.
#include "fuzz/generator/recipes/recipes_data.h"

#include <algorithm>
#include <vector>

#include "spec/attributes/sharding.h"

namespace assay {
namespace {

constexpr TypeMask kMovable = kP | kI | kF;

// ---- Scalar computations.

class ScalarScope {
 public:
  ScalarScope(Program& program, std::string_view name, absl::Span<const ElementType> parameters)
      : program_(program) {
    scope_.computation = program.NewComputation(name);
    scope_.depth = program.scope().depth + 1;
    outer_ = program.EnterScope(&scope_);
    for (size_t i = 0; i < parameters.size(); ++i)
      at.push_back(program.ScopeParameter(static_cast<int64_t>(i), Shape::Scalar(parameters[i])));
  }
  Computation* Finish(Instruction* root) {
    scope_.computation->set_root(root);
    program_.EnterScope(outer_);
    return scope_.computation;
  }
  std::vector<Instruction*> at;

 private:
  Program& program_;
  Scope scope_;
  Scope* outer_;
};

// (current, update) -> update
Computation* Overwriting(Program& program, ElementType type) {
  ScalarScope scope(program, "overwrite", {type, type});
  return scope.Finish(scope.at[1]);
}

// ---- gather and scatter

// How index vectors address an operand, for both ops.
struct Addressing {
  DimVector map;       // of the index components
  DimVector dropped;   // collapsed or inserted dimensions
  DimVector batching;  // operand dimensions, and
  DimVector indices_batching;
  DimVector window;   // sizes of the kept dimensions
  DimVector slice;    // sizes of all dimensions
  DimVector indices;  // dimensions of the index operand
  int64_t vector_dim = 0;
  DimVector batch;        // dimensions of the indices without vector_dim
  DimVector outer;        // dimensions of the slices together
  DimVector window_dims;  // those of them that belong to the window
};

Addressing DrawAddressing(Program& program, const Shape& operand) {
  Choices& choices = program.choices();
  Addressing a;
  const int64_t rank = operand.rank();
  const bool batched = rank >= 2 && choices.Percent(20);
  const int64_t batch_dim = batched ? static_cast<int64_t>(choices.Draw(rank)) : -1;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t size = operand.dimension(d);
    if (d == batch_dim) {
      a.batching.push_back(d);
      a.slice.push_back(1);
      continue;
    }
    if (choices.Percent(75)) a.map.push_back(d);
    if (size >= 1 && choices.Percent(55)) {
      a.dropped.push_back(d);
      a.slice.push_back(1);
      continue;
    }
    const int64_t part = choices.Percent(40) || size == 0 ? size : choices.Range(1, size);
    a.slice.push_back(part);
    a.window.push_back(part);
  }
  const DimVector order = RandomPermutation(choices, static_cast<int64_t>(a.map.size()));
  DimVector map;
  for (int64_t k : order) map.push_back(a.map[k]);
  a.map = map;
  // The dimensions of the indices.
  const int64_t free = choices.Range(batched ? 0 : (choices.Percent(10) ? 0 : 1), 2);
  int64_t window_count = 1, room = program.element_cap();
  for (int64_t size : a.window) window_count *= std::max<int64_t>(size, 1);
  room /= window_count;
  if (batched) {
    a.batch.push_back(operand.dimension(batch_dim));
    room /= std::max<int64_t>(operand.dimension(batch_dim), 1);
  }
  for (int64_t i = 0; i < free; ++i) {
    const int64_t size = std::clamp<int64_t>(choices.Range(1, 6), 1, std::max<int64_t>(room, 1));
    const auto at = static_cast<int64_t>(choices.Draw(a.batch.size() + 1));
    a.batch.insert(a.batch.begin() + at, size);
    room /= size;
  }
  a.indices = a.batch;
  const auto components = static_cast<int64_t>(a.map.size());
  if (components == 1 && choices.Percent(30)) {
    a.vector_dim = static_cast<int64_t>(a.batch.size());  // implicit
  } else {
    a.vector_dim = static_cast<int64_t>(choices.Draw(a.batch.size() + 1));
    a.indices.insert(a.indices.begin() + a.vector_dim, components);
  }
  if (batched) {
    int64_t at = 0;
    // The first dimension of the right size will do.
    while (a.batch[at] != operand.dimension(batch_dim)) ++at;
    const bool after = a.indices.size() > a.batch.size() && at >= a.vector_dim;
    a.indices_batching.push_back(at + (after ? 1 : 0));
  }
  // Windows anywhere among the slices' dimensions, in order.
  const size_t total = a.batch.size() + a.window.size();
  size_t batch_at = 0, window_at = 0;
  for (size_t d = 0; d < total; ++d) {
    const size_t windows_left = a.window.size() - window_at;
    const bool window =
        windows_left == total - d || (windows_left > 0 && choices.Draw(total - d) < windows_left);
    if (window) a.window_dims.push_back(static_cast<int64_t>(d));
    a.outer.push_back(window ? a.window[window_at++] : a.batch[batch_at++]);
  }
  return a;
}

// The most that an index type counts to.
bool Counts(ElementType type, int64_t value) {
  return type == ElementType::kU64 || value <= MaxOf(type);
}

ElementType DrawIndices(Program& program, const Shape& operand) {
  const ElementType type =
      program.choices().Percent(60) ? ElementType::kS32 : program.DrawIndexType();
  for (int64_t size : operand.dimensions())
    if (!Counts(type, size)) return ElementType::kS32;
  return type;
}

// Index vectors with components at the edges and beyond them. For scatter, windows are wholly
// inside or wholly outside of the operand when `whole` says so.
Instruction* DrawIndexVectors(Program& program, const Shape& operand, const Addressing& addressing,
                              ElementType type, bool scatter, bool whole) {
  Choices& choices = program.choices();
  Literal literal(Shape::Array(type, addressing.indices));
  const bool is_signed = MinOf(type) < 0;
  const bool wild = choices.Percent(40);
  DimVector strides = RowMajorStrides(addressing.indices);
  const bool explicit_dim = addressing.indices.size() > addressing.batch.size();
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    const int64_t component = explicit_dim ? i / strides[addressing.vector_dim] %
                                                 addressing.indices[addressing.vector_dim]
                                           : 0;
    const int64_t d = addressing.map[component], size = operand.dimension(d);
    const int64_t last = std::max<int64_t>(size - addressing.slice[d], 0);
    int64_t value = choices.Range(0, last);
    if (wild && choices.Percent(35)) {
      const int64_t outside = scatter && whole ? size : last + 1;
      value = choices.Pick<int64_t>({0, last, outside, outside + 3});
      if (choices.Percent(25)) value = MaxOf(type);
      if (is_signed && choices.Percent(30))
        value =
            scatter && whole ? -addressing.slice[d] - choices.Range(0, 2) : -choices.Range(1, 3);
      if (is_signed && choices.Percent(8)) value = MinOf(type);
      if (value > 0 && !Counts(type, value)) value = last;
    }
    literal.SetInteger(i, value);
  }
  if (program.scope().entry && choices.Percent(50))
    return program.FixedParameter(std::move(literal));
  return program.Constant(std::move(literal));
}

Instruction* GatherOf(Program& program, Instruction* operand, const Addressing& addressing,
                      Instruction* indices) {
  Attributes attributes;
  attributes.Set(Attr::kOffsetDims, addressing.window_dims);
  attributes.Set(Attr::kCollapsedSliceDims, addressing.dropped);
  attributes.Set(Attr::kStartIndexMap, addressing.map);
  if (!addressing.batching.empty()) {
    attributes.Set(Attr::kOperandBatchingDims, addressing.batching);
    attributes.Set(Attr::kStartIndicesBatchingDims, addressing.indices_batching);
  }
  attributes.Set(Attr::kIndexVectorDim, AttrValue(addressing.vector_dim));
  attributes.Set(Attr::kSliceSizes, addressing.slice);
  return program.Emit(Opcode::kGather,
                      Shape::Array(operand->shape().element_type(), addressing.outer),
                      {operand, indices}, std::move(attributes));
}

int64_t CountOf(absl::Span<const int64_t> dimensions) {
  int64_t count = 1;
  for (int64_t size : dimensions) count *= size;
  return count;
}

// Some integers of the program, when there are any of the right shape, make the least predictable
// indices.
Instruction* IndicesFor(Program& program, const Shape& operand, const Addressing& addressing,
                        bool scatter) {
  const ElementType type = DrawIndices(program, operand);
  if (!scatter && program.choices().Percent(20)) {
    if (Instruction* existing = program.Existing(Shape::Array(type, addressing.indices)))
      return existing;
  }
  return DrawIndexVectors(program, operand, addressing, type, scatter, program.options().portable);
}

Instruction* BuildGather(Program& program, Opcode) {
  Instruction* x = program.Operand(kMovable, 1);
  if (x->shape().ElementCount() == 0) return nullptr;
  const Addressing a = DrawAddressing(program, x->shape());
  if (!program.Fits(CountOf(a.outer)) || !program.Fits(CountOf(a.indices))) return nullptr;
  Instruction* indices = IndicesFor(program, x->shape(), a, false);
  Instruction* gathered = GatherOf(program, x, a, indices);
  if (!program.choices().Percent(25) || IsPred(x->shape().element_type())) return gathered;
  // The same indices on another array.
  Instruction* other = program.OperandLike(x->shape());
  return program.Binary(Opcode::kSubtract, GatherOf(program, other, a, indices), gathered);
}

// Index vectors of which no two windows meet: one of them, or steps of a whole window along the
// first mapped dimension.
Instruction* UniqueIndices(Program& program, const Shape& operand, const Addressing& addressing) {
  Literal literal(Shape::Array(ElementType::kS32, addressing.indices));
  const int64_t count = CountOf(addressing.batch);
  const int64_t d = addressing.map.empty() ? 0 : addressing.map[0];
  const bool explicit_dim = addressing.indices.size() > addressing.batch.size();
  const bool first = explicit_dim && addressing.vector_dim == 0;
  const bool last =
      !explicit_dim || addressing.vector_dim == static_cast<int64_t>(addressing.batch.size());
  if (addressing.map.empty() || !(first || last)) return nullptr;
  if (count * addressing.slice[d] > operand.dimension(d)) return nullptr;
  const bool falling = program.choices().Percent(40);
  const auto components = static_cast<int64_t>(addressing.map.size());
  for (int64_t g = 0; g < count; ++g) {
    const int64_t at = (falling ? count - 1 - g : g) * addressing.slice[d];
    literal.SetInteger(first ? g : g * components, at);
  }
  return program.Constant(std::move(literal));
}

Instruction* BuildScatter(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kMovable, 1);
  const ElementType type = x->shape().element_type();
  if (x->shape().ElementCount() == 0) return nullptr;
  const Addressing a = DrawAddressing(program, x->shape());
  if (!program.Fits(CountOf(a.outer)) || !program.Fits(CountOf(a.indices))) return nullptr;
  Attributes attributes;
  Instruction* indices = nullptr;
  bool unique = false;
  if (choices.Percent(40)) {
    indices = UniqueIndices(program, x->shape(), a);
    unique = indices != nullptr;
  }
  if (indices == nullptr) indices = IndicesFor(program, x->shape(), a, true);
  Instruction* updates = program.OperandOf(type, a.outer);
  Computation* combiner;
  // Where updates may meet, the last one is anybody's guess.
  if (choices.Percent(unique ? 50 : 10)) {
    combiner = Overwriting(program, type);
  } else {
    combiner = MakeReducer(program, type, 4).computation;
  }
  attributes.Set(Attr::kUpdateWindowDims, a.window_dims);
  attributes.Set(Attr::kInsertedWindowDims, a.dropped);
  attributes.Set(Attr::kScatterDimsToOperandDims, a.map);
  if (!a.batching.empty()) {
    attributes.Set(Attr::kInputBatchingDims, a.batching);
    attributes.Set(Attr::kScatterIndicesBatchingDims, a.indices_batching);
  }
  attributes.Set(Attr::kIndexVectorDim, AttrValue(a.vector_dim));
  if (unique && choices.Percent(60)) attributes.Set(Attr::kUniqueIndices, AttrValue(true));
  return program.Emit(Opcode::kScatter, x->shape(), {x, indices, updates}, std::move(attributes),
                      {combiner});
}

// ---- sort and top-k

Computation* Comparator(Program& program, absl::Span<const ElementType> types, bool strict_total) {
  Choices& choices = program.choices();
  std::vector<ElementType> parameters;
  for (ElementType type : types) parameters.insert(parameters.end(), 2, type);
  ScalarScope scope(program, "comparator", parameters);
  const Direction direction = choices.Percent(60) ? Direction::kLt : Direction::kGt;
  auto precedes = [&](size_t k, Direction which) {
    Instruction* compare = program.Compare(which, scope.at[2 * k], scope.at[2 * k + 1]);
    if (IsFloat(types[k]) && which != Direction::kEq)
      compare->mutable_attributes().Set(Attr::kCompareType, CompareType::kTotalOrder);
    return compare;
  };
  const size_t key = choices.Draw(types.size());
  Instruction* root = precedes(key, direction);
  // Lexicographic over two operands, the second one integers.
  const size_t second = (key + 1) % types.size();
  if (types.size() >= 2 && !IsFloat(types[key]) && !IsFloat(types[second]) &&
      (strict_total || choices.Percent(40))) {
    Instruction* equal = precedes(key, Direction::kEq);
    Instruction* then = precedes(second, choices.Percent(50) ? Direction::kLt : Direction::kGt);
    root = program.Binary(Opcode::kOr, root, program.Binary(Opcode::kAnd, equal, then));
  }
  return scope.Finish(root);
}

Instruction* BuildSort(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kMovable, 1);
  const int64_t rank = x->shape().rank();
  std::vector<Instruction*> operands = {x};
  const int64_t more = choices.Weighted({45, 35, 20});
  const auto d = static_cast<int64_t>(choices.Draw(rank));
  for (int64_t i = 0; i < more; ++i) {
    if (choices.Percent(40)) {
      operands.push_back(program.Iota(Shape::Array(ElementType::kS32, x->shape().dimensions()), d));
    } else {
      const ElementType type = program.DrawType(kMovable);
      operands.push_back(program.OperandOf(type, x->shape().dimensions()));
    }
  }
  std::vector<ElementType> types;
  std::vector<Shape> shapes;
  for (Instruction* operand : operands) {
    types.push_back(operand->shape().element_type());
    shapes.push_back(Shape::Array(types.back(), x->shape().dimensions()));
  }
  Computation* comparator = Comparator(program, types, false);
  Attributes attributes;
  attributes.Set(Attr::kDimension, {d});
  if (operands.size() > 1 || choices.Percent(50)) attributes.Set(Attr::kIsStable, AttrValue(true));
  Shape shape = operands.size() == 1 ? shapes[0] : Shape::Tuple(shapes);
  Instruction* sorted =
      program.Emit(Opcode::kSort, std::move(shape), operands, std::move(attributes), {comparator});
  if (operands.size() == 1) return sorted;
  for (size_t k = 1; k < operands.size(); ++k)
    program.GetTupleElement(sorted, static_cast<int64_t>(k));
  return program.GetTupleElement(sorted, 0);
}

Instruction* BuildTopK(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kI | kF, 1);
  const int64_t last = x->shape().rank() - 1, length = x->shape().dimension(last);
  int64_t k = choices.Range(std::min<int64_t>(length, 1), length);
  if (choices.Percent(10)) k = choices.Percent(50) ? 0 : length;
  DimVector dimensions(x->shape().dimensions().begin(), x->shape().dimensions().end());
  dimensions[last] = k;
  Attributes attributes;
  attributes.Set(Attr::kK, AttrValue(k));
  attributes.Set(Attr::kLargest, AttrValue(choices.Percent(60)));
  attributes.Set(Attr::kIsStable, AttrValue(true));
  Shape shape = Shape::Tuple({Shape::Array(x->shape().element_type(), dimensions),
                              Shape::Array(ElementType::kS32, dimensions)});
  Instruction* both = program.Emit(Opcode::kTopK, std::move(shape), {x}, std::move(attributes));
  program.GetTupleElement(both, 1);
  return program.GetTupleElement(both, 0);
}

// ---- windows

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
    if (choices.Percent(30)) dim.low += choices.Range(-2, 3);
    if (choices.Percent(30)) dim.high += choices.Range(-2, 3);
    if (dilated && choices.Percent(20)) dim.base_dilation = choices.Range(2, 3);
    if (dilated && choices.Percent(20)) dim.window_dilation = choices.Range(2, 3);
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
  if (!program.Fits(CountOf(places))) return nullptr;
  int64_t terms = 1;
  for (const WindowDim& dim : window) terms *= dim.size;
  const ElementType type = x->shape().element_type();
  Reducer reducer = MakeReducer(program, type, terms);
  Attributes attributes;
  attributes.Set(Attr::kWindow, AttrValue(std::move(window)));
  return program.Emit(Opcode::kReduceWindow, Shape::Array(type, places), {x, reducer.init},
                      std::move(attributes), {reducer.computation});
}

Instruction* BuildSelectAndScatter(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kI | kF, 1);
  DimVector places;
  std::vector<WindowDim> window = DrawWindow(program, x->shape(), false, places);
  if (!program.Fits(CountOf(places))) return nullptr;
  const ElementType type = x->shape().element_type();
  Instruction* source = program.OperandOf(type, places);
  Computation* select;
  {
    ScalarScope scope(program, "select", {type, type});
    const Direction direction =
        choices.Pick<Direction>({Direction::kGe, Direction::kLe, Direction::kGt, Direction::kLt});
    select = scope.Finish(program.Compare(direction, scope.at[0], scope.at[1]));
  }
  Reducer reducer =
      MakeReducerOf(program, choices.Percent(70) ? Opcode::kAdd : Opcode::kMaximum, type);
  Attributes attributes;
  attributes.Set(Attr::kWindow, AttrValue(std::move(window)));
  return program.Emit(Opcode::kSelectAndScatter, Shape::Array(type, x->shape().dimensions()),
                      {x, source, reducer.init}, std::move(attributes),
                      {select, reducer.computation});
}

// ---- map

Instruction* BuildMap(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kI | kF);
  const ElementType type = x->shape().element_type();
  Instruction* y = program.OperandLike(x->shape());
  Computation* body;
  {
    ScalarScope scope(program, "mapped", {type, type});
    const Opcode opcode = choices.Pick<Opcode>({Opcode::kAdd, Opcode::kSubtract, Opcode::kMaximum});
    Instruction* root = program.Binary(opcode, scope.at[0], scope.at[1]);
    if (choices.Percent(40)) root = program.Binary(Opcode::kMinimum, root, scope.at[1]);
    body = scope.Finish(root);
  }
  Attributes attributes;
  DimVector dimensions;
  for (int64_t d = 0; d < x->shape().rank(); ++d) dimensions.push_back(d);
  attributes.Set(Attr::kDimensions, dimensions);
  return program.Emit(Opcode::kMap, Shape::Array(type, x->shape().dimensions()), {x, y},
                      std::move(attributes), {body});
}

// ---- scan

// A running combination of the slices, with the last one and, now and then, what each slice adds.
Instruction* BuildScan(Program& program, Opcode opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kI | kF, 1);
  const ElementType type = x->shape().element_type();
  const auto d = static_cast<int64_t>(choices.Draw(x->shape().rank()));
  DimVector slice(x->shape().dimensions().begin(), x->shape().dimensions().end());
  slice.erase(slice.begin() + d);
  const Shape step = Shape::Array(type, slice);
  Instruction* init = program.OperandOf(type, slice);
  const bool associative = choices.Percent(30);
  Computation* body = program.NewComputation("scanned");
  Scope scope;
  scope.computation = body;
  scope.depth = program.scope().depth + 1;
  Scope* outer = program.EnterScope(&scope);
  Instruction* value = program.ScopeParameter(0, step);
  Instruction* carry = program.ScopeParameter(1, step);
  const Opcode combine = associative
                             ? choices.Pick({Opcode::kAdd, Opcode::kMaximum, Opcode::kMinimum})
                             : choices.Pick({Opcode::kAdd, Opcode::kSubtract, Opcode::kMaximum});
  Instruction* next = program.Binary(combine, value, carry);
  Instruction* out = next;
  if (!associative && choices.Percent(40)) out = program.Binary(Opcode::kMinimum, next, value);
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

// ---- batch normalisation

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

// ---- Dynamic sizes. Arrays with run-time sizes stay within the pattern: they are summed up or
// measured at once.

Instruction* Hidden(Program& program, Instruction* dynamic) {
  std::vector<Instruction*>& values = program.scope().values;
  if (!values.empty() && values.back() == dynamic) values.pop_back();
  return dynamic;
}

Instruction* BuildDynamic(Program& program, Opcode opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kMovable, 1);
  const ElementType type = x->shape().element_type();
  const auto d = static_cast<int64_t>(choices.Draw(x->shape().rank()));
  const int64_t bound = x->shape().dimension(d);
  int64_t size = choices.Range(0, bound);
  if (choices.Percent(25)) size = choices.Percent(50) ? 0 : bound;
  Shape shape = Shape::Array(type, x->shape().dimensions());
  shape.set_dynamic(d, true);
  Attributes attributes;
  attributes.Set(Attr::kDimension, {d});
  Instruction* length = program.KnownScalar(ElementType::kS32, size);
  Instruction* sized = Hidden(
      program, program.Emit(Opcode::kSetDimensionSize, shape, {x, length}, std::move(attributes)));
  if (opcode == Opcode::kGetDimensionSize) {
    Attributes which;
    which.Set(Attr::kDimension, {d});
    return program.Emit(opcode, Shape::Scalar(ElementType::kS32), {sized}, std::move(which));
  }
  if (opcode == Opcode::kDynamicReshape) {
    // A leading dimension of size 1 more.
    DimVector dimensions = {1};
    std::vector<Instruction*> operands = {sized};
    operands.push_back(program.ScalarConstant(ElementType::kS32, 1));
    for (int64_t k = 0; k < x->shape().rank(); ++k) {
      dimensions.push_back(x->shape().dimension(k));
      operands.push_back(
          k == d ? length : program.ScalarConstant(ElementType::kS32, x->shape().dimension(k)));
    }
    Shape deeper = Shape::Array(type, dimensions);
    deeper.set_dynamic(d + 1, true);
    sized = Hidden(program, program.Emit(opcode, deeper, operands));
    Reducer reducer = MakeReducer(program, type, bound);
    return program.Reduce(sized, reducer.init, {d + 1}, reducer.computation);
  }
  if (choices.Percent(40)) {
    Attributes turned;
    turned.Set(Attr::kDimensions, {d});
    sized = Hidden(program, program.Emit(Opcode::kReverse, shape, {sized}, std::move(turned)));
  }
  Reducer reducer = MakeReducer(program, type, bound);
  return program.Reduce(sized, reducer.init, {d}, reducer.computation);
}

constexpr Recipe kRecipes[] = {
    {Opcode::kGather, "gather", RecipeGroup::kIndex, 8, BuildGather},
    {Opcode::kScatter, "scatter", RecipeGroup::kIndex, 8, BuildScatter},
    {Opcode::kSort, "sort", RecipeGroup::kReduce, 4, BuildSort},
    // jaxlib 0.10.2 writes is_stable of topk in text and does not read it.
    {Opcode::kTopK, "topk", RecipeGroup::kReduce, 2, BuildTopK, kNotPortable},
    {Opcode::kReduceWindow, "reduce-window", RecipeGroup::kReduce, 5, BuildReduceWindow},
    {Opcode::kSelectAndScatter, "select-and-scatter", RecipeGroup::kReduce, 3,
     BuildSelectAndScatter},
    {Opcode::kMap, "map", RecipeGroup::kReduce, 2, BuildMap},
    {Opcode::kScan, "scan", RecipeGroup::kReduce, 2, BuildScan, kNotPortable},
    {Opcode::kBatchNormTraining, "batch-norm-training", RecipeGroup::kReduce, 1, BuildBatchNorm},
    {Opcode::kBatchNormInference, "batch-norm-inference", RecipeGroup::kReduce, 1, BuildBatchNorm},
    {Opcode::kBatchNormGrad, "batch-norm-grad", RecipeGroup::kReduce, 1, BuildBatchNorm},
    {Opcode::kSetDimensionSize, "set-dimension-size", RecipeGroup::kReduce, 1, BuildDynamic,
     kNotPortable},
    {Opcode::kGetDimensionSize, "get-dimension-size", RecipeGroup::kReduce, 1, BuildDynamic,
     kNotPortable},
    {Opcode::kDynamicReshape, "dynamic-reshape", RecipeGroup::kReduce, 1, BuildDynamic,
     kNotPortable},
};

}  // namespace

absl::Span<const Recipe> DataRecipes() { return kRecipes; }

}  // namespace assay
