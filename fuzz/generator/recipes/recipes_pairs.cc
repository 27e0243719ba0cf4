// Pairs of ops that a rewrite merges, with attributes that nearly fit each other: slices that end
// where a part begins, orders that keep a square shape, combiners and operands that are almost the
// same (requirements 2, 8, 9, 12, 22, 41, 43, 47, and the near misses of chapter 12).
#include <algorithm>
#include <utility>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"
#include "fuzz/generator/recipes/scalar_scope.h"

namespace assay {
namespace {

constexpr TypeMask kMovable = kAnyArray;

// ---- Moves after moves.

// A value on its way through ops that move data.
struct Moved {
  Instruction* value = nullptr;
  // Per dimension: where something begins or ends. What is cut next is cut there, or beside it.
  std::vector<DimVector> marks;
  Instruction* filler = nullptr;  // the scalar that a pad before put around it
};

Moved Unmarked(Instruction* value, Instruction* filler) {
  return {value, std::vector<DimVector>(static_cast<size_t>(value->shape().rank())), filler};
}

SliceRange RangeBetween(Choices& choices, const DimVector& marks, int64_t size) {
  if (size == 0 || choices.Percent(40)) return {0, size, 1};
  const auto edge = [&] {
    int64_t at = !marks.empty() && choices.Percent(70) ? marks[choices.Draw(marks.size())]
                                                       : choices.Range(0, size);
    if (choices.Percent(25)) at += choices.Percent(50) ? 1 : -1;
    return std::clamp<int64_t>(at, 0, size);
  };
  int64_t start = edge(), limit = edge();
  if (start > limit) std::swap(start, limit);
  if (start == limit) limit < size ? ++limit : --start;
  return {start, limit, choices.Percent(75) ? 1 : choices.Range(2, 3)};
}

Moved Cut(Program& program, const Moved& from) {
  std::vector<SliceRange> ranges;
  std::vector<DimVector> marks(from.marks.size());
  for (size_t d = 0; d < marks.size(); ++d) {
    const SliceRange range = RangeBetween(program.choices(), from.marks[d],
                                          from.value->shape().dimension(static_cast<int64_t>(d)));
    for (int64_t mark : from.marks[d]) {
      if (mark > range.start && mark < range.limit)
        marks[d].push_back((mark - range.start) / range.stride);
    }
    ranges.push_back(range);
  }
  return {program.Slice(from.value, std::move(ranges)), std::move(marks), from.filler};
}

Moved Padded(Program& program, const Moved& from) {
  Choices& choices = program.choices();
  std::vector<PaddingDim> padding;
  std::vector<DimVector> marks;
  int64_t elements = 1;
  for (int64_t size : from.value->shape().dimensions()) {
    PaddingDim dim;
    switch (choices.Weighted({40, 20, 40})) {
      case 0:
        break;
      case 1:  // the size stays
        dim.low = choices.Range(-2, 2);
        dim.high = -dim.low;
        break;
      default:
        dim.low = choices.Range(-2, 3);
        dim.high = choices.Range(-2, 3);
        if (choices.Percent(30)) dim.interior = choices.Range(1, 2);
    }
    const int64_t dilated = size + std::max<int64_t>(size - 1, 0) * dim.interior;
    if (dim.low + dilated + dim.high < 1) dim = PaddingDim{0, 0, 0};
    const int64_t result =
        dim.low + dim.high + size + std::max<int64_t>(size - 1, 0) * dim.interior;
    elements *= result;
    marks.push_back({std::clamp<int64_t>(dim.low, 0, result),
                     std::clamp<int64_t>(result - dim.high, 0, result)});
    padding.push_back(dim);
  }
  if (!program.Fits(elements)) return {};
  const bool same = from.filler != nullptr && choices.Percent(60);
  Instruction* filler =
      same ? from.filler : program.OperandOf(from.value->shape().element_type(), {});
  return {program.Pad(from.value, filler, std::move(padding)), std::move(marks), filler};
}

Moved Reordered(Program& program, const Moved& from) {
  const DimVector order = RandomPermutation(program.choices(), from.value->shape().rank());
  std::vector<DimVector> marks;
  for (int64_t d : order) marks.push_back(from.marks[static_cast<size_t>(d)]);
  return {program.Transpose(from.value, order), std::move(marks), from.filler};
}

Moved Mirrored(Program& program, const Moved& from) {
  const DimVector dims = RandomSubset(program.choices(), from.value->shape().rank());
  std::vector<DimVector> marks = from.marks;
  for (int64_t d : dims) {
    for (int64_t& mark : marks[static_cast<size_t>(d)])
      mark = from.value->shape().dimension(d) - mark;
  }
  return {program.Reverse(from.value, dims), std::move(marks), from.filler};
}

// Adds dimensions of one element, of a size that is there already, or small ones.
Moved Repeated(Program& program, const Moved& from) {
  Choices& choices = program.choices();
  const Shape& shape = from.value->shape();
  DimVector dimensions(shape.dimensions().begin(), shape.dimensions().end());
  DimVector mapping;
  for (int64_t i = 0; i < shape.rank(); ++i) mapping.push_back(i);
  for (int64_t added = choices.Range(0, 2); added > 0 && dimensions.size() < 6; --added) {
    int64_t size = choices.Range(1, 4);
    if (shape.rank() > 0 && choices.Percent(50))
      size = shape.dimension(static_cast<int64_t>(choices.Draw(shape.rank())));
    const auto at = static_cast<int64_t>(choices.Draw(dimensions.size() + 1));
    dimensions.insert(dimensions.begin() + at, size);
    for (int64_t& to : mapping) to += to >= at ? 1 : 0;
  }
  if (!program.Fits(Product(dimensions))) return {};
  if (!program.options().portable && shape.rank() >= 2 && choices.Percent(40)) {
    const DimVector order = RandomPermutation(choices, shape.rank());
    const DimVector before = mapping;
    for (size_t i = 0; i < order.size(); ++i) {
      mapping[i] = before[static_cast<size_t>(order[i])];
      dimensions[static_cast<size_t>(mapping[i])] = shape.dimension(static_cast<int64_t>(i));
    }
  }
  return Unmarked(program.Broadcast(from.value, dimensions, mapping), nullptr);
}

// Puts in or takes out dimensions of one element, or joins two.
Moved Refolded(Program& program, const Moved& from) {
  Choices& choices = program.choices();
  const Shape& shape = from.value->shape();
  DimVector sizes(shape.dimensions().begin(), shape.dimensions().end());
  const auto one = std::find(sizes.begin(), sizes.end(), 1);
  if (one != sizes.end() && choices.Percent(40)) {
    sizes.erase(one);
  } else if (sizes.size() >= 2 && choices.Percent(30)) {
    const size_t at = choices.Draw(sizes.size() - 1);
    sizes[at] *= sizes[at + 1];
    sizes.erase(sizes.begin() + static_cast<int64_t>(at) + 1);
  } else if (sizes.size() < 7) {
    sizes.insert(sizes.begin() + static_cast<int64_t>(choices.Draw(sizes.size() + 1)), 1);
  }
  return Unmarked(program.Reshape(from.value, sizes), from.filler);
}

// Beside a neighbour in the same array, one that is shifted in another dimension, itself, or any
// other part. It begins and ends at marks.
Moved Joined(Program& program, const Moved& from) {
  Choices& choices = program.choices();
  const Shape& shape = from.value->shape();
  const auto d = static_cast<int64_t>(choices.Draw(shape.rank()));
  Instruction* a = from.value;
  Instruction* b = a;
  const int64_t size = shape.dimension(d);
  if (size >= 2 && choices.Percent(55)) {
    std::vector<SliceRange> left, right;
    for (int64_t each : shape.dimensions()) {
      const bool is_cut = each >= 2 && choices.Percent(40);
      left.push_back({0, is_cut ? each - 1 : each, 1});
      right.push_back(left.back());
      // One step further along in a dimension that is not joined.
      if (is_cut && choices.Percent(40)) right.back() = {1, each, 1};
    }
    const int64_t cut = choices.Range(1, size - 1);
    left[static_cast<size_t>(d)] = {choices.Percent(70) ? 0 : choices.Range(0, cut - 1), cut, 1};
    right[static_cast<size_t>(d)] = {cut, choices.Percent(70) ? size : choices.Range(cut + 1, size),
                                     1};
    Instruction* other = choices.Percent(80) ? a : program.OperandLike(shape);
    a = program.Slice(a, std::move(left));
    b = program.Slice(other, std::move(right));
  } else if (choices.Percent(60)) {
    DimVector sizes(shape.dimensions().begin(), shape.dimensions().end());
    sizes[static_cast<size_t>(d)] = choices.Range(0, 4);
    b = program.OperandOf(shape.element_type(), sizes);
  }
  if (!program.Fits(a->shape().ElementCount() + b->shape().ElementCount())) return {};
  if (choices.Percent(30)) std::swap(a, b);
  Moved joined = Unmarked(program.Concatenate({a, b}, d), from.filler);
  joined.marks[static_cast<size_t>(d)] = {a->shape().dimension(d),
                                          joined.value->shape().dimension(d)};
  return joined;
}

Moved Taken(Program& program, const Moved& from) {
  Choices& choices = program.choices();
  const absl::Span<const int64_t> dimensions = from.value->shape().dimensions();
  DimVector sizes;
  for (int64_t size : dimensions) sizes.push_back(size > 1 ? choices.Range(1, size) : size);
  const std::vector<Instruction*> starts = program.StartIndices(dimensions, sizes);
  return Unmarked(program.DynamicSlice(from.value, starts, sizes), from.filler);
}

using Move = Moved (*)(Program&, const Moved&);

Instruction* BuildMovePair(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kMovable, 1);
  if (x->shape().rank() > 5) return nullptr;
  constexpr Move kMoves[] = {Cut, Padded, Reordered, Mirrored, Repeated, Refolded, Joined, Taken};
  Moved now = Unmarked(x, nullptr);
  for (int64_t links = choices.Weighted({75, 25}) + 2; links > 0; --links) {
    if (now.value->shape().rank() == 0) break;
    const Moved next = kMoves[choices.Weighted({28, 12, 14, 10, 14, 8, 14, 8})](program, now);
    if (next.value != nullptr) now = next;
  }
  return now.value == x ? nullptr : now.value;
}

// ---- Reductions of reductions.

// The value that leaves everything as it is, or nearly.
Instruction* Start(Program& program, Opcode opcode, ElementType type) {
  Reducer plain = MakeReducerOf(program, opcode, type);
  if (program.options().portable || program.choices().Percent(70)) return plain.init;
  return program.choices().Percent(50)
             ? program.Constant(BaitScalar(type, program.choices()))
             : program.ScalarConstant(type, program.choices().Pick<int64_t>({1, 0, 2, -1}));
}

// Integers, of which sums and extremes have one answer; dimensions of one element now and then.
Instruction* BuildReducePair(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kI, 2);
  const ElementType type = x->shape().element_type();
  if (choices.Percent(25) && x->shape().rank() < 6) {
    DimVector sizes(x->shape().dimensions().begin(), x->shape().dimensions().end());
    sizes.insert(sizes.begin() + static_cast<int64_t>(choices.Draw(sizes.size() + 1)), 1);
    x = program.Reshape(x, sizes);
  }
  if (choices.Percent(25)) {
    x = program.Transpose(x, RandomPermutation(choices, x->shape().rank()));
  }
  const auto draw = [&] {
    return choices.Pick({Opcode::kAdd, Opcode::kMaximum, Opcode::kMinimum, Opcode::kAnd,
                         Opcode::kOr, Opcode::kMultiply, Opcode::kXor});
  };
  Opcode opcode = draw();
  for (int level = 0; level < 2 && x->shape().rank() > 0; ++level) {
    if (level > 0 && choices.Percent(35)) opcode = draw();
    Instruction* init = Start(program, opcode, type);
    Computation* reducer = MakeReducerOf(program, opcode, type).computation;
    x = program.Reduce(x, init, {static_cast<int64_t>(choices.Draw(x->shape().rank()))}, reducer);
  }
  return x;
}

// ---- The same op twice, but for one thing.

constexpr Opcode kOrdered[] = {Opcode::kSubtract,
                               Opcode::kDivide,
                               Opcode::kPower,
                               Opcode::kRemainder,
                               Opcode::kAtan2,
                               Opcode::kShiftLeft,
                               Opcode::kShiftRightLogical,
                               Opcode::kShiftRightArithmetic,
                               Opcode::kAdd,
                               Opcode::kMaximum};

// One after the other, in an array that shows both.
Instruction* Both(Program& program, Instruction* a, Instruction* b) {
  if (a->shape().rank() == 0) {
    a = program.Reshape(a, {1});
    b = program.Reshape(b, {1});
  }
  return program.Concatenate({a, b}, 0);
}

Instruction* BuildTwins(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kP | kI | kF);
  const ElementType type = x->shape().element_type();
  const int64_t rank = x->shape().rank();
  Instruction* y = program.OperandLike(x->shape());
  switch (choices.Weighted({5, 2, rank >= 2 ? 2 : 0, 3, rank >= 1 ? 2 : 0})) {
    case 0: {  // the operands exchanged
      const Opcode opcode =
          choices.Pick(std::vector<Opcode>(std::begin(kOrdered), std::end(kOrdered)));
      if (!Admits(opcode, type) || !program.options().Takes(opcode)) return nullptr;
      Instruction* forth = program.Binary(opcode, x, y);
      return Both(program, forth, program.Binary(opcode, y, x));
    }
    case 1: {
      const auto direction = static_cast<Direction>(choices.Draw(6));
      Instruction* forth = program.Compare(direction, x, y);
      const bool turned = choices.Percent(50);
      const auto other = turned ? direction : static_cast<Direction>(choices.Draw(6));
      return Both(program, forth, program.Compare(other, turned ? y : x, turned ? x : y));
    }
    case 2: {  // an attribute
      const auto d = static_cast<int64_t>(choices.Draw(rank));
      const auto e = static_cast<int64_t>(choices.Draw(rank));
      Instruction* forth = program.Reverse(x, {d});
      return Both(program, forth, program.Reverse(x, {e}));
    }
    case 3: {  // a constant
      const Opcode opcode =
          IsPred(type)
              ? Opcode::kXor
              : choices.Pick({Opcode::kAdd, Opcode::kMultiply, Opcode::kMaximum, Opcode::kMinimum});
      Literal one = LiteralOfFamily(Shape::Array(type, x->shape().dimensions()),
                                    ValueFamily::kOrdinary, choices);
      Literal other = one;
      if (other.element_count() == 0 || other.element_count() > 256) return nullptr;
      const auto at = static_cast<int64_t>(choices.Draw(other.element_count()));
      // A sign of zero, or the last bit.
      const uint64_t sign = uint64_t{1} << (IsPred(type) ? 0 : BitWidth(type) - 1);
      const bool of_zero = IsFloat(type) && choices.Percent(50);
      if (of_zero) one.SetBits(at, 0);
      other.SetBits(at, of_zero ? sign : one.GetBits(at) ^ 1);
      Instruction* forth = program.Binary(opcode, x, program.Constant(std::move(one)));
      return Both(program, forth, program.Binary(opcode, x, program.Constant(std::move(other))));
    }
    default: {  // what they slice
      const int64_t size = x->shape().dimension(0);
      if (size < 2) return nullptr;
      std::vector<SliceRange> first, second;
      for (int64_t each : x->shape().dimensions()) first.push_back({0, each, 1});
      second = first;
      first[0].limit = size - 1;
      second[0].start = 1;
      Instruction* forth = program.Slice(x, std::move(first));
      return Both(program, forth, program.Slice(x, std::move(second)));
    }
  }
}

// ---- Elements of tuples, put together again in some order.

Instruction* PairOf(Program& program, Instruction* x, Instruction* y) {
  Choices& choices = program.choices();
  const bool has_order = !IsComplex(x->shape().element_type());
  if (!has_order || x->shape().rank() == 0 || choices.Percent(50)) {
    Instruction* tuple = program.Tuple({x, y});
    return program.Emit(Opcode::kOptBarrier, tuple->shape(), {tuple});
  }
  const ElementType type = x->shape().element_type();
  ScalarScope scope(program, "comparator", {type, type, type, type});
  Instruction* before = program.Compare(Direction::kLt, scope.at[0], scope.at[1]);
  if (IsFloat(type)) before->mutable_attributes().Set(Attr::kCompareType, CompareType::kTotalOrder);
  Computation* comparator = scope.Finish(before);
  Attributes attributes;
  attributes.Set(Attr::kDimension, {static_cast<int64_t>(choices.Draw(x->shape().rank()))});
  attributes.Set(Attr::kIsStable, AttrValue(true));
  const Shape shape = Shape::Array(type, x->shape().dimensions());
  return program.Emit(Opcode::kSort, Shape::Tuple({shape, shape}), {x, y}, std::move(attributes),
                      {comparator});
}

Instruction* BuildShuffledTuple(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kAnyArray);
  const ElementType type = x->shape().element_type();
  if (!IsComputed(type) && !IsComplex(type)) return nullptr;
  Instruction* y = program.OperandLike(x->shape());
  if (y == x) y = program.Fresh(Shape::Array(x->shape().element_type(), x->shape().dimensions()));
  Instruction* first = PairOf(program, x, y);
  Instruction* second = choices.Percent(35) ? PairOf(program, y, x) : first;
  Instruction* a = program.GetTupleElement(first, static_cast<int64_t>(choices.Draw(2)));
  Instruction* b = program.GetTupleElement(second, static_cast<int64_t>(choices.Draw(2)));
  Instruction* again = PairOf(program, a, b);
  Instruction* left = program.GetTupleElement(again, 0);
  Instruction* right = program.GetTupleElement(again, 1);
  return choices.Percent(50) ? right : Both(program, left, right);
}

// ---- Loops whose elements start as one value and part later.

Instruction* BuildTwinState(Program& program, Opcode) {
  if (!program.scope().control) return nullptr;
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kI | kF);
  // An array that the program made itself may be written over.
  if (choices.Percent(60)) x = program.Unary(Opcode::kNegate, x);
  Instruction* zero = program.ScalarConstant(ElementType::kS32, 0);
  std::vector<Instruction*> state = {zero, x, x};
  if (choices.Percent(30)) state[2] = program.OperandLike(x->shape());
  const int64_t trips = choices.Range(1, 5);
  Instruction* init = program.Tuple(state);
  const Shape shape = init->shape();
  const auto of_state = [&](std::string_view name, auto build) {
    Scope scope;
    scope.computation = program.NewComputation(name);
    scope.depth = program.scope().depth + 1;
    scope.trips = program.scope().trips * trips;
    scope.control = false;
    Scope* outer = program.EnterScope(&scope);
    scope.computation->set_root(build(program.ScopeParameter(0, shape)));
    program.EnterScope(outer);
    return scope.computation;
  };
  Computation* condition = of_state("condition", [&](Instruction* now) {
    Instruction* counter = program.GetTupleElement(now, 0);
    return program.Compare(Direction::kLt, counter,
                           program.ScalarConstant(ElementType::kS32, trips));
  });
  Computation* body = of_state("body", [&](Instruction* now) {
    Instruction* counter = program.GetTupleElement(now, 0);
    Instruction* a = program.GetTupleElement(now, 1);
    Instruction* b = program.GetTupleElement(now, 2);
    Instruction* one = program.ScalarConstant(ElementType::kS32, 1);
    Instruction* next = program.Binary(Opcode::kAdd, counter, one);
    const auto step = [&](Instruction* from, Instruction* beside) {
      const Opcode opcode = choices.Pick({Opcode::kAdd, Opcode::kSubtract, Opcode::kMaximum});
      return program.Binary(opcode, from, choices.Percent(50) ? beside : program.BaitLike(from));
    };
    Instruction* p = choices.Percent(25) ? b : step(a, b);
    Instruction* q = choices.Percent(25) ? a : step(b, a);
    return program.Tuple({next, p, q});
  });
  Instruction* loop = program.Emit(Opcode::kWhile, shape, {init}, {}, {condition, body});
  Instruction* left = program.GetTupleElement(loop, 1);
  Instruction* right = program.GetTupleElement(loop, 2);
  // The array that both started from may live on.
  if (choices.Percent(40)) {
    Instruction* from = choices.Percent(50) ? left : right;
    return program.Binary(Opcode::kSubtract, from, choices.Percent(50) ? x : state[2]);
  }
  return Both(program, left, right);
}

// ---- Two converts, over all types.

ElementType RealType(Program& program) {
  Choices& choices = program.choices();
  const absl::Span<const ElementType> types = choices.Percent(60) ? ComputedTypes() : RareTypes();
  const ElementType type = types[choices.Draw(types.size())];
  return IsComplex(type) || !program.options().Takes(type) ? ElementType::kF32 : type;
}

Instruction* BuildConvertPair(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = RealType(program);
  const Shape shape = Shape::Array(type, {choices.Range(4, 24)});
  const bool edges = choices.Percent(50);
  Literal values = edges ? LiteralWithEdges(shape, 0, choices.Range(1, 2), choices)
                         : LiteralOfFamily(shape, ValueFamily::kWide, choices);
  const bool given = program.scope().entry && choices.Percent(75);
  Instruction* x =
      given ? program.GivenParameter(std::move(values)) : program.Constant(std::move(values));
  x = program.Convert(x, RealType(program));
  return program.Convert(x, RealType(program));
}

// ---- Complex numbers from parameters, through every op that admits them.

Instruction* BuildComplexChain(Program& program, Opcode) {
  Choices& choices = program.choices();
  const bool wide = choices.Percent(30);
  const ElementType type = wide ? ElementType::kC128 : ElementType::kC64;
  if (!program.options().Takes(type)) return nullptr;
  const Shape shape = Shape::Array(type, program.DrawDimensions());
  if (!program.Fits(shape)) return nullptr;
  Instruction* z = program.OperandLike(shape);
  for (int64_t steps = choices.Range(1, 3); steps > 0; --steps) {
    const Opcode of_one = choices.Pick(
        {Opcode::kNegate, Opcode::kExponential, Opcode::kLog, Opcode::kSqrt, Opcode::kRsqrt,
         Opcode::kTanh, Opcode::kLogistic, Opcode::kSign, Opcode::kSine, Opcode::kCosine,
         Opcode::kExponentialMinusOne, Opcode::kLogPlusOne, Opcode::kTan, Opcode::kCbrt});
    const Opcode of_two = choices.Pick(
        {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kDivide, Opcode::kPower});
    switch (choices.Weighted({3, 4, 2})) {
      case 0:
        if (Admits(of_one, type) && program.options().Takes(of_one)) z = program.Unary(of_one, z);
        break;
      case 1: {
        if (!Admits(of_two, type)) break;
        Instruction* other = choices.Percent(40)   ? program.BaitLike(z)
                             : choices.Percent(15) ? z
                                                   : program.OperandLike(z->shape());
        z = choices.Percent(30) ? program.Binary(of_two, other, z)
                                : program.Binary(of_two, z, other);
        break;
      }
      default:
        if (z->shape().rank() == 0) break;
        if (choices.Percent(50)) {
          z = program.Reverse(z, RandomSubset(choices, z->shape().rank()));
        } else {
          const Opcode opcode = choices.Pick({Opcode::kAdd, Opcode::kMultiply});
          Reducer reducer = MakeReducerOf(program, opcode, type);
          const auto d = static_cast<int64_t>(choices.Draw(z->shape().rank()));
          if (opcode == Opcode::kMultiply && z->shape().dimension(d) > 8) break;
          z = program.Reduce(z, reducer.init, {d}, reducer.computation);
        }
    }
  }
  if (choices.Percent(40)) return z;
  return program.Unary(choices.Pick({Opcode::kReal, Opcode::kImag, Opcode::kAbs}), z);
}

// ---- Contractions around the edges of vectors, panels and tiles.

int64_t EdgeSize(Choices& choices) {
  if (choices.Percent(20)) return choices.Range(1, 4);
  const int64_t edge = choices.Pick<int64_t>({4, 8, 16, 32, 48, 64, 96, 128});
  return edge + choices.Range(-1, 2);
}

Instruction* BuildEdgeDot(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kI | kF | kC);
  int64_t sizes[3];  // of the rows, the terms, the columns
  int64_t products = 1;
  // The oracle is slow at sums; where packing begins is seen now and then.
  const int64_t most = choices.Percent(20) ? 80000 : 14000;
  for (int64_t& size : sizes) {
    size = std::min(EdgeSize(choices), std::max<int64_t>(most / products, 1));
    products *= size;
  }
  const int64_t batch = choices.Percent(25) ? choices.Range(1, 3) : 0;
  const bool left_turned = choices.Percent(30), right_turned = choices.Percent(30);
  DimVector left = {sizes[0], sizes[1]}, right = {sizes[1], sizes[2]};
  DimVector result = {sizes[0], sizes[2]};
  if (left_turned) std::swap(left[0], left[1]);
  if (right_turned) std::swap(right[0], right[1]);
  const int64_t at = batch > 0 ? 1 : 0;
  Attributes attributes;
  if (batch > 0) {
    for (DimVector* dims : {&left, &right, &result}) dims->insert(dims->begin(), batch);
    attributes.Set(Attr::kLhsBatchDims, {0});
    attributes.Set(Attr::kRhsBatchDims, {0});
  }
  attributes.Set(Attr::kLhsContractingDims, {at + (left_turned ? 0 : 1)});
  attributes.Set(Attr::kRhsContractingDims, {at + (right_turned ? 1 : 0)});
  Instruction* x = program.OperandOf(type, left);
  Instruction* y = program.OperandOf(type, right);
  const ElementType to = choices.Percent(20) ? WiderType(type) : type;
  return program.Emit(Opcode::kDot, Shape::Array(to, result), {x, y}, std::move(attributes));
}

constexpr Recipe kRecipes[] = {
    {Opcode::kSlice, "move-pair", RecipeGroup::kIndex, 40, BuildMovePair},
    {Opcode::kReduce, "reduce-pair", RecipeGroup::kReduce, 5, BuildReducePair},
    {Opcode::kSubtract, "twins", RecipeGroup::kElementwise, 10, BuildTwins},
    {Opcode::kTuple, "shuffled-tuple", RecipeGroup::kIndex, 4, BuildShuffledTuple},
    {Opcode::kWhile, "twin-state", RecipeGroup::kControl, 4, BuildTwinState},
    {Opcode::kConvert, "convert-pair", RecipeGroup::kElementwise, 8, BuildConvertPair},
    {Opcode::kComplex, "complex-chain", RecipeGroup::kElementwise, 6, BuildComplexChain},
    {Opcode::kDot, "edge-dot", RecipeGroup::kDot, 3, BuildEdgeDot},
};

}  // namespace

absl::Span<const Recipe> PairRecipes() { return kRecipes; }

}  // namespace assay
