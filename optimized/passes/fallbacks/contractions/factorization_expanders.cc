// Cholesky looks to the left: column j is what the columns before it leave. A solve takes rows in
// the order in which they depend on each other.
#include "optimized/passes/fallbacks/contractions/factorization_expanders.h"

#include <limits>
#include <vector>

#include "optimized/passes/util/counted_loop.h"
#include "optimized/passes/util/rule_util.h"
#include "spec/attributes/attribute_words.h"

namespace assay {
namespace {

// Adds ops on batches of matrices and vectors; the batch dimensions come first.
class BatchedOps {
 public:
  explicit BatchedOps(Computation* into) : into_(into) {}

  Instruction* Binary(Opcode opcode, Instruction* x, Instruction* y) {
    return into_->Add(opcode, x->shape(), {x, y});
  }
  Instruction* Compare(Instruction* x, Instruction* y, Direction direction) {
    return into_->Add(Opcode::kCompare, Like(x, ElementType::kPred), {x, y},
                      Attributes().Set(Attr::kDirection, direction));
  }
  Instruction* Select(Instruction* which, Instruction* x, Instruction* y) {
    return into_->Add(Opcode::kSelect, x->shape(), {which, x, y});
  }
  Instruction* InType(Instruction* value, ElementType type) {
    if (value->shape().element_type() == type) return value;
    return into_->Add(Opcode::kConvert, Like(value, type), {value});
  }
  Instruction* Constant(const Shape& shape, double value) {
    return AddSplat(into_, shape, AddScalarFloat(into_, shape.element_type(), value));
  }
  // The last two dimensions are swapped.
  Instruction* Transposed(Instruction* matrix) {
    const int64_t rank = matrix->shape().rank();
    DimVector sizes(matrix->shape().dimensions().begin(), matrix->shape().dimensions().end());
    std::swap(sizes[rank - 2], sizes[rank - 1]);
    Int64List order;
    for (int64_t d = 0; d < rank; ++d) order.push_back(d);
    std::swap(order[rank - 2], order[rank - 1]);
    return into_->Add(Opcode::kTranspose, Shape::Array(matrix->shape().element_type(), sizes),
                      {matrix}, DimensionsAttr(order));
  }
  // Sums over dimension `along` of the matrix and the only one of the vector.
  Instruction* Product(Instruction* matrix, Instruction* vector, int64_t along) {
    const int64_t batch = vector->shape().rank() - 1;
    Int64List batch_dims;
    DimVector sizes;
    for (int64_t d = 0; d < batch; ++d) batch_dims.push_back(d);
    for (int64_t d = 0; d < matrix->shape().rank(); ++d) {
      if (d != along) sizes.push_back(matrix->shape().dimension(d));
    }
    Attributes attributes;
    if (batch > 0) {
      attributes.Set(Attr::kLhsBatchDims, absl::MakeConstSpan(batch_dims));
      attributes.Set(Attr::kRhsBatchDims, absl::MakeConstSpan(batch_dims));
    }
    attributes.Set(Attr::kLhsContractingDims, absl::MakeConstSpan({along}));
    attributes.Set(Attr::kRhsContractingDims, absl::MakeConstSpan({batch}));
    return into_->Add(Opcode::kDot, Shape::Array(matrix->shape().element_type(), sizes),
                      {matrix, vector}, attributes);
  }
  // A value per matrix, at all places behind the batch dimensions.
  Instruction* Spread(Instruction* value, const Shape& over) {
    Int64List dims;
    for (int64_t d = 0; d < value->shape().rank(); ++d) dims.push_back(d);
    return into_->Add(Opcode::kBroadcast,
                      Shape::Array(value->shape().element_type(), over.dimensions()), {value},
                      DimensionsAttr(dims));
  }
  // The index along `d` of each element, s64.
  Instruction* Index(const Shape& over, int64_t d) {
    return into_->Add(Opcode::kIota, Shape::Array(ElementType::kS64, over.dimensions()), {},
                      Attributes().Set(Attr::kIotaDimension, AttrValue(d)));
  }
  Instruction* Element(Instruction* matrix, Instruction* row, Instruction* column) {
    const int64_t rank = matrix->shape().rank();
    return AddSliceAt(into_, AddSliceAt(into_, matrix, rank - 2, row), rank - 2, column);
  }

 private:
  static Shape Like(Instruction* value, ElementType type) {
    return Shape::Array(type, value->shape().dimensions());
  }

  Computation* into_;
};

bool IsRealMatrix(const Instruction& inst) {
  return IsFloat(inst.shape().element_type()) && inst.shape().ElementCount() > 0;
}

ElementType WideType(const Instruction& inst) {
  const ElementType type = inst.shape().element_type();
  return type == ElementType::kF64 ? type : ElementType::kF32;
}

// The next column of the factor, from the matrix and the columns before.
Instruction* FactorColumn(Computation* body, Instruction* matrix, Instruction* factor,
                          Instruction* column) {
  BatchedOps ops(body);
  const int64_t rank = matrix->shape().rank();
  Instruction* row = AddSliceAt(body, factor, rank - 2, column);
  Instruction* rest = ops.Binary(Opcode::kSubtract, AddSliceAt(body, matrix, rank - 1, column),
                                 ops.Product(factor, row, rank - 1));
  Instruction* pivot = AddSliceAt(body, rest, rank - 2, column);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Instruction* root = ops.Select(
      ops.Compare(pivot, ops.Constant(pivot->shape(), 0), Direction::kGt),
      body->Add(Opcode::kSqrt, pivot->shape(), {pivot}), ops.Constant(pivot->shape(), nan));
  Instruction* diagonal = ops.Spread(root, rest->shape());
  Instruction* index = ops.Index(rest->shape(), rank - 2);
  Instruction* at = AddSplat(body, index->shape(), column);
  Instruction* below =
      ops.Select(ops.Compare(index, at, Direction::kGt),
                 ops.Binary(Opcode::kDivide, rest, diagonal), ops.Constant(rest->shape(), 0));
  return ops.Select(ops.Compare(index, at, Direction::kEq), diagonal, below);
}

}  // namespace

bool CholeskyExpander::Matches(const Instruction& inst) const { return IsRealMatrix(inst); }

Instruction* CholeskyExpander::Expand(Instruction* inst) const {
  Computation* into = inst->parent();
  BatchedOps ops(into);
  const bool lower = inst->attributes().Flag(Attr::kLower, false);
  Instruction* matrix = ops.InType(inst->operand(0), WideType(*inst));
  if (!lower) matrix = ops.Transposed(matrix);
  const Shape shape = Shape::Array(matrix->shape().element_type(), matrix->shape().dimensions());
  const int64_t rank = shape.rank(), n = shape.dimension(rank - 1);
  const auto trip = [rank](Computation* body, Instruction* j, absl::Span<Instruction* const> now) {
    Instruction* column = FactorColumn(body, now[0], now[1], j);
    return std::vector<Instruction*>{now[0], AddUpdateAt(body, now[1], rank - 1, j, column)};
  };
  Instruction* factor = AddCountedLoop(into, n, {matrix, ops.Constant(shape, 0)}, 1, trip)[0];
  // A pivot that is not positive makes all that follow, and so the last one, not a number.
  Instruction* end = AddScalarInteger(into, ElementType::kS64, n - 1);
  Instruction* last = ops.Element(factor, end, end);
  Instruction* is_nan = ops.Spread(ops.Compare(last, last, Direction::kNe), shape);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  factor = ops.Select(is_nan, ops.Constant(shape, nan), factor);
  return ops.InType(lower ? factor : ops.Transposed(factor), inst->shape().element_type());
}

bool TriangularSolveExpander::Matches(const Instruction& inst) const {
  return IsRealMatrix(inst) && inst.operand(0)->shape().ElementCount() > 0;
}

Instruction* TriangularSolveExpander::Expand(Instruction* inst) const {
  Computation* into = inst->parent();
  BatchedOps ops(into);
  const Attributes& attributes = inst->attributes();
  const bool left = attributes.Flag(Attr::kLeftSide, false);
  const bool unit = attributes.Flag(Attr::kUnitDiagonal, false);
  const auto kind = attributes.Word<TransposeKind>(Attr::kTransposeA);
  const bool transposed = kind == TransposeKind::kTranspose || kind == TransposeKind::kAdjoint;
  bool lower = attributes.Flag(Attr::kLower, false);
  Instruction* a = ops.InType(inst->operand(0), WideType(*inst));
  Instruction* b = ops.InType(inst->operand(1), WideType(*inst));
  // x op(a) = b is op(a)' x' = b'.
  if (!left) b = ops.Transposed(b);
  if (transposed == left) {
    a = ops.Transposed(a);
    lower = !lower;
  }
  const int64_t rank = a->shape().rank(), n = a->shape().dimension(rank - 1);
  // The other triangle may hold anything.
  const Shape shape = Shape::Array(a->shape().element_type(), a->shape().dimensions());
  Instruction* is_inside = ops.Compare(ops.Index(shape, rank - 2), ops.Index(shape, rank - 1),
                                       lower ? Direction::kGt : Direction::kLt);
  Instruction* inside = ops.Select(is_inside, a, ops.Constant(shape, 0));
  const auto trip = [&](Computation* body, Instruction* at, absl::Span<Instruction* const> now) {
    BatchedOps in_body(body);
    Instruction* i = at;
    if (!lower) {
      Instruction* end = AddScalarInteger(body, ElementType::kS64, n - 1);
      i = body->Add(Opcode::kSubtract, end->shape(), {end, at});
    }
    Instruction* done = in_body.Product(now[3], AddSliceAt(body, now[1], rank - 2, i), rank - 2);
    Instruction* row =
        in_body.Binary(Opcode::kSubtract, AddSliceAt(body, now[2], rank - 2, i), done);
    if (!unit) {
      Instruction* diagonal = in_body.Spread(in_body.Element(now[0], i, i), row->shape());
      row = in_body.Binary(Opcode::kDivide, row, diagonal);
    }
    return std::vector<Instruction*>{now[0], now[1], now[2],
                                     AddUpdateAt(body, now[3], rank - 2, i, row)};
  };
  const Shape result = Shape::Array(shape.element_type(), b->shape().dimensions());
  Instruction* x = AddCountedLoop(into, n, {a, inside, b, ops.Constant(result, 0)}, 3, trip)[0];
  return ops.InType(left ? x : ops.Transposed(x), inst->shape().element_type());
}

}  // namespace assay
