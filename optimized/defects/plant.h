// Plants a defect of the HLO kind in what a rewrite has just added. Internal to the gates.
#pragma once

#include <cstdint>

#include "optimized/gates/gates.h"

namespace assay {

// Applies the operator of `defect` to the instructions with an id of `first_new_id` or above from
// which `with` is computed. Returns what shall stand for `with` afterwards: `with` itself, or an
// operand of it if it was bypassed. A change after which an instruction would break a constraint of
// its op, or have another shape, is undone: planted defects give wrong answers, not modules that
// the verifier refuses.
Instruction* PlantInRewrite(const Defect& defect, int64_t first_new_id, Instruction* with);

// An error unless the operator exists, fits the kind of the gate, and has only parameters that it
// knows, of the right form.
absl::Status CheckOperator(const Defect& defect);

}  // namespace assay
