// Gather. Document: operation semantics chapter 9, Gather.
#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/ops/indexing/index_vectors.h"

namespace assay::reference {
namespace {

// The element rule. An index R of the result is two indices in one: its components along
// offset_dims are the offset index O, all others the batch index G.
//   index vector      S = start_indices[G], with all of dimension index_vector_dim
//   start             start[start_index_map[k]] = clamp(0, S[k], operand size - slice_sizes)
//                     start[operand_batching_dims[j]] = the component of G that counts dimension
//                       start_indices_batching_dims[j] of start_indices
//                     start[d] = 0 for all other operand dimensions d
//   offset            offset[slice_dims[k]] = O[k], slice_dims being the operand dimensions
//                       neither in collapsed_slice_dims nor in operand_batching_dims
//                     offset[d] = 0 for all other operand dimensions d
//   result[R] = operand[start + offset]
class Gathering {
 public:
  explicit Gathering(const OpContext& op)
      : operand_(op.literal(0).shape()),
        strides_(RowMajorStrides(operand_.dimensions())),
        vectors_(op.array(1), VectorAttributes(op), DimVector(operand_.rank(), 0), LastStarts(op)) {
    const Attributes& attributes = op.instruction.attributes();
    places_ =
        PlacesOfSlices(op.shape, attributes.Integers(Attr::kOffsetDims), operand_,
                       SliceDims(operand_.rank(), attributes.Integers(Attr::kCollapsedSliceDims),
                                 attributes.Integers(Attr::kOperandBatchingDims)));
  }

  const IndexVectors& vectors() const { return vectors_; }

  // Calls f(result element, operand element) for the slice of index vector g at `start`.
  template <typename F>
  void ForEach(int64_t g, const DimVector& start, F f) const {
    const int64_t from = LinearIndex(strides_, start);
    for (size_t w = 0; w < places_.offset.size(); ++w)
      f(places_.first[g] + places_.offset[w], from + places_.operand[w]);
  }

  // The operand element of each of the `count` result elements.
  IndexMap Map(int64_t count) const {
    IndexMap map(count);
    if (count == 0) return map;
    for (int64_t g = 0; g < vectors_.count(); ++g)
      ForEach(g, vectors_.Start(g), [&](int64_t to, int64_t from) { map[to] = from; });
    return map;
  }

 private:
  static IndexVectorAttributes VectorAttributes(const OpContext& op) {
    const Attributes& attributes = op.instruction.attributes();
    return {
        .index_vector_dim = attributes.Integer(Attr::kIndexVectorDim),
        .start_index_map = attributes.Integers(Attr::kStartIndexMap),
        .operand_batching_dims = attributes.Integers(Attr::kOperandBatchingDims),
        .start_indices_batching_dims = attributes.Integers(Attr::kStartIndicesBatchingDims),
    };
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
  SlicePlaces places_;
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
  // UNSPECIFIED(operation semantics 9, Gather): the result, where indices_are_sorted promises an
  // order that the indices do not have.
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
      {.opcode = Opcode::kGather, .evaluate = EvaluateGather, .bound = BoundGather},
  };
  return kRows;
}

}  // namespace assay::reference
