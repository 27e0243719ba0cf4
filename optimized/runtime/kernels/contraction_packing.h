// Packs the operands of a contraction for its tiles and takes sums to the result, by functions that
// are chosen once per contraction by the types of the elements.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "optimized/runtime/kernels/contraction_sides.h"
#include "spec/types/element_type.h"

namespace assay {

// Packs terms [begin, end) of `places` into `to`: for each step the terms of `width` places side by
// side, zeros behind the last. P: the packed element; kStep: terms per step (two for pairs).
template <typename P, int kStep>
using PackFn = void (*)(const ContractionSide&, const SidePlaces&, int width, int64_t begin,
                        int64_t end, P* to);

// Takes a tile of sums, whose rows are `stride` apart, to the result: `out[rows[i] + lanes[j]]`.
template <typename T>
using StoreFn = void (*)(const T* tile, int64_t stride, absl::Span<const int64_t> rows,
                         absl::Span<const int64_t> lanes, void* out);

// nullptr: elements of this type are not packed as P, or sums of T do not become that type.
template <typename P, int kStep>
PackFn<P, kStep> PackFor(ElementType type);
template <typename T>
StoreFn<T> StoreFor(ElementType type);

extern template PackFn<float, 1> PackFor<float, 1>(ElementType type);
extern template PackFn<double, 1> PackFor<double, 1>(ElementType type);
extern template PackFn<int16_t, 2> PackFor<int16_t, 2>(ElementType type);
extern template PackFn<uint32_t, 1> PackFor<uint32_t, 1>(ElementType type);
extern template PackFn<uint64_t, 1> PackFor<uint64_t, 1>(ElementType type);
extern template StoreFn<float> StoreFor<float>(ElementType type);
extern template StoreFn<double> StoreFor<double>(ElementType type);
extern template StoreFn<uint32_t> StoreFor<uint32_t>(ElementType type);
extern template StoreFn<uint64_t> StoreFor<uint64_t>(ElementType type);

}  // namespace assay
