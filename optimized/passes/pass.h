// One pass over a module. A pass = one header, one source, one test file of before/after HLO text.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "optimized/gates.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay {

struct PassContext {
  Gates& gates;
  const Profile& profile;  // floating point is rewritten only within its clauses
};

class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;
  // True if the module changed.
  virtual absl::StatusOr<bool> Run(Module& module, PassContext& context) = 0;
};

}  // namespace assay
