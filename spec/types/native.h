// Element types as C++ types: dispatch from a run-time ElementType to a typed function.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "spec/types/element_type.h"
#include "spec/types/float_format.h"

namespace assay {

// Sub-byte integers are kept one per byte, already sign- or zero-extended; SubByte says how many
// bits count.
template <ElementType kType, typename Storage, int kBits>
struct SubByte {
  Storage value = 0;
  SubByte() = default;
  // Keeps the low bits, then extends: the wrap-around of chapter 1.2.
  explicit SubByte(int64_t v) : value(Wrap(v)) {}
  explicit operator int64_t() const { return value; }
  static Storage Wrap(int64_t v) {
    uint64_t low = static_cast<uint64_t>(v) & ((uint64_t{1} << kBits) - 1);
    if (std::is_signed_v<Storage> && (low >> (kBits - 1)) != 0) low |= ~uint64_t{0} << kBits;
    return static_cast<Storage>(low);
  }
};

template <typename T>
struct TypeTag {
  using type = T;
};

template <ElementType kType>
struct NativeOf;
#define ASSAY_NATIVE(element, ...)        \
  template <>                             \
  struct NativeOf<ElementType::element> { \
    using type = __VA_ARGS__;             \
  };
ASSAY_NATIVE(kPred, bool)
ASSAY_NATIVE(kS8, int8_t)
ASSAY_NATIVE(kS16, int16_t)
ASSAY_NATIVE(kS32, int32_t)
ASSAY_NATIVE(kS64, int64_t)
ASSAY_NATIVE(kU8, uint8_t)
ASSAY_NATIVE(kU16, uint16_t)
ASSAY_NATIVE(kU32, uint32_t)
ASSAY_NATIVE(kU64, uint64_t)
ASSAY_NATIVE(kF16, Half)
ASSAY_NATIVE(kBF16, BFloat16)
ASSAY_NATIVE(kF32, float)
ASSAY_NATIVE(kF64, double)
ASSAY_NATIVE(kC64, std::complex<float>)
ASSAY_NATIVE(kC128, std::complex<double>)
ASSAY_NATIVE(kS1, SubByte<ElementType::kS1, int8_t, 1>)
ASSAY_NATIVE(kU1, SubByte<ElementType::kU1, uint8_t, 1>)
ASSAY_NATIVE(kS2, SubByte<ElementType::kS2, int8_t, 2>)
ASSAY_NATIVE(kU2, SubByte<ElementType::kU2, uint8_t, 2>)
ASSAY_NATIVE(kS4, SubByte<ElementType::kS4, int8_t, 4>)
ASSAY_NATIVE(kU4, SubByte<ElementType::kU4, uint8_t, 4>)
ASSAY_NATIVE(kF8E5M2, NarrowFloat<ElementType::kF8E5M2>)
ASSAY_NATIVE(kF8E4M3FN, NarrowFloat<ElementType::kF8E4M3FN>)
ASSAY_NATIVE(kF8E4M3B11FNUZ, NarrowFloat<ElementType::kF8E4M3B11FNUZ>)
ASSAY_NATIVE(kF8E5M2FNUZ, NarrowFloat<ElementType::kF8E5M2FNUZ>)
ASSAY_NATIVE(kF8E4M3FNUZ, NarrowFloat<ElementType::kF8E4M3FNUZ>)
ASSAY_NATIVE(kF8E4M3, NarrowFloat<ElementType::kF8E4M3>)
ASSAY_NATIVE(kF8E3M4, NarrowFloat<ElementType::kF8E3M4>)
ASSAY_NATIVE(kF8E8M0FNU, NarrowFloat<ElementType::kF8E8M0FNU>)
ASSAY_NATIVE(kF4E2M1FN, NarrowFloat<ElementType::kF4E2M1FN>)
ASSAY_NATIVE(kF6E3M2FN, NarrowFloat<ElementType::kF6E3M2FN>)
ASSAY_NATIVE(kF6E2M3FN, NarrowFloat<ElementType::kF6E2M3FN>)
#undef ASSAY_NATIVE

template <ElementType kType>
using Native = typename NativeOf<kType>::type;

// Calls f(TypeTag<Native>{}) for the ten integer-like and float types that the first oracle and
// compiler compute: pred, s8..s64, u8..u64, f16, bf16, f32, f64. Returns false, without calling,
// for any other type.
template <typename F>
bool DispatchComputed(ElementType type, F&& f) {
  switch (type) {
    case ElementType::kPred:
      f(TypeTag<bool>{});
      return true;
    case ElementType::kS8:
      f(TypeTag<int8_t>{});
      return true;
    case ElementType::kS16:
      f(TypeTag<int16_t>{});
      return true;
    case ElementType::kS32:
      f(TypeTag<int32_t>{});
      return true;
    case ElementType::kS64:
      f(TypeTag<int64_t>{});
      return true;
    case ElementType::kU8:
      f(TypeTag<uint8_t>{});
      return true;
    case ElementType::kU16:
      f(TypeTag<uint16_t>{});
      return true;
    case ElementType::kU32:
      f(TypeTag<uint32_t>{});
      return true;
    case ElementType::kU64:
      f(TypeTag<uint64_t>{});
      return true;
    case ElementType::kF16:
      f(TypeTag<Half>{});
      return true;
    case ElementType::kBF16:
      f(TypeTag<BFloat16>{});
      return true;
    case ElementType::kF32:
      f(TypeTag<float>{});
      return true;
    case ElementType::kF64:
      f(TypeTag<double>{});
      return true;
    default:
      return false;
  }
}

// True for the types of DispatchComputed.
bool IsComputed(ElementType type);

}  // namespace assay
