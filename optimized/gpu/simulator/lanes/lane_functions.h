// The loops over 32 lanes. Included by one source per instruction set, each of which names the
// function that gives its table; all else has internal linkage, so that the linker cannot mix them.
#pragma once

#include <cstdint>
#include <cstring>

#include "optimized/gpu/simulator/lanes/lane_numbers.h"
#include "optimized/gpu/simulator/lanes/lane_table.h"
#include "optimized/gpu/simulator/lanes/stamp_rules.h"

namespace assay::gpu {
namespace {

#define ASSAY_LANES for (int k = 0; k < kLanes; ++k)

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
  const int shift = static_cast<int>(*static_cast<const uint64_t*>(c));
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

// Floats: computed in float or double, which is exact enough for one rounding to the shorter types.
#define ASSAY_FLOAT_OP(name, parameters, expression) \
  struct name##Op {                                  \
    template <class F>                               \
    static F Of parameters {                         \
      return expression;                             \
    }                                                \
  };
inline float Fmod(float a, float b) { return __builtin_fmodf(a, b); }
inline double Fmod(double a, double b) { return __builtin_fmod(a, b); }
inline float Root(float a) { return __builtin_sqrtf(a); }
inline double Root(double a) { return __builtin_sqrt(a); }
inline float Floor(float a) { return __builtin_floorf(a); }
inline double Floor(double a) { return __builtin_floor(a); }
inline float Ceil(float a) { return __builtin_ceilf(a); }
inline double Ceil(double a) { return __builtin_ceil(a); }
inline float Trunc(float a) { return __builtin_truncf(a); }
inline double Trunc(double a) { return __builtin_trunc(a); }
inline float NearestEven(float a) { return __builtin_rintf(a); }
inline double NearestEven(double a) { return __builtin_rint(a); }
inline float RoundAway(float a) { return __builtin_roundf(a); }
inline double RoundAway(double a) { return __builtin_round(a); }
ASSAY_FLOAT_OP(FAdd, (F a, F b), a + b)
ASSAY_FLOAT_OP(FSub, (F a, F b), a - b)
ASSAY_FLOAT_OP(FMul, (F a, F b), a* b)
ASSAY_FLOAT_OP(FDiv, (F a, F b), a / b)
ASSAY_FLOAT_OP(FRem, (F a, F b), Fmod(a, b))
ASSAY_FLOAT_OP(Sqrt, (F a), Root(a))
ASSAY_FLOAT_OP(Floor, (F a), Floor(a))
ASSAY_FLOAT_OP(Ceil, (F a), Ceil(a))
ASSAY_FLOAT_OP(Trunc, (F a), Trunc(a))
ASSAY_FLOAT_OP(RoundEven, (F a), NearestEven(a))
ASSAY_FLOAT_OP(Round, (F a), RoundAway(a))
// PTX: -0 is below +0, and a number beats a NaN.
ASSAY_FLOAT_OP(MinNum, (F a, F b), b != b ? a : (a < b || (a == b && __builtin_signbit(a)) ? a : b))
ASSAY_FLOAT_OP(MaxNum, (F a, F b),
               b != b ? a : (a > b || (a == b && !__builtin_signbit(a)) ? a : b))
ASSAY_FLOAT_OP(Minimum, (F a, F b),
               a != a ? a : (b != b ? b : (a < b || (a == b && __builtin_signbit(a)) ? a : b)))
ASSAY_FLOAT_OP(Maximum, (F a, F b),
               a != a ? a : (b != b ? b : (a > b || (a == b && !__builtin_signbit(a)) ? a : b)))
#undef ASSAY_FLOAT_OP

// Signs are bits of the value as it is stored, NaN or not.
template <class T>
struct BitsOfFloat {
  using Type = uint16_t;
};
template <>
struct BitsOfFloat<float> {
  using Type = uint32_t;
};
template <>
struct BitsOfFloat<double> {
  using Type = uint64_t;
};
struct NegateOp {
  template <class T>
  static T Of(T a) {
    return static_cast<T>(a ^ kSignBit<T>);
  }
};
struct WithoutSignOp {
  template <class T>
  static T Of(T a) {
    return static_cast<T>(a & static_cast<T>(~kSignBit<T>));
  }
};
struct CopySignOp {
  template <class T>
  static T Of(T a, T b) {
    return static_cast<T>((a & static_cast<T>(~kSignBit<T>)) | (b & kSignBit<T>));
  }
};

template <class Op, class T>
void MapFloat1(void* result, const void* a, const void*, const void*) {
  T* __restrict to = static_cast<T*>(result);
  const T* x = static_cast<const T*>(a);
  ASSAY_LANES to[k] = FromFloat<T>::Of(Op::Of(AsFloat(x[k])));
}
template <class Op, class T>
void MapFloat2(void* result, const void* a, const void* b, const void*) {
  T* __restrict to = static_cast<T*>(result);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  ASSAY_LANES to[k] = FromFloat<T>::Of(Op::Of(AsFloat(x[k]), AsFloat(y[k])));
}
template <class T>
void MapFma(void* result, const void* a, const void* b, const void* c) {
  T* __restrict to = static_cast<T*>(result);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  const T* z = static_cast<const T*>(c);
  if constexpr (sizeof(T) == 2) {
    ASSAY_LANES to[k] = FromFloat<T>::Of(OddFma(AsFloat(x[k]), AsFloat(y[k]), AsFloat(z[k])));
  } else if constexpr (sizeof(T) == 4) {
    ASSAY_LANES to[k] = __builtin_fmaf(x[k], y[k], z[k]);
  } else {
    ASSAY_LANES to[k] = __builtin_fma(x[k], y[k], z[k]);
  }
}
// The exponent is an i32.
template <class T>
void MapLdexp(void* result, const void* a, const void* b, const void*) {
  T* __restrict to = static_cast<T*>(result);
  const T* x = static_cast<const T*>(a);
  const int32_t* exponent = static_cast<const int32_t*>(b);
  // In double, so that what is stored is rounded once; of double itself that is the operation.
  ASSAY_LANES to[k] =
      FromFloat<T>::Of(__builtin_ldexp(static_cast<double>(AsFloat(x[k])), exponent[k]));
}

#define ASSAY_FLOAT_TRUTH(name, expression) \
  struct name##Op {                         \
    template <class F>                      \
    static uint8_t Of(F a, F b) {           \
      return (expression) ? 1 : 0;          \
    }                                       \
  };
ASSAY_FLOAT_TRUTH(OrderedEqual, a == b)
ASSAY_FLOAT_TRUTH(OrderedLess, a < b)
ASSAY_FLOAT_TRUTH(OrderedLessEqual, a <= b)
ASSAY_FLOAT_TRUTH(OrderedNotEqual, (a < b) | (a > b))
ASSAY_FLOAT_TRUTH(Ordered, (a == a) & (b == b))
ASSAY_FLOAT_TRUTH(UnorderedEqual, !((a < b) | (a > b)))
ASSAY_FLOAT_TRUTH(UnorderedLess, !(a >= b))
ASSAY_FLOAT_TRUTH(UnorderedLessEqual, !(a > b))
ASSAY_FLOAT_TRUTH(UnorderedNotEqual, a != b)
ASSAY_FLOAT_TRUTH(Unordered, (a != a) | (b != b))
#undef ASSAY_FLOAT_TRUTH

template <class Op, class T>
void MapFloatTruth(void* result, const void* a, const void* b, const void*) {
  uint8_t* __restrict to = static_cast<uint8_t*>(result);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  ASSAY_LANES to[k] = Op::Of(AsFloat(x[k]), AsFloat(y[k]));
}

// Conversions.
template <class From, class To, bool is_signed>
void ToInteger(void* result, const void* a, const void*, const void*) {
  To* __restrict to = static_cast<To*>(result);
  const From* x = static_cast<const From*>(a);
  if constexpr (is_signed) {
    ASSAY_LANES to[k] = static_cast<To>(static_cast<Signed<To>>(static_cast<Signed<From>>(x[k])));
  } else {
    ASSAY_LANES to[k] = static_cast<To>(x[k]);
  }
}
template <class From, class To, bool is_signed>
inline To IntegerToFloat(From value) {
  if constexpr (sizeof(To) == 2) {
    if constexpr (sizeof(From) <= 4) {
      const double exact = is_signed ? static_cast<double>(static_cast<Signed<From>>(value))
                                     : static_cast<double>(value);
      return FromFloat<To>::Of(exact);
    } else {
      const bool is_negative = is_signed && (value & kSignBit<From>) != 0;
      const double magnitude = OddDouble(is_negative ? static_cast<From>(From{0} - value) : value);
      return FromFloat<To>::Of(is_negative ? -magnitude : magnitude);
    }
  } else if constexpr (is_signed) {
    return static_cast<To>(static_cast<Signed<From>>(value));
  } else {
    return static_cast<To>(value);
  }
}
template <class From, class To, bool is_signed>
void MapIntegerToFloat(void* result, const void* a, const void*, const void*) {
  To* __restrict to = static_cast<To*>(result);
  const From* x = static_cast<const From*>(a);
  ASSAY_LANES to[k] = IntegerToFloat<From, To, is_signed>(x[k]);
}
template <class From, class To, bool is_signed>
void MapFloatToInteger(void* result, const void* a, const void*, const void*) {
  To* __restrict to = static_cast<To*>(result);
  const From* x = static_cast<const From*>(a);
  using F = decltype(AsFloat(From{}));
  constexpr int kDigits = kBits<To> - (is_signed ? 1 : 0);
  const F above = kDigits > 127 && sizeof(F) == 4 ? static_cast<F>(__builtin_inff())
                                                  : static_cast<F>(__builtin_ldexp(1.0, kDigits));
  const To most = is_signed ? static_cast<To>(kSignBit<To> - 1) : static_cast<To>(~To{0});
  const To least = is_signed ? kSignBit<To> : To{0};
  ASSAY_LANES {
    const F value = AsFloat(x[k]);
    const bool fits = value < above && (is_signed ? value >= -above : value > F{-1});
    const F inside = fits ? value : F{0};
    const To converted =
        is_signed ? static_cast<To>(static_cast<Signed<To>>(inside)) : static_cast<To>(inside);
    to[k] = fits ? converted : (value >= above ? most : (value != value ? To{0} : least));
  }
}
template <class From, class To>
void MapFloatToFloat(void* result, const void* a, const void*, const void*) {
  To* __restrict to = static_cast<To*>(result);
  const From* x = static_cast<const From*>(a);
  ASSAY_LANES to[k] = FromFloat<To>::Of(AsFloat(x[k]));
}

// ---- addresses ----

inline AddressSurvey Survey(const uint64_t* addresses, uint32_t mask, uint64_t base, uint64_t span,
                            uint64_t step) {
  const int first = __builtin_ctz(mask);
  const uint64_t start = addresses[first] - static_cast<uint64_t>(first) * step;
  const uint64_t same = addresses[first];
  uint64_t outside = 0, uneven = 0, different = 0, bits = 0;
  if (mask == ~uint32_t{0}) {
    for (uint64_t k = 0; k < kLanes; ++k) {
      const uint64_t address = addresses[k];
      outside |= address - base > span ? 1 : 0;
      uneven |= address ^ (start + k * step);
      different |= address ^ same;
      bits |= address;
    }
  } else {
    for (uint64_t k = 0; k < kLanes; ++k) {
      const uint64_t active = uint64_t{0} - (mask >> k & 1);
      const uint64_t address = addresses[k];
      outside |= (address - base > span ? 1 : 0) & active;
      uneven |= (address ^ (start + k * step)) & active;
      different |= (address ^ same) & active;
      bits |= address & active;
    }
  }
  return {outside == 0, uneven == 0, different == 0, bits};
}

// ---- stamps ----

template <int shift>
inline uint32_t OwnStamp(uint32_t first, int k) {
  return first + (static_cast<uint32_t>(k >> shift) << 2);
}

template <int shift>
bool ReadStampsBy(const StampRange& range, StampLimits limits) {
  uint32_t* __restrict reads = range.reads;
  const uint32_t* __restrict writes = range.writes;
  const uint32_t first = range.first_thread;
  const int count = range.count;
  uint32_t good = 1;
  for (int k = 0; k < count; ++k) good &= IsOrdered(writes[k], OwnStamp<shift>(first, k), limits);
  if (good == 0) return false;
  for (int k = 0; k < count; ++k) {
    reads[k] = RenewedRead(reads[k], OwnStamp<shift>(first, k), limits);
  }
  return true;
}

template <int shift>
bool WriteStampsBy(const StampRange& range, StampLimits limits) {
  uint32_t* __restrict writes = range.writes;
  const uint32_t* __restrict reads = range.reads;
  const uint32_t first = range.first_thread;
  const int count = range.count;
  uint32_t good = 1;
  for (int k = 0; k < count; ++k) {
    const uint32_t own = OwnStamp<shift>(first, k);
    good &= ReadersOrdered(reads[k], own, limits) & IsOrdered(writes[k], own, limits);
  }
  if (good == 0) return false;
  const uint32_t now = limits.now | range.flags;
  for (int k = 0; k < count; ++k) writes[k] = now | OwnStamp<shift>(first, k);
  return true;
}

inline bool ReadStamps(const StampRange& range, const StampLimits& limits) {
  switch (range.lane_shift) {
    case 0:
      return ReadStampsBy<0>(range, limits);
    case 1:
      return ReadStampsBy<1>(range, limits);
    case 2:
      return ReadStampsBy<2>(range, limits);
    case 3:
      return ReadStampsBy<3>(range, limits);
    case 4:
      return ReadStampsBy<4>(range, limits);
    default:
      return false;
  }
}

inline bool WriteStamps(const StampRange& range, const StampLimits& limits) {
  switch (range.lane_shift) {
    case 0:
      return WriteStampsBy<0>(range, limits);
    case 1:
      return WriteStampsBy<1>(range, limits);
    case 2:
      return WriteStampsBy<2>(range, limits);
    case 3:
      return WriteStampsBy<3>(range, limits);
    case 4:
      return WriteStampsBy<4>(range, limits);
    default:
      return false;
  }
}

template <int mode>
void ShuffleBy(const ShuffleLanes& lanes) {
  uint32_t* __restrict from = lanes.from;
  uint8_t* __restrict in_range = lanes.in_range;
  const uint32_t* offsets = lanes.offsets;
  const uint32_t* clamps = lanes.clamps;
  for (uint32_t k = 0; k < kLanes; ++k) {
    const uint32_t offset = offsets[k] & 31, segment = clamps[k] >> 8 & 31, clamp = clamps[k] & 31;
    const uint32_t most = (k & segment) | (clamp & ~segment);
    const uint32_t there = mode == 0   ? k - offset
                           : mode == 1 ? k + offset
                           : mode == 2 ? k ^ offset
                                       : (k & segment) | (offset & ~segment);
    const bool is_good =
        mode == 0 ? static_cast<int32_t>(there) >= static_cast<int32_t>(most) : there <= most;
    from[k] = is_good ? there : k;
    in_range[k] = is_good ? 1 : 0;
  }
  uint32_t* __restrict results = lanes.results;
  const uint32_t* values = lanes.values;
  for (int k = 0; k < kLanes; ++k) results[k] = values[from[k] & 31];
}

template <class T>
void Blend(void* to, const void* from, uint32_t mask) {
  T* __restrict x = static_cast<T*>(to);
  const T* y = static_cast<const T*>(from);
  ASSAY_LANES x[k] = (mask >> k & 1) != 0 ? y[k] : x[k];
}

template <class T, uint64_t step>
void CollectBy(T* __restrict to, const char* from) {
  ASSAY_LANES std::memcpy(to + k, from + k * step, sizeof(T));
}
template <class T>
void Collect(void* to, const void* from, uint64_t step) {
  T* __restrict x = static_cast<T*>(to);
  const char* y = static_cast<const char*>(from);
  if (step == 4 * sizeof(T)) return CollectBy<T, 4 * sizeof(T)>(x, y);
  if (step == 2 * sizeof(T)) return CollectBy<T, 2 * sizeof(T)>(x, y);
  ASSAY_LANES std::memcpy(x + k, y + k * step, sizeof(T));
}
template <class T>
void Scatter(void* to, const void* from, uint64_t step) {
  char* __restrict x = static_cast<char*>(to);
  const T* y = static_cast<const T*>(from);
  ASSAY_LANES std::memcpy(x + k * step, y + k, sizeof(T));
}

// ---- tables ----

using OpRow = LaneFunction (&)[kLaneTypes];

template <class Op>
void Integers1(OpRow row) {
  row[kI8] = Map1<Op, uint8_t, uint8_t>;
  row[kI16] = Map1<Op, uint16_t, uint16_t>;
  row[kI32] = Map1<Op, uint32_t, uint32_t>;
  row[kI64] = Map1<Op, uint64_t, uint64_t>;
  row[kI128] = Map1<Op, U128, U128>;
}
template <class Op>
void Integers2(OpRow row) {
  row[kI8] = Map2<Op, uint8_t, uint8_t>;
  row[kI16] = Map2<Op, uint16_t, uint16_t>;
  row[kI32] = Map2<Op, uint32_t, uint32_t>;
  row[kI64] = Map2<Op, uint64_t, uint64_t>;
  row[kI128] = Map2<Op, U128, U128>;
}
template <class Op>
void Integers3(OpRow row) {
  row[kI8] = Map3<Op, uint8_t, uint8_t>;
  row[kI16] = Map3<Op, uint16_t, uint16_t>;
  row[kI32] = Map3<Op, uint32_t, uint32_t>;
  row[kI64] = Map3<Op, uint64_t, uint64_t>;
  row[kI128] = Map3<Op, U128, U128>;
}
template <class Op>
void IntegerTruths(OpRow row) {
  row[kI8] = Map2<Op, uint8_t, uint8_t>;
  row[kI16] = Map2<Op, uint8_t, uint16_t>;
  row[kI32] = Map2<Op, uint8_t, uint32_t>;
  row[kI64] = Map2<Op, uint8_t, uint64_t>;
  row[kI128] = Map2<Op, uint8_t, U128>;
}
template <class Op>
void Floats1(OpRow row) {
  row[kF16] = MapFloat1<Op, Half>;
  row[kBF16] = MapFloat1<Op, Brain>;
  row[kF32] = MapFloat1<Op, float>;
  row[kF64] = MapFloat1<Op, double>;
}
template <class Op>
void Floats2(OpRow row) {
  row[kF16] = MapFloat2<Op, Half>;
  row[kBF16] = MapFloat2<Op, Brain>;
  row[kF32] = MapFloat2<Op, float>;
  row[kF64] = MapFloat2<Op, double>;
}
template <class Op>
void FloatTruths(OpRow row) {
  row[kF16] = MapFloatTruth<Op, Half>;
  row[kBF16] = MapFloatTruth<Op, Brain>;
  row[kF32] = MapFloatTruth<Op, float>;
  row[kF64] = MapFloatTruth<Op, double>;
}

inline void FillIntegers(LaneTable& table) {
  Integers2<AddOp>(table.ops[kAdd]);
  Integers2<SubOp>(table.ops[kSub]);
  Integers2<MulOp>(table.ops[kMul]);
  Integers2<UDivOp>(table.ops[kUDiv]);
  Integers2<SDivOp>(table.ops[kSDiv]);
  Integers2<URemOp>(table.ops[kURem]);
  Integers2<SRemOp>(table.ops[kSRem]);
  Integers2<ShlOp>(table.ops[kShl]);
  Integers2<LShrOp>(table.ops[kLShr]);
  Integers2<AShrOp>(table.ops[kAShr]);
  Integers2<AndOp>(table.ops[kAnd]);
  Integers2<OrOp>(table.ops[kOr]);
  Integers2<XorOp>(table.ops[kXor]);
  Integers2<SMinOp>(table.ops[kSMin]);
  Integers2<SMaxOp>(table.ops[kSMax]);
  Integers2<UMinOp>(table.ops[kUMin]);
  Integers2<UMaxOp>(table.ops[kUMax]);
  Integers2<SAddSatOp>(table.ops[kSAddSat]);
  Integers2<UAddSatOp>(table.ops[kUAddSat]);
  Integers2<SSubSatOp>(table.ops[kSSubSat]);
  Integers2<USubSatOp>(table.ops[kUSubSat]);
  Integers1<AbsOp>(table.ops[kAbs]);
  Integers1<PopulationOp>(table.ops[kPopulation]);
  Integers1<LeadingZerosOp>(table.ops[kLeadingZeros]);
  Integers1<TrailingZerosOp>(table.ops[kTrailingZeros]);
  Integers1<SwapBytesOp>(table.ops[kSwapBytes]);
  Integers1<ReverseBitsOp>(table.ops[kReverseBits]);
  Integers3<FunnelLeftOp>(table.ops[kFunnelLeft]);
  Integers3<FunnelRightOp>(table.ops[kFunnelRight]);
  IntegerTruths<EqualOp>(table.ops[kEqual]);
  IntegerTruths<NotEqualOp>(table.ops[kNotEqual]);
  IntegerTruths<ULessOp>(table.ops[kULess]);
  IntegerTruths<ULessEqualOp>(table.ops[kULessEqual]);
  IntegerTruths<SLessOp>(table.ops[kSLess]);
  IntegerTruths<SLessEqualOp>(table.ops[kSLessEqual]);
  IntegerTruths<SAddOverflowOp>(table.ops[kSAddOverflow]);
  IntegerTruths<UAddOverflowOp>(table.ops[kUAddOverflow]);
  IntegerTruths<SSubOverflowOp>(table.ops[kSSubOverflow]);
  IntegerTruths<USubOverflowOp>(table.ops[kUSubOverflow]);
  IntegerTruths<SMulOverflowOp>(table.ops[kSMulOverflow]);
  IntegerTruths<UMulOverflowOp>(table.ops[kUMulOverflow]);
  table.ops[kIndexTimes][kI8] = IndexTimes<uint8_t>;
  table.ops[kIndexTimes][kI16] = IndexTimes<uint16_t>;
  table.ops[kIndexTimes][kI32] = IndexTimes<uint32_t>;
  table.ops[kIndexTimes][kI64] = IndexTimes<uint64_t>;
  table.ops[kIndexShift][kI8] = IndexShift<uint8_t>;
  table.ops[kIndexShift][kI16] = IndexShift<uint16_t>;
  table.ops[kIndexShift][kI32] = IndexShift<uint32_t>;
  table.ops[kIndexShift][kI64] = IndexShift<uint64_t>;
}

template <class T>
void BitsOfFloats(LaneTable& table, LaneType type) {
  using Bits = typename BitsOfFloat<T>::Type;
  table.ops[kFNeg][type] = Map1<NegateOp, Bits, Bits>;
  table.ops[kFAbs][type] = Map1<WithoutSignOp, Bits, Bits>;
  table.ops[kCopySign][type] = Map2<CopySignOp, Bits, Bits>;
  table.ops[kFma][type] = MapFma<T>;
  table.ops[kLdexp][type] = MapLdexp<T>;
}

inline void FillFloats(LaneTable& table) {
  Floats2<FAddOp>(table.ops[kFAdd]);
  Floats2<FSubOp>(table.ops[kFSub]);
  Floats2<FMulOp>(table.ops[kFMul]);
  Floats2<FDivOp>(table.ops[kFDiv]);
  Floats2<FRemOp>(table.ops[kFRem]);
  Floats1<SqrtOp>(table.ops[kSqrt]);
  Floats1<FloorOp>(table.ops[kFloor]);
  Floats1<CeilOp>(table.ops[kCeil]);
  Floats1<TruncOp>(table.ops[kTrunc]);
  Floats1<RoundEvenOp>(table.ops[kRoundEven]);
  Floats1<RoundOp>(table.ops[kRound]);
  Floats2<MinNumOp>(table.ops[kMinNum]);
  Floats2<MaxNumOp>(table.ops[kMaxNum]);
  Floats2<MinimumOp>(table.ops[kMinimum]);
  Floats2<MaximumOp>(table.ops[kMaximum]);
  FloatTruths<OrderedEqualOp>(table.ops[kOrderedEqual]);
  FloatTruths<OrderedLessOp>(table.ops[kOrderedLess]);
  FloatTruths<OrderedLessEqualOp>(table.ops[kOrderedLessEqual]);
  FloatTruths<OrderedNotEqualOp>(table.ops[kOrderedNotEqual]);
  FloatTruths<OrderedOp>(table.ops[kOrdered]);
  FloatTruths<UnorderedEqualOp>(table.ops[kUnorderedEqual]);
  FloatTruths<UnorderedLessOp>(table.ops[kUnorderedLess]);
  FloatTruths<UnorderedLessEqualOp>(table.ops[kUnorderedLessEqual]);
  FloatTruths<UnorderedNotEqualOp>(table.ops[kUnorderedNotEqual]);
  FloatTruths<UnorderedOp>(table.ops[kUnordered]);
  BitsOfFloats<Half>(table, kF16);
  BitsOfFloats<Brain>(table, kBF16);
  BitsOfFloats<float>(table, kF32);
  BitsOfFloats<double>(table, kF64);
}

template <class T>
void FillMoves(LaneTable& table, LaneType type) {
  table.ops[kSelect][type] = Select<T>;
  table.ops[kCopy][type] = Copy<T>;
}

template <class From>
void ConversionsOfInteger(LaneTable& table, LaneType from) {
  LaneFunction(&zero)[kLaneTypes] = table.conversions[kZeroExtend][from];
  LaneFunction(&sign)[kLaneTypes] = table.conversions[kSignExtend][from];
  zero[kI8] = ToInteger<From, uint8_t, false>;
  zero[kI16] = ToInteger<From, uint16_t, false>;
  zero[kI32] = ToInteger<From, uint32_t, false>;
  zero[kI64] = ToInteger<From, uint64_t, false>;
  zero[kI128] = ToInteger<From, U128, false>;
  sign[kI8] = ToInteger<From, uint8_t, true>;
  sign[kI16] = ToInteger<From, uint16_t, true>;
  sign[kI32] = ToInteger<From, uint32_t, true>;
  sign[kI64] = ToInteger<From, uint64_t, true>;
  sign[kI128] = ToInteger<From, U128, true>;
  LaneFunction(&is_signed)[kLaneTypes] = table.conversions[kSignedToFloat][from];
  LaneFunction(&is_unsigned)[kLaneTypes] = table.conversions[kUnsignedToFloat][from];
  is_signed[kF16] = MapIntegerToFloat<From, Half, true>;
  is_signed[kBF16] = MapIntegerToFloat<From, Brain, true>;
  is_signed[kF32] = MapIntegerToFloat<From, float, true>;
  is_signed[kF64] = MapIntegerToFloat<From, double, true>;
  is_unsigned[kF16] = MapIntegerToFloat<From, Half, false>;
  is_unsigned[kBF16] = MapIntegerToFloat<From, Brain, false>;
  is_unsigned[kF32] = MapIntegerToFloat<From, float, false>;
  is_unsigned[kF64] = MapIntegerToFloat<From, double, false>;
}

template <class From>
void ConversionsOfFloat(LaneTable& table, LaneType from) {
  LaneFunction(&is_signed)[kLaneTypes] = table.conversions[kFloatToSigned][from];
  LaneFunction(&is_unsigned)[kLaneTypes] = table.conversions[kFloatToUnsigned][from];
  is_signed[kI8] = MapFloatToInteger<From, uint8_t, true>;
  is_signed[kI16] = MapFloatToInteger<From, uint16_t, true>;
  is_signed[kI32] = MapFloatToInteger<From, uint32_t, true>;
  is_signed[kI64] = MapFloatToInteger<From, uint64_t, true>;
  is_signed[kI128] = MapFloatToInteger<From, U128, true>;
  is_unsigned[kI8] = MapFloatToInteger<From, uint8_t, false>;
  is_unsigned[kI16] = MapFloatToInteger<From, uint16_t, false>;
  is_unsigned[kI32] = MapFloatToInteger<From, uint32_t, false>;
  is_unsigned[kI64] = MapFloatToInteger<From, uint64_t, false>;
  is_unsigned[kI128] = MapFloatToInteger<From, U128, false>;
  LaneFunction(&floats)[kLaneTypes] = table.conversions[kFloatToFloat][from];
  floats[kF16] = MapFloatToFloat<From, Half>;
  floats[kBF16] = MapFloatToFloat<From, Brain>;
  floats[kF32] = MapFloatToFloat<From, float>;
  floats[kF64] = MapFloatToFloat<From, double>;
}

template <class T>
void FillPlaces(LaneTable& table, int shift) {
  table.blend[shift] = Blend<T>;
  table.collect[shift] = Collect<T>;
  table.scatter[shift] = Scatter<T>;
}

inline LaneTable MakeLaneTable() {
  LaneTable table;
  table.survey = Survey;
  table.read_stamps = ReadStamps;
  table.write_stamps = WriteStamps;
  table.shuffle[0] = ShuffleBy<0>;
  table.shuffle[1] = ShuffleBy<1>;
  table.shuffle[2] = ShuffleBy<2>;
  table.shuffle[3] = ShuffleBy<3>;
  FillPlaces<uint8_t>(table, 0);
  FillPlaces<uint16_t>(table, 1);
  FillPlaces<uint32_t>(table, 2);
  FillPlaces<uint64_t>(table, 3);
  FillPlaces<U128>(table, 4);
  FillIntegers(table);
  FillFloats(table);
  FillMoves<uint8_t>(table, kI8);
  FillMoves<uint16_t>(table, kI16);
  FillMoves<uint32_t>(table, kI32);
  FillMoves<uint64_t>(table, kI64);
  FillMoves<U128>(table, kI128);
  FillMoves<uint16_t>(table, kF16);
  FillMoves<uint16_t>(table, kBF16);
  FillMoves<uint32_t>(table, kF32);
  FillMoves<uint64_t>(table, kF64);
  ConversionsOfInteger<uint8_t>(table, kI8);
  ConversionsOfInteger<uint16_t>(table, kI16);
  ConversionsOfInteger<uint32_t>(table, kI32);
  ConversionsOfInteger<uint64_t>(table, kI64);
  ConversionsOfInteger<U128>(table, kI128);
  ConversionsOfFloat<Half>(table, kF16);
  ConversionsOfFloat<Brain>(table, kBF16);
  ConversionsOfFloat<float>(table, kF32);
  ConversionsOfFloat<double>(table, kF64);
  return table;
}

#undef ASSAY_LANES

}  // namespace
}  // namespace assay::gpu
