// Steps that the host carries out: arrays come to it, a function of the runtime works on them, and
// the results go back. Collectives and queues are such by nature; others are because there is no
// kernel for them yet.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "optimized/runtime/collectives.h"
#include "optimized/runtime/run_context.h"
#include "spec/ir/module.h"

namespace assay::gpu {

struct HostArrays {
  RunContext& context;
  std::vector<std::vector<const void*>> operands;  // by leaf; row-major arrays
  std::vector<void*> results;                      // by leaf
  CombineFn combine = nullptr;  // of a reduction among devices; called on this thread alone
};

using HostWork = std::function<absl::Status(const HostArrays& arrays)>;

// Names the function of the runtime, "assay_lapack"; empty: no host step does this op.
std::string HostCallOf(Opcode opcode);
// Names the form that has no code, as OpSupport::missing does.
std::string MissingHostForm(const Instruction& instruction);
// `instruction` outlives the work.
HostWork HostWorkOf(const Instruction& instruction);

}  // namespace assay::gpu
