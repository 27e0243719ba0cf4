// Bounds of conversions from and to the narrow types, by their formats at run time.
#pragma once

#include "reference/bounds/elements.h"

namespace assay::reference {

// The values that an op may read of a float element of any type.
Range<double> SeenAny(const OpContext& op, const Array& array, int64_t i);

// Bounds element i, whose plain value is `exact` rounded to a narrow type: other ops may read what
// was not rounded.
void FinishNarrow(ClauseSet clauses, Array& result, int64_t i, double exact);

// The bound of a convert with a narrow type on either side.
absl::Status BoundNarrowConvert(const OpContext& op, Array& result);

// Bounds results of the f32 that stands for an op of 8-bit floats by what f16 makes of them: where
// excess precision is licensed an op may be computed in f16, and rounded twice in the end.
void GrantRoundingToHalf(const OpContext& op, Array& exact);

// Bounds a function's results by the one ulp that operation semantics 1.8 grants on every format
// narrower than 16 bits: a code beside the roundings of the real values, inside the range of the
// function. `exact` has the bounds before the conversion, with the error of the wider type.
void GrantOneUlp(const OpContext& op, const Array& exact, Array& result);

}  // namespace assay::reference
