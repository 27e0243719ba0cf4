// Slices, updates, pads, permutations, concatenations and sources; sizes found at run time; copies
// and bitcasts with layouts (requirements 1 to 12, 36, 42).
#include <algorithm>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

constexpr TypeMask kMovable = kAnyArray;

// ---- slice

SliceRange DrawRange(Choices& choices, int64_t size) {
  SliceRange range;
  range.stride = choices.Percent(25) ? choices.Range(2, 3) : 1;
  if (size == 0 || choices.Percent(2)) {
    range.start = choices.Range(0, size);
    range.limit = range.start;
    return range;
  }
  range.start = choices.Percent(60) ? choices.Range(0, size - 1) : 0;
  range.limit = choices.Percent(60) ? choices.Range(range.start + 1, size) : size;
  return range;
}

Instruction* SliceOf(Program& program, Instruction* operand) {
  std::vector<SliceRange> ranges;
  for (int64_t size : operand->shape().dimensions()) {
    ranges.push_back(DrawRange(program.choices(), size));
  }
  return program.Slice(operand, std::move(ranges));
}

Instruction* BuildSlice(Program& program, Opcode) {
  return SliceOf(program, program.Operand(kMovable, 1));
}

Instruction* BuildSliceChain(Program& program, Opcode) {
  return SliceOf(program, SliceOf(program, program.Operand(kMovable, 1)));
}

// ---- dynamic-slice, dynamic-update-slice

DimVector DrawSizes(Program& program, absl::Span<const int64_t> dimensions) {
  DimVector sizes;
  for (int64_t dimension : dimensions) {
    bool full = program.choices().Percent(25);
    int64_t least = dimension == 0 || program.choices().Percent(2) ? 0 : 1;
    sizes.push_back(full ? dimension : program.choices().Range(least, dimension));
  }
  return sizes;
}

Instruction* DynamicSliceOf(Program& program, Instruction* operand) {
  DimVector dimensions(operand->shape().dimensions().begin(), operand->shape().dimensions().end());
  DimVector sizes = DrawSizes(program, dimensions);
  std::vector<Instruction*> starts = program.StartIndices(dimensions, sizes);
  return program.DynamicSlice(operand, starts, sizes);
}

Instruction* BuildDynamicSlice(Program& program, Opcode) {
  return DynamicSliceOf(program, program.Operand(kMovable, 1));
}

Instruction* BuildDynamicSliceChain(Program& program, Opcode) {
  Instruction* x = DynamicSliceOf(program, program.Operand(kMovable, 1));
  x = DynamicSliceOf(program, x);
  return program.choices().Percent(20) ? DynamicSliceOf(program, x) : x;
}

Instruction* BuildSliceOfDynamicSlice(Program& program, Opcode) {
  Instruction* x = program.Operand(kMovable, 1);
  if (program.choices().Percent(50)) return DynamicSliceOf(program, SliceOf(program, x));
  return SliceOf(program, DynamicSliceOf(program, x));
}

Instruction* UpdateAnywhere(Program& program, Instruction* operand, Instruction* update) {
  DimVector dimensions(operand->shape().dimensions().begin(), operand->shape().dimensions().end());
  DimVector sizes(update->shape().dimensions().begin(), update->shape().dimensions().end());
  std::vector<Instruction*> starts = program.StartIndices(dimensions, sizes);
  return program.DynamicUpdateSlice(operand, update, starts);
}

Instruction* BuildDynamicUpdateSlice(Program& program, Opcode) {
  Instruction* x = program.Operand(kMovable, 1);
  DimVector sizes = DrawSizes(program, x->shape().dimensions());
  return UpdateAnywhere(program, x, program.OperandOf(x->shape().element_type(), sizes));
}

// Update of an updated array, with the starts of each level chosen for themselves.
Instruction* BuildUpdateChain(Program& program, Opcode opcode) {
  Instruction* x = BuildDynamicUpdateSlice(program, opcode);
  DimVector sizes = DrawSizes(program, x->shape().dimensions());
  Instruction* update = program.OperandOf(x->shape().element_type(), sizes);
  return UpdateAnywhere(program, x, update);
}

// Reads what it writes: the update is a slice of the same array, shifted, perhaps computed with,
// and the old array lives on.
Instruction* BuildSelfUpdate(Program& program, Opcode) {
  Instruction* x = program.Operand(kMovable, 1);
  Choices& choices = program.choices();
  // A parameter is never written over.
  if (choices.Percent(40) && !IsPred(x->shape().element_type())) {
    x = program.Binary(Opcode::kAdd, x, x);
  }
  Instruction* update = choices.Percent(50) ? SliceOf(program, x) : DynamicSliceOf(program, x);
  ElementType type = x->shape().element_type();
  if (choices.Percent(40)) {
    Opcode opcode = IsPred(type) ? Opcode::kOr : Opcode::kAdd;
    update = program.Binary(opcode, update, update);
  }
  Instruction* updated = UpdateAnywhere(program, x, update);
  if (choices.Percent(50)) return updated;
  Opcode join = IsPred(type) ? Opcode::kXor : IsComplex(type) ? Opcode::kAdd : Opcode::kMaximum;
  return program.Binary(join, updated, x);
}

// Writes a part, reads a part of the result.
Instruction* BuildSliceOfUpdate(Program& program, Opcode opcode) {
  return DynamicSliceOf(program, BuildDynamicUpdateSlice(program, opcode));
}

// ---- pad

std::vector<PaddingDim> DrawPadding(Program& program, absl::Span<const int64_t> dimensions) {
  Choices& choices = program.choices();
  std::vector<PaddingDim> padding;
  int64_t room = program.element_cap();
  for (int64_t size : dimensions) {
    PaddingDim dim;
    if (choices.Percent(35)) dim.interior = choices.Range(1, 2);
    int64_t dilated = size + std::max<int64_t>(size - 1, 0) * dim.interior;
    dim.low = choices.Percent(65) ? choices.Range(-3, 4) : 0;
    dim.high = choices.Percent(65) ? choices.Range(-3, 4) : 0;
    int64_t result = dim.low + dilated + dim.high;
    // Too much cut off: give back at the end, down to nothing at times.
    int64_t least = choices.Percent(4) ? 0 : 1;
    if (result < least) dim.high += least - result;
    result = std::max(result, least);
    if (result > std::max<int64_t>(room, 1)) {
      dim = PaddingDim{0, 0, 0};
      result = size;
    }
    room /= std::max<int64_t>(result, 1);
    padding.push_back(dim);
  }
  return padding;
}

Instruction* PadOf(Program& program, Instruction* operand) {
  std::vector<PaddingDim> padding = DrawPadding(program, operand->shape().dimensions());
  int64_t elements = 1;
  for (size_t i = 0; i < padding.size(); ++i) {
    int64_t size = operand->shape().dimension(static_cast<int64_t>(i));
    elements *= padding[i].low + padding[i].high + size +
                std::max<int64_t>(size - 1, 0) * padding[i].interior;
  }
  if (!program.Fits(elements)) return nullptr;
  Instruction* value = program.OperandOf(operand->shape().element_type(), {});
  return program.Pad(operand, value, std::move(padding));
}

Instruction* BuildPad(Program& program, Opcode) {
  return PadOf(program, program.Operand(kMovable, 1));
}

Instruction* BuildPadChain(Program& program, Opcode) {
  Instruction* x = PadOf(program, program.Operand(kMovable, 1));
  return x == nullptr ? nullptr : PadOf(program, x);
}

Instruction* BuildSliceOfPad(Program& program, Opcode) {
  Instruction* x = PadOf(program, program.Operand(kMovable, 1));
  return x == nullptr ? nullptr : SliceOf(program, x);
}

// ---- transpose, reverse, reshape, broadcast

Instruction* TransposeOf(Program& program, Instruction* operand) {
  return program.Transpose(operand, RandomPermutation(program.choices(), operand->shape().rank()));
}

Instruction* BuildTranspose(Program& program, Opcode) {
  return TransposeOf(program, program.Operand(kMovable, 2));
}

Instruction* BuildTransposeChain(Program& program, Opcode) {
  return TransposeOf(program, TransposeOf(program, program.Operand(kMovable, 2)));
}

Instruction* BuildReverse(Program& program, Opcode) {
  Instruction* x = program.Operand(kMovable, 1);
  return program.Reverse(x, RandomSubset(program.choices(), x->shape().rank()));
}

Instruction* BuildReverseOfReverse(Program& program, Opcode opcode) {
  Instruction* x = BuildReverse(program, opcode);
  return program.Reverse(x, RandomSubset(program.choices(), x->shape().rank()));
}

// New sizes of the same product: merges neighbours, splits by a factor, moves ones about.
DimVector DrawReshape(Choices& choices, absl::Span<const int64_t> from) {
  DimVector sizes(from.begin(), from.end());
  int64_t edits = choices.Range(1, 3);
  for (int64_t edit = 0; edit < edits; ++edit) {
    switch (choices.Draw(4)) {
      case 0:
        if (sizes.size() >= 2) {
          size_t at = choices.Draw(sizes.size() - 1);
          sizes[at] *= sizes[at + 1];
          sizes.erase(sizes.begin() + static_cast<int64_t>(at) + 1);
        }
        break;
      case 1:
        if (!sizes.empty() && sizes.size() < 8) {
          size_t at = choices.Draw(sizes.size());
          for (int64_t factor : {2, 3, 5, 7}) {
            if (sizes[at] > factor && sizes[at] % factor == 0) {
              sizes[at] /= factor;
              bool before = choices.Percent(50);
              sizes.insert(sizes.begin() + static_cast<int64_t>(at) + (before ? 0 : 1), factor);
              break;
            }
          }
        }
        break;
      case 2:
        if (sizes.size() < 8) {
          sizes.insert(sizes.begin() + static_cast<int64_t>(choices.Draw(sizes.size() + 1)), 1);
        }
        break;
      default: {
        auto one = std::find(sizes.begin(), sizes.end(), 1);
        if (one != sizes.end()) sizes.erase(one);
        break;
      }
    }
  }
  return sizes;
}

Instruction* BuildReshape(Program& program, Opcode) {
  Instruction* x = program.Operand(kMovable);
  return program.Reshape(x, DrawReshape(program.choices(), x->shape().dimensions()));
}

// Reshapes and transposes in turn, as layout code is full of them.
Instruction* BuildReshapeTranspose(Program& program, Opcode) {
  Instruction* x = program.Operand(kMovable, 2);
  x = program.Reshape(x, DrawReshape(program.choices(), x->shape().dimensions()));
  x = TransposeOf(program, x);
  return program.Reshape(x, DrawReshape(program.choices(), x->shape().dimensions()));
}

Instruction* BuildBroadcast(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kMovable);
  int64_t rank = x->shape().rank();
  int64_t added = choices.Range(rank == 0 ? 1 : 0, 2);
  int64_t room = program.element_cap() / std::max<int64_t>(x->shape().ElementCount(), 1);
  DimVector dimensions(x->shape().dimensions().begin(), x->shape().dimensions().end());
  DimVector mapping;
  for (int64_t i = 0; i < rank; ++i) mapping.push_back(i);
  for (int64_t i = 0; i < added; ++i) {
    int64_t size = std::min(program.DrawSize(), std::max<int64_t>(room, 1));
    room /= std::max<int64_t>(size, 1);
    int64_t at = static_cast<int64_t>(choices.Draw(dimensions.size() + 1));
    dimensions.insert(dimensions.begin() + at, size);
    for (int64_t& to : mapping) to += to >= at ? 1 : 0;
  }
  if (!program.options().portable && rank >= 2 && choices.Percent(12)) {
    DimVector permutation = RandomPermutation(choices, rank);
    DimVector old_dimensions = dimensions, old_mapping = mapping;
    for (int64_t i = 0; i < rank; ++i) {
      mapping[i] = old_mapping[permutation[i]];
      dimensions[mapping[i]] = x->shape().dimension(i);
    }
  }
  return program.Broadcast(x, dimensions, mapping);
}

// ---- concatenate

// `x` with dimension d of another size, existing or new.
Instruction* Sibling(Program& program, Instruction* operand, int64_t d) {
  DimVector dimensions(operand->shape().dimensions().begin(), operand->shape().dimensions().end());
  if (!program.choices().Percent(40)) dimensions[d] = program.choices().Range(0, 4);
  return program.OperandOf(operand->shape().element_type(), dimensions);
}

Instruction* BuildConcatenate(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kMovable, 1);
  int64_t d = static_cast<int64_t>(choices.Draw(x->shape().rank()));
  int64_t count = choices.Percent(12) ? choices.Range(6, 16) : choices.Range(1, 4);
  std::vector<Instruction*> parts = {x};
  int64_t elements = x->shape().ElementCount();
  for (int64_t i = 1; i < count; ++i) {
    Instruction* part = choices.Percent(25) ? x : Sibling(program, x, d);
    elements += part->shape().ElementCount();
    if (!program.Fits(elements)) break;
    parts.push_back(part);
  }
  if (choices.Percent(30)) std::swap(parts.front(), parts.back());
  return program.Concatenate(parts, d);
}

// A concatenation within a concatenation, along the same dimension or another.
Instruction* BuildNestedConcatenate(Program& program, Opcode opcode) {
  Choices& choices = program.choices();
  Instruction* inner = BuildConcatenate(program, opcode);
  int64_t d = static_cast<int64_t>(choices.Draw(inner->shape().rank()));
  if (choices.Percent(70)) d = inner->attributes().Integers(Attr::kDimension)[0];
  Instruction* other = Sibling(program, inner, d);
  if (!program.Fits(inner->shape().ElementCount() + other->shape().ElementCount())) return inner;
  if (choices.Percent(50)) return program.Concatenate({inner, other}, d);
  return program.Concatenate({other, inner}, d);
}

// The pieces of one array put together again, in order or not: concat-of-slices.
Instruction* BuildConcatenateOfSlices(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kMovable, 1);
  int64_t d = static_cast<int64_t>(choices.Draw(x->shape().rank()));
  int64_t size = x->shape().dimension(d);
  int64_t cut = choices.Range(0, size);
  // Adjacent, overlapping or leaving a gap.
  int64_t resume = std::clamp<int64_t>(cut + choices.Pick<int64_t>({0, 0, -1, 1}), 0, size);
  std::vector<SliceRange> ranges;
  for (int64_t dimension : x->shape().dimensions()) ranges.push_back({0, dimension, 1});
  std::vector<SliceRange> left = ranges, right = ranges;
  left[d].limit = cut;
  right[d].start = resume;
  // Neighbours that step over elements, along this dimension or another.
  if (choices.Percent(30)) {
    const size_t along = choices.Percent(70) ? static_cast<size_t>(d) : choices.Draw(ranges.size());
    const int64_t stride = choices.Range(2, 3);
    const bool is_shared = along != static_cast<size_t>(d);  // else the sizes would differ
    const size_t which = is_shared ? 2 : choices.Draw(3);
    if (which != 1) left[along].stride = stride;
    if (which != 0) right[along].stride = stride;
  }
  Instruction* a = program.Slice(x, left);
  Instruction* b = program.Slice(x, right);
  if (!program.Fits(a->shape().ElementCount() + b->shape().ElementCount())) return b;
  if (choices.Percent(30)) std::swap(a, b);
  Instruction* joined = program.Concatenate({a, b}, d);
  return choices.Percent(35) ? SliceOf(program, joined) : joined;
}

// Overlapping, reversed and strided reads of one array met by a select.
Instruction* BuildSelectOfViews(Program& program, Opcode) {
  Instruction* x = program.Operand(kMovable, 1);
  Instruction* a = SliceOf(program, x);
  Instruction* reversed = program.Reverse(x, RandomSubset(program.choices(), x->shape().rank()));
  std::vector<SliceRange> ranges;
  for (int64_t size : a->shape().dimensions()) ranges.push_back({0, size, 1});
  Instruction* b = program.Slice(reversed, std::move(ranges));
  Instruction* pred = program.choices().Percent(50)
                          ? program.Compare(Direction::kLt, a, b)
                          : program.OperandOf(ElementType::kPred, a->shape().dimensions());
  return program.Select(pred, a, b);
}

// ---- sources and tuples

Instruction* BuildSource(Program& program, Opcode opcode) {
  ElementType type = program.DrawType(opcode == Opcode::kIota ? kI | kF : kMovable);
  DimVector dimensions = program.DrawDimensions(opcode == Opcode::kIota ? 1 : 0);
  Shape shape = Shape::Array(type, dimensions);
  if (opcode == Opcode::kIota) {
    return program.SomeIota(shape);
  }
  if (opcode == Opcode::kParameter && program.scope().entry) return program.Parameter(shape);
  if (shape.ElementCount() > 256) return program.Fresh(shape);
  return program.Constant(LiteralOfFamily(shape, program.DrawFamily(), program.choices()));
}

Instruction* BuildTuple(Program& program, Opcode) {
  Instruction* a = program.Operand(kMovable);
  Instruction* b = program.Operand(kMovable);
  Instruction* tuple = program.Tuple({a, b});
  if (program.choices().Percent(20)) {
    Instruction* outer = program.Tuple({tuple, a});
    tuple = program.GetTupleElement(outer, 0);
  }
  return program.GetTupleElement(tuple, static_cast<int64_t>(program.choices().Draw(2)));
}

constexpr Recipe kRecipes[] = {
    {Opcode::kSlice, "slice", RecipeGroup::kIndex, 8, BuildSlice},
    {Opcode::kSlice, "slice-of-slice", RecipeGroup::kIndex, 6, BuildSliceChain},
    {Opcode::kDynamicSlice, "dynamic-slice", RecipeGroup::kIndex, 10, BuildDynamicSlice},
    {Opcode::kDynamicSlice, "dynamic-slice-chain", RecipeGroup::kIndex, 11, BuildDynamicSliceChain},
    {Opcode::kDynamicSlice, "dynamic-slice-and-slice", RecipeGroup::kIndex, 4,
     BuildSliceOfDynamicSlice},
    {Opcode::kDynamicUpdateSlice, "dynamic-update-slice", RecipeGroup::kIndex, 8,
     BuildDynamicUpdateSlice},
    {Opcode::kDynamicUpdateSlice, "update-chain", RecipeGroup::kIndex, 5, BuildUpdateChain},
    {Opcode::kDynamicUpdateSlice, "self-update", RecipeGroup::kIndex, 7, BuildSelfUpdate},
    {Opcode::kDynamicUpdateSlice, "slice-of-update", RecipeGroup::kIndex, 4, BuildSliceOfUpdate},
    {Opcode::kPad, "pad", RecipeGroup::kIndex, 8, BuildPad},
    {Opcode::kPad, "pad-of-pad", RecipeGroup::kIndex, 4, BuildPadChain},
    {Opcode::kPad, "slice-of-pad", RecipeGroup::kIndex, 5, BuildSliceOfPad},
    {Opcode::kTranspose, "transpose", RecipeGroup::kIndex, 7, BuildTranspose},
    {Opcode::kTranspose, "transpose-of-transpose", RecipeGroup::kIndex, 5, BuildTransposeChain},
    {Opcode::kReverse, "reverse", RecipeGroup::kIndex, 5, BuildReverse},
    {Opcode::kReverse, "reverse-of-reverse", RecipeGroup::kIndex, 2, BuildReverseOfReverse},
    {Opcode::kReshape, "reshape", RecipeGroup::kIndex, 6, BuildReshape},
    {Opcode::kReshape, "reshape-transpose-reshape", RecipeGroup::kIndex, 4, BuildReshapeTranspose},
    {Opcode::kBroadcast, "broadcast", RecipeGroup::kIndex, 7, BuildBroadcast},
    {Opcode::kConcatenate, "concatenate", RecipeGroup::kIndex, 6, BuildConcatenate},
    {Opcode::kConcatenate, "concatenate-of-concatenate", RecipeGroup::kIndex, 3,
     BuildNestedConcatenate},
    {Opcode::kConcatenate, "concatenate-of-slices", RecipeGroup::kIndex, 5,
     BuildConcatenateOfSlices},
    {Opcode::kSelect, "select-of-views", RecipeGroup::kIndex, 4, BuildSelectOfViews},
    {Opcode::kIota, "iota", RecipeGroup::kIndex, 3, BuildSource},
    {Opcode::kConstant, "constant", RecipeGroup::kIndex, 2, BuildSource},
    {Opcode::kParameter, "parameter", RecipeGroup::kIndex, 2, BuildSource},
    {Opcode::kTuple, "tuple", RecipeGroup::kIndex, 1, BuildTuple},
    {Opcode::kGetTupleElement, "get-tuple-element", RecipeGroup::kIndex, 1, BuildTuple},
};

Instruction* Hidden(Program& program, Instruction* dynamic) {
  std::vector<Instruction*>& values = program.scope().values;
  if (!values.empty() && values.back() == dynamic) values.pop_back();
  return dynamic;
}

// Arrays with run-time sizes stay within the pattern: they are summed up or measured at once.
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

constexpr Recipe kDynamicSizeRecipes[] = {
    {Opcode::kSetDimensionSize, "set-dimension-size", RecipeGroup::kReduce, 1, BuildDynamic},
    {Opcode::kGetDimensionSize, "get-dimension-size", RecipeGroup::kReduce, 1, BuildDynamic},
    {Opcode::kDynamicReshape, "dynamic-reshape", RecipeGroup::kReduce, 1, BuildDynamic},
};

// A copy into another order of dimensions, then back or onwards.
Instruction* CopyTo(Program& program, Instruction* operand,
                    absl::Span<const int64_t> minor_to_major) {
  Shape shape = Shape::Array(operand->shape().element_type(), operand->shape().dimensions());
  shape.set_layout(Layout(minor_to_major));
  return program.Emit(Opcode::kCopy, std::move(shape), {operand});
}

Instruction* BuildCopy(Program& program, Opcode) {
  Instruction* x = program.Operand(kMovable);
  if (program.choices().Percent(40) || x->shape().rank() < 2) {
    return program.Emit(Opcode::kCopy,
                        Shape::Array(x->shape().element_type(), x->shape().dimensions()), {x});
  }
  Instruction* turned = CopyTo(program, x, RandomPermutation(program.choices(), x->shape().rank()));
  DimVector row_major;
  for (int64_t i = x->shape().rank() - 1; i >= 0; --i) row_major.push_back(i);
  return CopyTo(program, turned, row_major);
}

// A copy whose layout permutes, read through a bitcast in physical order: a transpose in disguise.
Instruction* BuildBitcast(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kMovable, 1);
  int64_t rank = x->shape().rank();
  if (choices.Percent(40) && rank >= 2) {
    DimVector order = RandomPermutation(choices, rank);
    Instruction* turned = CopyTo(program, x, order);
    DimVector physical;
    for (int64_t i = rank - 1; i >= 0; --i) physical.push_back(x->shape().dimension(order[i]));
    return program.Emit(Opcode::kBitcast, Shape::Array(x->shape().element_type(), physical),
                        {turned});
  }
  // In row-major order a bitcast is a reshape.
  DimVector flat = {x->shape().ElementCount()};
  return program.Emit(Opcode::kBitcast, Shape::Array(x->shape().element_type(), flat), {x});
}

// Types of that width that the compiler takes; the rare ones every third time where there are
// others.
std::vector<ElementType> TypesOfWidth(Program& program, int bits, bool is_complex) {
  std::vector<ElementType> usual, rare;
  const auto add = [&](absl::Span<const ElementType> from, std::vector<ElementType>& to) {
    for (ElementType type : from) {
      const bool fits = !IsPred(type) && BitWidth(type) == bits && IsComplex(type) == is_complex;
      if (fits && program.options().Takes(type)) to.push_back(type);
    }
  };
  add(ComputedTypes(), usual);
  add(RareTypes(), rare);
  const bool is_rare = usual.empty() || (!rare.empty() && program.choices().Percent(33));
  return is_rare ? rare : usual;
}

Instruction* BuildBitcastConvert(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kI | kF | kC);
  const bool is_complex = IsComplex(x->shape().element_type());
  // A compiler that dies of it takes those along that are compiled with it.
  if (is_complex && program.options().portable && !choices.Percent(15)) return nullptr;
  const int bits = BitWidth(x->shape().element_type());
  const int fewest_bits = program.options().Takes(ElementType::kU1) ? 1 : 2;
  const int narrowest = is_complex ? 64 : fewest_bits, widest = is_complex ? 128 : 64;
  DimVector dimensions(x->shape().dimensions().begin(), x->shape().dimensions().end());
  int to = bits;
  if (choices.Percent(bits < 8 || is_complex ? 60 : 30)) {
    const int64_t last = dimensions.empty() ? 0 : dimensions.back();
    const bool is_power = last == 2 || last == 4 || last == 8 || last == 16;
    if (is_power && bits * last <= widest) {
      to = static_cast<int>(bits * last);
      dimensions.pop_back();
    } else if (bits > narrowest) {
      const int64_t ratio = choices.Percent(50) || bits == 2 * narrowest
                                ? 2
                                : choices.Pick<int64_t>({4, 4, bits / narrowest});
      to = static_cast<int>(bits / ratio);
      dimensions.push_back(ratio);
    }
  }
  const std::vector<ElementType> types = TypesOfWidth(program, to, is_complex);
  if (types.empty() || !program.Fits(Product(dimensions))) return nullptr;
  return program.Emit(Opcode::kBitcastConvert, Shape::Array(choices.Pick(types), dimensions), {x});
}

// Bits of a float looked at as an integer, changed, and looked at as a float again.
Instruction* BuildBitTrick(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kF);
  if (!IsComputed(x->shape().element_type())) return nullptr;
  ElementType home = x->shape().element_type();
  int bits = BitWidth(home);
  ElementType integer = bits == 16   ? ElementType::kU16
                        : bits == 32 ? ElementType::kU32
                                     : ElementType::kU64;
  DimVector dimensions(x->shape().dimensions().begin(), x->shape().dimensions().end());
  Instruction* as_bits =
      program.Emit(Opcode::kBitcastConvert, Shape::Array(integer, dimensions), {x});
  Instruction* mask = program.ScalarConstant(integer, choices.Percent(50) ? MaxOf(integer) : 1);
  if (!dimensions.empty()) mask = program.Splat(mask, dimensions);
  Instruction* changed =
      program.Binary(choices.Pick({Opcode::kAnd, Opcode::kXor, Opcode::kOr}), as_bits, mask);
  if (choices.Percent(30)) changed = as_bits;
  if (choices.Percent(40)) return changed;
  return program.Emit(Opcode::kBitcastConvert, Shape::Array(home, dimensions), {changed});
}

// A barrier around one array, or around two whose parts go on separately.
Instruction* BuildOptBarrier(Program& program, Opcode) {
  Instruction* x = program.Operand(kMovable);
  if (program.choices().Percent(50)) return program.Emit(Opcode::kOptBarrier, x->shape(), {x});
  Instruction* y = program.Operand(kMovable);
  Instruction* both = program.Tuple({x, y});
  Instruction* barrier = program.Emit(Opcode::kOptBarrier, both->shape(), {both});
  program.GetTupleElement(barrier, 1);
  return program.GetTupleElement(barrier, 0);
}

constexpr Recipe kLayoutRecipes[] = {
    {Opcode::kCopy, "copy", RecipeGroup::kLayout, 4, BuildCopy},
    {Opcode::kBitcast, "bitcast", RecipeGroup::kLayout, 2, BuildBitcast, kNotPortable},
    {Opcode::kBitcastConvert, "bitcast-convert", RecipeGroup::kLayout, 4, BuildBitcastConvert},
    {Opcode::kBitcastConvert, "bit-trick", RecipeGroup::kLayout, 2, BuildBitTrick},
    {Opcode::kOptBarrier, "opt-barrier", RecipeGroup::kLayout, 2, BuildOptBarrier},
};

}  // namespace

absl::Span<const Recipe> MovementRecipes() { return kRecipes; }
absl::Span<const Recipe> DynamicSizeRecipes() { return kDynamicSizeRecipes; }
absl::Span<const Recipe> LayoutRecipes() { return kLayoutRecipes; }

}  // namespace assay
