// An instruction of a module as the shape rule of its op sees it.
#pragma once

#include <vector>

#include "absl/container/inlined_vector.h"
#include "spec/ir/computation.h"
#include "spec/ops/op_table.h"

namespace assay {

// Valid as long as the instruction, its operands and what it calls are unchanged.
class InstructionSite {
 public:
  explicit InstructionSite(const Instruction& at)
      : callees_(SignaturesOf(at.callees())),
        operands_(ShapesOf(at.operands())),
        site_{.opcode = at.opcode(),
              .operands = operands_,
              .attributes = at.attributes(),
              .callees = callees_,
              .written = &at.shape()} {}
  InstructionSite(const InstructionSite&) = delete;
  InstructionSite& operator=(const InstructionSite&) = delete;

  const OpSite& operator*() const { return site_; }

 private:
  using Shapes = absl::InlinedVector<const Shape*, 4>;
  static Shapes ShapesOf(absl::Span<Instruction* const> operands) {
    Shapes shapes;
    for (const Instruction* operand : operands) shapes.push_back(&operand->shape());
    return shapes;
  }

  std::vector<CalleeSignature> callees_;
  Shapes operands_;
  OpSite site_;
};

}  // namespace assay
