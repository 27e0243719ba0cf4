// A compiled module as the host sees it: launches, copies, loops, branches and calls.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "optimized/buffers/buffer_assignment.h"
#include "optimized/gpu/kernels/kernel_emitter.h"
#include "optimized/gpu/program/run_device.h"
#include "optimized/gpu/simulator/simulator.h"
#include "optimized/plan/program_plan.h"

namespace assay::gpu {

struct KernelLaunch {
  std::shared_ptr<const DecodedKernel> code;
  LaunchShape shape;
  std::vector<BufferArgument> arguments;
  std::vector<int64_t> scratch;  // bytes
};

struct LaunchStep {
  StepPlan::Kind kind = StepPlan::Kind::kKernel;
  const Instruction* instruction = nullptr;
  std::vector<KernelLaunch> launches;  // of a kernel, in order
  // Results that share no operand's memory: another value begins to live there.
  std::vector<BufferArgument> fresh;
};

struct LaunchProgram {
  std::vector<std::vector<LaunchStep>> steps;  // by frame, in the order of the frames
  absl::flat_hash_map<const BufferAssignment::Frame*, size_t> number_of;  // of each frame
};

// Emits all kernels into `context.module` and decodes them for the simulator.
absl::StatusOr<LaunchProgram> MakeLaunchProgram(const KernelContext& context,
                                                const ProgramPlan& plan,
                                                const SimulatorOptions& options);

// Runs a program on a device. `table`: a device address by entry of the BufferTable.
class ProgramRun {
 public:
  ProgramRun(const LaunchProgram& program, const BufferAssignment& buffers, RunDevice& device,
             std::vector<uint64_t> table, std::chrono::steady_clock::time_point deadline)
      : program_(program),
        buffers_(buffers),
        device_(device),
        table_(std::move(table)),
        deadline_(deadline) {}

  absl::Status Run() { return RunFrame(buffers_.entry()); }

 private:
  using Frame = BufferAssignment::Frame;

  absl::Status RunFrame(const Frame& frame);
  absl::Status RunStep(const Frame& frame, const LaunchStep& step);
  absl::Status RunKernels(const LaunchStep& step);
  // Appends memory of the launch's own, the same in every run of it; nothing is in it.
  absl::Status AddScratch(const KernelLaunch& launch, std::vector<KernelArgument>& arguments);
  absl::Status RunLoop(const Frame& frame, const Instruction* loop);
  absl::Status RunBranch(const Frame& frame, const Instruction* conditional);
  absl::Status RunCopies(const std::vector<BufferAssignment::Copy>& copies);
  absl::Status CheckTime() const;
  uint64_t AddressOf(BufferSlice slice) const {
    return table_[slice.table_index] + static_cast<uint64_t>(slice.offset);
  }

  const LaunchProgram& program_;
  const BufferAssignment& buffers_;
  RunDevice& device_;
  std::vector<uint64_t> table_;
  absl::flat_hash_map<const KernelLaunch*, std::vector<uint64_t>> scratch_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace assay::gpu
