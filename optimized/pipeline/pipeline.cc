// Runs passes by name, with checks and observers as the options ask.
#include "optimized/pipeline/pipeline.h"

#include <algorithm>
#include <memory>
#include <utility>

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

bool Contains(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// One pass, checked and observed as the options say.
absl::Status RunPass(Pass& pass, Module& module, PassContext& context,
                     const PipelineOptions& options) {
  const std::string before = options.verify_each ? WriteModule(module) : "";
  ASSAY_ASSIGN_OR_RETURN(const bool changed, pass.Run(module, context));
  if (options.verify_each) {
    if (absl::Status status = Verify(module); !status.ok()) return Broken(pass.name(), status);
    if (!changed && WriteModule(module) != before) {
      return absl::InternalError(
          StrCat("pass ", pass.name(), " changed the module and said that it had not"));
    }
  }
  if (options.observer) options.observer(pass.name(), changed, module);
  return absl::OkStatus();
}

}  // namespace

absl::Status Optimize(Module& module, Gates& gates, const PipelineOptions& options) {
  const std::vector<std::string> names = options.passes.empty() ? PassNames() : options.passes;
  if (!options.stop_after_pass.empty() && !Contains(names, options.stop_after_pass)) {
    return UnknownPass(options.stop_after_pass);
  }
  module.clear_schedule();
  PassContext context{gates, *options.profile, options.pass_options};
  int64_t done = 0;
  for (const std::string& name : names) {
    const PassInfo* info = FindPass(name);
    if (info == nullptr) return UnknownPass(name);
    if (options.stop_after >= 0 && done >= options.stop_after) break;
    if (!options.fusion && (name == "loop-fusion" || name == "multi-output-fusion")) continue;
    if (Contains(options.without, name)) continue;
    ASSAY_RETURN_IF_ERROR(RunPass(*info->make(), module, context, options));
    ++done;
    if (name == options.stop_after_pass) break;
  }
  // A schedule is an order that a pass chose.
  if (!module.has_schedule()) SortInstructions(module);
  return absl::OkStatus();
}

absl::Status RunRequired(Stage stage, Module& module, Gates& gates,
                         const PipelineOptions& options) {
  PassContext context{gates, *options.profile};
  int64_t done = 0;
  for (std::string_view name : PassesOf(stage)) {
    if (options.stop_after >= 0 && done++ >= options.stop_after) break;
    const PassInfo* info = FindPass(name);
    if (info == nullptr) return UnknownPass(name);
    ASSAY_RETURN_IF_ERROR(RunPass(*info->make(), module, context, options));
  }
  return absl::OkStatus();
}

std::vector<std::string> PassNames() {
  const std::vector<std::string_view> names = DefaultPasses();
  return std::vector<std::string>(names.begin(), names.end());
}

PipelineOptions EveryPassOptions() {
  PipelineOptions options;
  const std::vector<std::string_view> names = EveryPass();
  options.passes.assign(names.begin(), names.end());
  options.pass_options.reduce_window_size = 3;
  options.pass_options.bfloat16 = BFloat16Support::Find("none");
  return options;
}

absl::StatusOr<std::vector<std::string>> ParsePassNames(std::string_view text, char separator) {
  if (text == "all") return EveryPassOptions().passes;
  std::vector<std::string> names =
      absl::StrSplit(absl::string_view(text.data(), text.size()), separator);
  for (const std::string& name : names) {
    if (FindPass(name) == nullptr) return UnknownPass(name);
  }
  return names;
}

absl::StatusOr<std::vector<std::string>> ParseWithout(std::string_view text) {
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
