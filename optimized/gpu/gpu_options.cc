// One reader per option; their table is the list of options.
#include "optimized/gpu/gpu_options.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "optimized/gpu/kernels/gpu_target.h"
#include "optimized/gpu/program/stream_plan.h"
#include "optimized/passes/library/gpu_facts.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::gpu {
namespace {

absl::Status Expected(std::string_view name, const std::string& value, std::string_view legal) {
  return absl::InvalidArgumentError(
      StrCat("gpu-sim: option ", name, "=", value, ": expected ", legal));
}

absl::Status ReadOnOff(std::string_view name, const std::string& value, bool& on) {
  if (value != "on" && value != "off") return Expected(name, value, "on or off");
  on = value == "on";
  return absl::OkStatus();
}

absl::Status ReadArchitecture(const std::string& value, GpuOptions& options) {
  options.architecture = FindArchitecture(value);
  if (options.architecture != nullptr) return absl::OkStatus();
  std::string known;
  for (const Architecture& each : Architectures()) {
    StrAppend(&known, known.empty() ? "" : ", ", each.name);
  }
  return Expected("arch", value, StrCat("one of ", known));
}

absl::Status ReadChecks(const std::string& value, GpuOptions& options) {
  return ReadOnOff("checks", value, options.simulator.checks);
}

absl::Status ReadSeed(const std::string& value, GpuOptions& options) {
  if (absl::SimpleAtoi(value, &options.simulator.seed)) return absl::OkStatus();
  return Expected("seed", value, "a number");
}

absl::Status ReadRankKind(const std::string& value, GpuOptions& options) {
  const std::optional<RankKind> kind = FindRankKind(value);
  if (!kind.has_value()) return Expected("ranks", value, std::string(kRankKinds));
  options.ranks = *kind;
  return absl::OkStatus();
}

absl::Status ReadProfileName(const std::string& value, GpuOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(options.pipeline.profile, Profile::Find(value));
  return absl::OkStatus();
}

absl::Status ReadPassSet(const std::string& value, GpuOptions& options) {
  if (value != "on" && value != "off" && value != "all") {
    return Expected("passes", value, "on, off or all");
  }
  options.passes = value != "off";
  if (value == "all") {
    const bool libraries = options.pipeline.pass_options.libraries;
    PipelineOptions every = EveryPassOptions();
    options.pipeline.on_request = every.on_request;
    options.pipeline.pass_options = std::move(every.pass_options);
    options.pipeline.pass_options.libraries = libraries;
  }
  return absl::OkStatus();
}

absl::Status ReadLibraries(const std::string& value, GpuOptions& options) {
  return ReadOnOff("libraries", value, options.pipeline.pass_options.libraries);
}

absl::Status ReadLeftOut(const std::string& value, GpuOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(options.pipeline.without, ParseWithout(value));
  return absl::OkStatus();
}

absl::Status ReadVerifyEach(const std::string& value, GpuOptions& options) {
  return ReadOnOff("verify", value, options.pipeline.verify_each);
}

absl::Status ReadTraced(const std::string& value, GpuOptions& options) {
  return ReadOnOff("trace", value, options.trace);
}

absl::Status ReadLlvmFolder(const std::string& value, GpuOptions& options) {
  options.llvm_directory = value;
  return value.empty() ? Expected("dump-llvm", value, "a folder") : absl::OkStatus();
}

absl::Status ReadPtxFolder(const std::string& value, GpuOptions& options) {
  options.ptx_directory = value;
  return value.empty() ? Expected("dump-ptx", value, "a folder") : absl::OkStatus();
}

absl::Status ReadImageIr(const std::string& value, GpuOptions& options) {
  return ReadOnOff("image-ir", value, options.image_ir);
}

absl::Status ReadStreams(const std::string& value, GpuOptions& options) {
  if (absl::SimpleAtoi(value, &options.streams) && options.streams >= 1 &&
      options.streams <= kMostStreams)
    return absl::OkStatus();
  return Expected("streams", value, StrCat("a number from 1 to ", kMostStreams));
}

absl::Status ReadGraphs(const std::string& value, GpuOptions& options) {
  return ReadOnOff("graphs", value, options.graphs);
}

absl::Status ReadAssemble(const std::string& value, GpuOptions& options) {
  return ReadOnOff("assemble", value, options.assemble);
}

absl::Status ReadImageFolder(const std::string& value, GpuOptions& options) {
  options.image_folder = value;
  return value.empty() ? Expected("images", value, "a folder") : absl::OkStatus();
}

struct Option {
  std::string_view name;
  absl::Status (*read)(const std::string& value, GpuOptions& options);
};
constexpr Option kOptions[] = {
    {"arch", ReadArchitecture},   {"checks", ReadChecks},      {"seed", ReadSeed},
    {"profile", ReadProfileName}, {"passes", ReadPassSet},     {"without", ReadLeftOut},
    {"verify", ReadVerifyEach},   {"trace", ReadTraced},       {"dump-llvm", ReadLlvmFolder},
    {"dump-ptx", ReadPtxFolder},  {"image-ir", ReadImageIr},   {"libraries", ReadLibraries},
    {"ranks", ReadRankKind},      {"streams", ReadStreams},    {"graphs", ReadGraphs},
    {"assemble", ReadAssemble},   {"images", ReadImageFolder},
};

}  // namespace

absl::Span<const std::string_view> GpuOptionNames() {
  static const auto& names = *[] {
    auto* list = new std::vector<std::string_view>;
    for (const Option& option : kOptions) list->push_back(option.name);
    return list;
  }();
  return names;
}

absl::StatusOr<GpuOptions> ParseGpuOptions(const std::map<std::string, std::string>& flags) {
  GpuOptions options;
  for (const auto& [name, value] : flags) {
    const auto* option = std::find_if(std::begin(kOptions), std::end(kOptions),
                                      [&](const Option& row) { return row.name == name; });
    if (option == std::end(kOptions)) {
      std::string known;
      for (std::string_view each : GpuOptionNames()) {
        StrAppend(&known, known.empty() ? "" : ", ", each);
      }
      return absl::InvalidArgumentError(
          StrCat("gpu-sim: unknown option ", name, "; there are ", known));
    }
    ASSAY_RETURN_IF_ERROR(option->read(value, options));
  }
  const Architecture& architecture = *options.architecture;
  options.pipeline.pass_options.gpu = GpuFacts::Find(architecture.name);
  options.pipeline.pass_options.target = &GpuTarget();
  options.simulator.shared_bytes_per_block = architecture.shared_bytes;
  options.simulator.tensor_core = {architecture.tensor_terms, architecture.tensor_fraction_bits,
                                   architecture.tensor_f8_fraction_bits};
  return options;
}

}  // namespace assay::gpu
