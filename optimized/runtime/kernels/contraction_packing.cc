// Converts elements on their way into panels, and sums on their way out.
#include "optimized/runtime/kernels/contraction_packing.h"

#include <algorithm>
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

template <typename S, typename P, int kStep>
void PackAs(const ContractionSide& side, const SidePlaces& places, int width, int64_t begin,
            int64_t end, P* to) {
  const S* data = static_cast<const S*>(side.data);
  const auto inner_count = static_cast<int64_t>(side.inner.size());
  int64_t from[SidePlaces::kMax];
  int exists[SidePlaces::kMax];
  auto slot = [&](int64_t term) {
    return to + (term - begin) / kStep * width * kStep + (term - begin) % kStep;
  };
  if (kStep > 1 && (end - begin) % kStep != 0) {
    std::memset(slot(end - 1), 0, static_cast<size_t>(width) * kStep * sizeof(P));
  }
  for (int64_t term = begin; term < end;) {
    const int64_t tap = term / inner_count, first = term % inner_count;
    const int64_t last = std::min(inner_count, first + end - term);
    const int found = LocateTap(side, places, tap, from, exists);
    bool contiguous = found == places.count;
    for (int i = 1; contiguous && i < found; ++i) contiguous = from[i] == from[0] + i;
    for (int64_t k = first; k < last; ++k, ++term) {
      P* row = slot(term);
      const S* source = data + side.inner[k];
      if (contiguous) {
        for (int i = 0; i < found; ++i) row[i * kStep] = Convert<P>(source[from[0] + i]);
        for (int i = found; i < width; ++i) row[i * kStep] = P(0);
      } else {
        if (found < width) {
          for (int i = 0; i < width; ++i) row[i * kStep] = P(0);
        }
        for (int i = 0; i < found; ++i) row[exists[i] * kStep] = Convert<P>(source[from[i]]);
      }
    }
  }
}

template <typename T, typename O>
void StoreAs(const T* tile, int64_t stride, const SidePlaces& rows, const SidePlaces& lanes,
             void* out) {
  O* to = static_cast<O*>(out);
  for (int i = 0; i < rows.count; ++i) {
    O* row = to + rows.out[i];
    for (int j = 0; j < lanes.count; ++j) {
      row[lanes.out[j]] = static_cast<O>(tile[i * stride + j]);
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
