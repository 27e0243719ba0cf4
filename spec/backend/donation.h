// Arguments that a caller gives away, so that results may lie in their memory.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "spec/backend/backend.h"

namespace assay {

// An Executable that is this, too, writes results where the module's input-output aliases say: in
// the memory of arguments, if the caller lets it.
class DonatingExecutable {
 public:
  virtual ~DonatingExecutable() = default;
  // Runs as Executable::Run does. `donated` holds, per device and in parameter order, those of
  // `arguments` that may be overwritten, and null for the others. What the module aliases with a
  // result comes back as that without a copy; of arguments that are kept, a copy is. All that was
  // given is empty afterwards if the run began. Rejected before it begins: a literal that is an
  // argument twice, or that is not the argument at its place; an argument that the module must
  // alias and that is kept.
  virtual absl::StatusOr<RunResult> RunDonating(
      const std::vector<std::vector<const Literal*>>& arguments,
      const std::vector<std::vector<Literal*>>& donated) = 0;
};

}  // namespace assay
