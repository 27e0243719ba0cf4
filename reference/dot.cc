// Dot. Document: operation semantics chapter 11, DotGeneral.
#include <algorithm>
#include <limits>

#include "reference/products.h"

namespace assay::reference {
namespace {

bool Has(absl::Span<const int64_t> list, int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

// The dimensions of one operand in the order batch, free, contracted.
DimList Arrange(const Shape& shape, absl::Span<const int64_t> batch,
                absl::Span<const int64_t> contracting, DimList& free) {
  DimList all;
  for (int64_t d : batch) all.Add(shape, d);
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (Has(batch, d) || Has(contracting, d)) continue;
    all.Add(shape, d);
    free.Add(shape, d);
  }
  for (int64_t d : contracting) all.Add(shape, d);
  return all;
}

// Result element [b, m, n] is the sum over k of lhs[b, m, k] * rhs[b, n, k], where b, m, n, k
// count batch, free and contracted dimensions in their orders.
ProductSums SumsOfDot(const OpContext& op) {
  const Attributes& attributes = op.instruction.attributes();
  const Shape &lhs = op.literal(0).shape(), &rhs = op.literal(1).shape();
  absl::Span<const int64_t> batch = attributes.Integers(Attr::kLhsBatchDims);
  absl::Span<const int64_t> contracting = attributes.Integers(Attr::kLhsContractingDims);
  DimList lhs_free, rhs_free;
  ProductSums sums;
  sums.lhs = Arrange(lhs, batch, contracting, lhs_free).Places();
  sums.rhs = Arrange(rhs, attributes.Integers(Attr::kRhsBatchDims),
                     attributes.Integers(Attr::kRhsContractingDims), rhs_free)
                 .Places();
  int64_t batches = 1, depth = 1;
  for (int64_t d : batch) batches *= lhs.dimension(d);
  for (int64_t d : contracting) depth *= lhs.dimension(d);
  const int64_t rows = lhs_free.Count(), columns = rhs_free.Count();
  sums.length = sums.column_size = depth;
  sums.for_each_block = [=](absl::FunctionRef<void(const ProductSums::Block&)> f) {
    const ProductSums::Run whole;
    for (int64_t row = 0; row < batches * rows; ++row) {
      f({.lhs = row * depth,
         .rhs = row / rows * columns * depth,
         .columns = columns,
         .result = row * columns,
         .runs = {&whole, 1}});
    }
  };
  return sums;
}

absl::Status EvaluateDot(const OpContext& op, Literal& result) {
  return EvaluateProductSums(op, SumsOfDot(op), result);
}

absl::Status BoundDot(const OpContext& op, Array& result) {
  BoundProductSums(op, SumsOfDot(op), result);
  return absl::OkStatus();
}

int64_t DotCost(const OpContext& op) {
  const Shape& lhs = op.literal(0).shape();
  // Saturating: the sizes of a verified module are bounded, their product is not.
  double cost = static_cast<double>(op.count());
  for (int64_t d : op.instruction.attributes().Integers(Attr::kLhsContractingDims))
    cost *= static_cast<double>(lhs.dimension(d));
  return cost > 9e18 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(cost);
}

}  // namespace

absl::Span<const OpEvaluation> DotEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kDot, EvaluateDot, BoundDot, nullptr, DotCost},
  };
  return kRows;
}

}  // namespace assay::reference
