// A compiled program that runs in the simulator or on GPUs, a thread per device. Each run in the
// simulator has memories of its own, so that nothing is left of the one before but the state of
// random numbers.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "optimized/buffers/buffer_assignment.h"
#include "optimized/gpu/cuda_host.h"
#include "optimized/gpu/program/launch_program.h"
#include "optimized/gpu/program/run_clock.h"
#include "optimized/gpu/program/run_device.h"
#include "optimized/gpu/simulator/simulator.h"
#include "optimized/gpu/target/architecture.h"
#include "optimized/plan/program_plan.h"
#include "optimized/runtime/collectives.h"
#include "optimized/runtime/host_queues.h"
#include "optimized/runtime/ranks/rank_group.h"
#include "optimized/runtime/run_context.h"
#include "spec/backend/backend.h"

namespace assay::gpu {

// The product of a compilation.
struct GpuProgram {
  std::unique_ptr<Module> module;  // optimized; buffers and program refer to it
  std::unique_ptr<BufferAssignment> buffers;
  LaunchProgram launches;
  SimulatorOptions simulator;
  const Architecture* architecture = nullptr;
  DeviceAssignment devices;
  RankKind ranks = RankKind::kThreads;  // what several devices are
  std::vector<CollectivePlan> plans;
  std::vector<int64_t> device_collectives;  // numbers of those that GPUs do without the host
  // For GPUs: those of the process, and the kernels as they load them. Without: the simulator runs.
  std::shared_ptr<CudaHost> cuda;
  KernelImage image;
  bool graphs = false;  // stretches that come again are replayed
  std::vector<Decision> decisions;
  std::map<std::string, double> statistics;
  std::vector<StepText> plan;  // where that was asked for
  Limits limits;               // of a run
};

class GpuExecutable : public Executable, public PlannedExecutable {
 public:
  explicit GpuExecutable(GpuProgram program);
  ~GpuExecutable() override;
  GpuExecutable(const GpuExecutable&) = delete;
  GpuExecutable& operator=(const GpuExecutable&) = delete;

  absl::StatusOr<RunResult> Run(const std::vector<std::vector<const Literal*>>& arguments) override;
  absl::Status SetInfeed(std::vector<std::vector<Literal>> items) override;
  absl::StatusOr<std::unique_ptr<Module>> OptimizedModule() const override {
    return program_.module->Clone("");
  }
  const std::vector<Decision>& decisions() const override { return program_.decisions; }
  // Counters of the simulator among them: the sum over all runs. "gpu.clock.path" and
  // "gpu.clock.total" are seconds by its clock, of the slowest device and of all.
  std::map<std::string, double> Statistics() const override;
  const std::vector<StepText>& plan() const override { return program_.plan; }

 private:
  struct Device {
    std::unique_ptr<Simulator> simulator;  // kept for its counters
    RunClock clock;                        // of all runs
    RunContext context;                    // likewise for the random state
    HostQueues host;
    Literal result;
    // Made for one run, on a GPU for all:
    std::unique_ptr<RunDevice> memory;
    std::vector<uint64_t> table;
    std::unique_ptr<ProgramRun> program;
  };

  // Communicators of several GPUs whose collectives do not all go over the host.
  absl::Status MakeCommunicators();
  // Makes the context of a device's GPU that of this thread; the simulator has none.
  absl::Status Enter(size_t d) const;
  std::string_view name() const { return program_.cuda != nullptr ? "gpu" : "gpu-sim"; }
  absl::Status CheckArguments(const std::vector<const Literal*>& arguments) const;
  // Makes room for all that the program reads and writes, and copies its constants there.
  absl::StatusOr<std::vector<uint64_t>> MakeTable(const std::vector<const Literal*>& inputs,
                                                  const std::vector<const Literal*>& results,
                                                  RunDevice& device) const;
  absl::StatusOr<std::unique_ptr<RunDevice>> MakeDevice(size_t d);
  absl::Status Prepare(const std::vector<const Literal*>& arguments, int64_t number,
                       Rendezvous& rendezvous, Device& device);
  // Runs the program and fetches its results.
  absl::Status RunOn(Device& device);
  // Likewise, on the thread of a device that waits for others: its waits end with the run, and with
  // an error that comes up in a collective meanwhile.
  absl::Status RunWatched(size_t d, const Rendezvous& rendezvous);
  // The run gives back what it made on the devices; GPUs keep it for the next after a good one.
  RunResult TakeResults(bool is_good);
  absl::Status RunProcesses(std::vector<const Meeting*> meetings, std::vector<std::string> names,
                            std::chrono::steady_clock::time_point deadline);
  absl::Status RunAll(Rendezvous& rendezvous, std::chrono::steady_clock::time_point deadline);

  GpuProgram program_;
  std::mutex running_;
  std::unique_ptr<NcclCommunicators> communicators_;  // the devices refer to them
  std::vector<Device> devices_;
};

}  // namespace assay::gpu
