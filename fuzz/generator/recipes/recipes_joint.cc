// Attributes that are drawn together: the type of an operand and that of the result, the layout and
// the size of its fastest dimension, the type of a counter and its bound, several dimensions and a
// selection, two loops and one body (requirements 17 to 22, 26, 34, 36, 41, 43, each joined with
// another).
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"
#include "fuzz/generator/recipes/scalar_scope.h"

namespace assay {
namespace {

using T = ElementType;

// ---- Operands below a byte, results of another type.

ElementType DrawBelowAByte(Program& program) {
  std::vector<ElementType> types;
  for (ElementType type : {T::kS4, T::kU4, T::kS2, T::kU2, T::kF4E2M1FN})
    if (program.options().Takes(type)) types.push_back(type);
  return types.empty() ? T::kS8 : program.choices().Pick(types);
}

// All codes in any order: there are few.
Instruction* Codes(Program& program, ElementType type, const DimVector& dimensions) {
  Choices& choices = program.choices();
  Literal codes(Shape::Array(type, dimensions));
  const uint64_t mask = (uint64_t{1} << std::min(BitWidth(type), 8)) - 1;
  RandomStream stream = choices.Fork();
  for (int64_t i = 0; i < codes.element_count(); ++i) codes.SetBits(i, stream.Next() & mask);
  const bool is_given = program.scope().entry && choices.Percent(80);
  return is_given ? program.GivenParameter(std::move(codes)) : program.Constant(std::move(codes));
}

// Whole bytes, or a part of one at the end of rows or of all.
DimVector DrawPackedSizes(Choices& choices) {
  DimVector sizes;
  if (choices.Percent(45)) sizes.push_back(choices.Range(1, 5));
  const int64_t bytes = choices.Pick<int64_t>({1, 2, 4, 8, 16, 32, 64});
  sizes.push_back(std::max<int64_t>(1, bytes + choices.Range(-1, 1)));
  return sizes;
}

// A type that results of the op may have, preferably not that of the operands.
ElementType DrawResultType(Program& program, TypeMask mask, int least_bits) {
  std::vector<ElementType> types;
  for (const absl::Span<const ElementType> list : {ComputedTypes(), RareTypes()}) {
    for (ElementType type : list)
      if (Matches(mask, type) && BitWidth(type) >= least_bits && program.options().Takes(type))
        types.push_back(type);
  }
  return types.empty() ? T::kF32 : program.choices().Pick(types);
}

// Products of small numbers in a type that holds their sum.
Instruction* WideningDot(Program& program, ElementType type) {
  Choices& choices = program.choices();
  const int64_t m = choices.Range(1, 9), n = choices.Range(1, 9);
  const int64_t terms = choices.Pick<int64_t>({1, 3, 7, 8, 9, 16, 17, 33});
  const bool is_turned = choices.Percent(40);
  Instruction* a = Codes(program, type, {m, terms});
  Instruction* b = Codes(program, type, is_turned ? DimVector{n, terms} : DimVector{terms, n});
  const TypeMask of_class = IsFloat(type) ? kF : IsSigned(type) ? kS : kU;
  const ElementType to = DrawResultType(program, of_class, IsFloat(type) ? 16 : BitWidth(type));
  Attributes attributes;
  attributes.Set(Attr::kLhsContractingDims, {int64_t{1}});
  attributes.Set(Attr::kRhsContractingDims, {int64_t{is_turned ? 1 : 0}});
  return program.Emit(Opcode::kDot, Shape::Array(to, {m, n}), {a, b}, std::move(attributes));
}

Instruction* MapToOther(Program& program, Instruction* operand) {
  const ElementType type = operand->shape().element_type();
  const ElementType to = DrawResultType(program, kP | kI | kF, 1);
  ScalarScope scope(program, "mapped", {type});
  Instruction* widened = program.Convert(scope.at[0], to);
  Computation* body = scope.Finish(widened);
  DimVector dimensions;
  for (int64_t d = 0; d < operand->shape().rank(); ++d) dimensions.push_back(d);
  Attributes attributes;
  attributes.Set(Attr::kDimensions, dimensions);
  return program.Emit(Opcode::kMap, Shape::Array(to, operand->shape().dimensions()), {operand},
                      std::move(attributes), {body});
}

// The bits of a row as one number, or those of each number as several.
Instruction* BitsAsOther(Program& program, ElementType type) {
  Choices& choices = program.choices();
  const int bits = BitWidth(type);
  const int to_bits = choices.Pick({8, 16, 32, 64});
  DimVector sizes = DrawPackedSizes(choices);
  sizes.push_back(to_bits / bits);
  std::vector<ElementType> types;
  for (ElementType other : ComputedTypes())
    if (BitWidth(other) == to_bits && !IsPred(other) && program.options().Takes(other))
      types.push_back(other);
  if (types.empty()) return nullptr;
  const ElementType other = choices.Pick(types);
  if (choices.Percent(50)) {
    Instruction* x = Codes(program, type, sizes);
    sizes.pop_back();
    return program.Emit(Opcode::kBitcastConvert, Shape::Array(other, sizes), {x});
  }
  DimVector whole = sizes;
  whole.pop_back();
  Instruction* x = program.OperandOf(other, whole);
  return program.Emit(Opcode::kBitcastConvert, Shape::Array(type, sizes), {x});
}

Instruction* LargestOf(Program& program, Instruction* operand) {
  Choices& choices = program.choices();
  DimVector sizes(operand->shape().dimensions().begin(), operand->shape().dimensions().end());
  const int64_t k = choices.Range(1, sizes.back());
  sizes.back() = k;
  Attributes attributes;
  attributes.Set(Attr::kK, AttrValue(k));
  attributes.Set(Attr::kLargest, AttrValue(choices.Percent(60)));
  attributes.Set(Attr::kIsStable, AttrValue(true));
  const ElementType type = operand->shape().element_type();
  Instruction* both = program.Emit(
      Opcode::kTopK, Shape::Tuple({Shape::Array(type, sizes), Shape::Array(T::kS32, sizes)}),
      {operand}, std::move(attributes));
  program.GetTupleElement(both, 0);
  return program.GetTupleElement(both, 1);
}

Instruction* BuildBelowAByte(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = DrawBelowAByte(program);
  const size_t kind = choices.Weighted({22, 14, 12, 16, 8, 8, IsFloat(type) ? 6 : 0, 10});
  if (kind == 2) return BitsAsOther(program, type);
  if (kind == 3) {
    const bool fits = Admits(Opcode::kDot, type) && program.options().Takes(Opcode::kDot);
    return fits ? WideningDot(program, type) : nullptr;
  }
  const DimVector sizes = DrawPackedSizes(choices);
  Instruction* x = Codes(program, type, sizes);
  switch (kind) {
    case 0:
      return program.Convert(x, DrawResultType(program, kP | kI | kF, 1));
    case 1: {
      Instruction* y = choices.Percent(20) ? program.BaitLike(x) : Codes(program, type, sizes);
      return program.CompareInSomeOrder(static_cast<Direction>(choices.Draw(6)), x, y);
    }
    case 4:
      return program.options().Takes(Opcode::kTopK) ? LargestOf(program, x) : nullptr;
    case 5:
      return program.options().Takes(Opcode::kMap) ? MapToOther(program, x) : nullptr;
    case 6:
      return program.Unary(Opcode::kIsFinite, x);
    default: {
      // A sum in a wider type, as one writes it.
      const ElementType wide = IsFloat(type) ? T::kF32 : IsSigned(type) ? T::kS32 : T::kU32;
      if (!program.options().Takes(wide)) return nullptr;
      Instruction* widened = program.Convert(x, wide);
      const Reducer reducer = MakeReducerOf(program, Opcode::kAdd, wide);
      const auto d = static_cast<int64_t>(choices.Draw(sizes.size()));
      return program.Reduce(widened, reducer.init, {d}, reducer.computation);
    }
  }
}

// ---- Selections over several dimensions.

// Any array, or one with lines of several vectors in which many numbers are equal.
Instruction* ForSelection(Program& program) {
  Choices& choices = program.choices();
  if (!program.scope().entry || choices.Percent(50)) return program.Operand(kI | kF, 2);
  const ElementType type = program.DrawType(kI | kF);
  DimVector sizes;
  for (int64_t more = choices.Range(1, 2); more > 0; --more) sizes.push_back(choices.Range(2, 4));
  sizes.push_back(choices.Pick<int64_t>({16, 31, 32, 33, 64, 65, 100}));
  return program.GivenParameter(
      LiteralOfFamily(Shape::Array(type, sizes), ValueFamily::kOrdinary, choices));
}

// The places of elements, counted over the reduced dimensions, or along one of them.
Instruction* PlacesOf(Program& program, const Shape& shape, const DimVector& reduced,
                      ElementType type) {
  Choices& choices = program.choices();
  if (choices.Percent(40)) {
    const bool is_last = choices.Percent(60);
    const auto along = is_last ? reduced.size() - 1 : choices.Draw(reduced.size());
    return program.Iota(Shape::Array(type, shape.dimensions()), reduced[along]);
  }
  if (program.scope().entry && choices.Percent(35)) {
    Literal places(Shape::Array(type, shape.dimensions()));
    for (int64_t i = 0; i < places.element_count(); ++i) places.SetInteger(i, i);
    return program.FixedParameter(std::move(places));
  }
  DimVector sizes;
  for (int64_t d : reduced) sizes.push_back(shape.dimension(d));
  Instruction* counted = program.Iota(Shape::Array(type, {Product(sizes)}), 0);
  Instruction* folded = program.Reshape(counted, sizes);
  return program.Broadcast(folded, shape.dimensions(), reduced);
}

Instruction* BuildSelectionReduce(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = ForSelection(program);
  const Shape shape = Shape::Array(x->shape().element_type(), x->shape().dimensions());
  if (shape.ElementCount() == 0) return nullptr;
  DimVector reduced = RandomPermutation(choices, shape.rank());
  reduced.resize(static_cast<size_t>(choices.Range(2, shape.rank())));
  std::sort(reduced.begin(), reduced.end());
  int64_t count = 1;
  for (int64_t d : reduced) count *= shape.dimension(d);
  const bool is_narrow = count <= 100 && choices.Percent(30);
  const ElementType index_type = is_narrow ? program.DrawIndexType() : T::kS32;
  const bool greatest = choices.Percent(50);
  Computation* reducer = ArgReducer(program, shape.element_type(), index_type, greatest);
  Instruction* places = PlacesOf(program, shape, reduced, index_type);
  Instruction* init =
      MakeReducerOf(program, greatest ? Opcode::kMaximum : Opcode::kMinimum, shape.element_type())
          .init;
  Instruction* first = program.ScalarConstant(index_type, 0);
  DimVector kept;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (std::find(reduced.begin(), reduced.end(), d) == reduced.end())
      kept.push_back(shape.dimension(d));
  Attributes attributes;
  attributes.Set(Attr::kDimensions, reduced);
  const Shape result =
      Shape::Tuple({Shape::Array(shape.element_type(), kept), Shape::Array(index_type, kept)});
  Instruction* both = program.Emit(Opcode::kReduce, result, {x, places, init, first},
                                   std::move(attributes), {reducer});
  program.GetTupleElement(both, 0);
  return program.GetTupleElement(both, 1);
}

// ---- Loops.

// The values in one row, or one after the other along their first dimension.
Instruction* InOneArray(Program& program, std::vector<Instruction*> values) {
  for (Instruction*& value : values)
    if (value->shape().rank() == 0) value = program.Reshape(value, {1});
  return values.size() == 1 ? values[0] : program.Concatenate(values, 0);
}

// A computation of a loop's state.
template <typename F>
Computation* OfLoop(Program& program, std::string_view name, const Shape& state, F build) {
  ScalarScope scope(program, name, absl::MakeConstSpan(&state, 1));
  return scope.Finish(build(scope.at[0]));
}

// The places of a shared loop's state.
enum SharedState : int64_t { kCounter, kTrips, kLeft, kRight, kKept };

Computation* SharedCondition(Program& program, const Shape& state, int64_t bound) {
  return OfLoop(program, "condition", state, [&](Instruction* now) {
    Instruction* counter = program.GetTupleElement(now, kCounter);
    const ElementType type = counter->shape().element_type();
    return program.Compare(Direction::kLt, counter, program.ScalarConstant(type, bound));
  });
}

Computation* SharedBody(Program& program, const Shape& state, int64_t step) {
  Choices& choices = program.choices();
  return OfLoop(program, "body", state, [&](Instruction* now) {
    std::vector<Instruction*> is;
    for (int64_t k = kCounter; k <= kKept; ++k) is.push_back(program.GetTupleElement(now, k));
    const auto next = [&](Instruction* value, int64_t by) {
      const ElementType type = value->shape().element_type();
      return program.Binary(Opcode::kAdd, value, program.ScalarConstant(type, by));
    };
    const auto mixed = [&](Instruction* value, Instruction* other) {
      const Opcode opcode = choices.Pick({Opcode::kAdd, Opcode::kSubtract, Opcode::kMaximum});
      Instruction* by = choices.Percent(40) ? is[kKept] : choices.Percent(70) ? other : value;
      return program.Binary(opcode, value, by);
    };
    Instruction* counter = next(is[kCounter], step);
    Instruction* trips = next(is[kTrips], 1);
    Instruction* left = choices.Percent(20) ? is[kRight] : mixed(is[kLeft], is[kRight]);
    Instruction* right = choices.Percent(30) ? is[kLeft] : mixed(is[kRight], is[kLeft]);
    Instruction* kept = choices.Percent(65) ? is[kKept] : mixed(is[kKept], is[kLeft]);
    return program.Tuple({counter, trips, left, right, kept});
  });
}

// The initial state of one of the loops: constants, arrays of the program, or the results of the
// one before.
std::vector<Instruction*> SharedInit(Program& program, const Shape& shape, ElementType counter_type,
                                     const std::vector<Instruction*>& arrays) {
  Choices& choices = program.choices();
  const int64_t start = choices.Pick<int64_t>({0, 1, 2, 3});
  Instruction* counter = choices.Percent(60) ? program.ScalarConstant(counter_type, start)
                                             : program.KnownScalar(counter_type, start);
  std::vector<Instruction*> init = {counter, program.ScalarConstant(T::kS32, 0)};
  for (int64_t k = kLeft; k <= kKept; ++k) {
    if (choices.Percent(25)) {
      Instruction* same = program.ScalarConstant(shape.element_type(), choices.Range(0, 3));
      init.push_back(shape.rank() == 0 ? same : program.Splat(same, shape.dimensions()));
    } else {
      init.push_back(choices.Pick(arrays));
    }
  }
  return init;
}

// Two loops or three that call one body, from other starts: what holds where one of them begins,
// and what of its arrays dies there, need not be so for the others.
Instruction* BuildSharedLoops(Program& program, Opcode) {
  if (!program.scope().control) return nullptr;
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kI | kF);
  const Shape shape = Shape::Array(x->shape().element_type(), x->shape().dimensions());
  if (!program.Fits(3 * shape.ElementCount())) return nullptr;
  std::vector<Instruction*> arrays = {x, program.OperandLike(shape)};
  if (choices.Percent(50)) arrays.push_back(program.Unary(Opcode::kNegate, x));
  const ElementType counter_type = program.DrawIndexType();
  const Shape state =
      Shape::Tuple({Shape::Scalar(counter_type), Shape::Scalar(T::kS32), shape, shape, shape});
  const int64_t bound = choices.Range(2, 5);
  Computation* condition = SharedCondition(program, state, bound);
  Computation* body = SharedBody(program, state, choices.Range(1, 2));
  std::vector<Instruction*> shown;
  for (size_t left = choices.Weighted({75, 25}) + 2; left > 0; --left) {
    Instruction* init = program.Tuple(SharedInit(program, shape, counter_type, arrays));
    // Another condition for the same body, or the same for another body.
    Computation* goes_on =
        choices.Percent(75) ? condition : SharedCondition(program, state, choices.Range(1, 6));
    Computation* runs =
        choices.Percent(90) ? body : SharedBody(program, state, choices.Range(1, 2));
    Instruction* loop = program.Emit(Opcode::kWhile, state, {init}, {}, {goes_on, runs});
    program.AlwaysShow(program.GetTupleElement(loop, kCounter));
    program.AlwaysShow(program.GetTupleElement(loop, kTrips));
    for (int64_t k : {int64_t{kLeft}, choices.Range(kRight, kKept)})
      shown.push_back(program.GetTupleElement(loop, k));
    arrays.push_back(shown.back());
  }
  return InOneArray(program, std::move(shown));
}

// A counter of few bits that wraps once or more before its loop ends.
struct WrappingCounter {
  ElementType type;
  int64_t start, bound, step, trips;
  Direction direction;
};

int64_t Wrapped(ElementType type, int64_t value) {
  Literal literal(Shape::Scalar(type));
  literal.SetInteger(0, value);
  return literal.GetInteger(0);
}

bool GoesOn(const WrappingCounter& loop, int64_t counter) {
  switch (loop.direction) {
    case Direction::kLt:
      return counter < loop.bound;
    case Direction::kLe:
      return counter <= loop.bound;
    case Direction::kGt:
      return counter > loop.bound;
    case Direction::kGe:
      return counter >= loop.bound;
    default:
      return counter != loop.bound;
  }
}

// The number of trips of the body; nothing where the counter never wraps or runs on for long.
std::optional<int64_t> TripsOf(const WrappingCounter& loop) {
  constexpr int64_t kMostTrips = 9;
  int64_t counter = loop.start;
  bool wraps = false;
  for (int64_t trips = 0; trips <= kMostTrips; ++trips) {
    if (!GoesOn(loop, counter)) return wraps ? std::optional<int64_t>(trips) : std::nullopt;
    const int64_t next = Wrapped(loop.type, counter + loop.step);
    wraps |= next != counter + loop.step;
    counter = next;
  }
  return std::nullopt;
}

std::optional<WrappingCounter> DrawWrapping(Choices& choices) {
  constexpr int kTries = 40;
  RandomStream stream = choices.Fork();
  const auto below = [&](uint64_t bound) { return static_cast<int64_t>(stream.Next() % bound); };
  for (int k = 0; k < kTries; ++k) {
    constexpr ElementType kTypes[] = {T::kS8, T::kU8, T::kS8, T::kU8, T::kS16, T::kU16};
    constexpr Direction kDirections[] = {Direction::kLt, Direction::kLe, Direction::kGt,
                                         Direction::kGe, Direction::kNe};
    WrappingCounter loop;
    loop.type = kTypes[below(std::size(kTypes))];
    const int64_t least = MinOf(loop.type), most = MaxOf(loop.type);
    const bool descends = below(2) == 0;
    constexpr int64_t kSteps[] = {1, 2, 3, 5, 7, 10, 16, 31, 50, 100, 127};
    loop.step = kSteps[below(std::size(kSteps))];
    loop.start = Wrapped(loop.type, (descends ? least : most) + (below(24) - 2));
    if (descends) loop.step = -loop.step;
    loop.direction = kDirections[below(std::size(kDirections))];
    const int64_t near_end = below(2) == 0 ? least + below(12) : most - below(12);
    const int64_t on_its_way = Wrapped(loop.type, loop.start + loop.step * below(9) + below(3) - 1);
    loop.bound = below(2) == 0 ? near_end : on_its_way;
    const std::optional<int64_t> trips = TripsOf(loop);
    if (!trips.has_value()) continue;
    loop.trips = *trips;
    return loop;
  }
  return std::nullopt;
}

Instruction* BuildWrappingLoop(Program& program, Opcode) {
  if (!program.scope().control) return nullptr;
  Choices& choices = program.choices();
  const std::optional<WrappingCounter> drawn = DrawWrapping(choices);
  if (!drawn.has_value()) return nullptr;
  const WrappingCounter& loop = *drawn;
  Instruction* x = program.OperandOf(loop.type, {choices.Range(2, 9)});
  const bool is_known = choices.Percent(60);
  const auto number = [&](int64_t value) {
    return is_known ? program.ScalarConstant(loop.type, value)
                    : program.KnownScalar(loop.type, value);
  };
  std::vector<Instruction*> state = {number(loop.start), program.ScalarConstant(T::kS32, 0), x};
  const bool has_bound = choices.Percent(25);
  if (has_bound) state.push_back(number(loop.bound));
  Instruction* init = program.Tuple(state);
  const Shape shape = init->shape();
  Computation* condition = OfLoop(program, "condition", shape, [&](Instruction* now) {
    Instruction* counter = program.GetTupleElement(now, 0);
    Instruction* bound =
        has_bound ? program.GetTupleElement(now, 3) : program.ScalarConstant(loop.type, loop.bound);
    return program.Compare(loop.direction, counter, bound);
  });
  const bool subtracts = choices.Percent(30);
  Computation* body = OfLoop(program, "body", shape, [&](Instruction* now) {
    Instruction* counter = program.GetTupleElement(now, 0);
    Instruction* trips = program.GetTupleElement(now, 1);
    Instruction* row = program.GetTupleElement(now, 2);
    Instruction* step = program.ScalarConstant(loop.type, subtracts ? -loop.step : loop.step);
    std::vector<Instruction*> next;
    next.push_back(program.Binary(subtracts ? Opcode::kSubtract : Opcode::kAdd, counter, step));
    next.push_back(program.Binary(Opcode::kAdd, trips, program.ScalarConstant(T::kS32, 1)));
    next.push_back(
        choices.Percent(50)
            ? program.Binary(Opcode::kAdd, row, program.Splat(counter, row->shape().dimensions()))
            : program.DynamicUpdateSlice(row, program.Reshape(counter, {1}), {counter}));
    if (has_bound) next.push_back(program.GetTupleElement(now, 3));
    return program.Tuple(next);
  });
  Instruction* done = program.Emit(Opcode::kWhile, shape, {init}, {}, {condition, body});
  Instruction* last = program.Convert(program.GetTupleElement(done, 0), T::kS32);
  Instruction* both = InOneArray(program, {last, program.GetTupleElement(done, 1)});
  program.AlwaysShow(both);
  return program.GetTupleElement(done, 2);
}

// ---- Layouts and the sizes of their fastest dimension.

Instruction* InLayout(Program& program, Instruction* operand, const DimVector& minor_to_major) {
  Shape shape = Shape::Array(operand->shape().element_type(), operand->shape().dimensions());
  shape.set_layout(Layout(minor_to_major));
  return program.Emit(Opcode::kCopy, std::move(shape), {operand});
}

// Follows a layout by an op along the dimension that is fastest or slowest in it.
Instruction* OnChannel(Program& program, Instruction* operand, int64_t channel) {
  Choices& choices = program.choices();
  const ElementType type = operand->shape().element_type();
  const DimVector sizes(operand->shape().dimensions().begin(), operand->shape().dimensions().end());
  const int64_t size = sizes[static_cast<size_t>(channel)];
  std::vector<SliceRange> ranges;
  for (int64_t each : sizes) ranges.push_back({0, each, 1});
  switch (choices.Draw(6)) {
    case 0: {
      const Reducer reducer = MakeReducer(program, type, size);
      return program.Reduce(operand, reducer.init, {channel}, reducer.computation);
    }
    case 1: {  // a value for each channel
      Instruction* bias = program.OperandOf(type, {size});
      return program.Binary(IsPred(type) ? Opcode::kXor : Opcode::kAdd, operand,
                            program.Broadcast(bias, sizes, {channel}));
    }
    case 2:
      ranges[static_cast<size_t>(channel)] = {choices.Range(0, 1) % size, size, 1};
      return program.Slice(operand, std::move(ranges));
    case 3:
      return program.Reverse(operand, {channel});
    case 4:
      return program.Transpose(operand, RandomPermutation(choices, operand->shape().rank()));
    default:
      if (!program.Fits(2 * operand->shape().ElementCount()))
        return program.Reverse(operand, {channel});
      return program.Concatenate({operand, operand}, channel);
  }
}

Instruction* BuildLayoutAndChannel(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kAnyArray);
  const int64_t rank = choices.Range(2, 4);
  const auto channel = static_cast<int64_t>(choices.Draw(static_cast<uint64_t>(rank)));
  DimVector sizes;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t around = choices.Pick<int64_t>({1, 4, 8, 16, 32, 64, 128});
    sizes.push_back(d == channel ? std::max<int64_t>(1, around + choices.Range(-1, 1))
                                 : choices.Range(1, 5));
  }
  if (!program.Fits(Product(sizes))) return nullptr;
  Instruction* x = program.OperandOf(type, sizes);
  // The channel is the fastest dimension, the slowest, or any.
  DimVector order;
  for (int64_t d : RandomPermutation(choices, rank))
    if (d != channel) order.push_back(d);
  const int64_t place = choices.Pick<int64_t>({0, 0, rank - 1, choices.Range(0, rank - 1)});
  order.insert(order.begin() + place, channel);
  x = InLayout(program, x, order);
  x = OnChannel(program, x, channel);
  if (x->shape().rank() != rank || choices.Percent(50)) return x;
  return InLayout(program, x, choices.Percent(50) ? order : RandomPermutation(choices, rank));
}

constexpr Recipe kRecipes[] = {
    {Opcode::kConvert, "below-a-byte", RecipeGroup::kElementwise, 9, BuildBelowAByte},
    {Opcode::kReduce, "selection-reduce", RecipeGroup::kReduce, 4, BuildSelectionReduce},
    {Opcode::kWhile, "shared-loops", RecipeGroup::kControl, 4, BuildSharedLoops},
    {Opcode::kWhile, "wrapping-loop", RecipeGroup::kControl, 3, BuildWrappingLoop},
    {Opcode::kCopy, "layout-and-channel", RecipeGroup::kIndex, 5, BuildLayoutAndChannel},
};

}  // namespace

absl::Span<const Recipe> JointRecipes() { return kRecipes; }

}  // namespace assay
