// Integer operations, maps of any operation over 32 lanes, indices, selects and copies. Internal
// linkage, as of everything that lane_functions.h includes.
#pragma once

#include <cstdint>
#include <cstring>

#include "optimized/gpu/simulator/lanes/lane_numbers.h"
#include "optimized/gpu/simulator/lanes/lane_table.h"

namespace assay::gpu {
namespace {

// One struct per operation, with `Of` on unsigned integers of any width.
template <class T>
constexpr int kBits = 8 * sizeof(T);

#define ASSAY_INTEGER_OP(name, expression)  \
  struct name##Op {                         \
    template <class T>                      \
    static T Of(T a, T b) {                 \
      using S [[maybe_unused]] = Signed<T>; \
      return static_cast<T>(expression);    \
    }                                       \
  };
ASSAY_INTEGER_OP(Add, a + b)
ASSAY_INTEGER_OP(Sub, a - b)
ASSAY_INTEGER_OP(UDiv, b == 0 ? T{0} : a / (b == 0 ? T{1} : b))
ASSAY_INTEGER_OP(URem, b == 0 ? T{0} : a % (b == 0 ? T{1} : b))
ASSAY_INTEGER_OP(Shl, b < kBits<T> ? a << (b & (kBits<T> - 1)) : T{0})
ASSAY_INTEGER_OP(LShr, b < kBits<T> ? a >> (b & (kBits<T> - 1)) : T{0})
ASSAY_INTEGER_OP(AShr, static_cast<S>(a) >> (b < kBits<T> ? static_cast<int>(b) : kBits<T> - 1))
ASSAY_INTEGER_OP(And, a& b)
ASSAY_INTEGER_OP(Or, a | b)
ASSAY_INTEGER_OP(Xor, a ^ b)
ASSAY_INTEGER_OP(SMin, static_cast<S>(a) < static_cast<S>(b) ? a : b)
ASSAY_INTEGER_OP(SMax, static_cast<S>(a) > static_cast<S>(b) ? a : b)
ASSAY_INTEGER_OP(UMin, a < b ? a : b)
ASSAY_INTEGER_OP(UMax, a > b ? a : b)
ASSAY_INTEGER_OP(UAddSat, static_cast<T>(a + b) < a ? static_cast<T>(~T{0}) : static_cast<T>(a + b))
ASSAY_INTEGER_OP(USubSat, a < b ? T{0} : static_cast<T>(a - b))
#undef ASSAY_INTEGER_OP

struct MulOp {
  template <class T>
  static T Of(T a, T b) {
    // Shorter types would be multiplied as signed ones.
    if constexpr (sizeof(T) < 4) return static_cast<T>(uint32_t{a} * uint32_t{b});
    return static_cast<T>(a * b);
  }
};
struct SDivOp {
  template <class T>
  static T Of(T a, T b) {
    using S = Signed<T>;
    if (b == 0) return 0;
    if (b == static_cast<T>(~T{0})) return static_cast<T>(T{0} - a);
    return static_cast<T>(static_cast<S>(a) / static_cast<S>(b));
  }
};
struct SRemOp {
  template <class T>
  static T Of(T a, T b) {
    using S = Signed<T>;
    if (b == 0 || b == static_cast<T>(~T{0})) return 0;
    return static_cast<T>(static_cast<S>(a) % static_cast<S>(b));
  }
};

template <class T>
constexpr T kSignBit = static_cast<T>(T{1} << (kBits<T> - 1));

struct SAddSatOp {
  template <class T>
  static T Of(T a, T b) {
    const T sum = static_cast<T>(a + b);
    const bool overflows = ((a ^ sum) & (b ^ sum) & kSignBit<T>) != 0;
    const T most = (a & kSignBit<T>) != 0 ? kSignBit<T> : static_cast<T>(kSignBit<T> - 1);
    return overflows ? most : sum;
  }
};
struct SSubSatOp {
  template <class T>
  static T Of(T a, T b) {
    const T sum = static_cast<T>(a - b);
    const bool overflows = ((a ^ b) & (a ^ sum) & kSignBit<T>) != 0;
    const T most = (a & kSignBit<T>) != 0 ? kSignBit<T> : static_cast<T>(kSignBit<T> - 1);
    return overflows ? most : sum;
  }
};

#define ASSAY_INTEGER_TRUTH(name, expression) \
  struct name##Op {                           \
    template <class T>                        \
    static uint8_t Of(T a, T b) {             \
      using S [[maybe_unused]] = Signed<T>;   \
      return (expression) ? 1 : 0;            \
    }                                         \
  };
ASSAY_INTEGER_TRUTH(Equal, a == b)
ASSAY_INTEGER_TRUTH(NotEqual, a != b)
ASSAY_INTEGER_TRUTH(ULess, a < b)
ASSAY_INTEGER_TRUTH(ULessEqual, a <= b)
ASSAY_INTEGER_TRUTH(SLess, static_cast<S>(a) < static_cast<S>(b))
ASSAY_INTEGER_TRUTH(SLessEqual, static_cast<S>(a) <= static_cast<S>(b))
ASSAY_INTEGER_TRUTH(UAddOverflow, static_cast<T>(a + b) < a)
ASSAY_INTEGER_TRUTH(USubOverflow, a < b)
#undef ASSAY_INTEGER_TRUTH

#define ASSAY_OVERFLOW(name, builtin, type)                                        \
  struct name##Op {                                                                \
    template <class T>                                                             \
    static uint8_t Of(T a, T b) {                                                  \
      using S [[maybe_unused]] = Signed<T>;                                        \
      type result;                                                                 \
      return builtin(static_cast<type>(a), static_cast<type>(b), &result) ? 1 : 0; \
    }                                                                              \
  };
ASSAY_OVERFLOW(SAddOverflow, __builtin_add_overflow, S)
ASSAY_OVERFLOW(SSubOverflow, __builtin_sub_overflow, S)
ASSAY_OVERFLOW(SMulOverflow, __builtin_mul_overflow, S)
ASSAY_OVERFLOW(UMulOverflow, __builtin_mul_overflow, T)
#undef ASSAY_OVERFLOW

struct AbsOp {
  template <class T>
  static T Of(T a) {
    return (a & kSignBit<T>) != 0 ? static_cast<T>(T{0} - a) : a;
  }
};
struct PopulationOp {
  template <class T>
  static T Of(T a) {
    if constexpr (sizeof(T) == 16) {
      return __builtin_popcountll(static_cast<uint64_t>(a)) +
             __builtin_popcountll(static_cast<uint64_t>(a >> 64));
    }
    return static_cast<T>(__builtin_popcountll(static_cast<uint64_t>(a)));
  }
};
inline int LeadingZeros64(uint64_t value) { return value == 0 ? 64 : __builtin_clzll(value); }
inline int TrailingZeros64(uint64_t value) { return value == 0 ? 64 : __builtin_ctzll(value); }
struct LeadingZerosOp {
  template <class T>
  static T Of(T a) {
    if constexpr (sizeof(T) == 16) {
      const uint64_t high = static_cast<uint64_t>(a >> 64);
      return high != 0 ? LeadingZeros64(high) : 64 + LeadingZeros64(static_cast<uint64_t>(a));
    }
    return static_cast<T>(LeadingZeros64(static_cast<uint64_t>(a)) - (64 - kBits<T>));
  }
};
struct TrailingZerosOp {
  template <class T>
  static T Of(T a) {
    if constexpr (sizeof(T) == 16) {
      const uint64_t low = static_cast<uint64_t>(a);
      return low != 0 ? TrailingZeros64(low) : 64 + TrailingZeros64(static_cast<uint64_t>(a >> 64));
    }
    const int zeros = TrailingZeros64(static_cast<uint64_t>(a));
    return static_cast<T>(zeros < kBits<T> ? zeros : kBits<T>);
  }
};
struct SwapBytesOp {
  template <class T>
  static T Of(T a) {
    T result = 0;
    for (size_t k = 0; k < sizeof(T); ++k) {
      result = static_cast<T>(result | ((a >> (8 * k) & 255) << (8 * (sizeof(T) - 1 - k))));
    }
    return result;
  }
};
struct ReverseBitsOp {
  template <class T>
  static T Of(T a) {
    T result = 0;
    for (int k = 0; k < kBits<T>; ++k) {
      result = static_cast<T>(result | ((a >> k & 1) << (kBits<T> - 1 - k)));
    }
    return result;
  }
};
struct FunnelLeftOp {
  template <class T>
  static T Of(T a, T b, T c) {
    const int shift = static_cast<int>(c % kBits<T>);
    return shift == 0 ? a : static_cast<T>(a << shift | b >> (kBits<T> - shift));
  }
};
struct FunnelRightOp {
  template <class T>
  static T Of(T a, T b, T c) {
    const int shift = static_cast<int>(c % kBits<T>);
    return shift == 0 ? b : static_cast<T>(a << (kBits<T> - shift) | b >> shift);
  }
};

template <class Op, class R, class T>
void Map1(void* result, const void* a, const void*, const void*) {
  R* __restrict to = static_cast<R*>(result);
  const T* x = static_cast<const T*>(a);
  ASSAY_LANES to[k] = Op::Of(x[k]);
}
template <class Op, class R, class T>
void Map2(void* result, const void* a, const void* b, const void*) {
  R* __restrict to = static_cast<R*>(result);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  ASSAY_LANES to[k] = Op::Of(x[k], y[k]);
}
template <class Op, class R, class T>
void Map3(void* result, const void* a, const void* b, const void* c) {
  R* __restrict to = static_cast<R*>(result);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  const T* z = static_cast<const T*>(c);
  ASSAY_LANES to[k] = Op::Of(x[k], y[k], z[k]);
}
template <class T>
void IndexTimes(void* result, const void* a, const void* b, const void* c) {
  uint64_t* __restrict to = static_cast<uint64_t*>(result);
  const uint64_t* base = static_cast<const uint64_t*>(a);
  const Signed<T>* index = static_cast<const Signed<T>*>(b);
  const uint64_t stride = *static_cast<const uint64_t*>(c);
  ASSAY_LANES to[k] = base[k] + static_cast<uint64_t>(static_cast<int64_t>(index[k])) * stride;
}
template <class T>
void IndexShift(void* result, const void* a, const void* b, const void* c) {
  uint64_t* __restrict to = static_cast<uint64_t*>(result);
  const uint64_t* base = static_cast<const uint64_t*>(a);
  const Signed<T>* index = static_cast<const Signed<T>*>(b);
  const uint64_t shift = *static_cast<const uint64_t*>(c) % kBits<uint64_t>;
  ASSAY_LANES to[k] = base[k] + (static_cast<uint64_t>(static_cast<int64_t>(index[k])) << shift);
}
template <class T>
void Select(void* result, const void* a, const void* b, const void* c) {
  T* __restrict to = static_cast<T*>(result);
  const uint8_t* chosen = static_cast<const uint8_t*>(a);
  const T* x = static_cast<const T*>(b);
  const T* y = static_cast<const T*>(c);
  ASSAY_LANES to[k] = chosen[k] != 0 ? x[k] : y[k];
}
template <class T>
void Copy(void* result, const void* a, const void*, const void*) {
  std::memcpy(result, a, kLanes * sizeof(T));
}

}  // namespace
}  // namespace assay::gpu
