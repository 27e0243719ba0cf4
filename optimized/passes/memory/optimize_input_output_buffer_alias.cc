// Pairs outputs with donated parameters of the same shape, in order.
#include "optimized/passes/memory/optimize_input_output_buffer_alias.h"

#include <algorithm>
#include <vector>

namespace assay {
namespace {

const Shape& SubShape(const Shape& shape, const ShapeIndex& index) {
  const Shape* at = &shape;
  for (int64_t i : index) at = &at->elements()[i];
  return *at;
}

}  // namespace

absl::StatusOr<bool> OptimizeInputOutputBufferAlias::Run(Module& module, PassContext& context) {
  ModuleConfig& config = module.config();
  const Computation& entry = *module.entry();
  std::vector<ShapeIndex> outputs;
  ForEachLeaf(entry.root()->shape(), [&](const Shape& leaf, absl::Span<const int64_t> index) {
    const ShapeIndex output(index.begin(), index.end());
    const bool is_taken =
        std::any_of(config.input_output_alias.begin(), config.input_output_alias.end(),
                    [&](const InputOutputAlias& alias) { return alias.output_index == output; });
    if (leaf.IsArray() && !is_taken) outputs.push_back(output);
  });
  bool changed = false;
  for (const ShapeIndex& output : outputs) {
    // A donor that has found its output is a donor no more.
    const auto donor = std::find_if(
        config.buffer_donors.begin(), config.buffer_donors.end(), [&](const BufferDonor& d) {
          return SubShape(entry.parameter(d.parameter)->shape(), d.parameter_index) ==
                 SubShape(entry.root()->shape(), output);
        });
    if (donor == config.buffer_donors.end()) continue;
    if (!context.gates.Allow(DecisionKind::kBuffer, "alias-donated-parameter",
                             entry.parameter(donor->parameter))) {
      continue;
    }
    config.input_output_alias.push_back({output, donor->parameter, donor->parameter_index,
                                         /*must_alias=*/false});
    config.buffer_donors.erase(donor);
    changed = true;
  }
  return changed;
}

}  // namespace assay
