// Arrays drawn from a seed by a rule: the same on every machine. For modules that come without
// inputs, and for benchmarks. (Campaigns draw theirs with fuzz/generator/values.h, which looks for
// trouble.)
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "spec/types/literal.h"

namespace assay {

struct ValueRule {
  double lo = -1;  // uniform in [lo, hi); integers included
  double hi = 1;
  double skew = 1;      // value = lo + (hi - lo) * u^skew
  bool sorted = false;  // along the last axis, ascending
  // Real floats only: each matrix of the two last dimensions becomes (x + x^T) / 2 + diagonal * I,
  // positive definite where the diagonal is large enough.
  bool symmetric = false;
  double diagonal = 0;

  // Floats in [-1, 1), signed integers in [-8, 8), unsigned ones in [0, 8).
  static ValueRule Default(const Shape& shape);
};

// Predicates are fair coins whatever the rule. An error for a type without real values (complex,
// token, opaque) an empty range, or a
// symmetric matrix that is not square.
absl::StatusOr<Literal> RandomLiteral(const Shape& shape, const ValueRule& rule, uint64_t seed,
                                      uint64_t stream);

}  // namespace assay
