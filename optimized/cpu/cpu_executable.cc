// Runs a compiled program: checks the arguments, binds buffers, and starts a thread per device.
#include "optimized/cpu/cpu_executable.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "optimized/runtime/compiled_call.h"
#include "optimized/runtime/ranks/rank_group.h"
#include "optimized/runtime/ranks/rank_results.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/collective_groups.h"

namespace assay {
namespace {

double Since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Pools are shared by executables of one thread count: starting threads is expensive, and only one
// program runs at a time.
ThreadPool* PoolOf(int threads) {
  static std::mutex& mutex = *new std::mutex();
  // By process as well: a forked worker inherits the pool of its template, but none of its threads.
  static auto& pools = *new std::map<std::pair<pid_t, int>, std::unique_ptr<ThreadPool>>();
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<ThreadPool>& pool = pools[{getpid(), threads}];
  if (pool == nullptr) pool = std::make_unique<ThreadPool>(threads);
  return pool.get();
}

// Never null for a size of zero.
uint8_t* AllocateAligned(int64_t bytes) {
  constexpr size_t kHugePage = size_t{1} << 21;
  const size_t wanted = static_cast<size_t>(bytes) + 64;
  const size_t alignment = wanted >= kHugePage ? kHugePage : 64;
  const size_t rounded = (wanted + alignment - 1) / alignment * alignment;
  auto* memory = static_cast<uint8_t*>(std::aligned_alloc(alignment, rounded));
  // Advice: without huge pages it is the same memory.
  if (memory != nullptr && alignment == kHugePage) (void)madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

void AppendLeaves(const Literal& value, std::vector<const Literal*>& leaves) {
  if (!value.shape().IsTuple()) {
    leaves.push_back(&value);
    return;
  }
  for (const Literal& element : value.elements()) AppendLeaves(element, leaves);
}

// A leaf of the result that takes over what a parameter's leaf holds: the memory, where that was
// given away, else a copy.
struct TakenLeaf {
  const Literal* from = nullptr;
  Literal* given = nullptr;
};

absl::StatusOr<Literal> TakeOver(const TakenLeaf& taken, const Shape& shape, int64_t limit) {
  if (taken.given != nullptr && Compatible(taken.given->shape(), shape)) {
    // Literals lie in row-major order whatever their layout says.
    Literal moved = std::move(*taken.given);
    moved.set_layout(shape.layout());
    return moved;
  }
  ASSAY_ASSIGN_OR_RETURN(Literal copy, Literal::CreateUndefined(shape, limit));
  const absl::Span<const uint8_t> bytes = taken.from->bytes();
  std::memcpy(copy.bytes().data(), bytes.data(), bytes.size());
  return copy;
}

// A large number of every type of float, and of integers one that is no index.
constexpr int kPoison = 0xFB;

struct ResultOptions {
  int64_t limit = 0;
  bool fill = false, poison = false;
  std::vector<TakenLeaf> taken;  // by leaf; of those that are new, `from` is null
};

// Compiled code writes every element of a result: large ones are not filled first. Small ones are
// zeros, which costs next to nothing, so that an element that was left out after all is the same
// in every run. `leaf` counts the leaves passed.
absl::StatusOr<Literal> AllocateResult(const Shape& shape, const ResultOptions& options,
                                       size_t& leaf) {
  if (shape.HasDynamicDimension()) {
    return absl::UnimplementedError(
        StrCat("a value of dynamic shape ", shape.ToString(), " cannot be returned"));
  }
  constexpr int64_t kSmallResult = 1 << 16;
  if (!shape.IsTuple()) {
    const TakenLeaf& taken = options.taken[leaf++];
    if (taken.from != nullptr) return TakeOver(taken, shape, options.limit);
    const bool filled = options.fill || shape.ByteSize() <= kSmallResult;
    ASSAY_ASSIGN_OR_RETURN(Literal made, filled ? Literal::Create(shape, options.limit)
                                                : Literal::CreateUndefined(shape, options.limit));
    const absl::Span<uint8_t> bytes = made.bytes();
    if (options.poison && shape.IsArray()) std::memset(bytes.data(), kPoison, bytes.size());
    return made;
  }
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements()) {
    ASSAY_ASSIGN_OR_RETURN(Literal literal, AllocateResult(element, options, leaf));
    elements.push_back(std::move(literal));
  }
  return Literal::Tuple(std::move(elements));
}

void AppendLeaves(Literal& value, std::vector<Literal*>& leaves) {
  if (!value.shape().IsTuple()) {
    leaves.push_back(&value);
    return;
  }
  for (Literal& element : value.mutable_elements()) AppendLeaves(element, leaves);
}

// The leaves of all arguments, and those of them that were given away (null: they were not).
struct ArgumentLeaves {
  std::vector<const Literal*> all;
  std::vector<Literal*> given;

  ArgumentLeaves(const std::vector<const Literal*>& arguments,
                 const std::vector<Literal*>& donated) {
    for (size_t k = 0; k < arguments.size(); ++k) {
      AppendLeaves(*arguments[k], all);
      if (k < donated.size() && donated[k] != nullptr) AppendLeaves(*donated[k], given);
      given.resize(all.size(), nullptr);
    }
  }
};

// Each literal that is given away is the argument at its place, and no other's.
absl::Status CheckDonated(const std::vector<std::vector<const Literal*>>& arguments,
                          const std::vector<std::vector<Literal*>>& donated) {
  if (donated.size() != arguments.size()) {
    return MakeError(ErrorClass::kRejected, StrCat("cpu: donated arguments of ", donated.size(),
                                                   " devices, arguments of ", arguments.size()));
  }
  for (size_t d = 0; d < donated.size(); ++d) {
    for (size_t k = 0; k < donated[d].size(); ++k) {
      if (donated[d][k] == nullptr) continue;
      if (k >= arguments[d].size() || donated[d][k] != arguments[d][k]) {
        return MakeError(ErrorClass::kRejected,
                         StrCat("cpu: what is donated as argument ", k, " of device ", d,
                                " is not the argument itself"));
      }
      for (size_t e = 0; e < arguments.size(); ++e) {
        const auto uses = std::count(arguments[e].begin(), arguments[e].end(), donated[d][k]);
        if (uses > (e == d ? 1 : 0)) {
          return MakeError(ErrorClass::kRejected,
                           StrCat("cpu: argument ", k, " of device ", d,
                                  " is donated, and is another argument, too; pass a copy"));
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

CpuExecutable::CpuExecutable(CpuProgram program)
    : program_(std::move(program)),
      devices_(static_cast<size_t>(program_.devices.replicas * program_.devices.partitions)) {}

std::map<std::string, double> CpuExecutable::Statistics() const {
  std::map<std::string, double> statistics = program_.statistics;
  if (program_.steps != nullptr) {
    statistics["work.steps"] = static_cast<double>(program_.steps->load());
  }
  return statistics;
}

absl::Status CpuExecutable::SetInfeed(std::vector<std::vector<Literal>> items) {
  std::lock_guard<std::mutex> lock(running_);
  if (items.size() > devices_.size()) {
    return MakeError(ErrorClass::kRejected, StrCat("cpu: infeeds for ", items.size(),
                                                   " devices, the program has ", devices_.size()));
  }
  for (size_t d = 0; d < devices_.size(); ++d) {
    devices_[d].host.infeed.clear();
    if (d >= items.size()) continue;
    for (Literal& item : items[d]) devices_[d].host.infeed.push_back(std::move(item));
  }
  return absl::OkStatus();
}

absl::Status CpuExecutable::CheckArguments(const std::vector<const Literal*>& arguments) const {
  absl::Span<Instruction* const> parameters = program_.module->entry()->parameters();
  if (arguments.size() != parameters.size()) {
    return MakeError(ErrorClass::kRejected, StrCat("cpu: ", arguments.size(), " arguments for ",
                                                   parameters.size(), " parameters"));
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k] != nullptr && !arguments[k]->shape().IsValid()) {
      return MakeError(
          ErrorClass::kRejected,
          StrCat("cpu: argument ", k, " is empty: was it given away to a run before?"));
    }
    if (arguments[k] == nullptr || !Compatible(arguments[k]->shape(), parameters[k]->shape())) {
      return MakeError(
          ErrorClass::kRejected,
          StrCat("cpu: argument ", k, " is ",
                 arguments[k] == nullptr ? "missing" : arguments[k]->shape().ToString(),
                 ", parameter ", parameters[k]->name(), " is ", parameters[k]->shape().ToString()));
    }
  }
  return absl::OkStatus();
}

absl::Status CpuExecutable::Prepare(const std::vector<const Literal*>& arguments,
                                    const std::vector<Literal*>& donated, int64_t number,
                                    Rendezvous& rendezvous, Device& device) const {
  ASSAY_RETURN_IF_ERROR(CheckArguments(arguments));
  const BufferAssignment& buffers = *program_.buffers;
  ArgumentLeaves inputs(arguments, donated);
  ResultOptions options{program_.limits.memory_bytes, program_.has_defect, program_.poison, {}};
  options.taken.resize(static_cast<size_t>(buffers.result_leaves()));
  for (int k = 0; k < buffers.result_leaves(); ++k) {
    if (buffers.ResultEntry(k) >= buffers.first_result()) continue;
    const auto from = static_cast<size_t>(buffers.ResultEntry(k) - BufferTable::kFirstParameter);
    options.taken[static_cast<size_t>(k)] = {inputs.all[from], inputs.given[from]};
  }
  device.result_bytes = program_.module->entry()->root()->shape().ByteSize();
  for (const TakenLeaf& taken : options.taken) {
    if (taken.given != nullptr) device.result_bytes -= taken.given->shape().ByteSize();
  }
  size_t leaf = 0;
  absl::StatusOr<Literal> result =
      AllocateResult(program_.module->entry()->root()->shape(), options, leaf);
  if (!result.ok()) return MakeError(ErrorClass::kOutOfMemory, ToStd(result.status().message()));
  device.result = *std::move(result);
  if (device.arena == nullptr) device.arena.reset(AllocateAligned(program_.buffers->arena_bytes()));
  if (device.arena == nullptr) {
    return MakeError(ErrorClass::kOutOfMemory, StrCat("cpu: no memory for an arena of ",
                                                      program_.buffers->arena_bytes(), " bytes"));
  }
  if (program_.poison) {
    std::memset(device.arena.get(), kPoison, static_cast<size_t>(program_.buffers->arena_bytes()));
  }
  RunContext& context = device.context;
  context.stopped = &rendezvous.stopped();
  if (program_.steps != nullptr) context.work = program_.steps;
  context.pool = program_.threads > 1 ? PoolOf(program_.threads) : nullptr;
  context.rendezvous = &rendezvous;
  device.host.outfeed.clear();
  context.host = &device.host;
  context.plans = &program_.plans;
  context.device = number;
  context.replica = number / program_.devices.partitions;
  context.partition = number % program_.devices.partitions;

  std::vector<void*>& table = device.table;
  table.assign(program_.buffers->first_result() + program_.buffers->result_leaves(), nullptr);
  table[BufferTable::kArena] = device.arena.get();
  table[BufferTable::kConstants] = const_cast<uint8_t*>(program_.buffers->constants().data());
  table[BufferTable::kContext] = &context;
  for (size_t k = 0; k < inputs.all.size(); ++k) {
    table[BufferTable::kFirstParameter + k] = const_cast<uint8_t*>(inputs.all[k]->bytes().data());
  }
  // After the parameters: one of them lies where the result that takes its place is.
  std::vector<Literal*> outputs;
  AppendLeaves(device.result, outputs);
  for (size_t k = 0; k < outputs.size(); ++k) {
    table[buffers.ResultEntry(static_cast<int>(k))] = outputs[k]->bytes().data();
  }
  return absl::OkStatus();
}

absl::Status CpuExecutable::RunThreads(Rendezvous& rendezvous,
                                       std::chrono::steady_clock::time_point deadline) {
  return RunOnThreads(static_cast<int64_t>(devices_.size()), rendezvous, deadline,
                      [this, &rendezvous](int64_t d) ASSAY_CALLS_COMPILED_CODE {
                        program_.code->entry()(devices_[static_cast<size_t>(d)].table.data());
                        rendezvous.Finish(d);
                      });
}

// A process per device: its results come back as a string.
absl::Status CpuExecutable::RunProcesses(std::vector<const Meeting*> meetings,
                                         std::vector<std::string> names,
                                         std::chrono::steady_clock::time_point deadline) {
  const auto work = [&](int64_t rank, Rendezvous& rendezvous)
                        ASSAY_CALLS_COMPILED_CODE -> absl::StatusOr<std::string> {
    Device& device = devices_[static_cast<size_t>(rank)];
    device.context.rendezvous = &rendezvous;
    device.context.stopped = &rendezvous.stopped();
    program_.code->entry()(device.table.data());
    return PackResults(device.result, device.host, device.context);
  };
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<std::string> answers,
      RunRanks({std::move(meetings), std::move(names), "cpu", deadline, program_.ranks}, work));
  for (size_t d = 0; d < devices_.size(); ++d) {
    ASSAY_RETURN_IF_ERROR(
        UnpackResults(answers[d], devices_[d].result, devices_[d].host, devices_[d].context));
  }
  return absl::OkStatus();
}

absl::StatusOr<RunResult> CpuExecutable::Run(
    const std::vector<std::vector<const Literal*>>& arguments) {
  return RunWith(arguments, {});
}

absl::StatusOr<RunResult> CpuExecutable::RunDonating(
    const std::vector<std::vector<const Literal*>>& arguments,
    const std::vector<std::vector<Literal*>>& donated) {
  ASSAY_RETURN_IF_ERROR(CheckDonated(arguments, donated));
  for (const std::vector<const Literal*>& of_device : arguments) {
    ASSAY_RETURN_IF_ERROR(CheckArguments(of_device));
  }
  for (const InputOutputAlias& alias : program_.module->config().input_output_alias) {
    const auto k = static_cast<size_t>(alias.parameter);
    for (const std::vector<Literal*>& of_device : donated) {
      if (!alias.must_alias || (k < of_device.size() && of_device[k] != nullptr)) continue;
      return MakeError(ErrorClass::kRejected, StrCat("cpu: argument ", k,
                                                     " must be given away: the module aliases it "
                                                     "with a result (must-alias)"));
    }
  }
  absl::StatusOr<RunResult> run = RunWith(arguments, donated);
  for (const std::vector<Literal*>& of_device : donated) {
    for (Literal* given : of_device) {
      if (given != nullptr) *given = Literal();
    }
  }
  return run;
}

ASSAY_CALLS_COMPILED_CODE absl::StatusOr<RunResult> CpuExecutable::RunWith(
    const std::vector<std::vector<const Literal*>>& arguments,
    const std::vector<std::vector<Literal*>>& donated) {
  std::lock_guard<std::mutex> lock(running_);
  if (arguments.size() != devices_.size()) {
    return MakeError(ErrorClass::kRejected,
                     StrCat("cpu: arguments for ", arguments.size(),
                            " devices, the program was compiled for ", devices_.size()));
  }
  std::vector<const Meeting*> meetings;
  for (const CollectivePlan& plan : program_.plans) meetings.push_back(&plan.meeting);
  std::vector<std::string> names;
  for (size_t d = 0; d < devices_.size(); ++d) {
    names.push_back(DeviceName(static_cast<int64_t>(d), program_.devices.partitions));
  }
  Rendezvous rendezvous(meetings, names);
  RunResult run;
  run.peak_bytes = static_cast<int64_t>(program_.buffers->constants().size());
  // The clock runs while a caller waits, so making room for the outputs is part of the time.
  const auto start = std::chrono::steady_clock::now();
  const auto deadline =
      start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                  std::chrono::duration<double>(std::clamp(program_.limits.seconds, 0.0, 1e8)));
  for (size_t d = 0; d < devices_.size(); ++d) {
    ASSAY_RETURN_IF_ERROR(Prepare(arguments[d],
                                  donated.empty() ? std::vector<Literal*>() : donated[d],
                                  static_cast<int64_t>(d), rendezvous, devices_[d]));
    // With several devices the rendezvous knows who is late, and stops their loops.
    devices_[d].context.deadline =
        devices_.size() == 1 ? deadline : std::chrono::steady_clock::time_point::max();
    devices_[d].context.out_of_time = false;
    run.peak_bytes += program_.buffers->arena_bytes() + devices_[d].result_bytes;
  }
  absl::Status status;
  if (devices_.size() == 1) {
    program_.code->entry()(devices_[0].table.data());
    rendezvous.Finish(0);
    status = rendezvous.WaitForAll(start);
  } else if (program_.ranks != RankKind::kThreads) {
    status = RunProcesses(std::move(meetings), std::move(names), deadline);
  } else {
    status = RunThreads(rendezvous, deadline);
  }
  for (const Device& device : devices_) {
    if (status.ok() && device.context.out_of_time) {
      status = MakeError(ErrorClass::kTimeout,
                         StrCat("a loop did not end within ", program_.limits.seconds, " s"));
    }
  }
  run.seconds = Since(start);
  for (Device& device : devices_) {
    run.outputs.push_back(std::move(device.result));
    run.outfeeds.push_back(std::move(device.host.outfeed));
    device.host = {};
  }
  if (!status.ok()) return status;
  return run;
}

}  // namespace assay
