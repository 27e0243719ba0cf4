// The gates' view of a planted defect: how it bends the decisions of one gate. It is implemented in
// optimized/defects, so that gates only number and refuse.
#pragma once

#include <cstdint>
#include <string_view>

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
  // Bends the instructions with an id of `first_new_id` or above from which `with` is computed.
  // Returns what shall stand for `with` afterwards.
  virtual Instruction* BendRewrite(int64_t first_new_id, Instruction* with) const = 0;
  // The changes that code generation applies.
  virtual const KernelBends& kernel_bends() const = 0;
};

}  // namespace assay
