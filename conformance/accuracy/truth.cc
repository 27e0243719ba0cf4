// The rounding test, and what is asked when it fails.
#include "conformance/accuracy/truth.h"

#include <algorithm>
#include <cmath>

#include "conformance/accuracy/real.h"

namespace assay::accuracy {
namespace {

constexpr mpfr_prec_t kBits = 160;

// The f64 that rounds to every narrower format as the number itself does: what is cut off leaves a
// trace in the last bit.
double RoundToOdd(mpfr_ptr number) {
  const double cut = mpfr_get_d(number, MPFR_RNDZ);
  if (mpfr_cmp_d(number, cut) == 0 || std::isinf(cut)) return cut;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(cut) | 1);
}

Precise ToPrecise(mpfr_ptr number) {
  if (mpfr_zero_p(number)) return {};
  long exponent = 0;
  const double high = mpfr_get_d_2exp(&exponent, number, MPFR_RNDN);
  Real rest(kBits);
  mpfr_set(rest, number, MPFR_RNDN);
  mpfr_div_2si(rest, rest, exponent, MPFR_RNDN);
  mpfr_sub_d(rest, rest, high, MPFR_RNDN);
  return {high, mpfr_get_d(rest, MPFR_RNDN), static_cast<int>(exponent)};
}

bool IsEnd(double value) { return std::isnan(value) || std::isinf(value) || value == 0; }

}  // namespace

Truth::Truth(const TrueFunction& function, ElementType type)
    : function_(function), format_(Format(type)), round_(format_) {
  if (type != ElementType::kF64) return;
  for (const DoubleFunction& one : DoubleFunctions())
    if (one.op == function.name) precise_ = one.truth;
}

bool Truth::Quickly(double x, double y, TrueValue& value) const {
  double quick = 0;
  if (function_.quick != nullptr) {
    quick = function_.quick(x);
  } else if (function_.quick2 != nullptr) {
    quick = function_.quick2(x, y);
  } else {
    quick = function_.ends(x);
    if (!IsEnd(quick)) return false;
  }
  const double size = std::fabs(quick);
  if (IsEnd(quick)) {
    // A zero or an infinity of f64 is one in narrower formats; for f64 itself only MPFR knows.
    if (format_.type == ElementType::kF64 && function_.quick == nullptr &&
        function_.quick2 != nullptr && !std::isnan(quick) && std::isfinite(x) && std::isfinite(y))
      return false;
    value = {quick, {quick, 0, 0}};
    if (format_.type != ElementType::kF64) value.nearest = round_(quick);
    return true;
  }
  if (format_.type == ElementType::kF64 || size < 0x1p-1000 || size > 0x1p1000) return false;
  const double low = round_(quick * (1 - kQuickError)), high = round_(quick * (1 + kQuickError));
  if (!(low == high || (std::isnan(low) && std::isnan(high)))) return false;
  value = {low, {quick, 0, 0}};
  return true;
}

TrueValue Truth::At(double x, double y) {
  TrueValue value;
  if (Quickly(x, y, value)) return value;
  if (precise_ != nullptr) {
    value.value = precise_(x);
    value.nearest = std::ldexp(value.value.high, std::clamp(value.value.exponent, -3000, 3000));
    const double off = UlpsFrom(value.nearest, value.value);
    if (std::isfinite(off) && std::fabs(off - 0.5) > 0x1p-20) return value;
  }
  return Exactly(x, y);
}

TrueValue Truth::Exactly(double x, double y) {
  ++asked_;
  Real number(kBits), first(53, x), second(53, y);
  function_.exact(number, first, second);
  TrueValue value;
  if (!mpfr_number_p(number.get())) {
    value.nearest = mpfr_get_d(number, MPFR_RNDN);
    value.value.high = value.nearest;
    return value;
  }
  if (format_.type == ElementType::kF64) {
    value.nearest = mpfr_get_d(number, MPFR_RNDN);
    value.value = ToPrecise(number);
  } else {
    const double odd = RoundToOdd(number);
    value.nearest = round_(odd);
    value.value.high = mpfr_get_d(number, MPFR_RNDN);
  }
  return value;
}

Units::Units(const FloatFormat& format)
    : format_(format),
      low_(std::ilogb(format.MinNormal())),
      high_(std::ilogb(format.MaxFinite())),
      min_normal_(format.MinNormal()),
      max_finite_(format.MaxFinite()) {}

double Units::Of(double truth) const {
  const int exponent = truth == 0 ? low_ : std::clamp(std::ilogb(truth), low_, high_);
  return std::ldexp(1.0, exponent - format_.mantissa_bits);
}

double Units::Between(double result, const TrueValue& truth, bool flushes) const {
  const double high = std::ldexp(truth.value.high, std::clamp(truth.value.exponent, -3000, 3000));
  const double size = std::fabs(high);
  if (flushes || result == 0) {
    const double ulp = Of(high);
    if (size < min_normal_ && std::fabs(result) < min_normal_) return 0;
    if (std::fabs(result) < min_normal_) return (size - min_normal_) / ulp + 1;
    if (size < min_normal_) return (std::fabs(result) - min_normal_) / ulp + 1;
  }
  if (format_.type == ElementType::kF64 && std::isfinite(result) && std::isfinite(high))
    return UlpsFrom(result, truth.value);
  if (std::isinf(result)) result = std::copysign(std::ldexp(1.0, high_ + 1), result);
  return std::fabs(result - high) / Of(high);
}

}  // namespace assay::accuracy
