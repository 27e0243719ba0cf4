// A compiled program that runs on this machine: one thread and one arena per device.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "optimized/buffers/buffer_assignment.h"
#include "optimized/cpu/native/jit.h"
#include "optimized/plan/program_plan.h"
#include "optimized/runtime/collectives.h"
#include "optimized/runtime/host_queues.h"
#include "optimized/runtime/ranks/rank_group.h"
#include "spec/backend/backend.h"
#include "spec/backend/donation.h"

namespace assay {

// The product of a compilation: code, buffers, statistics.
struct CpuProgram {
  std::unique_ptr<Module> module;  // optimized; the buffers refer to it
  std::unique_ptr<BufferAssignment> buffers;
  std::unique_ptr<JitCode> code;
  std::vector<CollectivePlan> plans;
  std::vector<Decision> decisions;
  std::map<std::string, double> statistics;
  std::vector<StepText> plan;       // where that was asked for
  std::vector<PassReason> reasons;  // likewise
  // Counts the steps of loops and kernels over all runs, where that was asked for.
  std::shared_ptr<std::atomic<int64_t>> steps;
  Limits limits;  // of a run
  DeviceAssignment devices;
  int threads = 1;
  RankKind ranks = RankKind::kThreads;  // what several devices are
  bool has_defect = false;              // planted: it may leave elements of results unwritten
  bool poison = false;                  // as of CompileOptions
};

class CpuExecutable : public Executable, public PlannedExecutable, public DonatingExecutable {
 public:
  explicit CpuExecutable(CpuProgram program);

  absl::StatusOr<RunResult> Run(const std::vector<std::vector<const Literal*>>& arguments) override;
  absl::StatusOr<RunResult> RunDonating(const std::vector<std::vector<const Literal*>>& arguments,
                                        const std::vector<std::vector<Literal*>>& donated) override;
  absl::Status SetInfeed(std::vector<std::vector<Literal>> items) override;
  absl::StatusOr<std::unique_ptr<Module>> OptimizedModule() const override {
    return program_.module->Clone("");
  }
  const std::vector<Decision>& decisions() const override { return program_.decisions; }
  std::map<std::string, double> Statistics() const override;
  const std::vector<StepText>& plan() const override { return program_.plan; }
  const std::vector<PassReason>& reasons() const override { return program_.reasons; }

 private:
  struct FreeDeleter {
    void operator()(void* pointer) const { std::free(pointer); }
  };
  struct Device {
    std::unique_ptr<uint8_t, FreeDeleter> arena;  // kept from run to run
    std::vector<void*> table;
    RunContext context;
    Literal result;
    int64_t result_bytes = 0;  // of those that took over no argument's memory
    HostQueues host;
  };

  absl::Status CheckArguments(const std::vector<const Literal*>& arguments) const;
  // `donated`: empty, or as many as `arguments`.
  absl::Status Prepare(const std::vector<const Literal*>& arguments,
                       const std::vector<Literal*>& donated, int64_t number, Rendezvous& rendezvous,
                       Device& device) const;
  absl::StatusOr<RunResult> RunWith(const std::vector<std::vector<const Literal*>>& arguments,
                                    const std::vector<std::vector<Literal*>>& donated);
  absl::Status RunProcesses(std::vector<const Meeting*> meetings, std::vector<std::string> names,
                            std::chrono::steady_clock::time_point deadline);
  absl::Status RunThreads(Rendezvous& rendezvous, std::chrono::steady_clock::time_point deadline);

  CpuProgram program_;
  std::mutex running_;  // one arena per device
  std::vector<Device> devices_;
};

}  // namespace assay
