// Converts elements on their way into panels, and sums on their way out.
#include "optimized/runtime/kernels/contraction_packing.h"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "spec/types/native.h"

namespace assay {
namespace {

template <typename P, typename S>
P Convert(S value) {
  if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>) {
    return static_cast<P>(static_cast<float>(value));
  } else {
    return static_cast<P>(value);
  }
}

// Zeros that stand for elements outside of an operand.
constexpr int64_t kZeroTerms = 256;
alignas(64) constexpr uint8_t kZeros[kZeroTerms * sizeof(uint64_t)] = {};

// Loads as many neighbouring terms as 16 bytes hold, packed.
template <typename S, typename P>
__m128i LoadTerms(const S* from) {
  const auto* bytes = reinterpret_cast<const __m128i*>(from);
  if constexpr (sizeof(S) == sizeof(P)) {
    return _mm_loadu_si128(bytes);
  } else if constexpr (std::is_same_v<S, BFloat16> && std::is_same_v<P, float>) {
    return _mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64(bytes));
  } else if constexpr (std::is_same_v<S, int8_t> && std::is_same_v<P, int16_t>) {
    const __m128i narrow = _mm_loadl_epi64(bytes);
    return _mm_srai_epi16(_mm_unpacklo_epi8(narrow, narrow), 8);
  } else if constexpr (std::is_same_v<S, uint8_t> && std::is_same_v<P, int16_t>) {
    return _mm_unpacklo_epi8(_mm_loadl_epi64(bytes), _mm_setzero_si128());
  } else {
    constexpr size_t kTerms = sizeof(__m128i) / sizeof(P);
    alignas(16) P terms[kTerms];
    for (size_t k = 0; k < kTerms; ++k) terms[k] = Convert<P>(from[k]);
    return _mm_load_si128(reinterpret_cast<const __m128i*>(terms));
  }
}

// Turns a square of units, each the terms of a step: vectors of one place become vectors of one
// step.
template <int kUnits>
void Turn(__m128i* v) {
  if constexpr (kUnits == 2) {
    const __m128i first = v[0];
    v[0] = _mm_unpacklo_epi64(first, v[1]);
    v[1] = _mm_unpackhi_epi64(first, v[1]);
  } else {
    const __m128i low = _mm_unpacklo_epi32(v[0], v[1]), high = _mm_unpackhi_epi32(v[0], v[1]);
    const __m128i low2 = _mm_unpacklo_epi32(v[2], v[3]), high2 = _mm_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm_unpacklo_epi64(low, low2);
    v[1] = _mm_unpackhi_epi64(low, low2);
    v[2] = _mm_unpacklo_epi64(high, high2);
    v[3] = _mm_unpackhi_epi64(high, high2);
  }
}

// Terms that are neighbours in memory: place i has `terms` of them at source[i].
template <typename S, typename P, int kStep>
void PackRuns(const S* const* source, int count, int width, int64_t terms, P* to) {
  constexpr int kUnits = static_cast<int>(sizeof(__m128i) / (sizeof(P) * kStep));
  constexpr int64_t kBlock = int64_t{kUnits} * kStep;
  constexpr int64_t kChunk = 64;  // terms whose cache lines are used up while they are at hand
  const int squares = count / kUnits * kUnits;
  const auto pack_one = [&](int i, int64_t term) {
    to[(term / kStep * width + i) * kStep + term % kStep] = Convert<P>(source[i][term]);
  };
  for (int64_t chunk = 0; chunk < terms; chunk += kChunk) {
    const int64_t end = std::min(terms, chunk + kChunk);
    const int64_t whole = chunk + (end - chunk) / kBlock * kBlock;
    for (int i = 0; i < squares; i += kUnits) {
      for (int64_t term = chunk; term < whole; term += kBlock) {
        __m128i v[kUnits];
        for (int u = 0; u < kUnits; ++u) v[u] = LoadTerms<S, P>(source[i + u] + term);
        Turn<kUnits>(v);
        P* row = to + (term / kStep * width + i) * kStep;
        for (int u = 0; u < kUnits; ++u) {
          _mm_storeu_si128(reinterpret_cast<__m128i*>(row + int64_t{u} * width * kStep), v[u]);
        }
      }
      for (int64_t term = whole; term < end; ++term) {
        for (int u = 0; u < kUnits; ++u) pack_one(i + u, term);
      }
    }
    for (int i = squares; i < count; ++i) {
      for (int64_t term = chunk; term < end; ++term) pack_one(i, term);
    }
  }
  for (int64_t term = 0; count < width && term < terms; ++term) {
    for (int i = count; i < width; ++i)
      to[(term / kStep * width + i) * kStep + term % kStep] = P(0);
  }
}

// Packs the terms of one operand from `begin` on.
template <typename S, typename P, int kStep>
class Packer {
 public:
  Packer(const ContractionSide& side, const SidePlaces& places, int width, int64_t begin, P* to)
      : side_(side),
        places_(places),
        width_(width),
        begin_(begin),
        to_(to),
        data_(static_cast<const S*>(side.data)),
        inner_count_(static_cast<int64_t>(side.inner.size())) {}

  void Run(int64_t end) {
    if (kStep > 1 && (end - begin_) % kStep != 0) {
      std::memset(Slot(end - 1), 0, static_cast<size_t>(width_) * kStep * sizeof(P));
    }
    for (int64_t term = begin_; term < end;) {
      const int64_t tap = term / inner_count_, first = term % inner_count_;
      const int64_t length = std::min(inner_count_ - first, end - term);
      if (places_.are_neighbours && IsInside(side_, places_, tap)) {
        PackNeighbours(term, first, length, places_.base[0] + side_.tap_moves[tap]);
        term += length;
        continue;
      }
      found_ = LocateTap(side_, places_, tap, from_, exists_);
      if (side_.inner_is_run && (term - begin_) % kStep == 0) {
        term += PackRun(term, first, end);
      } else {
        PackEach(term, first, length);
        term += length;
      }
    }
  }

 private:
  P* Slot(int64_t term) const {
    return to_ + (term - begin_) / kStep * width_ * kStep + (term - begin_) % kStep;
  }

  void PackNeighbours(int64_t term, int64_t first, int64_t length, int64_t from) const {
    const int count = places_.count, width = width_;
    for (int64_t k = 0; k < length; ++k) {
      P* row = Slot(term + k);
      const S* source = data_ + side_.inner[first + k] + from;
      int i = 0;
      if constexpr (kStep == 1) {
        constexpr int kLanes = static_cast<int>(sizeof(__m128i) / sizeof(P));
        for (; i + kLanes <= count; i += kLanes) {
          _mm_storeu_si128(reinterpret_cast<__m128i*>(row + i), LoadTerms<S, P>(source + i));
        }
      } else if (k + 1 < length && (term + k - begin_) % kStep == 0) {
        i = PackPairs(row, source, data_ + side_.inner[first + k + 1] + from);
        PackRest(row + 1, data_ + side_.inner[first + k + 1] + from, i, count, width);
        PackRest(row, source, i, count, width);
        ++k;
        continue;
      }
      PackRest(row, source, i, count, width);
    }
  }

  // The elements of one term from number `i` on, and zeros behind the last.
  static void PackRest(P* row, const S* source, int i, int count, int width) {
    for (; i < count; ++i) row[i * kStep] = Convert<P>(source[i]);
    for (; i < width; ++i) row[i * kStep] = P(0);
  }

  // Two terms side by side; returns how many elements of each are packed.
  int PackPairs(P* row, const S* even, const S* odd) const {
    constexpr int kPairs = static_cast<int>(sizeof(__m128i) / sizeof(P));
    int i = 0;
    for (; i + kPairs <= places_.count; i += kPairs) {
      const __m128i a = LoadTerms<S, P>(even + i), b = LoadTerms<S, P>(odd + i);
      auto* to = reinterpret_cast<__m128i*>(row + i * kStep);
      _mm_storeu_si128(to, _mm_unpacklo_epi16(a, b));
      _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(a, b));
    }
    return i;
  }

  void PackEach(int64_t term, int64_t first, int64_t length) const {
    for (int64_t k = 0; k < length; ++k) {
      P* row = Slot(term + k);
      const S* source = data_ + side_.inner[first + k];
      if (found_ < width_) {
        for (int i = 0; i < width_; ++i) row[i * kStep] = P(0);
      }
      for (int i = 0; i < found_; ++i) row[exists_[i] * kStep] = Convert<P>(source[from_[i]]);
    }
  }

  // A run goes on where the next tap reads behind it at every place. Returns its length.
  int64_t PackRun(int64_t term, int64_t first, int64_t end) const {
    int64_t tap = term / inner_count_;
    int64_t length = inner_count_ - first;
    const S* source[SidePlaces::kMax];
    if (found_ < places_.count) {
      length = std::min(length, kZeroTerms);
      for (int i = 0; i < places_.count; ++i) source[i] = reinterpret_cast<const S*>(kZeros);
    } else {
      while (term + length < end && tap + 1 < side_.taps &&
             side_.tap_moves[tap + 1] - side_.tap_moves[tap] == inner_count_ &&
             IsInside(side_, places_, tap + 1)) {
        length += inner_count_;
        ++tap;
      }
    }
    length = std::min(length, end - term);
    for (int i = 0; i < found_; ++i) source[exists_[i]] = data_ + from_[i] + side_.inner[first];
    PackRuns<S, P, kStep>(source, places_.count, width_, length, Slot(term));
    return length;
  }

  const ContractionSide& side_;
  const SidePlaces& places_;
  int width_;
  int64_t begin_;
  P* to_;
  const S* data_;
  int64_t inner_count_;
  int found_ = 0;  // elements of the tap at hand
  int64_t from_[SidePlaces::kMax];
  int exists_[SidePlaces::kMax];
};

template <typename S, typename P, int kStep>
void PackAs(const ContractionSide& side, const SidePlaces& places, int width, int64_t begin,
            int64_t end, P* to) {
  Packer<S, P, kStep>(side, places, width, begin, to).Run(end);
}

// Rounded to the nearest, ties to even, as the type does it by way of f64.
template <typename O, typename T>
O Rounded(T value) {
  if constexpr (std::is_same_v<O, BFloat16> && std::is_same_v<T, float>) {
    // Without a branch: vectors of it are made.
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const uint32_t quiet_nan = (bits >> 16 & 0x8000) | 0x7fc0;
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    return std::bit_cast<BFloat16>(static_cast<uint16_t>(is_nan ? quiet_nan : nearest));
  } else {
    return static_cast<O>(value);
  }
}

// Neighbours, a vector at a time.
template <typename T, typename O>
void StoreLine(const T* from, size_t count, O* to) {
  constexpr size_t kLanes = 16;
  size_t j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) to[j + k] = Rounded<O>(from[j + k]);
  }
  for (; j < count; ++j) to[j] = Rounded<O>(from[j]);
}

template <typename T, typename O>
void StoreAs(const T* tile, int64_t stride, absl::Span<const int64_t> rows,
             absl::Span<const int64_t> lanes, void* out) {
  O* to = static_cast<O*>(out);
  const size_t count = lanes.size();
  bool is_line = count > 0;
  for (size_t j = 1; j < count; ++j) is_line = is_line && lanes[j] == lanes[j - 1] + 1;
  if (is_line) {
    for (size_t i = 0; i < rows.size(); ++i) {
      StoreLine(tile + static_cast<int64_t>(i) * stride, count, to + rows[i] + lanes[0]);
    }
    return;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    O* row = to + rows[i];
    for (size_t j = 0; j < lanes.size(); ++j) {
      row[lanes[j]] = Rounded<O>(tile[static_cast<int64_t>(i) * stride + static_cast<int64_t>(j)]);
    }
  }
}

template <typename S>
constexpr bool kIsFloatType =
    std::is_floating_point_v<S> || std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>;
template <typename S>
constexpr bool kIsIntegerType = std::is_integral_v<S> && !std::is_same_v<S, bool>;

// Floats are packed as floats that hold them. Integers wrap, so words of 32 and 64 bits take them
// all; pairs of 16 bits take what fits.
template <typename S, typename P>
constexpr bool CanPack() {
  if constexpr (std::is_floating_point_v<P>) {
    return kIsFloatType<S> && sizeof(S) <= sizeof(P);
  } else {
    return kIsIntegerType<S> && (sizeof(P) >= 4 || sizeof(S) < sizeof(P) || std::is_same_v<S, P>);
  }
}

// Sums of f64 are not rounded to halves: nothing adds halves in f64.
template <typename T, typename O>
constexpr bool CanStore() {
  if constexpr (std::is_floating_point_v<T>) {
    return kIsFloatType<O> && (sizeof(O) >= sizeof(float) || std::is_same_v<T, float>);
  } else {
    return kIsIntegerType<O>;
  }
}

}  // namespace

template <typename P, int kStep>
PackFn<P, kStep> PackFor(ElementType type) {
  PackFn<P, kStep> pack = nullptr;
  DispatchComputed(type, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (CanPack<S, P>()) pack = PackAs<S, P, kStep>;
  });
  return pack;
}

template <typename T>
StoreFn<T> StoreFor(ElementType type) {
  StoreFn<T> store = nullptr;
  DispatchComputed(type, [&](auto tag) {
    using O = typename decltype(tag)::type;
    if constexpr (CanStore<T, O>()) store = StoreAs<T, O>;
  });
  return store;
}

template PackFn<float, 1> PackFor<float, 1>(ElementType type);
template PackFn<double, 1> PackFor<double, 1>(ElementType type);
template PackFn<int16_t, 2> PackFor<int16_t, 2>(ElementType type);
template PackFn<uint32_t, 1> PackFor<uint32_t, 1>(ElementType type);
template PackFn<uint64_t, 1> PackFor<uint64_t, 1>(ElementType type);
template StoreFn<float> StoreFor<float>(ElementType type);
template StoreFn<double> StoreFor<double>(ElementType type);
template StoreFn<uint32_t> StoreFor<uint32_t>(ElementType type);
template StoreFn<uint64_t> StoreFor<uint64_t>(ElementType type);

}  // namespace assay
