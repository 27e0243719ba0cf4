// Positions of elements in an order of numbers, by which top-k sorts, and every sort whose
// comparator is one comparison of the two elements. Document: operation semantics chapter 6
// (Compare), 10 (Sort, TopK).
#pragma once

#include <optional>
#include <vector>

#include "reference/ops/sorting/position_ranges.h"
#include "reference/values/lines.h"
#include "reference/values/op_context.h"
#include "spec/ir/computation.h"

namespace assay::reference {

// An order of elements by one comparison.
struct KeyOrder {
  int64_t operand = 0;
  bool descending = false;  // larger elements first
  bool strict = true;       // an element does not precede its equal
  bool total = false;       // total order of float encodings; else IEEE: NaN is unordered
  // Before the comparison all zeros become one zero, all NaNs one NaN (of this sign).
  bool folds_zeros = false, folds_nans = false, nan_is_negative = false;
};

// The order of a comparator that is one comparison of the two elements of one operand, as they are
// or with zeros and NaNs made canonical.
std::optional<KeyOrder> RecognisedOrder(const Computation& comparator);

// A number by which an element is put in order, lower ones first whatever the direction: that of
// its plain value, and the range of those of all its legal values.
struct SortKey {
  int64_t plain = 0, low = 0, high = 0;
  bool may_be_unordered = false;  // a NaN that has no place in the order
  bool IsSingle() const { return low == high && !may_be_unordered; }
};

// The elements that are put in order. `moved_only`: the array was moved at most since it entered
// the program, so that the bits of its NaNs are known. `nans_tie`: those of one sign may also count
// as equal, since their payload got lost in a wider type.
struct KeySource {
  const Array& array;
  const KeyOrder& order;
  ClauseSet clauses;
  bool moved_only;
  bool nans_tie = false;
};

// One key per element of the lines from `first` to `last`, line by line, with what else the element
// may be.
std::vector<SortKey> KeysOf(const KeySource& source, const Lines& lines, int64_t first,
                            int64_t last);
// The positions that the elements of a line may take by their keys; ties by index if `stable`.
PositionRanges RangesByKeys(absl::Span<const SortKey> keys, bool stable);
// True if one of these elements may be a NaN that has no place in the order.
bool MayBeUnordered(const KeySource& source, const Lines& lines, int64_t first, int64_t last);
// Puts `order`, the elements of a line in their order, into the stable one of their plain keys.
void OrderLine(const KeySource& source, const Lines& lines, int64_t line,
               absl::Span<int64_t> order);

}  // namespace assay::reference
