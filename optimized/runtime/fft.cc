#include "optimized/runtime/fft.h"

#include <cmath>
#include <complex>
#include <numbers>
#include <type_traits>
#include <vector>

namespace assay {
namespace {

// The work is done in a wider format than the values have, as the chirp of an odd length costs a
// few digits.
template <typename T>
using WiderThan = std::conditional_t<std::is_same_v<T, float>, double, long double>;

// e^(-2 pi i k / n), 0 <= k < n; exact on the axes.
template <typename W>
std::complex<W> Root(int64_t k, int64_t n) {
  if (4 * k % n == 0) {
    static constexpr W kReal[] = {1, 0, -1, 0}, kImaginary[] = {0, -1, 0, 1};
    return {kReal[4 * k / n], kImaginary[4 * k / n]};
  }
  const W angle = -2 * std::numbers::pi_v<W> * static_cast<W>(k) / static_cast<W>(n);
  return {std::cos(angle), std::sin(angle)};
}

bool IsPowerOfTwo(int64_t n) { return (n & (n - 1)) == 0; }

// A transform of one length, planned once.
template <typename W>
class Plan {
 public:
  using Z = std::complex<W>;

  explicit Plan(int64_t n) : n_(n), size_(n) {
    if (!IsPowerOfTwo(n)) {
      // Bluestein: a convolution with a chirp, of a power of two that holds it without wrapping.
      size_ = 1;
      while (size_ < 2 * n - 1) size_ *= 2;
      chirp_.resize(n);
      for (int64_t k = 0; k < n; ++k) {
        const auto square = static_cast<int64_t>(static_cast<__int128>(k) * k % (2 * n));
        chirp_[k] = Root<W>(square, 2 * n);
      }
    }
    for (int64_t k = 0; k < size_ / 2; ++k) roots_.push_back(Root<W>(k, size_));
    if (chirp_.empty()) return;
    filter_.assign(size_, 0);
    filter_[0] = std::conj(chirp_[0]);
    for (int64_t k = 1; k < n; ++k) filter_[k] = filter_[size_ - k] = std::conj(chirp_[k]);
    Radix2(filter_);
    work_.resize(size_);
  }

  // In place; forward.
  void Run(std::vector<Z>& values) {
    if (chirp_.empty()) return Radix2(values);
    std::fill(work_.begin(), work_.end(), 0);
    for (int64_t k = 0; k < n_; ++k) work_[k] = values[k] * chirp_[k];
    Radix2(work_);
    // The inverse is the forward transform of the conjugates.
    for (int64_t k = 0; k < size_; ++k) work_[k] = std::conj(work_[k] * filter_[k]);
    Radix2(work_);
    const W scale = W(1) / static_cast<W>(size_);
    for (int64_t k = 0; k < n_; ++k) values[k] = std::conj(work_[k]) * scale * chirp_[k];
  }

 private:
  void Radix2(std::vector<Z>& values) const {
    for (int64_t i = 1, j = 0; i < size_; ++i) {
      int64_t bit = size_ >> 1;
      for (; (j & bit) != 0; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(values[i], values[j]);
    }
    for (int64_t half = 1; half < size_; half *= 2) {
      const int64_t step = size_ / (2 * half);
      for (int64_t start = 0; start < size_; start += 2 * half) {
        for (int64_t k = 0; k < half; ++k) {
          const Z even = values[start + k];
          const Z &root = roots_[k * step], &value = values[start + k + half];
          // Written out: the operator of the library looks for infinities.
          const Z odd(root.real() * value.real() - root.imag() * value.imag(),
                      root.real() * value.imag() + root.imag() * value.real());
          values[start + k] = even + odd;
          values[start + k + half] = even - odd;
        }
      }
    }
  }

  int64_t n_, size_;
  std::vector<Z> roots_, chirp_, filter_, work_;
};

// The inverse transform is the forward one with the parts exchanged before and after: no sign of a
// zero changes.
template <typename W>
std::complex<W> Swapped(std::complex<W> z) {
  return {z.imag(), z.real()};
}

// Transforms the lines along dimension `d` of an array of `sizes`.
template <typename W>
void AlongDimension(std::vector<std::complex<W>>& values, const std::vector<int64_t>& sizes,
                    size_t d, bool inverse) {
  const int64_t n = sizes[d];
  int64_t stride = 1;
  for (size_t k = d + 1; k < sizes.size(); ++k) stride *= sizes[k];
  using Z = std::complex<W>;
  Plan<W> plan(n);
  std::vector<Z> line(n);
  const auto count = static_cast<int64_t>(values.size());
  for (int64_t block = 0; block < count; block += n * stride) {
    for (int64_t offset = block; offset < block + stride; ++offset) {
      for (int64_t k = 0; k < n; ++k) {
        const Z value = values[offset + k * stride];
        line[k] = inverse ? Swapped(value) : value;
      }
      plan.Run(line);
      const W scale = W(1) / static_cast<W>(n);
      for (int64_t k = 0; k < n; ++k) {
        values[offset + k * stride] = inverse ? Swapped(line[k]) * scale : line[k];
      }
    }
  }
}

}  // namespace

template <typename T>
void Fft(const T* in, T* out, int64_t kind, int64_t batch, int64_t rank, int64_t n0, int64_t n1,
         int64_t n2) {
  using W = WiderThan<T>;
  using Z = std::complex<W>;
  const auto form = static_cast<FftKind>(kind);
  std::vector<int64_t> sizes = {n0, n1, n2};
  sizes.resize(rank);
  const int64_t last = sizes.back(), half = last / 2 + 1;
  int64_t outer = 1;
  for (int64_t d = 0; d + 1 < rank; ++d) outer *= sizes[d];
  if (outer * last == 0) return;
  // Elements of a line of the innermost dimension, as stored before and after.
  const int64_t read = form == FftKind::kIrfft ? half : last,
                written = form == FftKind::kRfft ? half : last;
  const bool inverse = form == FftKind::kIfft || form == FftKind::kIrfft;
  std::vector<Z> values(outer * last);
  std::vector<int64_t> shape = sizes;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t line = 0; line < outer; ++line) {
      for (int64_t k = 0; k < read; ++k) {
        const int64_t at = (b * outer + line) * read + k;
        values[line * read + k] =
            form == FftKind::kRfft ? Z(in[at], 0) : Z(in[2 * at], in[2 * at + 1]);
      }
    }
    if (form != FftKind::kIrfft) {
      for (size_t d = 0; d < sizes.size(); ++d) AlongDimension(values, sizes, d, inverse);
    } else {
      // The outer dimensions of the half that is stored first, then each line from its half.
      std::vector<Z> stored(values.begin(), values.begin() + outer * half);
      shape.back() = half;
      for (size_t d = 0; d + 1 < sizes.size(); ++d) AlongDimension(stored, shape, d, true);
      for (int64_t line = 0; line < outer; ++line) {
        Z* full = &values[line * last];
        const Z* from = &stored[line * half];
        for (int64_t k = 0; k < half; ++k) full[k] = from[k];
        for (int64_t k = 1; k < (last + 1) / 2; ++k) full[last - k] = std::conj(from[k]);
        full[0].imag(0);
        if (last % 2 == 0) full[last / 2].imag(0);
      }
      AlongDimension(values, sizes, sizes.size() - 1, true);
    }
    for (int64_t line = 0; line < outer; ++line) {
      for (int64_t k = 0; k < written; ++k) {
        const Z& value = values[line * last + k];
        const int64_t at = (b * outer + line) * written + k;
        if (form == FftKind::kIrfft) {
          out[at] = static_cast<T>(value.real());
        } else {
          out[2 * at] = static_cast<T>(value.real());
          out[2 * at + 1] = static_cast<T>(value.imag());
        }
      }
    }
  }
}

template void Fft(const float*, float*, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
template void Fft(const double*, double*, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);

}  // namespace assay
