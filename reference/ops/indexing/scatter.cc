// Scatter. Document: operation semantics chapter 9, Scatter.
#include <algorithm>

#include "reference/bounds/elements.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/ops/indexing/index_vectors.h"
#include "reference/ops/indexing/scattered_fold.h"

namespace assay::reference {
namespace {

// Operation semantics 19 and 23.1: XLA drops windows that are partly out of bounds as a whole.
bool MayDropWindow(const OpContext& op) { return op.analysis.is_xla; }

IndexNumbers NumbersOf(const Attributes& attributes) {
  return {attributes.Integer(Attr::kIndexVectorDim),
          attributes.Integers(Attr::kScatterDimsToOperandDims),
          attributes.Integers(Attr::kInputBatchingDims),
          attributes.Integers(Attr::kScatterIndicesBatchingDims)};
}

// The operand element of every update, one window after the other.
class Windows {
 public:
  Windows(const OpContext& op, const Shape& operand, const Shape& updates)
      : operand_(operand),
        strides_(RowMajorStrides(operand.dimensions())),
        extents_(operand.rank(), 1) {
    const Attributes& attributes = op.instruction.attributes();
    absl::Span<const int64_t> window_dims = attributes.Integers(Attr::kUpdateWindowDims);
    const DimVector kept =
        KeptDimensions(operand.rank(), attributes.Integers(Attr::kInsertedWindowDims),
                       attributes.Integers(Attr::kInputBatchingDims));
    for (size_t k = 0; k < kept.size(); ++k) extents_[kept[k]] = updates.dimension(window_dims[k]);
    bases_ = OuterBases(updates, window_dims);
    window_ = OffsetsOf(updates, operand, window_dims, kept);
  }

  // Starts beyond these ends put every element of a window outside.
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
    for (size_t w = 0; w < window_.outer.size(); ++w) {
      const bool valid = inside || IsElementInside(start, window_.inner[w]);
      f(bases_[g] + window_.outer[w], valid ? first + window_.inner[w] : -1);
    }
  }

 private:
  // `offset` within the window, taken apart into dimensions again.
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
  IndexMap bases_;
  WindowOffsets window_;
};

// False if the possibilities are too many to list.
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
    // A window that is partly outside may be left out as a whole.
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
  if (absl::Status status = interpreter.budget().Take(work); !status.ok()) return status;
  for (int64_t need : {op.shape.ByteSize(), 8 * work})
    if (absl::Status status = interpreter.memory().Check(need); !status.ok()) return status;
  std::vector<const Array*> operands, updates;
  for (int64_t k = 0; k < n; ++k) {
    operands.push_back(&op.array(k));
    updates.push_back(&op.array(n + 1 + k));
  }
  const Attributes& attributes = op.instruction.attributes();
  const Windows windows(op, operand.shape(), update.shape());
  const IndexVectors vectors(op.array(n), NumbersOf(attributes), windows.LowestStart(),
                             windows.HighestStart());
  Destinations destinations;
  destinations.plain.assign(update.element_count(), -1);
  const bool bounding = interpreter.bounding();
  bool known = true;
  if (update.element_count() > 0)
    known = ListDestinations(op, windows, vectors, bounding, destinations);
  // A promise that is broken: nothing is promised in return.
  if (bounding && attributes.Flag(Attr::kIndicesAreSorted)) known = known && vectors.AreSorted();
  absl::StatusOr<Value> value =
      CombineScattered(interpreter, op, *op.instruction.callee(), operands, updates, destinations,
                       attributes.Flag(Attr::kUniqueIndices));
  if (!value.ok() || known) return value;
  std::vector<Array> results;
  for (const Value& leaf : value->IsTuple() ? value->elements : std::vector<Value>{*value}) {
    results.push_back(*leaf.array);
    MakeUndecided(results.back());
  }
  return Collate(std::move(results), op.shape.IsTuple(), interpreter.memory());
}

}  // namespace

absl::Span<const OpEvaluation> ScatterEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kScatter, nullptr, nullptr, ApplyScatter},
  };
  return kRows;
}

}  // namespace assay::reference
