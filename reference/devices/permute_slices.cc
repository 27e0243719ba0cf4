// Checks the slices of a collective-permute and copies them between devices.
#include "reference/devices/permute_slices.h"

#include <algorithm>

#include "reference/bounds/copy_elements.h"
#include "reference/devices/rejection.h"
#include "reference/values/leaves.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// Reads the start of one slice, a tuple of an index per dimension.
absl::StatusOr<std::vector<int64_t>> StartOf(const OpContext& op, const Value& value) {
  std::vector<int64_t> start;
  for (const Value& index : value.elements) {
    if (index.IsTuple() || index.array->literal.shape().rank() != 0 ||
        !IsInteger(index.array->literal.element_type()))
      return Rejected(op, "a start is no tuple of integers");
    if (!index.array->Certain())
      return Inconclusive(StrCat("the starts of ", op.instruction.name(), " depend on rounding"));
    start.push_back(index.array->literal.GetInteger(0));
  }
  return start;
}

// The place where a slice begins, in array number `array` of those that are read or written.
struct Slice {
  size_t array;
  std::vector<int64_t> start;
  bool operator==(const Slice&) const = default;
};

// The slices of one array or of a tuple of arrays with these starts, in the order of slice_sizes.
absl::StatusOr<std::vector<Slice>> SlicesOf(const OpContext& op, const Value& arrays,
                                            const Value& starts) {
  std::vector<Slice> slices;
  const size_t count = arrays.IsTuple() ? arrays.elements.size() : 1;
  if (!starts.IsTuple() || (arrays.IsTuple() && starts.elements.size() != count))
    return Rejected(op, "the starts are no tuple, or of another number of arrays");
  for (size_t k = 0; k < count; ++k) {
    const Value& of_array = arrays.IsTuple() ? starts.elements[k] : starts;
    const bool several =
        of_array.IsTuple() && !of_array.elements.empty() && of_array.elements[0].IsTuple();
    const std::vector<Value> one = {of_array};
    for (const Value& start : several ? of_array.elements : one) {
      if (!start.IsTuple()) return Rejected(op, "a start is no tuple of integers");
      ASSAY_ASSIGN_OR_RETURN(std::vector<int64_t> indices, StartOf(op, start));
      slices.push_back({k, std::move(indices)});
    }
  }
  return slices;
}

// True if the slice lies in an array of this shape.
bool Fits(const Shape& shape, const std::vector<int64_t>& start, absl::Span<const int64_t> sizes) {
  const auto rank = static_cast<size_t>(shape.rank());
  if (start.size() != rank || sizes.size() != rank) return false;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t size = shape.dimension(static_cast<int64_t>(d));
    if (sizes[d] < 0 || sizes[d] > size || start[d] < 0 || start[d] > size - sizes[d]) return false;
  }
  return true;
}

// The linear index of start + index.
int64_t Position(const Shape& shape, const std::vector<int64_t>& start,
                 const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (int64_t d = 0; d < shape.rank(); ++d)
    at = at * shape.dimension(d) + start[static_cast<size_t>(d)] + index[static_cast<size_t>(d)];
  return at;
}

void CopySlice(const Array& from, const std::vector<int64_t>& from_start, Array& to,
               const std::vector<int64_t>& to_start, absl::Span<const int64_t> sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  for (std::vector<int64_t> index(sizes.size(), 0);;) {
    CopyElements(from, Position(from.literal.shape(), from_start, index), to,
                 Position(to.literal.shape(), to_start, index), 1);
    size_t d = sizes.size();
    while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace

absl::StatusOr<std::vector<std::vector<Value>>> PermuteSlices(
    Interpreter& interpreter, const OpContext& op,
    const std::vector<std::pair<int64_t, int64_t>>& pairs,
    const std::vector<std::vector<Value>>& given) {
  const auto& sizes =
      std::get<std::vector<Int64List>>(*op.instruction.attributes().Find(Attr::kPermuteSliceSizes));
  std::vector<std::vector<Value>> results;
  for (const std::vector<Value>& operands : given) {
    for (size_t k : {0, 1}) {
      for (const Value& leaf : LeavesOf(operands[k]))
        if (leaf.IsTuple()) return Rejected(op, "operand ", k, " is no array or tuple of arrays");
    }
    const absl::Span<const Value> written = LeavesOf(operands[1]);
    results.emplace_back(written.begin(), written.end());
  }
  for (const auto& [source, target] : pairs) {
    const std::vector<Value>&sent = given[source], &own = given[target];
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Slice> read, SlicesOf(op, sent[0], sent[2]));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Slice> written, SlicesOf(op, sent[1], sent[3]));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Slice> expected, SlicesOf(op, own[1], own[3]));
    if (read.size() != sizes.size() || written.size() != sizes.size()) {
      return Rejected(op, "has starts of ", read.size(), " and ", written.size(), " slices, and ",
                      sizes.size(), " lists of slice_sizes");
    }
    if (written != expected) {
      return MakeError(ErrorClass::kUnsupported,
                       StrCat(op.instruction.name(), ": devices ", source, " and ", target,
                              " name different places to write to; the documents do not say "
                              "which of them counts"));
    }
    const absl::Span<const Value> from = LeavesOf(sent[0]);
    std::vector<Array> onto;
    for (const Value& leaf : LeavesOf(own[1])) {
      ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(leaf.array->literal.element_count()));
      ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(leaf.array->literal.shape().ByteSize()));
      onto.push_back(*leaf.array);
    }
    for (size_t k = 0; k < sizes.size(); ++k) {
      const Array& input = *from[read[k].array].array;
      Array& output = onto[written[k].array];
      if (input.literal.element_type() != output.literal.element_type() ||
          !Fits(input.literal.shape(), read[k].start, sizes[k]) ||
          !Fits(output.literal.shape(), written[k].start, sizes[k])) {
        return Rejected(op, "slice ", k, " does not lie in ", input.literal.shape().ToString(),
                        " and in ", output.literal.shape().ToString());
      }
      CopySlice(input, read[k].start, output, written[k].start, sizes[k]);
    }
    for (size_t k = 0; k < onto.size(); ++k)
      results[target][k] = MakeValue(std::move(onto[k]), interpreter.memory());
  }
  return results;
}

}  // namespace assay::reference
