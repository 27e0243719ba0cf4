// Real functions of one or two arguments by name, and their true values: quickly in f64, and by
// MPFR at any precision. The names are those of HLO's ops, and of what users of JAX call that is
// made of several ops.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "conformance/accuracy/real.h"

namespace assay::accuracy {

enum class Parity : uint8_t { kNone, kOdd, kEven };

struct TrueFunction {
  using Quick1 = double (*)(double);
  using Quick2 = double (*)(double, double);
  using Exact = void (*)(mpfr_ptr result, mpfr_ptr x, mpfr_ptr y);

  std::string_view name;
  int arity = 1;
  // The value in f64: NaN, zeros and infinities where they are right, else within kQuickError of
  // the truth, relative to it. nullptr: only MPFR knows.
  Quick1 quick = nullptr;
  Quick2 quick2 = nullptr;
  // It stands for a quick value that is not there: NaN, zeros and infinities where they are right,
  // any other number elsewhere.
  Quick1 ends = nullptr;
  // Rounded to the precision of `result`, at most a few of its ulps off. Never asked where the
  // value in f64, or that of `ends`, is NaN, zero or infinite.
  Exact exact = nullptr;
  Parity parity = Parity::kNone;
  // The direction of the function on the negative and on the positive arguments: 1 never falls, -1
  // never rises, 0 neither.
  int on_negative = 0, on_positive = 0;
  bool commutes = false;
};

inline constexpr double kQuickError = 0x1p-49;

// nullptr where the table has none. JAX's names (exp, cos) stand for those of HLO.
const TrueFunction* FindFunction(std::string_view name);
absl::Span<const TrueFunction> Functions();

}  // namespace assay::accuracy
