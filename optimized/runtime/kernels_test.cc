// The runtime's kernels beside plain sums, whatever the instruction set and the number of threads,
// and what they cost, counted in steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "optimized/runtime/kernels/contraction.h"
#include "optimized/runtime/kernels/fft.h"
#include "optimized/runtime/run_context.h"
#include "optimized/runtime/sort.h"
#include "spec/attributes/attribute_words.h"
#include "spec/base/strings.h"
#include "spec/types/element_type.h"
#include "spec/types/native.h"

namespace assay {
namespace {

std::vector<KernelIsa> Isas() {
  std::vector<KernelIsa> isas = {KernelIsa::kBaseline};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    isas.push_back(KernelIsa::kAvx2);
  }
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw")) {
    isas.push_back(KernelIsa::kAvx512);
  }
  return isas;
}

struct Threads {
  explicit Threads(int count) : pool(count) { context.pool = count > 1 ? &pool : nullptr; }
  ThreadPool pool;
  RunContext context;
};

// Calls f(indices) for all combinations of indices below the sizes of `axes`.
template <typename F>
void ForAll(const ContractionAxis* axes, int64_t count, const F& f) {
  std::vector<int64_t> at(static_cast<size_t>(count));
  for (int64_t a = 0; a < count; ++a) {
    if (axes[a].size == 0) return;
  }
  while (true) {
    f(at);
    int64_t a = count;
    while (a-- > 0) {
      if (++at[a] < axes[a].size) break;
      at[a] = 0;
    }
    if (a < 0) return;
  }
}

int64_t Offset(const ContractionAxis* axes, const std::vector<int64_t>& at,
               int64_t ContractionAxis::* step) {
  int64_t sum = 0;
  for (size_t a = 0; a < at.size(); ++a) sum += at[a] * (axes[a].*step);
  return sum;
}

// The definition.
template <typename T, typename O>
void Naive(const ContractionPlan& plan, const T* lhs, const T* rhs, O* out) {
  ForAll(plan.batch, plan.batch_count, [&](const std::vector<int64_t>& b) {
    ForAll(plan.m, plan.m_count, [&](const std::vector<int64_t>& m) {
      ForAll(plan.n, plan.n_count, [&](const std::vector<int64_t>& n) {
        double sum = 0;
        ForAll(plan.sum, plan.sum_count, [&](const std::vector<int64_t>& k) {
          int64_t l = plan.lhs_start + Offset(plan.batch, b, &ContractionAxis::lhs) +
                      Offset(plan.m, m, &ContractionAxis::lhs) +
                      Offset(plan.sum, k, &ContractionAxis::lhs);
          const int64_t r = plan.rhs_start + Offset(plan.batch, b, &ContractionAxis::rhs) +
                            Offset(plan.n, n, &ContractionAxis::rhs) +
                            Offset(plan.sum, k, &ContractionAxis::rhs);
          for (int64_t w = 0; w < plan.window_count; ++w) {
            const ContractionWindow& window = plan.windows[w];
            const int64_t at = m[window.out_axis] * window.stride +
                               k[window.tap_axis] * window.dilation - window.low;
            if (at < 0 || at % window.base_dilation != 0) return;
            if (at / window.base_dilation >= window.size) return;
            l += at / window.base_dilation * window.step;
          }
          sum += static_cast<double>(lhs[l]) * static_cast<double>(rhs[r]);
        });
        out[plan.out_start + Offset(plan.batch, b, &ContractionAxis::out) +
            Offset(plan.m, m, &ContractionAxis::out) + Offset(plan.n, n, &ContractionAxis::out)] =
            static_cast<O>(sum);
      });
    });
  });
}

// Small whole numbers: every order of additions gives the same bits.
template <typename T>
std::vector<T> WholeNumbers(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = static_cast<T>(static_cast<float>(generator() % 9) - 4);
  return values;
}

template <typename T, typename O>
void ExpectSums(ContractionPlan plan, ElementType in, ElementType sum, ElementType out,
                int64_t lhs_size, int64_t rhs_size, int64_t out_size, const std::string& what) {
  plan.lhs_type = plan.rhs_type = static_cast<int64_t>(in);
  plan.sum_type = static_cast<int64_t>(sum);
  plan.out_type = static_cast<int64_t>(out);
  ASSERT_TRUE(CanContract(plan.lhs_type, plan.rhs_type, plan.sum_type, plan.out_type)) << what;
  const std::vector<T> lhs = WholeNumbers<T>(lhs_size, 1), rhs = WholeNumbers<T>(rhs_size, 2);
  std::vector<O> want(static_cast<size_t>(out_size), O(77)), got;
  Naive(plan, lhs.data(), rhs.data(), want.data());
  for (KernelIsa isa : Isas()) {
    plan.isa = static_cast<int64_t>(isa);
    for (int threads : {1, 3}) {
      Threads run(threads);
      got.assign(static_cast<size_t>(out_size), O(77));
      Contract(&run.context, &plan, lhs.data(), rhs.data(), got.data());
      for (int64_t i = 0; i < out_size; ++i) {
        ASSERT_EQ(static_cast<double>(got[i]), static_cast<double>(want[i]))
            << what << " isa " << plan.isa << " threads " << threads << " element " << i;
      }
    }
  }
}

ContractionPlan DotPlan(int64_t b, int64_t m, int64_t n, int64_t k, bool lhs_turned,
                        bool rhs_turned, bool out_turned) {
  ContractionPlan plan;
  plan.batch_count = plan.m_count = plan.n_count = plan.sum_count = 1;
  plan.batch[0] = {b, m * k, k * n, m * n};
  plan.m[0] = {m, lhs_turned ? 1 : k, 0, out_turned ? 1 : n};
  plan.n[0] = {n, 0, rhs_turned ? k : 1, out_turned ? m : 1};
  plan.sum[0] = {k, lhs_turned ? m : 1, rhs_turned ? 1 : n, 0};
  return plan;
}

TEST(Contract, AddsUpDotsOfAnyTransposition) {
  struct Size {
    int64_t b, m, n, k;
  };
  // Around the sizes of tiles and blocks; one row, one column, no terms.
  for (const Size& s :
       {Size{1, 1, 1, 1}, Size{2, 5, 7, 3}, Size{1, 13, 33, 17}, Size{1, 40, 3, 400},
        Size{1, 3, 130, 390}, Size{3, 12, 32, 8}, Size{1, 200, 65, 20}, Size{1, 1, 70, 769},
        Size{1, 7, 5, 0}, Size{9, 60, 60, 60}, Size{2, 8, 600, 21}, Size{1, 530, 3, 34}}) {
    for (int turns = 0; turns < 8; ++turns) {
      const ContractionPlan plan =
          DotPlan(s.b, s.m, s.n, s.k, (turns & 1) != 0, (turns & 2) != 0, (turns & 4) != 0);
      const std::string what = StrCat(s.b, "x", s.m, "x", s.n, "x", s.k, " turns ", turns);
      const int64_t l = std::max<int64_t>(1, s.b * s.m * s.k),
                    r = std::max<int64_t>(1, s.b * s.k * s.n);
      const int64_t o = s.b * s.m * s.n;
      ExpectSums<float, float>(plan, ElementType::kF32, ElementType::kF32, ElementType::kF32, l, r,
                               o, what);
      if (turns > 3) continue;
      ExpectSums<double, double>(plan, ElementType::kF64, ElementType::kF64, ElementType::kF64, l,
                                 r, o, what);
      ExpectSums<int8_t, int32_t>(plan, ElementType::kS8, ElementType::kS32, ElementType::kS32, l,
                                  r, o, what);
    }
  }
}

// Parts are small whole numbers: every order of additions gives the same bits.
TEST(Contract, MultipliesComplexNumbers) {
  using C = std::complex<float>;
  ContractionPlan plan = DotPlan(2, 13, 21, 40, true, false, true);
  // The window of a convolution backwards, as flipped kernels are read.
  plan.sum[0].rhs = -plan.sum[0].rhs;
  plan.rhs_start = 39 * 21;
  plan.is_complex = 1;
  plan.lhs_type = plan.rhs_type = plan.sum_type = plan.out_type =
      static_cast<int64_t>(ElementType::kF32);
  const std::vector<float> lhs = WholeNumbers<float>(2 * 2 * 13 * 40, 3),
                           rhs = WholeNumbers<float>(2 * 2 * 40 * 21, 4);
  const C* a = reinterpret_cast<const C*>(lhs.data());
  const C* b = reinterpret_cast<const C*>(rhs.data());
  for (KernelIsa isa : Isas()) {
    plan.isa = static_cast<int64_t>(isa);
    Threads run(2);
    std::vector<C> got(2 * 13 * 21, C(77, 77));
    Contract(&run.context, &plan, lhs.data(), rhs.data(), got.data());
    for (int64_t g = 0; g < 2; ++g) {
      for (int64_t i = 0; i < 13; ++i) {
        for (int64_t j = 0; j < 21; ++j) {
          C sum(0);
          for (int64_t k = 0; k < 40; ++k)
            sum += a[g * 520 + k * 13 + i] * b[g * 840 + (39 - k) * 21 + j];
          ASSERT_EQ(got[g * 273 + j * 13 + i], sum) << g << " " << i << " " << j;
        }
      }
    }
  }
}

TEST(Contract, TakesEveryType) {
  const ContractionPlan plan = DotPlan(2, 17, 19, 401, false, true, false);
  const int64_t l = 2 * 17 * 401, r = 2 * 19 * 401, o = 2 * 17 * 19;
  ExpectSums<BFloat16, float>(plan, ElementType::kBF16, ElementType::kF32, ElementType::kF32, l, r,
                              o, "bf16");
  ExpectSums<BFloat16, BFloat16>(plan, ElementType::kBF16, ElementType::kF32, ElementType::kBF16, l,
                                 r, o, "bf16 to bf16");
  ExpectSums<Half, float>(plan, ElementType::kF16, ElementType::kF32, ElementType::kF32, l, r, o,
                          "f16");
  ExpectSums<int16_t, int32_t>(plan, ElementType::kS16, ElementType::kS32, ElementType::kS32, l, r,
                               o, "s16");
  ExpectSums<int8_t, int8_t>(DotPlan(2, 17, 19, 3, false, true, false), ElementType::kS8,
                             ElementType::kS8, ElementType::kS8, l, r, o, "s8 to s8");
  ExpectSums<int32_t, int32_t>(plan, ElementType::kS32, ElementType::kS32, ElementType::kS32, l, r,
                               o, "s32");
  ExpectSums<int64_t, int64_t>(plan, ElementType::kS64, ElementType::kS64, ElementType::kS64, l, r,
                               o, "s64");
}

// One spatial dimension, rows of `features` (channels last) or features of rows.
ContractionPlan ConvPlan(int64_t size, int64_t taps, const ContractionWindow& window,
                         int64_t places, int64_t inputs, int64_t outputs, int64_t groups,
                         bool features_last) {
  ContractionPlan plan;
  plan.batch_count = 1;
  const int64_t all_in = inputs * groups, all_out = outputs * groups;
  const int64_t in_feature = features_last ? 1 : size, in_place = features_last ? all_in : 1;
  const int64_t out_feature = features_last ? 1 : places, out_place = features_last ? all_out : 1;
  plan.batch[0] = {groups, inputs * in_feature, outputs, outputs * out_feature};
  plan.m_count = 1;
  plan.m[0] = {places, 0, 0, out_place};
  plan.sum_count = 2;
  plan.sum[0] = {taps, 0, inputs * all_out, 0};
  plan.sum[1] = {inputs, in_feature, all_out, 0};
  plan.n_count = 1;
  plan.n[0] = {outputs, 0, 1, out_feature};
  plan.window_count = 1;
  plan.windows[0] = window;
  plan.windows[0].size = size;
  plan.windows[0].step = in_place;
  return plan;
}

TEST(Contract, AddsUpWindows) {
  std::mt19937 generator(3);
  for (int round = 0; round < 60; ++round) {
    auto below = [&](int64_t n) { return static_cast<int64_t>(generator() % n); };
    ContractionWindow window;
    window.stride = 1 + below(3);
    window.dilation = 1 + below(3);
    window.base_dilation = 1 + below(3);
    window.low = below(5) - 1;
    const int64_t size = 1 + below(40), taps = 1 + below(5), places = 1 + below(50);
    const int64_t groups = below(3) == 0 ? 9 + below(30) : 1 + below(2);
    const int64_t inputs = 1 + below(groups > 4 ? 2 : 20), outputs = 1 + below(groups > 4 ? 3 : 40);
    const ContractionPlan plan =
        ConvPlan(size, taps, window, places, inputs, outputs, groups, below(2) == 0);
    ExpectSums<float, float>(plan, ElementType::kF32, ElementType::kF32, ElementType::kF32,
                             size * inputs * groups, taps * inputs * outputs * groups,
                             places * outputs * groups, StrCat("round ", round));
  }
}

TEST(Contract, GivesTheSameBitsOnEveryMachineAndNumberOfThreads) {
  struct Size {
    int64_t m, n, k;
  };
  std::mt19937 generator(5);
  std::normal_distribution<float> normal;
  for (const Size& s : {Size{150, 170, 900}, Size{6, 1100, 300}, Size{1100, 3, 300},
                        Size{20, 300, 700}, Size{70, 40, 130}}) {
    for (bool turned : {false, true}) {
      ContractionPlan plan = DotPlan(1, s.m, s.n, s.k, turned, !turned, false);
      plan.lhs_type = plan.rhs_type = plan.sum_type = plan.out_type =
          static_cast<int64_t>(ElementType::kF32);
      std::vector<float> lhs(s.m * s.k), rhs(s.k * s.n), first;
      for (float& x : lhs) x = normal(generator);
      for (float& x : rhs) x = normal(generator);
      for (KernelIsa isa : Isas()) {
        plan.isa = static_cast<int64_t>(isa);
        for (int threads : {1, 4}) {
          Threads run(threads);
          std::vector<float> out(s.m * s.n);
          Contract(&run.context, &plan, lhs.data(), rhs.data(), out.data());
          if (first.empty()) first = out;
          EXPECT_EQ(std::memcmp(out.data(), first.data(), out.size() * sizeof(float)), 0)
              << s.m << "x" << s.n << "x" << s.k << " isa " << plan.isa << " threads " << threads;
        }
      }
    }
  }
}

// Notes what an epilogue gets, by element. An element that comes twice counts twice.
struct Taken {
  int64_t unit;
  std::vector<float> sums;
  std::atomic<int64_t> cut{0};  // parts that are no multiples of the unit
};

void TakeSums(void** table, int64_t begin, int64_t end, const void* sums) {
  auto& taken = *static_cast<Taken*>(table[0]);
  if (begin % taken.unit != 0 || end % taken.unit != 0) ++taken.cut;
  for (int64_t i = begin; i < end; ++i) {
    taken.sums[static_cast<size_t>(i)] += static_cast<const float*>(sums)[i - begin] + 1000;
  }
}

TEST(Contract, HandsOnEachSumOnceInMultiplesOfTheUnit) {
  struct Size {
    int64_t b, m, n, k;
  };
  for (const Size& s : {Size{1, 64, 64, 50}, Size{3, 128, 192, 8}, Size{1, 448, 320, 33},
                        Size{1, 64, 2048, 400}, Size{1, 8, 1088, 40}, Size{1, 1600, 64, 300}}) {
    for (int turns = 0; turns < 8; ++turns) {
      ContractionPlan plan =
          DotPlan(s.b, s.m, s.n, s.k, (turns & 1) != 0, (turns & 2) != 0, (turns & 4) != 0);
      if (plan.m[0].out == 1 && s.m % 64 != 0) continue;  // lines are multiples
      plan.lhs_type = plan.rhs_type = plan.sum_type = plan.out_type =
          static_cast<int64_t>(ElementType::kF32);
      const std::vector<float> lhs = WholeNumbers<float>(s.b * s.m * s.k, 1),
                               rhs = WholeNumbers<float>(s.b * s.k * s.n, 2);
      std::vector<float> want(static_cast<size_t>(s.b * s.m * s.n)), got(want.size());
      for (KernelIsa isa : Isas()) {
        plan.isa = static_cast<int64_t>(isa);
        for (int threads : {1, 3}) {
          Threads run(threads);
          Contract(&run.context, &plan, lhs.data(), rhs.data(), want.data());
          for (float& sum : want) sum += 1000;
          for (int64_t unit : {1, 16, 64}) {
            plan.epilogue_unit = unit;
            Taken taken{unit, std::vector<float>(want.size())};
            void* table[] = {&taken};
            ContractThen(&run.context, &plan, lhs.data(), rhs.data(), got.data(), TakeSums, table);
            EXPECT_EQ(taken.cut, 0) << s.m << "x" << s.n << " turns " << turns << " unit " << unit;
            EXPECT_EQ(taken.sums, want) << s.m << "x" << s.n << " turns " << turns;
          }
        }
      }
    }
  }
}

TEST(Contract, CostsItsProducts) {
  for (bool turned : {false, true}) {
    ContractionPlan plan = DotPlan(2, 96, 128, 64, turned, turned, false);
    plan.lhs_type = plan.rhs_type = plan.sum_type = plan.out_type =
        static_cast<int64_t>(ElementType::kF32);
    const std::vector<float> lhs(2 * 96 * 64), rhs(2 * 64 * 128);
    std::vector<float> out(2 * 96 * 128);
    Threads run(1);
    Contract(&run.context, &plan, lhs.data(), rhs.data(), out.data());
    EXPECT_EQ(run.context.work->load(), 2 * 96 * 128 * 64);
  }
  // A dilated operand costs the products that exist, not those with the zeros between.
  ContractionWindow window;
  window.base_dilation = 4;
  ContractionPlan plan = ConvPlan(64, 4, window, 256, 8, 16, 1, true);
  plan.lhs_type = plan.rhs_type = plan.sum_type = plan.out_type =
      static_cast<int64_t>(ElementType::kF32);
  const std::vector<float> lhs(64 * 8), rhs(4 * 8 * 16);
  std::vector<float> out(256 * 16);
  Threads run(1);
  Contract(&run.context, &plan, lhs.data(), rhs.data(), out.data());
  EXPECT_EQ(run.context.work->load(), 256 * 16 * 8);
}

using Complex = std::complex<long double>;

std::vector<Complex> NaiveTransform(const std::vector<Complex>& x, bool inverse) {
  const auto n = static_cast<int64_t>(x.size());
  std::vector<Complex> sums(x.size()), roots(x.size());
  for (int64_t k = 0; k < n; ++k) {
    const long double angle = (inverse ? 2 : -2) * std::numbers::pi_v<long double> *
                              static_cast<long double>(k) / static_cast<long double>(n);
    roots[k] = Complex(std::cos(angle), std::sin(angle));
  }
  for (int64_t k = 0; k < n; ++k) {
    long double real = 0, imaginary = 0;
    for (int64_t j = 0; j < n; ++j) {
      const Complex& root = roots[j * k % n];
      real += x[j].real() * root.real() - x[j].imag() * root.imag();
      imaginary += x[j].real() * root.imag() + x[j].imag() * root.real();
    }
    sums[k] = Complex(real, imaginary);
    if (inverse) sums[k] /= static_cast<long double>(n);
  }
  return sums;
}

FftShape LineShape(FftKind kind, int64_t batch, int64_t n, KernelIsa isa) {
  FftShape shape;
  shape.isa = static_cast<int64_t>(isa);
  shape.kind = static_cast<int64_t>(kind);
  shape.batch = batch;
  shape.sizes[0] = n;
  return shape;
}

// The error of `got` as a multiple of the unit roundoff and of the norm, which the contract of fft
// bounds by 8 (1 + log2 n).
template <typename T>
double ErrorInUnits(const std::vector<Complex>& want, const T* got) {
  long double error = 0, norm = 0;
  for (size_t k = 0; k < want.size(); ++k) {
    error += std::norm(want[k] - Complex(got[2 * k], got[2 * k + 1]));
    norm += std::norm(want[k]);
  }
  return static_cast<double>(std::sqrt(error / norm) / std::numeric_limits<T>::epsilon() * 2);
}

template <typename T>
void ExpectTransforms(int64_t n, int64_t batch) {
  std::mt19937 generator(static_cast<uint32_t>(n));
  std::normal_distribution<T> normal;
  std::vector<T> in(2 * batch * n), out(2 * batch * n), back(2 * batch * n);
  for (T& x : in) x = normal(generator);
  const double allowed = 8 * (1 + std::log2(static_cast<double>(n)));
  auto line_of = [&](int64_t b) {
    std::vector<Complex> line;
    for (int64_t k = 0; k < n; ++k) line.emplace_back(in[2 * (b * n + k)], in[2 * (b * n + k) + 1]);
    return line;
  };
  const std::vector<Complex> first = NaiveTransform(line_of(0), false);
  const std::vector<Complex> last = NaiveTransform(line_of(batch - 1), false);
  // The spectrum of the real parts of the last line.
  std::vector<Complex> half(n / 2 + 1);
  for (int64_t k = 0; k <= n / 2; ++k) half[k] = (last[k] + std::conj(last[(n - k) % n])) / 2.0L;
  for (KernelIsa isa : Isas()) {
    Threads run(3);
    const FftShape forward = LineShape(FftKind::kFft, batch, n, isa),
                   inverse = LineShape(FftKind::kIfft, batch, n, isa);
    Fft(&run.context, &forward, in.data(), out.data());
    Fft(&run.context, &inverse, out.data(), back.data());
    EXPECT_LT(ErrorInUnits(first, &out[0]), allowed) << n;
    EXPECT_LT(ErrorInUnits(last, &out[2 * (batch - 1) * n]), allowed) << n;
    EXPECT_LT(ErrorInUnits(line_of(0), &back[0]), 2 * allowed) << n;
    EXPECT_LT(ErrorInUnits(line_of(batch - 1), &back[2 * (batch - 1) * n]), 2 * allowed) << n;
    // Real signals: the spectrum of the real parts, and back.
    std::vector<T> real(batch * n), spectrum(2 * batch * (n / 2 + 1)), again(batch * n);
    for (int64_t i = 0; i < batch * n; ++i) real[i] = in[2 * i];
    const FftShape to = LineShape(FftKind::kRfft, batch, n, isa),
                   from = LineShape(FftKind::kIrfft, batch, n, isa);
    Fft(&run.context, &to, real.data(), spectrum.data());
    Fft(&run.context, &from, spectrum.data(), again.data());
    EXPECT_LT(ErrorInUnits(half, &spectrum[2 * (batch - 1) * (n / 2 + 1)]), allowed) << n;
    for (int64_t k = 0; k < batch * n; ++k) EXPECT_NEAR(again[k], real[k], 1e-4) << n;
  }
}

TEST(Fft, TransformsLinesOfEveryLength) {
  for (int64_t n :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 26, 30, 31, 64, 97, 128, 360, 1009}) {
    ExpectTransforms<float>(n, 3);
    ExpectTransforms<double>(n, 1);
  }
  ExpectTransforms<float>(64, 40);
  ExpectTransforms<float>(8192, 1);  // cut into four steps
}

TEST(Fft, OverflowsOnlyWhereTheResultDoes) {
  const double most = std::numeric_limits<double>::max();
  for (int64_t n : {8, 9, 17}) {
    Threads run(1);
    std::vector<double> one(n), spectrum(2 * (n / 2 + 1)), flat(2 * n), back(2 * n);
    one[n - 3] = -most;
    const FftShape to = LineShape(FftKind::kRfft, 1, n, KernelIsa::kBaseline);
    Fft(&run.context, &to, one.data(), spectrum.data());
    for (double x : spectrum) EXPECT_TRUE(std::isfinite(x)) << n;
    for (int64_t k = 0; k < n; ++k) flat[2 * k] = most / 1.01;
    const FftShape inverse = LineShape(FftKind::kIfft, 1, n, KernelIsa::kBaseline);
    Fft(&run.context, &inverse, flat.data(), back.data());
    EXPECT_NEAR(back[0] / most, 1 / 1.01, 1e-10) << n;
  }
}

TEST(Fft, TransformsPlanes) {
  constexpr int64_t kRows = 6, kColumns = 10;
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> in(2 * kRows * kColumns), out(in.size());
  for (float& x : in) x = normal(generator);
  FftShape shape = LineShape(FftKind::kFft, 1, kRows, KernelIsa::kBaseline);
  shape.rank = 2;
  shape.sizes[1] = kColumns;
  Threads run(1);
  Fft(&run.context, &shape, in.data(), out.data());
  std::vector<std::vector<Complex>> rows;
  for (int64_t r = 0; r < kRows; ++r) {
    std::vector<Complex> row;
    for (int64_t c = 0; c < kColumns; ++c) {
      row.emplace_back(in[2 * (r * kColumns + c)], in[2 * (r * kColumns + c) + 1]);
    }
    rows.push_back(NaiveTransform(row, false));
  }
  for (int64_t c = 0; c < kColumns; ++c) {
    std::vector<Complex> column;
    for (int64_t r = 0; r < kRows; ++r) column.push_back(rows[r][c]);
    column = NaiveTransform(column, false);
    for (int64_t r = 0; r < kRows; ++r) {
      EXPECT_NEAR(out[2 * (r * kColumns + c)], static_cast<float>(column[r].real()), 1e-4);
      EXPECT_NEAR(out[2 * (r * kColumns + c) + 1], static_cast<float>(column[r].imag()), 1e-4);
    }
  }
}

int64_t FftWork(int64_t n) {
  Threads run(1);
  const std::vector<float> in(2 * n);
  std::vector<float> out(2 * n);
  const FftShape shape = LineShape(FftKind::kFft, 1, n, KernelIsa::kBaseline);
  Fft(&run.context, &shape, in.data(), out.data());
  return run.context.work->load();
}

TEST(Fft, CostsNLogN) {
  // Quadratic growth would be 16-fold and 256-fold.
  EXPECT_LT(FftWork(4 * 1024), 6 * FftWork(1024));
  EXPECT_LT(FftWork(16 * 1024), 28 * FftWork(1024));
  // Neighbouring primes: as a convolution, whose power of two may double.
  EXPECT_LT(FftWork(4099), 12 * FftWork(1031));
}

// A table whose first entry is the keys to sort, and whose second is where they go.
struct SortTable {
  std::vector<uint32_t> values, sorted;
  std::vector<int64_t> places;
  void* entries[1];
};
SortTable& TableOf(void** table) { return *static_cast<SortTable*>(table[0]); }
uint8_t Less(void** table, int64_t left, int64_t right) {
  return TableOf(table).values[left] / 4 < TableOf(table).values[right] / 4 ? 1 : 0;
}
void Keys(void** table, int64_t first, void* keys) {
  const std::vector<uint32_t>& values = TableOf(table).values;
  for (size_t i = 0; i + first < values.size(); ++i) {
    static_cast<uint32_t*>(keys)[i] = values[first + i] / 4;
  }
}
void Move(void** table, int64_t, int64_t, const int64_t* order) {
  SortTable& t = TableOf(table);
  for (size_t i = 0; i < t.sorted.size(); ++i) {
    t.sorted[i] = t.values[order[i]];
    t.places[i] = order[i];
  }
}

SortTable RandomTable(int64_t size, int64_t kept) {
  SortTable table;
  std::mt19937 generator(7);
  for (int64_t i = 0; i < size; ++i) table.values.push_back(generator() % 100000);
  table.sorted.resize(kept);
  table.places.resize(kept);
  return table;
}

// Expects what a stable sort by a quarter of the value gives, and returns the steps that it took.
int64_t ExpectSorted(int64_t size, int64_t kept, int how) {
  SortTable table = RandomTable(size, kept);
  table.entries[0] = &table;
  Threads run(1);
  const SortShape shape = {1, size, 1, 4};
  if (how == 0) SortLines(&run.context, &shape, table.entries, Less, Move);
  if (how == 1) SortLinesByKey(&run.context, &shape, table.entries, Keys, Move);
  if (how == 2) SelectLinesByKey(&run.context, &shape, kept, table.entries, Keys, Move);
  std::vector<int64_t> want(size);
  for (int64_t i = 0; i < size; ++i) want[i] = i;
  std::stable_sort(want.begin(), want.end(),
                   [&](int64_t a, int64_t b) { return table.values[a] / 4 < table.values[b] / 4; });
  want.resize(kept);
  EXPECT_EQ(table.places, want) << size << " " << kept << " " << how;
  return run.context.work->load();
}

TEST(Sort, IsStableAndSelectsTheSame) {
  for (int64_t size : {1, 2, 3, 100, 512, 513, 5000}) {
    for (int how : {0, 1}) ExpectSorted(size, size, how);
    for (int64_t kept : {int64_t{1}, size / 5 + 1, size}) ExpectSorted(size, kept, 2);
  }
}

TEST(Sort, CostsWhatItShould) {
  EXPECT_LT(ExpectSorted(16 * 4096, 16 * 4096, 0), 24 * ExpectSorted(4096, 4096, 0));
  EXPECT_LE(ExpectSorted(16 * 4096, 16 * 4096, 1), 17 * ExpectSorted(4096, 4096, 1));
  EXPECT_LT(ExpectSorted(16 * 4096, 50, 2), 16 * ExpectSorted(4096, 50, 2));
}

}  // namespace
}  // namespace assay
