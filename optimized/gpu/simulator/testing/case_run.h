// Runs a case of testdata: a kernel as text, its buffers, and what is expected of it. See
// testdata/memory.txt.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/IR/Function.h"
#include "optimized/gpu/simulator/simulator.h"
#include "spec/base/case_file.h"

namespace assay::gpu {

absl::StatusOr<std::vector<CaseBlock>> SimulatorCaseBlocks(const std::string& file);

struct CaseOutcome {
  absl::Status status;   // of decoding and the launch
  std::string mismatch;  // the first element or counter that is not as expected; "" where all are
};

// Reads the kernel "k", hands it to `change`, and runs it. Mistakes of the case itself end the
// test.
CaseOutcome RunCase(const CaseBlock& block, uint64_t seed,
                    const std::function<void(llvm::Function&)>& change = {});

}  // namespace assay::gpu
