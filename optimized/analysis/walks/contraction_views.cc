// Follows steps and starts through transposes, slices, broadcasts, reshapes and conversions.
#include "optimized/analysis/walks/contraction_views.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "optimized/analysis/walks/contractions.h"
#include "optimized/analysis/walks/elementwise_ops.h"

namespace assay {
namespace {

using Factors = std::vector<ArrayView::Factor>;

// True if every number of the first type is one of the second.
bool IsWidening(ElementType from, ElementType to) {
  if (from == to) return true;
  if (IsFloat(from) && IsFloat(to)) {
    const auto is_wide = [](ElementType type) {
      return type == ElementType::kF32 || type == ElementType::kF64;
    };
    const bool is_half = from == ElementType::kF16 || from == ElementType::kBF16;
    return is_wide(to) && (is_half || from == ElementType::kF32) && BitWidth(to) > BitWidth(from);
  }
  if (!IsInteger(from) || !IsInteger(to) || BitWidth(from) < 8) return false;
  return BitWidth(to) > BitWidth(from) && (IsSigned(to) || !IsSigned(from));
}

bool IsRenaming(const Instruction& op) {
  return op.opcode() == Opcode::kReshape || op.opcode() == Opcode::kCopy;
}

// The first step that is more than one may be changed by a planted defect.
void BendStep(const NumberBend& bend, std::string_view claim, const Instruction& op,
              ArrayView& view) {
  if (!bend) return;
  for (Factors& factors : view.dims) {
    for (ArrayView::Factor& factor : factors) {
      if (factor.step <= 1) continue;
      factor.step = bend(claim, op, factor.step);
      return;
    }
  }
}

// All factors of a view in row-major order, cut anew for `to`; false: a cut falls inside a factor
// that has no such divisor.
bool Recut(const ArrayView& from, absl::Span<const int64_t> to, ArrayView& view) {
  Factors rest;  // innermost last
  for (const Factors& factors : from.dims) {
    rest.insert(rest.end(), factors.begin(), factors.end());
  }
  view.type = from.type;
  view.start = from.start;
  view.dims.assign(to.size(), {});
  for (size_t d = to.size(); d-- > 0;) {
    for (int64_t left = to[d]; left > 1;) {
      if (rest.empty()) return false;
      ArrayView::Factor& last = rest.back();
      if (last.size <= left) {
        if (left % last.size != 0) return false;
        left /= last.size;
        view.dims[d].insert(view.dims[d].begin(), last);
        rest.pop_back();
      } else {
        if (last.size % left != 0) return false;
        view.dims[d].insert(view.dims[d].begin(), {left, last.step});
        last = {last.size / left, last.step * left};
        left = 1;
      }
    }
  }
  return rest.empty();
}

bool SliceView(const Instruction& slice, const NumberBend& bend, ArrayView& view) {
  const absl::Span<const SliceRange> dims = slice.attributes().SliceRanges(Attr::kSlice);
  for (size_t d = 0; d < dims.size(); ++d) {
    Factors& factors = view.dims[d];
    const int64_t size = slice.shape().dimension(static_cast<int64_t>(d));
    if (size == slice.operand(0)->shape().dimension(static_cast<int64_t>(d))) continue;
    if (factors.size() != 1) return false;
    int64_t start = dims[d].start, stride = dims[d].stride;
    if (bend) {
      start = bend("blocked-dot/slice-start", slice, start);
      stride = bend("blocked-dot/slice-stride", slice, stride);
    }
    view.start += start * factors[0].step;
    factors[0] = {size, factors[0].step * stride};
    if (size == 1) factors.clear();
  }
  return true;
}

void BroadcastView(const Instruction& broadcast, ArrayView& view) {
  const absl::Span<const int64_t> to = broadcast.attributes().Integers(Attr::kDimensions);
  std::vector<Factors> dims(static_cast<size_t>(broadcast.shape().rank()));
  for (int64_t d = 0; d < broadcast.shape().rank(); ++d) {
    const auto at = absl::c_find(to, d);
    if (at != to.end()) {
      dims[static_cast<size_t>(d)] = std::move(view.dims[static_cast<size_t>(at - to.begin())]);
    } else if (broadcast.shape().dimension(d) > 1) {
      dims[static_cast<size_t>(d)] = {{broadcast.shape().dimension(d), 0}};
    }
  }
  view.dims = std::move(dims);
}

// `view`, of the operand, becomes the one of the op.
bool GoForward(const Instruction& op, const NumberBend& bend, ArrayView& view) {
  switch (op.opcode()) {
    case Opcode::kTranspose: {
      const absl::Span<const int64_t> from = op.attributes().Integers(Attr::kDimensions);
      std::vector<Factors> dims;
      for (int64_t d : from) dims.push_back(view.dims[static_cast<size_t>(d)]);
      view.dims = std::move(dims);
      BendStep(bend, "blocked-dot/transposed-step", op, view);
      return true;
    }
    case Opcode::kSlice:
      return SliceView(op, bend, view);
    case Opcode::kBroadcast:
      BroadcastView(op, view);
      return true;
    case Opcode::kConvert:
      return IsWidening(op.operand(0)->shape().element_type(), op.shape().element_type());
    default: {
      ArrayView from = std::move(view);
      if (!IsRenaming(op) || !Recut(from, op.shape().dimensions(), view)) return false;
      BendStep(bend, "blocked-dot/joined-step", op, view);
      return true;
    }
  }
}

// `view`, of the op, becomes the one of its operand.
bool GoBack(const Instruction& op, const NumberBend& bend, ArrayView& view) {
  switch (op.opcode()) {
    case Opcode::kTranspose: {
      const absl::Span<const int64_t> from = op.attributes().Integers(Attr::kDimensions);
      std::vector<Factors> dims(from.size());
      for (size_t d = 0; d < from.size(); ++d) {
        dims[static_cast<size_t>(from[d])] = std::move(view.dims[d]);
      }
      view.dims = std::move(dims);
      BendStep(bend, "blocked-dot/result-step", op, view);
      return true;
    }
    case Opcode::kConvert:
      return true;
    default: {
      ArrayView from = std::move(view);
      return IsRenaming(op) && Recut(from, op.operand(0)->shape().dimensions(), view);
    }
  }
}

std::optional<ArrayView> ViewOfOperand(const Instruction& operand,
                                       absl::Span<const Instruction* const> before,
                                       const NumberBend& bend) {
  const Instruction& source = before.empty() ? operand : *before.back()->operand(0);
  ArrayView view = ArrayView::Of(source.shape());
  for (size_t k = before.size(); k-- > 0;) {
    if (!GoForward(*before[k], bend, view)) return std::nullopt;
  }
  return view;
}

using Chain = std::vector<const Instruction*>;

// The only dot; nullptr: there is none, or more.
const Instruction* DotOf(const Computation& computation) {
  const Instruction* dot = nullptr;
  for (const Instruction* op : computation) {
    if (op->opcode() != Opcode::kDot) continue;
    if (dot != nullptr) return nullptr;
    dot = op;
  }
  return dot;
}

// The ops behind a dot each of which is all that reads the one before it.
Chain ChainBehind(const Instruction& dot) {
  Chain chain;
  const Instruction* at = &dot;
  while (at != dot.parent()->root() && at->users().size() == 1) {
    const Instruction* user = at->users()[0];
    if (user->operand_count() != 1 || !user->shape().IsArray() || !MayStandBehind(*user, dot)) {
      break;
    }
    chain.push_back(user);
    at = user;
  }
  return chain;
}

// True if each result of the computation is made of the sums, or has their dimensions, and what is
// made of them reads them at its own place alone.
bool IsMadeElementByElement(const Computation& fused, const Instruction& sums) {
  absl::flat_hash_set<const Instruction*> made = {&sums};
  for (const Instruction* inst : fused.PostOrder()) {
    const bool is_results = inst == fused.root() && inst->opcode() == Opcode::kTuple;
    const bool reads = absl::c_any_of(
        inst->operands(), [&](const Instruction* operand) { return made.contains(operand); });
    if (is_results || !reads) continue;
    if (!IsElementwise(inst->opcode()) || !inst->callees().empty() ||
        !SameDimensions(inst->shape(), sums.shape()))
      return false;
    made.insert(inst);
  }
  if (fused.root()->opcode() != Opcode::kTuple) return made.contains(fused.root());
  return absl::c_all_of(fused.root()->operands(), [&](const Instruction* result) {
    return SameDimensions(result->shape(), sums.shape());
  });
}

}  // namespace

ArrayView ArrayView::Of(const Shape& shape) {
  ArrayView view;
  view.type = shape.element_type();
  const DimVector steps = RowMajorStrides(shape.dimensions());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    Factors& factors = view.dims.emplace_back();
    if (shape.dimension(d) != 1) factors.push_back({shape.dimension(d), steps[d]});
  }
  return view;
}

bool MayStandBefore(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kTranspose:
    case Opcode::kReshape:
    case Opcode::kBroadcast:
    case Opcode::kCopy:
      return true;
    case Opcode::kSlice: {
      // Neighbours in memory that are not read would be fetched all the same, again and again.
      const absl::Span<const SliceRange> dims = op.attributes().SliceRanges(Attr::kSlice);
      return dims.empty() || dims.back().stride == 1;
    }
    case Opcode::kConvert:
      return IsWidening(op.operand(0)->shape().element_type(), op.shape().element_type());
    default:
      return false;
  }
}

bool MayStandBehind(const Instruction& op, const Instruction& dot) {
  switch (op.opcode()) {
    case Opcode::kTranspose:
    case Opcode::kReshape:
    case Opcode::kCopy:
      return true;
    case Opcode::kConvert: {
      // The sums are rounded once, to the last type: the dot's own must not have rounded them.
      const ElementType from = op.operand(0)->shape().element_type();
      const ElementType to = op.shape().element_type();
      return from == dot.shape().element_type() && from == DotAccumulator(dot) && IsFloat(from) &&
             from != to && IsWidening(to, from);
    }
    default:
      return false;
  }
}

std::optional<ContractionView> ViewContraction(const Instruction& dot,
                                               absl::Span<const Instruction* const> lhs_before,
                                               absl::Span<const Instruction* const> rhs_before,
                                               absl::Span<const Instruction* const> after,
                                               const NumberBend& bend) {
  const auto is_empty = [](const Instruction* op) {
    return !op->shape().IsArray() || op->shape().ElementCount() == 0;
  };
  for (const auto& ops : {lhs_before, rhs_before, after}) {
    if (absl::c_any_of(ops, is_empty)) return std::nullopt;
  }
  if (is_empty(&dot) || absl::c_any_of(dot.operands(), is_empty)) return std::nullopt;
  ContractionView view;
  view.dot = &dot;
  view.sums = after.empty() ? &dot : after.back();
  view.lhs_source = lhs_before.empty() ? dot.operand(0) : lhs_before.back()->operand(0);
  view.rhs_source = rhs_before.empty() ? dot.operand(1) : rhs_before.back()->operand(0);
  std::optional<ArrayView> lhs = ViewOfOperand(*dot.operand(0), lhs_before, bend);
  std::optional<ArrayView> rhs = ViewOfOperand(*dot.operand(1), rhs_before, bend);
  if (!lhs.has_value() || !rhs.has_value()) return std::nullopt;
  view.lhs = *std::move(lhs);
  view.rhs = *std::move(rhs);
  view.out = ArrayView::Of(after.empty() ? dot.shape() : after.back()->shape());
  for (size_t k = after.size(); k-- > 0;) {
    if (!GoBack(*after[k], bend, view.out)) return std::nullopt;
  }
  return view;
}

std::optional<ContractionView> ViewContraction(const Instruction& kernel, const NumberBend& bend) {
  if (kernel.opcode() == Opcode::kDot) return ViewContraction(kernel, {}, {}, {}, bend);
  if (kernel.opcode() != Opcode::kFusion) return std::nullopt;
  const Instruction* found = DotOf(*kernel.callee());
  if (found == nullptr) return std::nullopt;
  const Instruction& dot = *found;
  Chain before[2];
  for (int side = 0; side < 2; ++side) {
    const Instruction* at = dot.operand(side);
    for (; at->opcode() != Opcode::kParameter; at = at->operand(0)) {
      if (!MayStandBefore(*at)) return std::nullopt;
      before[side].push_back(at);
    }
  }
  Chain after = ChainBehind(dot);
  // An op that no steps say is made of the sums like all else behind them.
  for (;; after.pop_back()) {
    std::optional<ContractionView> view = ViewContraction(dot, before[0], before[1], after, bend);
    if (!view.has_value() && !after.empty()) continue;
    const Computation& fused = *kernel.callee();
    if (!view.has_value() || view->sums == fused.root()) return view;
    return IsMadeElementByElement(fused, *view->sums) ? view : std::nullopt;
  }
}

const Instruction* SumsBeforeEpilogue(const Instruction& kernel) {
  if (kernel.opcode() != Opcode::kFusion) return nullptr;
  const std::optional<ContractionView> view = ViewContraction(kernel);
  if (!view.has_value() || view->sums == kernel.callee()->root()) return nullptr;
  return view->sums;
}

bool AppendCommonAxes(absl::Span<const Factors* const> of, std::vector<CommonAxis>& axes) {
  std::vector<Factors> rest;
  for (const Factors* factors : of) rest.push_back(*factors);
  std::vector<CommonAxis> found;  // innermost first
  while (!rest[0].empty()) {
    int64_t size = rest[0].back().size;
    for (const Factors& factors : rest) {
      if (factors.empty()) return false;
      size = std::min(size, factors.back().size);
    }
    CommonAxis axis{size, {}};
    for (Factors& factors : rest) {
      ArrayView::Factor& last = factors.back();
      if (size == 0 || last.size % size != 0) return false;
      axis.steps.push_back(last.step);
      last = {last.size / size, last.step * size};
      if (last.size == 1) factors.pop_back();
    }
    found.push_back(std::move(axis));
  }
  if (absl::c_any_of(rest, [](const Factors& factors) { return !factors.empty(); })) return false;
  axes.insert(axes.end(), found.rbegin(), found.rend());
  return true;
}

std::optional<ContractionAxes> AxesOf(const ContractionView& view) {
  const Attributes& a = view.dot->attributes();
  const DotDims dims = DotDims::Of(*view.dot);
  const size_t batches = a.Integers(Attr::kLhsBatchDims).size();
  ContractionAxes axes;
  const auto lhs = [&](int64_t d) { return &view.lhs.dims[static_cast<size_t>(d)]; };
  const auto rhs = [&](int64_t d) { return &view.rhs.dims[static_cast<size_t>(d)]; };
  const auto out = [&](int64_t d) { return &view.out.dims[static_cast<size_t>(d)]; };
  for (size_t k = 0; k < batches; ++k) {
    const int64_t l = a.Integers(Attr::kLhsBatchDims)[k], r = a.Integers(Attr::kRhsBatchDims)[k];
    if (!AppendCommonAxes({lhs(l), rhs(r), out(static_cast<int64_t>(k))}, axes.batch)) {
      return std::nullopt;
    }
  }
  const auto is_free = [&](int64_t result) { return result >= static_cast<int64_t>(batches); };
  for (size_t d = 0; d < dims.lhs.size(); ++d) {
    if (!is_free(dims.lhs[d])) continue;
    const size_t first = axes.m.size();
    if (!AppendCommonAxes({lhs(static_cast<int64_t>(d)), out(dims.lhs[d])}, axes.m)) {
      return std::nullopt;
    }
    for (size_t k = first; k < axes.m.size(); ++k) {
      axes.m[k].steps = {axes.m[k].steps[0], 0, axes.m[k].steps[1]};
    }
  }
  for (size_t d = 0; d < dims.rhs.size(); ++d) {
    if (!is_free(dims.rhs[d])) continue;
    const size_t first = axes.n.size();
    if (!AppendCommonAxes({rhs(static_cast<int64_t>(d)), out(dims.rhs[d])}, axes.n)) {
      return std::nullopt;
    }
    for (size_t k = first; k < axes.n.size(); ++k) {
      axes.n[k].steps = {0, axes.n[k].steps[0], axes.n[k].steps[1]};
    }
  }
  for (size_t k = 0; k < a.Integers(Attr::kLhsContractingDims).size(); ++k) {
    const size_t first = axes.sum.size();
    if (!AppendCommonAxes({lhs(a.Integers(Attr::kLhsContractingDims)[k]),
                           rhs(a.Integers(Attr::kRhsContractingDims)[k])},
                          axes.sum)) {
      return std::nullopt;
    }
    for (size_t j = first; j < axes.sum.size(); ++j) axes.sum[j].steps.push_back(0);
  }
  return axes;
}

int64_t LineOfSums(const ContractionView& view) {
  const std::optional<ContractionAxes> axes = AxesOf(view);
  int64_t longest = 0;
  if (!axes.has_value()) return longest;
  for (const std::vector<CommonAxis>* side : {&axes->m, &axes->n}) {
    if (!side->empty() && side->back().steps[2] == 1) {
      longest = std::max(longest, side->back().size);
    }
  }
  return longest;
}

}  // namespace assay
