// Lists the operand elements that each window covers.
#include "reference/ops/reduction/windows.h"

#include <algorithm>
#include <limits>

#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/interpreter/element_computation.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/ops/reduction/fold.h"
#include "reference/values/leaves.h"
#include "spec/base/status_macros.h"

namespace assay::reference {

WindowTerms::WindowTerms(const Shape& base, absl::Span<const WindowDim> window,
                         absl::Span<const int64_t> places)
    : sizes_(base.dimensions().begin(), base.dimensions().end()),
      strides_(RowMajorStrides(base.dimensions())),
      places_(places.begin(), places.end()),
      window_(window) {
  for (int64_t place : places) count_ *= place;
  for (size_t d = 0; d < places_.size() && running_ == Running::kNot; ++d) {
    running_ = RunningAlong(d);
    if (running_ == Running::kNot) continue;
    running_dim_ = static_cast<int64_t>(d);
    lines_ = Lines(places, running_dim_);
  }
}

WindowTerms::Running WindowTerms::RunningAlong(size_t d) const {
  const WindowDim& along = window_[d];
  const bool plain = along.stride == 1 && along.window_dilation == 1 && along.base_dilation == 1;
  if (!plain || along.size <= 2 || count_ == 0) return Running::kNot;
  if (along.low >= places_[d] - 1) return Running::kFromFirst;
  if (along.size - 1 - along.low >= sizes_[d] - 1) return Running::kToLast;
  return Running::kNot;
}

std::pair<int64_t, int64_t> WindowTerms::Reach(size_t d, int64_t place) const {
  const WindowDim& along = window_[d];
  const auto step = static_cast<__int128>(along.window_dilation);
  // Position j is at j * step - before; the base, with its holes, ends at `end`.
  const __int128 before = along.low - static_cast<__int128>(place) * along.stride;
  const __int128 end = static_cast<__int128>(sizes_[d] - 1) * along.base_dilation + 1;
  if (sizes_[d] == 0) return {0, 0};
  // Divisions of this width are slow, and most windows have no holes.
  const auto steps_to = [step](__int128 distance) -> __int128 {
    if (distance <= 0) return 0;
    return step == 1 ? distance : (distance + step - 1) / step;
  };
  const __int128 first = steps_to(before), last = steps_to(end + before);
  const auto size = static_cast<__int128>(along.size);
  return {static_cast<int64_t>(std::min(first, size)),
          static_cast<int64_t>(std::min(std::max(first, last), size))};
}

int64_t WindowTerms::CountCovered(size_t d, int64_t place) const {
  const auto [first, last] = Reach(d, place);
  if (window_[d].base_dilation == 1) return last - first;
  IndexMap covered;
  Covered(static_cast<int64_t>(d), place, covered);
  return static_cast<int64_t>(covered.size());
}

void WindowTerms::Covered(int64_t d, int64_t place, IndexMap& elements) const {
  const WindowDim& along = window_[d];
  const auto [first, last] = Reach(static_cast<size_t>(d), place);
  elements.clear();
  for (int64_t j = first; j < last; ++j) {
    const __int128 at = static_cast<__int128>(place) * along.stride +
                        static_cast<__int128>(j) * along.window_dilation - along.low;
    if (along.base_dilation == 1) {
      elements.push_back(static_cast<int64_t>(at) * strides_[d]);
    } else if (at % along.base_dilation == 0) {
      elements.push_back(static_cast<int64_t>(at / along.base_dilation) * strides_[d]);
    }
  }
}

void WindowTerms::ListWith(int64_t o, int64_t instead, int64_t element, IndexMap& terms) const {
  terms.assign(1, 0);
  // From the last dimension, which runs fastest, to the first: each one repeats the terms so far
  // for every element that it covers.
  for (size_t d = places_.size(); d-- > 0; o /= places_[d]) {
    if (static_cast<int64_t>(d) == instead) {
      covered_.clear();
      if (element >= 0) covered_.push_back(element * strides_[d]);
    } else {
      Covered(static_cast<int64_t>(d), o % places_[d], covered_);
    }
    product_.clear();
    for (int64_t place : covered_)
      for (int64_t term : terms) product_.push_back(place + term);
    std::swap(terms, product_);
  }
}

void WindowTerms::List(int64_t o, IndexMap& terms) const {
  ListWith(o, /*instead=*/-1, /*element=*/-1, terms);
}

FoldTerms::Visited WindowTerms::Visit(int64_t k, IndexMap& more) const {
  if (running_ == Running::kNot) return FoldTerms::Visit(k, more);
  const bool reverse = running_ == Running::kToLast;
  const int64_t step = k % lines_.length, place = reverse ? lines_.length - 1 - step : step;
  const int64_t o = lines_.Element(k / lines_.length, place);
  if (step == 0) {
    List(o, more);
    return {o, false};
  }
  const auto d = static_cast<size_t>(running_dim_);
  const auto base = [&](int64_t position) { return place + position - window_[d].low; };
  const auto [first, last] = Reach(d, place);
  // One element more than the neighbour has, or none where a window ends in padding.
  const bool grows = last - first > CountCovered(d, reverse ? place + 1 : place - 1);
  ListWith(o, running_dim_, grows ? base(reverse ? first : last - 1) : -1, more);
  return {o, true};
}

int64_t WindowTerms::SizeOf(int64_t o) const {
  int64_t size = 1;
  for (size_t d = places_.size(); d-- > 0; o /= places_[d]) size *= CountCovered(d, o % places_[d]);
  return size;
}

absl::Status WindowTerms::TakeSteps(Budget& budget, bool visiting) const {
  constexpr __int128 kMost = std::numeric_limits<int64_t>::max();
  __int128 terms = 1;
  for (size_t d = 0; d < places_.size(); ++d) {
    const bool is_running = visiting && static_cast<int64_t>(d) == running_dim_;
    const __int128 looks = is_running || window_[d].base_dilation == 1
                               ? static_cast<__int128>(places_[d])
                               : static_cast<__int128>(places_[d]) * window_[d].size;
    ASSAY_RETURN_IF_ERROR(budget.Take(static_cast<int64_t>(std::min(looks, kMost))));
    __int128 along = is_running ? places_[d] + sizes_[d] : 0;
    for (int64_t place = 0; !is_running && place < places_[d]; ++place)
      along += CountCovered(d, place);
    terms = std::min(terms * std::min(along, kMost), kMost);
  }
  return budget.Take(static_cast<int64_t>(terms));
}

int64_t WindowTerms::WindowSize() const {
  int64_t size = 1;
  for (const WindowDim& along : window_)
    if (__builtin_mul_overflow(size, along.size, &size)) return std::numeric_limits<int64_t>::max();
  return size;
}

namespace {

// UNSPECIFIED(operation semantics 10 and 19): for XLA padding and holes of a reduce-window may take
// part, holding the initial value, which only matters if that is no identity.
bool MayPadWithInit(const OpContext& op) { return op.analysis.is_xla; }

bool SamePlain(const Array& a, const Array& b, int64_t i) {
  const ElementType type = a.literal.element_type();
  const uint64_t p = a.literal.GetBits(i), q = b.literal.GetBits(i);
  if (p == q) return true;
  return IsFloat(type) && IsNanCode(Format(type), p) && IsNanCode(Format(type), q);
}

// Tries on the results and on the initial values themselves if combining them with the initial
// value once more changes anything. Where it does, and the window has padding, the result is
// undecided.
absl::Status BoundPaddedInit(Interpreter& interpreter, const OpContext& op,
                             const WindowTerms& terms, absl::Span<const Array* const> inits,
                             std::vector<Array>& results) {
  const int64_t full = terms.WindowSize();
  IndexMap padded;
  for (int64_t o = 0; o < terms.results(); ++o) {
    if (op.OutOfTime(1)) return absl::OkStatus();
    if (terms.SizeOf(o) < full) padded.push_back(o);
  }
  if (padded.empty()) return absl::OkStatus();
  MemoryMeter& memory = interpreter.memory();
  Interpreter plain(interpreter.budget(), nullptr);
  const IndexMap zeros(padded.size(), 0);
  std::vector<Value> folded, init;
  for (size_t n = 0; n < results.size(); ++n) {
    folded.push_back(PickElements(results[n], padded, memory));
    init.push_back(PickElements(*inits[n], zeros, memory));
  }
  for (const std::vector<Value>* left : {&folded, &init}) {
    std::vector<Value> arguments = *left;
    arguments.insert(arguments.end(), init.begin(), init.end());
    ASSAY_ASSIGN_OR_RETURN(std::vector<Value> again,
                           ApplyToElements(plain, *op.instruction.callee(), arguments,
                                           {static_cast<int64_t>(padded.size())}));
    for (size_t n = 0; n < results.size(); ++n)
      for (size_t i = 0; i < padded.size(); ++i)
        if (!SamePlain(*(*left)[n].array, *again[n].array, static_cast<int64_t>(i)))
          SetUndecided(results[n], padded[i]);
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> ApplyReduceWindow(Interpreter& interpreter, const OpContext& op) {
  const Shape& leaf = LeavesOf(op.shape)[0];
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(op.shape.ByteSize()));
  const WindowTerms terms(op.literal(0).shape(), op.instruction.attributes().Window(Attr::kWindow),
                          leaf.dimensions());
  const FoldOperands operands = FoldOperandsOf(op);
  const bool visiting = IsFoldRecognised(*op.instruction.callee(), operands.inputs, FoldRules());
  ASSAY_RETURN_IF_ERROR(terms.TakeSteps(interpreter.budget(), visiting));
  ASSAY_ASSIGN_OR_RETURN(std::vector<Array> results,
                         Fold(interpreter, {.op = op,
                                            .combiner = *op.instruction.callee(),
                                            .inputs = operands.inputs,
                                            .inits = operands.inits,
                                            .terms = terms,
                                            .dimensions = leaf.dimensions()}));
  if (interpreter.bounding() && MayPadWithInit(op)) {
    ASSAY_RETURN_IF_ERROR(BoundPaddedInit(interpreter, op, terms, operands.inits, results));
  }
  return ValueOfLeaves(std::move(results), op.shape, interpreter.memory());
}

}  // namespace

absl::StatusOr<Value> ApplySelectAndScatter(Interpreter& interpreter, const OpContext& op);

absl::Span<const OpEvaluation> WindowEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kReduceWindow, .apply = ApplyReduceWindow},
      {.opcode = Opcode::kSelectAndScatter, .apply = ApplySelectAndScatter},
  };
  return kRows;
}

}  // namespace assay::reference
