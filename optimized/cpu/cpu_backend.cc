// The steps of a compilation, and the backend that runs them.
#include "optimized/cpu/cpu_backend.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "optimized/analysis/tasks/work_estimate.h"
#include "optimized/buffers/buffer_checker.h"
#include "optimized/cpu/cpu_executable.h"
#include "optimized/cpu/cpu_options.h"
#include "optimized/cpu/cpu_target.h"
#include "optimized/cpu/program_emitter.h"
#include "optimized/defects/plant.h"
#include "optimized/pipeline/optimized_only.h"
#include "optimized/pipeline/pass_trace.h"
#include "optimized/plan/collective_plan.h"
#include "optimized/plan/support.h"
#include "spec/base/error.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

constexpr int64_t kMaxDevices = 256;  // each is a thread
// Element operations per run above which optimizing the code pays for itself.
constexpr int64_t kFullTierWork = int64_t{1} << 20;
// And up to which LLVM has no part in the code: what its code would save in ten runs of so short a
// program, its translation costs.
constexpr int64_t kDirectWork = int64_t{1} << 16;

absl::Status CheckDevices(const DeviceAssignment& devices) {
  const auto& [replicas, partitions, ids] = devices;
  if (replicas < 1 || partitions < 1 || replicas > kMaxDevices || partitions > kMaxDevices ||
      replicas * partitions > kMaxDevices) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("cpu: ", replicas, " replicas of ", partitions, " partitions; 1 to ",
                            kMaxDevices, " devices can run"));
  }
  return absl::OkStatus();
}

// Writes the code of a module, before LLVM's optimizer sees it. A folder that cannot be written to
// is an error: whoever asked for the code waits for it.
absl::Status Dump(const llvm::Module& code, const std::string& directory, std::string name) {
  for (char& letter : name) {
    const bool plain = absl::ascii_isalnum(letter) || letter == '.' || letter == '-';
    if (!plain) letter = '_';
  }
  const std::string path = StrCat(directory, "/", name, ".ll");
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (error) {
    return absl::InvalidArgumentError(
        StrCat("cpu: option dump-llvm: cannot write ", path, ": ", error.message()));
  }
  code.print(out, nullptr);
  return absl::OkStatus();
}

// A statistic is a double: hashes are cut to what one holds exactly.
constexpr uint64_t kExactIntegers = uint64_t{1} << 52;

// Code that is translated without LLVM follows from its text, and from that alone.
uint64_t HashOfText(const llvm::Module& code) {
  std::string text;
  llvm::raw_string_ostream out(text);
  code.print(out, nullptr);
  return llvm::xxh3_64bits(text);
}

// Kernels of a program, and the bytes of their operands and results: loops and branches count once.
void CountKernels(const BufferAssignment& buffers, std::map<std::string, double>& statistics) {
  double kernels = 0, moved = 0;
  for (const auto& frame : buffers.frames()) {
    for (const BufferAssignment::Step& step : frame->steps) {
      const Instruction& i = *step.instruction;
      if (step.alias || frame->callees.contains(&i)) continue;
      ++kernels;
      // An update in place reads and writes as much as it is given beside the array.
      if (!step.update_in_place) moved += static_cast<double>(i.shape().ByteSize());
      for (const Instruction* operand : i.operands()) {
        if (step.update_in_place && operand == i.operand(0)) continue;
        const auto bytes = static_cast<double>(operand->shape().ByteSize());
        moved += step.update_in_place ? 2 * bytes : bytes;
      }
    }
  }
  statistics["kernels"] = kernels;
  statistics["bytes.moved"] = moved;
}

// Arguments and results, which the caller holds.
int64_t BytesOfCaller(const Module& module) {
  int64_t bytes = module.entry()->root()->shape().ByteSize();
  for (const Instruction* parameter : module.entry()->parameters()) {
    bytes += parameter->shape().ByteSize();
  }
  return bytes;
}

// One module on its way to code. Each step reads what the ones before it have made.
class Compilation {
 public:
  Compilation(const CompileOptions& compile, CpuOptions options,
              std::shared_ptr<const GateDefect> defect)
      : options_(std::move(options)),
        memory_limit_(compile.limits.memory_bytes),
        donated_(compile.donated),
        gates_(compile.decision_limit, std::move(defect), options_.refusals),
        trace_(gates_) {
    program_.limits = compile.limits;
    program_.devices = compile.devices;
    program_.threads = options_.threads;
    program_.ranks = options_.ranks;
    program_.has_defect = !compile.defect.empty();
    program_.poison = compile.poison;
    // Passes are told this of the machine; code is made for more of it.
    target_.levels = {{kDevices, devices()}, {kThreads, options_.threads}};
    options_.pipeline.pass_options.target = &target_;
    if (options_.trace) {
      options_.pipeline.pass_options.explain = [this](std::string_view line) {
        trace_.Explain(line);
      };
    }
    if (options_.trace || IsPrefix(options_) || !options_.pass_directory.empty()) {
      options_.pipeline.observer = [this](std::string_view pass, bool changed,
                                          const Module& module) {
        trace_.Note(pass, changed);
        if (changed && !options_.pass_directory.empty()) DumpPass(pass, module);
      };
    }
  }

  absl::StatusOr<CpuProgram> Run(const Module& original);
  // The first passes alone (CpuOptions::until).
  absl::StatusOr<std::unique_ptr<Executable>> RunPrefix(const Module& original);

 private:
  // Writes the module; the first error is kept.
  void DumpPass(std::string_view pass, const Module& module);
  absl::Status RunPasses();
  absl::Status PlanMeetings();
  absl::Status ChooseJit();
  absl::Status AssignBuffers();
  int64_t MemoryLimit(const Module& module) const;
  absl::Status EmitCode();
  absl::Status Link();
  int64_t devices() const { return program_.devices.replicas * program_.devices.partitions; }

  struct Step {
    absl::Status (Compilation::*run)();
    const char* timer;  // statistic to which its time is added; nullptr: it takes its own
  };
  static constexpr int kStepCount = 6;
  static const Step kSteps[kStepCount];

  CpuOptions options_;
  Target target_ = CpuTarget();
  int64_t memory_limit_;
  std::vector<BufferDonor> donated_;
  Gates gates_;
  PassTrace trace_;
  absl::Status dumped_;  // of option dump-passes
  Tier tier_ = Tier::kFast;
  bool may_be_direct_ = false;
  Jit* jit_ = nullptr;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> code_;
  CpuProgram program_;
};

const Compilation::Step Compilation::kSteps[kStepCount] = {
    {&Compilation::RunPasses, "passes"},       // optimized/pipeline/stages.cc lists them
    {&Compilation::PlanMeetings, "passes"},    // who meets whom in each collective
    {&Compilation::ChooseJit, "buffers"},      // instruction set and tier
    {&Compilation::AssignBuffers, "buffers"},  // after Stage::kFlatten
    {&Compilation::EmitCode, "emit"},          // LLVM IR
    {&Compilation::Link, nullptr},             // native code, in process
};

void Compilation::DumpPass(std::string_view pass, const Module& module) {
  char number[32];
  std::snprintf(number, sizeof(number), "%03zu", trace_.records().size());
  const std::string path = StrCat(options_.pass_directory, "/", number, "-", pass, ".hlo");
  if (dumped_.ok()) dumped_ = MakeFolder(options_.pass_directory);
  if (dumped_.ok()) dumped_ = WriteFile(path, module.ToString());
}

absl::Status Compilation::RunPasses() {
  Module& module = *program_.module;
  options_.pipeline.pass_options.memory_limit = options_.least_memory ? 0 : MemoryLimit(module);
  ASSAY_RETURN_IF_ERROR(RunRequired(Stage::kLegalize, module, gates_, options_.pipeline));
  if (options_.passes) {
    PipelineOptions optional = options_.pipeline;
    optional.stop_after = options_.prefix;
    ASSAY_RETURN_IF_ERROR(Optimize(module, gates_, optional));
  }
  ASSAY_RETURN_IF_ERROR(dumped_);
  return CheckSupported(CpuTarget(), module);
}

absl::Status Compilation::PlanMeetings() {
  ASSAY_ASSIGN_OR_RETURN(program_.plans, PlanCollectives(*program_.module, program_.devices));
  return absl::OkStatus();
}

absl::Status Compilation::ChooseJit() {
  const int64_t work = EstimateWork(*program_.module);
  tier_ = options_.tier.value_or(work > kFullTierWork ? Tier::kFull : Tier::kFast);
  // If the work is long, Jit tells whether all of the code is cold nevertheless.
  may_be_direct_ =
      options_.idle == 0 && options_.direct.value_or(tier_ == Tier::kFull || work <= kDirectWork);
  ASSAY_ASSIGN_OR_RETURN(jit_, Jit::Get(options_.isa, tier_));
  return absl::OkStatus();
}

// The bytes of a device, for everything: the caller's limit is beside arguments and results.
int64_t Compilation::MemoryLimit(const Module& module) const {
  const int64_t limit = memory_limit_ / devices() + BytesOfCaller(module);
  return options_.memory_limit < 0 ? limit : std::min(limit, options_.memory_limit);
}

absl::Status Compilation::AssignBuffers() {
  Module& module = *program_.module;
  trace_.Resume();
  ASSAY_RETURN_IF_ERROR(RunRequired(Stage::kFlatten, module, gates_, options_.pipeline));
  ASSAY_ASSIGN_OR_RETURN(program_.buffers,
                         BufferAssignment::Run(module, CpuTarget().memory.front(), gates_,
                                               MemoryLimit(module) - BytesOfCaller(module)));
  if (options_.trace) {
    for (const std::string& line : program_.buffers->CopyTexts()) trace_.Explain(line);
    trace_.NameReasons("buffer-assignment");
  }
  return MustCheckBuffers(options_.pipeline) ? CheckBuffers(*program_.buffers, module)
                                             : absl::OkStatus();
}

absl::Status Compilation::EmitCode() {
  target_.register_bits = jit_->vector_bits();
  target_.has_fma = jit_->has_fma();
  ASSAY_ASSIGN_OR_RETURN(const ProgramPlan plan, PlanProgram(*program_.buffers, target_, gates_));
  if (options_.trace) program_.plan = Describe(plan, *program_.buffers);
  code_ = jit_->NewModule(context_, program_.module->name());
  if (options_.count) program_.steps = std::make_shared<std::atomic<int64_t>>(0);
  return EmitProgram({*code_, target_, program_.steps.get(), options_.idle}, plan,
                     *program_.buffers);
}

absl::Status Compilation::Link() {
  if (!options_.dump_directory.empty()) {
    ASSAY_RETURN_IF_ERROR(Dump(*code_, options_.dump_directory, program_.module->name()));
  }
  // Refused: LLVM generates the code.
  const Permission direct =
      may_be_direct_ ? gates_.Allow(DecisionKind::kKernel, "direct-code", nullptr) : Permission();
  const KernelBends& bends = direct.bends() == nullptr ? kNoBends : *direct.bends();
  const uint64_t written = options_.trace ? HashOfText(*code_) : 0;
  ASSAY_ASSIGN_OR_RETURN(program_.code,
                         jit_->Compile(*code_, kEntryName, options_.threads, direct, bends));
  std::map<std::string, double>& statistics = program_.statistics;
  statistics["compile.seconds.llvm"] = program_.code->llvm_seconds();
  statistics["compile.seconds.link"] = program_.code->link_seconds();
  statistics["code.parts"] = static_cast<double>(program_.code->parts());
  statistics["code.direct"] = program_.code->is_direct() ? 1 : 0;
  statistics["tier.full"] = tier_ == Tier::kFull ? 1 : 0;
  statistics["code.bytes"] = static_cast<double>(program_.code->object_bytes());
  if (options_.trace) {
    const uint64_t hash = program_.code->is_direct() ? written : program_.code->object_hash();
    statistics["code.hash"] = static_cast<double>(hash % kExactIntegers);
  }
  statistics["arena.bytes"] = static_cast<double>(program_.buffers->arena_bytes());
  statistics["constants.bytes"] = static_cast<double>(program_.buffers->constants().size());
  CountKernels(*program_.buffers, statistics);
  AddStatistics(trace_.records(), statistics);
  return absl::OkStatus();
}

absl::StatusOr<CpuProgram> Compilation::Run(const Module& original) {
  auto start = std::chrono::steady_clock::now();
  program_.module = original.Clone();
  if (!donated_.empty()) {
    std::vector<BufferDonor>& donors = program_.module->config().buffer_donors;
    donors.insert(donors.end(), donated_.begin(), donated_.end());
    ASSAY_RETURN_IF_ERROR(Verify(*program_.module));
  }
  trace_.Resume();  // the copy is no pass's work
  for (const auto& [run, timer] : kSteps) {
    ASSAY_RETURN_IF_ERROR((this->*run)());
    const auto now = std::chrono::steady_clock::now();
    if (timer != nullptr) {
      program_.statistics[StrCat("compile.seconds.", timer)] +=
          std::chrono::duration<double>(now - start).count();
    }
    start = now;
  }
  program_.decisions = gates_.decisions();
  program_.reasons = trace_.reasons();
  return std::move(program_);
}

absl::StatusOr<std::unique_ptr<Executable>> Compilation::RunPrefix(const Module& original) {
  std::unique_ptr<Module> module = original.Clone();
  PipelineOptions& pipeline = options_.pipeline;
  pipeline.pass_options.memory_limit = options_.least_memory ? 0 : MemoryLimit(*module);
  const std::string stop = options_.stop_after;
  const auto is_over = [&] {
    const int64_t done = static_cast<int64_t>(trace_.records().size());
    pipeline.stop_after = options_.until < 0 ? -1 : options_.until - done;
    return pipeline.stop_after == 0 || (done > 0 && trace_.records().back().pass == stop);
  };
  for (Stage stage : {Stage::kLegalize, Stage::kOptimize, Stage::kFlatten}) {
    if (is_over()) break;
    const std::vector<std::string_view> names =
        stage == Stage::kOptimize && pipeline.on_request ? EveryPass() : PassesOf(stage);
    const bool stops = std::find(names.begin(), names.end(), stop) != names.end();
    pipeline.stop_after_pass = stops ? stop : "";
    if (stage != Stage::kOptimize) {
      ASSAY_RETURN_IF_ERROR(RunRequired(stage, *module, gates_, pipeline));
    } else if (options_.passes) {
      ASSAY_RETURN_IF_ERROR(Optimize(*module, gates_, pipeline));
    }
  }
  ASSAY_RETURN_IF_ERROR(dumped_);
  if (!stop.empty() && (trace_.records().empty() || trace_.records().back().pass != stop)) {
    return absl::InvalidArgumentError(
        StrCat("cpu: option stop-after: pass ", stop, " does not run on this module"));
  }
  std::map<std::string, double> statistics;
  AddStatistics(trace_.records(), statistics);
  return std::make_unique<OptimizedOnly>("cpu:until", std::move(module), gates_.decisions(),
                                         std::move(statistics));
}

class CpuBackend : public Backend {
 public:
  CpuBackend(std::string name, std::map<std::string, std::string> flags, const CpuOptions& options)
      : flags_(std::move(flags)) {
    description_.name = std::move(name);
    description_.version = StrCat("Assay's own compiler, LLVM ", LLVM_VERSION_STRING);
    description_.devices = {"cpu:0"};
    description_.has_decisions = true;
    description_.profile = options.pipeline.profile;
    description_.capability = [](Opcode opcode, ElementType type) {
      return IsCompiledFor(CpuTarget(), opcode, type) ? Capability::kSupported
                                                      : Capability::kUnsupported;
    };
  }

  const BackendDescription& Describe() const override { return description_; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module& original,
                                                      const CompileOptions& compile) override {
    std::map<std::string, std::string> flags = compile.flags;
    flags.insert(flags_.begin(), flags_.end());
    ASSAY_ASSIGN_OR_RETURN(CpuOptions options, ParseCpuOptions(flags));
    ASSAY_RETURN_IF_ERROR(CheckDevices(compile.devices));
    ASSAY_ASSIGN_OR_RETURN(auto defect, PlantFromText(compile.defect));
    ASSAY_RETURN_IF_ERROR(CheckSupported(CpuTarget(), original));
    const bool is_prefix = IsPrefix(options);
    Compilation compilation(compile, std::move(options), std::move(defect));
    if (is_prefix) return compilation.RunPrefix(original);
    ASSAY_ASSIGN_OR_RETURN(CpuProgram program, compilation.Run(original));
    return std::make_unique<CpuExecutable>(std::move(program));
  }

 private:
  std::map<std::string, std::string> flags_;
  BackendDescription description_;
};

absl::StatusOr<std::unique_ptr<Backend>> Create(const std::string& text) {
  ASSAY_ASSIGN_OR_RETURN(auto flags, ParseBackendOptions(text, CpuOptionNames()));
  ASSAY_ASSIGN_OR_RETURN(const CpuOptions options, ParseCpuOptions(flags));
  std::string name = text.empty() ? "cpu" : StrCat("cpu:", text);
  return std::make_unique<CpuBackend>(std::move(name), std::move(flags), options);
}

}  // namespace

void RegisterCpu(BackendRegistry& registry) {
  std::string options;
  for (std::string_view name : CpuOptionNames()) {
    StrAppend(&options, options.empty() ? "" : ", ", name, "=");
  }
  registry.Register("cpu", StrCat("Assay's compiler for this machine (", options, ")"), Create);
}

}  // namespace assay
