// Compares a function that we declare with the one of a header of CUDA.
#pragma once

#include <type_traits>

namespace assay::gpu {

// True if both are passed in the same way: handles are pointers to something here, and to
// structures there.
template <class A, class B>
constexpr bool kPassedAlike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
    std::is_floating_point_v<A> == std::is_floating_point_v<B>;

template <class R, class... A, class S, class... B>
bool Alike(R (*)(A...), S (*)(B...)) {
  if constexpr (sizeof...(A) == sizeof...(B)) {
    return sizeof(R) == sizeof(S) && (kPassedAlike<A, B> && ...);
  } else {
    return false;
  }
}

}  // namespace assay::gpu
