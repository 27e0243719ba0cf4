// Discrete Fourier transforms of any length on GPUs, in complex doubles: the input is laid out as
// a whole spectrum, each dimension is transformed factor by factor (Stockham), and what is asked
// for is taken from the result. A thread makes one number of a stage. Document: operation semantics
// chapter 11 (Fft).
#include <cstdint>

#include "optimized/runtime/device/fourier.h"
#include "optimized/runtime/functions/scalar_functions.h"

namespace assay {
namespace {

struct Number {
  double re, im;
};

// e^(2 pi i k / n): the nearest quarter is exact, the rest has two parts.
Number RootOfOne(int64_t k, int64_t n) {
  const int64_t quarter = (8 * k + n) / (2 * n);
  const int64_t rest = 4 * k - quarter * n;  // of n quarters
  constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;
  const auto whole = static_cast<double>(n);
  const double part = static_cast<double>(rest) / whole;
  const double part_low = __builtin_fma(-part, whole, static_cast<double>(rest)) / whole;
  const double high = part * kHalfPi;
  const double low = __builtin_fma(part, kHalfPi, -high) + (part * kHalfPiLow + part_low * kHalfPi);
  Scalars scalars;
  OnDoubles formulas(scalars);
  const auto at = static_cast<uint64_t>(quarter);
  return {formulas.SineAt(at + 1, high, low), formulas.SineAt(at, high, low)};
}

// The product of sizes, a number each.
int64_t CountOf(const FourierShape& shape) { return shape.size[0] * shape.size[1] * shape.size[2]; }

template <typename T>
void LayOut(const T* in, Number* out, const FourierShape& shape, int64_t thread) {
  const int64_t count = CountOf(shape), batch = thread / count;
  int64_t k[3], rest = thread % count;
  for (int d = 2; d >= 0; --d) {
    k[d] = rest % shape.size[d];
    rest /= shape.size[d];
  }
  const int64_t last = shape.size[2] / 2 + 1;  // of half a spectrum
  const auto read = [&](int64_t i, int64_t j, int64_t l, int64_t length) {
    return ((batch * shape.size[0] + i) * shape.size[1] + j) * length + l;
  };
  if (shape.kind == FourierShape::kFromReal) {
    out[thread] = {static_cast<double>(in[thread]), 0};
    return;
  }
  if (shape.kind != FourierShape::kToReal) {
    out[thread] = {static_cast<double>(in[2 * thread]), static_cast<double>(in[2 * thread + 1])};
    return;
  }
  // Behind the half lie the conjugates of the numbers at the opposite places.
  const bool is_mirrored = k[2] >= last;
  if (is_mirrored) {
    for (int d = 0; d < 3; ++d) k[d] = k[d] == 0 ? 0 : shape.size[d] - k[d];
  }
  const int64_t at = read(k[0], k[1], k[2], last);
  const double im = static_cast<double>(in[2 * at + 1]);
  out[thread] = {static_cast<double>(in[2 * at]), is_mirrored ? -im : im};
}

template <typename T>
void TakeResult(const Number* from, T* out, const FourierShape& shape, int64_t thread) {
  const int64_t count = CountOf(shape);
  if (shape.kind == FourierShape::kToReal) {
    out[thread] = static_cast<T>(from[thread].re / static_cast<double>(count));
    return;
  }
  const int64_t last =
      shape.kind == FourierShape::kFromReal ? shape.size[2] / 2 + 1 : shape.size[2];
  const int64_t at = thread / last * shape.size[2] + thread % last;
  const double divisor = shape.kind == FourierShape::kInverse ? static_cast<double>(count) : 1;
  out[2 * thread] = static_cast<T>(from[at].re / divisor);
  out[2 * thread + 1] = static_cast<T>(from[at].im / divisor);
}

}  // namespace

extern "C" {

void assay_device_fft_lay_out_f32(const float* in, Number* out, int64_t kind, int64_t size0,
                                  int64_t size1, int64_t size2, int64_t thread) {
  LayOut(in, out, {kind, {size0, size1, size2}}, thread);
}
void assay_device_fft_lay_out_f64(const double* in, Number* out, int64_t kind, int64_t size0,
                                  int64_t size1, int64_t size2, int64_t thread) {
  LayOut(in, out, {kind, {size0, size1, size2}}, thread);
}
void assay_device_fft_take_f32(const Number* from, float* out, int64_t kind, int64_t size0,
                               int64_t size1, int64_t size2, int64_t thread) {
  TakeResult(from, out, {kind, {size0, size1, size2}}, thread);
}
void assay_device_fft_take_f64(const Number* from, double* out, int64_t kind, int64_t size0,
                               int64_t size1, int64_t size2, int64_t thread) {
  TakeResult(from, out, {kind, {size0, size1, size2}}, thread);
}

// e^(-2 pi i k / n) of a transform, e^(2 pi i k / n) of its inverse, for thread k < n.
void assay_device_fft_roots(Number* roots, int64_t n, int64_t is_inverse, int64_t thread) {
  const Number root = RootOfOne(thread, n);
  roots[thread] = {root.re, is_inverse != 0 ? root.im : -root.im};
}

// One factor p of lines of n numbers that are `stride` apart, behind factors whose product is m:
// y[k + m (p j + r)] = sum over q of x[k + m (j + l q)] w^(r (j + l q)), w = e^(-2 pi i m / n),
// l = n / (p m). What is lost of sums of many products is added up beside them.
void assay_device_fft_pass(const Number* x, Number* y, const Number* roots, int64_t n,
                           int64_t stride, int64_t p, int64_t m, int64_t thread) {
  const int64_t inner = thread % stride, outer = thread / (stride * n);
  const int64_t at = thread / stride % n;
  const int64_t k = at % m, r = at / m % p, j = at / (m * p);
  const int64_t l = n / (p * m), length = l * p;
  const Number* line = x + outer * n * stride + inner;
  double re = 0, im = 0, lost_re = 0, lost_im = 0;
  const auto add = [](double& sum, double& lost, double a, double b) {
    const double product = a * b, before = sum;
    sum += product;
    const double added = sum - before;
    lost += (before - (sum - added)) + (product - added) + __builtin_fma(a, b, -product);
  };
  int64_t turn = r * j % length;
  const int64_t step = r * l % length;
  for (int64_t q = 0; q < p; ++q) {
    const Number a = line[(k + m * (j + l * q)) * stride], w = roots[turn * m];
    add(re, lost_re, a.re, w.re);
    add(re, lost_re, -a.im, w.im);
    add(im, lost_im, a.re, w.im);
    add(im, lost_im, a.im, w.re);
    turn += step;
    if (turn >= length) turn -= length;
  }
  y[thread] = {re + lost_re, im + lost_im};
}

}  // extern "C"
}  // namespace assay
