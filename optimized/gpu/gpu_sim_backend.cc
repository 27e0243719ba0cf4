// The steps of a compilation, and the backend that runs them.
#include "optimized/gpu/gpu_sim_backend.h"

#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"
#include "optimized/buffers/buffer_checker.h"
#include "optimized/defects/plant.h"
#include "optimized/gpu/driver/image_cache.h"
#include "optimized/gpu/driver/module_image.h"
#include "optimized/gpu/gpu_executable.h"
#include "optimized/gpu/gpu_options.h"
#include "optimized/gpu/kernels/gpu_target.h"
#include "optimized/gpu/program/device_collective.h"
#include "optimized/passes/collectives/collective_numbering.h"
#include "optimized/passes/library/gpu_facts.h"
#include "optimized/pipeline/pass_trace.h"
#include "optimized/plan/collective_plan.h"
#include "optimized/plan/support.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace gpu {
namespace {

// A folder that cannot be written to is an error: whoever asked for the code waits for it.
absl::Status WriteCode(const std::string& directory, std::string name, std::string_view ending,
                       const std::string& text) {
  for (char& letter : name) {
    const bool plain = absl::ascii_isalnum(letter) || letter == '.' || letter == '-';
    if (!plain) letter = '_';
  }
  const std::string path = StrCat(directory, "/", name, ending);
  std::ofstream out(path);
  out << text;
  out.close();
  if (out.good()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("gpu-sim: cannot write ", path));
}

class GpuCompilation {
 public:
  GpuCompilation(const CompileOptions& compile, GpuOptions options,
                 std::shared_ptr<const GateDefect> defect)
      : options_(std::move(options)),
        gates_(compile.decision_limit, std::move(defect)),
        trace_(gates_) {
    program_.limits = compile.limits;
    program_.devices = compile.devices;
    program_.ranks = options_.ranks;
    program_.simulator = options_.simulator;
    program_.simulator.instruction_texts = false;
    program_.architecture = options_.architecture;
    if (options_.trace) {
      options_.pipeline.observer = [this](std::string_view pass, bool changed, const Module&) {
        trace_.Note(pass, changed);
      };
    }
  }

  absl::StatusOr<GpuProgram> Run(const Module& original) {
    program_.module = original.Clone("");
    trace_.Resume();
    ASSAY_RETURN_IF_ERROR(Time("passes", [&] { return RunPasses(); }));
    ASSAY_RETURN_IF_ERROR(Time("buffers", [&] { return AssignBuffers(); }));
    ASSAY_RETURN_IF_ERROR(Time("emit", [&] { return EmitCode(); }));
    AddStatistics(trace_.records(), program_.statistics);
    program_.decisions = gates_.decisions();
    return std::move(program_);
  }

 private:
  template <typename Step>
  absl::Status Time(const char* name, Step step) {
    const auto start = std::chrono::steady_clock::now();
    ASSAY_RETURN_IF_ERROR(step());
    program_.statistics[StrCat("compile.seconds.", name)] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return absl::OkStatus();
  }

  absl::Status RunPasses() {
    Module& module = *program_.module;
    ASSAY_RETURN_IF_ERROR(RunRequired(Stage::kLegalize, module, gates_, options_.pipeline));
    if (options_.passes) ASSAY_RETURN_IF_ERROR(Optimize(module, gates_, options_.pipeline));
    return CheckSupported(GpuTarget(), module);
  }

  absl::Status AssignBuffers() {
    Module& module = *program_.module;
    ASSAY_ASSIGN_OR_RETURN(program_.plans, PlanCollectives(module, program_.devices));
    const int64_t devices = program_.devices.replicas * program_.devices.partitions;
    ASSAY_RETURN_IF_ERROR(RunRequired(Stage::kFlatten, module, gates_, options_.pipeline));
    ASSAY_ASSIGN_OR_RETURN(program_.buffers,
                           BufferAssignment::Run(module, GpuTarget().memory.front(), gates_,
                                                 program_.limits.memory_bytes / devices));
    return MustCheckBuffers(options_.pipeline) ? CheckBuffers(*program_.buffers, module)
                                               : absl::OkStatus();
  }

  absl::Status EmitCode() {
    ASSAY_ASSIGN_OR_RETURN(const ProgramPlan plan,
                           PlanProgram(*program_.buffers, GpuTarget(), gates_));
    const TemplateChoices templates = ChooseTemplates(plan, *options_.architecture, gates_);
    if (options_.trace) {
      program_.plan = Describe(plan, *program_.buffers);
      AddTemplates(plan, templates, program_.plan);
    }
    const std::string name(program_.module->name());
    const std::unique_ptr<llvm::Module> code = NewKernelModule(context_, name);
    CollectiveChooser chooser(program_.plans, *options_.pipeline.profile, gates_);
    ASSAY_ASSIGN_OR_RETURN(program_.launches,
                           MakeLaunchProgram({*code, *options_.architecture, &templates}, plan,
                                             *program_.buffers, program_.simulator,
                                             {.streams = options_.streams,
                                              .host_alone = options_.graphs,
                                              .library_takes = TakesOnDevice(),
                                              .on_device = CollectsOnDevice(chooser)},
                                             gates_));
    size_t line = 0;
    for (size_t f = 0; f < plan.frames.size() && options_.trace; ++f) {
      AddStreams(plan.frames[f], program_.launches.frames[f].streams, line, program_.plan);
      line += plan.frames[f].steps.size();
    }
    double kernels = 0, host_steps = 0, overlapped = 0, events = 0;
    for (const LaunchFrame& frame : program_.launches.frames) {
      for (const LaunchStep& step : frame.steps) {
        kernels += static_cast<double>(step.launches.size());
        host_steps += step.host.has_value() ? 1 : 0;
      }
      for (const StepStream& place : frame.streams.steps) {
        overlapped += place.stream != 0 ? 1 : 0;
        events += place.is_awaited ? 1 : 0;
      }
    }
    program_.statistics["steps.overlapped"] = overlapped;
    program_.statistics["events"] = events;
    program_.statistics["kernels"] = kernels;
    program_.statistics["host.steps"] = host_steps;
    program_.statistics["arena.bytes"] = static_cast<double>(program_.buffers->arena_bytes());
    if (!options_.llvm_directory.empty()) {
      std::string text;
      llvm::raw_string_ostream(text) << *code;
      ASSAY_RETURN_IF_ERROR(WriteCode(options_.llvm_directory, name, ".ll", text));
    }
    program_.graphs = options_.graphs;
    program_.cuda = options_.cuda;
    if (options_.cuda == nullptr && options_.ptx_directory.empty()) return absl::OkStatus();
    const ImageOptions image{.processor = std::string(options_.architecture->name),
                             .features = std::string(options_.architecture->features),
                             .with_ir = options_.image_ir};
    ASSAY_ASSIGN_OR_RETURN(program_.image, MakeKernelImage(*code, image));
    if (options_.cuda != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(program_.image.cubin, Assembled(program_.image.text));
    }
    if (options_.ptx_directory.empty()) return absl::OkStatus();
    return WriteCode(options_.ptx_directory, name, ".ptx", program_.image.text);
  }

  // Says of ops that are no calls yet which ones a library of the device carries out.
  std::function<bool(const Instruction&)> TakesOnDevice() const {
    if (options_.cuda == nullptr || !options_.pipeline.pass_options.libraries) return nullptr;
    return [cuda = options_.cuda](const Instruction& op) {
      return cuda->first().libraries.Find(op) != nullptr;
    };
  }

  // Says of collectives of several GPUs what NCCL does of them, and notes that.
  std::function<std::optional<NcclForm>(const Instruction&)> CollectsOnDevice(
      CollectiveChooser& chooser) {
    const bool several = program_.devices.replicas * program_.devices.partitions > 1;
    if (options_.cuda == nullptr || options_.cuda->nccl == nullptr || !options_.nccl || !several)
      return nullptr;
    return [this, &chooser](const Instruction& collective) {
      const std::optional<NcclForm> form = chooser.Choose(collective);
      for (StepText& text : program_.plan) {
        if (text.step != collective.name()) continue;
        StrAppend(&text.plan, form.has_value() ? ", by NCCL" : ", over the host: ",
                  form.has_value() ? "" : chooser.WhyNot(collective));
      }
      if (form.has_value()) {
        program_.device_collectives.push_back(CollectiveNumber(collective));
        program_.statistics["collectives.on.device"] += 1;
      }
      return form;
    };
  }

  // By ptxas, where there is one; "": the driver compiles the text.
  absl::StatusOr<std::string> Assembled(const std::string& ptx) {
    // An assembled image has no place for the IR.
    if (!options_.assemble || options_.image_ir) return std::string();
    ImageCache cache({.folder = options_.image_folder});
    if (!cache.has_ptxas()) return std::string();
    ASSAY_ASSIGN_OR_RETURN(std::string cubin, cache.Assemble(ptx, options_.architecture->name));
    program_.statistics["image.kept"] = static_cast<double>(cache.hits());
    return cubin;
  }

  GpuOptions options_;
  Gates gates_;
  PassTrace trace_;
  llvm::LLVMContext context_;
  GpuProgram program_;
};

// Code is made for the GPU that is there.
void Take(std::shared_ptr<CudaHost> cuda, GpuOptions& options) {
  if (cuda == nullptr) return;
  options.architecture = cuda->architecture;
  options.nccl = options.pipeline.pass_options.libraries && cuda->nccl != nullptr;
  // Whatever no library takes, our own kernels serve.
  static const GpuFacts* const facts = [&] {
    auto* made = new GpuFacts(*GpuFacts::Find(cuda->architecture->name));
    made->takes = [](const Instruction& call) {
      const absl::StatusOr<std::shared_ptr<CudaHost>> host = OpenCudaHost();
      return host.ok() && (*host)->first().libraries.Find(call) != nullptr;
    };
    return made;
  }();
  options.pipeline.pass_options.gpu = facts;
  if (!cuda->first().libraries.has_any()) options.pipeline.pass_options.libraries = false;
  options.cuda = std::move(cuda);
}

class GpuSimBackend : public Backend {
 public:
  GpuSimBackend(std::string name, std::map<std::string, std::string> flags,
                const GpuOptions& options)
      : flags_(std::move(flags)), cuda_(options.cuda) {
    description_.name = std::move(name);
    description_.version =
        StrCat("Assay's compiler for ", options.architecture->name,
               cuda_ == nullptr ? ", simulated, LLVM " : ", LLVM ", LLVM_VERSION_STRING);
    description_.devices = {"gpu-sim:0"};
    if (cuda_ != nullptr) {
      const CudaDeviceFacts& facts = cuda_->first().session->facts();
      description_.devices = {StrCat("gpu:0 ", facts.name, ", sm_", facts.compute, ", ",
                                     facts.memory_bytes >> 20, " MiB")};
      for (int k = 1; k < cuda_->device_count(); ++k)
        description_.devices.push_back(StrCat("gpu:", k));
    }
    description_.has_decisions = true;
    description_.profile = options.pipeline.profile;
    description_.capability = [](Opcode opcode, ElementType type) {
      return IsCompiledFor(GpuTarget(), opcode, type) ? Capability::kSupported
                                                      : Capability::kUnsupported;
    };
  }

  const BackendDescription& Describe() const override { return description_; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module& original,
                                                      const CompileOptions& compile) override {
    std::map<std::string, std::string> flags = compile.flags;
    flags.insert(flags_.begin(), flags_.end());
    ASSAY_ASSIGN_OR_RETURN(GpuOptions options, ParseGpuOptions(flags));
    Take(cuda_, options);
    ASSAY_RETURN_IF_ERROR(CheckDevices(compile.devices));
    if (cuda_ != nullptr && options.ranks != RankKind::kThreads) {
      return MakeError(ErrorClass::kUnsupported,
                       "gpu: option ranks: devices are threads; contexts do not outlive a fork");
    }
    ASSAY_ASSIGN_OR_RETURN(auto defect, PlantFromText(compile.defect));
    GpuCompilation compilation(compile, std::move(options), std::move(defect));
    ASSAY_ASSIGN_OR_RETURN(GpuProgram program, compilation.Run(original));
    return std::make_unique<GpuExecutable>(std::move(program));
  }

 private:
  absl::Status CheckDevices(const DeviceAssignment& devices) const {
    constexpr int64_t kMostDevices = 256;  // each is a thread
    const auto& [replicas, partitions, ids] = devices;
    const int64_t most = cuda_ == nullptr ? kMostDevices : cuda_->device_count();
    if (replicas >= 1 && partitions >= 1 && replicas <= most && partitions <= most &&
        replicas * partitions <= most) {
      return absl::OkStatus();
    }
    return MakeError(
        ErrorClass::kUnsupported,
        StrCat(cuda_ == nullptr ? "gpu-sim: " : "gpu: ", replicas, " replicas of ", partitions,
               " partitions; ", most == 1 ? "one device" : StrCat("1 to ", most, " devices"),
               " can run", cuda_ == nullptr ? "" : ": the driver has no more"));
  }

  std::map<std::string, std::string> flags_;
  std::shared_ptr<CudaHost> cuda_;
  BackendDescription description_;
};

absl::StatusOr<std::unique_ptr<Backend>> Create(const std::string& text) {
  ASSAY_ASSIGN_OR_RETURN(auto flags, ParseBackendOptions(text, GpuOptionNames()));
  ASSAY_ASSIGN_OR_RETURN(const GpuOptions options, ParseGpuOptions(flags));
  std::string name = text.empty() ? "gpu-sim" : StrCat("gpu-sim:", text);
  return std::make_unique<GpuSimBackend>(std::move(name), std::move(flags), options);
}

absl::StatusOr<std::unique_ptr<Backend>> CreateOnDevice(const std::string& text) {
  ASSAY_ASSIGN_OR_RETURN(auto flags, ParseBackendOptions(text, GpuOptionNames()));
  ASSAY_ASSIGN_OR_RETURN(GpuOptions options, ParseGpuOptions(flags));
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<CudaHost> cuda, OpenCudaHost());
  Take(std::move(cuda), options);
  std::string name = text.empty() ? "gpu" : StrCat("gpu:", text);
  return std::make_unique<GpuSimBackend>(std::move(name), std::move(flags), options);
}

}  // namespace
}  // namespace gpu

void RegisterGpu(BackendRegistry& registry) {
  registry.Register("gpu", "The same on NVIDIA GPUs, by the driver that is installed",
                    gpu::CreateOnDevice);
}

std::vector<std::string> LibrariesOfGpu() {
  const absl::StatusOr<std::shared_ptr<gpu::CudaHost>> host = gpu::OpenCudaHost();
  if (!host.ok()) return {};
  const gpu::DeviceLibraries& libraries = (*host)->first().libraries;
  std::vector<std::string> lines = libraries.names();
  lines.insert(lines.end(), libraries.missing().begin(), libraries.missing().end());
  const std::unique_ptr<gpu::Nccl>& nccl = (*host)->nccl;
  lines.push_back(nccl == nullptr ? (*host)->no_nccl : StrCat("NCCL ", nccl->version()));
  return lines;
}

void RegisterGpuSim(BackendRegistry& registry) {
  std::string options;
  for (std::string_view name : gpu::GpuOptionNames()) {
    StrAppend(&options, options.empty() ? "" : ", ", name, "=");
  }
  registry.Register("gpu-sim",
                    StrCat("Assay's compiler for NVIDIA GPUs, simulated (", options, ")"),
                    gpu::Create);
}

}  // namespace assay
