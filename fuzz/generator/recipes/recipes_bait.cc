// Expressions that invite a compiler to conclude too much: results that look non-negative or
// bounded (requirement 30), functions that nearly undo each other, values that cancel (31),
// operands shared along a chain (3), loops whose trips are to be counted (17).
#include <algorithm>
#include <string_view>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

constexpr TypeMask kNumber = kI | kF;

Instruction* SplatOf(Program& program, Instruction* like, int64_t value) {
  Instruction* scalar = program.ScalarConstant(like->shape().element_type(), value);
  if (like->shape().rank() == 0) return scalar;
  return program.Splat(scalar, like->shape().dimensions());
}

// One of the values, or now and then another that rules ask about.
Instruction* SplatOfSome(Program& program, Opcode opcode, Instruction* like,
                         std::initializer_list<int64_t> of) {
  if (program.choices().Percent(40)) return program.BaitLike(like, opcode);
  return SplatOf(program, like, program.choices().Pick(of));
}

// ---- Ranges and signs.

// Something that an analysis may call non-negative, or bounded, and that may wrap.
Instruction* LooksBounded(Program& program, Instruction* value) {
  Choices& choices = program.choices();
  const ElementType type = value->shape().element_type();
  const bool is_integer = IsInteger(type), is_signed = is_integer && IsSigned(type);
  switch (choices.Weighted({is_signed || IsFloat(type) ? 4 : 0, 3, is_integer ? 2 : 0, 3,
                            is_integer ? 2 : 0, is_integer ? 2 : 0, 2, 3})) {
    case 0:
      return program.Unary(Opcode::kAbs, value);
    case 1:
      return program.Binary(Opcode::kMultiply, value, value);
    case 2:
      return program.Binary(Opcode::kAnd, value,
                            SplatOfSome(program, Opcode::kAnd, value, {1, 7, -2}));
    case 3:
      return program.Binary(Opcode::kRemainder, value,
                            SplatOfSome(program, Opcode::kRemainder, value, {2, 3, -3, -1}));
    case 4:
      return program.Unary(Opcode::kPopcnt, value);
    case 5:
      return program.Binary(Opcode::kShiftRightLogical, value,
                            SplatOfSome(program, Opcode::kShiftRightLogical, value,
                                        {0, 1, BitWidth(type) - 1, BitWidth(type)}));
    case 6:
      return program.Binary(Opcode::kMaximum, value, SplatOf(program, value, 0));
    default: {
      Instruction* low = program.ScalarConstant(type, choices.Pick<int64_t>({0, -1, 2}));
      Instruction* high = program.ScalarConstant(type, choices.Pick<int64_t>({1, 3, 0, -1}));
      return program.Emit(Opcode::kClamp, Shape::Array(type, value->shape().dimensions()),
                          {low, value, high});
    }
  }
}

// Adds an op whose result depends on the sign or the range of the value.
Instruction* AsksForRange(Program& program, Instruction* value) {
  Choices& choices = program.choices();
  const ElementType type = value->shape().element_type();
  const bool has_sign = IsFloat(type) || IsSigned(type);
  switch (choices.Weighted({8, has_sign ? 2 : 0, has_sign ? 2 : 0, 2, 3, 1})) {
    case 0: {
      const auto direction = static_cast<Direction>(choices.Draw(6));
      Instruction* bound = SplatOfSome(program, Opcode::kCompare, value, {0, 1, -1, 2});
      Instruction* which = choices.Percent(70) ? program.Compare(direction, value, bound)
                                               : program.Compare(direction, bound, value);
      return choices.Percent(50) ? which : program.Select(which, value, SplatOf(program, value, 5));
    }
    case 1:
      return program.Unary(Opcode::kAbs, value);
    case 2:
      return program.Unary(Opcode::kSign, value);
    case 3: {
      const Opcode opcode = choices.Percent(50) ? Opcode::kMaximum : Opcode::kMinimum;
      return program.Binary(opcode, value, SplatOfSome(program, opcode, value, {0, 1, -1}));
    }
    case 4:
      return program.Convert(value, program.DrawType(kP | kNumber));
    default:
      return program.Binary(Opcode::kDivide, value,
                            SplatOfSome(program, Opcode::kDivide, value, {2, 4, -1}));
  }
}

Instruction* BuildRangeBait(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kNumber);
  if (choices.Percent(20)) x = program.Convert(x, program.DrawType(kNumber));
  x = LooksBounded(program, x);
  if (choices.Percent(20)) x = LooksBounded(program, x);
  if (choices.Percent(20)) {
    const Opcode opcode = choices.Pick({Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply});
    x = program.Binary(opcode, x, SplatOf(program, x, choices.Pick<int64_t>({1, -1, 2})));
  }
  return AsksForRange(program, x);
}

// ---- Functions of functions.

const std::vector<Opcode>& Functions() {
  static const auto& functions = *new std::vector<Opcode>{Opcode::kExponential,
                                                          Opcode::kLog,
                                                          Opcode::kSqrt,
                                                          Opcode::kRsqrt,
                                                          Opcode::kAbs,
                                                          Opcode::kNegate,
                                                          Opcode::kSign,
                                                          Opcode::kFloor,
                                                          Opcode::kCeil,
                                                          Opcode::kTanh,
                                                          Opcode::kLogistic,
                                                          Opcode::kExponentialMinusOne,
                                                          Opcode::kLogPlusOne,
                                                          Opcode::kCbrt,
                                                          Opcode::kSine,
                                                          Opcode::kCosine,
                                                          Opcode::kTan,
                                                          Opcode::kErf,
                                                          Opcode::kRoundNearestEven,
                                                          Opcode::kRoundNearestAfz,
                                                          Opcode::kNot,
                                                          Opcode::kPopcnt,
                                                          Opcode::kClz,
                                                          Opcode::kReal,
                                                          Opcode::kImag,
                                                          Opcode::kIsFinite};
  return functions;
}

// A function that takes the type of the value and gives it back; the value itself where the draws
// hit none.
Instruction* SomeFunction(Program& program, Instruction* value) {
  const ElementType type = value->shape().element_type();
  for (int tries = 0; tries < 8; ++tries) {
    const Opcode opcode = program.choices().Pick(Functions());
    const bool gives_part = opcode == Opcode::kReal || opcode == Opcode::kImag ||
                            opcode == Opcode::kIsFinite ||
                            (opcode == Opcode::kAbs && IsComplex(type));
    const bool of_sign = opcode == Opcode::kAbs || opcode == Opcode::kSign;
    const bool says_nothing = of_sign && IsInteger(type) && IsUnsigned(type);
    const bool fits = Admits(opcode, type) && program.options().Takes(opcode);
    if (fits && !gives_part && !says_nothing) return program.Unary(opcode, value);
  }
  return value;
}

Instruction* BuildFunctionPair(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(choices.Percent(40) ? kF : kF | kI | kC);
  switch (choices.Weighted({40, 12, 12, 10, 10, 8, 8, 56})) {
    case 0:
      return SomeFunction(program, SomeFunction(program, x));
    case 1: {
      Instruction* a = SomeFunction(program, x);
      return program.Binary(Opcode::kMultiply, a,
                            choices.Percent(50) ? a : SomeFunction(program, x));
    }
    case 2: {
      Instruction* a = SomeFunction(program, x);
      return program.Binary(Opcode::kDivide, a, SomeFunction(program, x));
    }
    case 3: {
      Instruction* a = SomeFunction(program, x);
      return program.Binary(Opcode::kPower, a,
                            SplatOfSome(program, Opcode::kPower, a, {2, -1, 3, 0, -2}));
    }
    case 4:
      return SomeFunction(program, program.Unary(Opcode::kNegate, x));
    case 5: {
      Instruction* a = SomeFunction(program, x);
      Instruction* b = SomeFunction(program, program.OperandLike(x->shape()));
      return program.Binary(choices.Percent(50) ? Opcode::kMultiply : Opcode::kAdd, a, b);
    }
    case 6: {
      Instruction* a = SomeFunction(program, x);
      return program.Binary(Opcode::kSubtract, a, choices.Percent(50) ? a : x);
    }
    default: {  // a function of a product, a quotient or a power
      const Opcode opcode =
          choices.Pick({Opcode::kMultiply, Opcode::kMultiply, Opcode::kMultiply, Opcode::kDivide});
      Instruction* y = choices.Percent(40) ? x : program.OperandLike(x->shape());
      const Opcode outer =
          choices.Pick({Opcode::kSqrt, Opcode::kSqrt, Opcode::kSqrt, Opcode::kSqrt, Opcode::kSqrt,
                        Opcode::kSqrt, Opcode::kSqrt, Opcode::kRsqrt, Opcode::kLog,
                        Opcode::kExponential, Opcode::kAbs, Opcode::kCbrt, Opcode::kTanh});
      Instruction* inner = program.Binary(opcode, x, y);
      const bool fits = Admits(outer, x->shape().element_type()) &&
                        IsFloat(x->shape().element_type()) && program.options().Takes(outer);
      return fits ? program.Unary(outer, inner) : SomeFunction(program, inner);
    }
  }
}

// Builds a value that is a constant only after some steps: x ^ x, x - x, compares of equal values.
Instruction* BuildCancelling(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kNumber);
  const ElementType type = x->shape().element_type();
  Instruction* y = x;
  if (choices.Percent(30)) {
    // This computes the same value in another way.
    const ElementType wide = WiderType(type);
    y = wide == type ? program.Binary(Opcode::kAdd, x, SplatOf(program, x, 0))
                     : program.Convert(program.Convert(x, wide), type);
  }
  switch (choices.Weighted({IsInteger(type) ? 3 : 0, 3, 2, 3, 3})) {
    case 0:
      return program.Binary(Opcode::kXor, x, y);
    case 1:
      return program.Binary(Opcode::kSubtract, x, y);
    case 2:
      return program.Binary(Opcode::kMultiply, x, SplatOf(program, x, 0));
    case 3:
      return program.Binary(choices.Percent(50) ? Opcode::kDivide : Opcode::kRemainder, x, y);
    default:
      return program.Compare(static_cast<Direction>(choices.Draw(6)), x, y);
  }
}

// ---- Constants that may be joined.

struct OpPair {
  Opcode first, second;
};
constexpr OpPair kJoined[] = {
    {Opcode::kAdd, Opcode::kAdd},
    {Opcode::kAdd, Opcode::kSubtract},
    {Opcode::kSubtract, Opcode::kAdd},
    {Opcode::kSubtract, Opcode::kSubtract},
    {Opcode::kMultiply, Opcode::kMultiply},
    {Opcode::kMultiply, Opcode::kDivide},
    {Opcode::kDivide, Opcode::kMultiply},
    {Opcode::kDivide, Opcode::kDivide},
    {Opcode::kMultiply, Opcode::kAdd},
    {Opcode::kAdd, Opcode::kMultiply},
    {Opcode::kMultiply, Opcode::kRemainder},
    {Opcode::kAdd, Opcode::kRemainder},
    {Opcode::kRemainder, Opcode::kRemainder},
    {Opcode::kDivide, Opcode::kRemainder},
    {Opcode::kMaximum, Opcode::kMinimum},
    {Opcode::kMinimum, Opcode::kMaximum},
    {Opcode::kPower, Opcode::kPower},
    {Opcode::kPower, Opcode::kMultiply},
    {Opcode::kAnd, Opcode::kOr},
    {Opcode::kOr, Opcode::kAnd},
    {Opcode::kXor, Opcode::kAnd},
    {Opcode::kShiftLeft, Opcode::kShiftLeft},
    {Opcode::kShiftLeft, Opcode::kShiftRightLogical},
    {Opcode::kShiftLeft, Opcode::kShiftRightArithmetic},
    {Opcode::kShiftRightLogical, Opcode::kShiftRightLogical},
    {Opcode::kShiftRightLogical, Opcode::kShiftLeft},
    {Opcode::kShiftRightArithmetic, Opcode::kShiftRightArithmetic},
    {Opcode::kShiftRightLogical, Opcode::kAnd},
};

// A small number, one that the op is asked about, or one beside which the numbers of the arrays
// hardly count.
Instruction* ChainConstant(Program& program, Opcode opcode, Instruction* like) {
  Choices& choices = program.choices();
  const ElementType type = like->shape().element_type();
  const bool is_shift = opcode == Opcode::kShiftLeft || opcode == Opcode::kShiftRightLogical ||
                        opcode == Opcode::kShiftRightArithmetic;
  const int64_t digits =
      IsInteger(type) ? BitWidth(type) - 1 : Format(ComponentType(type)).precision();
  switch (choices.Weighted({4, 3, is_shift ? 0 : 3, is_shift ? 3 : 0})) {
    case 0:
      return program.BaitLike(like, opcode);
    case 1:
      return SplatOf(program, like, choices.Pick<int64_t>({2, 3, -1, 7, -5}));
    case 2:
      return SplatOf(program, like,
                     int64_t{1} << std::clamp<int64_t>(digits + choices.Range(-2, 3), 0, 62));
    default:
      return SplatOf(program, like, choices.Range(0, BitWidth(type)));
  }
}

// (x op c) op d, where what is between the constants may wrap, overflow, vanish, or swallow x; the
// second is often the first once more.
Instruction* BuildConstantChain(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kF | kI | kC);
  const ElementType type = x->shape().element_type();
  std::vector<OpPair> pairs;
  for (const OpPair& pair : kJoined) {
    const bool fits = Admits(pair.first, type) && Admits(pair.second, type) &&
                      program.options().Takes(pair.first) && program.options().Takes(pair.second);
    if (fits) pairs.push_back(pair);
  }
  if (pairs.empty()) return program.Unary(Opcode::kNegate, x);
  const OpPair pair = choices.Pick(pairs);
  const auto joined = [&](Opcode opcode, Instruction* value, Instruction* constant) {
    const bool is_left = choices.Percent(15);
    return is_left ? program.Binary(opcode, constant, value)
                   : program.Binary(opcode, value, constant);
  };
  Instruction* c = ChainConstant(program, pair.first, x);
  Instruction* d = choices.Percent(50) ? c : ChainConstant(program, pair.second, x);
  return joined(pair.second, joined(pair.first, x, c), d);
}

// ---- One op on the edges of a type.

constexpr Opcode kOfTwo[] = {Opcode::kAdd,
                             Opcode::kSubtract,
                             Opcode::kMultiply,
                             Opcode::kDivide,
                             Opcode::kRemainder,
                             Opcode::kPower,
                             Opcode::kMaximum,
                             Opcode::kMinimum,
                             Opcode::kAnd,
                             Opcode::kOr,
                             Opcode::kXor,
                             Opcode::kShiftLeft,
                             Opcode::kAtan2,
                             Opcode::kShiftRightLogical,
                             Opcode::kShiftRightArithmetic};

// Any type on which the op is defined, the rare ones as often as the others.
ElementType TypeFor(Program& program, Opcode opcode) {
  std::vector<ElementType> types;
  for (const absl::Span<const ElementType> list : {ComputedTypes(), RareTypes()}) {
    for (ElementType type : list) {
      if (Admits(opcode, type) && program.options().Takes(type)) types.push_back(type);
    }
  }
  return types.empty() ? ElementType::kS32 : program.choices().Pick(types);
}

// In a format that has no subnormals where the operand has some, or fewer.
Instruction* Rounded(Program& program, Instruction* operand) {
  Attributes attributes;
  attributes.Set(Attr::kExponentBits, AttrValue(program.choices().Range(1, 11)));
  attributes.Set(Attr::kMantissaBits, AttrValue(program.choices().Range(0, 24)));
  return program.Emit(Opcode::kReducePrecision, operand->shape(), {operand}, std::move(attributes));
}

// Several functions of the same numbers, if these are in a row.
Instruction* SideBySide(Program& program, Opcode first, Instruction* operand) {
  Choices& choices = program.choices();
  const ElementType type = operand->shape().element_type();
  std::vector<Instruction*> values = {program.Unary(first, operand)};
  const bool is_row = operand->shape().rank() > 0;
  const bool keeps_type = values[0]->shape().element_type() == type;
  for (int64_t more = is_row ? choices.Range(0, 4) : 0; more > 0; --more) {
    const Opcode other = choices.Pick(Functions());
    const bool gives_part = other == Opcode::kIsFinite || other == Opcode::kReal ||
                            other == Opcode::kImag || (other == Opcode::kAbs && IsComplex(type));
    const bool is_moot =
        (other == Opcode::kAbs || other == Opcode::kSign) && IsInteger(type) && IsUnsigned(type);
    if (gives_part || is_moot || !keeps_type || !Admits(other, type) ||
        !program.options().Takes(other)) {
      continue;
    }
    values.push_back(program.Unary(other, operand));
  }
  return values.size() == 1 ? values[0] : program.Concatenate(values, 0);
}

// A rare type, or any.
ElementType ConvertedTo(Program& program, ElementType type) {
  Choices& choices = program.choices();
  const ElementType rare = RareTypes()[choices.Draw(RareTypes().size())];
  if (choices.Percent(35) && !IsComplex(rare) && !IsComplex(type) && program.options().Takes(rare))
    return rare;
  return program.DrawType(choices.Percent(70) ? kP | kNumber : kF);
}

// Divisors 0 and -1, least integers, shifts at and past the width, exponents of both signs, the
// ends of floats: constants for the folder, parameters for the code, one of each for rewrites.
Instruction* BuildEdgeSweep(Program& program, Opcode) {
  Choices& choices = program.choices();
  const auto kind = choices.Weighted({5, 3, 2, 2, 1, 1, 1});
  Opcode opcode = kind == 0
                      ? choices.Pick(std::vector<Opcode>(std::begin(kOfTwo), std::end(kOfTwo)))
                  : kind == 1 ? choices.Pick(Functions())
                  : kind == 2 ? Opcode::kConvert
                  : kind == 3 ? Opcode::kCompare
                  : kind == 4 ? Opcode::kClamp
                  : kind == 5 ? Opcode::kReducePrecision
                              : Opcode::kSelect;
  ElementType type = TypeFor(program, opcode);
  // Few have it on floats of 8 bits.
  if (kind == 5 && BitWidth(type) <= 8) type = ElementType::kF16;
  const bool fits = Admits(opcode, type) && program.options().Takes(opcode);
  const bool is_moot =
      (opcode == Opcode::kAbs || opcode == Opcode::kSign) && IsInteger(type) && IsUnsigned(type);
  if (!fits || is_moot) return nullptr;
  DimVector dimensions;
  if (choices.Percent(85)) dimensions.push_back(choices.Range(2, 20));
  const Shape shape = Shape::Array(type, dimensions);
  const size_t constants = choices.Weighted({3, 3, 4});
  const ElementType to = kind == 2 ? ConvertedTo(program, type) : type;
  auto operand = [&](bool is_constant) {
    // Every number is an edge, or every other.
    const int64_t every = choices.Range(1, 2);
    const bool decides = kind == 2 && !IsComplex(type) && !IsPred(type) && choices.Percent(60);
    Literal edges = decides               ? LiteralNearCodes(shape, to, choices)
                    : choices.Percent(50) ? LiteralWithBait(opcode, shape, choices)
                                          : LiteralWithEdges(shape, 0, every, choices);
    if (!is_constant && program.scope().entry) return program.GivenParameter(std::move(edges));
    return program.Constant(std::move(edges));
  };
  Instruction* x = operand(constants == 2 || (constants == 1 && choices.Percent(50)));
  if (kind == 1) return SideBySide(program, opcode, x);
  if (kind == 2) return program.Convert(x, to);
  if (kind == 5) return Rounded(program, x);
  Instruction* y = operand(constants == 2 || (constants == 1 && x->opcode() != Opcode::kConstant));
  if (kind == 4) {
    Instruction* z = operand(constants > 0);
    return program.Emit(opcode, shape, {y, x, z});
  }
  if (kind == 6) {
    Instruction* which = program.Compare(Direction::kNe, x, choices.Percent(50) ? x : y);
    return program.Select(which, x, y);
  }
  if (kind == 3) return program.Compare(static_cast<Direction>(choices.Draw(6)), x, y);
  std::vector<Instruction*> values = {program.Binary(opcode, x, y)};
  for (int64_t more = dimensions.empty() ? 0 : choices.Range(0, 3); more > 0; --more) {
    const Opcode other = choices.Pick(std::vector<Opcode>(std::begin(kOfTwo), std::end(kOfTwo)));
    if (!Admits(other, type) || !program.options().Takes(other)) continue;
    values.push_back(program.Binary(other, x, y));
  }
  return values.size() == 1 ? values[0] : program.Concatenate(values, 0);
}

// ---- The same start, array or mask at several ops of a chain.

Instruction* BuildSharedStarts(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kP | kNumber | kC, 1);
  const absl::Span<const int64_t> dimensions = x->shape().dimensions();
  DimVector sizes;
  for (int64_t size : dimensions) sizes.push_back(size > 1 ? choices.Range(1, size) : size);
  const std::vector<Instruction*> starts = program.StartIndices(dimensions, sizes);
  Instruction* part = program.DynamicSlice(x, starts, sizes);
  switch (choices.Weighted({3, 3, 3, 3, 3, 3})) {
    case 4: {  // the same place once more, by less
      Instruction* once = program.DynamicUpdateSlice(x, program.OperandLike(part->shape()), starts);
      DimVector smaller;
      for (int64_t size : sizes) smaller.push_back(size > 1 ? choices.Range(1, size) : size);
      Instruction* less = program.OperandOf(x->shape().element_type(), smaller);
      return program.DynamicUpdateSlice(once, less, starts);
    }
    case 5:  // onto another array, or elsewhere
      if (choices.Percent(50)) {
        return program.DynamicUpdateSlice(program.OperandLike(x->shape()), part, starts);
      }
      return program.DynamicUpdateSlice(x, part, program.StartIndices(dimensions, sizes));
    case 0:  // read, modify, write to the same place
      if (!IsPred(x->shape().element_type())) part = program.Binary(Opcode::kAdd, part, part);
      return program.DynamicUpdateSlice(x, part, starts);
    case 1: {  // read what was written
      Instruction* update = program.OperandLike(part->shape());
      return program.DynamicSlice(program.DynamicUpdateSlice(x, update, starts), starts, sizes);
    }
    case 2: {  // the same place twice
      Instruction* update = program.OperandLike(part->shape());
      Instruction* once = program.DynamicUpdateSlice(x, update, starts);
      return program.DynamicUpdateSlice(once, part, starts);
    }
    default: {  // a slice of the slice from the same starts
      DimVector smaller;
      for (int64_t size : sizes) smaller.push_back(size > 1 ? choices.Range(1, size) : size);
      return program.DynamicSlice(part, starts, smaller);
    }
  }
}

Instruction* BuildSharedMask(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* a = program.Operand(kP | kNumber);
  Instruction* b = program.OperandLike(a->shape());
  Instruction* mask = program.OperandOf(ElementType::kPred, a->shape().dimensions());
  Instruction* inner = program.Select(mask, a, b);
  Instruction* other = choices.Percent(40) ? program.Unary(Opcode::kNot, mask) : mask;
  Instruction* c = choices.Percent(50) ? a : program.OperandLike(a->shape());
  return choices.Percent(50) ? program.Select(other, inner, c) : program.Select(other, c, inner);
}

// ---- Loops that only count.

struct CountedRange {
  ElementType type;
  int64_t start, bound, step;
  Direction direction;
};

CountedRange DrawRange(Program& program) {
  Choices& choices = program.choices();
  CountedRange range;
  range.type = program.DrawIndexType();
  range.step = choices.Pick<int64_t>({1, 2, 3, 5, 7});
  const bool descends = choices.Percent(30);
  if (descends) range.step = -range.step;
  range.start = choices.Pick<int64_t>({0, 1, -1, 3, 10, MaxOf(range.type), MinOf(range.type)});
  // Shorter than a step, empty, dividing, not dividing, the other way round.
  const int64_t length = choices.Pick<int64_t>({3, 0, 1, 4, 6, 7, 12, -1});
  range.bound = static_cast<int64_t>(static_cast<uint64_t>(range.start) +
                                     static_cast<uint64_t>(descends ? -length : length));
  range.direction = descends ? choices.Pick({Direction::kGt, Direction::kGe, Direction::kNe})
                             : choices.Pick({Direction::kLt, Direction::kLe, Direction::kNe});
  return range;
}

constexpr int64_t kMostTrips = 20;  // of what would run for ever

// A computation of one parameter, the state of a loop: opened, filled by `build`, closed.
template <typename F>
Computation* OfState(Program& program, std::string_view name, const Shape& state, F build) {
  Scope scope;
  scope.computation = program.NewComputation(name);
  scope.depth = program.scope().depth + 1;
  scope.trips = program.scope().trips * kMostTrips;
  scope.control = false;
  Scope* outer = program.EnterScope(&scope);
  Instruction* root = build(program.ScopeParameter(0, state));
  scope.computation->set_root(root);
  program.EnterScope(outer);
  return scope.computation;
}

// A loop with this state: the counter, how often the body ran, and the bound where that is in it.
Instruction* CountingLoop(Program& program, const CountedRange& range,
                          const std::vector<Instruction*>& state) {
  const bool bound_in_state = state.size() > 2;
  Instruction* init = program.Tuple(state);
  const Shape shape = init->shape();
  Computation* condition = OfState(program, "condition", shape, [&](Instruction* now) {
    Instruction* counter = program.GetTupleElement(now, 0);
    Instruction* bound = bound_in_state ? program.GetTupleElement(now, 2)
                                        : program.ScalarConstant(range.type, range.bound);
    Instruction* going = program.Compare(range.direction, counter, bound);
    Instruction* most = program.ScalarConstant(ElementType::kS32, kMostTrips);
    Instruction* trips = program.GetTupleElement(now, 1);
    return program.Binary(Opcode::kAnd, going, program.Compare(Direction::kLt, trips, most));
  });
  Computation* body = OfState(program, "body", shape, [&](Instruction* now) {
    Instruction* counter = program.GetTupleElement(now, 0);
    Instruction* step = program.ScalarConstant(range.type, range.step);
    Instruction* trips = program.GetTupleElement(now, 1);
    Instruction* one = program.ScalarConstant(ElementType::kS32, 1);
    std::vector<Instruction*> next;
    next.push_back(program.Binary(Opcode::kAdd, counter, step));
    next.push_back(program.Binary(Opcode::kAdd, trips, one));
    if (bound_in_state) next.push_back(program.GetTupleElement(now, 2));
    return program.Tuple(next);
  });
  return program.Emit(Opcode::kWhile, shape, {init}, {}, {condition, body});
}

// The last counter and the trips, in one array: outputs of one element show little.
Instruction* BuildTripCount(Program& program, Opcode) {
  if (!program.scope().control) return nullptr;
  Choices& choices = program.choices();
  const CountedRange range = DrawRange(program);
  const bool all_constant = choices.Percent(50);
  auto number = [&](int64_t value) {
    return all_constant ? program.ScalarConstant(range.type, value)
                        : program.KnownScalar(range.type, value);
  };
  std::vector<Instruction*> state;
  state.push_back(number(range.start));
  state.push_back(program.ScalarConstant(ElementType::kS32, 0));
  if (!all_constant && choices.Percent(50)) state.push_back(number(range.bound));
  Instruction* loop = CountingLoop(program, range, state);
  if (choices.Percent(30)) {
    // Runs the loop again from another start, perhaps one that only a run tells: what holds for the
    // body of one need not hold for the other.
    program.GetTupleElement(loop, 0);
    program.GetTupleElement(loop, 1);
    const int64_t by = choices.Pick<int64_t>({1, -1, range.step, 2, 50});
    state[0] = program.KnownScalar(
        range.type,
        static_cast<int64_t>(static_cast<uint64_t>(range.start) + static_cast<uint64_t>(by)));
    Instruction* init = program.Tuple(state);
    loop = program.Emit(Opcode::kWhile, init->shape(), {init}, {}, loop->callees());
  }
  Instruction* last = program.Convert(program.GetTupleElement(loop, 0), ElementType::kS64);
  Instruction* ran = program.Convert(program.GetTupleElement(loop, 1), ElementType::kS64);
  Instruction* row = program.Reshape(last, {1});
  Instruction* both = program.Concatenate({row, program.Reshape(ran, {1})}, 0);
  program.AlwaysShow(both);
  return both;
}

constexpr Recipe kRecipes[] = {
    {Opcode::kAbs, "range-bait", RecipeGroup::kElementwise, 31, BuildRangeBait},
    {Opcode::kExponential, "function-pair", RecipeGroup::kElementwise, 19, BuildFunctionPair},
    {Opcode::kXor, "cancelling", RecipeGroup::kElementwise, 5, BuildCancelling},
    {Opcode::kAdd, "constant-chain", RecipeGroup::kElementwise, 6, BuildConstantChain},
    {Opcode::kSelect, "shared-mask", RecipeGroup::kElementwise, 8, BuildSharedMask},
    {Opcode::kDynamicUpdateSlice, "shared-starts", RecipeGroup::kIndex, 8, BuildSharedStarts},
    {Opcode::kWhile, "trip-count", RecipeGroup::kControl, 5, BuildTripCount},
    {Opcode::kPower, "edge-sweep", RecipeGroup::kElementwise, 24, BuildEdgeSweep},
};

}  // namespace

absl::Span<const Recipe> BaitRecipes() { return kRecipes; }

}  // namespace assay
