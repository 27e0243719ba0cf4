// The backend "passes": a prefix of the pass pipeline, stopped after a number of decisions.
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "optimized/defects/plant.h"
#include "optimized/passes/floats/bfloat16_support.h"
#include "optimized/pipeline/optimized_only.h"
#include "optimized/pipeline/pass_trace.h"
#include "optimized/pipeline/pipeline.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

class PassesBackend : public Backend {
 public:
  PassesBackend(std::string name, int64_t limit, PipelineOptions options)
      : limit_(limit), options_(std::move(options)) {
    description_.name = std::move(name);
    description_.version = "the passes of Assay's own compiler";
    description_.devices = {"none"};
    description_.can_run = false;
    description_.has_decisions = true;
    description_.profile = options_.profile;
    description_.capability = [](Opcode, ElementType) { return Capability::kSupported; };
  }
  const BackendDescription& Describe() const override { return description_; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module& module,
                                                      const CompileOptions& options) override {
    ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const GateDefect> defect, PlantFromText(options.defect));
    int64_t limit = limit_;
    if (options.decision_limit >= 0 && (limit < 0 || options.decision_limit < limit)) {
      limit = options.decision_limit;
    }
    Gates gates(limit, std::move(defect));
    std::unique_ptr<Module> copy = module.Clone("");
    PassTrace trace(gates);
    PipelineOptions traced = options_;
    traced.observer = [&trace](std::string_view pass, bool changed, const Module&) {
      trace.Note(pass, changed);
    };
    ASSAY_RETURN_IF_ERROR(Optimize(*copy, gates, traced));
    std::map<std::string, double> statistics;
    AddStatistics(trace.records(), statistics);
    return std::make_unique<OptimizedOnly>("passes", std::move(copy), gates.decisions(),
                                           std::move(statistics));
  }

 private:
  int64_t limit_;
  PipelineOptions options_;
  BackendDescription description_;
};

// Reads from the options of the backend those of the pipeline.
absl::StatusOr<PipelineOptions> ReadOptions(const std::map<std::string, std::string>& options) {
  PipelineOptions pipeline;
  if (options.contains("run")) {
    const std::string& list = options.at("run");
    ASSAY_ASSIGN_OR_RETURN(std::vector<std::string> passes, ParsePassNames(list, '+'));
    if (list == "all") {
      pipeline = EveryPassOptions();
    } else {
      pipeline.passes = std::move(passes);
    }
  }
  if (options.contains("profile")) {
    ASSAY_ASSIGN_OR_RETURN(const Profile* profile, Profile::Find(options.at("profile")));
    pipeline.profile = profile;
  }
  if (options.contains("fusion")) {
    const std::string& value = options.at("fusion");
    if (value != "on" && value != "off") {
      return absl::InvalidArgumentError(StrCat("fusion must be on or off, not '", value, "'"));
    }
    pipeline.fusion = value == "on";
  }
  if (options.contains("without")) {
    ASSAY_ASSIGN_OR_RETURN(pipeline.without, ParseWithout(options.at("without")));
  }
  if (options.contains("window") &&
      !absl::SimpleAtoi(options.at("window"), &pipeline.pass_options.reduce_window_size)) {
    return absl::InvalidArgumentError("passes: window must be a number of elements");
  }
  if (options.contains("fast_math")) {
    pipeline.pass_options.fast_math = options.at("fast_math") == "on";
  }
  if (options.contains("bf16")) {
    pipeline.pass_options.bfloat16 = BFloat16Support::Find(options.at("bf16"));
    if (pipeline.pass_options.bfloat16 == nullptr) {
      return absl::InvalidArgumentError("passes: bf16 must be all, none or dot");
    }
  }
  return pipeline;
}

// "12", "12,profile=strict", "fusion=off", "run=cse+dce" or "".
absl::StatusOr<std::unique_ptr<Backend>> Create(const std::string& text) {
  const size_t comma = text.find(',');
  int64_t limit = -1, number = 0;
  std::string rest = text;
  if (absl::SimpleAtoi(text.substr(0, comma), &number)) {
    limit = number;
    if (limit < 0) return absl::InvalidArgumentError("passes:K needs a K of at least 0");
    rest.erase(0, comma == std::string::npos ? rest.size() : comma + 1);
  }
  constexpr std::string_view kKnown[] = {"profile", "fusion", "run",      "without",
                                         "window",  "bf16",   "fast_math"};
  ASSAY_ASSIGN_OR_RETURN(auto options, ParseBackendOptions(rest, kKnown));
  ASSAY_ASSIGN_OR_RETURN(PipelineOptions pipeline, ReadOptions(options));
  std::string name = "passes";
  if (!text.empty()) StrAppend(&name, ":", text);
  return std::make_unique<PassesBackend>(name, limit, std::move(pipeline));
}

}  // namespace

void RegisterPasses(BackendRegistry& registry) {
  registry.Register("passes",
                    "the HLO passes alone, compile only; passes:K stops after K decisions", Create);
}

}  // namespace assay
