// One op at a time, by its row.
#include "reference/interpreter/folding/constant_folder.h"

#include "reference/interpreter/dynamic_shapes.h"

namespace assay::reference {
namespace {

// Compilers fold small values; the constants of a program are evaluated once more when it runs.
constexpr Limits kFoldingLimits{
    .seconds = 60, .memory_bytes = int64_t{1} << 30, .steps = int64_t{1} << 26};

}  // namespace

ConstantFolder::ConstantFolder() : budget_(kFoldingLimits), interpreter_(budget_, nullptr) {}

std::optional<Value> ConstantFolder::Evaluate(const Instruction& instruction, const Shape& shape,
                                              absl::Span<const Value* const> operands) {
  const Evaluation how = EvaluationOf(instruction);
  if (how.general == nullptr || TouchesDynamic(instruction)) return std::nullopt;
  absl::StatusOr<Value> value = interpreter_.Apply(
      how, OpContext{instruction, shape, operands, ClauseSet(), interpreter_.analysis()});
  if (!value.ok()) return std::nullopt;
  return *std::move(value);
}

}  // namespace assay::reference
