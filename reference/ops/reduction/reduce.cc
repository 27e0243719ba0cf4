// Reduce. Document: operation semantics chapter 10.
#include <algorithm>

#include "reference/ops/reduction/fold.h"
#include "reference/values/leaves.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// Input element k of result element o is bases[o] + offsets[k]; k counts in row-major order.
class ReduceTerms : public FoldTerms {
 public:
  ReduceTerms(const Shape& operand, absl::Span<const int64_t> reduced) {
    const DimVector strides = RowMajorStrides(operand.dimensions());
    DimVector kept_sizes, kept_strides, reduced_sizes, reduced_strides;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      const bool is_reduced = std::find(reduced.begin(), reduced.end(), d) != reduced.end();
      (is_reduced ? reduced_sizes : kept_sizes).push_back(operand.dimension(d));
      (is_reduced ? reduced_strides : kept_strides).push_back(strides[d]);
    }
    bases_ = Places(kept_sizes, kept_strides);
    offsets_ = Places(reduced_sizes, reduced_strides);
  }
  int64_t results() const override { return static_cast<int64_t>(bases_.size()); }
  void List(int64_t o, IndexMap& terms) const override {
    terms.resize(offsets_.size());
    for (size_t k = 0; k < offsets_.size(); ++k) terms[k] = bases_[o] + offsets_[k];
  }

 private:
  static IndexMap Places(absl::Span<const int64_t> sizes, absl::Span<const int64_t> steps) {
    IndexMap places;
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return places;
    DimVector index(sizes.size(), 0);
    do {
      places.push_back(LinearIndex(steps, index));
    } while (NextIndex(sizes, absl::MakeSpan(index)));
    return places;
  }
  IndexMap bases_, offsets_;
};

absl::StatusOr<Value> ApplyReduce(Interpreter& interpreter, const OpContext& op) {
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(op.literal(0).element_count() + 1));
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(op.shape.ByteSize()));
  const ReduceTerms terms(op.literal(0).shape(),
                          op.instruction.attributes().Integers(Attr::kDimensions));
  const FoldOperands operands = FoldOperandsOf(op);
  ASSAY_ASSIGN_OR_RETURN(std::vector<Array> results,
                         Fold(interpreter, {.op = op,
                                            .combiner = *op.instruction.callee(),
                                            .inputs = operands.inputs,
                                            .inits = operands.inits,
                                            .terms = terms,
                                            .dimensions = LeavesOf(op.shape)[0].dimensions()}));
  return ValueOfLeaves(std::move(results), op.shape, interpreter.memory());
}

}  // namespace

absl::Span<const OpEvaluation> ReduceEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kReduce, .apply = ApplyReduce},
  };
  return kRows;
}

}  // namespace assay::reference
