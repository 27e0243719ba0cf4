// The transforms of fourier.cc.
#pragma once

#include <cstdint>

namespace assay {

struct FourierShape {
  enum Kind : int64_t {
    kForward,
    kInverse,
    kFromReal,  // half of the last dimension of the result
    kToReal,    // half of the last dimension of the operand
  };
  int64_t kind = kForward;
  int64_t size[3] = {1, 1, 1};  // of the whole spectrum; 1 in front of fewer dimensions
};

}  // namespace assay
