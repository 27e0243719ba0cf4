// Operations on floats of 32 lanes, and conversions. Internal linkage, as of everything that
// lane_functions.h includes.
#pragma once

#include <cstdint>
#include <cstring>

#include "optimized/gpu/simulator/lanes/integer_lanes.h"
#include "optimized/gpu/simulator/lanes/lane_numbers.h"
#include "optimized/gpu/simulator/lanes/lane_table.h"

namespace assay::gpu {
namespace {

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

}  // namespace
}  // namespace assay::gpu
