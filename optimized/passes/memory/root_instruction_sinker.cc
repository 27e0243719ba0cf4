// Adds a root behind what stands behind the old one.
#include "optimized/passes/memory/root_instruction_sinker.h"

#include <vector>

#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

bool SinkRoot(Computation* computation, Gates& gates) {
  Instruction* root = computation->root();
  if (root == computation->last() || !(root->shape().IsTuple() || root->shape().IsArray()))
    return false;
  if (!gates.Allow(DecisionKind::kRewrite, "sink-root", root)) return false;
  if (root->shape().IsArray()) {
    computation->set_root(computation->Add(Opcode::kBitcast, root->shape(), {root}));
    return true;
  }
  std::vector<Instruction*> elements;
  for (size_t i = 0; i < root->shape().elements().size(); ++i)
    elements.push_back(AddElement(computation, root, static_cast<int64_t>(i)));
  computation->set_root(computation->Add(Opcode::kTuple, root->shape(), elements));
  return true;
}

}  // namespace

absl::StatusOr<bool> RootInstructionSinker::Run(Module& module, PassContext& context) {
  if (!module.has_schedule()) return false;
  bool changed = false;
  for (Computation* computation : module.MakeNonfusionComputations())
    changed |= SinkRoot(computation, context.gates);
  return changed;
}

}  // namespace assay
