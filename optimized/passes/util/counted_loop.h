// Builds a loop with a known number of trips.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "spec/ir/module.h"

namespace assay {

// Builds the result of one trip from `values`, in the loop's body: as many, of the same shapes.
// `trip` is the number of the trip from 0 on, an s64.
using TripBuilder = std::function<std::vector<Instruction*>(Computation* body, Instruction* trip,
                                                            absl::Span<Instruction* const> values)>;

// A while loop of `trips` trips over `values`, which are arrays; returns the last ones from number
// `first_result` on. Those before serve the trips alone.
std::vector<Instruction*> AddCountedLoop(Computation* into, int64_t trips,
                                         absl::Span<Instruction* const> values, size_t first_result,
                                         const TripBuilder& build_trip);

// The slice of one element at `at` (s64) along dimension `d`, without that dimension.
Instruction* AddSliceAt(Computation* into, Instruction* whole, int64_t d, Instruction* at);
// `whole` with `part`, which lacks dimension `d`, in the place of that slice.
Instruction* AddUpdateAt(Computation* into, Instruction* whole, int64_t d, Instruction* at,
                         Instruction* part);

}  // namespace assay
