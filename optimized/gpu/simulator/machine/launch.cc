// A launch: its arguments and memory, its blocks one after the other, and the barriers of their
// warps.
#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "optimized/gpu/simulator/machine/launch_state.h"
#include "optimized/gpu/simulator/machine/warp.h"
#include "optimized/gpu/simulator/simulator.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {

DecodedKernel::DecodedKernel(std::unique_ptr<const KernelCode> code) : code_(std::move(code)) {}
DecodedKernel::~DecodedKernel() = default;
const std::string& DecodedKernel::name() const { return code_->name; }
uint32_t DecodedKernel::static_shared_bytes() const { return code_->shared_bytes; }
uint32_t DecodedKernel::local_bytes() const { return code_->local_bytes; }
size_t DecodedKernel::size() const { return code_->ops.size(); }

Simulator::Simulator(const SimulatorOptions& options) : options_(options) {}
Simulator::~Simulator() = default;

namespace {

// Rounds in which warps only ask for mbarriers, and nobody arrives at one.
constexpr int kMostVainRounds = 1000;

// Numbers drawn from a seed (splitmix64).
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  uint64_t Below(uint64_t count) { return Next() % count; }

 private:
  uint64_t state_;
};

class Launcher {
 public:
  explicit Launcher(LaunchState& launch) : launch_(launch), draws_(launch.options.seed) {}

  absl::Status Prepare(absl::Span<const KernelArgument> arguments);
  absl::Status Run();

 private:
  absl::Status CheckShape() const;
  absl::Status PlaceArguments(absl::Span<const KernelArgument> arguments);
  void PlaceMemory();
  void SetUniform(Register place, uint32_t value);
  void RunBlock(uint64_t number);
  bool ReleaseBarriers();
  void ReportStuck();

  LaunchState& launch_;
  Draws draws_;
  std::vector<Warp> warps_;
  std::map<uint32_t, uint32_t> arrived_;  // threads that arrived without waiting, by barrier
};

absl::Status Launcher::CheckShape() const {
  const LaunchShape& shape = launch_.shape;
  uint64_t threads = 1;
  for (int d = 0; d < 3; ++d) {
    const uint32_t most_blocks = d == 0 ? 2147483647 : 65535;
    if (shape.grid[d] == 0 || shape.grid[d] > most_blocks || shape.block[d] == 0 ||
        shape.block[d] > (d == 2 ? 64u : 1024u)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "kernel \"%s\": no device runs %d blocks of %d threads along dimension %d",
          launch_.code.name, shape.grid[d], shape.block[d], d));
    }
    threads *= shape.block[d];
  }
  if (threads > 1024) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "kernel \"%s\": a block of %d threads; a device has 1024", launch_.code.name, threads));
  }
  if (launch_.code.shared_bytes > launch_.options.declared_shared_bytes) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "kernel \"%s\": its variables take %d bytes of shared memory; they may take %d",
        launch_.code.name, launch_.code.shared_bytes, launch_.options.declared_shared_bytes));
  }
  const uint64_t shared = uint64_t{launch_.code.dynamic_shared_at} + shape.dynamic_shared_bytes;
  if (shared > launch_.options.shared_bytes_per_block) {
    return absl::InvalidArgumentError(
        absl::StrFormat("kernel \"%s\": a block of %d bytes of shared memory; the device has %d",
                        launch_.code.name, shared, launch_.options.shared_bytes_per_block));
  }
  return absl::OkStatus();
}

absl::Status Launcher::PlaceArguments(absl::Span<const KernelArgument> arguments) {
  const KernelCode& code = launch_.code;
  if (arguments.size() != code.arguments.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("kernel \"%s\" takes %d arguments and is given %d", code.name,
                        code.arguments.size(), arguments.size()));
  }
  launch_.uniform.Resize(code.uniform.size());
  std::copy(code.uniform.begin(), code.uniform.end(), launch_.uniform.data());
  launch_.arguments.resize(arguments.size());
  absl::flat_hash_set<const Allocation*> written;
  for (size_t k = 0; k < arguments.size(); ++k) {
    const ArgumentInfo& info = code.arguments[k];
    std::byte* to = launch_.uniform.data() + (info.place & ~1u);
    for (int lane = 0; lane < kLanes; ++lane) {
      std::memcpy(to + lane * info.bytes, &arguments[k].bits, std::min<int>(info.bytes, 8));
    }
    if (!info.is_pointer) continue;
    Allocation* found = launch_.memory.Find(arguments[k].bits);
    if (found == nullptr) continue;
    Region& region = launch_.arguments[k];
    region.data = found->data;
    region.address = found->address;
    region.low = arguments[k].bytes == 0 ? 0 : arguments[k].bits - found->address;
    region.high = arguments[k].bytes == 0 ? found->bytes : region.low + arguments[k].bytes;
    if (region.high > found->bytes || region.high < region.low) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "kernel \"%s\": argument %d has %d bytes at 0x%x, more than \"%s\" has there", code.name,
          k, arguments[k].bytes, arguments[k].bits, found->name));
    }
    region.shadow = launch_.options.checks ? &found->shadow : nullptr;
    region.is_global = true;
    region.name = found->name.c_str();
    if (info.is_written) written.insert(found);
  }
  // Memory that nobody writes has no races.
  for (size_t k = 0; k < arguments.size(); ++k) {
    launch_.arguments[k].is_tracked =
        launch_.options.checks && launch_.arguments[k].data != nullptr &&
        (code.writes_unknown || written.contains(launch_.memory.Find(arguments[k].bits)));
  }
  return absl::OkStatus();
}

void Launcher::PlaceMemory() {
  const KernelCode& code = launch_.code;
  const uint64_t shared = std::max<uint64_t>(
      code.shared_bytes, launch_.shape.dynamic_shared_bytes == 0
                             ? 0
                             : code.dynamic_shared_at + launch_.shape.dynamic_shared_bytes);
  launch_.shared.Resize(shared);
  launch_.shared_shadow.Resize(shared);
  launch_.copies.resize(launch_.warps);
  if (!code.asyncs.empty()) launch_.on_its_way.assign(shared / 4 + 1, 0);
  Region& region = launch_.shared_region;
  region.data = launch_.shared.data();
  region.address = kSharedTag;
  region.high = shared;
  region.shadow = launch_.options.checks ? &launch_.shared_shadow : nullptr;
  region.is_tracked = launch_.options.checks;
  region.name = "shared";
  Region& constants = launch_.constant_region;
  constants.data = const_cast<std::byte*>(code.constants.data());
  constants.address = kConstantTag;
  constants.high = code.constants.size();
  constants.is_constant = true;
  constants.name = "constant";
  launch_.registers.Resize(size_t{code.register_bytes} * launch_.warps);
  launch_.local.Resize(size_t{code.local_bytes} * kLanes * launch_.warps);
  launch_.local_shadow.Resize(launch_.local.size());
}

absl::Status Launcher::Prepare(absl::Span<const KernelArgument> arguments) {
  ASSAY_RETURN_IF_ERROR(CheckShape());
  const LaunchShape& shape = launch_.shape;
  launch_.threads = shape.block[0] * shape.block[1] * shape.block[2];
  launch_.warps = (launch_.threads + kLanes - 1) / kLanes;
  ASSAY_RETURN_IF_ERROR(PlaceArguments(arguments));
  PlaceMemory();
  const ThreadRegisters& registers = launch_.code.threads;
  for (int d = 0; d < 3; ++d) {
    SetUniform(registers.block_size[d], shape.block[d]);
    SetUniform(registers.grid_size[d], shape.grid[d]);
  }
  warps_.reserve(launch_.warps);
  for (uint32_t k = 0; k < launch_.warps; ++k) warps_.emplace_back(launch_, k);
  return absl::OkStatus();
}

void Launcher::SetUniform(Register place, uint32_t value) {
  if (place == kNoRegister) return;
  auto* to = reinterpret_cast<uint32_t*>(launch_.uniform.data() + (place & ~1u));
  std::fill(to, to + kLanes, value);
}

// Lets those go on whose barrier is complete.
bool Launcher::ReleaseBarriers() {
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> waiting;  // threads there, threads expected
  for (Warp& warp : warps_) {
    for (const auto& [barrier, count] : warp.TakeArrivals()) {
      arrived_[barrier] += warp.thread_count();
    }
    if (warp.state() != WarpState::kAtBarrier) continue;
    auto& [threads, expected] = waiting[warp.barrier()];
    threads += warp.thread_count();
    const uint32_t here = warp.barrier_count() == 0 ? launch_.threads : warp.barrier_count();
    if (expected != 0 && expected != here) {
      warp.Report(FindingKind::kDivergentBarrier, 0,
                  absl::StrFormat("barrier %d is for %d threads here, and for %d elsewhere",
                                  warp.barrier(), here, expected));
      return false;
    }
    expected = warp.barrier_count() == 0 ? launch_.threads : warp.barrier_count();
  }
  bool released = false;
  for (const auto& [barrier, count] : waiting) {
    if (count.first + arrived_[barrier] != count.second) continue;
    released = true;
    arrived_[barrier] = 0;
    for (Warp& warp : warps_) {
      if (warp.state() == WarpState::kAtBarrier && warp.barrier() == barrier) warp.Release();
    }
  }
  if (!released) return false;
  launch_.Tick();
  launch_.limits.barrier = launch_.limits.now;
  return true;
}

void Launcher::ReportStuck() {
  uint32_t waiting = 0, others = 0;
  Warp *first = nullptr, *at_mbarrier = nullptr;
  for (Warp& warp : warps_) {
    if (warp.state() == WarpState::kAtBarrier) {
      if (first == nullptr) first = &warp;
      ++waiting;
    } else if (warp.state() == WarpState::kWaiting) {
      at_mbarrier = &warp;
    } else {
      ++others;
    }
  }
  if (first == nullptr) {
    at_mbarrier->Report(FindingKind::kMissingBarrier, 0,
                        "an mbarrier is waited for whose phase no arrivals complete");
    return;
  }
  first->Report(FindingKind::kMissingBarrier, 0,
                absl::StrFormat("barrier %d: %d warps wait at barriers, %d have ended",
                                first->barrier(), waiting, others));
}

void Launcher::RunBlock(uint64_t number) {
  const LaunchShape& shape = launch_.shape;
  launch_.block = {static_cast<uint32_t>(number % shape.grid[0]),
                   static_cast<uint32_t>(number / shape.grid[0] % shape.grid[1]),
                   static_cast<uint32_t>(number / shape.grid[0] / shape.grid[1])};
  for (int d = 0; d < 3; ++d) SetUniform(launch_.code.threads.block[d], launch_.block[d]);
  launch_.Tick();
  launch_.limits.block = launch_.limits.barrier = launch_.limits.now;
  if (launch_.options.checks) {
    launch_.shared_shadow.Forget(0, launch_.shared_shadow.bytes());
    launch_.local_shadow.Forget(0, launch_.local_shadow.bytes());
  }
  arrived_.clear();
  launch_.ForgetCopies();
  for (Warp& warp : warps_) warp.Start();
  int vain_rounds = 0;
  while (true) {
    // Each warp from a drawn one on, forwards or backwards.
    const uint64_t start = draws_.Below(warps_.size());
    const bool is_backward = (draws_.Next() & 1) != 0;
    bool all_done = true, some_wait = false;
    const uint64_t arrivals = launch_.arrivals;
    for (size_t k = 0; k < warps_.size(); ++k) {
      const size_t at = (start + (is_backward ? warps_.size() - k : k)) % warps_.size();
      warps_[at].Resume();
      warps_[at].Run();
      if (!launch_.status.ok()) return;
      all_done = all_done && warps_[at].state() == WarpState::kDone;
      some_wait = some_wait || warps_[at].state() == WarpState::kWaiting;
    }
    if (all_done) return;
    const bool is_released = ReleaseBarriers();
    if (!launch_.status.ok()) return;
    if (is_released || launch_.arrivals != arrivals) vain_rounds = 0;
    if (is_released) continue;
    if (!some_wait || ++vain_rounds > kMostVainRounds) return ReportStuck();
  }
}

absl::Status Launcher::Run() {
  const LaunchShape& shape = launch_.shape;
  const uint64_t blocks = uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  launch_.Tick();
  launch_.limits.launch = launch_.limits.now;
  // A walk through all blocks: each once, in steps that share no divisor with their number.
  uint64_t step = draws_.Below(blocks) | 1;
  while (std::gcd(step, blocks) != 1) step += 2;
  uint64_t at = draws_.Below(blocks);
  for (uint64_t k = 0; k < blocks && launch_.status.ok(); ++k) {
    RunBlock(at);
    at = (at + step) % blocks;
  }
  return launch_.status;
}

}  // namespace

absl::Status Simulator::Launch(const DecodedKernel& kernel, const LaunchShape& shape,
                               absl::Span<const KernelArgument> arguments, DeviceMemory& memory) {
  ++counters_.launches;
  LaunchState state(kernel.code(), options_, shape, memory, counters_);
  Launcher launcher(state);
  ASSAY_RETURN_IF_ERROR(launcher.Prepare(arguments));
  return launcher.Run();
}

}  // namespace assay::gpu
