// Ops that say where something begins or ends, one on the other: both edges of a dimension are
// drawn together from its corners, and what was read at a place is written back to it, whole, in
// part, grown or cut (requirements 1 to 6, 11 to 14 and 24, each joined with another).
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"
#include "fuzz/generator/recipes/scalar_scope.h"

namespace assay {
namespace {

// ---- One dimension and its edges.

// An array on its way, the dimension whose edges are drawn, and where in it something begins.
struct Edged {
  Instruction* value = nullptr;
  int64_t d = 0;
  DimVector marks;

  int64_t size() const { return value->shape().dimension(d); }
  ElementType type() const { return value->shape().element_type(); }
  DimVector sizes() const {
    return {value->shape().dimensions().begin(), value->shape().dimensions().end()};
  }
  DimVector SizesWith(int64_t size_of_d) const {
    DimVector all = sizes();
    all[static_cast<size_t>(d)] = size_of_d;
    return all;
  }
};

// A place in a dimension: an end, beside one, the middle, where something begins or beside that.
int64_t Corner(Choices& choices, const Edged& from) {
  const int64_t size = from.size();
  int64_t at = 0;
  switch (choices.Weighted({4, 4, 3, 3, 2, from.marks.empty() ? 0 : 8})) {
    case 0:
      break;
    case 1:
      at = size;
      break;
    case 2:
      at = 1;
      break;
    case 3:
      at = size - 1;
      break;
    case 4:
      at = size / 2;
      break;
    default:
      at = choices.Pick(std::vector<int64_t>(from.marks.begin(), from.marks.end()));
      at += choices.Pick<int64_t>({0, 0, 1, -1});
  }
  return std::clamp<int64_t>(at, 0, size);
}

// Two corners that are not one.
std::pair<int64_t, int64_t> Corners(Choices& choices, const Edged& from) {
  int64_t low = Corner(choices, from);
  int64_t high = Corner(choices, from);
  if (low > high) std::swap(low, high);
  if (low == high) high < from.size() ? ++high : --low;
  return {low, high};
}

int64_t PartOf(Choices& choices, const Edged& from) {
  return std::max<int64_t>(Corner(choices, from), 1);
}

// A start: where something begins, or an edge of the type or of the dimension. Of a type that ends
// within a long dimension now and then.
Instruction* StartAt(Program& program, const Edged& from, int64_t part, ElementType type) {
  Choices& choices = program.choices();
  if (choices.Percent(60)) return program.StartIndex(type, from.size(), part);
  return program.KnownScalar(type, Corner(choices, from));
}

ElementType DrawStartType(Program& program, int64_t size) {
  Choices& choices = program.choices();
  if (size > 100 && choices.Percent(40)) {
    return choices.Percent(50) ? ElementType::kS8 : ElementType::kU8;
  }
  return program.DrawIndexType();
}

std::vector<Instruction*> StartsWith(Program& program, const Edged& from, Instruction* start) {
  std::vector<Instruction*> starts;
  for (int64_t k = 0; k < from.value->shape().rank(); ++k) {
    const ElementType type = start->shape().element_type();
    starts.push_back(k == from.d ? start : program.ScalarConstant(type, 0));
  }
  return starts;
}

// ---- The ops.

bool CutAt(Program& program, Edged& at) {
  Choices& choices = program.choices();
  std::vector<SliceRange> ranges;
  for (int64_t size : at.sizes()) {
    // One step of another dimension at either end, now and then.
    const bool is_cut = size > 1 && choices.Percent(15);
    const int64_t by = is_cut ? choices.Range(0, 1) : 0;
    ranges.push_back({by, is_cut ? size - 1 + by : size, 1});
  }
  const auto [low, high] = Corners(choices, at);
  const int64_t length = high - low;
  const int64_t stride =
      choices.Percent(65) ? 1 : choices.Pick<int64_t>({2, 3, length - 1, length, length + 1});
  ranges[static_cast<size_t>(at.d)] = {low, high, std::max<int64_t>(stride, 1)};
  DimVector marks;
  for (int64_t mark : at.marks)
    if (mark > low && mark < high) marks.push_back((mark - low) / std::max<int64_t>(stride, 1));
  at.value = program.Slice(at.value, std::move(ranges));
  at.marks = std::move(marks);
  return true;
}

bool PadAt(Program& program, Edged& at) {
  Choices& choices = program.choices();
  const int64_t size = at.size();
  const auto edge = [&] {
    return choices.Pick<int64_t>({0, 1, -1, 2, -2, size, -size, size - 1, 1 - size});
  };
  PaddingDim dim;
  dim.low = edge();
  dim.high = choices.Percent(20) ? -dim.low : edge();
  if (choices.Percent(30)) dim.interior = choices.Pick<int64_t>({1, 1, 2, size});
  const int64_t dilated = size + std::max<int64_t>(size - 1, 0) * dim.interior;
  const int64_t least = choices.Percent(3) ? 0 : 1;
  dim.high = std::max(dim.high, least - dim.low - dilated);
  const int64_t result = dim.low + dilated + dim.high;
  if (!program.Fits(Product(at.SizesWith(result)))) return false;
  std::vector<PaddingDim> padding(at.sizes().size());
  padding[static_cast<size_t>(at.d)] = dim;
  Instruction* filler = program.OperandOf(at.type(), {});
  at.value = program.Pad(at.value, filler, std::move(padding));
  at.marks = {std::clamp<int64_t>(dim.low, 0, result),
              std::clamp<int64_t>(result - dim.high, 0, result)};
  return true;
}

bool TakeAt(Program& program, Edged& at) {
  const int64_t part = PartOf(program.choices(), at);
  const ElementType type = DrawStartType(program, at.size());
  Instruction* start = StartAt(program, at, part, type);
  const std::vector<Instruction*> starts = StartsWith(program, at, start);
  at.value = program.DynamicSlice(at.value, starts, at.SizesWith(part));
  at.marks.clear();
  return true;
}

bool UpdateAt(Program& program, Edged& at) {
  Choices& choices = program.choices();
  const int64_t part = PartOf(choices, at);
  const ElementType type = DrawStartType(program, at.size());
  Instruction* start = StartAt(program, at, part, type);
  Instruction* update = nullptr;
  if (choices.Percent(40)) {
    // A part of the same array.
    std::vector<SliceRange> ranges;
    for (int64_t size : at.sizes()) ranges.push_back({0, size, 1});
    const int64_t first = choices.Percent(50) ? 0 : at.size() - part;
    ranges[static_cast<size_t>(at.d)] = {first, first + part, 1};
    update = program.Slice(at.value, std::move(ranges));
  } else {
    update = program.OperandOf(at.type(), at.SizesWith(part));
  }
  const std::vector<Instruction*> starts = StartsWith(program, at, start);
  at.value = program.DynamicUpdateSlice(at.value, update, starts);
  at.marks.push_back(part);
  return true;
}

bool JoinAt(Program& program, Edged& at) {
  Choices& choices = program.choices();
  const int64_t size = at.size();
  const int64_t other_size = choices.Pick<int64_t>({1, 2, size, size + 1});
  if (!program.Fits(Product(at.SizesWith(size + other_size)))) return false;
  Instruction* other = other_size == size && choices.Percent(40)
                           ? at.value
                           : program.OperandOf(at.type(), at.SizesWith(other_size));
  const bool is_behind = choices.Percent(50);
  at.marks = {is_behind ? size : other_size};
  at.value = is_behind ? program.Concatenate({at.value, other}, at.d)
                       : program.Concatenate({other, at.value}, at.d);
  return true;
}

// The part that is cut off at one end comes back at the other.
bool RollAt(Program& program, Edged& at) {
  const int64_t cut = Corner(program.choices(), at);
  std::vector<SliceRange> first;
  for (int64_t size : at.sizes()) first.push_back({0, size, 1});
  std::vector<SliceRange> second = first;
  first[static_cast<size_t>(at.d)].limit = cut;
  second[static_cast<size_t>(at.d)].start = cut;
  Instruction* low = program.Slice(at.value, std::move(first));
  Instruction* high = program.Slice(at.value, std::move(second));
  at.marks = {at.size() - cut};
  at.value = program.Concatenate({high, low}, at.d);
  return true;
}

bool TurnAt(Program& program, Edged& at) {
  Choices& choices = program.choices();
  DimVector dims = {at.d};
  const int64_t rank = at.value->shape().rank();
  const auto other = static_cast<int64_t>(choices.Draw(static_cast<uint64_t>(rank)));
  if (other != at.d && choices.Percent(40)) dims.push_back(other);
  std::sort(dims.begin(), dims.end());
  for (int64_t& mark : at.marks) mark = at.size() - mark;
  at.value = program.Reverse(at.value, dims);
  return true;
}

// Places along the dimension: all over it, at its corners, or in steps that an iota makes.
Instruction* Places(Program& program, const Edged& at, int64_t count, int64_t part) {
  Choices& choices = program.choices();
  const int64_t last = at.size() - part;
  ElementType type = choices.Percent(50) ? ElementType::kS32 : program.DrawIndexType();
  if (!program.options().Takes(type)) type = ElementType::kS32;
  const Shape shape = Shape::Array(type, {count});
  if (choices.Percent(35)) {
    Instruction* steps = program.Iota(shape, 0);
    const int64_t by = choices.Pick<int64_t>({1, -1, 2, part});
    const int64_t first = by < 0 ? last : choices.Pick<int64_t>({0, 1, -1, last - count + 1});
    Instruction* factor = program.Splat(program.ScalarConstant(type, by), {count});
    Instruction* offset = program.Splat(program.ScalarConstant(type, first), {count});
    return program.Binary(Opcode::kAdd, program.Binary(Opcode::kMultiply, steps, factor), offset);
  }
  Literal places(shape);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t corner = choices.Pick<int64_t>(
        {0, last, last + 1, at.size(), -1, MaxOf(type), MinOf(type), Corner(choices, at)});
    places.SetInteger(i, choices.Percent(60) ? choices.Range(0, last) : corner);
  }
  const bool is_given = program.scope().entry && choices.Percent(50);
  return is_given ? program.FixedParameter(std::move(places)) : program.Constant(std::move(places));
}

// The dimensions of rows that are beside each other in front: 1, 2, ...
DimVector BehindTheFirst(int64_t count) {
  DimVector dims;
  for (int64_t k = 1; k <= count; ++k) dims.push_back(k);
  return dims;
}

bool GatherAt(Program& program, Edged& at) {
  Choices& choices = program.choices();
  const int64_t part = choices.Percent(60) ? 1 : PartOf(choices, at);
  const int64_t count = choices.Pick<int64_t>({1, 2, 3, at.size(), at.size() + 1});
  const bool is_dropped = part == 1 && choices.Percent(60);
  DimVector slice = at.SizesWith(part), result = slice;
  if (is_dropped) result.erase(result.begin() + at.d);
  const auto window = static_cast<int64_t>(result.size());
  result.insert(result.begin(), count);
  if (!program.Fits(Product(result))) return false;
  Instruction* places = Places(program, at, count, part);
  Attributes attributes;
  attributes.Set(Attr::kOffsetDims, BehindTheFirst(window));
  attributes.Set(Attr::kCollapsedSliceDims, is_dropped ? DimVector{at.d} : DimVector{});
  attributes.Set(Attr::kStartIndexMap, {at.d});
  attributes.Set(Attr::kIndexVectorDim, AttrValue(int64_t{1}));
  attributes.Set(Attr::kSliceSizes, slice);
  at.value = program.Emit(Opcode::kGather, Shape::Array(at.type(), result), {at.value, places},
                          std::move(attributes));
  // The rows are edged next, or the dimension as before.
  at.d = is_dropped || choices.Percent(50) ? 0 : at.d + 1;
  at.marks.clear();
  return true;
}

// (current, update) -> what has one answer in any order
Computation* Combining(Program& program, ElementType type) {
  const Opcode opcode = IsPred(type)      ? Opcode::kOr
                        : IsInteger(type) ? Opcode::kAdd
                        : IsFloat(type)   ? Opcode::kMaximum
                                          : Opcode::kAdd;
  return MakeReducerOf(program, opcode, type).computation;
}

bool ScatterAt(Program& program, Edged& at) {
  Choices& choices = program.choices();
  // Sums of complex numbers have an order.
  if (IsComplex(at.type())) return false;
  const int64_t count = choices.Pick<int64_t>({1, 2, 3, at.size()});
  DimVector rows = at.sizes();
  rows.erase(rows.begin() + at.d);
  const auto window = static_cast<int64_t>(rows.size());
  rows.insert(rows.begin(), count);
  if (!program.Fits(Product(rows))) return false;
  Instruction* places = Places(program, at, count, 1);
  Instruction* updates = program.OperandOf(at.type(), rows);
  Attributes attributes;
  attributes.Set(Attr::kUpdateWindowDims, BehindTheFirst(window));
  attributes.Set(Attr::kInsertedWindowDims, {at.d});
  attributes.Set(Attr::kScatterDimsToOperandDims, {at.d});
  attributes.Set(Attr::kIndexVectorDim, AttrValue(int64_t{1}));
  Computation* combiner = Combining(program, at.type());
  at.value = program.Emit(Opcode::kScatter, Shape::Array(at.type(), at.sizes()),
                          {at.value, places, updates}, std::move(attributes), {combiner});
  return true;
}

bool WindowAt(Program& program, Edged& at) {
  Choices& choices = program.choices();
  const int64_t size = at.size();
  WindowDim dim;
  dim.size = choices.Pick<int64_t>({1, 2, 3, size, std::max<int64_t>(size - 1, 1)});
  dim.size = std::min<int64_t>(dim.size, 40);
  dim.stride = choices.Percent(60) ? 1 : choices.Pick<int64_t>({2, 3, dim.size, dim.size + 1});
  if (choices.Percent(20)) dim.base_dilation = 2;
  if (choices.Percent(20)) dim.window_dilation = choices.Range(2, 3);
  const auto edge = [&] {
    return choices.Pick<int64_t>({0, 0, 1, -1, dim.size - 1, dim.size, 1 - size});
  };
  dim.low = edge();
  dim.high = edge();
  const auto extent = [](int64_t of, int64_t dilation) { return (of - 1) * dilation + 1; };
  const int64_t room =
      extent(size, dim.base_dilation) + dim.low + dim.high - extent(dim.size, dim.window_dilation);
  if (room < 0) return false;
  const int64_t count = room / dim.stride + 1;
  if (!program.Fits(Product(at.SizesWith(count)) * std::min<int64_t>(dim.size, 8))) return false;
  std::vector<WindowDim> window(at.sizes().size());
  window[static_cast<size_t>(at.d)] = dim;
  Reducer reducer = MakeReducer(program, at.type(), dim.size);
  Attributes attributes;
  attributes.Set(Attr::kWindow, AttrValue(std::move(window)));
  at.value = program.Emit(Opcode::kReduceWindow, Shape::Array(at.type(), at.SizesWith(count)),
                          {at.value, reducer.init}, std::move(attributes), {reducer.computation});
  at.marks = {std::clamp<int64_t>(dim.low, 0, count)};
  return true;
}

// All that lies on one side of a place is another array's.
bool MaskAt(Program& program, Edged& at) {
  Choices& choices = program.choices();
  const ElementType type = at.size() < 127 ? program.DrawIndexType() : ElementType::kS32;
  const int64_t place = Corner(choices, at);
  Instruction* steps = program.Iota(Shape::Array(type, at.sizes()), at.d);
  Instruction* border = program.Splat(program.KnownScalar(type, place), at.sizes());
  Instruction* mask = program.Compare(static_cast<Direction>(choices.Draw(6)), steps, border);
  Instruction* other = program.OperandOf(at.type(), at.sizes());
  at.value = choices.Percent(50) ? program.Select(mask, at.value, other)
                                 : program.Select(mask, other, at.value);
  at.marks = {place};
  return true;
}

bool RepeatAt(Program& program, Edged& at) {
  Choices& choices = program.choices();
  const int64_t size = choices.Pick<int64_t>({1, 2, at.size()});
  DimVector sizes = at.sizes();
  const auto place = static_cast<int64_t>(choices.Draw(sizes.size() + 1));
  DimVector mapping;
  for (int64_t k = 0; k < static_cast<int64_t>(sizes.size()); ++k)
    mapping.push_back(k + (k >= place ? 1 : 0));
  sizes.insert(sizes.begin() + place, size);
  if (sizes.size() > 6 || !program.Fits(Product(sizes))) return false;
  at.value = program.Broadcast(at.value, sizes, mapping);
  const bool is_new = choices.Percent(40);
  if (is_new) at.marks.clear();
  at.d = is_new ? place : mapping[static_cast<size_t>(at.d)];
  return true;
}

using EdgeOp = bool (*)(Program&, Edged&);
constexpr EdgeOp kEdgeOps[] = {CutAt,  PadAt,    TakeAt,    UpdateAt, JoinAt, RollAt,
                               TurnAt, GatherAt, ScatterAt, WindowAt, MaskAt, RepeatAt};

Edged DrawEdged(Program& program) {
  Choices& choices = program.choices();
  Edged at;
  if (choices.Percent(12)) {
    const ElementType type = program.DrawType(kI | kF);
    at.value = program.SomeIota(Shape::Array(type, program.DrawDimensions(1)));
  } else {
    at.value = program.Operand(kAnyArray, 1);
  }
  const Shape& shape = at.value->shape();
  // A long dimension shows more of its edges.
  const absl::Span<const int64_t> sizes = shape.dimensions();
  const auto longest = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  at.d = choices.Percent(50) ? static_cast<int64_t>(longest)
                             : static_cast<int64_t>(choices.Draw(sizes.size()));
  return at;
}

// Any of them on any other.
Instruction* BuildEdgeChain(Program& program, Opcode) {
  Choices& choices = program.choices();
  Edged at = DrawEdged(program);
  Instruction* first = at.value;
  const size_t links = choices.Weighted({78, 18, 4}) + 2;
  for (size_t k = 0; k < links; ++k) {
    if (at.value->shape().ElementCount() == 0 || at.value->shape().rank() > 6) break;
    const EdgeOp op = kEdgeOps[choices.Draw(std::size(kEdgeOps))];
    if (!op(program, at)) continue;
  }
  return at.value == first ? nullptr : at.value;
}

// ---- What was read is written back.

// The part with other sizes: cut at its front or its end, or grown by what it has at its end, by a
// filler, or by itself.
Instruction* Resized(Program& program, Instruction* part, const DimVector& sizes) {
  Choices& choices = program.choices();
  for (int64_t d = 0; d < part->shape().rank(); ++d) {
    const int64_t from = part->shape().dimension(d), to = sizes[static_cast<size_t>(d)];
    if (to < from) {
      std::vector<SliceRange> ranges;
      for (int64_t size : part->shape().dimensions()) ranges.push_back({0, size, 1});
      const int64_t start = choices.Percent(50) ? 0 : from - to;
      ranges[static_cast<size_t>(d)] = {start, start + to, 1};
      part = program.Slice(part, std::move(ranges));
    } else if (to > from && to <= 2 * from && choices.Percent(50)) {
      std::vector<SliceRange> ranges;
      for (int64_t size : part->shape().dimensions()) ranges.push_back({0, size, 1});
      ranges[static_cast<size_t>(d)].limit = to - from;
      Instruction* more = program.Slice(part, std::move(ranges));
      part = choices.Percent(50) ? program.Concatenate({part, more}, d)
                                 : program.Concatenate({more, part}, d);
    } else if (to > from) {
      std::vector<PaddingDim> padding(static_cast<size_t>(part->shape().rank()));
      const bool is_behind = choices.Percent(50);
      (is_behind ? padding[static_cast<size_t>(d)].high : padding[static_cast<size_t>(d)].low) =
          to - from;
      Instruction* filler = program.OperandOf(part->shape().element_type(), {});
      part = program.Pad(part, filler, std::move(padding));
    }
  }
  return part;
}

// Whole, in part, or grown, in each dimension.
DimVector OtherSizes(Choices& choices, const DimVector& sizes,
                     absl::Span<const int64_t> dimensions) {
  DimVector others = sizes;
  if (choices.Percent(30)) return others;
  for (size_t d = 0; d < others.size(); ++d) {
    const int64_t size = sizes[d], all = dimensions[d];
    switch (choices.Weighted({4, 3, 3, 1})) {
      case 0:
        break;
      case 1:
        others[d] = choices.Pick<int64_t>({1, size - 1, size / 2});
        break;
      case 2:
        others[d] = choices.Pick<int64_t>({size + 1, all - 1});
        break;
      default:
        others[d] = all;
    }
    others[d] = std::clamp<int64_t>(others[d], 1, all);
  }
  return others;
}

Instruction* ChangedOnTheWay(Program& program, Instruction* part) {
  Choices& choices = program.choices();
  const bool is_pred = IsPred(part->shape().element_type());
  switch (choices.Weighted({5, 3, 2})) {
    case 0:
      return part;
    case 1:
      return is_pred ? program.Unary(Opcode::kNot, part)
                     : program.Binary(Opcode::kAdd, part, program.BaitLike(part));
    default:
      return program.Reverse(part, RandomSubset(choices, part->shape().rank()));
  }
}

// Draws the same place, one beside it, another, or the first.
std::vector<Instruction*> PlaceToWrite(Program& program, const std::vector<Instruction*>& read_at,
                                       absl::Span<const int64_t> dimensions,
                                       const DimVector& sizes) {
  Choices& choices = program.choices();
  switch (choices.Weighted({60, 15, 15, 10})) {
    case 0:
      return read_at;
    case 1: {
      std::vector<Instruction*> beside = read_at;
      const size_t d = choices.Draw(beside.size());
      const ElementType type = beside[d]->shape().element_type();
      const int64_t by = choices.Pick<int64_t>({1, -1});
      beside[d] = program.Binary(Opcode::kAdd, beside[d], program.ScalarConstant(type, by));
      return beside;
    }
    case 2:
      return program.StartIndices(dimensions, sizes);
    default:
      return std::vector<Instruction*>(
          read_at.size(), program.ScalarConstant(read_at[0]->shape().element_type(), 0));
  }
}

Instruction* BuildWriteBack(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kAnyArray, 1);
  const Shape shape = Shape::Array(x->shape().element_type(), x->shape().dimensions());
  if (shape.ElementCount() == 0) return nullptr;
  // A parameter is never written over.
  const bool is_owned = choices.Percent(60);
  if (is_owned && !IsPred(shape.element_type())) x = program.Binary(Opcode::kAdd, x, x);
  const absl::Span<const int64_t> dimensions = shape.dimensions();
  DimVector sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const bool is_whole = choices.Percent(45);
    sizes.push_back(is_whole ? shape.dimension(d) : PartOf(choices, Edged{x, d, {}}));
  }
  const bool is_static = choices.Percent(35);
  std::vector<Instruction*> starts;
  Instruction* part = nullptr;
  if (is_static) {
    std::vector<SliceRange> ranges;
    const ElementType type = program.DrawIndexType();
    for (size_t d = 0; d < sizes.size(); ++d) {
      const int64_t last = dimensions[d] - sizes[d];
      const int64_t start = choices.Percent(50) ? last : choices.Range(0, last);
      ranges.push_back({start, start + sizes[d], 1});
      starts.push_back(program.KnownScalar(type, start));
    }
    part = program.Slice(x, std::move(ranges));
  } else {
    starts = program.StartIndices(dimensions, sizes);
    part = program.DynamicSlice(x, starts, sizes);
  }
  part = ChangedOnTheWay(program, part);
  const DimVector written = OtherSizes(choices, sizes, dimensions);
  part = Resized(program, part, written);
  const std::vector<Instruction*> to = PlaceToWrite(program, starts, dimensions, written);
  Instruction* target = choices.Percent(75) ? x : program.OperandLike(shape);
  Instruction* updated = program.DynamicUpdateSlice(target, part, to);
  switch (choices.Weighted({55, 25, 20})) {
    case 1:  // read again
      return program.DynamicSlice(updated, choices.Percent(50) ? to : starts, sizes);
    case 2:  // beside what was there
      if (!program.Fits(2 * shape.ElementCount())) return updated;
      return program.Concatenate({updated, x}, 0);
    default:
      return updated;
  }
}

constexpr Recipe kRecipes[] = {
    {Opcode::kPad, "edge-chain", RecipeGroup::kIndex, 28, BuildEdgeChain},
    {Opcode::kDynamicUpdateSlice, "write-back", RecipeGroup::kIndex, 10, BuildWriteBack},
};

}  // namespace

absl::Span<const Recipe> EdgeRecipes() { return kRecipes; }

}  // namespace assay
