// The other forms that a compiler may give an instruction because of its operands. The clauses on
// neighbouring ops license them: nested-quotients, constant-chains, exponentials,
// reciprocal-division, sums-of-sums, scatter-starts. They are found once per instruction, in
// reference/licenses/; the profile says which of them count.
#pragma once

#include <cstdint>

#include "spec/ops/op_table.h"

namespace assay::reference {

struct LicensedForms {
  // Two forms of a division, also where values have no bounds: the divisor may turn out to be a
  // constant or a broadcast; it is a square root, so that its reciprocal may be made as one.
  bool divisor_is_invariant = false, divides_by_root = false;
  // Number of operands of a division that are quotients themselves.
  int8_t quotients = 0;
  // The op scales by a constant, or by a number that is broadcast and perhaps converted then, a
  // value that was scaled by a constant, whose largest magnitude is `first_scale`. So does a
  // batch-norm-inference of such a value.
  bool scales_twice = false;
  double first_scale = 0;
  // The op multiplies two values that were both scaled by a constant: the product of the largest
  // magnitudes of the two constants; negative otherwise.
  double scale_of_both = -1;
  // The op adds a constant to a value that a constant was added to, whose largest magnitude is
  // `first_shift`.
  bool shifts_twice = false;
  double first_shift = 0;
  // The op multiplies a complex number by one.
  bool gives_back_operand = false;
  // The op is a product or quotient of exponentials.
  bool joins_exponentials = false;
  // The op raises an exponential to a power.
  bool raises_exponential = false;
  // The op divides by an exponential or a power: the reciprocal may be made as one.
  Opcode inverted = Opcode::kDivide;  // kExponential or kPower; kDivide for neither
  // The op is the logarithm of a root.
  bool is_log_of_root = false;
  // The op multiplies a root by itself.
  bool squares_root = false;
  // The op adds up terms, and nothing but another sum uses its results: the terms of both as one
  // sum; 0 otherwise.
  int64_t terms_of_whole_sum = 0;
  // The op is a scatter that adds, and nothing but an addition may use its results: it may start
  // from the sum.
  bool may_start_from_sum = false;

  bool InvertsFunction() const { return inverted != Opcode::kDivide; }
};

// The forms of an instruction that has none but its own.
inline constexpr LicensedForms kNoLicensedForms;

}  // namespace assay::reference
