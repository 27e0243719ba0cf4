// Argument reductions and polynomials of f32 functions.
#include "optimized/codegen/functions/float_functions.h"

#include <limits>

#include "optimized/codegen/functions/lanes.h"

namespace assay {

using llvm::Value;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The formulas of f32 also need integers of 32 bits and doubles.
class Floats : public Lanes {
 public:
  Floats(ValueBuilder& b, Value* like) : Lanes(b, like) {
    f64_ = ValueBuilder::WithWidth(ir().getDoubleTy(), width());
  }
  llvm::Type* f32() const { return type(); }
  llvm::Type* i32() const { return integer_type(); }
  llvm::Type* f64() const { return f64_; }
  // 2^k for integers k from -126 to 127.
  Value* PowerOfTwo(Value* k) {
    return FromBits(ir().CreateShl(ir().CreateAdd(k, Int(127)), Int(23)));
  }

 private:
  llvm::Type* f64_;
};

// e^r = 1 + r + r^2 Q(r) for |r| <= ln 2 / 2, to 2^-28.
constexpr double kExpQ[] = {0.5, 0.166665181517601, 0.04166620597243309, 0.008368954062461853,
                            0.0013950599823147058};

// x = k ln 2 + r; k as a float and as an integer. |x| must be at most 128.
struct ExpReduction {
  Value *k, *integer, *r;
};
ExpReduction ReduceExp(Floats& f, Value* x) {
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
  Value* shift = f.Of(12582912);
  Value* shifted = f.Add(f.Mul(x, f.Of(1.44269504088896341)), shift);
  Value* k = f.Sub(shifted, shift);
  // The first part of ln 2 has so few bits that its product with k is exact.
  Value* r = f.MulAdd(k, f.Of(-0.693359375), x);
  r = f.MulAdd(k, f.Of(2.12194440054690583e-4), r);
  Value* integer = f.ir().CreateSub(f.Bits(shifted), f.Bits(shift));
  return {k, integer, r};
}

Value* Clamp(Floats& f, Value* x, double low, double high) {
  // NaN fails both comparisons and passes through.
  x = f.Select(f.ir().CreateFCmpOGT(x, f.Of(high)), f.Of(high), x);
  return f.Select(f.ir().CreateFCmpOLT(x, f.Of(low)), f.Of(low), x);
}

Value* Exp(Floats& f, Value* x) {
  // Beyond these every result is infinite, or zero.
  ExpReduction e = ReduceExp(f, Clamp(f, x, -104, 89));
  Value* p = f.MulAdd(f.Mul(e.r, e.r), f.Polynomial(e.r, kExpQ), e.r);
  p = f.Add(p, f.Of(1));
  // In two steps, so that 2^k overflows or becomes subnormal only where the result does.
  Value* half = f.ir().CreateAShr(e.integer, f.Int(1));
  Value* rest = f.ir().CreateSub(e.integer, half);
  return f.Mul(f.Mul(p, f.PowerOfTwo(half)), f.PowerOfTwo(rest));
}

// log(1 + t) = t - t^2 / 2 + t^3 R(t) for 1 + t from sqrt(1/2) to sqrt(2), to 2^-30.
constexpr double kLogR[] = {0.3333331048488617,   -0.24999986588954926, 0.20002226531505585,
                            -0.16669251024723053, 0.14218658208847046,  -0.1238434836268425,
                            0.11872976273298264,  -0.11789807677268982, 0.06915368139743805};

// e ln 2 + log(1 + t) + rest, e small and whole.
Value* LogOfParts(Floats& f, Value* e, Value* t, Value* rest) {
  Value* t2 = f.Mul(t, t);
  Value* small = f.Mul(f.Mul(t2, t), f.Polynomial(t, kLogR));
  small = f.MulAdd(e, f.Of(-2.12194440054690583e-4), small);
  if (rest != nullptr) small = f.Add(small, rest);
  small = f.MulAdd(t2, f.Of(-0.5), small);
  return f.MulAdd(e, f.Of(0.693359375), f.Add(t, small));
}

// x = 2^e (1 + t), x positive and normal.
void SplitSignificand(Floats& f, Value* x, Value*& e, Value*& t) {
  llvm::IRBuilder<>& ir = f.ir();
  Value* offset = ir.CreateSub(f.Bits(x), f.Int(0x3F3504F3));  // sqrt(1/2)
  Value* integer = ir.CreateAShr(offset, f.Int(23));
  Value* m = f.FromBits(ir.CreateSub(f.Bits(x), ir.CreateShl(integer, f.Int(23))));
  e = ir.CreateSIToFP(integer, f.f32());
  t = f.Sub(m, f.Of(1));
}

// The results of log at `x` where it is no positive finite number.
Value* LogAtEnds(Floats& f, Value* x, Value* result) {
  llvm::IRBuilder<>& ir = f.ir();
  result = f.Select(ir.CreateFCmpOEQ(x, f.Of(kInfinity)), x, result);
  result = f.Select(ir.CreateFCmpOEQ(x, f.Of(0)), f.Of(-kInfinity), result);
  return f.Select(ir.CreateFCmpULT(x, f.Of(0)), f.Of(std::numeric_limits<double>::quiet_NaN()),
                  result);
}

// Sine and cosine of r, |r| <= pi / 4, to 2^-37.
constexpr double kSine[] = {-0.1666666716337204, 0.008333329111337662, -0.00019839327433146536,
                            2.71823728326126e-06};
constexpr double kCosine[] = {0.0416666679084301, -0.0013888883404433727, 2.479951217537746e-05,
                              -2.720954626056482e-07};

Value* Trigonometric(ValueBuilder& b, Value* x, bool cosine) {
  Floats f(b, x);
  llvm::IRBuilder<>& ir = f.ir();
  // x = k pi / 2 + r in doubles: the first two parts of pi / 2 have 33 bits, so that products with
  // k are exact.
  Value* wide = ir.CreateFPExt(x, f.f64());
  auto wide_of = [&](double value) { return b.Float(f.f64(), value); };
  Value* shift = wide_of(6755399441055744.0);
  Value* shifted = ir.CreateFAdd(ir.CreateFMul(wide, wide_of(0.63661977236758134)), shift);
  Value* k = ir.CreateFSub(shifted, shift);
  Value* r = ir.CreateFSub(wide, ir.CreateFMul(k, wide_of(1.57079632673412561417e+00)));
  r = ir.CreateFSub(r, ir.CreateFMul(k, wide_of(6.07710050630396597660e-11)));
  r = ir.CreateFSub(r, ir.CreateFMul(k, wide_of(2.02226624879595063154e-21)));
  r = ir.CreateFPTrunc(r, f.f32());
  llvm::Type* i64 = ValueBuilder::WithWidth(ir.getInt64Ty(), f.width());
  Value* quarter = ir.CreateTrunc(ir.CreateBitCast(shifted, i64), f.i32());
  if (cosine) quarter = ir.CreateAdd(quarter, f.Int(1));

  Value* r2 = f.Mul(r, r);
  Value* sine = f.MulAdd(f.Mul(r, r2), f.Polynomial(r2, kSine), r);
  Value* even =
      f.MulAdd(f.Mul(r2, r2), f.Polynomial(r2, kCosine), f.MulAdd(r2, f.Of(-0.5), f.Of(1)));
  Value* odd_quarter = ir.CreateICmpNE(ir.CreateAnd(quarter, f.Int(1)), f.Int(0));
  Value* result = f.Select(odd_quarter, even, sine);
  Value* sign = ir.CreateShl(ir.CreateAnd(quarter, f.Int(2)), f.Int(30));
  result = f.FromBits(ir.CreateXor(f.Bits(result), sign));
  // -0 and what is too small for the sum above keep their bits.
  if (!cosine) result = f.Select(ir.CreateFCmpOEQ(x, f.Of(0)), x, result);

  Value* far = ir.CreateFCmpOGT(f.Abs(x), f.Of(1 << 20));
  return f.FromLibrary(cosine ? "cos_f32" : "sin_f32", far, x, result);
}

}  // namespace

Value* EmitExpF32(ValueBuilder& b, Value* x) {
  Floats f(b, x);
  return Exp(f, x);
}

Value* EmitExpm1F32(ValueBuilder& b, Value* x) {
  Floats f(b, x);
  ExpReduction e = ReduceExp(f, Clamp(f, x, -20, 89));
  Value* p = f.MulAdd(f.Mul(e.r, e.r), f.Polynomial(e.r, kExpQ), e.r);
  // 2^k (1 + p) - 1, at half its size: 2^128 is no float.
  Value* half = f.PowerOfTwo(f.ir().CreateSub(e.integer, f.Int(1)));
  Value* result = f.MulAdd(half, p, f.Sub(half, f.Of(0.5)));
  result = f.Add(result, result);
  // Numbers so small that the result is the argument itself, -0 included.
  Value* tiny = f.ir().CreateFCmpOLT(f.Abs(x), f.Of(0x1p-25));
  return f.Select(tiny, x, result);
}

Value* EmitLogF32(ValueBuilder& b, Value* x) {
  Floats f(b, x);
  llvm::IRBuilder<>& ir = f.ir();
  Value* subnormal = ir.CreateFCmpOLT(x, f.Of(0x1p-126));
  Value* normal = f.Select(subnormal, f.Mul(x, f.Of(0x1p23)), x);
  Value *e = nullptr, *t = nullptr;
  SplitSignificand(f, normal, e, t);
  e = f.Select(subnormal, f.Sub(e, f.Of(23)), e);
  return LogAtEnds(f, x, LogOfParts(f, e, t, nullptr));
}

Value* EmitLog1pF32(ValueBuilder& b, Value* x) {
  Floats f(b, x);
  llvm::IRBuilder<>& ir = f.ir();
  Value* u = f.Add(x, f.Of(1));
  Value *e = nullptr, *t = nullptr;
  SplitSignificand(f, u, e, t);
  // Near zero x itself is what the series wants; elsewhere what 1 + x has lost is added back.
  Value* near_zero =
      ir.CreateAnd(ir.CreateFCmpOGT(x, f.Of(-0.29)), ir.CreateFCmpOLT(x, f.Of(0.41)));
  Value* is_large = ir.CreateFCmpOGT(x, f.Of(1));
  Value* lost = f.Select(is_large, f.Sub(f.Of(1), f.Sub(u, x)), f.Sub(x, f.Sub(u, f.Of(1))));
  Value* rest = f.Div(lost, u);
  e = f.Select(near_zero, f.Of(0), e);
  t = f.Select(near_zero, x, t);
  rest = f.Select(near_zero, f.Of(0), rest);
  Value* result = LogAtEnds(f, u, LogOfParts(f, e, t, rest));
  return f.Select(ir.CreateFCmpOLT(f.Abs(x), f.Of(0x1p-25)), x, result);
}

Value* EmitTanhF32(ValueBuilder& b, Value* x) {
  Floats f(b, x);
  constexpr double kSeries[] = {-0.3333333134651184,  0.13333210349082947,   -0.05394720286130905,
                                0.021702967584133148, -0.008182673715054989, 0.0021475369576364756};
  Value* a = f.Abs(x);
  Value* x2 = f.Mul(x, x);
  Value* small = f.MulAdd(f.Mul(x, x2), f.Polynomial(x2, kSeries), x);
  Value* e = Exp(f, f.Add(a, a));
  Value* large = f.Sub(f.Of(1), f.Div(f.Of(2), f.Add(e, f.Of(1))));
  // The sign of zero is lost in the sum.
  return f.WithSignOf(f.Select(f.ir().CreateFCmpOLT(a, f.Of(0.625)), small, large), x);
}

Value* EmitLogisticF32(ValueBuilder& b, Value* x) {
  Floats f(b, x);
  // The exponential of -|x| is at most one: it neither overflows nor loses small results.
  Value* e = Exp(f, f.ir().CreateFNeg(f.Abs(x)));
  Value* top = f.Select(f.ir().CreateFCmpOLT(x, f.Of(0)), e, f.Of(1));
  return f.Div(top, f.Add(e, f.Of(1)));
}

Value* EmitErfF32(ValueBuilder& b, Value* x) {
  Floats f(b, x);
  constexpr double kSeries[] = {1.1283791065216064,    -0.3761262595653534,  0.11283600330352783,
                                -0.026854444295167923, 0.005189535208046436, -0.0008020841050893068,
                                7.889119297033176e-05};
  // log(1 - erf(a)) from 1 to 4.
  constexpr double kLogComplement[] = {0.00018846779130399227, -1.1295802593231201,
                                       -0.633216381072998,     -0.10842210054397583,
                                       0.025210341438651085,   -0.0042052860371768475,
                                       0.00044147291919216514, -2.1697638658224605e-05};
  Value* a = f.Abs(x);
  Value* small = f.Mul(x, f.Polynomial(f.Mul(x, x), kSeries));
  Value* bounded = f.Select(f.ir().CreateFCmpOGT(a, f.Of(4)), f.Of(4), a);
  Value* large = f.Sub(f.Of(1), Exp(f, f.Polynomial(bounded, kLogComplement)));
  return f.Select(f.ir().CreateFCmpOLT(a, f.Of(1)), small, f.WithSignOf(large, x));
}

Value* EmitSineF32(ValueBuilder& b, Value* x) { return Trigonometric(b, x, false); }

Value* EmitCosineF32(ValueBuilder& b, Value* x) { return Trigonometric(b, x, true); }

}  // namespace assay
