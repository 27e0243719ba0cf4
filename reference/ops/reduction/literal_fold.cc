// Applies any combiner as it stands, in several orders where bounds are wanted.
#include "reference/ops/reduction/literal_fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/interpreter/element_computation.h"
#include "reference/ops/reduction/row_selection.h"
#include "spec/base/status_macros.h"
#include "spec/ir/reading/combiner.h"

namespace assay::reference {
namespace {

// One running value, or one input, for each of some result elements: an array of rank 1 per input
// of the fold.
using Column = std::vector<Value>;

// The combiner applied to columns.
class ColumnFold {
 public:
  ColumnFold(Interpreter& interpreter, const Computation& combiner, int64_t column_size)
      : interpreter_(interpreter), combiner_(combiner), size_(column_size) {}

  absl::StatusOr<Column> Combine(const Column& a, const Column& b) {
    std::vector<Value> arguments = a;
    arguments.insert(arguments.end(), b.begin(), b.end());
    ASSAY_ASSIGN_OR_RETURN(Column combined,
                           ApplyToElements(interpreter_, combiner_, arguments, {size_}));
    if (interpreter_.bounding()) {
      for (const Column* column : {&a, &b, &std::as_const(combined)}) NoteSizes(*column);
    }
    return combined;
  }

  // The largest number that was combined for every element of result n, or came of it on the way:
  // what its magnitude is where the combiner is no sum. Empty if nothing was combined.
  absl::Span<const double> SizesOf(size_t n) const {
    return n < sizes_.size() ? absl::MakeConstSpan(sizes_[n]) : absl::Span<const double>();
  }

  std::optional<Opcode> CombinerOf() const { return ReadCombiner(combiner_); }

  // f(...f(f(init, x0), x1)...), taking the inputs in the given order.
  absl::StatusOr<Column> Left(const Column& init, const std::vector<Column>& inputs,
                              absl::Span<const size_t> order) {
    Column value = init;
    for (size_t k : order) {
      ASSAY_ASSIGN_OR_RETURN(value, Combine(value, inputs[k]));
    }
    return value;
  }
  // f(init, f(x0, f(x1, ...)))
  absl::StatusOr<Column> Right(const Column& init, const std::vector<Column>& inputs) {
    Column value = inputs.back();
    for (size_t k = inputs.size() - 1; k-- > 0;) {
      ASSAY_ASSIGN_OR_RETURN(value, Combine(inputs[k], value));
    }
    return Combine(init, value);
  }
  // f(init, f(f(x0, x1), f(x2, x3)))
  absl::StatusOr<Column> Tree(const Column& init, const std::vector<Column>& inputs) {
    std::vector<Column> level = inputs;
    while (level.size() > 1) {
      std::vector<Column> next;
      for (size_t k = 0; k + 1 < level.size(); k += 2) {
        ASSAY_ASSIGN_OR_RETURN(next.emplace_back(), Combine(level[k], level[k + 1]));
      }
      if (level.size() % 2 != 0) next.push_back(level.back());
      level = std::move(next);
    }
    return Combine(init, level[0]);
  }

 private:
  void NoteSizes(const Column& column) {
    sizes_.resize(column.size());
    for (size_t n = 0; n < column.size(); ++n) {
      const Literal& values = column[n].array->literal;
      const int64_t parts = BoundsPerElement(values.element_type());
      sizes_[n].resize(static_cast<size_t>(size_));
      for (int64_t k = 0; k < size_ * parts; ++k) {
        const double size = std::fabs(values.GetComponent(k));
        double& largest = sizes_[n][k / parts];
        if (std::isfinite(size)) largest = std::max(largest, size);
      }
    }
  }

  Interpreter& interpreter_;
  const Computation& combiner_;
  int64_t size_;
  std::vector<std::vector<double>> sizes_;  // by result and element
};

// A fixed permutation that looks like none, another one for every number.
std::vector<size_t> Shuffled(size_t n, uint64_t number = 0) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  uint64_t state = 0x9E3779B97F4A7C15u ^ n ^ (number << 32);
  for (size_t k = n; k > 1; --k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::swap(order[k - 1], order[(state >> 33) % k]);
  }
  return order;
}

// So many steps are tried in every order.
constexpr size_t kFewSteps = 3;

// Orders of n steps besides the plain one: all of a few, and of more the reversed one and some that
// look like none.
std::vector<std::vector<size_t>> OtherOrders(size_t n) {
  constexpr size_t kMany = 64;
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<std::vector<size_t>> orders;
  if (n <= kFewSteps) {
    while (std::next_permutation(order.begin(), order.end())) orders.push_back(order);
    return orders;
  }
  orders.emplace_back(order.rbegin(), order.rend());
  const uint64_t shuffles = n <= kMany ? 4 : 1;
  for (uint64_t number = 0; number < shuffles; ++number) orders.push_back(Shuffled(n, number));
  return orders;
}

// The inputs of every element in the order of their sizes in the first column, each element in its
// own: what may leave the range on the way does so in one of the two directions, whatever a zero
// makes of it later.
std::vector<Column> BySize(const std::vector<Column>& inputs, bool falling, MemoryMeter& memory) {
  const Literal& first = inputs[0][0].array->literal;
  const int64_t size = first.element_count();
  std::vector<std::vector<Array>> sorted(inputs.size());
  for (std::vector<Array>& column : sorted) {
    for (const Value& value : inputs[0]) {
      column.push_back(Array{Literal(value.array->literal.shape())});
    }
  }
  std::vector<std::pair<double, size_t>> order(inputs.size());
  for (int64_t i = 0; i < size; ++i) {
    for (size_t k = 0; k < inputs.size(); ++k) {
      const double number = std::fabs(inputs[k][0].array->literal.GetDouble(i));
      order[k] = {std::isnan(number) ? std::numeric_limits<double>::infinity() : number, k};
    }
    std::sort(order.begin(), order.end());
    if (falling) std::reverse(order.begin(), order.end());
    for (size_t k = 0; k < inputs.size(); ++k) {
      for (size_t n = 0; n < sorted[k].size(); ++n)
        CopyElements(*inputs[order[k].second][n].array, i, sorted[k][n], i, 1);
    }
  }
  std::vector<Column> columns;
  for (std::vector<Array>& column : sorted) {
    Column& values = columns.emplace_back();
    for (Array& array : column) values.push_back(MakeValue(std::move(array), memory));
  }
  return columns;
}

// Reads slot `slot` as an interval, which may be one number. False if it may be something else.
bool IntervalOf(const Array& array, int64_t slot, ElementBound& interval) {
  constexpr uint32_t kIntervals = kZeroSigns | kMayFlush | kZeroSignFree;
  if (array.facts().IsOpen(slot)) {
    interval = array.facts().bounds[slot];
    return (interval.flags & ~kIntervals) == 0;
  }
  interval = {array.literal.GetComponent(slot), 0, 0, 0};
  return std::isfinite(interval.centre);
}

// Widens slot `slot` of `merged` so that it also covers that of `other`. False if the two are not
// about the same real number, as far as can be told after `steps` roundings each.
bool AgreeOnSlot(Array& merged, const Array& other, int64_t slot, int64_t steps) {
  ElementBound a, b;
  if (!IntervalOf(merged, slot, a) || !IntervalOf(other, slot, b)) return false;
  const double apart =
      std::fabs((b.centre - a.centre) + (b.centre_low - a.centre_low)) * (1 + 0x1p-50);
  const double magnitude = std::max(std::fabs(a.centre), std::fabs(b.centre));
  const double rounding = static_cast<double>(steps) *
                          std::exp2(1 - Format(merged.literal.element_type()).precision()) *
                          magnitude;
  if (!(apart <= std::max({a.radius, b.radius, rounding}))) return false;
  a.radius = std::max(a.radius, (b.radius + apart) * (1 + 0x1p-50));
  const uint32_t zero_signs = a.flags & b.flags & kZeroSigns;
  a.flags = ((a.flags | b.flags) & ~kZeroSigns) | zero_signs;
  MakeBounds(merged);
  merged.facts().bounds[slot] = a;
  return true;
}

// True if the bits of element i are known in both, and the same.
bool AreForcedAlike(const Array& a, const Array& b, int64_t i) {
  if (!HasKnownCode(a, i, true) || !HasKnownCode(b, i, true)) return false;
  const int64_t width = BoundsPerElement(a.literal.element_type());
  for (int64_t slot = i * width; slot < (i + 1) * width; ++slot)
    if (a.literal.GetComponentBits(slot) != b.literal.GetComponentBits(slot)) return false;
  return true;
}

bool AgreeOnElement(Array& merged, const Array& other, int64_t i, int64_t steps) {
  if (SameBound(merged, other, i)) return true;
  const int64_t width = BoundsPerElement(merged.literal.element_type());
  if (width == 0) return false;
  if (AreForcedAlike(merged, other, i)) {
    // Consumers may see more than one number of it in a wider type.
    HullWith(other, i, merged, i);
    return true;
  }
  if (!merged.facts().choices.empty()) merged.facts().choices.erase(i);
  bool agree = true;
  for (int64_t slot = i * width; slot < (i + 1) * width; ++slot)
    agree = agree && AgreeOnSlot(merged, other, slot, steps);
  return agree;
}

// Merges the results of several orders of `steps` steps. Where they agree within their bounds, the
// combiner is taken to be associative on real numbers, and orders that were not tried are taken to
// stray up to twice as far; elements on which they disagree are undecided.
Column Agreed(const Column& first, absl::Span<const Column> others, int64_t steps,
              MemoryMeter& memory) {
  Column agreed;
  for (size_t n = 0; n < first.size(); ++n) {
    Array merged = *first[n].array;
    if (!others.empty()) merged.facts().origins.clear();  // another order may take another element
    const int64_t width = BoundsPerElement(merged.literal.element_type());
    for (int64_t i = 0; i < merged.literal.element_count(); ++i) {
      const bool agree = std::all_of(others.begin(), others.end(), [&](const Column& other) {
        return AgreeOnElement(merged, *other[n].array, i, steps);
      });
      if (!agree) {
        SetUndecided(merged, i);
      } else if (!SameBound(merged, *first[n].array, i)) {
        for (int64_t slot = i * width; slot < (i + 1) * width; ++slot)
          merged.facts().bounds[slot].radius *= 2;
      }
    }
    agreed.push_back(MakeValue(std::move(merged), memory));
  }
  return agreed;
}

// True if the terms have no partial sum that is rounded, whatever the order: they are multiples of
// a unit of which the format holds the sum of all magnitudes.
bool SumsExactly(absl::Span<const double> terms, const FloatFormat& format) {
  double total = 0, unit = std::numeric_limits<double>::infinity();
  for (double term : terms) {
    if (!std::isfinite(term)) return false;
    total += std::fabs(term);
    for (double bit = std::fabs(term); bit != 0;) {  // down to the lowest bit that is set
      const double leading = std::exp2(std::ilogb(bit));
      bit -= leading;
      unit = std::min(unit, leading);
    }
  }
  return total == 0 ||
         (total <= unit * std::exp2(format.precision()) && total < format.MaxFinite());
}

// Orders of a sum in the type of its elements that were not tried may be off by a rounding of all
// magnitudes at each step, although those that were tried agree.
void WidenSums(const Column& init, const std::vector<Column>& inputs, Column& folded,
               MemoryMeter& memory) {
  Array sums = *folded[0].array;
  const ElementType type = sums.literal.element_type();
  const FloatFormat& format = Format(type);
  const double unit = std::exp2(-format.precision());
  std::vector<double> terms(inputs.size() + 1);
  for (int64_t i = 0; i < sums.literal.element_count(); ++i) {
    terms[0] = init[0].array->literal.GetComponent(i);
    for (size_t k = 0; k < inputs.size(); ++k)
      terms[k + 1] = inputs[k][0].array->literal.GetComponent(i);
    ElementBound sum;
    if (SumsExactly(terms, format) || !IntervalOf(sums, i, sum)) continue;
    double magnitudes = 0;
    for (double term : terms) magnitudes += std::fabs(term);
    sum.radius = std::max(sum.radius, static_cast<double>(inputs.size()) * unit * magnitudes);
    MakeBounds(sums);
    sums.facts().bounds[i] = sum;
  }
  folded[0] = MakeValue(std::move(sums), memory);
}

absl::StatusOr<Column> FoldColumns(Interpreter& interpreter, ColumnFold& fold, const Column& init,
                                   const std::vector<Column>& inputs, FoldRules rules) {
  std::vector<size_t> in_order(inputs.size());
  std::iota(in_order.begin(), in_order.end(), size_t{0});
  ASSAY_ASSIGN_OR_RETURN(Column left, fold.Left(init, inputs, in_order));
  ClauseSet clauses = interpreter.clauses();
  if (!interpreter.bounding() || inputs.size() < 2 ||
      !(clauses.Has(ClauseId::kReassociation) || rules.any_order))
    return left;
  std::vector<Column> others;
  if (rules.any_order) {
    for (const std::vector<size_t>& order : OtherOrders(inputs.size())) {
      ASSAY_ASSIGN_OR_RETURN(others.emplace_back(), fold.Left(init, inputs, order));
    }
    const bool has_sizes = IsFloat(inputs[0][0].array->literal.element_type());
    for (const bool falling : {false, true}) {
      if (!has_sizes || inputs.size() <= kFewSteps) break;
      const std::vector<Column> sorted = BySize(inputs, falling, interpreter.memory());
      ASSAY_ASSIGN_OR_RETURN(others.emplace_back(), fold.Left(init, sorted, in_order));
    }
  } else {
    ASSAY_ASSIGN_OR_RETURN(others.emplace_back(), fold.Right(init, inputs));
    ASSAY_ASSIGN_OR_RETURN(others.emplace_back(), fold.Tree(init, inputs));
    if (interpreter.analysis().is_xla) {
      const std::vector<size_t> shuffled = Shuffled(inputs.size());
      ASSAY_ASSIGN_OR_RETURN(others.emplace_back(), fold.Left(init, inputs, shuffled));
    }
  }
  Column agreed = Agreed(left, others, static_cast<int64_t>(inputs.size()), interpreter.memory());
  const bool is_sum = agreed.size() == 1 && rules.any_order && inputs.size() > kFewSteps &&
                      IsFloat(agreed[0].array->literal.element_type()) &&
                      fold.CombinerOf() == Opcode::kAdd;
  if (is_sum) WidenSums(init, inputs, agreed, interpreter.memory());
  return agreed;
}

// Inputs are taken apart into columns of at most so many elements together, so that memory stays
// small.
constexpr int64_t kMaxChunk = int64_t{1} << 18;

// One fold, some result elements at a time.
class LiteralFold {
 public:
  LiteralFold(Interpreter& interpreter, const FoldCall& call)
      : interpreter_(interpreter), call_(call) {
    for (const Array* input : call.inputs) {
      results_.push_back(
          Array{Literal(Shape::Array(input->literal.element_type(), call.dimensions))});
    }
  }

  absl::StatusOr<std::vector<Array>> Run() {
    // Result elements with equally many terms are folded together.
    std::map<int64_t, IndexMap> by_count;
    IndexMap list;
    for (int64_t o = 0; o < call_.terms.results(); ++o) {
      if (call_.op.OutOfTime(static_cast<int64_t>(list.size()))) return std::move(results_);
      call_.terms.List(o, list);
      by_count[static_cast<int64_t>(list.size())].push_back(o);
    }
    for (const auto& [count, members] : by_count) {
      const int64_t step = std::max<int64_t>(1, kMaxChunk / std::max<int64_t>(count, 1));
      for (int64_t first = 0; first < static_cast<int64_t>(members.size()); first += step) {
        ASSAY_RETURN_IF_ERROR(
            FoldTogether(absl::MakeConstSpan(members).subspan(first, step), count));
      }
    }
    return std::move(results_);
  }

 private:
  // Folds and stores the result elements `chunk`, all of which have `count` terms.
  absl::Status FoldTogether(absl::Span<const int64_t> chunk, int64_t count) {
    MemoryMeter& memory = interpreter_.memory();
    IndexMap from, list;
    for (int64_t o : chunk) from.push_back(call_.terms.InitOf(o));
    Column init;
    for (const Array* array : call_.inits) init.push_back(PickElements(*array, from, memory));
    std::vector<IndexMap> maps(count, IndexMap(chunk.size()));
    for (size_t c = 0; c < chunk.size(); ++c) {
      call_.terms.List(chunk[c], list);
      for (int64_t k = 0; k < count; ++k) maps[k][c] = list[k];
    }
    std::vector<Column> columns(count);
    for (int64_t k = 0; k < count; ++k) {
      for (const Array* array : call_.inputs)
        columns[k].push_back(PickElements(*array, maps[k], memory));
    }
    ColumnFold fold(interpreter_, call_.combiner, static_cast<int64_t>(chunk.size()));
    ASSAY_ASSIGN_OR_RETURN(const Column folded,
                           FoldColumns(interpreter_, fold, init, columns, call_.rules));
    for (size_t n = 0; n < results_.size(); ++n) {
      for (size_t c = 0; c < chunk.size(); ++c)
        CopyElements(*folded[n].array, static_cast<int64_t>(c), results_[n], chunk[c], 1);
      NoteSizes(fold.SizesOf(n), chunk, results_[n]);
    }
    if (!interpreter_.bounding() || !SelectsRows(call_.combiner)) return absl::OkStatus();
    return BoundSelectedRows(interpreter_, call_, {init, columns, chunk}, results_);
  }

  // The sizes of what was combined are the magnitudes of the elements `chunk`, unless the ops of
  // the combiner noted larger ones.
  static void NoteSizes(absl::Span<const double> sizes, absl::Span<const int64_t> chunk,
                        Array& result) {
    if (result.facts().bounds.empty() || sizes.empty()) return;
    const int64_t parts = BoundsPerElement(result.literal.element_type());
    for (size_t c = 0; c < chunk.size(); ++c) {
      for (int64_t k = chunk[c] * parts; k < (chunk[c] + 1) * parts; ++k)
        result.facts().bounds[k].set_magnitude(
            std::max(result.facts().bounds[k].magnitude(), sizes[c]));
    }
  }

  Interpreter& interpreter_;
  const FoldCall& call_;
  std::vector<Array> results_;
};

}  // namespace

absl::StatusOr<std::vector<Array>> FoldLiterally(Interpreter& interpreter, const FoldCall& call) {
  return LiteralFold(interpreter, call).Run();
}

}  // namespace assay::reference
