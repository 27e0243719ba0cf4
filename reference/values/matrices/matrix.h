// Dense matrices of wide numbers, real or complex, and the functions by which code that is written
// once for both kinds of numbers reads, rounds and conjugates them.
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "reference/scalar/arithmetic.h"
#include "reference/values/complex_types.h"

namespace assay::reference {

// A dense matrix of wide numbers, row-major.
template <typename S>
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<S> values;

  Matrix(int64_t r, int64_t c) : rows(r), columns(c), values(static_cast<size_t>(r * c)) {}
  S& operator()(int64_t i, int64_t j) { return values[i * columns + j]; }
  const S& operator()(int64_t i, int64_t j) const { return values[i * columns + j]; }
};

// The real type of the parts of an element type, and the wide number that holds its elements.
template <typename E>
struct Scalar {
  using Real = E;
  using WideNumber = Wide<E>;
};
template <typename T>
struct Scalar<std::complex<T>> {
  using Real = T;
  using WideNumber = std::complex<Wide<T>>;
};

template <typename E>
typename Scalar<E>::WideNumber WidenNumber(E x) {
  return Widen<Wide<E>>(x);
}
template <typename T>
std::complex<Wide<T>> WidenNumber(std::complex<T> x) {
  return {Widen<Wide<T>>(x.real()), Widen<Wide<T>>(x.imag())};
}
template <typename E, typename W>
E RoundNumber(W x) {
  return Round<E>(x);
}
template <typename E, typename W>
E RoundNumber(std::complex<W> x) {
  using T = typename E::value_type;
  return {Round<T>(x.real()), Round<T>(x.imag())};
}

template <typename W>
W Conjugate(W x) {
  return x;
}
template <typename W>
std::complex<W> Conjugate(std::complex<W> x) {
  return std::conj(x);
}
template <typename W>
W RealPart(W x) {
  return x;
}
template <typename W>
W RealPart(std::complex<W> x) {
  return x.real();
}

// Calls f(TypeTag<E>) for a float or complex type.
template <typename F>
bool DispatchNumber(ElementType type, F f) {
  if (IsComplex(type)) return DispatchComplex(type, f);
  bool done = false;
  DispatchComputed(type, [&](auto tag) {
    if constexpr (kIsReal<typename decltype(tag)::type>) {
      f(tag);
      done = true;
    }
  });
  return done;
}

}  // namespace assay::reference
