// Initial values that an implementation need not keep: HLO's documents ask for the identity of the
// reducer (operation semantics, Reduce: "keep init an identity" beside foreign XLA), and XLA takes
// a reduction of single elements for these elements.
#pragma once

#include <memory>

#include "spec/ir/module.h"

namespace assay {

// The module with each reduction whose results are made of one element replaced by that element;
// nullptr if it has none. It means the same where initial values are identities.
std::unique_ptr<Module> WithoutInitialValues(const Module& module);

}  // namespace assay
