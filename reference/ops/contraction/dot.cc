// Dot and its relatives. Documents: operation semantics chapter 11, DotGeneral; hlo-format 4.0.4
// and 4.4 (ragged-dot, scaled-dot).
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/bounds/elements.h"
#include "reference/interpreter/widening.h"
#include "reference/ops/contraction/products.h"

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
  sums.lhs = Arrange(lhs, batch, contracting, lhs_free);
  sums.rhs = Arrange(rhs, attributes.Integers(Attr::kRhsBatchDims),
                     attributes.Integers(Attr::kRhsContractingDims), rhs_free);
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

// ---- ragged-dot: groups of consecutive indices along the ragged dimension of lhs, by their sizes.

// Where the groups of one list of sizes begin and end; an index in none of them belongs to no
// group. Sizes below zero count as zero, what lies beyond the dimension is cut off.
std::vector<std::pair<int64_t, int64_t>> GroupRanges(const Literal& sizes, int64_t list,
                                                     int64_t limit) {
  const int64_t groups = sizes.shape().dimensions().back();
  const bool is_unsigned = IsUnsigned(sizes.element_type());
  std::vector<std::pair<int64_t, int64_t>> ranges;
  int64_t start = 0;
  for (int64_t j = 0; j < groups; ++j) {
    const int64_t written = sizes.GetInteger(list * groups + j);
    const bool huge = is_unsigned && written < 0;
    const int64_t size = huge ? limit - start : std::clamp<int64_t>(written, 0, limit - start);
    ranges.emplace_back(start, start + size);
    start += size;
  }
  return ranges;
}

// A list of lhs dimensions counted row-major, with the ragged one in its midst:
// index = (outer * ragged + r) * inner + rest.
struct RaggedList {
  int64_t outer = 1, ragged = 1, inner = 1;
  RaggedList(const Shape& shape, absl::Span<const int64_t> list, int64_t ragged_dim) {
    bool passed = false;
    for (int64_t d : list) {
      if (d == ragged_dim) {
        ragged = shape.dimension(d);
        passed = true;
      } else {
        (passed ? inner : outer) *= shape.dimension(d);
      }
    }
  }
};

class RaggedDot {
 public:
  explicit RaggedDot(const OpContext& op) : sizes_(op.literal(2)) {
    const Attributes& attributes = op.instruction.attributes();
    const Shape &lhs = op.literal(0).shape(), &rhs = op.literal(1).shape();
    const absl::Span<const int64_t> batch = attributes.Integers(Attr::kLhsBatchDims);
    const absl::Span<const int64_t> contracting = attributes.Integers(Attr::kLhsContractingDims);
    const int64_t ragged_dim = attributes.Integers(Attr::kLhsRaggedDims)[0];
    is_batch_ = Has(batch, ragged_dim);
    is_contracting_ = Has(contracting, ragged_dim);
    // The group dimension, if there is one, before the batch dimensions.
    DimVector rhs_batch;
    for (int64_t d : attributes.Integers(Attr::kRhsGroupDims)) rhs_batch.push_back(d);
    for (int64_t d : attributes.Integers(Attr::kRhsBatchDims)) rhs_batch.push_back(d);
    DimList lhs_free, rhs_free;
    sums_.lhs = Arrange(lhs, batch, contracting, lhs_free);
    sums_.rhs = Arrange(rhs, rhs_batch, attributes.Integers(Attr::kRhsContractingDims), rhs_free);
    for (int64_t d : batch) batches_ *= lhs.dimension(d);
    for (int64_t d : contracting) depth_ *= lhs.dimension(d);
    rows_ = lhs_free.Count();
    columns_ = rhs_free.Count();
    DimVector free;
    for (int64_t d = 0; d < lhs.rank(); ++d)
      if (!Has(batch, d) && !Has(contracting, d)) free.push_back(d);
    const RaggedList list(lhs, is_contracting_ ? contracting : absl::MakeConstSpan(free),
                          ragged_dim);
    outer_ = list.outer;
    ragged_ = list.ragged;
    inner_ = list.inner;
    sums_.column_size = depth_;
    sums_.length = is_contracting_ ? inner_ : depth_;
  }

  // The sums, which refer to this object.
  const ProductSums& Sums() {
    sums_.for_each_block = [this](absl::FunctionRef<void(const ProductSums::Block&)> f) {
      if (is_contracting_) {
        ForEachContracted(f);
      } else {
        ForEachRow(f);
      }
    };
    return sums_;
  }
  // Whether values depend on the sizes at all.
  bool ReadsSizes() const { return !is_batch_; }

 private:
  // Of sizes given once for all, or for every batch and index of the dimensions before.
  int64_t ListOf(int64_t batch, int64_t outer) const {
    return sizes_.shape().rank() == 1 ? 0 : batch * outer_ + outer;
  }

  // Ragged rows: each meets the columns of its group, rows of none are zero. Ragged batches are
  // those of a dot.
  void ForEachRow(absl::FunctionRef<void(const ProductSums::Block&)> f) const {
    const ProductSums::Run whole;
    for (int64_t b = 0; b < batches_; ++b) {
      for (int64_t row = 0; row < rows_; ++row) {
        const int64_t at = b * rows_ + row;
        ProductSums::Block block{.lhs = at * depth_,
                                 .rhs = b * columns_ * depth_,
                                 .columns = columns_,
                                 .result = at * columns_,
                                 .runs = {&whole, 1}};
        if (!is_batch_) {
          const int64_t group = GroupOf(b, row / (ragged_ * inner_), row / inner_ % ragged_);
          if (group < 0) {
            block.runs = {};
          } else {
            block.rhs += group * batches_ * columns_ * depth_;
          }
        }
        f(block);
      }
    }
  }
  int64_t GroupOf(int64_t batch, int64_t outer, int64_t index) const {
    const auto ranges = GroupRanges(sizes_, ListOf(batch, outer), ragged_);
    for (size_t j = 0; j < ranges.size(); ++j)
      if (ranges[j].first <= index && index < ranges[j].second) return static_cast<int64_t>(j);
    return -1;
  }

  // A ragged contracting dimension: the sum over each group is a result of its own.
  void ForEachContracted(absl::FunctionRef<void(const ProductSums::Block&)> f) const {
    const int64_t groups = sizes_.shape().dimensions().back();
    for (int64_t j = 0; j < groups; ++j) {
      for (int64_t b = 0; b < batches_; ++b) {
        std::vector<ProductSums::Run> runs;
        for (int64_t outer = 0; outer < outer_; ++outer) {
          const auto [start, end] = GroupRanges(sizes_, ListOf(b, outer), ragged_)[j];
          for (int64_t r = start; r < end; ++r) {
            const int64_t at = (outer * ragged_ + r) * inner_;
            runs.push_back({at, at});
          }
        }
        for (int64_t row = 0; row < rows_; ++row) {
          const int64_t at = b * rows_ + row;
          f({.lhs = at * depth_,
             .rhs = b * columns_ * depth_,
             .columns = columns_,
             .result = (j * batches_ * rows_ + at) * columns_,
             .runs = runs});
        }
      }
    }
  }

  const Literal& sizes_;
  ProductSums sums_;
  bool is_batch_ = false, is_contracting_ = false;
  int64_t batches_ = 1, rows_ = 1, columns_ = 1, depth_ = 1;
  int64_t outer_ = 1, ragged_ = 1, inner_ = 1;
};

absl::Status EvaluateRaggedDot(const OpContext& op, Literal& result) {
  RaggedDot dot(op);
  return EvaluateProductSums(op, dot.Sums(), result);
}

absl::Status BoundRaggedDot(const OpContext& op, Array& result) {
  RaggedDot dot(op);
  if (dot.ReadsSizes() && !op.array(2).Certain()) {
    MakeUndecided(result);
  } else {
    BoundProductSums(op, dot.Sums(), result);
  }
  return absl::OkStatus();
}

// ---- scaled-dot: a dot whose operands are multiplied by a factor per block first.

// The index of the factor for every element of the operand.
IndexMap BlockOf(const Shape& data, const Shape& factors) {
  const DimVector strides = RowMajorStrides(factors.dimensions());
  IndexMap map;
  if (data.ElementCount() == 0) return map;
  DimVector index(data.rank(), 0);
  do {
    int64_t at = 0;
    for (int64_t d = 0; d < data.rank(); ++d)
      at += index[d] / (data.dimension(d) / factors.dimension(d)) * strides[d];
    map.push_back(at);
  } while (NextIndex(data.dimensions(), absl::MakeSpan(index)));
  return map;
}

// Products of data and factors may be kept in bf16, or in the data's type if that holds more, and
// so may the factors before: what that rounds or flushes is added to the bound.
void AddScalingError(const OpContext& op, ElementType data, const Array& factors, Array& scaled) {
  const FloatFormat& kept = Format(ElementType::kBF16).mantissa_bits > Format(data).mantissa_bits
                                ? Format(ElementType::kBF16)
                                : Format(data);
  for (int64_t i = 0; i < scaled.literal.element_count(); ++i) {
    const double product = scaled.literal.GetDouble(i), factor = factors.literal.GetDouble(i);
    const double magnitude = std::fabs(product);
    if (!std::isfinite(product) || product == 0) continue;
    if (magnitude > kept.MaxFinite()) {
      SetUndecided(scaled, i);
      continue;
    }
    const bool kept_exactly = DecodeFloat(kept, EncodeFloat(kept, product)) == product &&
                              DecodeFloat(kept, EncodeFloat(kept, factor)) == factor;
    const bool tiny = op.clauses.Has(ClauseId::kFlushSubnormals) &&
                      (magnitude < 0x1p-126 || std::fabs(factor) < 0x1p-126);
    if (kept_exactly && !tiny) continue;
    const ElementBound old =
        scaled.bounds.empty() ? ElementBound{product, 0, 0, 0} : scaled.bounds[i];
    Range<long double> x{old.centre, old.radius, old.flags & kSpecialFlags};
    if ((old.flags & kForced) != 0) x = {product, 0, 0};
    x.radius += tiny ? magnitude : std::ldexp(magnitude, -kept.mantissa_bits);
    Store(scaled, i, x, 0);
  }
}

// Operand k in f64, scaled; a scalar scale is none.
absl::StatusOr<Array> ScaledOperand(const OpContext& op, int64_t k, bool bounding) {
  absl::StatusOr<Array> data = ConvertArray(op, op.array(k), ElementType::kF64, bounding);
  const Array& scale = op.array(k + 2);
  if (!data.ok() || scale.literal.shape().IsScalar()) return data;
  absl::StatusOr<Array> factors = ConvertArray(op, scale, ElementType::kF64, bounding);
  if (!factors.ok()) return factors.status();
  const Shape shape = data->literal.shape();
  Array spread{Literal(shape)};
  const IndexMap blocks = BlockOf(shape, scale.literal.shape());
  for (size_t i = 0; i < blocks.size(); ++i) {
    spread.literal.SetDouble(static_cast<int64_t>(i), factors->literal.GetDouble(blocks[i]));
    if (!factors->Certain()) MoveBound(*factors, blocks[i], spread, static_cast<int64_t>(i));
  }
  Value sides[2];
  sides[0].array = std::make_shared<const Array>(*std::move(data));
  sides[1].array = std::make_shared<const Array>(std::move(spread));
  const Value* operands[] = {&sides[0], &sides[1]};
  const OpContext product{op.instruction, shape, operands, op.clauses, op.analysis};
  const OpEvaluation& multiply = *FindEvaluation(Opcode::kMultiply);
  Array scaled{Literal(shape)};
  if (absl::Status status = multiply.evaluate(product, scaled.literal); !status.ok()) return status;
  if (!bounding) return scaled;
  if (absl::Status status = multiply.bound(product, scaled); !status.ok()) return status;
  AddScalingError(op, op.instruction.operand(k)->shape().element_type(), *sides[1].array, scaled);
  return scaled;
}

template <typename F>
absl::Status WithScaledOperands(const OpContext& op, bool bounding, F f) {
  Value sides[2];
  for (int64_t k : {0, 1}) {
    absl::StatusOr<Array> scaled = ScaledOperand(op, k, bounding);
    if (!scaled.ok()) return scaled.status();
    sides[k].array = std::make_shared<const Array>(*std::move(scaled));
  }
  const Value* operands[] = {&sides[0], &sides[1]};
  return f(OpContext{op.instruction, op.shape, operands, op.clauses, op.analysis});
}

absl::Status EvaluateScaledDot(const OpContext& op, Literal& result) {
  return WithScaledOperands(op, false, [&](const OpContext& scaled) {
    return EvaluateProductSums(scaled, SumsOfDot(scaled), result);
  });
}

absl::Status BoundScaledDot(const OpContext& op, Array& result) {
  return WithScaledOperands(op, true, [&](const OpContext& scaled) {
    BoundProductSums(scaled, SumsOfDot(scaled), result);
    return absl::OkStatus();
  });
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
      {Opcode::kRaggedDot, EvaluateRaggedDot, BoundRaggedDot, nullptr, DotCost},
      {Opcode::kScaledDot, EvaluateScaledDot, BoundScaledDot, nullptr, DotCost},
  };
  return kRows;
}

}  // namespace assay::reference
