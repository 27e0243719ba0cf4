// Adds up what makes a case hard to read.
#include "fuzz/reduce/cost.h"

#include <cmath>

#include "fuzz/reduce/edit.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

// People read truth values and s32 most easily, then f32.
int64_t TypeCost(ElementType type) {
  switch (type) {
    case ElementType::kPred:
    case ElementType::kS32:
      return 0;
    case ElementType::kF32:
      return 1;
    default:
      return 2;
  }
}

int64_t ElementCost(const Literal& literal, int64_t i) {
  if (IsFloat(literal.element_type())) {
    double value = literal.GetDouble(i);
    if (value == 0) return std::signbit(value) ? 4 : 0;
    if (std::isnan(value)) return 6;
    if (value == 1) return 1;
    if (std::trunc(value) != value) return 5;
    return std::abs(value) <= 16 ? 2 : std::isinf(value) ? 5 : 4;
  }
  if (IsComplex(literal.element_type())) return 6;
  int64_t value = literal.GetInteger(i);
  if (value == 0 || value == 1) return value;
  return value > 0 && value <= 16 ? 2 : value >= -16 && value < 0 ? 3 : 4;
}

int64_t ValueCost(const Literal& literal) {
  int64_t cost = 0;
  for (int64_t i = 0; i < literal.element_count(); ++i) cost += ElementCost(literal, i);
  for (const Literal& element : literal.elements()) cost += ValueCost(element);
  return cost;
}

int64_t AttributeCost(const Instruction& instruction) {
  int64_t cost = 0;
  for (const SliceRange& r : instruction.attributes().SliceRanges(Attr::kSlice)) {
    cost += (r.start != 0) + (r.stride != 1);
  }
  for (const PaddingDim& p : instruction.attributes().Padding(Attr::kPadding)) {
    cost += 2 * (p.low != 0) + (p.high != 0) + 2 * (p.interior != 0);
  }
  for (const WindowDim& w : instruction.attributes().Window(Attr::kWindow)) {
    cost += (w.stride != 1) + 2 * (w.low != 0) + (w.high != 0) + (w.base_dilation != 1) +
            (w.window_dilation != 1) + w.reversal;
  }
  for (const AttrSpec& spec : Info(instruction.opcode()).attributes)
    cost += spec.presence == AttrSpec::kOptional && instruction.attributes().Has(spec.attr);
  cost += instruction.tuple_index() > 0 ? instruction.tuple_index() : 0;
  for (Attr common :
       {Attr::kSharding, Attr::kFrontendAttributes, Attr::kMetadata, Attr::kStatistics,
        Attr::kResultAccuracy, Attr::kOrigin, Attr::kBackendConfig}) {
    cost += instruction.attributes().Has(common);
  }
  return cost;
}

bool HasCustomLayout(const Instruction& instruction) {
  bool custom = false;
  ForEachLeaf(instruction.shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    custom |= leaf.IsArray() && !leaf.layout().IsRowMajor();
  });
  return custom;
}

int64_t HeaderCost(const ModuleConfig& config) {
  return (config.entry_layout != nullptr) + static_cast<int64_t>(config.input_output_alias.size()) +
         static_cast<int64_t>(config.buffer_donors.size()) + config.is_scheduled +
         static_cast<int64_t>(config.verbatim.size()) + !config.stack_tables.empty();
}

}  // namespace

ReduceCost CostOf(const ReduceCase& reduce_case) {
  ReduceCost cost;
  cost.header = HeaderCost(reduce_case.module->config());
  for (const Computation* computation : reduce_case.module->computations()) {
    ++cost.computations;
    for (const Instruction* at : *computation) {
      ++cost.instructions;
      cost.computed += !IsLeaf(at);
      cost.attributes += AttributeCost(*at) + HasCustomLayout(*at);
      ForEachLeaf(at->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
        if (!leaf.IsArray()) return;
        cost.elements += leaf.ElementCount();
        cost.ranks += leaf.rank();
        cost.types += TypeCost(leaf.element_type());
      });
      if (at->literal() != nullptr) cost.values += ValueCost(*at->literal());
    }
  }
  for (const Literal& input : reduce_case.inputs) cost.values += ValueCost(input);
  return cost;
}

}  // namespace assay
