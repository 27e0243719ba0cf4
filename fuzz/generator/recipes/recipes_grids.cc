// Many constants, types or functions beside one another on the same numbers: rules ask for one
// constant of many, and mistakes in code for one type or one function are seen only where it is
// tried (requirements 29, 30, 39 to 41, 50).
#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"
#include "fuzz/generator/recipes/scalar_scope.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

Instruction* SplatOfLiteral(Program& program, Literal scalar, const Shape& shape) {
  Instruction* value = program.Constant(std::move(scalar));
  return shape.rank() == 0 ? value : program.Splat(value, shape.dimensions());
}

// Numbers for one row: edges between ordinary ones, all bits, or what the op asks for.
Literal DrawRow(Program& program, Opcode opcode, const Shape& shape) {
  Choices& choices = program.choices();
  switch (choices.Weighted({4, 2, 2, 1})) {
    case 0:
      return LiteralWithEdges(shape, 0, choices.Range(1, 2), choices);
    case 1:
      return LiteralOfFamily(shape, ValueFamily::kWide, choices);
    case 2:
      return LiteralWithBait(opcode, shape, choices);
    default:
      return LiteralOfFamily(shape, ValueFamily::kOrdinary, choices);
  }
}

Instruction* GivenOrConstant(Program& program, Literal value, int constant_percent) {
  const bool is_constant = !program.scope().entry || program.choices().Percent(constant_percent);
  return is_constant ? program.Constant(std::move(value))
                     : program.GivenParameter(std::move(value));
}

std::vector<ElementType> TypesFor(Program& program, TypeMask mask) {
  std::vector<ElementType> types;
  for (const absl::Span<const ElementType> list : {ComputedTypes(), RareTypes()}) {
    for (ElementType type : list)
      if (Matches(mask, type) && program.options().Takes(type)) types.push_back(type);
  }
  return types;
}

// ---- Ops with constants.

constexpr Opcode kWithConstant[] = {Opcode::kMaximum,
                                    Opcode::kMinimum,
                                    Opcode::kMaximum,
                                    Opcode::kMinimum,
                                    Opcode::kCompare,
                                    Opcode::kCompare,
                                    Opcode::kClamp,
                                    Opcode::kAnd,
                                    Opcode::kOr,
                                    Opcode::kXor,
                                    Opcode::kShiftLeft,
                                    Opcode::kShiftRightLogical,
                                    Opcode::kShiftRightArithmetic,
                                    Opcode::kAdd,
                                    Opcode::kSubtract,
                                    Opcode::kMultiply,
                                    Opcode::kDivide,
                                    Opcode::kDivide,
                                    Opcode::kRemainder,
                                    Opcode::kPower};

// x op c, or c op x; of truths, what they select.
Instruction* WithConstant(Program& program, Opcode opcode, Instruction* operand) {
  Choices& choices = program.choices();
  const Shape shape = Shape::Array(operand->shape().element_type(), operand->shape().dimensions());
  Literal drawn = GridScalar(opcode, shape.element_type(), choices);
  if (opcode == Opcode::kClamp) {
    Instruction* low = program.Constant(GridScalar(opcode, shape.element_type(), choices));
    return program.Emit(opcode, shape, {low, operand, program.Constant(std::move(drawn))});
  }
  Instruction* constant = SplatOfLiteral(program, std::move(drawn), shape);
  const bool is_swapped = choices.Percent(25);
  Instruction *a = is_swapped ? constant : operand, *b = is_swapped ? operand : constant;
  if (opcode != Opcode::kCompare) return program.Binary(opcode, a, b);
  const auto direction = static_cast<Direction>(choices.Draw(6));
  Instruction* which = program.CompareInSomeOrder(direction, a, b);
  Instruction* other =
      SplatOfLiteral(program, GridScalar(Opcode::kAdd, shape.element_type(), choices), shape);
  return program.Select(which, operand, other);
}

Instruction* BuildConstantGrid(Program& program, Opcode) {
  Choices& choices = program.choices();
  const std::vector<ElementType> types = TypesFor(program, kI | kF);
  if (types.empty()) return nullptr;
  const ElementType type = choices.Pick(types);
  std::vector<Opcode> ops;
  for (Opcode opcode : kWithConstant)
    if (Admits(opcode, type) && program.options().Takes(opcode)) ops.push_back(opcode);
  if (ops.empty()) return nullptr;
  const Shape shape = Shape::Array(type, {choices.Range(3, 18)});
  Opcode opcode = choices.Pick(ops);
  Instruction* x = GivenOrConstant(program, DrawRow(program, opcode, shape), 12);
  // Several constants for one op, or one for several.
  const bool changes = choices.Percent(50);
  std::vector<Instruction*> rows;
  for (int64_t k = choices.Range(2, 6); k > 0; --k) {
    rows.push_back(WithConstant(program, opcode, x));
    if (changes) opcode = choices.Pick(ops);
  }
  return program.Concatenate(rows, 0);
}

// ---- Signs of zeros.

// Few numbers, zeros of both signs among them: many pairs are equal, and their differences zeros.
Literal FewNumbers(const Shape& shape, Choices& choices) {
  RandomStream stream = choices.Fork();
  Literal literal(shape);
  const ElementType type = shape.element_type();
  const FloatFormat& format = Format(IsComplex(type) ? ComponentType(type) : type);
  for (int64_t k = 0; k < literal.component_count(); ++k) {
    constexpr double kFew[] = {0, -0.0, 1, -1, 2, 1, 0, -0.0, 3};
    literal.SetComponentBits(k, EncodeFloat(format, kFew[stream.Next() % std::size(kFew)]));
  }
  return literal;
}

// A step after which a zero has the other sign, or should not have.
Instruction* TurnZeros(Program& program, Instruction* operand) {
  Choices& choices = program.choices();
  const ElementType type = operand->shape().element_type();
  const Shape shape = Shape::Array(type, operand->shape().dimensions());
  const auto zero = [&] {
    return SplatOfLiteral(program, FewNumbers(Shape::Scalar(type), choices), shape);
  };
  switch (choices.Weighted({6, 3, 2, 2, 2, IsComplex(type) ? 0 : 3})) {
    case 0:
      return program.Unary(Opcode::kNegate, operand);
    case 1:
      return program.Binary(Opcode::kSubtract, zero(), operand);
    case 2:
      return program.Binary(Opcode::kSubtract, operand, zero());
    case 3:
      return program.Binary(Opcode::kAdd, operand, zero());
    case 4:
      return program.Binary(Opcode::kMultiply, operand, zero());
    default: {
      const Opcode opcode =
          choices.Pick({Opcode::kAbs, Opcode::kSqrt, Opcode::kSign, Opcode::kCeil, Opcode::kFloor,
                        Opcode::kRoundNearestEven, Opcode::kRoundNearestAfz, Opcode::kTanh});
      const bool fits = Admits(opcode, type) && program.options().Takes(opcode);
      return program.Unary(fits ? opcode : Opcode::kNegate, operand);
    }
  }
}

Instruction* BuildZeroSigns(Program& program, Opcode) {
  Choices& choices = program.choices();
  const std::vector<ElementType> types = TypesFor(program, choices.Percent(15) ? kC : kF);
  if (types.empty()) return nullptr;
  const ElementType type = choices.Pick(types);
  const Shape shape = Shape::Array(type, {choices.Range(3, 12)});
  const auto row = [&] { return GivenOrConstant(program, FewNumbers(shape, choices), 10); };
  Instruction *x = row(), *y = row();
  std::vector<Instruction*> rows;
  for (int64_t k = choices.Range(1, 3); k > 0; --k) {
    Opcode opcode =
        choices.Pick({Opcode::kSubtract, Opcode::kSubtract, Opcode::kAdd, Opcode::kMultiply,
                      Opcode::kDivide, Opcode::kMaximum, Opcode::kMinimum, Opcode::kRemainder});
    if (!Admits(opcode, type) || !program.options().Takes(opcode)) opcode = Opcode::kSubtract;
    Instruction* z = TurnZeros(program, program.Binary(opcode, x, y));
    rows.push_back(choices.Percent(30) ? TurnZeros(program, z) : z);
  }
  return rows.size() == 1 ? rows[0] : program.Concatenate(rows, 0);
}

// ---- Neighbours of what rules ask for.

// Integers at the ends of their type and beside them, compared with one of these.
Instruction* CompareNearEnds(Program& program) {
  Choices& choices = program.choices();
  const std::vector<ElementType> types = TypesFor(program, kI);
  if (types.empty()) return nullptr;
  const ElementType type = choices.Pick(types);
  const auto near_end = [&] {
    const auto by = static_cast<int64_t>(choices.Draw(3));
    return static_cast<uint64_t>(choices.Percent(50) ? MinOf(type) + by : MaxOf(type) - by);
  };
  const Shape shape = Shape::Array(type, {choices.Range(3, 12)});
  Literal row(shape), end(Shape::Scalar(type));
  for (int64_t i = 0; i < row.element_count(); ++i)
    row.SetInteger(i, static_cast<int64_t>(near_end()));
  end.SetInteger(0, static_cast<int64_t>(near_end()));
  Instruction* x = GivenOrConstant(program, std::move(row), 10);
  const auto direction = static_cast<Direction>(choices.Draw(6));
  return program.Compare(direction, x, SplatOfLiteral(program, std::move(end), shape));
}

// A clamp of a clamp, with ends that are the same or not, and numbers between them.
Instruction* ClampTwice(Program& program) {
  Choices& choices = program.choices();
  const std::vector<ElementType> types = TypesFor(program, kI | kF);
  if (types.empty()) return nullptr;
  const ElementType type = choices.Pick(types);
  if (!Admits(Opcode::kClamp, type)) return nullptr;
  const Shape shape = Shape::Array(type, {choices.Range(6, 16)});
  Literal row(shape);
  for (int64_t i = 0; i < row.element_count(); ++i) row.SetInteger(i, choices.Range(0, 7));
  Instruction* x = GivenOrConstant(program, std::move(row), 10);
  const auto end = [&](int64_t least) {
    return program.ScalarConstant(type, choices.Range(least, least + 3));
  };
  Instruction* low = end(0);
  Instruction* high = end(3);
  Instruction* inner = program.Emit(Opcode::kClamp, shape, {low, x, high});
  Instruction* other_low = choices.Percent(60) ? low : end(0);
  Instruction* other_high = choices.Percent(40) ? high : end(3);
  return program.Emit(Opcode::kClamp, shape, {other_low, inner, other_high});
}

// Arguments at which functions and orders have their special cases.
Instruction* RowOfEnds(Program& program, const Shape& shape, int constant_percent) {
  constexpr double kEnds[] = {NAN, 0, -0.0, 1, -1, HUGE_VAL, -HUGE_VAL, 2, 0.5, 3};
  Literal literal(shape);
  for (int64_t i = 0; i < literal.element_count(); ++i)
    literal.SetDouble(i, kEnds[program.choices().Draw(std::size(kEnds))]);
  return GivenOrConstant(program, std::move(literal), constant_percent);
}

// Powers where an operand is no number, or none is needed.
Instruction* PowersOfEnds(Program& program) {
  Choices& choices = program.choices();
  const std::vector<ElementType> types = TypesFor(program, kF);
  if (types.empty() || !program.options().Takes(Opcode::kPower)) return nullptr;
  const ElementType type = choices.Pick(types);
  if (!Admits(Opcode::kPower, type)) return nullptr;
  const Shape shape = Shape::Array(type, {choices.Range(6, 20)});
  Instruction* base = RowOfEnds(program, shape, 10);
  return program.Binary(Opcode::kPower, base, RowOfEnds(program, shape, 10));
}

// Comparisons of what is no number, and of both zeros: by value and by place, folded or not.
Instruction* CompareEnds(Program& program) {
  Choices& choices = program.choices();
  const std::vector<ElementType> types = TypesFor(program, kF);
  if (types.empty()) return nullptr;
  const int64_t count = choices.Range(6, 20);
  const Shape shape = Shape::Array(choices.Pick(types), {count});
  const auto direction = static_cast<Direction>(choices.Draw(6));
  Instruction* x = RowOfEnds(program, shape, 50);
  Instruction* y = choices.Percent(15) ? x : RowOfEnds(program, shape, 50);
  return program.CompareInSomeOrder(direction, x, y);
}

// A line repeated along a dimension of its own size, with a dimension of size 1 somewhere.
Instruction* ReshapeSquare(Program& program) {
  Choices& choices = program.choices();
  const int64_t size = choices.Range(2, 6);
  Instruction* x = program.OperandOf(program.DrawType(kI | kF), {size});
  Instruction* square = program.Broadcast(x, {size, size}, {choices.Range(0, 1)});
  DimVector dimensions = {size, size};
  dimensions.insert(dimensions.begin() + choices.Range(0, 2), 1);
  return program.Emit(Opcode::kReshape, Shape::Array(x->shape().element_type(), dimensions),
                      {square});
}

Instruction* BuildNeighbours(Program& program, Opcode) {
  using Build = Instruction* (*)(Program&);
  constexpr Build kBuilds[] = {CompareNearEnds, CompareEnds, ClampTwice, PowersOfEnds,
                               ReshapeSquare};
  return kBuilds[program.choices().Draw(std::size(kBuilds))](program);
}

// ---- Ways through types.

// A type of the same kind, the small ones of the kind for a small one, every other time; or any.
ElementType TypeOnTheWay(Program& program, ElementType from) {
  Choices& choices = program.choices();
  std::vector<ElementType> types = TypesFor(program, kP | kI | kF);
  if (choices.Percent(60)) {
    const bool is_small = BitWidth(from) <= 8;
    std::vector<ElementType> near;
    for (ElementType type : types) {
      const bool same_kind = IsFloat(type) == IsFloat(from) && IsPred(type) == IsPred(from);
      if (same_kind && (!is_small || BitWidth(type) <= 16)) near.push_back(type);
    }
    if (!near.empty()) types = std::move(near);
  }
  return choices.Pick(types);
}

// Every code of a small type, in any order; edges of others.
Literal DrawCodes(Program& program, const Shape& shape) {
  Choices& choices = program.choices();
  if (BitWidth(shape.element_type()) > 8 || choices.Percent(30))
    return DrawRow(program, Opcode::kAdd, shape);
  Literal codes(shape);
  const int64_t count = int64_t{1} << BitWidth(shape.element_type());
  const int64_t first = static_cast<int64_t>(choices.Draw(static_cast<uint64_t>(count)));
  const int64_t step = choices.Pick<int64_t>({1, 3, 5, 7, 11});
  for (int64_t i = 0; i < codes.element_count(); ++i)
    codes.SetBits(i, static_cast<uint64_t>((first + i * step) % count));
  return codes;
}

// One array there and onwards through several types, which may lose something on the way.
Instruction* BuildTypeWays(Program& program, Opcode) {
  Choices& choices = program.choices();
  const std::vector<ElementType> types = TypesFor(program, kI | kF);
  if (types.empty()) return nullptr;
  // Many digits that become few: one that counts may be the last.
  using T = ElementType;
  const bool narrows = choices.Percent(30);
  ElementType from = narrows ? choices.Pick({T::kS64, T::kU64, T::kF64, T::kS32, T::kU32, T::kF32})
                             : choices.Pick(types);
  if (!program.options().Takes(from)) from = types[0];
  const Shape shape = Shape::Array(from, {choices.Range(4, 40)});
  ElementType way = narrows ? choices.Pick({T::kBF16, T::kBF16, T::kF16, T::kF32, T::kF8E5M2})
                            : TypeOnTheWay(program, from);
  if (!program.options().Takes(way)) way = from;
  Literal numbers = narrows || choices.Percent(45) ? LiteralNearCodes(shape, way, choices)
                                                   : DrawCodes(program, shape);
  Instruction* x = GivenOrConstant(program, std::move(numbers), narrows ? 40 : 10);
  const ElementType to = choices.Percent(40) ? from : TypeOnTheWay(program, from);
  std::vector<Instruction*> rows;
  for (int64_t k = choices.Range(2, 5); k > 0; --k) {
    Instruction* there = program.Convert(x, way);
    way = TypeOnTheWay(program, from);
    const ElementType through = there->shape().element_type();
    if (choices.Percent(15) && Admits(Opcode::kNegate, through))
      there = program.Unary(Opcode::kNegate, there);
    rows.push_back(program.Convert(there, to));
  }
  return program.Concatenate(rows, 0);
}

// ---- Complex numbers in every op that has them.

constexpr Opcode kOfComplex[] = {
    Opcode::kAdd,        Opcode::kSubtract,
    Opcode::kMultiply,   Opcode::kDivide,
    Opcode::kPower,      Opcode::kNegate,
    Opcode::kSign,       Opcode::kExponential,
    Opcode::kLog,        Opcode::kExponentialMinusOne,
    Opcode::kLogPlusOne, Opcode::kSqrt,
    Opcode::kRsqrt,      Opcode::kTanh,
    Opcode::kLogistic,   Opcode::kSine,
    Opcode::kCosine,     Opcode::kTan,
    Opcode::kAbs,        Opcode::kReal,
    Opcode::kImag,       Opcode::kCompare,
};

Instruction* OfComplex(Program& program, Opcode opcode, Instruction* x, Instruction* y) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kDivide:
    case Opcode::kPower:
      return program.Binary(opcode, x, y);
    case Opcode::kCompare:
      return program.Select(program.Compare(Direction::kNe, x, y), x, y);
    default:
      return program.Unary(opcode, x);
  }
}

Instruction* BuildComplexGrid(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = choices.Percent(30) ? ElementType::kC128 : ElementType::kC64;
  if (!program.options().Takes(type)) return nullptr;
  std::vector<Opcode> ops;
  for (Opcode opcode : kOfComplex)
    if (Admits(opcode, type) && program.options().Takes(opcode)) ops.push_back(opcode);
  if (ops.empty()) return nullptr;
  const Shape shape = Shape::Array(type, {choices.Range(2, 9)});
  const auto row = [&] {
    return GivenOrConstant(program, DrawRow(program, Opcode::kAdd, shape), 10);
  };
  Instruction* x = row();
  Instruction* y = choices.Percent(20) ? x : row();
  std::vector<Instruction*> rows;
  Instruction* last = nullptr;
  for (int64_t k = choices.Range(1, 3); k > 0; --k) {
    last = OfComplex(program, choices.Pick(ops), x, y);
    if (last->shape().element_type() == type) rows.push_back(last);
  }
  if (rows.size() < 2) return last;
  return program.Concatenate(rows, 0);
}

// The bits of one complex number as two of half the size, or of two as one.
Instruction* BuildComplexBits(Program& program, Opcode opcode) {
  constexpr ElementType kSingle = ElementType::kC64, kDouble = ElementType::kC128;
  if (!program.options().Takes(kSingle) || !program.options().Takes(kDouble)) return nullptr;
  const DimVector whole = program.DrawDimensions(0);
  DimVector pairs = whole;
  pairs.push_back(2);
  if (program.choices().Percent(50))
    return program.Emit(opcode, Shape::Array(kDouble, whole), {program.OperandOf(kSingle, pairs)});
  return program.Emit(opcode, Shape::Array(kSingle, pairs), {program.OperandOf(kDouble, whole)});
}

// Sums, products and contractions of complex numbers.
Instruction* BuildComplexSum(Program& program, Opcode) {
  Choices& choices = program.choices();
  const ElementType type = choices.Percent(30) ? ElementType::kC128 : ElementType::kC64;
  if (!program.options().Takes(type)) return nullptr;
  const int64_t m = choices.Range(1, 9), k = choices.Range(1, 20), n = choices.Range(1, 9);
  Instruction* a = program.OperandOf(type, {m, k});
  if (choices.Percent(40)) {
    const Opcode opcode = choices.Percent(70) ? Opcode::kAdd : Opcode::kMultiply;
    const Reducer reducer = MakeReducerOf(program, opcode, type);
    return program.Reduce(a, reducer.init, {choices.Range(0, 1)}, reducer.computation);
  }
  const bool is_turned = choices.Percent(50);
  Instruction* b = program.OperandOf(type, is_turned ? DimVector{n, k} : DimVector{k, n});
  Attributes attributes;
  attributes.Set(Attr::kLhsContractingDims, {int64_t{1}});
  attributes.Set(Attr::kRhsContractingDims, {int64_t{is_turned ? 1 : 0}});
  return program.Emit(Opcode::kDot, Shape::Array(type, {m, n}), {a, b}, std::move(attributes));
}

// ---- Memory that two uses share.

// (current, update) -> update, or their sum
Computation* Combining(Program& program, ElementType type, bool adds) {
  ScalarScope scope(program, "combine", {type, type});
  return scope.Finish(adds ? program.Binary(Opcode::kAdd, scope.at[0], scope.at[1]) : scope.at[1]);
}

// An array that is scattered into itself: its elements are the updates, or say where they go.
Instruction* BuildSelfScatter(Program& program, Opcode) {
  Choices& choices = program.choices();
  const bool by_itself = choices.Percent(40);  // its elements are the indices
  ElementType type = by_itself ? ElementType::kS32 : program.DrawType(kI | kF);
  const int64_t count = choices.Range(2, 24);
  Instruction* x = program.OperandOf(type, {count});
  // Written over only where the compiler owns it.
  if (by_itself) {
    Literal mask = GridScalar(Opcode::kAnd, type, choices);
    x = program.Binary(Opcode::kAnd, x, SplatOfLiteral(program, std::move(mask), x->shape()));
  } else {
    Instruction* term = program.ScalarConstant(type, choices.Range(0, 2));
    x = program.Binary(Opcode::kAdd, x, program.Splat(term, {count}));
  }
  Instruction* indices = x;
  Instruction* updates = x;
  if (by_itself) {
    updates = choices.Percent(40) ? x : program.OperandOf(type, {count});
  } else {
    Literal places(Shape::Array(ElementType::kS32, {count}));
    // A permutation, or what meets in places.
    const int64_t step = choices.Pick<int64_t>({1, -1, 2, 3}), first = choices.Range(0, count);
    for (int64_t i = 0; i < count; ++i)
      places.SetInteger(i, ((first + i * step) % count + count) % count);
    indices = program.Constant(std::move(places));
  }
  indices = program.Reshape(indices, {count, 1});
  Attributes attributes;
  attributes.Set(Attr::kUpdateWindowDims, DimVector{});
  attributes.Set(Attr::kInsertedWindowDims, {int64_t{0}});
  attributes.Set(Attr::kScatterDimsToOperandDims, {int64_t{0}});
  attributes.Set(Attr::kIndexVectorDim, AttrValue(int64_t{1}));
  Computation* combiner = Combining(program, type, choices.Percent(70));
  return program.Emit(Opcode::kScatter, Shape::Array(type, {count}), {x, indices, updates},
                      std::move(attributes), {combiner});
}

constexpr Recipe kRecipes[] = {
    {Opcode::kMaximum, "constant-grid", RecipeGroup::kElementwise, 26, BuildConstantGrid},
    {Opcode::kSubtract, "zero-signs", RecipeGroup::kElementwise, 8, BuildZeroSigns},
    {Opcode::kConvert, "type-ways", RecipeGroup::kElementwise, 10, BuildTypeWays},
    {Opcode::kCompare, "neighbours", RecipeGroup::kElementwise, 6, BuildNeighbours},
    {Opcode::kComplex, "complex-grid", RecipeGroup::kElementwise, 5, BuildComplexGrid},
    {Opcode::kDot, "complex-sum", RecipeGroup::kDot, 3, BuildComplexSum},
    {Opcode::kBitcastConvert, "complex-bits", RecipeGroup::kElementwise, 2, BuildComplexBits,
     kNotPortable},
    {Opcode::kScatter, "self-scatter", RecipeGroup::kIndex, 3, BuildSelfScatter},
};

}  // namespace

absl::Span<const Recipe> GridRecipes() { return kRecipes; }

}  // namespace assay
