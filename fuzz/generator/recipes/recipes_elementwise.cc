// Elementwise ops, converts, and the algebraic bait that simplifiers rewrite (requirements 29 to
// 31, 41, 46).
#include <algorithm>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

constexpr TypeMask kNumber = kI | kF;

TypeMask MaskOf(Opcode opcode) { return Info(opcode).types & kAnyArray; }

// Some implementations reject abs and sign on unsigned integers, where they say nothing.
TypeMask UnaryMask(const Program& program, Opcode opcode) {
  TypeMask mask = MaskOf(opcode);
  bool of_sign = opcode == Opcode::kAbs || opcode == Opcode::kSign;
  if (program.options().portable && of_sign) mask &= static_cast<TypeMask>(~kU);
  return mask;
}

Instruction* BuildUnary(Program& program, Opcode opcode) {
  return program.Unary(opcode, program.Operand(UnaryMask(program, opcode)));
}

// The other operand: the same value now and then, a splat constant often (that is what rules look
// for), any other otherwise.
Instruction* Partner(Program& program, Instruction* operand, int same_weight = 10,
                     Opcode opcode = Opcode::kAdd) {
  Choices& choices = program.choices();
  ElementType type = operand->shape().element_type();
  switch (choices.Weighted({55, same_weight, 35})) {
    case 0:
      return program.OperandLike(operand->shape());
    case 1:
      return operand;
    default:
      break;
  }
  if (choices.Percent(60)) return program.BaitLike(operand, opcode);
  Instruction* scalar = program.ScalarConstant(type, choices.Pick<int64_t>({0, 1, 2, -1, 3, 4}));
  if (operand->shape().rank() == 0) return scalar;
  return program.Splat(scalar, operand->shape().dimensions());
}

Instruction* BuildBinary(Program& program, Opcode opcode) {
  Instruction* x = program.Operand(MaskOf(opcode));
  // x - x and the like are bait for simplifiers, but hide what made x.
  bool cancels = opcode == Opcode::kSubtract || opcode == Opcode::kXor ||
                 opcode == Opcode::kDivide || opcode == Opcode::kRemainder;
  Instruction* y = Partner(program, x, cancels ? 3 : 10, opcode);
  if (program.choices().Percent(30)) std::swap(x, y);
  return program.Binary(opcode, x, y);
}

// Powers with small exponents for the most part; anything else mostly overflows.
Instruction* BuildPower(Program& program, Opcode opcode) {
  Instruction* x = program.Operand(MaskOf(opcode));
  Choices& choices = program.choices();
  const ElementType type = x->shape().element_type();
  switch (choices.Weighted({55, 15, 15, IsFloat(type) ? 15 : 0})) {
    case 0:
      break;
    case 1:
      return program.Binary(opcode, x, program.OperandLike(x->shape()));
    case 2:
      return program.Binary(opcode, x, program.BaitLike(x, opcode));
    default: {
      Literal half(Shape::Scalar(type));
      half.SetDouble(0, choices.Pick({0.5, -0.5, 1.5, -1.5, 0.25, 2.5}));
      Instruction* scalar = program.Constant(std::move(half));
      const bool is_scalar = x->shape().rank() == 0;
      return program.Binary(opcode, x,
                            is_scalar ? scalar : program.Splat(scalar, x->shape().dimensions()));
    }
  }
  int64_t exponent = choices.Pick<int64_t>({2, 0, 1, 3, -1, -2, 4});
  Instruction* y = program.ScalarConstant(x->shape().element_type(), exponent);
  if (x->shape().rank() > 0) y = program.Splat(y, x->shape().dimensions());
  return program.Binary(opcode, x, y);
}

Instruction* BuildCompare(Program& program, Opcode opcode) {
  Instruction* x = program.Operand(kAnyArray);
  Instruction* y = Partner(program, x, 3, opcode);
  // Complex numbers are equal or not, and have no order.
  const Direction direction =
      IsComplex(x->shape().element_type())
          ? program.choices().Pick<Direction>({Direction::kEq, Direction::kNe})
          : static_cast<Direction>(program.choices().Draw(6));
  Instruction* truth = program.CompareInSomeOrder(direction, x, y);
  return program.choices().Percent(25) ? program.Unary(Opcode::kNot, truth) : truth;
}

// Two comparisons of one value with neighbouring constants, joined: range checks that simplifiers
// merge.
Instruction* BuildComparePair(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kNumber);
  ElementType type = x->shape().element_type();
  int64_t low = choices.Range(IsUnsigned(type) ? 0 : -3, 3);
  int64_t high = low + choices.Range(0, 2);
  Instruction* sides[2];
  int64_t limits[2] = {low, high};
  // About the ends of an integer type, of this one or another, every third time.
  if (IsInteger(type) && choices.Percent(35)) {
    const int64_t end = choices.Pick<int64_t>({MinOf(type), MaxOf(type), 127, -128, 255, 32767});
    for (int64_t& limit : limits) {
      limit = static_cast<int64_t>(static_cast<uint64_t>(end) +
                                   static_cast<uint64_t>(choices.Range(-1, 1)));
    }
  }
  for (int i = 0; i < 2; ++i) {
    Instruction* limit = program.ScalarConstant(type, limits[i]);
    if (x->shape().rank() > 0) limit = program.Splat(limit, x->shape().dimensions());
    Direction direction = static_cast<Direction>(choices.Draw(6));
    bool swapped = choices.Percent(50);
    sides[i] =
        swapped ? program.Compare(direction, limit, x) : program.Compare(direction, x, limit);
  }
  return program.Binary(choices.Percent(50) ? Opcode::kAnd : Opcode::kOr, sides[0], sides[1]);
}

Instruction* BuildSelect(Program& program, Opcode) {
  Instruction* x = program.Operand(kAnyArray);
  Instruction* y = Partner(program, x);
  bool scalar = program.choices().Percent(15);
  Instruction* pred = scalar ? program.OperandOf(ElementType::kPred, {})
                             : program.OperandOf(ElementType::kPred, x->shape().dimensions());
  if (program.choices().Percent(20)) pred = program.Unary(Opcode::kNot, pred);
  return program.Select(pred, x, y);
}

Instruction* ClampOf(Program& program, Instruction* operand) {
  Choices& choices = program.choices();
  ElementType type = operand->shape().element_type();
  Instruction* limits[2];
  bool scalars = choices.Percent(60);
  for (Instruction*& limit : limits) {
    if (choices.Percent(50)) {
      limit = program.OperandOf(
          type, scalars ? absl::Span<const int64_t>() : operand->shape().dimensions());
      continue;
    }
    limit = choices.Percent(35)
                ? program.Constant(BaitScalarFor(Opcode::kClamp, type, choices))
                : program.ScalarConstant(type, choices.Range(IsUnsigned(type) ? 0 : -3, 4));
    if (!scalars && operand->shape().rank() > 0)
      limit = program.Splat(limit, operand->shape().dimensions());
  }
  return program.Emit(Opcode::kClamp, Shape::Array(type, operand->shape().dimensions()),
                      {limits[0], operand, limits[1]});
}

Instruction* BuildClamp(Program& program, Opcode) {
  return ClampOf(program, program.Operand(kP | kNumber));
}

// Nested limits, in either order of the constants.
Instruction* BuildMinMaxNest(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kNumber);
  ElementType type = x->shape().element_type();
  int64_t depth = choices.Range(2, 3);
  for (int64_t i = 0; i < depth; ++i) {
    Instruction* limit =
        choices.Percent(40)
            ? program.Constant(BaitScalarFor(Opcode::kClamp, type, choices))
            : program.ScalarConstant(type, choices.Range(IsUnsigned(type) ? 0 : -2, 3));
    if (x->shape().rank() > 0) limit = program.Splat(limit, x->shape().dimensions());
    Opcode opcode = choices.Percent(50) ? Opcode::kMaximum : Opcode::kMinimum;
    x = choices.Percent(50) ? program.Binary(opcode, limit, x) : program.Binary(opcode, x, limit);
  }
  return choices.Percent(30) ? ClampOf(program, x) : x;
}

// A type to convert to: integers below a byte, floats of 4 and 8 bits and complex numbers among
// them. Of a complex number XLA takes no part by itself.
ElementType AnyType(Program& program, ElementType from) {
  Choices& choices = program.choices();
  if (choices.Percent(20)) {
    const ElementType rare = RareTypes()[choices.Draw(RareTypes().size())];
    const bool is_promised = IsComplex(rare) || !IsComplex(from) || !program.options().portable;
    if (is_promised && program.options().Takes(rare)) return rare;
  }
  if (IsComplex(from) && program.options().portable) {
    const ElementType other = from == ElementType::kC64 ? ElementType::kC128 : ElementType::kC64;
    return program.options().Takes(other) ? other : from;
  }
  return ComputedTypes()[choices.Draw(ComputedTypes().size())];
}

Instruction* BuildConvert(Program& program, Opcode) {
  Instruction* x = program.Operand(kAnyArray);
  return program.Convert(x, AnyType(program, x->shape().element_type()));
}

// Down and up again, there and back: what is lost on the way must stay lost.
Instruction* BuildConvertChain(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kAnyArray);
  ElementType home = x->shape().element_type();
  x = program.Convert(x, AnyType(program, home));
  ElementType type = x->shape().element_type();
  if (choices.Percent(40) && !IsPred(type)) x = program.Binary(Opcode::kAdd, x, x);
  const bool goes_home = IsComplex(home) || !IsComplex(type) || !program.options().portable;
  return program.Convert(x, goes_home && choices.Percent(60) ? home : AnyType(program, type));
}

// Through a type that C++ does not compute, with some arithmetic there.
Instruction* BuildNarrowDetour(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kNumber);
  const ElementType home = x->shape().element_type();
  const ElementType type =
      IsFloat(home)
          ? choices.Pick({ElementType::kF8E5M2, ElementType::kF8E4M3FN, ElementType::kF8E4M3FNUZ,
                          ElementType::kF8E5M2FNUZ, ElementType::kF8E4M3B11FNUZ,
                          ElementType::kF8E3M4})
          : choices.Pick({ElementType::kS4, ElementType::kU4, ElementType::kS2, ElementType::kU2});
  if (!program.options().Takes(type)) return nullptr;
  x = program.Convert(x, type);
  switch (choices.Draw(4)) {
    case 0:
      break;
    case 1:
      x = program.Binary(Opcode::kAdd, x, x);
      break;
    case 2:
      x = program.Binary(Opcode::kMultiply, x, x);
      break;
    default:
      x = program.Unary(Opcode::kNegate, x);
  }
  return program.Convert(x, home);
}

// A complex number from two parts, some arithmetic, and one part of it.
Instruction* BuildComplex(Program& program, Opcode) {
  Choices& choices = program.choices();
  const bool wide = choices.Percent(25);
  const ElementType part = wide ? ElementType::kF64 : ElementType::kF32;
  const ElementType type = wide ? ElementType::kC128 : ElementType::kC64;
  if (!program.options().Takes(type) || !program.options().Takes(part)) return nullptr;
  const DimVector dimensions = program.DrawDimensions();
  const Shape shape = Shape::Array(type, dimensions);
  auto complex = [&] {
    Instruction* real = program.OperandOf(part, dimensions);
    Instruction* imaginary = program.OperandOf(part, dimensions);
    return program.Emit(Opcode::kComplex, shape, {real, imaginary});
  };
  Instruction* z = complex();
  switch (choices.Draw(3)) {
    case 0: {
      Instruction* other = complex();
      z = program.Emit(choices.Pick({Opcode::kAdd, Opcode::kMultiply, Opcode::kSubtract}), shape,
                       {z, other});
      break;
    }
    case 1:
      z = program.Emit(choices.Pick({Opcode::kNegate, Opcode::kExponential, Opcode::kSqrt}), shape,
                       {z});
      break;
    default:
      break;
  }
  return program.Emit(choices.Pick({Opcode::kReal, Opcode::kImag, Opcode::kAbs}),
                      Shape::Array(part, dimensions), {z});
}

// Formats around those that exist, and beyond the operand's own.
Instruction* BuildReducePrecision(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kF);
  Attributes attributes;
  attributes.Set(Attr::kExponentBits, AttrValue(choices.Range(1, 11)));
  attributes.Set(Attr::kMantissaBits, AttrValue(choices.Range(0, 24)));
  return program.Emit(Opcode::kReducePrecision, x->shape(), {x}, std::move(attributes));
}

// The unsigned type as wide as a type of floats; pred where there is none.
ElementType BitsOf(ElementType type) {
  switch (BitWidth(type)) {
    case 4:
      return ElementType::kU4;
    case 8:
      return ElementType::kU8;
    case 16:
      return ElementType::kU16;
    case 32:
      return ElementType::kU32;
    case 64:
      return ElementType::kU64;
    default:
      return ElementType::kPred;
  }
}

// Random bits are operands like others; splats of small numbers would always round one way.
Instruction* BuildStochasticConvert(Program& program, Opcode opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kF);
  const ElementType bits = BitsOf(x->shape().element_type());
  if (IsPred(bits) || !program.options().Takes(bits)) return nullptr;
  Instruction* random = program.OperandOf(bits, x->shape().dimensions());
  const ElementType to =
      choices.Percent(70)
          ? choices.Pick({ElementType::kS8, ElementType::kS16, ElementType::kS32, ElementType::kU8})
          : choices.Pick({ElementType::kBF16, ElementType::kF16, ElementType::kF32});
  if (!program.options().Takes(to)) return nullptr;
  return program.Emit(opcode, Shape::Array(to, x->shape().dimensions()), {x, random});
}

// Inverse pairs of unary ops, by what they need of the type.
struct InversePair {
  Opcode inner, outer;
};
constexpr InversePair kInversePairs[] = {
    {Opcode::kNegate, Opcode::kNegate},   {Opcode::kNot, Opcode::kNot},
    {Opcode::kExponential, Opcode::kLog}, {Opcode::kAbs, Opcode::kAbs},
    {Opcode::kNegate, Opcode::kAbs},      {Opcode::kExponential, Opcode::kExponential},
    {Opcode::kAbs, Opcode::kSqrt},        {Opcode::kSign, Opcode::kAbs},
    {Opcode::kFloor, Opcode::kFloor},     {Opcode::kCeil, Opcode::kFloor},
    {Opcode::kLog, Opcode::kExponential}, {Opcode::kTanh, Opcode::kNegate},
};

Instruction* BuildInversePair(Program& program, Opcode) {
  const InversePair& pair = kInversePairs[program.choices().Draw(std::size(kInversePairs))];
  if (!Info(pair.inner).IsDefined() || !Info(pair.outer).IsDefined()) return nullptr;
  TypeMask mask = UnaryMask(program, pair.inner) & UnaryMask(program, pair.outer);
  Instruction* x = program.Operand(mask);
  return program.Unary(pair.outer, program.Unary(pair.inner, x));
}

// x op x, x op 0, x op 1 and their like in one step more than the simplest form.
Instruction* BuildIdentity(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kNumber);
  ElementType type = x->shape().element_type();
  auto splat = [&](int64_t value) {
    Instruction* scalar = program.ScalarConstant(type, value);
    return x->shape().rank() == 0 ? scalar : program.Splat(scalar, x->shape().dimensions());
  };
  switch (choices.Draw(10)) {
    case 8:
      return program.Binary(Opcode::kRemainder, x, splat(choices.Pick<int64_t>({2, 4, 8, 16, 3})));
    case 9:
      return program.Binary(Opcode::kMultiply, x, splat(choices.Pick<int64_t>({2, 4, 8, -1})));
    case 0:
      return program.Binary(Opcode::kAdd, x, splat(0));
    case 1:
      return program.Binary(Opcode::kMultiply, splat(1), x);
    case 2:
      return program.Binary(Opcode::kMultiply, x, splat(0));
    case 3:
      return program.Binary(Opcode::kSubtract, x, x);
    case 4:
      return program.Binary(Opcode::kDivide, x, splat(choices.Pick<int64_t>({1, 2, 3, 8})));
    case 5:
      return program.Binary(Opcode::kDivide, x, x);
    case 6:
      return program.Binary(Opcode::kSubtract, splat(0), x);
    default: {
      Instruction* up = program.Binary(Opcode::kAdd, x, splat(1));
      return program.Binary(Opcode::kAdd, splat(-1), up);
    }
  }
}

// a*c + b*c, (a+b)-b, (x+c1)+c2, (x*c1)*c2.
Instruction* BuildDistribute(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* a = program.Operand(kNumber);
  Instruction* b = program.OperandLike(a->shape());
  switch (choices.Draw(4)) {
    case 0: {
      Instruction* c = Partner(program, a);
      Instruction* left = program.Binary(Opcode::kMultiply, a, c);
      Instruction* right = program.Binary(Opcode::kMultiply, b, c);
      return program.Binary(Opcode::kAdd, left, right);
    }
    case 1: {
      Instruction* sum = program.Binary(Opcode::kAdd, a, b);
      return program.Binary(Opcode::kSubtract, sum, b);
    }
    case 2: {
      Instruction* sum = program.Binary(Opcode::kAdd, a, Partner(program, a));
      return program.Binary(Opcode::kAdd, sum, Partner(program, sum));
    }
    default: {
      Instruction* product = program.Binary(Opcode::kMultiply, a, Partner(program, a));
      return program.Binary(Opcode::kMultiply, product, Partner(program, a));
    }
  }
}

// A value with two users that meet again.
Instruction* BuildDiamond(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kNumber);
  Opcode left =
      choices.Pick({Opcode::kAdd, Opcode::kMultiply, Opcode::kMaximum, Opcode::kSubtract});
  Opcode right = choices.Pick({Opcode::kMinimum, Opcode::kAdd, Opcode::kMultiply});
  Instruction* a = program.Binary(left, x, Partner(program, x));
  Instruction* b = program.Binary(right, x, Partner(program, x));
  return program.Binary(choices.Pick({Opcode::kSubtract, Opcode::kAdd, Opcode::kMaximum}), a, b);
}

constexpr RecipeGroup kGroup = RecipeGroup::kElementwise;
constexpr Recipe kRecipes[] = {
    {Opcode::kAdd, "add", kGroup, 6, BuildBinary},
    {Opcode::kSubtract, "subtract", kGroup, 5, BuildBinary},
    {Opcode::kMultiply, "multiply", kGroup, 5, BuildBinary},
    {Opcode::kDivide, "divide", kGroup, 4, BuildBinary},
    {Opcode::kRemainder, "remainder", kGroup, 2, BuildBinary},
    {Opcode::kMaximum, "maximum", kGroup, 4, BuildBinary},
    {Opcode::kMinimum, "minimum", kGroup, 4, BuildBinary},
    {Opcode::kAnd, "and", kGroup, 3, BuildBinary},
    {Opcode::kOr, "or", kGroup, 3, BuildBinary},
    {Opcode::kXor, "xor", kGroup, 3, BuildBinary},
    {Opcode::kShiftLeft, "shift-left", kGroup, 2, BuildBinary},
    {Opcode::kShiftRightArithmetic, "shift-right-arithmetic", kGroup, 2, BuildBinary},
    {Opcode::kShiftRightLogical, "shift-right-logical", kGroup, 2, BuildBinary},
    {Opcode::kPower, "power", kGroup, 2, BuildPower},
    {Opcode::kAtan2, "atan2", kGroup, 1, BuildBinary},
    {Opcode::kMulhi, "mulhi", kGroup, 2, BuildBinary, kNotPortable},
    {Opcode::kAbs, "abs", kGroup, 3, BuildUnary},
    {Opcode::kNegate, "negate", kGroup, 3, BuildUnary},
    {Opcode::kSign, "sign", kGroup, 2, BuildUnary},
    {Opcode::kNot, "not", kGroup, 2, BuildUnary},
    {Opcode::kPopcnt, "popcnt", kGroup, 1, BuildUnary},
    {Opcode::kClz, "count-leading-zeros", kGroup, 1, BuildUnary},
    {Opcode::kCeil, "ceil", kGroup, 2, BuildUnary},
    {Opcode::kFloor, "floor", kGroup, 2, BuildUnary},
    {Opcode::kRoundNearestAfz, "round-nearest-afz", kGroup, 2, BuildUnary},
    {Opcode::kRoundNearestEven, "round-nearest-even", kGroup, 2, BuildUnary},
    {Opcode::kIsFinite, "is-finite", kGroup, 2, BuildUnary},
    {Opcode::kExponential, "exponential", kGroup, 3, BuildUnary},
    {Opcode::kExponentialMinusOne, "exponential-minus-one", kGroup, 1, BuildUnary},
    {Opcode::kLog, "log", kGroup, 2, BuildUnary},
    {Opcode::kLogPlusOne, "log-plus-one", kGroup, 1, BuildUnary},
    {Opcode::kLogistic, "logistic", kGroup, 2, BuildUnary},
    {Opcode::kTanh, "tanh", kGroup, 2, BuildUnary},
    {Opcode::kSqrt, "sqrt", kGroup, 2, BuildUnary},
    {Opcode::kRsqrt, "rsqrt", kGroup, 2, BuildUnary},
    {Opcode::kCbrt, "cbrt", kGroup, 1, BuildUnary},
    {Opcode::kSine, "sine", kGroup, 1, BuildUnary},
    {Opcode::kCosine, "cosine", kGroup, 1, BuildUnary},
    {Opcode::kTan, "tan", kGroup, 1, BuildUnary},
    {Opcode::kErf, "erf", kGroup, 1, BuildUnary},
    {Opcode::kAcos, "acos", kGroup, 1, BuildUnary},
    {Opcode::kAcosh, "acosh", kGroup, 1, BuildUnary},
    {Opcode::kAsin, "asin", kGroup, 1, BuildUnary},
    {Opcode::kAsinh, "asinh", kGroup, 1, BuildUnary},
    {Opcode::kAtanh, "atanh", kGroup, 1, BuildUnary},
    {Opcode::kSinh, "sinh", kGroup, 1, BuildUnary},
    {Opcode::kCosh, "cosh", kGroup, 1, BuildUnary},
    {Opcode::kComplex, "complex", kGroup, 3, BuildComplex},
    {Opcode::kConvert, "narrow-detour", kGroup, 3, BuildNarrowDetour},
    {Opcode::kReal, "real", kGroup, 1, BuildUnary},
    {Opcode::kImag, "imag", kGroup, 1, BuildUnary},
    {Opcode::kCompare, "compare", kGroup, 5, BuildCompare},
    {Opcode::kCompare, "compare-pair", kGroup, 4, BuildComparePair},
    {Opcode::kSelect, "select", kGroup, 5, BuildSelect},
    {Opcode::kClamp, "clamp", kGroup, 4, BuildClamp},
    {Opcode::kMaximum, "min-max-nest", kGroup, 4, BuildMinMaxNest},
    {Opcode::kConvert, "convert", kGroup, 6, BuildConvert},
    {Opcode::kConvert, "convert-chain", kGroup, 6, BuildConvertChain},
    {Opcode::kReducePrecision, "reduce-precision", kGroup, 2, BuildReducePrecision},
    {Opcode::kStochasticConvert, "stochastic-convert", kGroup, 1, BuildStochasticConvert,
     kNotPortable},
    {Opcode::kNegate, "inverse-pair", kGroup, 16, BuildInversePair},
    {Opcode::kAdd, "identity", kGroup, 7, BuildIdentity},
    {Opcode::kMultiply, "distribute", kGroup, 5, BuildDistribute},
    {Opcode::kSubtract, "diamond", kGroup, 5, BuildDiamond},
};

}  // namespace

absl::Span<const Recipe> ElementwiseRecipes() { return kRecipes; }

}  // namespace assay
