#include "optimized/cpu/cpu_backend.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/numbers.h"
#include "llvm/Config/llvm-config.h"
#include "optimized/cpu/jit.h"
#include "optimized/cpu/program_emitter.h"
#include "optimized/passes/batch_norm_expander.h"
#include "optimized/passes/dynamic_index_splitter.h"
#include "optimized/pipeline.h"
#include "optimized/runtime/compiled_call.h"
#include "optimized/runtime/thread_pool.h"
#include "spec/backend/error.h"
#include "spec/base/strings.h"

namespace assay {

namespace {

constexpr int kMaxThreads = 256;
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
      if (value != "on" && value != "off") return wrong("on or off");
      options.passes = value == "on";
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
                std::unique_ptr<JitCode> code, std::vector<Decision> decisions,
                std::map<std::string, double> statistics, const CompileOptions& options,
                int threads)
      : module_(std::move(module)),
        buffers_(std::move(buffers)),
        code_(std::move(code)),
        decisions_(std::move(decisions)),
        statistics_(std::move(statistics)),
        limits_(options.limits),
        threads_(threads) {}

  absl::StatusOr<RunResult> Run(const std::vector<std::vector<const Literal*>>& arguments) override;
  absl::StatusOr<std::unique_ptr<Module>> OptimizedModule() const override {
    return module_->Clone("");
  }
  const std::vector<Decision>& decisions() const override { return decisions_; }
  std::map<std::string, double> Statistics() const override { return statistics_; }

 private:
  absl::Status CheckArguments(const std::vector<const Literal*>& arguments) const;

  std::unique_ptr<Module> module_;
  std::unique_ptr<BufferAssignment> buffers_;
  std::unique_ptr<JitCode> code_;
  std::vector<Decision> decisions_;
  std::map<std::string, double> statistics_;
  Limits limits_;
  int threads_;
  std::mutex running_;  // one arena
  AlignedBytes arena_;
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

ASSAY_CALLS_COMPILED_CODE absl::StatusOr<RunResult> CpuExecutable::Run(
    const std::vector<std::vector<const Literal*>>& arguments) {
  if (arguments.size() != 1) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("cpu: runs on one device, not on ", arguments.size()));
  }
  absl::Status status = CheckArguments(arguments[0]);
  if (!status.ok()) return status;
  absl::StatusOr<Literal> result =
      AllocateResult(module_->entry()->root()->shape(), limits_.memory_bytes);
  if (!result.ok()) return MakeError(ErrorClass::kOutOfMemory, ToStd(result.status().message()));

  std::lock_guard<std::mutex> lock(running_);
  if (arena_ == nullptr) arena_ = AllocateAligned(buffers_->arena_bytes());
  if (arena_ == nullptr) {
    return MakeError(ErrorClass::kOutOfMemory,
                     StrCat("cpu: no memory for an arena of ", buffers_->arena_bytes(), " bytes"));
  }
  std::vector<void*> table(buffers_->first_result() + buffers_->result_leaves());
  table[BufferTable::kArena] = arena_.get();
  table[BufferTable::kConstants] = const_cast<uint8_t*>(buffers_->constants().data());
  if (threads_ > 1) table[BufferTable::kContext] = PoolOf(threads_);
  std::vector<const Literal*> leaves;
  for (const Literal* argument : arguments[0]) AppendLeaves(*argument, leaves);
  for (const Literal& leaf : {std::cref(*result)}) AppendLeaves(leaf, leaves);
  for (size_t k = 0; k < leaves.size(); ++k) {
    table[BufferTable::kFirstParameter + k] = const_cast<uint8_t*>(leaves[k]->bytes().data());
  }
  RunResult run;
  auto start = std::chrono::steady_clock::now();
  code_->entry()(table.data());
  run.seconds = Since(start);
  run.peak_bytes = buffers_->arena_bytes() + static_cast<int64_t>(buffers_->constants().size()) +
                   result->shape().ByteSize();
  run.outputs.push_back(*std::move(result));
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
  if (compile.devices.replicas * compile.devices.partitions != 1) {
    return MakeError(ErrorClass::kUnsupported, "cpu: one replica and one partition only");
  }
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
  DynamicIndexSplitter split_indices;
  BatchNormExpander expand_norms;
  for (Pass* pass : std::initializer_list<Pass*>{&split_indices, &expand_norms}) {
    absl::StatusOr<bool> expanded = pass->Run(*module, required);
    if (!expanded.ok()) return expanded.status();
  }
  if (options->passes) {
    PipelineOptions pipeline;
    pipeline.profile = options->profile;
    status = Optimize(*module, gates, pipeline);
    if (!status.ok()) return status;
  }
  status = CheckSupported(*module);
  if (!status.ok()) return status;
  lap("passes");
  Tier tier =
      options->tier.value_or(EstimateWork(*module) > kFullTierWork ? Tier::kFull : Tier::kFast);
  absl::StatusOr<Jit*> jit = Jit::Get(options->isa, tier);
  if (!jit.ok()) return jit.status();
  status = FlattenCallGraph(*module);
  if (!status.ok()) return status;
  absl::StatusOr<std::unique_ptr<BufferAssignment>> buffers =
      BufferAssignment::Run(*module, gates, compile.limits.memory_bytes);
  if (!buffers.ok()) return buffers.status();
  lap("buffers");

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = (*jit)->NewModule(context, module->name());
  KernelTarget target{(*jit)->vector_bits(), (*jit)->has_fma(), options->threads};
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
  return std::make_unique<CpuExecutable>(std::move(module), *std::move(buffers), *std::move(code),
                                         gates.decisions(), std::move(statistics), compile,
                                         options->threads);
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
