// Single mistakes of a compiler: changes of one instruction, put into a copy of a program before it
// is compiled. They measure what verdicts by cuts convict.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/cuts/programs/flat_module.h"

namespace assay {

struct Mistake {
  std::string instruction;  // its name, which copies of the module keep
  // "op", "operands", "constant", "sign of a constant", "tenth of a constant", "convert", "axis",
  // "mask", "compare", "index", "start", "window", "accumulation", "rounding"
  std::string kind;
  std::string what;  // "subtract for add"
  // Puts the mistake into a copy. If the copy does not verify, this place cannot have the mistake.
  std::function<void(Instruction*)> make;
};

// Lists the mistakes that can be put into the entry, the bodies of loops and the branches of a flat
// module, in the order of its instructions.
std::vector<Mistake> MistakesIn(const Module& flat);

// A copy of `module` (the flat one, or one with captures made of it) with the mistake. Rejected: it
// does not verify so. Not found: the instruction is not there.
absl::StatusOr<std::unique_ptr<Module>> WithMistake(const Module& module, const Mistake& mistake);

}  // namespace assay
