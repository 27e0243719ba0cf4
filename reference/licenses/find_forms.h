// Finds the other forms of an instruction (reference/values/licensed_forms.h) from what makes its
// operands.
#pragma once

#include "reference/licenses/constants.h"
#include "reference/values/licensed_forms.h"
#include "spec/ir/module.h"

namespace assay::reference {

bool DividesByRoot(const Instruction& quotient, Constants& constants);
// Finds all but the first two.
LicensedForms LicensedFormsOf(const Instruction& instruction, Constants& constants);

}  // namespace assay::reference
