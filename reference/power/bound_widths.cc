// A run in bound mode that watches how wide the bounds of every result are.
#include "reference/power/bound_widths.h"

#include <algorithm>
#include <cmath>

#include "reference/bounds/elements.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"
#include "spec/numerics/element_sizes.h"

namespace assay::reference {
namespace {

// Takes the bounds of one array into `width`.
void Include(const Array& array, Width& width) {
  const ElementType type = array.literal.element_type();
  const int64_t count = array.literal.element_count(), parts = BoundsPerElement(type);
  width.elements = std::max(width.elements, count);
  int64_t undecided = 0;
  if (array.Certain()) return;
  for (int64_t i = 0; i < count; ++i) undecided += IsUndecided(array, i) ? 1 : 0;
  width.undecided = std::max(width.undecided, undecided);
  width.useless = width.useless || undecided > 0;
  if (parts == 0 || array.facts().bounds.empty()) return;
  const double scale = RootMeanSquare(array.literal);
  const int significand =
      std::min(Format(ComponentType(type)).precision(), array.facts().significand);
  const double limit = std::exp2(-significand / 3.0);
  for (const ElementBound& bound : array.facts().bounds) {
    if ((bound.flags & (kForced | kUndecided | kNotFinite)) != 0 || bound.radius == 0) continue;
    width.relative = std::max(width.relative, bound.radius / scale);
    const double counted = bound.has_known_terms()
                               ? bound.magnitude()
                               : std::min(bound.magnitude(), kMostMagnitude * scale);
    width.useless =
        width.useless || bound.radius > limit * std::max(counted, std::fabs(bound.centre));
  }
}

void IncludeLeaves(const Value& value, Width& width) {
  if (!value.IsTuple()) return Include(*value.array, width);
  for (const Value& element : value.elements) IncludeLeaves(element, width);
}

}  // namespace

absl::StatusOr<Widths> MeasureWidths(const Module& module,
                                     const std::vector<const Literal*>& arguments,
                                     const Profile& profile, const Limits& limits) {
  Budget budget(limits);
  Interpreter interpreter(budget, &profile);
  Widths widths;
  absl::flat_hash_map<const Instruction*, size_t> place;
  interpreter.set_watch([&](const Instruction& instruction, const Value& value) {
    auto [at, is_new] = place.emplace(&instruction, widths.instructions.size());
    if (is_new) widths.instructions.push_back({&instruction});
    Width& width = widths.instructions[at->second];
    IncludeLeaves(value, width);
    for (const Instruction* operand : instruction.operands()) {
      auto known = place.find(operand);
      if (known == place.end()) continue;
      width.of_operands = std::max(width.of_operands, widths.instructions[known->second].relative);
    }
  });
  std::vector<Value> values;
  for (const Literal* argument : arguments)
    values.push_back(MakeValue(*argument, interpreter.memory()));
  const absl::StatusOr<Value> value = interpreter.Run(*module.entry(), values);
  if (IsInconclusive(value.status())) {
    widths.inconclusive = std::string(ToStd(value.status().message()));
  } else if (!value.ok()) {
    return value.status();
  }
  return widths;
}

}  // namespace assay::reference
