// Numbers that are known up to a radius, real or complex: the arithmetic of running error analysis
// for algorithms on matrices. The radius becomes infinite where nothing is known.
#pragma once

#include <cmath>
#include <limits>

#include "reference/bounds/range.h"
#include "reference/values/matrix.h"

namespace assay::reference {

template <typename S>
struct Disc {
  using W = decltype(std::abs(S()));
  S centre{};
  W radius = 0;

  Disc() = default;
  Disc(S c, W r = 0) : centre(c), radius(r) {}  // NOLINT: numbers are discs

  W Modulus() const { return std::abs(centre); }
  bool IsKnown() const { return std::isfinite(radius) && std::isfinite(Modulus()); }
  bool MayBeZero() const { return !(Modulus() > radius); }
  bool IsZero() const { return centre == S{} && radius == 0; }

  static Disc Unknown() { return {S{}, std::numeric_limits<W>::infinity()}; }
};

template <typename S>
Disc<S> Rounding(S centre, typename Disc<S>::W radius) {
  return {centre, radius + std::abs(centre) * kSlop<typename Disc<S>::W>};
}
template <typename S>
Disc<S> operator+(const Disc<S>& a, const Disc<S>& b) {
  const S sum = a.centre + b.centre;
  return {sum, a.radius + b.radius + (a.Modulus() + b.Modulus()) * kSlop<typename Disc<S>::W>};
}
template <typename S>
Disc<S> operator-(const Disc<S>& a) {
  return {-a.centre, a.radius};
}
template <typename S>
Disc<S> operator-(const Disc<S>& a, const Disc<S>& b) {
  return a + -b;
}
template <typename S>
Disc<S> operator*(const Disc<S>& a, const Disc<S>& b) {
  return Rounding<S>(a.centre * b.centre,
                     a.Modulus() * b.radius + b.Modulus() * a.radius + a.radius * b.radius);
}
template <typename S>
Disc<S> operator/(const Disc<S>& a, const Disc<S>& b) {
  if (b.centre == S{}) return Disc<S>::Unknown();
  const S quotient = a.centre / b.centre;
  // The plain value goes on where nothing is known about others.
  if (b.MayBeZero()) return {quotient, Disc<S>::Unknown().radius};
  return Rounding<S>(quotient,
                     (a.radius + std::abs(quotient) * b.radius) / (b.Modulus() - b.radius));
}
template <typename S>
Disc<S> Conjugate(const Disc<S>& x) {
  return {Conjugate(x.centre), x.radius};
}
// Of numbers whose centre is real and not negative.
template <typename S>
Disc<S> SquareRoot(const Disc<S>& x) {
  using W = typename Disc<S>::W;
  const W centre = RealPart(x.centre), root = std::sqrt(centre);
  if (!(centre > x.radius)) return {S(root), std::sqrt(std::abs(centre) + x.radius)};
  return Rounding<S>(S(root), x.radius / root);
}
template <typename S>
Disc<S> SquaredModulus(const Disc<S>& x) {
  Disc<S> square = x * Conjugate(x);
  square.centre = S(RealPart(square.centre));
  return square;
}

}  // namespace assay::reference
