// The choice that class RESID leaves to routines on matrices: a legal result is the exact one for
// operands that are off by a residual. Document: operation semantics chapter 11, class RESID.
#pragma once

#include <complex>
#include <type_traits>

#include "reference/bounds/choices/legal_choices.h"
#include "reference/values/op_context.h"

namespace assay::reference {

// Moves the elements of one operand where an evaluation makes choices. Each part of a number goes
// up or down by half of the residual; the other half is left to the rounding of the results. Zeros
// stay, and so does what is structure.
class ResidualChoice {
 public:
  // `count` is the number of elements to come, `residual` a share of each.
  ResidualChoice(const OpContext& op, int64_t count, long double residual)
      : choices_(op.analysis.choices), step_(residual / 2) {
    if (choices_ != nullptr) slot_ = choices_->Site(2 * count);
  }

  // The next element.
  template <typename S>
  S operator()(S value) {
    if (choices_ == nullptr) return value;
    const auto up = [this] { return choices_->IsUp(slot_++) ? step_ : -step_; };
    const long double first = 1 + up(), second = 1 + up();
    if constexpr (std::is_floating_point_v<S>) {
      return static_cast<S>(value * first);
    } else {
      using W = typename S::value_type;
      return {static_cast<W>(value.real() * first), static_cast<W>(value.imag() * second)};
    }
  }

 private:
  LegalChoices* choices_;
  long double step_;
  int64_t slot_ = 0;
};

}  // namespace assay::reference
