// The magnitudes of what was added up for single elements, which say whether a bound is useful.
// Document: design, "Verdicts".
#pragma once

#include "reference/values/op_context.h"

namespace assay::reference {

// True if an op moves numbers, with all that is known of them, and makes none.
bool IsMove(Opcode opcode);

// Notes beside the bounds of `result` how large the numbers were that its elements were made of:
// sums add the magnitudes of their terms up, products multiply them, functions pass them on by
// their steepness up to 1 or the size of their result. What may be flushed counts as the numbers
// whose spacing is that of the least normal number. Folds and contractions note their own;
// transforms and factorizations have the root mean square of the line, or of the matrix, whose
// elements come from the same numbers; batch norm and folds by other computations note their own.
// Notes, too, where the numbers were known up to a rounding or two (ElementBound::has_known_terms).
void NoteMagnitudes(const OpContext& op, Array& result);

// Takes over the magnitudes of an array for the same elements of another type.
void TakeMagnitudes(const Array& from, Array& to);

// Notes the magnitudes of an array that an op with computations of its own has put together.
void NoteFreshMagnitudes(const OpContext& op, Array& result);

}  // namespace assay::reference
