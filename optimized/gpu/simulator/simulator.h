// A simulator of NVIDIA GPU kernels: it runs the LLVM IR that is compiled to PTX, a warp at a time,
// and watches what hardware hides. It knows LLVM IR and the PTX ISA (version 8.8), and nothing of
// HLO.
//
// Kernels are functions of calling convention ptx_kernel, scalar per thread. Address spaces: 1
// global, 3 shared, 4 constant, 5 local, 0 generic. A finding ends its launch with an error, whose
// parts FindingOf() gives back; the same seed finds it again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/IR/Function.h"
#include "optimized/gpu/simulator/counters.h"
#include "optimized/gpu/simulator/device_memory.h"
#include "optimized/gpu/simulator/finding.h"

namespace assay::gpu {

// Blocks of a grid and threads of a block, x first.
struct LaunchShape {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  uint32_t dynamic_shared_bytes = 0;
};

// Tensor cores round sums of products of floats as was observed (arXiv 2511.10909): so many
// products are added at once, each cut to so many bits behind the point of the largest. Hopper: 16
// and 25 of 16-bit floats; Ampere: 8 and 24. Half as many of tf32 are added at once, and twice as
// many of f8, of which Ada and Hopper keep fewer bits.
struct TensorCore {
  int terms = 16;
  int fraction_bits = 25;
  int f8_fraction_bits = 13;
};

struct SimulatorOptions {
  // Off: only what keeps the simulator itself alive is checked (bounds), and nothing of memory
  // traffic is counted.
  bool checks = true;
  // Draws the order of blocks and of warps.
  uint64_t seed = 0;
  // Warp instructions that one launch may execute before it is ended with DeadlineExceeded.
  uint64_t max_instructions = uint64_t{1} << 36;
  // Bytes of shared memory that a block may have (227 KiB from sm_90 on, 163 KiB for sm_80).
  uint32_t shared_bytes_per_block = 227 * 1024;
  // Bytes that its variables may take of it: more has to be asked for at the launch.
  uint32_t declared_shared_bytes = 48 * 1024;
  // Findings name an instruction by its text. Off: by its block, number and opcode, which decodes
  // sooner.
  bool instruction_texts = true;
  TensorCore tensor_core;
};

// A scalar, or the address of a buffer. `bytes` of a buffer limits what the kernel may touch
// through this argument; 0: the allocation's end.
struct KernelArgument {
  uint64_t bits = 0;
  uint64_t bytes = 0;
  static KernelArgument Scalar(uint64_t bits) { return {bits, 0}; }
  static KernelArgument Buffer(uint64_t address, uint64_t bytes = 0) { return {address, bytes}; }
};

struct KernelCode;

// A kernel ready to run. It does not refer to its module, does not change, and may be shared by
// threads.
class DecodedKernel {
 public:
  explicit DecodedKernel(std::unique_ptr<const KernelCode> code);
  ~DecodedKernel();
  const std::string& name() const;
  // Bytes of shared memory that the kernel's globals take, and of local memory per thread.
  uint32_t static_shared_bytes() const;
  uint32_t local_bytes() const;
  // Instructions of the compact form.
  size_t size() const;
  const KernelCode& code() const { return *code_; }

 private:
  std::unique_ptr<const KernelCode> code_;
};

// Unimplemented with the instruction's text for what the simulator does not know; InvalidArgument
// for what is no kernel.
absl::StatusOr<std::unique_ptr<DecodedKernel>> Decode(const llvm::Function& kernel,
                                                      const SimulatorOptions& options = {});

struct LaneTable;

// Runs launches one after the other. Not for use by two threads at once; several simulators are
// independent as long as their memories are.
class Simulator {
 public:
  explicit Simulator(const SimulatorOptions& options = {});
  ~Simulator();
  // Runs all blocks. Errors: a finding (FindingOf), DeadlineExceeded (max_instructions),
  // InvalidArgument (shape, arguments).
  absl::Status Launch(const DecodedKernel& kernel, const LaunchShape& shape,
                      absl::Span<const KernelArgument> arguments, DeviceMemory& memory);
  // The sum over all launches since the last Reset.
  const Counters& counters() const { return counters_; }
  void ResetCounters() { counters_ = Counters(); }
  // Takes what another process counted on from here.
  void set_counters(const Counters& counters) { counters_ = counters; }
  const SimulatorOptions& options() const { return options_; }
  void set_seed(uint64_t seed) { options_.seed = seed; }

 private:
  SimulatorOptions options_;
  Counters counters_;
};

}  // namespace assay::gpu
