// Binds literals to device memory around a run of the launch program.
#include "optimized/gpu/gpu_executable.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "optimized/runtime/ranks/rank_group.h"
#include "optimized/runtime/ranks/rank_results.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/collective_groups.h"

namespace assay::gpu {
namespace {

// Warp instructions per second that the simulator is thought to do at most; one launch that is
// allowed more than the run's time would hold it up for too long.
constexpr double kInstructionsPerSecond = 1e8;

void LeavesOfValue(const Literal& value, std::vector<const Literal*>& leaves) {
  if (!value.shape().IsTuple()) {
    leaves.push_back(&value);
    return;
  }
  for (const Literal& element : value.elements()) LeavesOfValue(element, leaves);
}

absl::StatusOr<Literal> MakeResult(const Shape& shape, int64_t limit) {
  if (!shape.IsTuple()) return Literal::Create(shape, limit);
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements()) {
    ASSAY_ASSIGN_OR_RETURN(Literal literal, MakeResult(element, limit));
    elements.push_back(std::move(literal));
  }
  return Literal::Tuple(std::move(elements));
}

absl::Span<const std::byte> BytesOfLeaf(const Literal& leaf) {
  if (!leaf.shape().IsArray()) return {};
  const absl::Span<const uint8_t> bytes = leaf.bytes();
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

// When a run ends before its time, whoever waits on a device for another one is freed.
class DeviceRendezvous : public Rendezvous {
 public:
  DeviceRendezvous(std::vector<const Meeting*> meetings, std::vector<std::string> names,
                   std::string backend, const std::unique_ptr<NcclCommunicators>& communicators)
      : Rendezvous(std::move(meetings), std::move(names), std::move(backend)),
        communicators_(communicators) {}

 protected:
  void OnStop() override {
    if (communicators_ != nullptr) communicators_->Abort();
  }

 private:
  const std::unique_ptr<NcclCommunicators>& communicators_;
};

SimulatorOptions WithTime(SimulatorOptions options, double seconds) {
  options.max_instructions =
      static_cast<uint64_t>(std::clamp(seconds, 1.0, 1e4) * kInstructionsPerSecond);
  return options;
}

}  // namespace

GpuExecutable::GpuExecutable(GpuProgram program)
    : program_(std::move(program)),
      devices_(static_cast<size_t>(program_.devices.replicas * program_.devices.partitions)) {
  for (Device& device : devices_) {
    device.simulator =
        std::make_unique<Simulator>(WithTime(program_.simulator, program_.limits.seconds));
  }
}

GpuExecutable::~GpuExecutable() {
  if (program_.cuda == nullptr) return;
  const std::lock_guard<std::mutex> whole_gpu(program_.cuda->running);
  // Nothing can be given back of a context that is lost, and nobody is left to be told.
  for (size_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d].memory == nullptr) continue;
    (void)Enter(d);
    devices_[d].program = nullptr;
    devices_[d].memory = nullptr;
  }
  communicators_ = nullptr;
}

absl::Status GpuExecutable::Enter(size_t d) const {
  if (program_.cuda == nullptr) return absl::OkStatus();
  return EnterDevice(*program_.cuda, d).status();
}

absl::Status GpuExecutable::SetInfeed(std::vector<std::vector<Literal>> items) {
  const std::lock_guard<std::mutex> lock(running_);
  if (items.size() > devices_.size()) {
    return MakeError(ErrorClass::kRejected, StrCat(name(), ": infeeds for ", items.size(),
                                                   " devices, the program has ", devices_.size()));
  }
  for (size_t d = 0; d < devices_.size(); ++d) {
    devices_[d].host.infeed.clear();
    if (d >= items.size()) continue;
    for (Literal& item : items[d]) devices_[d].host.infeed.push_back(std::move(item));
  }
  return absl::OkStatus();
}

std::map<std::string, double> GpuExecutable::Statistics() const {
  std::map<std::string, double> statistics = program_.statistics;
  for (const Device& device : devices_) {
    const Counters& counters = device.simulator->counters();
    const auto note = [&](const std::string& name, uint64_t value) {
      statistics[StrCat("gpu.", name)] += static_cast<double>(value);
    };
    note("launches", counters.launches);
    note("instructions", counters.warp_instructions);
    note("divergent", counters.divergent_branches);
    note("barriers", counters.barriers);
    note("bytes", counters.global_bytes);
    note("sectors", counters.global_sectors);
    note("sectors.least", counters.least_global_sectors);
    note("shared", counters.shared_accesses);
    note("bank.conflicts", counters.bank_conflicts);
    for (size_t width = 0; width < counters.global_loads.size(); ++width) {
      note(StrCat("loads.", 1 << width), counters.global_loads[width]);
      note(StrCat("stores.", 1 << width), counters.global_stores[width]);
    }
    if (program_.cuda != nullptr) continue;
    double& path = statistics["gpu.clock.path"];
    path = std::max(path, static_cast<double>(device.clock.path()) * 1e-12);
    statistics["gpu.clock.total"] += static_cast<double>(device.clock.total) * 1e-12;
  }
  return statistics;
}

absl::Status GpuExecutable::CheckArguments(const std::vector<const Literal*>& arguments) const {
  absl::Span<Instruction* const> parameters = program_.module->entry()->parameters();
  if (arguments.size() != parameters.size()) {
    return MakeError(ErrorClass::kRejected,
                     StrCat(name(), ": ", arguments.size(), " arguments for ", parameters.size(),
                            " parameters"));
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k] != nullptr && Compatible(arguments[k]->shape(), parameters[k]->shape())) {
      continue;
    }
    return MakeError(
        ErrorClass::kRejected,
        StrCat(name(), ": argument ", k, " is ",
               arguments[k] == nullptr ? "missing" : arguments[k]->shape().ToString(),
               ", parameter ", parameters[k]->name(), " is ", parameters[k]->shape().ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> GpuExecutable::MakeTable(
    const std::vector<const Literal*>& inputs, const std::vector<const Literal*>& results,
    RunDevice& device) const {
  const BufferAssignment& buffers = *program_.buffers;
  std::vector<uint64_t> table(BufferTable::kFirstParameter);
  const auto allocate = [&](uint64_t bytes, std::string_view name) {
    return device.Allocate(std::max<uint64_t>(bytes, 1), name);
  };
  const absl::Span<const std::byte> constants(
      reinterpret_cast<const std::byte*>(buffers.constants().data()), buffers.constants().size());
  ASSAY_ASSIGN_OR_RETURN(table[BufferTable::kArena],
                         allocate(static_cast<uint64_t>(buffers.arena_bytes()), "arena"));
  ASSAY_ASSIGN_OR_RETURN(table[BufferTable::kConstants], allocate(constants.size(), "constants"));
  ASSAY_RETURN_IF_ERROR(device.CopyIn(table[BufferTable::kConstants], constants));
  for (size_t k = 0; k < inputs.size(); ++k) {
    ASSAY_ASSIGN_OR_RETURN(table.emplace_back(),
                           allocate(BytesOfLeaf(*inputs[k]).size(), StrCat("parameter ", k)));
  }
  for (size_t k = 0; k < results.size(); ++k) {
    ASSAY_ASSIGN_OR_RETURN(table.emplace_back(),
                           allocate(BytesOfLeaf(*results[k]).size(), StrCat("result ", k)));
  }
  return table;
}

absl::Status GpuExecutable::MakeCommunicators() {
  if (communicators_ != nullptr || program_.device_collectives.empty()) return absl::OkStatus();
  std::vector<NcclCommunicators::Clique> cliques;
  for (const int64_t number : program_.device_collectives) {
    for (auto& clique : CliquesOf(program_.plans[static_cast<size_t>(number)])) {
      if (std::find(cliques.begin(), cliques.end(), clique) == cliques.end())
        cliques.push_back(std::move(clique));
    }
  }
  // Opens all devices before any of them begins.
  for (size_t d = 0; d < devices_.size(); ++d) ASSAY_RETURN_IF_ERROR(Enter(d));
  ASSAY_ASSIGN_OR_RETURN(communicators_,
                         NcclCommunicators::Make(*program_.cuda->nccl, cliques, [this](int64_t d) {
                           return Enter(static_cast<size_t>(d));
                         }));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RunDevice>> GpuExecutable::MakeDevice(size_t d) {
  if (program_.cuda != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(CudaHostDevice* const gpu, EnterDevice(*program_.cuda, d));
    return MakeCudaDevice(*gpu->session, {&gpu->libraries, communicators_.get()}, program_.image,
                          program_.graphs);
  }
  const int64_t memory = program_.limits.memory_bytes / static_cast<int64_t>(devices_.size());
  return MakeSimulatedDevice(*devices_[d].simulator, *program_.architecture,
                             static_cast<uint64_t>(memory));
}

absl::Status GpuExecutable::Prepare(const std::vector<const Literal*>& arguments, int64_t number,
                                    Rendezvous& rendezvous, Device& device) {
  ASSAY_RETURN_IF_ERROR(CheckArguments(arguments));
  ASSAY_RETURN_IF_ERROR(Enter(static_cast<size_t>(number)));
  absl::StatusOr<Literal> made =
      MakeResult(program_.module->entry()->root()->shape(), program_.limits.memory_bytes);
  if (!made.ok()) return MakeError(ErrorClass::kOutOfMemory, ToStd(made.status().message()));
  device.result = *std::move(made);
  RunContext& context = device.context;
  context.stopped = &rendezvous.stopped();
  context.rendezvous = &rendezvous;
  context.plans = &program_.plans;
  context.host = &device.host;
  context.device = number;
  context.replica = number / program_.devices.partitions;
  context.partition = number % program_.devices.partitions;
  device.host.outfeed.clear();
  std::vector<const Literal*> inputs, outputs;
  for (const Literal* argument : arguments) LeavesOfValue(*argument, inputs);
  LeavesOfValue(device.result, outputs);
  if (device.memory == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(device.memory, MakeDevice(static_cast<size_t>(number)));
    absl::StatusOr<std::vector<uint64_t>> table = MakeTable(inputs, outputs, *device.memory);
    if (!table.ok()) return MakeError(ErrorClass::kOutOfMemory, ToStd(table.status().message()));
    device.table = *std::move(table);
    device.program = std::make_unique<ProgramRun>(program_.launches, *program_.buffers,
                                                  *device.memory, device.table, context);
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    ASSAY_RETURN_IF_ERROR(device.memory->CopyIn(device.table[BufferTable::kFirstParameter + k],
                                                BytesOfLeaf(*inputs[k])));
  }
  return absl::OkStatus();
}

absl::Status GpuExecutable::RunOn(Device& device) {
  // Arguments and results are copied outside of the program's time.
  const RunClock before = device.memory->clock();
  ASSAY_RETURN_IF_ERROR(device.program->Run());
  device.clock.Add(device.memory->clock(), before);
  std::vector<const Literal*> outputs;
  LeavesOfValue(device.result, outputs);
  for (size_t k = 0; k < outputs.size(); ++k) {
    const absl::Span<const std::byte> bytes = BytesOfLeaf(*outputs[k]);
    if (bytes.empty()) continue;
    const uint64_t address =
        device.table[static_cast<size_t>(program_.buffers->ResultEntry(static_cast<int>(k)))];
    // The literal is the device's own.
    ASSAY_RETURN_IF_ERROR(
        device.memory->CopyOut(address, {const_cast<std::byte*>(bytes.data()), bytes.size()}));
  }
  return absl::OkStatus();
}

absl::Status GpuExecutable::RunWatched(size_t d, const Rendezvous& rendezvous) {
  if (communicators_ == nullptr) return RunOn(devices_[d]);
  CudaSession& session = *program_.cuda->devices[d]->session;
  // Errors that come up are rare: one more millisecond is no matter.
  constexpr std::chrono::milliseconds kBetween(1);
  auto next = std::chrono::steady_clock::now() + kBetween;
  session.SetWatch([this, d, &rendezvous, kBetween, next]() mutable -> absl::Status {
    if (rendezvous.stopped() != 0) return absl::CancelledError("gpu: the run was stopped");
    if (std::chrono::steady_clock::now() < next) return absl::OkStatus();
    next = std::chrono::steady_clock::now() + kBetween;
    return communicators_->AsyncError(static_cast<int64_t>(d));
  });
  const absl::Status status = RunOn(devices_[d]);
  session.SetWatch(nullptr);
  return status;
}

// A thread per device, where there are several.
absl::Status GpuExecutable::RunAll(Rendezvous& rendezvous,
                                   std::chrono::steady_clock::time_point deadline) {
  const auto run = [&](int64_t d) {
    const auto number = static_cast<size_t>(d);
    absl::Status status = Enter(number);
    const bool has_begun = status.ok();
    if (has_begun) status = RunWatched(number, rendezvous);
    // A device that was stopped says no more than that.
    if (!status.ok() && !absl::IsCancelled(status)) rendezvous.Fail(status);
    // Its memory stays until what its partners put there has ended.
    if (has_begun && !status.ok() && communicators_ != nullptr)
      (void)devices_[number].memory->Finish();
    rendezvous.Finish(d);
  };
  if (devices_.size() > 1) {
    return RunOnThreads(static_cast<int64_t>(devices_.size()), rendezvous, deadline, run);
  }
  run(0);
  return rendezvous.WaitForAll(deadline);
}

// A process per device. Counters of what its simulator did, and its clock, come back with its
// results.
absl::Status GpuExecutable::RunProcesses(std::vector<const Meeting*> meetings,
                                         std::vector<std::string> names,
                                         std::chrono::steady_clock::time_point deadline) {
  const auto work = [&](int64_t rank, Rendezvous& rendezvous) -> absl::StatusOr<std::string> {
    Device& device = devices_[static_cast<size_t>(rank)];
    device.context.rendezvous = &rendezvous;
    device.context.stopped = &rendezvous.stopped();
    ASSAY_RETURN_IF_ERROR(RunOn(device));
    const Counters& counters = device.simulator->counters();
    return StrCat(std::string_view(reinterpret_cast<const char*>(&counters), sizeof counters),
                  std::string_view(reinterpret_cast<const char*>(&device.clock), sizeof(RunClock)),
                  PackResults(device.result, device.host, device.context));
  };
  ASSAY_ASSIGN_OR_RETURN(const std::vector<std::string> answers,
                         RunRanks({std::move(meetings), std::move(names), std::string(name()),
                                   deadline, program_.ranks},
                                  work));
  for (size_t d = 0; d < devices_.size(); ++d) {
    Counters counters;
    constexpr size_t kCounted = sizeof counters + sizeof(RunClock);
    if (answers[d].size() < kCounted) return absl::DataLossError("a rank's answer is short");
    std::memcpy(&counters, answers[d].data(), sizeof counters);
    std::memcpy(&devices_[d].clock, answers[d].data() + sizeof counters, sizeof(RunClock));
    devices_[d].simulator->set_counters(counters);
    ASSAY_RETURN_IF_ERROR(UnpackResults(std::string_view(answers[d]).substr(kCounted),
                                        devices_[d].result, devices_[d].host, devices_[d].context));
  }
  return absl::OkStatus();
}

RunResult GpuExecutable::TakeResults(bool is_good) {
  RunResult run;
  for (size_t d = 0; d < devices_.size(); ++d) {
    Device& device = devices_[d];
    if (device.memory != nullptr)
      run.peak_bytes += static_cast<int64_t>(device.memory->bytes_in_use());
    run.outputs.push_back(std::move(device.result));
    run.outfeeds.push_back(std::move(device.host.outfeed));
    device.host = {};
    // A GPU's memory, code and graphs serve the next run, too.
    if ((program_.cuda != nullptr && is_good) || device.memory == nullptr) continue;
    // Nothing can be given back of a context that is lost.
    (void)Enter(d);
    device.program = nullptr;
    device.memory = nullptr;
  }
  // Communicators that were aborted serve no other run.
  if (!is_good) communicators_ = nullptr;
  return run;
}

absl::StatusOr<RunResult> GpuExecutable::Run(
    const std::vector<std::vector<const Literal*>>& arguments) {
  const std::lock_guard<std::mutex> lock(running_);
  if (arguments.size() != devices_.size()) {
    return MakeError(ErrorClass::kRejected,
                     StrCat(name(), ": arguments for ", arguments.size(),
                            " devices, the program was compiled for ", devices_.size()));
  }
  const auto start = std::chrono::steady_clock::now();
  const auto deadline =
      start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                  std::chrono::duration<double>(std::clamp(program_.limits.seconds, 0.0, 1e8)));
  std::unique_lock<std::mutex> whole_gpu;
  if (program_.cuda != nullptr) {
    whole_gpu = std::unique_lock<std::mutex>(program_.cuda->running);
  }
  std::vector<const Meeting*> meetings;
  for (const CollectivePlan& plan : program_.plans) meetings.push_back(&plan.meeting);
  std::vector<std::string> names;
  for (size_t d = 0; d < devices_.size(); ++d) {
    names.push_back(DeviceName(static_cast<int64_t>(d), program_.devices.partitions));
  }
  DeviceRendezvous rendezvous(meetings, names, std::string(name()), communicators_);
  absl::Status status = MakeCommunicators();
  for (size_t d = 0; d < devices_.size() && status.ok(); ++d) {
    devices_[d].context.deadline = deadline;
    status = Prepare(arguments[d], static_cast<int64_t>(d), rendezvous, devices_[d]);
  }
  if (status.ok() && program_.ranks != RankKind::kThreads && devices_.size() > 1) {
    status = RunProcesses(std::move(meetings), std::move(names), deadline);
  } else if (status.ok()) {
    status = RunAll(rendezvous, deadline);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RunResult run = TakeResults(status.ok());
  run.seconds = seconds;
  if (!status.ok()) return status;
  return run;
}

}  // namespace assay::gpu
