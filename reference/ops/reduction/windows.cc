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
}

void WindowTerms::Covered(int64_t d, int64_t place, IndexMap& elements) const {
  const WindowDim& along = window_[d];
  elements.clear();
  for (int64_t j = 0; j < along.size; ++j) {
    const __int128 at = static_cast<__int128>(place) * along.stride +
                        static_cast<__int128>(j) * along.window_dilation - along.low;
    if (at < 0 || at % along.base_dilation != 0) continue;
    const __int128 element = at / along.base_dilation;
    if (element >= sizes_[d]) break;
    elements.push_back(static_cast<int64_t>(element) * strides_[d]);
  }
}

void WindowTerms::List(int64_t o, IndexMap& terms) const {
  terms.assign(1, 0);
  // From the last dimension, which runs fastest, to the first: each one repeats the terms so far
  // for every element that it covers.
  IndexMap covered, product;
  for (size_t d = places_.size(); d-- > 0; o /= places_[d]) {
    Covered(static_cast<int64_t>(d), o % places_[d], covered);
    product.clear();
    for (int64_t element : covered)
      for (int64_t term : terms) product.push_back(element + term);
    std::swap(terms, product);
  }
}

absl::Status WindowTerms::TakeSteps(Budget& budget) const {
  constexpr __int128 kMost = std::numeric_limits<int64_t>::max();
  __int128 terms = 1;
  IndexMap covered;
  for (size_t d = 0; d < places_.size(); ++d) {
    const __int128 looks = static_cast<__int128>(places_[d]) * window_[d].size;
    ASSAY_RETURN_IF_ERROR(budget.Take(static_cast<int64_t>(std::min(looks, kMost))));
    int64_t along = 0;
    for (int64_t place = 0; place < places_[d]; ++place) {
      Covered(static_cast<int64_t>(d), place, covered);
      along += static_cast<int64_t>(covered.size());
    }
    terms = std::min(terms * along, kMost);
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
  IndexMap padded, list;
  for (int64_t o = 0; o < terms.results(); ++o) {
    if (op.OutOfTime(static_cast<int64_t>(list.size()))) return absl::OkStatus();
    terms.List(o, list);
    if (static_cast<int64_t>(list.size()) < full) padded.push_back(o);
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
  ASSAY_RETURN_IF_ERROR(terms.TakeSteps(interpreter.budget()));
  const FoldOperands operands = FoldOperandsOf(op);
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
