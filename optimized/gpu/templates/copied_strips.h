// Lets the strips of a contraction be copied to shared memory while the products of the strip
// before are added.
#pragma once

#include <cstdint>

#include "optimized/analysis/walks/walks.h"
#include "optimized/gpu/templates/template_plan.h"

namespace assay::gpu {

struct StripForm {
  ElementType types[2];  // of the elements of either operand, as they are multiplied
  int64_t side = 0;      // lines of a strip
  int64_t depth = 0;     // contracted elements of each
  // Contracted elements of a line lie side by side in shared memory: several go by one copy.
  bool is_depth_innermost = false;
};

// Fills in `copied` of a choice whose subject is the contraction, seen from `frame`, and says so in
// its reason, if that pays.
void CopyStripsAhead(const Walks& walks, const CallFrame* frame, const StripForm& form,
                     TemplateChoice& choice);

}  // namespace assay::gpu
