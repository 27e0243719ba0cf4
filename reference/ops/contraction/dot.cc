// Dot and its relatives. Documents: operation semantics chapter 11, DotGeneral; hlo-format 4.0.4
// and 4.4 (ragged-dot, scaled-dot).
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/bounds/elements.h"
#include "reference/bounds/elementwise/rewrite_error.h"
#include "reference/bounds/products.h"
#include "reference/interpreter/widening.h"
#include "reference/ops/contraction/products.h"
#include "reference/values/lines.h"
#include "spec/base/status_macros.h"

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

// Result element [b, m, n] is the sum over k of lhs[b, m, k] * rhs[b, n, k], where b, m, n, k count
// batch, free and contracted dimensions in their orders. If only a sample is wanted, these are the
// sums of its elements alone.
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
  return op.analysis.sample != nullptr ? sums.Only(*op.analysis.sample) : sums;
}

absl::Status EvaluateDotSums(const OpContext& op, Literal& sums) {
  return EvaluateProductSums(op, SumsOfDot(op), sums);
}

absl::Status BoundDotSums(const OpContext& op, Array& sums) {
  BoundProductSums(op, SumsOfDot(op), sums);
  return absl::OkStatus();
}

absl::Status EvaluateDot(const OpContext& op, Literal& result) {
  return EvaluateInTypes(op, EvaluateDotSums, result);
}

// A dot over one term is a product, and may join the constants of products (constant-chains).
void WidenChainOfConstants(const OpContext& op, Array& result) {
  const LicensedForms& licensed = op.licensed;
  const bool is_chain = licensed.scales_twice || licensed.scale_of_both >= 0;
  if (!is_chain || !op.clauses.Has(ClauseId::kConstantChains) || !IsComputed(op.type())) return;
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Wide<T>;
    const W scale = std::max<W>(
        {W{1}, static_cast<W>(licensed.first_scale), static_cast<W>(licensed.scale_of_both)});
    for (int64_t i = 0; i < op.count(); ++i) {
      Range<W> x = Seen<T>(op.clauses, result, i);
      if (!x.HasFinite() || x.Undecided() || !std::isfinite(scale)) continue;
      const W size = std::fabs(x.centre) + x.radius;
      x.radius += (5 * size + scale * SubnormalStep<T>(op.clauses)) * UnitRoundoff<T>();
      const bool flush = op.clauses.Has(ClauseId::kFlushSubnormals) && TouchesSubnormals<T>(x);
      Store(result, i, x, flush ? uint32_t{kMayFlush} : 0);
    }
  });
}

absl::Status BoundDot(const OpContext& op, Array& result) {
  ASSAY_RETURN_IF_ERROR(BoundInTypes(op, EvaluateDotSums, BoundDotSums, result));
  if (IsFloat(op.type())) WidenChainOfConstants(op, result);
  return absl::OkStatus();
}

// ---- ragged-dot: groups of consecutive indices along the ragged dimension of lhs, by their sizes.

// Begin and end of each group of one list of sizes. Sizes below zero count as zero, groups end at
// `limit` at the latest, and an index behind the last group belongs to none.
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

// Sums of a dot along one ragged dimension of lhs, which may be a batch, a free or a contracting
// dimension: indices along it belong to groups, whose sizes are operand 2.
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
    // The group dimension of rhs, if there is one, comes before its batch dimensions.
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
    DimVector counted, sizes;
    for (int64_t d = 0; d < lhs.rank(); ++d)
      if (!Has(batch, d) && !Has(contracting, d)) counted.push_back(d);
    if (is_contracting_) counted.assign(contracting.begin(), contracting.end());
    for (int64_t d : counted) sizes.push_back(lhs.dimension(d));
    if (!is_batch_) {
      lines_ =
          Lines(sizes, std::find(counted.begin(), counted.end(), ragged_dim) - counted.begin());
    }
    sums_.column_size = depth_;
    sums_.length = is_contracting_ ? lines_.inner : depth_;
  }

  // The sums of the op. They refer to this object, which has to outlive them.
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
  // False if the sizes do not matter: groups of batches.
  bool ReadsSizes() const { return !is_batch_; }

 private:
  // The number of the list of group sizes: there is one for all, or one for every batch and index
  // of the dimensions before the ragged one.
  int64_t ListOf(int64_t batch, int64_t outer) const {
    return sizes_.shape().rank() == 1 ? 0 : batch * lines_.outer + outer;
  }

  // Ragged rows: each is multiplied with the columns of its group, and a row of no group gives
  // zeros. A ragged batch dimension is that of a dot.
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
          const int64_t group =
              GroupOf(b, row / (lines_.length * lines_.inner), row / lines_.inner % lines_.length);
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
    const auto ranges = GroupRanges(sizes_, ListOf(batch, outer), lines_.length);
    for (size_t j = 0; j < ranges.size(); ++j)
      if (ranges[j].first <= index && index < ranges[j].second) return static_cast<int64_t>(j);
    return -1;
  }

  // A ragged contracting dimension: every group gives a sum of its own.
  void ForEachContracted(absl::FunctionRef<void(const ProductSums::Block&)> f) const {
    const int64_t groups = sizes_.shape().dimensions().back();
    for (int64_t j = 0; j < groups; ++j) {
      for (int64_t b = 0; b < batches_; ++b) {
        std::vector<ProductSums::Run> runs;
        for (int64_t outer = 0; outer < lines_.outer; ++outer) {
          const auto [start, end] = GroupRanges(sizes_, ListOf(b, outer), lines_.length)[j];
          for (int64_t r = start; r < end; ++r) {
            const int64_t at = lines_.Block(outer, r);
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
  // The free or contracting dimensions of lhs, in the order in which they are counted, as lines
  // along the ragged one, if that is among them.
  Lines lines_;
};

absl::Status EvaluateRaggedSums(const OpContext& op, Literal& sums) {
  RaggedDot dot(op);
  return EvaluateProductSums(op, dot.Sums(), sums);
}

absl::Status BoundRaggedSums(const OpContext& op, Array& sums) {
  RaggedDot dot(op);
  if (dot.ReadsSizes() && !op.array(2).Certain()) {
    MakeUndecided(sums);
  } else {
    BoundProductSums(op, dot.Sums(), sums);
  }
  return absl::OkStatus();
}

absl::Status EvaluateRaggedDot(const OpContext& op, Literal& result) {
  return EvaluateInTypes(op, EvaluateRaggedSums, result);
}

absl::Status BoundRaggedDot(const OpContext& op, Array& result) {
  return BoundInTypes(op, EvaluateRaggedSums, BoundRaggedSums, result);
}

// ---- scaled-dot: a dot whose operands are multiplied by a factor per block first.

// The linear index of the factor of every element of `data`, given the shapes of both.
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
// so may the factors before. Adds the errors of rounding and flushing there to the bound.
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
        scaled.facts().bounds.empty() ? ElementBound{product, 0, 0, 0} : scaled.facts().bounds[i];
    Range<long double> x{old.centre, old.radius, old.flags & kSpecialFlags};
    if ((old.flags & kForced) != 0) x = {product, 0, 0};
    x.radius += tiny ? magnitude : std::ldexp(magnitude, -kept.mantissa_bits);
    Store(scaled, i, x, 0);
  }
}

// Operand k in f64, multiplied by its factors; a scalar in their place stands for no scaling.
absl::StatusOr<Array> ScaledOperand(const OpContext& op, int64_t k, bool bounding) {
  ASSAY_ASSIGN_OR_RETURN(Array data, ConvertArray(op, op.array(k), ElementType::kF64, bounding));
  const Array& scale = op.array(k + 2);
  if (scale.literal.shape().IsScalar()) return data;
  ASSAY_ASSIGN_OR_RETURN(Array factors, ConvertArray(op, scale, ElementType::kF64, bounding));
  const Shape shape = data.literal.shape();
  Array spread{Literal(shape)};
  const IndexMap blocks = BlockOf(shape, scale.literal.shape());
  for (size_t i = 0; i < blocks.size(); ++i) {
    spread.literal.SetDouble(static_cast<int64_t>(i), factors.literal.GetDouble(blocks[i]));
    if (!factors.Certain()) MoveBound(factors, blocks[i], spread, static_cast<int64_t>(i));
  }
  Value sides[2];
  sides[0].array = std::make_shared<const Array>(std::move(data));
  sides[1].array = std::make_shared<const Array>(std::move(spread));
  const Value* operands[] = {&sides[0], &sides[1]};
  const OpContext product = op.On(shape, operands);
  const OpEvaluation& multiply = *FindEvaluation(Opcode::kMultiply);
  Array scaled{Literal(shape)};
  ASSAY_RETURN_IF_ERROR(multiply.evaluate(product, scaled.literal));
  if (!bounding) return scaled;
  ASSAY_RETURN_IF_ERROR(multiply.bound(product, scaled));
  AddScalingError(op, op.instruction.operand(k)->shape().element_type(), *sides[1].array, scaled);
  return scaled;
}

template <typename F>
absl::Status WithScaledOperands(const OpContext& op, bool bounding, F f) {
  Value sides[2];
  for (int64_t k : {0, 1}) {
    ASSAY_ASSIGN_OR_RETURN(Array scaled, ScaledOperand(op, k, bounding));
    sides[k].array = std::make_shared<const Array>(std::move(scaled));
  }
  const Value* operands[] = {&sides[0], &sides[1]};
  return f(op.On(op.shape, operands));
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
  // The product of sizes may pass int64: it saturates.
  double cost = static_cast<double>(op.count());
  for (int64_t d : op.instruction.attributes().Integers(Attr::kLhsContractingDims))
    cost *= static_cast<double>(lhs.dimension(d));
  return cost > 9e18 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(cost);
}

}  // namespace

absl::Span<const OpEvaluation> DotEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kDot, .evaluate = EvaluateDot, .bound = BoundDot, .cost = DotCost},
      {.opcode = Opcode::kRaggedDot,
       .evaluate = EvaluateRaggedDot,
       .bound = BoundRaggedDot,
       .cost = DotCost},
      {.opcode = Opcode::kScaledDot,
       .evaluate = EvaluateScaledDot,
       .bound = BoundScaledDot,
       .cost = DotCost},
  };
  return kRows;
}

}  // namespace assay::reference
