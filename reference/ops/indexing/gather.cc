// Gather. Document: operation semantics chapter 9, Gather.
#include "reference/bounds/elements.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/ops/indexing/index_vectors.h"

namespace assay::reference {
namespace {

// Out[batch index G, offset index O] = operand[start(G) + O].
class Gathering {
 public:
  explicit Gathering(const OpContext& op)
      : operand_(op.literal(0).shape()),
        strides_(RowMajorStrides(operand_.dimensions())),
        vectors_(op.array(1), NumbersOf(op), DimVector(operand_.rank(), 0), LastStarts(op)) {
    const Attributes& attributes = op.instruction.attributes();
    absl::Span<const int64_t> offset_dims = attributes.Integers(Attr::kOffsetDims);
    bases_ = OuterBases(op.shape, offset_dims);
    window_ =
        OffsetsOf(op.shape, operand_, offset_dims,
                  KeptDimensions(operand_.rank(), attributes.Integers(Attr::kCollapsedSliceDims),
                                 attributes.Integers(Attr::kOperandBatchingDims)));
  }

  const IndexVectors& vectors() const { return vectors_; }

  // Calls f(result element, operand element) for the slice of vector g at `start`.
  template <typename F>
  void ForEach(int64_t g, const DimVector& start, F f) const {
    const int64_t first = LinearIndex(strides_, start);
    for (size_t w = 0; w < window_.outer.size(); ++w)
      f(bases_[g] + window_.outer[w], first + window_.inner[w]);
  }

  IndexMap Map(int64_t count) const {
    IndexMap map(count);
    if (count == 0) return map;
    for (int64_t g = 0; g < vectors_.count(); ++g)
      ForEach(g, vectors_.Start(g), [&](int64_t to, int64_t from) { map[to] = from; });
    return map;
  }

 private:
  static IndexNumbers NumbersOf(const OpContext& op) {
    const Attributes& attributes = op.instruction.attributes();
    return {attributes.Integer(Attr::kIndexVectorDim), attributes.Integers(Attr::kStartIndexMap),
            attributes.Integers(Attr::kOperandBatchingDims),
            attributes.Integers(Attr::kStartIndicesBatchingDims)};
  }
  static DimVector LastStarts(const OpContext& op) {
    absl::Span<const int64_t> sizes = op.instruction.attributes().Integers(Attr::kSliceSizes);
    DimVector last;
    for (size_t d = 0; d < sizes.size(); ++d)
      last.push_back(op.literal(0).shape().dimension(static_cast<int64_t>(d)) - sizes[d]);
    return last;
  }

  const Shape& operand_;
  DimVector strides_;
  IndexVectors vectors_;
  IndexMap bases_;
  WindowOffsets window_;
};

// A slice of size 0 along a collapsed dimension of size 0 names an element that is not there.
bool ReadsNothing(const OpContext& op) { return op.literal(0).element_count() == 0; }

absl::Status EvaluateGather(const OpContext& op, Literal& result) {
  if (ReadsNothing(op)) return absl::OkStatus();
  return MoveElements(op.literal(0), Gathering(op).Map(op.count()), result);
}

absl::Status BoundGather(const OpContext& op, Array& result) {
  if (ReadsNothing(op)) {
    MakeUndecided(result);
    return absl::OkStatus();
  }
  const Array& operand = op.array(0);
  const Gathering gathering(op);
  const IndexVectors& vectors = gathering.vectors();
  // A promise that is broken: nothing is promised in return.
  if (op.instruction.attributes().Flag(Attr::kIndicesAreSorted) && !vectors.AreSorted()) {
    MakeUndecided(result);
    return absl::OkStatus();
  }
  if (op.count() == 0 || (operand.Certain() && op.array(1).Certain())) return absl::OkStatus();
  if (!operand.Certain()) MoveBounds(operand, gathering.Map(op.count()), result);
  for (int64_t g = 0; g < vectors.count(); ++g) {
    if (vectors.IsCertain(g)) continue;
    const std::vector<DimVector> all = vectors.AllStarts(g);
    if (all.empty()) {
      gathering.ForEach(g, vectors.Start(g),
                        [&](int64_t to, int64_t) { SetUndecided(result, to); });
    }
    for (size_t k = 1; k < all.size(); ++k)
      gathering.ForEach(g, all[k],
                        [&](int64_t to, int64_t from) { HullWith(operand, from, result, to); });
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OpEvaluation> GatherEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kGather, EvaluateGather, BoundGather},
  };
  return kRows;
}

}  // namespace assay::reference
