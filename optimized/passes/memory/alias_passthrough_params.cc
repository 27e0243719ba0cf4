// Looks for parameters among the results of the entry.
#include "optimized/passes/memory/alias_passthrough_params.h"

#include <algorithm>

namespace assay {
namespace {

// True if neither side has a partner yet.
bool IsFree(const ModuleConfig& config, const ShapeIndex& output, int64_t parameter) {
  return std::none_of(config.input_output_alias.begin(), config.input_output_alias.end(),
                      [&](const InputOutputAlias& alias) {
                        return alias.output_index == output || alias.parameter == parameter;
                      });
}

bool Alias(Module& module, const Instruction* result, const ShapeIndex& output, Gates& gates) {
  if (result->opcode() != Opcode::kParameter || !result->shape().IsArray()) return false;
  const int64_t number = result->parameter_number();
  if (!IsFree(module.config(), output, number)) return false;
  if (!gates.Allow(DecisionKind::kBuffer, "alias-passthrough-parameter", result)) return false;
  module.config().input_output_alias.push_back({output, number, {}, /*must_alias=*/false});
  return true;
}

}  // namespace

absl::StatusOr<bool> AliasPassthroughParams::Run(Module& module, PassContext& context) {
  const Instruction* root = module.entry()->root();
  if (root->opcode() != Opcode::kTuple) return Alias(module, root, {}, context.gates);
  bool changed = false;
  for (int64_t i = 0; i < root->operand_count(); ++i)
    changed |= Alias(module, root->operand(i), {i}, context.gates);
  return changed;
}

}  // namespace assay
