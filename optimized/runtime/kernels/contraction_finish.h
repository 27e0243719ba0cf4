// Hands finished sums to compiled code, for the loops that finish them.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "optimized/runtime/compiled_call.h"
#include "optimized/runtime/kernels/contraction.h"
#include "optimized/runtime/kernels/contraction_sides.h"

namespace assay {

struct ContractionFinish {
  EpilogueFn epilogue = nullptr;
  void** table = nullptr;
  const uint8_t* sums = nullptr;  // the first of all
  int64_t bytes = 1;              // of one
  int64_t unit = 1;               // of parts (ContractionPlan::epilogue_unit)

  // The number of the element at an address.
  int64_t NumberOf(const void* at) const {
    return (static_cast<const uint8_t*>(at) - sums) / bytes;
  }
  // `count` sums in a row, of which `first` is the number of the first, are final.
  ASSAY_CALLS_COMPILED_CODE void Run(int64_t first, int64_t count) const {
    epilogue(table, first, first + count, sums + first * bytes);
  }
  // The sums of `count` lanes from `first` on are final in rows at these places from `out` on.
  // Takes as many neighbours at once as there are.
  void RunLines(const void* out, absl::Span<const int64_t> rows, const ContractionSide& lanes,
                int64_t first, int64_t count) const;
};

}  // namespace assay
