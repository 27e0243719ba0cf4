// dot and reduce.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

// Moves the dimension lists of one side of a dot through the transpose that makes that operand.
// Empty if the dimensions that stay would come out in another order.
std::optional<Attributes> ThroughTranspose(const Instruction* dot, int64_t side) {
  const Attr batch_attr = side == 0 ? Attr::kLhsBatchDims : Attr::kRhsBatchDims;
  const Attr contracting_attr = side == 0 ? Attr::kLhsContractingDims : Attr::kRhsContractingDims;
  const absl::Span<const int64_t> permutation =
      dot->operand(side)->attributes().Integers(Attr::kDimensions);
  std::vector<bool> listed(permutation.size(), false);
  Attributes attributes = dot->attributes();
  for (Attr attr : {batch_attr, contracting_attr}) {
    std::vector<int64_t> moved;
    for (int64_t d : dot->attributes().Integers(attr)) {
      listed[d] = true;
      moved.push_back(permutation[d]);
    }
    if (dot->attributes().Has(attr)) attributes.Set(attr, absl::MakeConstSpan(moved));
  }
  int64_t last = -1;
  for (size_t d = 0; d < permutation.size(); ++d) {
    if (listed[d]) continue;
    if (permutation[d] < last) return std::nullopt;
    last = permutation[d];
  }
  return attributes;
}

bool DotOfTranspose(Instruction* dot, RuleContext& context, std::string_view rule) {
  for (int64_t side = 0; side < 2; ++side) {
    if (dot->operand(side)->opcode() != Opcode::kTranspose) continue;
    std::optional<Attributes> attributes = ThroughTranspose(dot, side);
    if (!attributes) continue;
    Instruction* operands[2] = {dot->operand(0), dot->operand(1)};
    operands[side] = operands[side]->operand(0);
    if (RewriteTo(dot, context, rule, Opcode::kDot, {operands[0], operands[1]},
                  *std::move(attributes))) {
      return true;
    }
  }
  return false;
}

bool DotOfNothing(Instruction* dot, RuleContext& context, std::string_view rule) {
  const ElementType type = dot->shape().element_type();
  if (IsComplex(type) || dot->operand_count() != 2 || dot->shape().ElementCount() == 0) {
    return false;
  }
  bool empty = false;
  for (int64_t d : dot->attributes().Integers(Attr::kLhsContractingDims)) {
    empty |= dot->operand(0)->shape().dimension(d) == 0;
  }
  if (!context.gates.Holds("dot-of-nothing/empty", dot, empty)) return false;
  Rewrite rewrite(context.gates, rule, dot);
  return rewrite && rewrite.Replace(AddSplatInteger(dot->parent(), dot->shape(), 0));
}

absl::Span<const int64_t> ReducedDims(const Instruction* reduce) {
  return reduce->attributes().Integers(Attr::kDimensions);
}

// combiner(init, x) is x for every x.
bool IsIdentity(const Instruction* init, Opcode combiner) {
  const ElementType type = init->shape().element_type();
  const std::optional<int64_t> integer = SplatInteger(init);
  const std::optional<double> real = SplatFloat(init);
  const double infinity = std::numeric_limits<double>::infinity();
  switch (combiner) {
    case Opcode::kAdd:
      return IsFloat(type) ? IsSplat(init, -0.0) : IsInteger(type) && integer == 0;
    case Opcode::kMultiply:
      return !IsPred(type) && IsSplat(init, 1.0);
    case Opcode::kMaximum:
      if (real) return *real == -infinity;
      return integer == MinInteger(type);
    case Opcode::kMinimum:
      if (real) return *real == infinity;
      return type == ElementType::kU64 ? integer == -1 : integer == MaxInteger(type);
    case Opcode::kOr:
    case Opcode::kXor:
      return integer == 0;
    case Opcode::kAnd:
      return IsPred(type) && integer == 1;
    default:
      return false;
  }
}

// One element per result: combiner(init, x).
bool ReduceUnitDims(Instruction* reduce, RuleContext& context, std::string_view rule) {
  const std::optional<Opcode> combiner = RecognisedCombiner(reduce->callee());
  if (reduce->operand_count() != 2 || !combiner ||
      !context.gates.Holds("reduce-unit-dims/identity", reduce,
                           IsIdentity(reduce->operand(1), *combiner)) ||
      reduce->operand(0)->shape().element_type() != reduce->shape().element_type()) {
    return false;
  }
  for (int64_t d : ReducedDims(reduce)) {
    if (reduce->operand(0)->shape().dimension(d) != 1) return false;
  }
  return RewriteTo(reduce, context, rule, Opcode::kReshape, {reduce->operand(0)});
}

bool ReduceOfNothing(Instruction* reduce, RuleContext& context, std::string_view rule) {
  const bool empty = reduce->operand(0)->shape().ElementCount() == 0;
  if (reduce->operand_count() != 2 ||
      !context.gates.Holds("reduce-of-nothing/no-elements", reduce, empty) ||
      reduce->shape().ElementCount() == 0 ||
      reduce->operand(1)->shape().element_type() != reduce->shape().element_type()) {
    return false;
  }
  Rewrite rewrite(context.gates, rule, reduce);
  return rewrite &&
         rewrite.Replace(AddSplat(reduce->parent(), reduce->shape(), reduce->operand(1)));
}

// The elements of a recognised combiner may come in any order, so only the order of what stays
// matters.
bool ReduceOfTranspose(Instruction* reduce, RuleContext& context, std::string_view rule) {
  Instruction* transpose = reduce->operand(0);
  if (reduce->operand_count() != 2 || transpose->opcode() != Opcode::kTranspose ||
      !RecognisedCombiner(reduce->callee())) {
    return false;
  }
  const absl::Span<const int64_t> permutation = transpose->attributes().Integers(Attr::kDimensions);
  std::vector<bool> reduced(permutation.size(), false);
  std::vector<int64_t> dims;
  for (int64_t d : ReducedDims(reduce)) {
    reduced[d] = true;
    dims.push_back(permutation[d]);
  }
  int64_t last = -1;
  for (size_t d = 0; d < permutation.size(); ++d) {
    if (reduced[d]) continue;
    if (permutation[d] < last) return false;
    last = permutation[d];
  }
  std::sort(dims.begin(), dims.end());
  Rewrite rewrite(context.gates, rule, reduce);
  return rewrite &&
         rewrite.Replace(reduce->parent()->Add(
             Opcode::kReduce, reduce->shape(), {transpose->operand(0), reduce->operand(1)},
             Attributes(reduce->attributes()).Set(Attr::kDimensions, absl::MakeConstSpan(dims)),
             reduce->callees()));
}

// Two reductions by one combiner that starts from its identity -> one. Not for floats, whose error
// bound would grow.
bool ReduceOfReduce(Instruction* reduce, RuleContext& context, std::string_view rule) {
  Instruction* inner = reduce->operand(0);
  if (reduce->operand_count() != 2 || inner->opcode() != Opcode::kReduce ||
      inner->operand_count() != 2 || IsFloat(reduce->shape().element_type()) ||
      IsComplex(reduce->shape().element_type())) {
    return false;
  }
  const std::optional<Opcode> combiner = RecognisedCombiner(reduce->callee());
  if (!combiner ||
      !context.gates.Holds("reduce-of-reduce/same-combiner", reduce,
                           RecognisedCombiner(inner->callee()) == combiner) ||
      !context.gates.Holds("reduce-of-reduce/identity", reduce,
                           IsIdentity(inner->operand(1), *combiner)) ||
      inner->operand(0)->shape().element_type() != reduce->shape().element_type()) {
    return false;
  }
  std::vector<int64_t> dims(ReducedDims(inner).begin(), ReducedDims(inner).end());
  std::vector<int64_t> kept;  // dimensions of the innermost operand that the inner reduce leaves
  for (int64_t d = 0; d < inner->operand(0)->shape().rank(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) kept.push_back(d);
  }
  for (int64_t d : ReducedDims(reduce)) dims.push_back(kept[d]);
  std::sort(dims.begin(), dims.end());
  Rewrite rewrite(context.gates, rule, reduce);
  return rewrite &&
         rewrite.Replace(reduce->parent()->Add(
             Opcode::kReduce, reduce->shape(), {inner->operand(0), reduce->operand(1)},
             Attributes(reduce->attributes()).Set(Attr::kDimensions, absl::MakeConstSpan(dims)),
             reduce->callees()));
}

constexpr Rule kRules[] = {
    {"dot-of-transpose", Opcode::kDot, DotOfTranspose,
     "dot(transpose(x), y) -> dot(x, y) with the lists permuted"},
    {"dot-of-nothing", Opcode::kDot, DotOfNothing, "dot over no elements -> 0"},
    {"reduce-unit-dims", Opcode::kReduce, ReduceUnitDims,
     "reduce over dimensions of size 1 from the identity -> reshape"},
    {"reduce-of-nothing", Opcode::kReduce, ReduceOfNothing,
     "reduce over no elements -> the initial value"},
    {"reduce-of-transpose", Opcode::kReduce, ReduceOfTranspose,
     "reduce(transpose(x)) -> reduce(x) over the permuted dimensions"},
    {"reduce-of-reduce", Opcode::kReduce, ReduceOfReduce,
     "two reduces by one combiner -> one (not floats)"},
};

}  // namespace

absl::Span<const Rule> ContractionRules() { return kRules; }

}  // namespace assay
