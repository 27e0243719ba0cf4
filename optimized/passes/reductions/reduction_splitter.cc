// Reduces the largest dimension first, the others behind it.
#include "optimized/passes/reductions/reduction_splitter.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/util/reduction_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

// A dimension of so many elements is no longer small.
constexpr int64_t kLarge = 9;

bool LieSideBySide(std::vector<int64_t> dimensions) {
  std::sort(dimensions.begin(), dimensions.end());
  return dimensions.back() - dimensions.front() + 1 == static_cast<int64_t>(dimensions.size());
}

bool SplitInTwo(Instruction* reduce, PassContext& context) {
  const auto attribute = reduce->attributes().Integers(Attr::kDimensions);
  std::vector<int64_t> dimensions(attribute.begin(), attribute.end());
  const Shape& input = reduce->operand(0)->shape();
  if (reduce->shape().IsTuple() || dimensions.size() < 2 || LieSideBySide(dimensions) ||
      !input.layout().IsRowMajor() ||
      !MayRegroup(reduce->callee(), input.element_type(), context.profile))
    return false;
  const auto largest = std::max_element(
      dimensions.begin(), dimensions.end(),
      [&](int64_t a, int64_t b) { return input.dimension(a) < input.dimension(b); });
  const int64_t first = *largest;
  if (input.dimension(first) < kLarge) return false;
  Rewrite rewrite(context.gates, "split-reduce", reduce);
  if (!rewrite) return false;
  dimensions.erase(largest);
  for (int64_t& d : dimensions) d -= d > first ? 1 : 0;
  Computation* computation = reduce->parent();
  DimVector sizes;
  for (int64_t d = 0; d < input.rank(); ++d)
    if (d != first) sizes.push_back(input.dimension(d));
  const ElementType type = input.element_type();
  // The value that changes nothing begins the partial results: the given one counts once.
  Instruction* partial =
      computation->Add(Opcode::kReduce, Shape::Array(type, sizes),
                       {reduce->operand(0), AddNeutral(computation, reduce->callee(), type)},
                       DimensionsAttr({first}), reduce->callees());
  return ReplaceReduce(rewrite, reduce, {partial}, dimensions, ReduceResults(*reduce));
}

}  // namespace

absl::StatusOr<bool> ReductionSplitter::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kReduce})) return false;
  bool changed = false;
  for (Computation* computation : module.MakeNonfusionComputations()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (IsPlainReduce(*inst)) changed |= SplitInTwo(inst, context);
    }
  }
  return changed;
}

}  // namespace assay
