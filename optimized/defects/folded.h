// The operator folded-value: it bends single elements that were computed at compile time.
#pragma once

#include "absl/types/span.h"
#include "optimized/defects/defect.h"
#include "spec/types/literal.h"

namespace assay {

// Bends `value`, to which `at` was evaluated on those operands, if `defect` sits at the constant
// folding of its opcode and its guard holds. An operand counts where it has an element for each of
// the result, or one for all.
void BendFolded(const Defect& defect, const Instruction& at,
                absl::Span<const Literal* const> operands, Literal& value);

}  // namespace assay
