// A program of nine instructions, of which a test needs one dynamic slice of another.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/types/literal.h"

namespace assay {

inline constexpr char kSliceOfSlice[] = R"(HloModule m
ENTRY e {
  p = s16[9,7]{1,0} parameter(0)
  i = u8[] parameter(1)
  n = s16[9,7]{1,0} negate(p)
  a = s16[9,7]{1,0} add(n, p)
  s = s16[9,7]{1,0} subtract(p, a)
  outer = s16[6,5]{1,0} dynamic-slice(s, i, i), dynamic_slice_sizes={6,5}
  inner = s16[4,3]{1,0} dynamic-slice(outer, i, i), dynamic_slice_sizes={4,3}
  r = s16[4,3]{1,0} reverse(inner), dimensions={0}
  ROOT t = (s16[4,3]{1,0}, s16[9,7]{1,0}) tuple(r, a)
}
)";

// An array of multiples of three, and where the slices start.
inline std::vector<Literal> InputsOfSliceOfSlice() {
  Literal p(Shape::Array(ElementType::kS16, {9, 7}));
  for (int64_t i = 0; i < p.element_count(); ++i) p.SetInteger(i, 3 * i);
  return {p, Literal::Scalar<uint8_t>(ElementType::kU8, 2)};
}

}  // namespace assay
