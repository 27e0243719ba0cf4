// Everything that a local rewrite may ask: the module, the gates and the profile.
#pragma once

#include "optimized/gates/gates.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay {

struct RuleContext {
  Module& module;
  Gates& gates;
  const Profile& profile;
};

}  // namespace assay
