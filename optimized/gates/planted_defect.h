// The gates' view of a planted defect: how it bends the decisions of one gate. It is implemented in
// optimized/defects, so that gates only number and refuse.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"

namespace assay {

struct KernelBends;  // optimized/defects/bends.h

class GateDefect {
 public:
  virtual ~GateDefect() = default;

  // True if the defect sits at this gate and its guard holds for `at`.
  virtual bool Bites(DecisionKind kind, std::string_view rule, const Instruction* at) const = 0;
  // The integer that an analysis found, bent; `known` itself if the operator is another one.
  virtual int64_t BendInteger(int64_t known) const = 0;
  // True if claims that do not hold pass as if they did.
  virtual bool ClaimsTrue() const = 0;
  // True if the side condition of that name (claim_names.h) is forgotten at `at`.
  virtual bool Forgets(std::string_view claim, const Instruction* at) const = 0;
  // The number that a rule goes by under that name, bent; `known` itself if nothing is planted.
  virtual int64_t BendNumber(std::string_view claim, const Instruction* at,
                             int64_t known) const = 0;
  // Bends the value to which constant folding has evaluated `at` on those operands.
  virtual void BendFolded(const Instruction& at, absl::Span<const Literal* const> operands,
                          Literal& value) const = 0;
  // Bends the instructions with an id of `first_new_id` or above from which `with` is computed.
  // Returns what shall stand for `with` afterwards.
  virtual Instruction* BendRewrite(int64_t first_new_id, Instruction* with) const = 0;
  // The changes that code generation applies.
  virtual const KernelBends& kernel_bends() const = 0;
};

}  // namespace assay
