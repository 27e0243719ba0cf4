// Proves index rules for all sizes, or refutes them with an instance, by the solver Z3: along one
// axis, in integers without end. Sizes and starts of real programs are 64 bits; no rule adds up
// more than a few of them.
#pragma once

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "optimized/proofs/statement.h"

namespace assay {

struct Proof {
  enum Outcome : uint8_t {
    kProved,   // no instance has two sides that differ
    kRefuted,  // the two sides of `witness` differ
    kOpen,     // the solver gave up within its time
  } outcome = kOpen;
  Assignment witness;
  std::string reason;  // of kOpen
  double seconds = 0;
};

// `forgotten`: a claim, "RULE/CLAIM", that is not asked. A witness is none of `avoided`: in some
// instances another rule of the compiler takes care first.
Proof Prove(const RuleStatement& statement, std::string_view forgotten, double seconds,
            absl::Span<const Assignment> avoided = {});

}  // namespace assay
