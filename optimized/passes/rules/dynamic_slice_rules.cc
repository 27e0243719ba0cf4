// dynamic-slice and dynamic-update-slice. Every start is clamped with the bound of its own level.
#include <algorithm>
#include <utility>
#include <vector>

#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/dynamic_index.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

bool SameStarts(const Instruction* a, const Instruction* b) {
  const absl::Span<Instruction* const> x = StartIndices(a), y = StartIndices(b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), SameValue);
}

bool FullDynamicSlice(Instruction* slice, RuleContext& context, std::string_view rule) {
  return ReplaceByExisting(slice, slice->operand(0), context, rule);
}

bool ConstantDynamicSlice(Instruction* slice, RuleContext& context, std::string_view rule) {
  const std::optional<std::vector<int64_t>> starts = ConstantStarts(slice);
  if (!starts) return false;
  std::vector<SliceRange> ranges;
  for (int64_t d = 0; d < slice->shape().rank(); ++d) {
    const int64_t start = context.gates.Number("ds-constant-start/start", slice, (*starts)[d]);
    ranges.push_back(TightRange(start, 1, slice->shape().dimension(d)));
  }
  return RewriteTo(slice, context, rule, Opcode::kSlice, {slice->operand(0)},
                   SliceAttr(std::move(ranges)));
}

bool DynamicSliceOfDynamicSlice(Instruction* slice, RuleContext& context, std::string_view rule) {
  Instruction* inner = slice->operand(0);
  if (inner->opcode() != Opcode::kDynamicSlice) return false;
  DynamicIndex index(inner);
  for (int64_t d = 0; d < slice->shape().rank(); ++d) {
    index.AddIndex(d, StartIndices(slice)[d], slice->shape().dimension(d));
  }
  Rewrite rewrite(context.gates, rule, slice);
  return rewrite && rewrite.Replace(index.BuildSlice(slice->shape()));
}

// dynamic-slice(slice(x), i) -> dynamic-slice(x, start + clamp(i)), for stride 1.
bool DynamicSliceOfSlice(Instruction* slice, RuleContext& context, std::string_view rule) {
  Instruction* inner = slice->operand(0);
  if (inner->opcode() != Opcode::kSlice) return false;
  for (const SliceRange& range : inner->attributes().SliceRanges(Attr::kSlice)) {
    if (!context.gates.Holds("ds-of-slice/unit-strides", slice, range.stride == 1)) return false;
  }
  Rewrite rewrite(context.gates, rule, slice);
  if (!rewrite) return false;
  // Starts are summed as for two dynamic slices, of which the inner one has constant starts.
  Computation* computation = slice->parent();
  std::vector<Instruction*> operands = {inner->operand(0)};
  for (const SliceRange& range : inner->attributes().SliceRanges(Attr::kSlice)) {
    operands.push_back(AddScalarInteger(computation, ElementType::kS64, range.start));
  }
  Instruction* dynamic =
      computation->Add(Opcode::kDynamicSlice, inner->shape(), operands,
                       Attributes().Set(Attr::kDynamicSliceSizes, inner->shape().dimensions()));
  DynamicIndex index(dynamic);
  for (int64_t d = 0; d < slice->shape().rank(); ++d) {
    index.AddIndex(d, StartIndices(slice)[d], slice->shape().dimension(d));
  }
  Instruction* merged = index.BuildSlice(slice->shape());
  computation->RemoveWithDeadOperands(dynamic);
  return rewrite.Replace(merged);
}

// An update that was just written is read back: both clamp the same starts with the same bound.
bool DynamicSliceOfUpdate(Instruction* slice, RuleContext& context, std::string_view rule) {
  Instruction* update = slice->operand(0);
  if (update->opcode() != Opcode::kDynamicUpdateSlice ||
      !context.gates.Holds("ds-of-dus/same-starts", slice, SameStarts(slice, update))) {
    return false;
  }
  return ReplaceByExisting(slice, update->operand(1), context, rule);
}

bool FullUpdate(Instruction* update, RuleContext& context, std::string_view rule) {
  if (!SameDimensions(update->operand(0)->shape(), update->operand(1)->shape())) return false;
  return ReplaceByExisting(update, update->operand(1), context, rule);
}

bool EmptyUpdate(Instruction* update, RuleContext& context, std::string_view rule) {
  const bool empty = update->operand(1)->shape().ElementCount() == 0;
  if (!context.gates.Holds("dus-empty/no-elements", update, empty)) return false;
  return ReplaceByExisting(update, update->operand(0), context, rule);
}

// The first update is overwritten in full by the second.
bool UpdateOfUpdate(Instruction* update, RuleContext& context, std::string_view rule) {
  Instruction* inner = update->operand(0);
  if (inner->opcode() != Opcode::kDynamicUpdateSlice ||
      !context.gates.Holds("dus-of-dus/same-starts", update, SameStarts(update, inner)) ||
      !context.gates.Holds(
          "dus-of-dus/same-sizes", update,
          SameDimensions(update->operand(1)->shape(), inner->operand(1)->shape()))) {
    return false;
  }
  Rewrite rewrite(context.gates, rule, update);
  if (!rewrite) return false;
  std::vector<Instruction*> operands(update->operands().begin(), update->operands().end());
  operands[0] = inner->operand(0);
  return rewrite.Replace(
      update->parent()->Add(Opcode::kDynamicUpdateSlice, update->shape(), operands));
}

// Writing back what lies there: the slice reads with the same starts and the same bound.
bool UpdateWithOwnSlice(Instruction* update, RuleContext& context, std::string_view rule) {
  Instruction* slice = update->operand(1);
  if (slice->opcode() != Opcode::kDynamicSlice ||
      !context.gates.Holds("dus-of-own-slice/same-array", update,
                           slice->operand(0) == update->operand(0)) ||
      !context.gates.Holds("dus-of-own-slice/same-starts", update, SameStarts(update, slice))) {
    return false;
  }
  return ReplaceByExisting(update, update->operand(0), context, rule);
}

constexpr Rule kRules[] = {
    {"ds-full-size", Opcode::kDynamicSlice, FullDynamicSlice, "dynamic-slice of all -> operand"},
    {"ds-constant-start", Opcode::kDynamicSlice, ConstantDynamicSlice,
     "dynamic-slice at constant starts -> slice at the clamped starts"},
    {"ds-of-ds", Opcode::kDynamicSlice, DynamicSliceOfDynamicSlice,
     "two dynamic slices -> one at the sum of the clamped starts"},
    {"ds-of-slice", Opcode::kDynamicSlice, DynamicSliceOfSlice,
     "dynamic-slice(slice(x), i) -> dynamic-slice(x, start + clamp(i))"},
    {"ds-of-dus", Opcode::kDynamicSlice, DynamicSliceOfUpdate,
     "dynamic-slice of what was just written there -> the update"},
    {"dus-full-size", Opcode::kDynamicUpdateSlice, FullUpdate, "update of all -> update"},
    {"dus-empty", Opcode::kDynamicUpdateSlice, EmptyUpdate, "update of nothing -> operand"},
    {"dus-of-dus", Opcode::kDynamicUpdateSlice, UpdateOfUpdate,
     "an update that is overwritten in full is dropped"},
    {"dus-of-own-slice", Opcode::kDynamicUpdateSlice, UpdateWithOwnSlice,
     "writing back what was read there -> operand"},
};

}  // namespace

absl::Span<const Rule> DynamicSliceRules() { return kRules; }

}  // namespace assay
