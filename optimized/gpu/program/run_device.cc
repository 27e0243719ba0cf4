// The two kinds of devices.
#include "optimized/gpu/program/run_device.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "optimized/gpu/streams/kernel_ranges.h"
#include "optimized/gpu/streams/simulated_streams.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {

namespace {

// Work waits until somebody asks for its results, or until there is a second stream: as long as all
// is on the first one it is done at once.
class SimulatedDevice : public RunDevice {
 public:
  SimulatedDevice(Simulator& simulator, const Architecture& architecture, uint64_t memory_limit)
      : simulator_(simulator),
        architecture_(architecture),
        memory_(memory_limit),
        streams_(simulator.options().seed) {}

  void UseStream(int stream) override {
    stream_ = static_cast<uint64_t>(stream);
    has_several_ = has_several_ || stream != 0;
  }
  absl::Status Record(int event) override {
    has_several_ = true;
    return streams_.Record(static_cast<uint64_t>(event), stream_);
  }
  absl::Status Await(int event) override {
    return streams_.Wait(stream_, static_cast<uint64_t>(event));
  }
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes, std::string_view name) override {
    return memory_.Allocate(bytes, 256, name);
  }
  absl::Status CopyIn(uint64_t address, absl::Span<const std::byte> bytes) override {
    return DoNow("a copy from the host", {}, {{address, bytes.size()}}, [&] {
      SpendOnCopy(bytes.size(), true);
      return memory_.CopyIn(address, bytes);
    });
  }
  absl::Status CopyOut(uint64_t address, absl::Span<std::byte> bytes) override {
    return DoNow("a copy to the host", {{address, bytes.size()}}, {}, [&] {
      SpendOnCopy(bytes.size(), true);
      // Without checks nobody notes what kernels write.
      return simulator_.options().checks ? memory_.CopyOut(address, bytes)
                                         : memory_.CopyOutAnyway(address, bytes);
    });
  }
  absl::Status CopyWithin(uint64_t to, uint64_t from, uint64_t bytes) override {
    return Do("a copy on the device", {{from, bytes}}, {{to, bytes}}, [this, to, from, bytes] {
      SpendOnCopy(bytes, false);
      return memory_.CopyWithin(to, from, bytes);
    });
  }
  absl::Status Forget(uint64_t address, uint64_t bytes) override {
    if (!simulator_.options().checks) return absl::OkStatus();
    return Do("the begin of a value", {}, {{address, bytes}},
              [this, address, bytes] { return memory_.Forget(address, bytes); });
  }
  absl::Status Launch(const DecodedKernel& kernel, const LaunchShape& shape,
                      absl::Span<const KernelArgument> arguments,
                      absl::Span<const uint8_t> may_write) override {
    if (!has_several_) return LaunchNow(kernel, shape, arguments);
    StreamWork work{absl::StrCat("kernel \"", kernel.name(), "\""), {}, {}, nullptr};
    AddRanges(kernel, arguments, may_write, work);
    work.run = [this, &kernel, shape,
                kept = std::vector<KernelArgument>(arguments.begin(), arguments.end())] {
      return LaunchNow(kernel, shape, kept);
    };
    return streams_.Enqueue(stream_, std::move(work));
  }
  absl::Status Finish() override { return streams_.SynchroniseAll(); }
  uint64_t bytes_in_use() const override { return memory_.bytes_in_use(); }
  RunClock clock() const override {
    RunClock clock = clock_;
    clock.critical = streams_.Time();
    return clock;
  }

 private:
  void SpendOnCopy(uint64_t bytes, bool with_host) {
    streams_.Spend(TimeOfCopy(architecture_, bytes, with_host, clock_));
  }
  absl::Status LaunchNow(const DecodedKernel& kernel, const LaunchShape& shape,
                         absl::Span<const KernelArgument> arguments) {
    const Counters before = simulator_.counters();
    const absl::Status status = simulator_.Launch(kernel, shape, arguments, memory_);
    const uint64_t blocks = uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
    streams_.Spend(TimeOfLaunch(architecture_, before, simulator_.counters(), blocks, clock_));
    return status;
  }
  absl::Status Do(std::string_view name, std::vector<ByteRange> reads,
                  std::vector<ByteRange> writes, std::function<absl::Status()> run) {
    if (!has_several_) return run();
    return streams_.Enqueue(
        stream_, {std::string(name), std::move(reads), std::move(writes), std::move(run)});
  }
  absl::Status DoNow(std::string_view name, std::vector<ByteRange> reads,
                     std::vector<ByteRange> writes, const std::function<absl::Status()>& run) {
    if (!has_several_) return run();
    ASSAY_RETURN_IF_ERROR(Do(name, std::move(reads), std::move(writes), run));
    return streams_.Synchronise(stream_);
  }

  Simulator& simulator_;
  const Architecture& architecture_;
  RunClock clock_;  // but for the critical path, which the streams know
  DeviceMemory memory_;
  SimulatedStreams streams_;
  uint64_t stream_ = 0;
  bool has_several_ = false;
};

class CudaRunDevice : public RunDevice {
 public:
  ~CudaRunDevice() override {
    session_.UseStream(0);
    // A run that failed may have left a capture open, and work on streams, which uses what is freed
    // now.
    for (const auto& [number, kept] : stretches_)
      if (kept.is_captured) (void)session_.EndCapture();
    (void)session_.SynchroniseAll();
  }
  CudaRunDevice(const CudaRunDevice&) = delete;
  CudaRunDevice& operator=(const CudaRunDevice&) = delete;
  CudaRunDevice(CudaSession& session, const CudaHelpers& helpers, CudaModule module,
                const KernelImage& image, bool graphs)
      : session_(session),
        libraries_(helpers.libraries),
        communicators_(helpers.communicators),
        module_(std::move(module)),
        image_(image),
        graphs_(graphs) {}

  void UseStream(int stream) override { session_.UseStream(stream); }
  absl::Status Record(int event) override {
    CudaEvent& at = events_[event];
    if (!at.is_there()) {
      ASSAY_ASSIGN_OR_RETURN(at, session_.MakeEvent());
    }
    return session_.Record(at);
  }
  absl::Status Await(int event) override { return session_.Await(events_[event]); }
  absl::StatusOr<bool> BeginStretch(int number) override {
    if (!graphs_) return false;
    KeptStretch& kept = stretches_[number];
    // The first time all that is allocated on the way comes to be.
    if (kept.runs++ == 0) return false;
    if (!kept.graph.is_there()) {
      kept.is_captured = true;
      ASSAY_RETURN_IF_ERROR(session_.BeginCapture());
      return false;
    }
    ASSAY_RETURN_IF_ERROR(session_.Launch(kept.graph));
    return true;
  }
  absl::Status EndStretch(int number) override {
    KeptStretch& kept = stretches_[number];
    if (!kept.is_captured) return absl::OkStatus();
    kept.is_captured = false;
    ASSAY_ASSIGN_OR_RETURN(kept.graph, session_.EndCapture());
    return session_.Launch(kept.graph);
  }
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes, std::string_view) override {
    ASSAY_ASSIGN_OR_RETURN(CudaBuffer made, session_.Allocate(bytes));
    bytes_in_use_ += bytes;
    buffers_.push_back(std::move(made));
    return buffers_.back().address();
  }
  absl::Status CopyIn(uint64_t address, absl::Span<const std::byte> bytes) override {
    return session_.CopyIn(address, bytes);
  }
  absl::Status CopyOut(uint64_t address, absl::Span<std::byte> bytes) override {
    return session_.CopyOut(address, bytes);
  }
  absl::Status CopyWithin(uint64_t to, uint64_t from, uint64_t bytes) override {
    return session_.CopyWithin(to, from, bytes);
  }
  absl::Status Forget(uint64_t, uint64_t) override { return absl::OkStatus(); }
  absl::Status Launch(const DecodedKernel& kernel, const LaunchShape& shape,
                      absl::Span<const KernelArgument> arguments,
                      absl::Span<const uint8_t>) override {
    CudaHandle& function = functions_[kernel.name()];
    if (function == nullptr) {
      const auto name = image_.names.find(kernel.name());
      if (name == image_.names.end()) {
        return absl::InternalError(absl::StrCat("kernel \"", kernel.name(), "\" is in no image"));
      }
      ASSAY_ASSIGN_OR_RETURN(function, session_.Function(module_, name->second));
    }
    std::vector<uint64_t> values;
    for (const KernelArgument& argument : arguments) values.push_back(argument.bits);
    return session_.Launch(function, {.grid = shape.grid,
                                      .block = shape.block,
                                      .dynamic_shared_bytes = shape.dynamic_shared_bytes,
                                      .arguments = values});
  }
  absl::StatusOr<bool> CallLibrary(const Instruction& instruction,
                                   absl::Span<const uint64_t> operands,
                                   absl::Span<const uint64_t> results) override {
    DeviceLibrary* library = libraries_ == nullptr ? nullptr : libraries_->Find(instruction);
    if (library == nullptr || refused_.contains(&instruction)) return false;
    ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, session_.Stream());
    const LibraryArrays arrays{
        operands, results, stream,
        [this](uint64_t to, uint64_t from, uint64_t bytes) {
          return session_.CopyWithin(to, from, bytes);
        },
        [this, &instruction](uint64_t bytes) { return WorkspaceOf(instruction, bytes); }};
    const absl::Status status = library->Run(instruction, arrays);
    // A library that refuses once is not asked again: the program has another way.
    if (!absl::IsUnimplemented(status)) return status.ok() ? absl::StatusOr<bool>(true) : status;
    refused_.insert(&instruction);
    return false;
  }
  bool HasCollectives() const override { return communicators_ != nullptr; }
  absl::Status Collect(const DevicePart& part, absl::Span<const uint64_t> operands,
                       absl::Span<const uint64_t> results) override {
    ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, session_.Stream());
    last_collector_ = part.device;
    const CollectiveArrays arrays{
        operands,
        results,
        stream,
        [this](uint64_t to, uint64_t from, uint64_t bytes) {
          return session_.CopyWithin(to, from, bytes);
        },
        [this](uint64_t to, uint64_t bytes) { return session_.Fill(to, bytes, std::byte{0}); },
        [this, &part](uint64_t bytes) { return WorkspaceOf(part.collective, bytes); }};
    return PutCollective(*communicators_, part.plan, part.form, part.device, arrays);
  }
  absl::Status Finish() override {
    ASSAY_RETURN_IF_ERROR(session_.SynchroniseAll());
    return last_collector_ < 0 ? absl::OkStatus() : communicators_->AsyncError(last_collector_);
  }
  uint64_t bytes_in_use() const override { return bytes_in_use_; }

 private:
  // Graphs refer to it, so that it stays as long as the device; one of a call does for all its
  // runs.
  absl::StatusOr<uint64_t> WorkspaceOf(const Instruction& instruction, uint64_t bytes) {
    CudaBuffer& workspace = workspaces_[&instruction];
    if (workspace.address() == 0 || workspace.bytes() < bytes) {
      ASSAY_ASSIGN_OR_RETURN(workspace, session_.Allocate(std::max<uint64_t>(bytes, 1)));
    }
    return workspace.address();
  }

  CudaSession& session_;
  const DeviceLibraries* libraries_;
  NcclCommunicators* communicators_;
  CudaModule module_;
  const KernelImage& image_;
  struct KeptStretch {
    int runs = 0;
    bool is_captured = false;
    CudaGraph graph;
  };
  const bool graphs_;
  std::vector<CudaBuffer> buffers_;
  std::map<const Instruction*, CudaBuffer> workspaces_;
  std::set<const Instruction*> refused_;  // by the library that takes such
  std::map<int, CudaEvent> events_;
  std::map<int, KeptStretch> stretches_;
  std::map<std::string, CudaHandle> functions_;
  uint64_t bytes_in_use_ = 0;
  int64_t last_collector_ = -1;  // the number of this device, once it took part in a collective
};

}  // namespace

std::unique_ptr<RunDevice> MakeSimulatedDevice(Simulator& simulator,
                                               const Architecture& architecture,
                                               uint64_t memory_limit) {
  return std::make_unique<SimulatedDevice>(simulator, architecture, memory_limit);
}

absl::StatusOr<std::unique_ptr<RunDevice>> MakeCudaDevice(CudaSession& session,
                                                          const CudaHelpers& helpers,
                                                          const KernelImage& image, bool graphs) {
  ASSAY_ASSIGN_OR_RETURN(CudaModule module,
                         session.Load(image.cubin.empty() ? image.text : image.cubin));
  return std::make_unique<CudaRunDevice>(session, helpers, std::move(module), image, graphs);
}

}  // namespace assay::gpu
