// Further inputs for a generated program: a compilation costs far more than a run.
#pragma once

#include <cstdint>
#include <vector>

#include "fuzz/generator/generate.h"

namespace assay {

// Set `set` of inputs for case `index` of the seed. Set 0 is made.inputs. From set to set each
// parameter goes through the families of values; in every other set a third of its elements are
// edges of its type: NaN, infinities, zeros of both signs, largest values, subnormals, both ends of
// the integers. Parameters that are equal in made.inputs and made.exact_inputs are what the program
// was made for (indices, sizes, trip counts) and stay as they are.
std::vector<Literal> InputSet(const Case& made, uint64_t seed, uint64_t index, int64_t set);

}  // namespace assay
