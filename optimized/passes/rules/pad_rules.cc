// pad: merging, and what a pad that adds nothing or only takes away amounts to.
#include <algorithm>
#include <utility>
#include <vector>

#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

absl::Span<const PaddingDim> Padding(const Instruction* pad) {
  return pad->attributes().Padding(Attr::kPadding);
}

bool TrivialPad(Instruction* pad, RuleContext& context, std::string_view rule) {
  // Equal sizes are not enough: low and high may cancel.
  for (int64_t d = 0; d < pad->shape().rank(); ++d) {
    const PaddingDim& padding = Padding(pad)[d];
    const bool at_rest = padding.low == 0 && padding.high == 0;
    if (!context.gates.Holds("trivial-pad/edges-zero", pad, at_rest)) return false;
    const bool no_holes = padding.interior == 0 || pad->operand(0)->shape().dimension(d) <= 1;
    if (!context.gates.Holds("trivial-pad/no-interior", pad, no_holes)) return false;
  }
  return ReplaceByExisting(pad, pad->operand(0), context, rule);
}

bool NegativePad(Instruction* pad, RuleContext& context, std::string_view rule) {
  std::vector<SliceRange> ranges;
  for (int64_t d = 0; d < pad->shape().rank(); ++d) {
    const PaddingDim& padding = Padding(pad)[d];
    const int64_t size = pad->operand(0)->shape().dimension(d);
    if (padding.low > 0 || padding.high > 0 || (padding.interior != 0 && size > 1)) return false;
    ranges.push_back(SliceRange{-padding.low, size + padding.high, 1});
  }
  return RewriteTo(pad, context, rule, Opcode::kSlice, {pad->operand(0)},
                   SliceAttr(std::move(ranges)));
}

// An inner edge that takes away followed by an outer one that adds must not bring back what was
// cut.
bool EdgesMerge(const PaddingDim& inner, const PaddingDim& outer) {
  return (inner.low >= 0 || outer.low <= 0) && (inner.high >= 0 || outer.high <= 0);
}

bool PadOfPad(Instruction* pad, RuleContext& context, std::string_view rule) {
  Instruction* inner = pad->operand(0);
  if (inner->opcode() != Opcode::kPad ||
      !context.gates.Holds("pad-of-pad/same-value", pad,
                           SameValue(pad->operand(1), inner->operand(1)))) {
    return false;
  }
  std::vector<PaddingDim> merged;
  for (int64_t d = 0; d < pad->shape().rank(); ++d) {
    const PaddingDim& in = Padding(inner)[d];
    const PaddingDim& out = Padding(pad)[d];
    if (out.interior != 0 ||
        !context.gates.Holds("pad-of-pad/edges-merge", pad, EdgesMerge(in, out))) {
      return false;
    }
    merged.push_back(PaddingDim{in.low + out.low, in.high + out.high, in.interior});
  }
  return RewriteTo(pad, context, rule, Opcode::kPad, {inner->operand(0), pad->operand(1)},
                   Attributes().Set(Attr::kPadding, AttrValue(std::move(merged))));
}

bool PadOfEmpty(Instruction* pad, RuleContext& context, std::string_view rule) {
  const bool empty = pad->operand(0)->shape().ElementCount() == 0;
  if (!context.gates.Holds("pad-of-empty/no-elements", pad, empty) || pad->shape().rank() == 0) {
    return false;
  }
  return RewriteTo(pad, context, rule, Opcode::kBroadcast, {pad->operand(1)}, DimensionsAttr({}));
}

// The operand repeats the very value it is padded with.
bool PadOfSplat(Instruction* pad, RuleContext& context, std::string_view rule) {
  Instruction* broadcast = pad->operand(0);
  if (broadcast->opcode() != Opcode::kBroadcast ||
      !context.gates.Holds("pad-of-splat/same-value", pad,
                           SameValue(broadcast->operand(0), pad->operand(1)))) {
    return false;
  }
  return RewriteTo(pad, context, rule, Opcode::kBroadcast, {pad->operand(1)}, DimensionsAttr({}));
}

constexpr Rule kRules[] = {
    {"trivial-pad", Opcode::kPad, TrivialPad, "pad by nothing -> operand"},
    {"negative-pad", Opcode::kPad, NegativePad, "pad that only takes away -> slice"},
    {"pad-of-pad", Opcode::kPad, PadOfPad, "two pads with one value -> one"},
    {"pad-of-empty", Opcode::kPad, PadOfEmpty, "pad of no elements -> broadcast of the value"},
    {"pad-of-splat", Opcode::kPad, PadOfSplat,
     "pad of a broadcast with its own value -> broadcast"},
};

}  // namespace

absl::Span<const Rule> PadRules() { return kRules; }

}  // namespace assay
