#include "optimized/pipeline.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "optimized/passes/algebraic_simplifier.h"
#include "optimized/passes/call_inliner.h"
#include "optimized/passes/conditional_simplifier.h"
#include "optimized/passes/constant_folding.h"
#include "optimized/passes/cse.h"
#include "optimized/passes/dce.h"
#include "optimized/passes/dynamic_index_splitter.h"
#include "optimized/passes/loop_fusion.h"
#include "optimized/passes/tuple_simplifier.h"
#include "optimized/passes/while_invariant_code_motion.h"
#include "optimized/passes/while_simplifier.h"
#include "spec/base/strings.h"
#include "spec/ops/verifier.h"

namespace assay {
namespace {

template <typename... Passes>
std::vector<std::unique_ptr<Pass>> MakePasses() {
  std::vector<std::unique_ptr<Pass>> passes;
  (passes.push_back(std::make_unique<Passes>()), ...);
  return passes;
}

std::vector<std::unique_ptr<Pass>> Pipeline() {
  return MakePasses<DynamicIndexSplitter, DeadCodeElimination, CallInliner, TupleSimplifier,
                    ConstantFolding, AlgebraicSimplifier, ConditionalSimplifier, WhileSimplifier,
                    TupleSimplifier, ConstantFolding, AlgebraicSimplifier,
                    CommonSubexpressionElimination, WhileInvariantCodeMotion, TupleSimplifier,
                    DeadCodeElimination, LoopFusion, DeadCodeElimination>();
}

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

}  // namespace

absl::Status Optimize(Module& module, Gates& gates, const PipelineOptions& options) {
  if (!options.stop_after_pass.empty()) {
    const std::vector<std::string> names = PassNames();
    if (std::find(names.begin(), names.end(), options.stop_after_pass) == names.end()) {
      return absl::InvalidArgumentError(
          StrCat("no pass is called '", options.stop_after_pass, "'"));
    }
  }
  module.config().is_scheduled = false;
  PassContext context{gates, *options.profile};
  int64_t done = 0;
  for (const std::unique_ptr<Pass>& pass : Pipeline()) {
    if (options.stop_after >= 0 && done >= options.stop_after) break;
    if (!options.fusion && pass->name() == "loop-fusion") continue;
    const absl::StatusOr<bool> changed = pass->Run(module, context);
    if (!changed.ok()) return changed.status();
    ++done;
    if (options.verify_each) {
      if (absl::Status status = Verify(module); !status.ok()) return Broken(pass->name(), status);
    }
    if (options.observer) options.observer(pass->name(), *changed, module);
    if (pass->name() == options.stop_after_pass) break;
  }
  SortInstructions(module);
  return absl::OkStatus();
}

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const std::unique_ptr<Pass>& pass : Pipeline()) names.emplace_back(pass->name());
  return names;
}

}  // namespace assay
