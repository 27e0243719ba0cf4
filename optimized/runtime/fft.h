// Discrete Fourier transforms of any length for compiled code. Document: operation semantics
// chapter 11 (Fft).
#pragma once

#include <cstdint>

#include "spec/attributes/attribute_words.h"

namespace assay {

// `kind` is an FftKind. `batch` arrays, one after another, each of the `rank` sizes n0 to n2 (of
// the real side for kRfft and kIrfft), 1 <= rank <= 3. T: float or double, the type of a part.
template <typename T>
void Fft(const T* in, T* out, int64_t kind, int64_t batch, int64_t rank, int64_t n0, int64_t n1,
         int64_t n2);

}  // namespace assay
