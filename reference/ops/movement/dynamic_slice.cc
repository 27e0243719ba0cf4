// Slices at run-time positions. Document: operation semantics chapter 9, DynamicSlice and
// DynamicUpdateSlice.
#include <algorithm>

#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/bounds/start_choices.h"
#include "reference/values/index_map.h"

namespace assay::reference {
namespace {

// The element that holds the start along dimension `d`: a scalar operand of its own, or an element
// of the one vector that the form of 2017 has.
struct StartPlace {
  int64_t operand, element;
};
StartPlace PlaceOfStart(const OpContext& op, int64_t first, int64_t d) {
  const bool vector = op.literal(first).shape().rank() == 1;
  return vector ? StartPlace{first, d} : StartPlace{first + d, 0};
}

// The clamped start of a dynamic slice of shape `part` of `whole`, whose index operands begin with
// operand `first`.
DimVector Starts(const OpContext& op, int64_t first, const Shape& whole, const Shape& part) {
  DimVector starts(whole.rank());
  for (int64_t d = 0; d < whole.rank(); ++d) {
    const StartPlace place = PlaceOfStart(op, first, d);
    const Literal& index = op.literal(place.operand);
    starts[d] = std::clamp<int64_t>(IndexValue(index.element_type(), index.GetBits(place.element)),
                                    0, whole.dimension(d) - part.dimension(d));
  }
  return starts;
}

// Linear index in `whole` of every element of the box of shape `part` at `starts`.
IndexMap BoxMap(const Shape& whole, const Shape& part, absl::Span<const int64_t> starts) {
  const DimVector strides = RowMajorStrides(whole.dimensions());
  IndexMap map(part.ElementCount());
  DimVector index(part.rank(), 0);
  const int64_t corner = LinearIndex(strides, starts);
  for (int64_t& at : map) {
    at = corner + LinearIndex(strides, index);
    NextIndex(part.dimensions(), absl::MakeSpan(index));
  }
  return map;
}

absl::Status EvaluateDynamicSlice(const OpContext& op, Literal& result) {
  const Shape& whole = op.literal(0).shape();
  return MoveElements(op.literal(0), BoxMap(whole, op.shape, Starts(op, 1, whole, op.shape)),
                      result);
}

absl::Status EvaluateDynamicUpdateSlice(const OpContext& op, Literal& result) {
  const Literal& update = op.literal(1);
  std::memcpy(result.bytes().data(), op.literal(0).bytes().data(), result.bytes().size());
  const IndexMap box = BoxMap(op.shape, update.shape(), Starts(op, 2, op.shape, update.shape()));
  const size_t width = StorageBytes(op.type());
  for (size_t i = 0; i < box.size(); ++i) {
    std::memcpy(result.bytes().data() + box[i] * width, update.bytes().data() + i * width, width);
  }
  return absl::OkStatus();
}

// Bounds. An index that is not unique gives several positions, and every element may be whatever
// any of them says.

// All starts that the index operands allow, the plain one first; empty: too many.
std::vector<DimVector> AllStarts(const OpContext& op, int64_t first, const Shape& whole,
                                 const Shape& part) {
  std::vector<DimVector> all = {Starts(op, first, whole, part)};
  for (int64_t d = 0; d < whole.rank(); ++d) {
    const StartPlace place = PlaceOfStart(op, first, d);
    const StartRange range{d, 0, whole.dimension(d) - part.dimension(d)};
    if (!AddStarts(op.array(place.operand), place.element, range, all)) return {};
  }
  return all;
}

absl::Status BoundDynamicSlice(const OpContext& op, Array& result) {
  const Array& operand = op.array(0);
  const Shape& whole = operand.literal.shape();
  const std::vector<DimVector> all = AllStarts(op, 1, whole, op.shape);
  if (all.empty()) {
    MakeUndecided(result);
    return absl::OkStatus();
  }
  if (all.size() == 1 && operand.Certain()) return absl::OkStatus();
  MoveBounds(operand, BoxMap(whole, op.shape, all[0]), result);
  for (size_t k = 1; k < all.size(); ++k) {
    const IndexMap map = BoxMap(whole, op.shape, all[k]);
    for (size_t i = 0; i < map.size(); ++i)
      HullWith(operand, map[i], result, static_cast<int64_t>(i));
  }
  return absl::OkStatus();
}

absl::Status BoundDynamicUpdateSlice(const OpContext& op, Array& result) {
  const Array &operand = op.array(0), &update = op.array(1);
  const std::vector<DimVector> all = AllStarts(op, 2, op.shape, update.literal.shape());
  if (all.empty()) {
    MakeUndecided(result);
    return absl::OkStatus();
  }
  if (all.size() == 1 && operand.Certain() && update.Certain()) return absl::OkStatus();
  // Elements of the plain box come from the update, all others from the operand.
  MakeBounds(result);
  if (!operand.Certain())
    for (int64_t i = 0; i < op.count(); ++i) MoveBound(operand, i, result, i);
  const IndexMap plain = BoxMap(op.shape, update.literal.shape(), all[0]);
  for (size_t i = 0; i < plain.size(); ++i)
    MoveBound(update, static_cast<int64_t>(i), result, plain[i]);
  // At another position an element may come from another place of the update, or from the operand.
  std::vector<bool> covered(op.count());
  for (size_t k = 1; k < all.size(); ++k) {
    const IndexMap map = BoxMap(op.shape, update.literal.shape(), all[k]);
    covered.assign(op.count(), false);
    for (size_t i = 0; i < map.size(); ++i) {
      HullWith(update, static_cast<int64_t>(i), result, map[i]);
      covered[map[i]] = true;
    }
    for (int64_t at : plain)
      if (!covered[at]) HullWith(operand, at, result, at);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OpEvaluation> DynamicSliceEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kDynamicSlice,
       .evaluate = EvaluateDynamicSlice,
       .bound = BoundDynamicSlice},
      {.opcode = Opcode::kDynamicUpdateSlice,
       .evaluate = EvaluateDynamicUpdateSlice,
       .bound = BoundDynamicUpdateSlice},
  };
  return kRows;
}

}  // namespace assay::reference
