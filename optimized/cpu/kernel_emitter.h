// One kernel: the loop nest that computes one instruction, or one fusion, from buffers into
// buffers. A kernel is a function (ptr table, i64 begin, i64 end); [begin, end) is its part of the
// outermost loop.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "optimized/codegen/buffer_address.h"
#include "optimized/gates/gates.h"
#include "spec/ir/instruction.h"

namespace assay {

struct KernelTarget {
  int register_bits = 256;  // of the machine's vectors
  bool use_fma = false;
  int threads = 1;
  bool several_devices = false;  // the run spans several devices; emitted loops poll its stop flag
  std::atomic<int64_t>* steps = nullptr;  // where loops count what they do; nullptr: nowhere
  bool is_rare = false;  // runs too rarely for formulas of f64 to be worth their translation
};

struct Kernel {
  llvm::Function* function = nullptr;
  int64_t extent = 0;     // of the outermost loop: [0, extent) is everything
  bool parallel = false;  // worth splitting
  int64_t grain = 1;      // smallest part
};

absl::StatusOr<Kernel> EmitKernel(llvm::Module& module, const KernelTarget& target, Gates& gates,
                                  const Instruction& instruction, const KernelBuffers& buffers);

}  // namespace assay
