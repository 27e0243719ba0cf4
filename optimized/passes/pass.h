// One pass over a module. A pass = one header, one source, one test file of before/after HLO text.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "optimized/gates/gates.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay {

class BFloat16Support;
struct GpuFacts;
struct Target;

// Options of single passes.
struct PassOptions {
  // tree-reduction-rewriter: elements of a reduced dimension that are combined first.
  int64_t reduce_window_size = 32;
  // bfloat16-normalization: what the backend does in BF16; nullptr: everything.
  const BFloat16Support* bfloat16 = nullptr;
  // Passes that make calls of a GPU's libraries: the GPU; nullptr: GpuFacts::Default().
  const GpuFacts* gpu = nullptr;
  // The machine that code is made for; nullptr: nothing is known of it.
  const Target* target = nullptr;
  // There are such libraries: calls that the gate allows stay.
  bool libraries = false;
  // Rewrites of floating point that no clause of a profile grants, such as sums of sums in another
  // order.
  bool fast_math = false;
  // Passes that write an op in terms of others do so unasked. Otherwise only what was refused the
  // target's own kernel is written so (the gates of kind library).
  bool expand = false;
  // Passes that only tell what they see stay silent below 2.
  int verbosity = 0;
  std::function<void(std::string_view line)> log;
  // Told why a pass decided as it did, a line per instruction that it thought of; for people.
  std::function<void(std::string_view line)> explain;
  // Bytes that parameters, constants and values may take at once; negative: as many as they do.
  int64_t memory_limit = -1;
};

struct PassContext {
  Gates& gates;
  const Profile& profile;  // floating point is rewritten only within its clauses
  PassOptions options = {};
};

class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;
  // True if the module changed.
  virtual absl::StatusOr<bool> Run(Module& module, PassContext& context) = 0;
};

}  // namespace assay
