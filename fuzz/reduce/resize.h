// Gives dimensions of a case other sizes and brings attributes, constants and inputs along.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/links/equivalence.h"

namespace assay {

using SizeByClass = std::map<int64_t, int64_t>;  // class of LinkKind::kSizes -> size

// `original` with the given classes resized. Sizes that follow from others (of a concatenate, of a
// reshape, of a slice that no longer fits) are changed too. Slices, pads and dynamic slices keep
// their result sizes where they can. nullopt when it cannot be done; what is returned need not
// verify.
std::optional<ReduceCase> Resize(const ReduceCase& original, const Equivalence& sizes,
                                 SizeByClass wanted, bool keep_end = false);

// The elements of `literal` at the indices that exist in `shape`, the last one repeated where
// `shape` is larger. With `keep_end`, those at the far end of every dimension.
Literal Crop(const Literal& literal, const Shape& shape, bool keep_end = false);

}  // namespace assay
