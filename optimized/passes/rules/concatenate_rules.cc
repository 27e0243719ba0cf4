// concatenate: fewer parts.
#include <utility>
#include <vector>

#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

int64_t ConcatDim(const Instruction* concatenate) {
  return concatenate->attributes().Integers(Attr::kDimension)[0];
}

bool SinglePart(Instruction* concatenate, RuleContext& context, std::string_view rule) {
  if (concatenate->operand_count() != 1) return false;
  return ReplaceByExisting(concatenate, concatenate->operand(0), context, rule);
}

bool ReplaceParts(Instruction* concatenate, absl::Span<Instruction* const> parts,
                  RuleContext& context, std::string_view rule) {
  Rewrite rewrite(context.gates, rule, concatenate);
  return rewrite &&
         rewrite.Replace(concatenate->parent()->Add(Opcode::kConcatenate, concatenate->shape(),
                                                    parts, concatenate->attributes()));
}

bool EmptyParts(Instruction* concatenate, RuleContext& context, std::string_view rule) {
  const int64_t dim = ConcatDim(concatenate);
  std::vector<Instruction*> parts;
  for (Instruction* part : concatenate->operands()) {
    if (part->shape().dimension(dim) != 0) parts.push_back(part);
  }
  if (parts.empty() || static_cast<int64_t>(parts.size()) == concatenate->operand_count()) {
    return false;
  }
  return ReplaceParts(concatenate, parts, context, rule);
}

bool NestedParts(Instruction* concatenate, RuleContext& context, std::string_view rule) {
  const int64_t dim = ConcatDim(concatenate);
  constexpr size_t kMostParts = 256;  // repeated operands multiply
  std::vector<Instruction*> parts;
  bool nested = false;
  for (Instruction* part : concatenate->operands()) {
    if (part->opcode() == Opcode::kConcatenate && ConcatDim(part) == dim) {
      parts.insert(parts.end(), part->operands().begin(), part->operands().end());
      nested = true;
    } else {
      parts.push_back(part);
    }
  }
  if (!nested || parts.size() > kMostParts) return false;
  return ReplaceParts(concatenate, parts, context, rule);
}

// `b` continues where `a` ends: both take every element of one array, the same ones in all
// dimensions but `dim`.
bool AreAdjacent(const Instruction* a, const Instruction* b, int64_t dim, const Gates& gates) {
  if (a->opcode() != Opcode::kSlice || b->opcode() != Opcode::kSlice) return false;
  const bool same_size = SameDimensions(a->operand(0)->shape(), b->operand(0)->shape());
  if (!(same_size &&
        gates.Holds("concatenate-adjacent-slices/same-array", a, a->operand(0) == b->operand(0)))) {
    return false;
  }
  const absl::Span<const SliceRange> x = a->attributes().SliceRanges(Attr::kSlice);
  const absl::Span<const SliceRange> y = b->attributes().SliceRanges(Attr::kSlice);
  for (int64_t d = 0; d < static_cast<int64_t>(x.size()); ++d) {
    if (d == dim) {
      if (x[d].stride != 1 || y[d].stride != 1 || x[d].limit != y[d].start) return false;
    } else if (!gates.Holds("concatenate-adjacent-slices/same-elsewhere", a, x[d] == y[d])) {
      return false;
    }
  }
  return true;
}

bool AdjacentSlices(Instruction* concatenate, RuleContext& context, std::string_view rule) {
  const int64_t dim = ConcatDim(concatenate);
  int64_t at = -1;
  for (int64_t i = 0; i + 1 < concatenate->operand_count() && at < 0; ++i) {
    if (AreAdjacent(concatenate->operand(i), concatenate->operand(i + 1), dim, context.gates)) {
      at = i;
    }
  }
  if (at < 0) return false;
  Rewrite rewrite(context.gates, rule, concatenate);
  if (!rewrite) return false;
  Instruction* first = concatenate->operand(at);
  const absl::Span<const SliceRange> ranges = first->attributes().SliceRanges(Attr::kSlice);
  std::vector<SliceRange> merged(ranges.begin(), ranges.end());
  merged[dim].limit =
      concatenate->operand(at + 1)->attributes().SliceRanges(Attr::kSlice)[dim].limit;
  Shape shape = first->shape();
  shape.set_dimension(dim, merged[dim].limit - merged[dim].start);
  std::vector<Instruction*> parts(concatenate->operands().begin(), concatenate->operands().end());
  parts[at] = concatenate->parent()->Add(Opcode::kSlice, shape, {first->operand(0)},
                                         SliceAttr(std::move(merged)));
  parts.erase(parts.begin() + at + 1);
  return rewrite.Replace(concatenate->parent()->Add(Opcode::kConcatenate, concatenate->shape(),
                                                    parts, concatenate->attributes()));
}

constexpr Rule kRules[] = {
    {"concatenate-single", Opcode::kConcatenate, SinglePart, "concatenate of one part -> the part"},
    {"concatenate-empty", Opcode::kConcatenate, EmptyParts, "parts without elements are dropped"},
    {"concatenate-nested", Opcode::kConcatenate, NestedParts,
     "concatenate of concatenates along one dimension -> one"},
    {"concatenate-adjacent-slices", Opcode::kConcatenate, AdjacentSlices,
     "neighbouring slices of one array -> one slice"},
};

}  // namespace

absl::Span<const Rule> ConcatenateRules() { return kRules; }

}  // namespace assay
