// Forms of ops that only a few programs use, in the usual form of the same op and others. Required:
// there is no code for them. Documents: operation semantics chapters 11 (result type, Fft) and 13.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

// A transform whose lengths are not its operand's sizes, random bits without the next state, sums
// of products of operands of different classes.
class FormExpander : public Pass {
 public:
  std::string_view name() const override { return "form-expander"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
