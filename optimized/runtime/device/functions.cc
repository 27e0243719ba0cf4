// The functions that compiled code calls, for GPUs: LLVM IR that is linked into kernels. They stand
// under the names that they have in the runtime of the CPU (runtime/symbols.h) and give its bits.
#include <bit>
#include <cstdint>

#include "optimized/runtime/functions/complex_formulas.h"
#include "optimized/runtime/functions/integer_functions.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

// x - n y, n rounded to zero: exact, digit by digit of the quotient.
template <typename T, typename Bits>
T Remainder(T x, T y) {
  constexpr int kWidth = 8 * sizeof(T), kDigits = std::numeric_limits<T>::digits;
  constexpr Bits kSign = Bits{1} << (kWidth - 1), kHidden = Bits{1} << (kDigits - 1);
  constexpr Bits kInfinity = ~(kHidden - 1) & ~kSign;
  const Bits sign = std::bit_cast<Bits>(x) & kSign;
  Bits a = std::bit_cast<Bits>(x) & ~kSign;
  Bits b = std::bit_cast<Bits>(y) & ~kSign;
  if (a >= kInfinity || b > kInfinity || b == 0) return (x * y) / (x * y);  // a NaN
  if (a < b) return x;
  // Significands with their leading bit in place, subnormal numbers' with an exponent below 1.
  const auto split = [](Bits code, int& exponent) {
    exponent = static_cast<int>(code >> (kDigits - 1));
    if (exponent != 0) return (code & (kHidden - 1)) | kHidden;
    const int shift = std::countl_zero(code) - (kWidth - kDigits);
    exponent = 1 - shift;
    return static_cast<Bits>(code << shift);
  };
  int at = 0, end = 0;
  Bits rest = split(a, at);
  const Bits divisor = split(b, end);
  for (;; --at) {
    if (rest >= divisor) rest -= divisor;
    if (at == end || rest == 0) break;
    rest <<= 1;
  }
  if (rest == 0) return std::bit_cast<T>(sign);
  const int shift = std::countl_zero(rest) - (kWidth - kDigits);
  rest <<= shift;
  end -= shift;
  const Bits code = end > 0 ? (static_cast<Bits>(end) << (kDigits - 1)) | (rest & (kHidden - 1))
                            : static_cast<Bits>(rest >> (1 - end));
  return std::bit_cast<T>(code | sign);
}

template <typename T>
void OnLanes(T* values, int64_t count, double (*function)(double)) {
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<T>(function(values[i]));
}

}  // namespace
}  // namespace assay

namespace assay {
extern "C" {

#define ASSAY_ONE(name, function)                           \
  Parts assay_complex_##name##_c64(double re, double im) {  \
    return OfComplex<double, function<double>>(re, im);     \
  }                                                         \
  Parts assay_complex_##name##_c128(double re, double im) { \
    return OfComplex<Twofold, function<Twofold>>(re, im);   \
  }
#define ASSAY_TWO(name, function)                                             \
  Parts assay_complex_##name##_c64(double a, double b, double c, double d) {  \
    return OfTwoComplex<double, function<double>>(a, b, c, d);                \
  }                                                                           \
  Parts assay_complex_##name##_c128(double a, double b, double c, double d) { \
    return OfTwoComplex<Twofold, function<Twofold>>(a, b, c, d);              \
  }
ASSAY_COMPLEX_FUNCTIONS(ASSAY_ONE, ASSAY_TWO)
#undef ASSAY_ONE
#undef ASSAY_TWO
double assay_complex_abs_c64(double re, double im) { return AbsOfComplex<double>(re, im); }
double assay_complex_abs_c128(double re, double im) { return AbsOfComplex<Twofold>(re, im); }

double assay_acos(double x) { return Acos(x); }
double assay_acosh(double x) { return Acosh(x); }
double assay_asin(double x) { return Asin(x); }
double assay_asinh(double x) { return Asinh(x); }
double assay_atan2(double y, double x) { return Atan2(y, x); }
double assay_atanh(double x) { return Atanh(x); }
double assay_cbrt(double x) { return Cbrt(x); }
double assay_cosh(double x) { return Cosh(x); }
double assay_sinh(double x) { return Sinh(x); }
double assay_tan(double x) { return Tan(x); }
double assay_fmod(double x, double y) { return Remainder<double, uint64_t>(x, y); }
float assay_fmodf(float x, float y) { return Remainder<float, uint32_t>(x, y); }

void assay_lanes_sin_f32(float* x, int64_t n) { OnLanes(x, n, OfOne<&OnDoubles::Sine>); }
void assay_lanes_cos_f32(float* x, int64_t n) { OnLanes(x, n, OfOne<&OnDoubles::Cosine>); }
void assay_lanes_far_sin(double* x, int64_t n) {
  OnLanes(x, n, [](double value) { return OfFar("sin", value); });
}
void assay_lanes_far_cos(double* x, int64_t n) {
  OnLanes(x, n, [](double value) { return OfFar("cos", value); });
}
void assay_lanes_far_tan(double* x, int64_t n) {
  OnLanes(x, n, [](double value) { return OfFar("tan", value); });
}

// The encoding of tiny floats takes these from the C library, for finite numbers other than zero.
double frexp(double x, int* exponent) {
  const auto code = std::bit_cast<uint64_t>(x);
  const bool is_subnormal = (code >> 52 & 0x7FF) == 0;
  const auto normal = is_subnormal ? std::bit_cast<uint64_t>(x * 0x1p54) : code;
  *exponent = static_cast<int>(normal >> 52 & 0x7FF) - 1022 - (is_subnormal ? 54 : 0);
  return std::bit_cast<double>((normal & ~(uint64_t{0x7FF} << 52)) | uint64_t{1022} << 52);
}
double ldexp(double x, int exponent) { return TimesPower(x, exponent); }

uint64_t assay_power_u64(uint64_t base, uint64_t exponent) { return PowerU64(base, exponent); }
uint8_t assay_encode_tiny_float(float value, int32_t type) {
  return static_cast<uint8_t>(EncodeFloat(Format(static_cast<ElementType>(type)), value));
}

}  // extern "C"
}  // namespace assay
