// Factors, roots of unity and chirps of transforms.
#include <cmath>
#include <numbers>

#include "optimized/runtime/kernels/fft.h"
#include "optimized/runtime/kernels/micro_kernels.h"

namespace assay {
namespace {

// e^(-2 pi i k / n), 0 <= k < n; exact on the axes, else rounded from long double.
template <typename T>
std::complex<T> Root(int64_t k, int64_t n) {
  if (4 * k % n == 0) {
    static constexpr int kReal[] = {1, 0, -1, 0}, kImaginary[] = {0, -1, 0, 1};
    return {static_cast<T>(kReal[4 * k / n]), static_cast<T>(kImaginary[4 * k / n])};
  }
  const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                            static_cast<long double>(n);
  return {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
}

// Radices of the passes: fours first, then what is left; empty: a prime factor is too large.
std::vector<int64_t> RadicesOf(int64_t n) {
  std::vector<int64_t> radices;
  while (n % 4 == 0) {
    radices.push_back(4);
    n /= 4;
  }
  for (int64_t p = 2; p <= kMaxFftRadix && n > 1; ++p) {
    while (n % p == 0) {
      radices.push_back(p);
      n /= p;
    }
  }
  if (n > 1) radices.clear();
  return radices;
}

template <typename T>
void Push(std::vector<T>& to, std::complex<T> z) {
  to.push_back(z.real());
  to.push_back(z.imag());
}

template <typename T>
std::shared_ptr<const FftPlan<T>> MakeSmooth(int64_t n, const std::vector<int64_t>& radices) {
  auto plan = std::make_shared<FftPlan<T>>();
  plan->n = n;
  int64_t s = 1, rest = n;
  for (int64_t radix : radices) {
    typename FftPlan<T>::Pass pass{radix, rest / radix, s, {}, {}};
    for (int64_t k = 0; k < pass.m; ++k) {
      for (int64_t j = 1; j < radix; ++j) Push(pass.twiddles, Root<T>(k * j % rest, rest));
    }
    for (int64_t j = 0; radix % 2 == 1 && j < radix; ++j) Push(pass.roots, Root<T>(j, radix));
    plan->passes.push_back(std::move(pass));
    s *= radix;
    rest /= radix;
  }
  return plan;
}

// Transforms `values` forward in place, one line, as plainly as possible: for filters.
template <typename T>
void TransformOnce(const FftPlan<T>& plan, std::vector<std::complex<T>>& values) {
  std::vector<std::complex<T>> next(values.size());
  for (const auto& pass : plan.passes) {
    for (int64_t k = 0; k < pass.m; ++k) {
      for (int64_t j = 0; j < pass.radix; ++j) {
        const std::complex<T> twiddle =
            j == 0 ? std::complex<T>(1)
                   : std::complex<T>(pass.twiddles[2 * ((pass.radix - 1) * k + j - 1)],
                                     pass.twiddles[2 * ((pass.radix - 1) * k + j - 1) + 1]);
        for (int64_t q = 0; q < pass.s; ++q) {
          std::complex<T> sum = 0;
          for (int64_t i = 0; i < pass.radix; ++i) {
            sum += values[q + pass.s * (k + pass.m * i)] * Root<T>(i * j % pass.radix, pass.radix);
          }
          next[q + pass.s * (pass.radix * k + j)] = sum * twiddle;
        }
      }
    }
    values.swap(next);
  }
}

template <typename T>
std::shared_ptr<const FftPlan<T>> MakePlan(int64_t n) {
  const std::vector<int64_t> radices = RadicesOf(n);
  if (n == 1 || !radices.empty()) return MakeSmooth<T>(n, radices);
  // Bluestein: a convolution with a chirp, of a power of two that holds it without wrapping.
  auto plan = std::make_shared<FftPlan<T>>();
  plan->n = n;
  int64_t size = 1;
  while (size < 2 * n - 1) size *= 2;
  plan->convolution = MakeSmooth<T>(size, RadicesOf(size));
  for (int64_t k = 0; k < n; ++k) {
    const auto square = static_cast<int64_t>(static_cast<__int128>(k) * k % (2 * n));
    plan->chirp.push_back(Root<T>(square, 2 * n));
  }
  plan->filter.assign(size, 0);
  plan->filter[0] = std::conj(plan->chirp[0]);
  for (int64_t k = 1; k < n; ++k) {
    plan->filter[k] = plan->filter[size - k] = std::conj(plan->chirp[k]);
  }
  TransformOnce(*plan->convolution, plan->filter);
  // The inverse transform divides by its length; here it is done once.
  for (std::complex<T>& z : plan->filter) z /= static_cast<T>(size);
  return plan;
}

}  // namespace

template <>
FftPlans::Tables<float>& FftPlans::TablesOf() {
  return of_f32_;
}
template <>
FftPlans::Tables<double>& FftPlans::TablesOf() {
  return of_f64_;
}

template <typename T>
std::shared_ptr<const FftPlan<T>> FftPlans::Get(int64_t n) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& plan = TablesOf<T>().plans[n];
  if (plan == nullptr) plan = MakePlan<T>(n);
  return plan;
}

template <typename T>
std::shared_ptr<const std::vector<std::complex<T>>> FftPlans::Roots(int64_t n, int64_t count) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& roots = TablesOf<T>().roots[{n, count}];
  if (roots == nullptr) {
    auto made = std::make_shared<std::vector<std::complex<T>>>();
    for (int64_t k = 0; k < count; ++k) made->push_back(Root<T>(k, n));
    roots = std::move(made);
  }
  return roots;
}

template std::shared_ptr<const FftPlan<float>> FftPlans::Get(int64_t);
template std::shared_ptr<const FftPlan<double>> FftPlans::Get(int64_t);
template std::shared_ptr<const std::vector<std::complex<float>>> FftPlans::Roots(int64_t, int64_t);
template std::shared_ptr<const std::vector<std::complex<double>>> FftPlans::Roots(int64_t, int64_t);

}  // namespace assay
