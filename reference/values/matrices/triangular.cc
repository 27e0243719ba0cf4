// Factors and solves one matrix of a batch in wide numbers.
#include "reference/values/matrices/triangular.h"

namespace assay::reference {
namespace {

int64_t BatchCount(const Shape& shape) {
  int64_t count = 1;
  for (int64_t d = 0; d + 2 < shape.rank(); ++d) count *= shape.dimension(d);
  return count;
}

}  // namespace

CholeskyFactor::CholeskyFactor(const OpContext& op, bool is_lower)
    : order(op.shape.dimension(op.shape.rank() - 1)),
      batches(BatchCount(op.shape)),
      lower(is_lower) {}

TriangularSystem::TriangularSystem(const OpContext& op, const TriangularOptions& options)
    : left(options.left),
      unit_diagonal(options.unit_diagonal),
      // x op(a) = b is op(a)ᵀ xᵀ = bᵀ.
      transposed(options.transposed == options.left),
      conjugated(options.conjugated),
      backwards(options.lower == transposed) {
  const Shape &a = op.literal(0).shape(), &b = op.shape;
  order = a.dimension(a.rank() - 1);
  solutions = b.dimension(b.rank() - (left ? 1 : 2));
  batches = BatchCount(a);
}

TriangularSystem::TriangularSystem(const OpContext& op)
    : TriangularSystem(op, [&op]() -> TriangularOptions {
        const Attributes& attributes = op.instruction.attributes();
        const auto transpose = attributes.Word<TransposeKind>(Attr::kTransposeA);
        return {.left = attributes.Flag(Attr::kLeftSide),
                .lower = attributes.Flag(Attr::kLower),
                .unit_diagonal = attributes.Flag(Attr::kUnitDiagonal),
                .transposed = transpose != TransposeKind::kNone,
                .conjugated = transpose == TransposeKind::kAdjoint};
      }()) {}

}  // namespace assay::reference
