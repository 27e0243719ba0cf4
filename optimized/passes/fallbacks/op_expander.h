// The base of passes that write one kind of op in terms of others: match, then expand. It is only
// derived from. Unless PassOptions say otherwise, it expands what was refused the kernel or the
// library call that the target has for it. Document: HLO passes, "Op expand pass".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class OpExpander : public Pass {
 public:
  // Looks at what runs as a unit; instructions that are added are not looked at again.
  absl::StatusOr<bool> Run(Module& module, PassContext& context) final;

 protected:
  virtual Opcode opcode() const = 0;            // of the instructions that are asked about
  virtual std::string_view rule() const = 0;    // of the rewrite
  virtual std::string_view kernel() const = 0;  // the gate of what the target has for the op
  // True if the op is expanded in functions of elements and in fusions, too.
  virtual bool LooksEverywhere() const { return false; }
  // `inst` is plain: static arrays or tuples of them, no control dependencies.
  virtual bool Matches(const Instruction& inst) const = 0;
  // The value that stands for `inst`, of its shape, in its computation.
  virtual Instruction* Expand(Instruction* inst) const = 0;
};

}  // namespace assay
