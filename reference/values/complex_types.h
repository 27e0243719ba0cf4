// Complex element types as C++ types.
#pragma once

#include <complex>

#include "spec/types/native.h"

namespace assay::reference {

// Calls f(TypeTag<std::complex<...>>) for a complex type; false for any other.
template <typename F>
bool DispatchComplex(ElementType type, F f) {
  if (type == ElementType::kC64) {
    f(TypeTag<std::complex<float>>{});
  } else if (type == ElementType::kC128) {
    f(TypeTag<std::complex<double>>{});
  } else {
    return false;
  }
  return true;
}

}  // namespace assay::reference
