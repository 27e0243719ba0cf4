// Replaces a long reduce by a reduce-window and a reduce.
#include "optimized/passes/reductions/tree_reduction_rewriter.h"

#include <limits>
#include <optional>
#include <vector>

#include "optimized/passes/util/reduction_util.h"
#include "optimized/passes/util/rule_util.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

// The value that changes nothing; nothing if none is known. -0 for sums of floats, which keeps the
// sign of a sum of nothing but -0.
struct Identity {
  double real = 0;
  int64_t integer = 0;
};
std::optional<Identity> IdentityOf(Opcode combiner, ElementType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!IsFloat(type) && !IsInteger(type)) return std::nullopt;
  const bool is_extremum = combiner == Opcode::kMinimum || combiner == Opcode::kMaximum;
  if (is_extremum && IsFloat(type) && !Format(type).HasInfinity()) return std::nullopt;
  switch (combiner) {
    case Opcode::kAdd:
      return Identity{-0.0, 0};
    case Opcode::kMultiply:
      return Identity{1, 1};
    case Opcode::kMinimum:
      if (type == ElementType::kU64) return std::nullopt;  // its largest does not fit
      return Identity{kInfinity, MaxInteger(type)};
    case Opcode::kMaximum:
      return Identity{-kInfinity, MinInteger(type)};
    default:
      return std::nullopt;
  }
}

// True if the profile lets sums of partial results stand for the sum.
bool MayRegroup(ElementType type, const Profile& profile) {
  if (!IsFloat(type)) return true;
  return profile.Grants(ClauseId::kReassociation) &&
         (BitWidth(type) >= 32 || profile.Grants(ClauseId::kLiteralReducer));
}

bool Split(Instruction* reduce, int64_t window_size, PassContext& context) {
  if (reduce->shape().IsTuple() || reduce->operand(0)->shape().ElementCount() == 0) return false;
  const Shape& input = reduce->operand(0)->shape();
  const auto dimensions = reduce->attributes().Integers(Attr::kDimensions);
  const std::optional<Opcode> combiner = RecognisedCombiner(reduce->callee());
  if (dimensions.empty() || !combiner) return false;
  const ElementType type = input.element_type();
  const std::optional<Identity> identity = IdentityOf(*combiner, type);
  if (!identity || !MayRegroup(type, context.profile)) return false;
  Shape partial = input;
  std::vector<WindowDim> window(input.rank());
  for (int64_t d : dimensions) {
    const int64_t size = input.dimension(d);
    if (size < window_size) return false;
    const int64_t count = (size + window_size - 1) / window_size;
    const int64_t padding = count * window_size - size;  // of kSame: the larger half behind
    window[d].size = window[d].stride = window_size;
    window[d].low = padding / 2;
    window[d].high = padding - padding / 2;
    partial.set_dimension(d, count);
  }
  Rewrite rewrite(context.gates, "tree-reduction", reduce);
  if (!rewrite) return false;
  Computation* computation = reduce->parent();
  Instruction* padding = IsFloat(type) ? AddScalarFloat(computation, type, identity->real)
                                       : AddScalarInteger(computation, type, identity->integer);
  Instruction* windows = computation->Add(
      Opcode::kReduceWindow, partial, {reduce->operand(0), padding},
      Attributes().Set(Attr::kWindow, AttrValue(std::move(window))), reduce->callees());
  return ReplaceReduce(rewrite, reduce, {windows}, dimensions, ReduceResults(*reduce));
}

}  // namespace

absl::StatusOr<bool> TreeReductionRewriter::Run(Module& module, PassContext& context) {
  const int64_t window_size = context.options.reduce_window_size;
  if (window_size < 2) {
    return absl::InvalidArgumentError(
        "tree-reduction-rewriter: reduce_window_size must be 2 or more");
  }
  bool changed = false;
  for (Computation* computation : module.MakeNonfusionComputations()) {
    for (Instruction* inst : computation->PostOrder()) {
      if (IsPlainReduce(*inst)) changed |= Split(inst, window_size, context);
    }
  }
  return changed;
}

}  // namespace assay
