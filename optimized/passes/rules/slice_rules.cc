// Slices of what moves data: the start, stride and size are carried through.
#include <algorithm>
#include <utility>
#include <vector>

#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/dynamic_index.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

bool IsEmpty(const Instruction* inst) { return inst->shape().ElementCount() == 0; }

absl::Span<const SliceRange> Ranges(const Instruction* slice) {
  return slice->attributes().SliceRanges(Attr::kSlice);
}

// With the same size in every dimension there is nothing left to skip.
bool TrivialSlice(Instruction* slice, RuleContext& context, std::string_view rule) {
  return ReplaceByExisting(slice, slice->operand(0), context, rule);
}

bool SliceOfSlice(Instruction* slice, RuleContext& context, std::string_view rule) {
  Instruction* inner = slice->operand(0);
  if (inner->opcode() != Opcode::kSlice) return false;
  std::vector<SliceRange> merged;
  for (int64_t d = 0; d < slice->shape().rank(); ++d) {
    const SliceRange& in = Ranges(inner)[d];
    const SliceRange& out = Ranges(slice)[d];
    const int64_t size = slice->shape().dimension(d);
    int64_t stride = 1;
    if (size > 1 && __builtin_mul_overflow(in.stride, out.stride, &stride)) return false;
    // An empty range may begin behind the end of the inner slice, where its stride leads too far.
    const int64_t start = size == 0 ? in.start : in.start + out.start * in.stride;
    merged.push_back(TightRange(start, stride, size));
  }
  return RewriteTo(slice, context, rule, Opcode::kSlice, {inner->operand(0)},
                   SliceAttr(std::move(merged)));
}

bool SliceOfDynamicSlice(Instruction* slice, RuleContext& context, std::string_view rule) {
  Instruction* inner = slice->operand(0);
  if (inner->opcode() != Opcode::kDynamicSlice || IsEmpty(slice)) return false;
  for (const SliceRange& range : Ranges(slice)) {
    if (!context.gates.Holds("slice-of-dynamic-slice/unit-strides", slice, range.stride == 1)) {
      return false;
    }
  }
  DynamicIndex index(inner);
  for (int64_t d = 0; d < slice->shape().rank(); ++d) {
    index.AddOffset(d, Ranges(slice)[d].start, slice->shape().dimension(d));
  }
  Rewrite rewrite(context.gates, rule, slice);
  return rewrite && rewrite.Replace(index.BuildSlice(slice->shape()));
}

bool SliceOfConcatenate(Instruction* slice, RuleContext& context, std::string_view rule) {
  Instruction* concatenate = slice->operand(0);
  if (concatenate->opcode() != Opcode::kConcatenate || IsEmpty(slice)) return false;
  const int64_t dim = concatenate->attributes().Integers(Attr::kDimension)[0];
  std::vector<SliceRange> ranges(Ranges(slice).begin(), Ranges(slice).end());
  SliceRange& range = ranges[dim];
  range = TightRange(range.start, range.stride, slice->shape().dimension(dim));
  for (Instruction* part : concatenate->operands()) {
    const int64_t size = part->shape().dimension(dim);
    if (range.start < size) {
      if (range.limit > size) return false;  // reaches into the next part
      return RewriteTo(slice, context, rule, Opcode::kSlice, {part}, SliceAttr(std::move(ranges)));
    }
    range.start -= size;
    range.limit -= size;
  }
  return false;
}

// The slice sees only the operand of the pad.
bool SliceOfPad(Instruction* slice, RuleContext& context, std::string_view rule) {
  Instruction* pad = slice->operand(0);
  if (pad->opcode() != Opcode::kPad || IsEmpty(slice)) return false;
  std::vector<SliceRange> ranges;
  for (int64_t d = 0; d < slice->shape().rank(); ++d) {
    const PaddingDim& padding = pad->attributes().Padding(Attr::kPadding)[d];
    const SliceRange& range = Ranges(slice)[d];
    SliceRange moved =
        TightRange(range.start - padding.low, range.stride, slice->shape().dimension(d));
    if (!context.gates.Holds("slice-of-pad/no-interior", slice, padding.interior == 0) ||
        moved.start < 0 || moved.limit > pad->operand(0)->shape().dimension(d)) {
      return false;
    }
    ranges.push_back(moved);
  }
  return RewriteTo(slice, context, rule, Opcode::kSlice, {pad->operand(0)},
                   SliceAttr(std::move(ranges)));
}

// In some dimension the slice lies wholly before or behind the operand of the pad.
bool SliceOfPadding(Instruction* slice, RuleContext& context, std::string_view rule) {
  Instruction* pad = slice->operand(0);
  if (pad->opcode() != Opcode::kPad || IsEmpty(slice)) return false;
  bool outside = false;
  for (int64_t d = 0; d < slice->shape().rank(); ++d) {
    const PaddingDim& padding = pad->attributes().Padding(Attr::kPadding)[d];
    const SliceRange range =
        TightRange(Ranges(slice)[d].start, Ranges(slice)[d].stride, slice->shape().dimension(d));
    const int64_t size = pad->operand(0)->shape().dimension(d);
    const int64_t holes = context.gates.Number("slice-of-padding/holes", slice,
                                               std::max<int64_t>(size - 1, 0) * padding.interior);
    const int64_t low = context.gates.Number("slice-of-padding/low-edge", slice, padding.low);
    outside |= range.limit <= low || range.start >= padding.low + size + holes;
  }
  if (!context.gates.Holds("slice-of-padding/outside", slice, outside)) return false;
  Rewrite rewrite(context.gates, rule, slice);
  return rewrite && rewrite.Replace(slice->parent()->Add(Opcode::kBroadcast, slice->shape(),
                                                         {pad->operand(1)}, DimensionsAttr({})));
}

// Every dimension that is cut is one that the broadcast repeats.
bool SliceOfBroadcast(Instruction* slice, RuleContext& context, std::string_view rule) {
  Instruction* broadcast = slice->operand(0);
  if (broadcast->opcode() != Opcode::kBroadcast) return false;
  const absl::Span<const int64_t> dims = broadcast->attributes().Integers(Attr::kDimensions);
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    if (slice->shape().dimension(dims[i]) != broadcast->operand(0)->shape().dimension(i)) {
      return false;
    }
  }
  return RewriteTo(slice, context, rule, Opcode::kBroadcast, {broadcast->operand(0)},
                   DimensionsAttr(dims));
}

bool SliceOfReverse(Instruction* slice, RuleContext& context, std::string_view rule) {
  Instruction* reverse = slice->operand(0);
  if (reverse->opcode() != Opcode::kReverse || IsEmpty(slice)) return false;
  std::vector<SliceRange> ranges(Ranges(slice).begin(), Ranges(slice).end());
  for (int64_t d : reverse->attributes().Integers(Attr::kDimensions)) {
    const int64_t size = slice->shape().dimension(d);
    const int64_t stride = context.gates.Number("slice-of-reverse/stride", slice, ranges[d].stride);
    const int64_t last = ranges[d].start + (size - 1) * stride;
    ranges[d] = TightRange(reverse->shape().dimension(d) - 1 - last, ranges[d].stride, size);
  }
  Rewrite rewrite(context.gates, rule, slice);
  if (!rewrite) return false;
  Instruction* moved = slice->parent()->Add(Opcode::kSlice, slice->shape(), {reverse->operand(0)},
                                            SliceAttr(std::move(ranges)));
  return ReplaceByNew(rewrite, slice, Opcode::kReverse, {moved}, reverse->attributes());
}

bool SliceOfTranspose(Instruction* slice, RuleContext& context, std::string_view rule) {
  Instruction* transpose = slice->operand(0);
  if (transpose->opcode() != Opcode::kTranspose || !transpose->HasOneUse()) return false;
  const absl::Span<const int64_t> permutation = transpose->attributes().Integers(Attr::kDimensions);
  std::vector<SliceRange> ranges(permutation.size());
  std::vector<int64_t> sizes(permutation.size());
  for (size_t d = 0; d < permutation.size(); ++d) {
    ranges[permutation[d]] = Ranges(slice)[d];
    sizes[permutation[d]] = slice->shape().dimension(d);
  }
  Rewrite rewrite(context.gates, rule, slice);
  if (!rewrite) return false;
  Instruction* cut =
      slice->parent()->Add(Opcode::kSlice, Shape::Array(slice->shape().element_type(), sizes),
                           {transpose->operand(0)}, SliceAttr(std::move(ranges)));
  return ReplaceByNew(rewrite, slice, Opcode::kTranspose, {cut}, transpose->attributes());
}

constexpr Rule kRules[] = {
    {"trivial-slice", Opcode::kSlice, TrivialSlice, "slice of everything -> operand"},
    {"slice-of-slice", Opcode::kSlice, SliceOfSlice, "two slices -> one"},
    {"slice-of-dynamic-slice", Opcode::kSlice, SliceOfDynamicSlice,
     "slice(dynamic-slice(x, i)) -> dynamic-slice(x, clamp(i) + start)"},
    {"slice-of-concatenate", Opcode::kSlice, SliceOfConcatenate,
     "slice inside one part of a concatenate -> slice of the part"},
    {"slice-of-pad", Opcode::kSlice, SliceOfPad,
     "slice that sees no padding -> slice of the operand"},
    {"slice-of-padding", Opcode::kSlice, SliceOfPadding,
     "slice that sees only padding -> broadcast of the padding value"},
    {"slice-of-broadcast", Opcode::kSlice, SliceOfBroadcast,
     "slice of repeated dimensions -> smaller broadcast"},
    {"slice-of-reverse", Opcode::kSlice, SliceOfReverse, "slice(reverse(x)) -> reverse(slice(x))"},
    {"slice-of-transpose", Opcode::kSlice, SliceOfTranspose,
     "slice(transpose(x)) -> transpose(slice(x)) when nobody else reads the transpose"},
};

}  // namespace

absl::Span<const Rule> SliceRules() { return kRules; }

}  // namespace assay
