#include "optimized/cpu/cpu_backend.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "llvm/Config/llvm-config.h"
#include "optimized/cpu/collective_plan.h"
#include "optimized/cpu/jit.h"
#include "optimized/cpu/program_emitter.h"
#include "optimized/passes/expanders/async_expander.h"
#include "optimized/passes/expanders/batch_norm_expander.h"
#include "optimized/passes/expanders/dynamic_index_splitter.h"
#include "optimized/pipeline/pipeline.h"
#include "optimized/runtime/collectives.h"
#include "optimized/runtime/compiled_call.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/ops/collective_groups.h"

namespace assay {

namespace {

constexpr int kMaxThreads = 256;
constexpr int64_t kMaxDevices = 256;  // each is a thread
// Element operations per run above which optimizing the code pays for itself.
constexpr int64_t kFullTierWork = int64_t{1} << 20;

double Since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct CpuOptions {
  Isa isa = Isa::kHost;
  int threads = 1;
  std::optional<Tier> tier;  // absent: by the amount of work
  const Profile* profile = &Profile::Xla();
  bool passes = true;
  bool every_pass = false;  // also those that only run on request
};

absl::StatusOr<CpuOptions> ParseOptions(const std::map<std::string, std::string>& flags) {
  static const auto& isas = *new std::map<std::string, Isa>{{"host", Isa::kHost},
                                                            {"avx512", Isa::kAvx512},
                                                            {"avx2", Isa::kAvx2},
                                                            {"baseline", Isa::kBaseline}};
  static const auto& tiers =
      *new std::map<std::string, Tier>{{"fast", Tier::kFast}, {"full", Tier::kFull}};
  CpuOptions options;
  options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (const auto& [name, value] : flags) {
    auto wrong = [&](std::string_view legal) {
      return absl::InvalidArgumentError(
          StrCat("cpu: option ", name, "=", value, ": expected ", legal));
    };
    if (name == "isa") {
      auto it = isas.find(value);
      if (it == isas.end()) return wrong("host, avx512, avx2 or baseline");
      options.isa = it->second;
    } else if (name == "tier") {
      auto it = tiers.find(value);
      if (value == "auto") continue;
      if (it == tiers.end()) return wrong("auto, fast or full");
      options.tier = it->second;
    } else if (name == "threads") {
      if (!absl::SimpleAtoi(value, &options.threads) || options.threads < 1 ||
          options.threads > kMaxThreads) {
        return wrong(StrCat("1 to ", kMaxThreads));
      }
    } else if (name == "profile") {
      absl::StatusOr<const Profile*> profile = Profile::Find(value);
      if (!profile.ok()) return profile.status();
      options.profile = *profile;
    } else if (name == "passes") {
      if (value != "on" && value != "off" && value != "all") return wrong("on, off or all");
      options.passes = value != "off";
      options.every_pass = value == "all";
    } else {
      return absl::InvalidArgumentError(
          StrCat("cpu: unknown option ", name, "; there are isa, threads, tier, profile, passes"));
    }
  }
  return options;
}

// Pools are shared by executables of one thread count: threads are dear, and a program runs at a
// time.
ThreadPool* PoolOf(int threads) {
  static std::mutex& mutex = *new std::mutex();
  // By process as well: a forked worker inherits the pool of its template, but none of its threads.
  static auto& pools = *new std::map<std::pair<pid_t, int>, std::unique_ptr<ThreadPool>>();
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<ThreadPool>& pool = pools[{getpid(), threads}];
  if (pool == nullptr) pool = std::make_unique<ThreadPool>(threads);
  return pool.get();
}

struct FreeDeleter {
  void operator()(void* pointer) const { std::free(pointer); }
};
using AlignedBytes = std::unique_ptr<uint8_t, FreeDeleter>;

// Never null for a size of zero.
AlignedBytes AllocateAligned(int64_t bytes) {
  size_t rounded = (static_cast<size_t>(bytes) + 127) / 64 * 64;
  return AlignedBytes(static_cast<uint8_t*>(std::aligned_alloc(64, rounded)));
}

void AppendLeaves(const Literal& value, std::vector<const Literal*>& leaves) {
  if (!value.shape().IsTuple()) {
    leaves.push_back(&value);
    return;
  }
  for (const Literal& element : value.elements()) AppendLeaves(element, leaves);
}

absl::StatusOr<Literal> AllocateResult(const Shape& shape, int64_t limit) {
  if (!shape.IsTuple()) return Literal::Create(shape, limit);
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements()) {
    absl::StatusOr<Literal> literal = AllocateResult(element, limit);
    if (!literal.ok()) return literal;
    elements.push_back(*std::move(literal));
  }
  return Literal::Tuple(std::move(elements));
}

class CpuExecutable : public Executable {
 public:
  CpuExecutable(std::unique_ptr<Module> module, std::unique_ptr<BufferAssignment> buffers,
                std::unique_ptr<JitCode> code, std::vector<CollectivePlan> plans,
                std::vector<Decision> decisions, std::map<std::string, double> statistics,
                const CompileOptions& options, int threads)
      : module_(std::move(module)),
        buffers_(std::move(buffers)),
        code_(std::move(code)),
        plans_(std::move(plans)),
        decisions_(std::move(decisions)),
        statistics_(std::move(statistics)),
        limits_(options.limits),
        assignment_(options.devices),
        threads_(threads),
        devices_(static_cast<size_t>(assignment_.replicas * assignment_.partitions)) {}

  absl::StatusOr<RunResult> Run(const std::vector<std::vector<const Literal*>>& arguments) override;
  absl::StatusOr<std::unique_ptr<Module>> OptimizedModule() const override {
    return module_->Clone("");
  }
  const std::vector<Decision>& decisions() const override { return decisions_; }
  std::map<std::string, double> Statistics() const override { return statistics_; }

 private:
  struct Device {
    AlignedBytes arena;  // kept from run to run
    std::vector<void*> table;
    RunContext context;
    Literal result;
  };

  absl::Status CheckArguments(const std::vector<const Literal*>& arguments) const;
  absl::Status Prepare(const std::vector<const Literal*>& arguments, int64_t number,
                       Rendezvous& rendezvous, Device& device) const;
  absl::Status RunThreads(Rendezvous& rendezvous);

  std::unique_ptr<Module> module_;
  std::unique_ptr<BufferAssignment> buffers_;
  std::unique_ptr<JitCode> code_;
  std::vector<CollectivePlan> plans_;
  std::vector<Decision> decisions_;
  std::map<std::string, double> statistics_;
  Limits limits_;
  DeviceAssignment assignment_;
  int threads_;
  std::mutex running_;  // one arena per device
  std::vector<Device> devices_;
};

absl::Status CpuExecutable::CheckArguments(const std::vector<const Literal*>& arguments) const {
  absl::Span<Instruction* const> parameters = module_->entry()->parameters();
  if (arguments.size() != parameters.size()) {
    return MakeError(ErrorClass::kRejected, StrCat("cpu: ", arguments.size(), " arguments for ",
                                                   parameters.size(), " parameters"));
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
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

absl::Status CpuExecutable::Prepare(const std::vector<const Literal*>& arguments, int64_t number,
                                    Rendezvous& rendezvous, Device& device) const {
  absl::Status status = CheckArguments(arguments);
  if (!status.ok()) return status;
  absl::StatusOr<Literal> result =
      AllocateResult(module_->entry()->root()->shape(), limits_.memory_bytes);
  if (!result.ok()) return MakeError(ErrorClass::kOutOfMemory, ToStd(result.status().message()));
  device.result = *std::move(result);
  if (device.arena == nullptr) device.arena = AllocateAligned(buffers_->arena_bytes());
  if (device.arena == nullptr) {
    return MakeError(ErrorClass::kOutOfMemory,
                     StrCat("cpu: no memory for an arena of ", buffers_->arena_bytes(), " bytes"));
  }
  RunContext& context = device.context;
  context.stopped = &rendezvous.stopped();
  context.pool = threads_ > 1 ? PoolOf(threads_) : nullptr;
  context.rendezvous = &rendezvous;
  context.plans = &plans_;
  context.device = number;
  context.replica = number / assignment_.partitions;
  context.partition = number % assignment_.partitions;

  std::vector<void*>& table = device.table;
  table.assign(buffers_->first_result() + buffers_->result_leaves(), nullptr);
  table[BufferTable::kArena] = device.arena.get();
  table[BufferTable::kConstants] = const_cast<uint8_t*>(buffers_->constants().data());
  table[BufferTable::kContext] = &context;
  std::vector<const Literal*> leaves;
  for (const Literal* argument : arguments) AppendLeaves(*argument, leaves);
  AppendLeaves(device.result, leaves);
  for (size_t k = 0; k < leaves.size(); ++k) {
    table[BufferTable::kFirstParameter + k] = const_cast<uint8_t*>(leaves[k]->bytes().data());
  }
  return absl::OkStatus();
}

// A thread per device. One that cannot be started counts as finished: the others do not wait for
// it.
absl::Status CpuExecutable::RunThreads(Rendezvous& rendezvous) {
  const double seconds = std::clamp(limits_.seconds, 0.0, 1e8);
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                            std::chrono::duration<double>(seconds));
  std::vector<std::thread> threads;
  for (size_t d = 0; d < devices_.size(); ++d) {
    try {
      threads.emplace_back([this, &rendezvous, d]() ASSAY_CALLS_COMPILED_CODE {
        code_->entry()(devices_[d].table.data());
        rendezvous.Finish(static_cast<int64_t>(d));
      });
    } catch (const std::system_error& error) {
      rendezvous.Fail(MakeError(ErrorClass::kOutOfMemory,
                                StrCat("cpu: no thread for device ", d, ": ", error.what())));
      rendezvous.Finish(static_cast<int64_t>(d));
    }
  }
  const absl::Status status = rendezvous.WaitForAll(deadline);
  for (std::thread& thread : threads) thread.join();
  return status;
}

ASSAY_CALLS_COMPILED_CODE absl::StatusOr<RunResult> CpuExecutable::Run(
    const std::vector<std::vector<const Literal*>>& arguments) {
  std::lock_guard<std::mutex> lock(running_);
  if (arguments.size() != devices_.size()) {
    return MakeError(ErrorClass::kRejected,
                     StrCat("cpu: arguments for ", arguments.size(),
                            " devices, the program was compiled for ", devices_.size()));
  }
  std::vector<const Meeting*> meetings;
  for (const CollectivePlan& plan : plans_) meetings.push_back(&plan.meeting);
  std::vector<std::string> names;
  for (size_t d = 0; d < devices_.size(); ++d) {
    names.push_back(DeviceName(static_cast<int64_t>(d), assignment_.partitions));
  }
  Rendezvous rendezvous(std::move(meetings), std::move(names));
  RunResult run;
  run.peak_bytes = static_cast<int64_t>(buffers_->constants().size());
  for (size_t d = 0; d < devices_.size(); ++d) {
    absl::Status status = Prepare(arguments[d], static_cast<int64_t>(d), rendezvous, devices_[d]);
    if (!status.ok()) return status;
    run.peak_bytes += buffers_->arena_bytes() + devices_[d].result.shape().ByteSize();
  }
  auto start = std::chrono::steady_clock::now();
  absl::Status status;
  if (devices_.size() == 1) {
    code_->entry()(devices_[0].table.data());
    rendezvous.Finish(0);
    status = rendezvous.WaitForAll(start);
  } else {
    status = RunThreads(rendezvous);
  }
  run.seconds = Since(start);
  for (Device& device : devices_) run.outputs.push_back(std::move(device.result));
  if (!status.ok()) return status;
  return run;
}

class CpuBackend : public Backend {
 public:
  CpuBackend(std::string name, std::map<std::string, std::string> flags, const CpuOptions& options)
      : flags_(std::move(flags)) {
    description_.name = std::move(name);
    description_.version = StrCat("assay cpu, LLVM ", LLVM_VERSION_STRING);
    description_.devices = {"cpu:0"};
    description_.has_decisions = true;
    description_.profile = options.profile;
    description_.capability = [](Opcode opcode, ElementType type) {
      return IsCompiledFor(opcode, type) ? Capability::kSupported : Capability::kUnsupported;
    };
  }

  const BackendDescription& Describe() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module& module,
                                                      const CompileOptions& options) override;

 private:
  std::map<std::string, std::string> flags_;
  BackendDescription description_;
};

absl::StatusOr<std::unique_ptr<Executable>> CpuBackend::Compile(const Module& original,
                                                                const CompileOptions& compile) {
  std::map<std::string, std::string> flags = compile.flags;
  flags.insert(flags_.begin(), flags_.end());
  absl::StatusOr<CpuOptions> options = ParseOptions(flags);
  if (!options.ok()) return options.status();
  const auto [replicas, partitions, device_ids] = compile.devices;
  if (replicas < 1 || partitions < 1 || replicas > kMaxDevices || partitions > kMaxDevices ||
      replicas * partitions > kMaxDevices) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("cpu: ", replicas, " replicas of ", partitions, " partitions; 1 to ",
                            kMaxDevices, " devices can run"));
  }
  const int64_t devices = replicas * partitions;
  std::optional<Defect> defect;
  if (!compile.defect.empty()) {
    absl::StatusOr<Defect> parsed = ParseDefect(compile.defect);
    if (!parsed.ok()) return parsed.status();
    defect = *std::move(parsed);
  }
  absl::Status status = CheckSupported(original);
  if (!status.ok()) return status;

  std::map<std::string, double> statistics;
  auto start = std::chrono::steady_clock::now();
  auto lap = [&](const char* name) {
    statistics[StrCat("compile.seconds.", name)] = Since(start);
    start = std::chrono::steady_clock::now();
  };
  Gates gates(compile.decision_limit, std::move(defect));
  std::unique_ptr<Module> module = original.Clone();
  PassContext required{gates, *options->profile};
  const std::vector<std::string> collectives = NumberCollectives(*module);
  AsyncExpander expand_async;
  DynamicIndexSplitter split_indices;
  BatchNormExpander expand_norms;
  for (Pass* pass : std::initializer_list<Pass*>{&expand_async, &split_indices, &expand_norms}) {
    absl::StatusOr<bool> expanded = pass->Run(*module, required);
    if (!expanded.ok()) return expanded.status();
  }
  if (options->passes) {
    PipelineOptions pipeline = options->every_pass ? EveryPassOptions() : PipelineOptions();
    pipeline.profile = options->profile;
    status = Optimize(*module, gates, pipeline);
    if (!status.ok()) return status;
  }
  status = CheckSupported(*module);
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<CollectivePlan>> plans =
      PlanCollectives(*module, collectives, compile.devices);
  if (!plans.ok()) return plans.status();
  lap("passes");
  Tier tier =
      options->tier.value_or(EstimateWork(*module) > kFullTierWork ? Tier::kFull : Tier::kFast);
  absl::StatusOr<Jit*> jit = Jit::Get(options->isa, tier);
  if (!jit.ok()) return jit.status();
  status = FlattenCallGraph(*module);
  if (!status.ok()) return status;
  absl::StatusOr<std::unique_ptr<BufferAssignment>> buffers =
      BufferAssignment::Run(*module, gates, compile.limits.memory_bytes / devices);
  if (!buffers.ok()) return buffers.status();
  lap("buffers");

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = (*jit)->NewModule(context, module->name());
  KernelTarget target{(*jit)->vector_bits(), (*jit)->has_fma(), options->threads, devices > 1};
  status = EmitProgram(*ir, target, gates, **buffers);
  if (!status.ok()) return status;
  lap("emit");
  if (const char* dump = std::getenv("ASSAY_DUMP_LLVM"); dump != nullptr && *dump != '\0') {
    std::error_code error;
    llvm::raw_fd_ostream out(dump, error);
    if (!error) ir->print(out, nullptr);
  }
  absl::StatusOr<std::unique_ptr<JitCode>> code = (*jit)->Compile(*ir, kEntryName);
  if (!code.ok()) return code.status();
  statistics["compile.seconds.llvm"] = (*code)->llvm_seconds();
  statistics["compile.seconds.link"] = (*code)->link_seconds();
  statistics["tier.full"] = tier == Tier::kFull ? 1 : 0;
  statistics["code.bytes"] = static_cast<double>((*code)->object_bytes());
  statistics["arena.bytes"] = static_cast<double>((*buffers)->arena_bytes());
  statistics["constants.bytes"] = static_cast<double>((*buffers)->constants().size());
  ForgetNumbers(*module);
  return std::make_unique<CpuExecutable>(std::move(module), *std::move(buffers), *std::move(code),
                                         *std::move(plans), gates.decisions(),
                                         std::move(statistics), compile, options->threads);
}

}  // namespace

void RegisterCpu(BackendRegistry& registry) {
  registry.Register(
      "cpu", "Assay's compiler for this machine (isa=, threads=, tier=, profile=, passes=)",
      [](const std::string& text) -> absl::StatusOr<std::unique_ptr<Backend>> {
        static constexpr std::string_view kKnown[] = {"isa", "threads", "tier", "profile",
                                                      "passes"};
        absl::StatusOr<std::map<std::string, std::string>> flags =
            ParseBackendOptions(text, kKnown);
        if (!flags.ok()) return flags.status();
        absl::StatusOr<CpuOptions> options = ParseOptions(*flags);
        if (!options.ok()) return options.status();
        std::string name = text.empty() ? "cpu" : StrCat("cpu:", text);
        return std::make_unique<CpuBackend>(std::move(name), *std::move(flags), *options);
      });
}

}  // namespace assay
