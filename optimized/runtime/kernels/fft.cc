// Transforms of lines of arrays, several lines side by side.
#include "optimized/runtime/kernels/fft.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "optimized/runtime/kernels/micro_kernels.h"
#include "optimized/runtime/run_context.h"
#include "spec/attributes/attribute_words.h"

namespace assay {
namespace {

// Above this many elements of a line, lines are cut: what the passes go over would leave the
// caches.
constexpr int64_t kLongLine = 4096;
constexpr int64_t kMaxLanes = 64;
constexpr int64_t kSplitWork = 1 << 14;  // elements below which threads cost more than they gain

// Parts of `lanes` lines side by side: element e of lane l at e * lanes + l.
template <typename T>
struct Lanes {
  T *re, *im;
};

template <typename T>
class Transformer {
 public:
  Transformer(RunContext* context, KernelIsa isa) : context_(context), kernels_(KernelsFor(isa)) {
    const bool f32 = std::is_same_v<T, float>;
    lanes_ = kernels_.width[static_cast<int>(f32 ? TileType::kF32 : TileType::kF64)];
    if constexpr (std::is_same_v<T, float>) {
      pass_ = kernels_.fft_pass_f32;
    } else {
      pass_ = kernels_.fft_pass_f64;
    }
  }

  int64_t lanes() const { return lanes_; }
  std::shared_ptr<const FftPlan<T>> PlanFor(int64_t n) const {
    return context_->fft_plans->template Get<T>(n);
  }
  // Parts that a transform of lines works in, `values` itself included.
  static int64_t WorkSize(const FftPlan<T>& plan) {
    return plan.convolution != nullptr ? plan.n + 2 * plan.convolution->n : 2 * plan.n;
  }

  // Transforms forward. `values` are the first 2 n lanes_ parts of the work space; the result is
  // where the returned arrays are.
  Lanes<T> Run(const FftPlan<T>& plan, T* work) const {
    const int64_t size = plan.n * lanes_;
    Lanes<T> values = {work, work + size};
    if (plan.convolution == nullptr) {
      return Passes(plan, values, {work + 2 * size, work + 3 * size});
    }
    // The chirp's product, the convolution, the chirp again. A quarter of everything meanwhile:
    // sums of the longer transforms may be larger than the result.
    const FftPlan<T>& inner = *plan.convolution;
    const int64_t inner_size = inner.n * lanes_;
    T* space = work + 2 * size;
    Lanes<T> a = {space, space + inner_size};
    Lanes<T> b = {space + 2 * inner_size, space + 3 * inner_size};
    for (int64_t k = 0; k < plan.n; ++k) Multiply(values, k, plan.chirp[k] * T(0.25), a, k, false);
    std::fill(a.re + size, a.re + inner_size, T(0));
    std::fill(a.im + size, a.im + inner_size, T(0));
    Lanes<T> spectrum = Passes(inner, a, b);
    // The inverse is the forward transform of the conjugates.
    for (int64_t k = 0; k < inner.n; ++k) {
      Multiply(spectrum, k, plan.filter[k], spectrum, k, true);
    }
    Lanes<T> sums = Passes(inner, spectrum, spectrum.re == a.re ? b : a);
    for (int64_t k = 0; k < plan.n; ++k) {
      Multiply(sums, k, std::conj(plan.chirp[k]) * T(4), values, k, true);
    }
    return values;
  }

  int64_t WorkOf(const FftPlan<T>& plan) const {
    const FftPlan<T>& inner = plan.convolution != nullptr ? *plan.convolution : plan;
    const auto passes = static_cast<int64_t>(inner.passes.size());
    return (plan.convolution != nullptr ? 2 : 1) * passes * inner.n * lanes_;
  }

 private:
  Lanes<T> Passes(const FftPlan<T>& plan, Lanes<T> from, Lanes<T> to) const {
    for (const auto& pass : plan.passes) {
      pass_({pass.radix, pass.m, pass.s, pass.twiddles.data(), pass.roots.data(), from.re, from.im,
             to.re, to.im});
      std::swap(from, to);
    }
    return from;
  }

  // to[k] = from[at] * factor, conjugated on request.
  void Multiply(Lanes<T> from, int64_t at, std::complex<T> factor, Lanes<T> to, int64_t k,
                bool conjugate) const {
    const T re = factor.real(), im = factor.imag(), sign = conjugate ? T(-1) : T(1);
    for (int64_t l = 0; l < lanes_; ++l) {
      const T x = from.re[at * lanes_ + l], y = from.im[at * lanes_ + l];
      to.re[k * lanes_ + l] = x * re - y * im;
      to.im[k * lanes_ + l] = sign * (x * im + y * re);
    }
  }

  RunContext* context_;
  const MicroKernels& kernels_;
  int64_t lanes_ = 1;
  void (*pass_)(const FftPassArguments&) = nullptr;
};

// Lines of an array of complex numbers: line i (of `count`) begins at
// i / inner * outer_step + i % inner, its elements are `step` apart.
struct LineSet {
  int64_t count, inner, outer_step, step;
  int64_t Start(int64_t i) const { return i / inner * outer_step + i % inner; }
};

// The parts of `count` <= lanes lines from `first` on, side by side; lanes without a line are zero.
// `scale` multiplies them. `swapped`: with real and imaginary part exchanged, which turns a
// transform into the inverse.
template <typename T>
void LoadLines(const T* array, const LineSet& lines, int64_t first, int64_t count, int64_t n,
               int64_t lanes, bool swapped, T scale, Lanes<T> to) {
  T* const re = swapped ? to.im : to.re;
  T* const im = swapped ? to.re : to.im;
  int64_t starts[kMaxLanes];
  for (int64_t l = 0; l < count; ++l) starts[l] = 2 * lines.Start(first + l);
  if (count < lanes) {
    std::fill(to.re, to.re + n * lanes, T(0));
    std::fill(to.im, to.im + n * lanes, T(0));
  }
  if (lines.step != 1) {
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t l = 0; l < count; ++l) {
        const T* from = array + starts[l] + 2 * k * lines.step;
        re[k * lanes + l] = from[0] * scale;
        im[k * lanes + l] = from[1] * scale;
      }
    }
    return;
  }
  // A block of elements at a time, so that what is written stays near.
  constexpr int64_t kBlock = 16;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    for (int64_t l = 0; l < count; ++l) {
      const T* from = array + starts[l];
      for (int64_t k = begin; k < end; ++k) {
        re[k * lanes + l] = from[2 * k] * scale;
        im[k * lanes + l] = from[2 * k + 1] * scale;
      }
    }
  }
}

template <typename T>
void StoreLines(T* array, const LineSet& lines, int64_t first, int64_t count, int64_t n,
                int64_t lanes, bool swapped, Lanes<T> from) {
  const T* const re = swapped ? from.im : from.re;
  const T* const im = swapped ? from.re : from.im;
  int64_t starts[kMaxLanes];
  for (int64_t l = 0; l < count; ++l) starts[l] = 2 * lines.Start(first + l);
  constexpr int64_t kBlock = 16;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    if (lines.step == 1) {
      for (int64_t l = 0; l < count; ++l) {
        T* to = array + starts[l];
        for (int64_t k = begin; k < end; ++k) {
          to[2 * k] = re[k * lanes + l];
          to[2 * k + 1] = im[k * lanes + l];
        }
      }
    } else {
      for (int64_t k = begin; k < end; ++k) {
        for (int64_t l = 0; l < count; ++l) {
          T* to = array + starts[l] + 2 * k * lines.step;
          to[0] = re[k * lanes + l];
          to[1] = im[k * lanes + l];
        }
      }
    }
  }
}

template <typename T>
class ArrayTransform {
 public:
  ArrayTransform(RunContext* context, KernelIsa isa) : context_(context), run_(context, isa) {}

  // All lines of a set from `in` to `out`, which may be the same. `scale` multiplies the
  // lines before they are transformed: sums of large numbers may be infinite.
  void Lines(const T* in, T* out, const LineSet& lines, int64_t n, bool inverse, T scale) {
    if (n > kLongLine && lines.count < 4 * run_.lanes() && CutsWell(n)) {
      for (int64_t i = 0; i < lines.count; ++i) {
        LongLine(in + 2 * lines.Start(i), out + 2 * lines.Start(i), lines.step, n, inverse, scale);
      }
      return;
    }
    const std::shared_ptr<const FftPlan<T>> plan = run_.PlanFor(n);
    ForGroups(
        lines.count, n,
        [&](int64_t first, int64_t count, T* work) {
          LoadLines(in, lines, first, count, n, run_.lanes(), inverse, scale,
                    Lanes<T>{work, work + n * run_.lanes()});
          const Lanes<T> values = run_.Run(*plan, work);
          StoreLines(out, lines, first, count, n, run_.lanes(), inverse, values);
        },
        *plan);
  }

  // Lines of n real numbers one after another, to n / 2 + 1 complex ones each.
  void RealLines(const T* in, T* out, int64_t count, int64_t n) {
    const int64_t half = n / 2 + 1, lanes = run_.lanes();
    if (n % 2 == 1) {
      const std::shared_ptr<const FftPlan<T>> plan = run_.PlanFor(n);
      ForGroups(
          count, n,
          [&](int64_t first, int64_t group, T* work) {
            std::fill(work, work + 2 * n * lanes, T(0));
            for (int64_t l = 0; l < group; ++l) {
              for (int64_t k = 0; k < n; ++k) work[k * lanes + l] = in[(first + l) * n + k];
            }
            const Lanes<T> values = run_.Run(*plan, work);
            StoreLines(out, {count, 1, half, 1}, first, group, half, lanes, false, values);
          },
          *plan);
      return;
    }
    // Even and odd elements as the parts of n / 2 complex numbers.
    const int64_t m = n / 2;
    const std::shared_ptr<const FftPlan<T>> plan = run_.PlanFor(m);
    const auto table = context_->fft_plans->template Roots<T>(n, m + 1);
    const std::vector<std::complex<T>>& roots = *table;
    const LineSet packed = {count, 1, m, 1};
    ForGroups(
        count, m,
        [&](int64_t first, int64_t group, T* work) {
          LoadLines(in, packed, first, group, m, lanes, false, T(1),
                    Lanes<T>{work, work + m * lanes});
          const Lanes<T> z = run_.Run(*plan, work);
          for (int64_t l = 0; l < group; ++l) {
            T* to = out + 2 * half * (first + l);
            for (int64_t k = 0; k <= m; ++k) {
              const int64_t a = (k == m ? 0 : k) * lanes + l, b = (k == 0 ? 0 : m - k) * lanes + l;
              // Halved first: the sum of two large ones may be infinite.
              const T a_re = z.re[a] / 2, a_im = z.im[a] / 2, b_re = z.re[b] / 2,
                      b_im = z.im[b] / 2;
              const T even_re = a_re + b_re, even_im = a_im - b_im;
              const T odd_re = a_im + b_im, odd_im = b_re - a_re;
              const T w_re = roots[k].real(), w_im = roots[k].imag();
              to[2 * k] = even_re + odd_re * w_re - odd_im * w_im;
              to[2 * k + 1] = even_im + odd_re * w_im + odd_im * w_re;
            }
            to[1] = to[2 * m + 1] = 0;
          }
        },
        *plan);
  }

  // Lines of n / 2 + 1 complex numbers to n real ones, divided by n; imaginary parts that a real
  // signal cannot have are ignored.
  void ToRealLines(const T* in, T* out, int64_t count, int64_t n) {
    const int64_t half = n / 2 + 1, lanes = run_.lanes(), m = n % 2 == 0 ? n / 2 : n;
    const std::shared_ptr<const FftPlan<T>> plan = run_.PlanFor(m);
    const auto table = context_->fft_plans->template Roots<T>(n, m);
    const std::vector<std::complex<T>>& roots = *table;
    const T scale = T(1) / static_cast<T>(n);
    ForGroups(
        count, m,
        [&](int64_t first, int64_t group, T* work) {
          // Exchanged parts: the forward transform is then the inverse.
          Lanes<T> z = {work + m * lanes, work};
          if (group < lanes) std::fill(work, work + 2 * m * lanes, T(0));
          for (int64_t l = 0; l < group; ++l) {
            const T* from = in + 2 * half * (first + l);
            // Divided first: sums of large numbers may be infinite.
            auto re = [&](int64_t k) { return from[2 * k] * scale; };
            auto im = [&](int64_t k) {
              return k == 0 || 2 * k == n ? T(0) : from[2 * k + 1] * scale;
            };
            for (int64_t k = 0; k < m; ++k) {
              const int64_t at = k * lanes + l;
              if (n % 2 == 1) {
                const bool mirrored = k >= half;
                z.re[at] = re(mirrored ? n - k : k);
                z.im[at] = mirrored ? -im(n - k) : im(k);
                continue;
              }
              const T even_re = re(k) + re(m - k), even_im = im(k) - im(m - k);
              const T x = re(k) - re(m - k), y = im(k) + im(m - k);
              const T w_re = roots[k].real(), w_im = -roots[k].imag();
              z.re[at] = even_re - (x * w_im + y * w_re);
              z.im[at] = even_im + (x * w_re - y * w_im);
            }
          }
          const Lanes<T> values = run_.Run(*plan, work);
          const T *real = values.im, *imaginary = values.re;
          for (int64_t l = 0; l < group; ++l) {
            T* to = out + n * (first + l);
            for (int64_t k = 0; k < m; ++k) {
              if (n % 2 == 1) {
                to[k] = real[k * lanes + l];
              } else {
                to[2 * k] = real[k * lanes + l];
                to[2 * k + 1] = imaginary[k * lanes + l];
              }
            }
          }
        },
        *plan);
  }

 private:
  // body(first, count, work) for groups of lines that fill the lanes, on all threads.
  template <typename Body>
  void ForGroups(int64_t count, int64_t n, const Body& body, const FftPlan<T>& plan) {
    const int64_t lanes = run_.lanes(), groups = (count + lanes - 1) / lanes;
    const int64_t grain = std::max<int64_t>(1, kSplitWork / (n * lanes));
    context_->Split(groups, grain, [&](int64_t begin, int64_t end) {
      ScratchPool::Block block = context_->scratch->Take(2 * Transformer<T>::WorkSize(plan) *
                                                         lanes * static_cast<int64_t>(sizeof(T)));
      for (int64_t group = begin; group < end; ++group) {
        body(group * lanes, std::min(lanes, count - group * lanes), block.as<T>());
      }
      *context_->work += (end - begin) * run_.WorkOf(plan);
    });
  }

  // The largest divisor of n up to its root.
  static int64_t LowerFactor(int64_t n) {
    auto divisor = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
    while (n % divisor != 0) --divisor;
    return divisor;
  }
  static bool CutsWell(int64_t n) { return LowerFactor(n) >= 16; }

  // One line of n = a b elements as a matrix of b rows: transforms along its columns, a turn of
  // each element, transforms along its rows.
  void LongLine(const T* in, T* out, int64_t step, int64_t n, bool inverse, T scale) {
    const int64_t a = LowerFactor(n), b = n / a, lanes = run_.lanes();
    const std::shared_ptr<const FftPlan<T>> columns = run_.PlanFor(b), rows = run_.PlanFor(a);
    const auto table = context_->fft_plans->template Roots<T>(n, n);
    const std::vector<std::complex<T>>& roots = *table;
    ScratchPool::Block middle = context_->scratch->Take(2 * n * static_cast<int64_t>(sizeof(T)));
    T* turned = middle.as<T>();
    // Elements of column i lie at i + a k; what becomes of element k goes to row k.
    ForGroups(
        a, b,
        [&](int64_t first, int64_t count, T* work) {
          if (step == 1) {
            LoadLines(in, {a, a, 0, a}, first, count, b, lanes, inverse, scale,
                      Lanes<T>{work, work + b * lanes});
          } else {
            GatherColumns(in, a, step, first, count, b, inverse, scale, work);
          }
          const Lanes<T> z = run_.Run(*columns, work);
          for (int64_t k = 0; k < b; ++k) {
            for (int64_t l = 0; l < count; ++l) {
              const std::complex<T> w = roots[(first + l) * k];
              const T x = z.re[k * lanes + l], y = z.im[k * lanes + l];
              T* to = turned + 2 * (k * a + first + l);
              to[0] = x * w.real() - y * w.imag();
              to[1] = x * w.imag() + y * w.real();
            }
          }
        },
        *columns);
    ForGroups(
        b, a,
        [&](int64_t first, int64_t count, T* work) {
          LoadLines(turned, {b, 1, a, 1}, first, count, a, lanes, false, T(1),
                    Lanes<T>{work, work + a * lanes});
          const Lanes<T> z = run_.Run(*rows, work);
          // Element j of row k is element k + b j of the result.
          const T* const re = inverse ? z.im : z.re;
          const T* const im = inverse ? z.re : z.im;
          for (int64_t j = 0; j < a; ++j) {
            for (int64_t l = 0; l < count; ++l) {
              T* to = out + 2 * (first + l + b * j) * step;
              to[0] = re[j * lanes + l];
              to[1] = im[j * lanes + l];
            }
          }
        },
        *rows);
  }

  void GatherColumns(const T* in, int64_t a, int64_t step, int64_t first, int64_t count, int64_t b,
                     bool inverse, T scale, T* work) const {
    const int64_t lanes = run_.lanes();
    std::fill(work, work + 2 * b * lanes, T(0));
    T* const re = inverse ? work + b * lanes : work;
    T* const im = inverse ? work : work + b * lanes;
    for (int64_t k = 0; k < b; ++k) {
      for (int64_t l = 0; l < count; ++l) {
        const T* from = in + 2 * (first + l + a * k) * step;
        re[k * lanes + l] = from[0] * scale;
        im[k * lanes + l] = from[1] * scale;
      }
    }
  }

  RunContext* context_;
  Transformer<T> run_;
};

}  // namespace

template <typename T>
void Fft(RunContext* context, const FftShape* shape, const T* in, T* out) {
  const auto kind = static_cast<FftKind>(shape->kind);
  const int64_t rank = shape->rank, last = shape->sizes[rank - 1];
  const int64_t half = last / 2 + 1;
  int64_t outer = 1;
  for (int64_t d = 0; d + 1 < rank; ++d) outer *= shape->sizes[d];
  if (shape->batch * outer * last == 0) return;
  const bool inverse = kind == FftKind::kIfft || kind == FftKind::kIrfft;
  const bool real = kind == FftKind::kRfft || kind == FftKind::kIrfft;
  const int64_t stored = real ? half : last;  // complex numbers of a line
  ArrayTransform<T> transform(context, static_cast<KernelIsa>(shape->isa));
  auto scale_of = [&](int64_t n) { return inverse ? T(1) / static_cast<T>(n) : T(1); };
  // Dimensions before the last, from `from` to `to`; the first of them reads `from`.
  auto others = [&](const T* from, T* to) {
    int64_t inner = stored;
    for (int64_t d = rank - 1; d-- > 0;) {
      const int64_t n = shape->sizes[d];
      const LineSet lines = {shape->batch * outer / n * stored, inner, n * inner, inner};
      transform.Lines(from, to, lines, n, inverse, scale_of(n));
      from = to;
      inner *= n;
    }
    return from;
  };
  if (kind == FftKind::kIrfft) {
    ScratchPool::Block block = context->scratch->Take(
        rank > 1 ? 2 * shape->batch * outer * half * static_cast<int64_t>(sizeof(T)) : 64);
    transform.ToRealLines(others(in, block.as<T>()), out, shape->batch * outer, last);
    return;
  }
  if (kind == FftKind::kRfft) {
    transform.RealLines(in, out, shape->batch * outer, last);
  } else {
    transform.Lines(in, out, {shape->batch * outer, 1, last, 1}, last, inverse, scale_of(last));
  }
  others(out, out);
}

template void Fft(RunContext*, const FftShape*, const float*, float*);
template void Fft(RunContext*, const FftShape*, const double*, double*);

}  // namespace assay
