// Chooses the elements of a captured array that are judged where judging all of them would cost too
// much. Design: "Deep programs are cut".
#pragma once

#include <cstdint>
#include <vector>

#include "spec/types/literal.h"

namespace assay::reference {

// About `most` elements, as rising linear indices: the corners, the least and the largest number,
// the first that are NaN or infinite, such as lie at edges of tiles, and others, all drawn from
// `seed`. The same seed gives the same elements on every machine.
std::vector<int64_t> ChooseSample(const Literal& array, int64_t most, uint64_t seed);

// A list of these elements of an array.
Literal ElementsOf(const Literal& array, const std::vector<int64_t>& elements);

}  // namespace assay::reference
