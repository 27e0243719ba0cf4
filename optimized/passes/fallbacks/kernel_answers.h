// The kernels that make a result as a whole, and what stands for each when it is refused: a pass
// that writes the op in others, or the reason why there is none. Document: HLO passes, "Op expand
// pass".
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "spec/attributes/opcode.h"

namespace assay {

struct KernelAnswer {
  Opcode opcode;
  std::string_view gate;          // of kind kLibrary; empty: the kernel cannot be refused
  std::string_view pass;          // what then runs
  std::string_view none_because;  // of forms that stay with the kernel; empty: there are none
};

// By opcode; an op whose forms have several answers has several rows.
absl::Span<const KernelAnswer> KernelAnswers();

}  // namespace assay
