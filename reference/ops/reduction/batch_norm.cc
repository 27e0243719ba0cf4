// Batch normalisation. Document: operation semantics chapter 12: the formulas, and the bound
// 32 (m + 8) u S, S being the formula with every term replaced by its absolute value.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/bounds/elements.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/interpreter/widening.h"
#include "reference/ops/reduction/fold.h"
#include "reference/values/narrow_types.h"

namespace assay::reference {
namespace {

// A real number that is known up to a radius, and the sum of the absolute values of the terms that
// made it. `peak`: the largest magnitude on the way, which may not fit the type though the result
// does.
struct Ball {
  long double centre = 0, radius = 0, terms = 0, peak = 0;
};

Ball Made(long double centre, long double radius, long double terms, const Ball& a, const Ball& b) {
  return {centre, radius, terms, std::max({a.peak, b.peak, terms + radius})};
}
Ball operator+(const Ball& a, const Ball& b) {
  return Made(a.centre + b.centre, a.radius + b.radius, a.terms + b.terms, a, b);
}
Ball operator-(const Ball& a, const Ball& b) {
  return Made(a.centre - b.centre, a.radius + b.radius, a.terms + b.terms, a, b);
}
Ball operator*(const Ball& a, const Ball& b) {
  return Made(a.centre * b.centre,
              std::fabs(a.centre) * b.radius + std::fabs(b.centre) * a.radius + a.radius * b.radius,
              a.terms * b.terms, a, b);
}
// The divisor is positive; where it may be zero, the quotient is not known at all.
Ball operator/(const Ball& a, const Ball& b) {
  const long double least = b.centre - b.radius, centre = a.centre / b.centre;
  const long double radius = least > 0 ? (a.radius + std::fabs(centre) * b.radius) / least
                                       : std::numeric_limits<long double>::infinity();
  return Made(centre, radius, a.terms / b.centre, a, b);
}
Ball Root(const Ball& a) {
  const long double least = a.centre - a.radius, centre = std::sqrt(a.centre);
  const long double radius = least > 0 ? a.radius / (std::sqrt(least) + centre)
                                       : std::numeric_limits<long double>::infinity();
  return Made(centre, radius, centre, a, a);
}
Ball Number(long double value) { return {value, 0, std::fabs(value), std::fabs(value)}; }

// The elements of each feature.
class FeatureTerms {
 public:
  FeatureTerms(const Shape& shape, int64_t feature_index)
      : features_(shape.dimension(feature_index)) {
    for (int64_t d = feature_index + 1; d < shape.rank(); ++d) inner_ *= shape.dimension(d);
    count_ = features_ == 0 ? 0 : shape.ElementCount() / features_;
  }
  int64_t features() const { return features_; }
  int64_t count() const { return count_; }  // elements per feature
  int64_t Element(int64_t feature, int64_t k) const {
    return (k / inner_ * features_ + feature) * inner_ + k % inner_;
  }

 private:
  int64_t features_, inner_ = 1, count_ = 0;
};

// One batch normalisation op on elements of type T.
template <typename T>
class BatchNorm {
 public:
  using W = Wide<T>;

  BatchNorm(const OpContext& op, bool bounding, const std::vector<Array*>& results, double epsilon)
      : op_(op),
        bounding_(bounding),
        results_(results),
        terms_(op.literal(0).shape(), op.instruction.attributes().Integer(Attr::kFeatureIndex)),
        epsilon_(Number(epsilon)) {}

  // y = scale (x - mean) / sqrt(variance + epsilon) + offset, mean and variance those of the batch.
  void Training() {
    for (int64_t f = 0; f < terms_.features(); ++f) {
      Begin();
      const Ball scale = Read(1, f), offset = Read(2, f);
      Ball sum, squares;
      for (int64_t k = 0; k < terms_.count(); ++k) sum = sum + Read(0, terms_.Element(f, k));
      const Ball mean = Finish(Mean(sum), 1, f, true);
      for (int64_t k = 0; k < terms_.count(); ++k) {
        const Ball deviation = Read(0, terms_.Element(f, k)) - mean;
        squares = squares + deviation * deviation;
      }
      const Ball variance = Finish(Mean(squares), 2, f, true);
      const Ball root = Root(variance + epsilon_);
      for (int64_t k = 0; k < terms_.count(); ++k) {
        const int64_t at = terms_.Element(f, k);
        Finish(scale * (Read(0, at) - mean) / root + offset, 0, at, true);
      }
    }
  }

  // The same with given mean and variance.
  void Inference() {
    for (int64_t f = 0; f < terms_.features(); ++f) {
      for (int64_t k = 0; k < terms_.count(); ++k) {
        Begin();
        const int64_t at = terms_.Element(f, k);
        const Ball scale = Read(1, f), offset = Read(2, f), mean = Read(3, f);
        const Ball root = Root(Read(4, f) + epsilon_);
        Finish(scale * (Read(0, at) - mean) / root + offset, 0, at, false);
      }
    }
  }

  void Gradient() {
    for (int64_t f = 0; f < terms_.features(); ++f) {
      Begin();
      Ball sum;  // of the gradients
      for (int64_t k = 0; k < terms_.count(); ++k) sum = sum + Read(4, terms_.Element(f, k));
      Finish(sum, 2, f, true);
      const Ball scale = Read(1, f), mean = Read(2, f), shifted = Read(3, f) + epsilon_;
      const Ball root = Root(shifted);
      Ball products;  // of gradients and deviations
      for (int64_t k = 0; k < terms_.count(); ++k) {
        const int64_t at = terms_.Element(f, k);
        products = products + Read(4, at) * (Read(0, at) - mean);
      }
      Finish(products / root, 1, f, true);
      const Ball d = Spread(Mean(sum)), c = Spread(Mean(products) / shifted);
      for (int64_t k = 0; k < terms_.count(); ++k) {
        const int64_t at = terms_.Element(f, k);
        const Ball deviation = Read(0, at) - mean;
        Finish(scale / root * (Read(4, at) - d - c * deviation), 0, at, true);
      }
    }
  }

 private:
  // The precision of the computation: f32 for what is narrower.
  using Computed = std::conditional_t<kIsNarrow<T>, float, T>;

  void Begin() { nan_ = unknown_ = false; }

  Ball Read(int64_t operand, int64_t i) {
    const Array& array = op_.array(operand);
    const Range<W> x =
        bounding_ ? Seen<T>(op_.clauses, array, i) : Point<T>(array.literal.data<T>()[i]);
    const uint32_t flags = x.flags & kSpecialFlags & ~uint32_t{kZeroSignFree};
    if (flags == 0) return Made(x.centre, x.radius, std::fabs(x.centre) + x.radius, {}, {});
    nan_ = nan_ || flags == (kNotFinite | kMayBeNan);
    unknown_ = unknown_ || flags != (kNotFinite | kMayBeNan);
    const auto plain = static_cast<long double>(Widen<W>(array.literal.data<T>()[i]));
    return Number(plain);
  }

  Ball Mean(const Ball& sum) const {
    const auto m = static_cast<long double>(terms_.count());
    return {sum.centre / m, sum.radius / m, sum.terms / m, sum.peak};
  }

  // What the document grants to a quantity: 32 (m + 8) u S.
  Ball Spread(Ball x, bool of_sum = true) const {
    const long double m = of_sum ? static_cast<long double>(terms_.count()) : 1;
    x.radius += 32 * (m + 8) * static_cast<long double>(UnitRoundoff<Computed>()) * x.terms;
    if (op_.clauses.Has(ClauseId::kFlushSubnormals))
      x.radius += (m + 8) * static_cast<long double>(Tiny<Computed>());
    return x;
  }

  // Stores x as element i of a result, and returns what later formulas may use of it.
  Ball Finish(const Ball& exact, size_t result, int64_t i, bool of_sum) {
    Array& array = *results_[result];
    const T plain = Round<T>(static_cast<W>(exact.centre));
    array.literal.data<T>()[i] = plain;
    const Ball x = Spread(exact, of_sum);
    if (!bounding_) return x;
    if (nan_ && !unknown_ && std::isnan(exact.centre)) {
      Store(array, i, Range<W>{0, 0, kNotFinite | kMayBeNan}, 0);
    } else if (nan_ || unknown_ || !std::isfinite(x.centre) || !std::isfinite(x.radius) ||
               x.peak > static_cast<long double>(std::numeric_limits<Computed>::max()) / 2) {
      // Beside the document: infinities, also on the way, and variance + epsilon that is not
      // positive.
      if (terms_.count() > 0) SetUndecided(array, i);
    } else {
      const auto centre = static_cast<W>(x.centre);
      const W radius =
          static_cast<W>(x.radius) + (std::fabs(centre) + static_cast<W>(x.radius)) * kSlop<W>;
      const Range<W> range = Rounded<T>(Range<W>{centre, radius, 0}, 0);
      const bool flush = op_.clauses.Has(ClauseId::kFlushSubnormals) && TouchesSubnormals<T>(range);
      Store(array, i, range, flush ? uint32_t{kMayFlush} : 0);
    }
    return x;
  }

  const OpContext& op_;
  bool bounding_;
  const std::vector<Array*>& results_;
  FeatureTerms terms_;
  Ball epsilon_;
  // What the numbers read since Begin contain.
  bool nan_ = false, unknown_ = false;
};

// The op on elements of a type that is computed.
std::vector<Array> Normalise(const OpContext& op, bool bounding, double epsilon) {
  std::vector<Array> results;
  if (op.shape.IsTuple()) {
    for (const Shape& leaf : op.shape.elements()) results.push_back(Array{Literal(leaf)});
  } else {
    results.push_back(Array{Literal(op.shape)});
  }
  std::vector<Array*> pointers;
  for (Array& result : results) pointers.push_back(&result);
  DispatchReal(op.literal(0).element_type(), [&](auto tag) {
    BatchNorm<typename decltype(tag)::type> norm(op, bounding, pointers, epsilon);
    switch (op.instruction.opcode()) {
      case Opcode::kBatchNormTraining:
        return norm.Training();
      case Opcode::kBatchNormInference:
        return norm.Inference();
      default:
        return norm.Gradient();
    }
  });
  return results;
}

// Narrow types are computed in the wider one, as f16 is, and rounded once.
absl::StatusOr<std::vector<Array>> NormaliseNarrow(const OpContext& op, bool bounding,
                                                   double epsilon) {
  const ElementType type = op.literal(0).element_type(), wide = ComputedType(type);
  std::vector<Value> values;
  for (size_t k = 0; k < op.operands.size(); ++k) {
    absl::StatusOr<Array> operand =
        ConvertArray(op, op.array(static_cast<int64_t>(k)), wide, bounding);
    if (!operand.ok()) return operand.status();
    values.push_back({std::make_shared<const Array>(*std::move(operand)), {}});
  }
  std::vector<const Value*> operands;
  for (const Value& value : values) operands.push_back(&value);
  auto widened = [wide](const Shape& leaf) { return Shape::Array(wide, leaf.dimensions()); };
  std::vector<Shape> leaves;
  if (op.shape.IsTuple())
    for (const Shape& leaf : op.shape.elements()) leaves.push_back(widened(leaf));
  const Shape shape = op.shape.IsTuple() ? Shape::Tuple(std::move(leaves)) : widened(op.shape);
  std::vector<Array> results = Normalise(
      OpContext{op.instruction, shape, operands, op.clauses, op.analysis}, bounding, epsilon);
  for (Array& result : results) {
    absl::StatusOr<Array> narrow = ConvertArray(op, result, type, bounding);
    if (!narrow.ok()) return narrow.status();
    result = *std::move(narrow);
  }
  return results;
}

absl::StatusOr<Value> ApplyBatchNorm(Interpreter& interpreter, const OpContext& op) {
  const int64_t elements = op.literal(0).element_count();
  if (absl::Status status = interpreter.budget().Take(4 * elements + 1); !status.ok())
    return status;
  const ElementType type = op.literal(0).element_type();
  const bool narrow = IsNarrowType(type), bounding = interpreter.bounding();
  if (!IsFloat(type) || (!IsComputed(type) && !narrow)) return UnsupportedType(op, type);
  // Beside the result what is held on the way: the widened batches.
  const int64_t wide = narrow ? 3 * 4 * elements : 0;
  const int64_t bounds =
      elements * static_cast<int64_t>(sizeof(ElementBound)) * (narrow ? int64_t{4} : int64_t{1});
  for (int64_t need : {op.shape.ByteSize() + wide, bounding ? bounds : 0})
    if (absl::Status status = interpreter.memory().Check(need); !status.ok()) return status;
  // A number of the type.
  double epsilon = op.instruction.attributes().Float(Attr::kEpsilon);
  epsilon = DecodeFloat(Format(type), EncodeFloat(Format(type), epsilon));
  absl::StatusOr<std::vector<Array>> results;
  if (narrow) {
    results = NormaliseNarrow(op, bounding, epsilon);
  } else {
    results = Normalise(op, bounding, epsilon);
  }
  if (!results.ok()) return results.status();
  return Collate(*std::move(results), op.shape.IsTuple(), interpreter.memory());
}

}  // namespace

absl::Span<const OpEvaluation> BatchNormEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kBatchNormTraining, nullptr, nullptr, ApplyBatchNorm},
      {Opcode::kBatchNormInference, nullptr, nullptr, ApplyBatchNorm},
      {Opcode::kBatchNormGrad, nullptr, nullptr, ApplyBatchNorm},
  };
  return kRows;
}

}  // namespace assay::reference
