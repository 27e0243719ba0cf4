// Runs passes by name, with checks and observers as the options ask.
#include "optimized/pipeline/pipeline.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "optimized/passes/floats/bfloat16_support.h"
#include "optimized/pipeline/registry.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// Operands before users in stored order too, whatever the passes added where.
void SortInstructions(Module& module) {
  for (Computation* computation : module.computations()) {
    Instruction* behind = nullptr;
    const std::vector<Instruction*> order = computation->PostOrder();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (behind != nullptr) {
        computation->MoveBefore(*it, behind);
      }
      behind = *it;
    }
  }
}

absl::Status Broken(std::string_view pass, const absl::Status& why) {
  return absl::InternalError(StrCat("pass ", pass, " broke the module: ", ToStd(why.message())));
}

absl::Status UnknownPass(std::string_view name) {
  std::string known;
  for (const PassInfo& info : AllPasses()) StrAppend(&known, known.empty() ? "" : ", ", info.name);
  return absl::InvalidArgumentError(StrCat("no pass is called '", name, "'; there are ", known));
}

template <typename T, typename U>
bool Contains(const std::vector<T>& list, const U& what) {
  return std::find(list.begin(), list.end(), what) != list.end();
}

std::vector<std::string> NamesOf(const std::vector<std::string_view>& names) {
  return std::vector<std::string>(names.begin(), names.end());
}

bool IsFusion(std::string_view pass) {
  return pass == "contraction-fusion" || pass == "loop-fusion" || pass == "multi-output-fusion";
}

// Required passes read what holds of the target, and no wishes.
PassOptions Facts(const PassOptions& options) {
  PassOptions facts;
  facts.gpu = options.gpu;
  facts.libraries = options.libraries;
  return facts;
}

// Runs steps over one module, each pass checked and observed as the options say.
class Runner {
 public:
  Runner(Module& module, Gates& gates, const PipelineOptions& options, bool required)
      : module_(module), options_(options), required_(required) {
    context_ = std::make_unique<PassContext>(PassContext{
        gates, *options.profile, required ? Facts(options.pass_options) : options.pass_options});
    // Who names passes wants to see what they do.
    if (!required && !options.passes.empty()) context_->options.expand = true;
  }

  absl::Status RunSteps(absl::Span<const PipelineStep> steps, Stage stage) {
    for (const PipelineStep& step : steps) {
      if (IsOver()) break;
      if (step.stage == stage) ASSAY_RETURN_IF_ERROR(RunStep(step));
    }
    return absl::OkStatus();
  }

  absl::Status RunPass(std::string_view name) {
    const PassInfo* info = FindPass(name);
    if (info == nullptr) return UnknownPass(name);
    if (IsOver() || IsLeftOut(name)) return absl::OkStatus();
    const std::unique_ptr<Pass> pass = info->make();
    const std::string before = options_.verify_each ? WriteModule(module_) : "";
    ASSAY_ASSIGN_OR_RETURN(const bool changed, pass->Run(module_, *context_));
    if (options_.verify_each) {
      if (absl::Status status = Verify(module_); !status.ok()) return Broken(name, status);
      if (!changed && WriteModule(module_) != before) {
        return absl::InternalError(
            StrCat("pass ", name, " changed the module and said that it had not"));
      }
    }
    if (options_.observer) options_.observer(name, changed, module_);
    if (changed) ++version_;
    ++done_;
    is_over_ = name == options_.stop_after_pass;
    return absl::OkStatus();
  }

  bool IsOver() const {
    return is_over_ || (options_.stop_after >= 0 && done_ >= options_.stop_after);
  }

 private:
  bool IsLeftOut(std::string_view name) const {
    return !required_ && ((!options_.fusion && IsFusion(name)) || Contains(options_.without, name));
  }

  absl::Status RunStep(const PipelineStep& step) {
    const bool is_asked = Contains(options_.with, step.pass);
    if (!RunsOn(step, options_.target, options_.on_request || is_asked)) return absl::OkStatus();
    const StepContext context{module_, options_.target, context_->options};
    const bool is_wanted =
        options_.on_request || is_asked || step.on_request || step.when == nullptr;
    if (!is_wanted && !step.when->holds(context)) return absl::OkStatus();
    return step.IsFixedPoint() ? RunFixedPoint(step) : RunPass(step.pass);
  }

  absl::Status RunFixedPoint(const PipelineStep& step) {
    // The module's version when a pass ran last: nothing has changed since then if it is the same.
    absl::flat_hash_map<std::string_view, int64_t> seen;
    std::vector<uint64_t> hashes;
    for (int trip = 0; trip < step.most_trips; ++trip) {
      const int64_t start = version_;
      std::string changing;
      for (const PipelineStep& inner : step.inner) {
        const auto last = seen.find(inner.pass);
        if (last != seen.end() && last->second == version_) continue;
        const int64_t before = version_;
        ASSAY_RETURN_IF_ERROR(RunStep(inner));
        if (IsOver()) return absl::OkStatus();
        if (version_ != before) StrAppend(&changing, " ", inner.pass);
        // It may look again at what it changed itself.
        seen[inner.pass] = before;
      }
      if (version_ == start) return absl::OkStatus();
      if (!options_.verify_each) continue;
      const uint64_t hash = module_.Hash();
      if (trip + 1 == step.most_trips && Contains(hashes, hash)) {
        return absl::InternalError(StrCat(
            "fixed point ", step.pass, " comes back to a module that it had; changing:", changing));
      }
      hashes.push_back(hash);
    }
    return absl::OkStatus();
  }

  Module& module_;
  const PipelineOptions& options_;
  const bool required_;
  std::unique_ptr<PassContext> context_;
  int64_t version_ = 0;  // how many passes have changed the module
  int64_t done_ = 0;
  bool is_over_ = false;
};

}  // namespace

absl::Status Optimize(Module& module, Gates& gates, const PipelineOptions& options) {
  ASSAY_RETURN_IF_ERROR(CheckPipelineSteps());
  std::vector<std::string> names = options.passes;
  if (names.empty()) {
    names = NamesOf(options.on_request ? EveryPass(options.target) : DefaultPasses(options.target));
  }
  if (!options.stop_after_pass.empty() && !Contains(names, options.stop_after_pass)) {
    return UnknownPass(options.stop_after_pass);
  }
  const PassInfo* first = names.empty() ? nullptr : FindPass(names.front());
  if (first == nullptr || !first->needs_schedule) module.clear_schedule();
  Runner runner(module, gates, options, /*required=*/false);
  if (options.passes.empty()) {
    ASSAY_RETURN_IF_ERROR(runner.RunSteps(PipelineSteps(), Stage::kOptimize));
  } else {
    for (const std::string& name : names) ASSAY_RETURN_IF_ERROR(runner.RunPass(name));
  }
  // A schedule is an order that a pass chose.
  if (!module.has_schedule()) SortInstructions(module);
  return absl::OkStatus();
}

absl::Status RunRequired(Stage stage, Module& module, Gates& gates,
                         const PipelineOptions& options) {
  return Runner(module, gates, options, /*required=*/true).RunSteps(PipelineSteps(), stage);
}

std::vector<std::string> PassNames() { return NamesOf(DefaultPasses()); }

std::vector<std::string> DespecializerPasses() {
  return {"descheduler", "control-dep-remover", "defuser", "bfloat16-mixed-precision-removal"};
}

PipelineOptions EveryPassOptions() {
  PipelineOptions options;
  options.on_request = true;
  options.pass_options.reduce_window_size = 3;
  options.pass_options.expand = true;
  options.pass_options.bfloat16 = BFloat16Support::Find("dot");
  return options;
}

absl::StatusOr<std::vector<std::string>> ParsePassNames(std::string_view text, char separator) {
  if (text == "all") return NamesOf(EveryPass());
  if (text == "despecializer") return DespecializerPasses();
  std::vector<std::string> names =
      absl::StrSplit(absl::string_view(text.data(), text.size()), separator);
  for (const std::string& name : names) {
    if (FindPass(name) == nullptr) return UnknownPass(name);
  }
  return names;
}

absl::StatusOr<std::vector<std::string>> ParseWithout(std::string_view text) {
  uint64_t number = 0;
  if (absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &number)) {
    std::vector<std::string> optional = PassNames();
    std::sort(optional.begin(), optional.end());
    optional.erase(std::unique(optional.begin(), optional.end()), optional.end());
    return std::vector<std::string>{optional[number % optional.size()]};
  }
  ASSAY_ASSIGN_OR_RETURN(std::vector<std::string> names, ParsePassNames(text, '+'));
  for (const std::string& name : names) {
    if (FindPass(name)->runs_in == RunsIn::kCompiler) {
      return absl::InvalidArgumentError(
          StrCat("pass ", name, " is required: it cannot be left out"));
    }
  }
  return names;
}

}  // namespace assay
