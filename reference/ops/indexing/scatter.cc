// Scatter. Document: operation semantics chapter 9, Scatter.
#include <algorithm>

#include "reference/bounds/elements.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/ops/indexing/index_vectors.h"
#include "reference/ops/indexing/scattered_fold.h"
#include "reference/values/leaves.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// UNSPECIFIED(operation semantics 19 and 23.1): XLA may drop windows that are partly out of bounds
// as a whole.
bool MayDropWindow(const OpContext& op) { return op.analysis.is_xla; }

IndexVectorAttributes VectorAttributes(const Attributes& attributes) {
  return {
      .index_vector_dim = attributes.Integer(Attr::kIndexVectorDim),
      .start_index_map = attributes.Integers(Attr::kScatterDimsToOperandDims),
      .operand_batching_dims = attributes.Integers(Attr::kInputBatchingDims),
      .start_indices_batching_dims = attributes.Integers(Attr::kScatterIndicesBatchingDims),
  };
}

// The windows of the updates, one per index vector. The window of vector g lies in the operand
// where gather, with update_window_dims for its offset_dims and inserted_window_dims for its
// collapsed_slice_dims, would read its slice, but for the clamp of starts: an element of the window
// that lies outside of the operand is left out.
class Windows {
 public:
  Windows(const OpContext& op, const Shape& operand, const Shape& updates)
      : operand_(operand),
        strides_(RowMajorStrides(operand.dimensions())),
        extents_(operand.rank(), 1) {
    const Attributes& attributes = op.instruction.attributes();
    absl::Span<const int64_t> window_dims = attributes.Integers(Attr::kUpdateWindowDims);
    const DimVector slice_dims =
        SliceDims(operand.rank(), attributes.Integers(Attr::kInsertedWindowDims),
                  attributes.Integers(Attr::kInputBatchingDims));
    for (size_t k = 0; k < slice_dims.size(); ++k)
      extents_[slice_dims[k]] = updates.dimension(window_dims[k]);
    places_ = PlacesOfSlices(updates, window_dims, operand, slice_dims);
  }

  // The starts closest to the operand at which every element of a window lies outside of it.
  DimVector LowestStart() const {
    DimVector low;
    for (int64_t extent : extents_) low.push_back(-extent);
    return low;
  }
  DimVector HighestStart() const {
    return DimVector(operand_.dimensions().begin(), operand_.dimensions().end());
  }

  bool IsInside(const DimVector& start) const {
    for (int64_t d = 0; d < operand_.rank(); ++d)
      if (start[d] < 0 || start[d] > operand_.dimension(d) - extents_[d]) return false;
    return true;
  }

  // Calls f(update element, operand element or -1) for the window of vector g at `start`.
  template <typename F>
  void ForEach(int64_t g, const DimVector& start, F f) const {
    const int64_t first = LinearIndex(strides_, start);
    const bool inside = IsInside(start);
    for (size_t w = 0; w < places_.offset.size(); ++w) {
      const bool valid = inside || IsElementInside(start, places_.operand[w]);
      f(places_.first[g] + places_.offset[w], valid ? first + places_.operand[w] : -1);
    }
  }

 private:
  // True if the element at linear `offset` from `start`, taken apart into dimensions again, lies in
  // the operand.
  bool IsElementInside(const DimVector& start, int64_t offset) const {
    for (int64_t d = 0; d < operand_.rank(); ++d) {
      const int64_t at = start[d] + offset / std::max<int64_t>(strides_[d], 1);
      if (at < 0 || at >= operand_.dimension(d)) return false;
      offset %= std::max<int64_t>(strides_[d], 1);
    }
    return true;
  }

  const Shape& operand_;
  DimVector strides_, extents_;
  SlicePlaces places_;
};

// Fills `destinations`, and if `bounding` all that rounding makes possible. False if the
// possibilities are too many to list.
bool ListDestinations(const OpContext& op, const Windows& windows, const IndexVectors& vectors,
                      bool bounding, Destinations& destinations) {
  auto unsure = [&](int64_t update) {
    if (destinations.unsure.empty()) destinations.unsure.resize(destinations.plain.size());
    destinations.unsure[update] = true;
  };
  for (int64_t g = 0; g < vectors.count(); ++g) {
    const DimVector start = vectors.Start(g);
    windows.ForEach(g, start, [&](int64_t u, int64_t at) { destinations.plain[u] = at; });
    if (!bounding) continue;
    // XLA may leave out a window that is partly outside as a whole.
    if (MayDropWindow(op) && !windows.IsInside(start))
      windows.ForEach(g, start, [&](int64_t u, int64_t) { unsure(u); });
    if (vectors.IsCertain(g)) continue;
    const std::vector<DimVector> all = vectors.AllStarts(g);
    if (all.empty()) return false;
    for (const DimVector& other : all) {
      windows.ForEach(g, other, [&](int64_t u, int64_t at) {
        unsure(u);
        if (at >= 0) destinations.possible.push_back({at, u});
      });
    }
  }
  return true;
}

absl::StatusOr<Value> ApplyScatter(Interpreter& interpreter, const OpContext& op) {
  const auto n = static_cast<int64_t>(op.operands.size() / 2);
  const Literal &operand = op.literal(0), &update = op.literal(n + 1);
  const int64_t work = operand.element_count() + update.element_count() + 1;
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(work));
  for (int64_t need : {op.shape.ByteSize(), 8 * work})
    ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(need));
  std::vector<const Array*> operands, updates;
  for (int64_t k = 0; k < n; ++k) {
    operands.push_back(&op.array(k));
    updates.push_back(&op.array(n + 1 + k));
  }
  const Attributes& attributes = op.instruction.attributes();
  const Windows windows(op, operand.shape(), update.shape());
  const IndexVectors vectors(op.array(n), VectorAttributes(attributes), windows.LowestStart(),
                             windows.HighestStart());
  Destinations destinations;
  destinations.plain.assign(update.element_count(), -1);
  const bool bounding = interpreter.bounding();
  bool known = true;
  if (update.element_count() > 0)
    known = ListDestinations(op, windows, vectors, bounding, destinations);
  // UNSPECIFIED(operation semantics 9, Scatter): the result, where indices_are_sorted promises an
  // order that the indices do not have.
  if (bounding && attributes.Flag(Attr::kIndicesAreSorted)) known = known && vectors.AreSorted();
  ASSAY_ASSIGN_OR_RETURN(
      Value value,
      CombineScattered(interpreter, {.op = op,
                                     .combiner = *op.instruction.callee(),
                                     .operands = operands,
                                     .updates = updates,
                                     .destinations = destinations,
                                     .unique = attributes.Flag(Attr::kUniqueIndices)}));
  if (known) return value;
  std::vector<Array> results;
  for (const Value& leaf : LeavesOf(value)) {
    results.push_back(*leaf.array);
    MakeUndecided(results.back());
  }
  return ValueOfLeaves(std::move(results), op.shape, interpreter.memory());
}

}  // namespace

absl::Span<const OpEvaluation> ScatterEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kScatter, .apply = ApplyScatter},
  };
  return kRows;
}

}  // namespace assay::reference
