// A compiled module as the host sees it: launches, copies, loops, branches and calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "optimized/buffers/buffer_assignment.h"
#include "optimized/gpu/host/host_step.h"
#include "optimized/gpu/kernels/kernel_emitter.h"
#include "optimized/gpu/program/device_collective.h"
#include "optimized/gpu/program/run_device.h"
#include "optimized/gpu/program/stream_plan.h"
#include "optimized/gpu/simulator/simulator.h"
#include "optimized/plan/program_plan.h"
#include "optimized/runtime/run_context.h"

namespace assay::gpu {

struct KernelLaunch {
  std::shared_ptr<const DecodedKernel> code;
  LaunchShape shape;
  std::vector<BufferArgument> arguments;     // those of the step's scratch memory follow
  std::vector<uint8_t> may_write;            // of each, and of the scratch memory
  std::vector<const Instruction*> computes;  // by line of the code, from 1 on
};

// The kernel by which devices reduce arrays.
struct CombineLaunch {
  std::shared_ptr<const DecodedKernel> code;
  std::vector<int64_t> scratch;  // bytes of the accumulator and the operand
};

// Work of the host, between copies of its operands out of the device and of its results into it.
struct HostStep {
  HostWork work;
  std::vector<std::vector<BufferArgument>> operands;  // by leaf; tokens have no bytes
  std::vector<BufferArgument> results;
  std::optional<CombineLaunch> combine;  // of a reduction among devices
  std::optional<NcclForm> on_device;     // of a collective that devices with a way do by themselves
};

struct LaunchStep {
  StepPlan::Kind kind = StepPlan::Kind::kKernel;
  const Instruction* instruction = nullptr;
  std::vector<KernelLaunch> launches;  // of a kernel, in order
  // A library's routine on these arrays takes their place, unless it refuses.
  struct Routine {
    std::vector<BufferSlice> operands, results;
  };
  std::optional<Routine> routine;
  std::vector<int64_t> scratch;  // bytes of memory that its launches have besides
  // Results that share no operand's memory: another value begins to live there.
  std::vector<BufferArgument> fresh;
  std::optional<HostStep> host;  // in the place of launches
};

// The steps of a frame, in an order in which they may run one after the other, and their streams.
struct LaunchFrame {
  std::vector<LaunchStep> steps;
  FrameStreams streams;
  int first_event = 0;    // of its begin; those of its steps follow
  int first_stretch = 0;  // in the numbers of the program
};

struct LaunchProgram {
  std::vector<LaunchFrame> frames;
  absl::flat_hash_map<const BufferAssignment::Frame*, size_t> number_of;  // of each frame
};

struct ProgramStreams {
  int streams = 1;          // that steps may be spread over
  bool host_alone = false;  // so that stretches between steps of the host can be replayed
  // True for ops whose launches a library's routine may take the place of; null: for none.
  std::function<bool(const Instruction& op)> library_takes;
  // Says how devices do a collective without the host; null: they do none.
  std::function<std::optional<NcclForm>(const Instruction& collective)> on_device;
};

// Emits all kernels into `context.module` and decodes them for the simulator.
absl::StatusOr<LaunchProgram> MakeLaunchProgram(const KernelContext& context,
                                                const ProgramPlan& plan,
                                                const BufferAssignment& buffers,
                                                const SimulatorOptions& options,
                                                const ProgramStreams& streams, Gates& gates);

// Runs a program on a device. `table`: a device address by entry of the BufferTable. It lives until
// all devices of the run have ended: they read each other's copies on the host.
class ProgramRun {
 public:
  // `context` is what functions of the runtime get; its deadline and its sign to stop end loops.
  ProgramRun(const LaunchProgram& program, const BufferAssignment& buffers, RunDevice& device,
             std::vector<uint64_t> table, RunContext& context)
      : program_(program),
        buffers_(buffers),
        device_(device),
        table_(std::move(table)),
        context_(context) {}

  absl::Status Run();

 private:
  using Frame = BufferAssignment::Frame;

  absl::Status RunFrame(const Frame& frame);
  // Steps that streams may do side by side, or the same as the device has kept it.
  absl::Status RunStretch(const Frame& frame, const LaunchFrame& launches, size_t number);
  absl::Status RunStep(const Frame& frame, const LaunchStep& step);
  absl::Status RunKernels(const LaunchStep& step);
  // Memory of the step's own, the same in every run of it; nothing is in it.
  absl::StatusOr<std::vector<KernelArgument>> TakeScratch(const LaunchStep& step,
                                                          absl::Span<const int64_t> sizes);
  absl::Status RunOnHost(const LaunchStep& step);
  // False: the host is to do it.
  absl::StatusOr<bool> RunOnDevice(const LaunchStep& step);
  absl::Status Meet(const LaunchStep& step, const std::vector<uint64_t>& operands,
                    const std::vector<uint64_t>& results);
  // accumulator = f(accumulator, operand), on the device.
  absl::Status Combine(const LaunchStep& step, absl::Span<std::byte> accumulator,
                       absl::Span<const std::byte> operand, int64_t count);
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
  absl::flat_hash_map<const LaunchStep*, std::vector<uint64_t>> scratch_;
  // Arrays on the host, of the last run of each step.
  absl::flat_hash_map<const LaunchStep*, std::vector<std::vector<std::byte>>> host_arrays_;
  RunContext& context_;
};

}  // namespace assay::gpu
