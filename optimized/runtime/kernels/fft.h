// Discrete Fourier transforms of any length for compiled code, in the type that the values have.
// Plans are made once per length and kept for the life of an executable; lines of an array are
// transformed side by side in the lanes of vectors, groups of them on all threads. Long lines are
// cut into short ones (four steps), lengths with a large prime factor become convolutions
// (Bluestein). Document: operation semantics chapter 11 (Fft).
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace assay {

struct RunContext;

struct FftShape {
  int64_t isa = 0;   // KernelIsa
  int64_t kind = 0;  // FftKind
  int64_t batch = 1;
  int64_t rank = 1;              // 1 to 3
  int64_t sizes[3] = {1, 1, 1};  // the first `rank` of them, of the real side for kRfft and kIrfft
};

// Arrays lie one after another. T: float or double, the type of a part.
template <typename T>
void Fft(RunContext* context, const FftShape* shape, const T* in, T* out);

// The plan by which a line of n complex numbers is transformed.
template <typename T>
struct FftPlan {
  struct Pass {
    int64_t radix, m, s;
    std::vector<T> twiddles, roots;
  };
  int64_t n = 1;
  std::vector<Pass> passes;                    // of a length with small factors; otherwise:
  std::shared_ptr<const FftPlan> convolution;  // of the chirp, a power of two
  std::vector<std::complex<T>> chirp, filter;
};

class FftPlans {
 public:
  // Safe to use from several threads.
  template <typename T>
  std::shared_ptr<const FftPlan<T>> Get(int64_t n);
  // e^(-2 pi i k / n) for k < count.
  template <typename T>
  std::shared_ptr<const std::vector<std::complex<T>>> Roots(int64_t n, int64_t count);

 private:
  template <typename T>
  struct Tables {
    std::map<int64_t, std::shared_ptr<const FftPlan<T>>> plans;
    std::map<std::pair<int64_t, int64_t>, std::shared_ptr<const std::vector<std::complex<T>>>>
        roots;
  };
  template <typename T>
  Tables<T>& TablesOf();

  std::mutex mutex_;
  Tables<float> of_f32_;
  Tables<double> of_f64_;
};

}  // namespace assay
