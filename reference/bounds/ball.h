// Balls: numbers, real or complex, that are known up to a radius. Their arithmetic is the running
// error analysis of algorithms on matrices. The radius becomes infinite where nothing is known.
#pragma once

#include <cmath>
#include <limits>

#include "reference/bounds/range.h"
#include "reference/values/matrices/matrix.h"

namespace assay::reference {

template <typename S>
struct Ball {
  using W = decltype(std::abs(S()));
  S centre{};
  W radius = 0;

  Ball() = default;
  Ball(S c, W r = 0) : centre(c), radius(r) {}  // NOLINT: numbers are balls

  W Modulus() const { return std::abs(centre); }
  bool IsKnown() const { return std::isfinite(radius) && std::isfinite(Modulus()); }
  bool MayBeZero() const { return !(Modulus() > radius); }
  bool IsZero() const { return centre == S{} && radius == 0; }

  static Ball Unknown() { return {S{}, std::numeric_limits<W>::infinity()}; }
};

template <typename S>
Ball<S> Rounding(S centre, typename Ball<S>::W radius) {
  return {centre, radius + std::abs(centre) * kSlop<typename Ball<S>::W>};
}
template <typename S>
Ball<S> operator+(const Ball<S>& a, const Ball<S>& b) {
  const S sum = a.centre + b.centre;
  return {sum, a.radius + b.radius + (a.Modulus() + b.Modulus()) * kSlop<typename Ball<S>::W>};
}
template <typename S>
Ball<S> operator-(const Ball<S>& ball) {
  return {-ball.centre, ball.radius};
}
template <typename S>
Ball<S> operator-(const Ball<S>& a, const Ball<S>& b) {
  return a + -b;
}
template <typename S>
Ball<S> operator*(const Ball<S>& a, const Ball<S>& b) {
  return Rounding<S>(a.centre * b.centre,
                     a.Modulus() * b.radius + b.Modulus() * a.radius + a.radius * b.radius);
}
template <typename S>
Ball<S> operator/(const Ball<S>& a, const Ball<S>& b) {
  if (b.centre == S{}) return Ball<S>::Unknown();
  const S quotient = a.centre / b.centre;
  // The plain value goes on where nothing is known about others.
  if (b.MayBeZero()) return {quotient, Ball<S>::Unknown().radius};
  return Rounding<S>(quotient,
                     (a.radius + std::abs(quotient) * b.radius) / (b.Modulus() - b.radius));
}
template <typename S>
Ball<S> Conjugate(const Ball<S>& ball) {
  return {Conjugate(ball.centre), ball.radius};
}
// The square root of a ball whose centre is real and not negative.
template <typename S>
Ball<S> SquareRoot(const Ball<S>& ball) {
  using W = typename Ball<S>::W;
  const W centre = RealPart(ball.centre), root = std::sqrt(centre);
  if (!(centre > ball.radius)) return {S(root), std::sqrt(std::abs(centre) + ball.radius)};
  return Rounding<S>(S(root), ball.radius / root);
}
template <typename S>
Ball<S> SquaredModulus(const Ball<S>& ball) {
  Ball<S> square = ball * Conjugate(ball);
  square.centre = S(RealPart(square.centre));
  return square;
}

}  // namespace assay::reference
