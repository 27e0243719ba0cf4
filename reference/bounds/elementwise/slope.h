// Element-wise ops as straight lines: the steepness about a point, and the distance from the line
// over an interval. Design: "Tolerances are derived, not guessed".
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/bounds/range.h"
#include "spec/attributes/opcode.h"

namespace assay::reference {

// Room for the rounding of the computations on forms themselves.
inline constexpr double kFormSlop = 0x1p-32;

// The interval in which an operand lies.
struct Spot {
  double centre = 0, radius = 0;
};

// The steepness of an op at its operands' centres, and the distance of the op from the straight
// line.
struct Slope {
  long double value = 0;
  double by_a = 0, by_b = 0, rest = 0;
  bool is_known = false;
};

// A function that is convex or concave over the interval: it strays from its tangent most at an
// end.
template <typename W, typename F>
Slope SlopeOf(const Spot& spot, double slope, F f) {
  Slope result;
  const W centre = spot.centre, low = centre - spot.radius, high = centre + spot.radius;
  const W value = f(centre);
  result.value = value;
  result.by_a = slope;
  const W move = static_cast<W>(slope) * spot.radius;
  const W rest = std::max(std::fabs(f(low) - (value - move)), std::fabs(f(high) - (value + move)));
  result.rest = static_cast<double>(
      (rest + (std::fabs(value) + std::fabs(move)) * 4 * kSlop<W>)*(1 + W{kFormSlop}));
  result.is_known = std::isfinite(result.rest) && std::isfinite(slope);
  return result;
}

// True if no multiple of pi lies in the interval, nor next to it.
inline bool IsBetweenInflections(double low, double high) {
  constexpr double kMargin = 1e-6, kFar = 1e6;
  return low > -kFar && high < kFar &&
         std::floor(low / std::numbers::pi - kMargin) ==
             std::floor(high / std::numbers::pi + kMargin);
}

template <typename W>
Slope SlopeOfUnary(Opcode opcode, const Spot& spot) {
  const double low = spot.centre - spot.radius, high = spot.centre + spot.radius;
  const bool one_sign = low > 0 || high < 0;
  switch (opcode) {
    case Opcode::kNegate:
      return {-spot.centre, -1, 0, 0, true};
    case Opcode::kAbs:
      if (!one_sign) return {};
      return {std::fabs(spot.centre), spot.centre > 0 ? 1.0 : -1.0, 0, 0, true};
    case Opcode::kExponential: {
      if (high > 700) return {};
      const double y = std::exp(spot.centre);
      return SlopeOf<W>(spot, y, [](W v) { return std::exp(v); });
    }
    case Opcode::kExponentialMinusOne:
      if (high > 700) return {};
      return SlopeOf<W>(spot, std::exp(spot.centre), [](W v) { return std::expm1(v); });
    case Opcode::kLogPlusOne:
      if (low <= -1) return {};
      return SlopeOf<W>(spot, 1 / (1 + spot.centre), [](W v) { return std::log1p(v); });
    case Opcode::kErf:
      if (!one_sign) return {};
      return SlopeOf<W>(spot,
                        2 / std::sqrt(std::numbers::pi) * std::exp(-spot.centre * spot.centre),
                        [](W v) { return std::erf(v); });
    case Opcode::kSine:
      if (!IsBetweenInflections(low, high)) return {};
      return SlopeOf<W>(spot, std::cos(spot.centre), [](W v) { return std::sin(v); });
    case Opcode::kCosine:
      if (!IsBetweenInflections(low - std::numbers::pi / 2, high - std::numbers::pi / 2)) return {};
      return SlopeOf<W>(spot, -std::sin(spot.centre), [](W v) { return std::cos(v); });
    case Opcode::kLog:
      if (low <= 0) return {};
      return SlopeOf<W>(spot, 1 / spot.centre, [](W v) { return std::log(v); });
    case Opcode::kSqrt:
      if (low <= 0) return {};
      return SlopeOf<W>(spot, 0.5 / std::sqrt(spot.centre), [](W v) { return std::sqrt(v); });
    case Opcode::kRsqrt: {
      if (low <= 0) return {};
      const double y = 1 / std::sqrt(spot.centre);
      return SlopeOf<W>(spot, -y / (2 * spot.centre), [](W v) { return 1 / std::sqrt(v); });
    }
    case Opcode::kTanh: {
      if (!one_sign) return {};
      const double y = std::tanh(spot.centre);
      return SlopeOf<W>(spot, 1 - y * y, [](W v) { return std::tanh(v); });
    }
    case Opcode::kLogistic: {
      if (!one_sign) return {};
      const double y = 1 / (1 + std::exp(-spot.centre));
      return SlopeOf<W>(spot, y * (1 - y), [](W v) { return 1 / (1 + std::exp(-v)); });
    }
    default:
      return {};
  }
}

inline Slope SlopeOfBinary(Opcode opcode, const Spot& a, const Spot& b) {
  const long double x = a.centre, y = b.centre;
  switch (opcode) {
    case Opcode::kAdd:
      return {x + y, 1, 1, 0, true};
    case Opcode::kSubtract:
      return {x - y, 1, -1, 0, true};
    case Opcode::kMultiply:
      return {x * y, b.centre, a.centre, a.radius * b.radius, true};
    case Opcode::kDivide: {
      if (std::fabs(b.centre) <= b.radius) return {};
      const double q = a.centre / b.centre, by_a = 1 / b.centre, by_b = -q / b.centre;
      // Below the normal numbers the slopes lose their bits.
      const bool is_held = std::isnormal(by_a) && (a.centre == 0 || std::isnormal(by_b));
      if (!is_held) return {};
      return {x / y, by_a, by_b, 0, true};
    }
    case Opcode::kMaximum:
    case Opcode::kMinimum: {
      const bool first = a.centre - a.radius >= b.centre + b.radius;
      const bool second = b.centre - b.radius >= a.centre + a.radius;
      if (!first && !second) return {};
      const bool takes_a = first == (opcode == Opcode::kMaximum);
      return {takes_a ? a.centre : b.centre, takes_a ? 1.0 : 0.0, takes_a ? 0.0 : 1.0, 0, true};
    }
    default:
      return {};
  }
}

}  // namespace assay::reference
