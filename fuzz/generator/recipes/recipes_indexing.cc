// Gather and scatter (requirements 13 to 16, 32). Indices lie at the edges, beyond them, and on
// each other; promises about them are kept.
#include <algorithm>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"
#include "fuzz/generator/recipes/scalar_scope.h"

namespace assay {
namespace {

constexpr TypeMask kMovable = kAnyArray;

// (current, update) -> update
Computation* Overwriting(Program& program, ElementType type) {
  ScalarScope scope(program, "overwrite", {type, type});
  return scope.Finish(scope.at[1]);
}

// The way in which index vectors address an operand, for both ops.
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
  Choices& choices = program.choices();
  ElementType type = choices.Percent(60) ? ElementType::kS32 : program.DrawIndexType();
  if (choices.Percent(8)) type = ElementType::kU64;
  if (!program.options().Takes(type)) type = ElementType::kS32;
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
      // Read as signed it would lie right before the array.
      if (type == ElementType::kU64 && choices.Percent(30)) value = -choices.Range(1, 3);
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

// The first elements of `operand` as indices of that shape, or nullptr where it has no integers or
// not so many.
Instruction* IndicesFrom(Program& program, Instruction* operand, const DimVector& dimensions) {
  const int64_t has = operand->shape().ElementCount(), wanted = Product(dimensions);
  if (!IsIndexType(operand->shape().element_type()) || wanted == 0 || has < wanted) return nullptr;
  if (has > wanted) {
    Instruction* row = operand->shape().rank() == 1 ? operand : program.Reshape(operand, {has});
    operand = program.Slice(row, {{0, wanted, 1}});
  }
  return program.Reshape(operand, dimensions);
}

// Some integers of the program, when there are any of the right shape, make the least predictable
// indices; those of the operand itself must be read before it is written over.
Instruction* IndicesFor(Program& program, Instruction* operand, const Addressing& addressing,
                        bool scatter) {
  const bool portable = program.options().portable;
  if (!portable && program.choices().Percent(8)) {
    Instruction* own = IndicesFrom(program, operand, addressing.indices);
    if (own != nullptr) return own;
  }
  const ElementType type = DrawIndices(program, operand->shape());
  if (!scatter && program.choices().Percent(20)) {
    if (Instruction* existing = program.Existing(Shape::Array(type, addressing.indices)))
      return existing;
  }
  return DrawIndexVectors(program, operand->shape(), addressing, type, scatter, portable);
}

Instruction* BuildGather(Program& program, Opcode) {
  Instruction* x = program.Operand(kMovable, 1);
  if (x->shape().ElementCount() == 0) return nullptr;
  const Addressing a = DrawAddressing(program, x->shape());
  if (!program.Fits(Product(a.outer)) || !program.Fits(Product(a.indices))) return nullptr;
  Instruction* indices = IndicesFor(program, x, a, false);
  Instruction* gathered = GatherOf(program, x, a, indices);
  if (!program.choices().Percent(25) || IsPred(x->shape().element_type())) return gathered;
  // Another array is gathered from by the same indices.
  Instruction* other = program.OperandLike(x->shape());
  return program.Binary(Opcode::kSubtract, GatherOf(program, other, a, indices), gathered);
}

// Index vectors of which no two windows meet: one of them, or steps of a whole window along the
// first mapped dimension.
Instruction* UniqueIndices(Program& program, const Shape& operand, const Addressing& addressing) {
  Literal literal(Shape::Array(ElementType::kS32, addressing.indices));
  const int64_t count = Product(addressing.batch);
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
  if (!program.Fits(Product(a.outer)) || !program.Fits(Product(a.indices))) return nullptr;
  Attributes attributes;
  Instruction* indices = nullptr;
  bool unique = false;
  if (!program.options().portable && IsIndexType(type) && choices.Percent(10)) {
    // Small numbers that are places in the array which they are written to, and which dies there.
    Instruction* low_bits = program.ScalarConstant(type, choices.Pick<int64_t>({1, 3, 7}));
    x = program.Binary(Opcode::kAnd, x, program.Splat(low_bits, x->shape().dimensions()));
    indices = IndicesFrom(program, x, a.indices);
  } else if (choices.Percent(15) && !IsPred(type)) {
    // Read from where they are written to, now and then, in an array that may be written over.
    x = program.Binary(Opcode::kAdd, x, x);
  }
  if (indices == nullptr && choices.Percent(40)) {
    indices = UniqueIndices(program, x->shape(), a);
    unique = indices != nullptr;
  }
  if (indices == nullptr) indices = IndicesFor(program, x, a, true);
  Instruction* updates =
      choices.Percent(20) ? GatherOf(program, x, a, indices) : program.OperandOf(type, a.outer);
  Computation* combiner;
  // The order of updates is open: if two may meet, an overwrite has no single answer.
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

constexpr Recipe kRecipes[] = {
    {Opcode::kGather, "gather", RecipeGroup::kIndex, 8, BuildGather},
    {Opcode::kScatter, "scatter", RecipeGroup::kIndex, 8, BuildScatter},
};

}  // namespace

absl::Span<const Recipe> IndexingRecipes() { return kRecipes; }

}  // namespace assay
