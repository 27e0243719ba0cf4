// Sums in the orders in which compilers usually add up, rounded at every step or once. Each is a
// legal evaluation (clause literal-reducer, class ORDER of operation semantics 1.7), so a captured
// sum that equals one of them is right, however wide the bound of all orders is.
#pragma once

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "reference/values/value.h"
#include "spec/ir/instruction.h"

namespace assay::reference {

class UsualSums {
 public:
  // The sums of a reduce; nullopt for any other op, and for types that sums do not round often.
  // `operands` outlive it.
  static std::optional<UsualSums> Of(const Instruction& instruction,
                                     absl::Span<const Value* const> operands);

  // True if one of the orders gives this value as the element of the result.
  bool Give(int64_t element, double value) const;

 private:
  double Rounded(double x) const { return DecodeFloat(*format_, EncodeFloat(*format_, x)); }
  double InSequence(absl::Span<const double> terms) const;
  double RoundedOnce(absl::Span<const double> terms) const;
  // Blocks of at most 32 steps along every dimension, each in sequence, and their sums likewise. As
  // XLA:CPU does it; where blocks do not fill a dimension, the first and the last are smaller.
  double InBlocks(std::vector<double> terms, DimVector sizes) const;

  const Array* input_ = nullptr;
  const FloatFormat* format_ = nullptr;
  // Term k of an element is input element base(element) + offsets_[k].
  std::vector<int64_t> bases_, offsets_;
  DimVector reduced_sizes_;
};

}  // namespace assay::reference
