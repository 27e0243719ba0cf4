// Batch normalisation. Document: operation semantics chapter 12. Legal are the formulas op by op,
// each rounded to the operand's type, and what f32 (f64 for f64) computes and rounds once: within
// 32 (m + 8) u S, S being the formula with every term replaced by its absolute value.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "reference/bounds/elements.h"
#include "reference/bounds/magnitudes.h"
#include "reference/interpreter/interpreter.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/interpreter/widening.h"
#include "reference/values/leaves.h"
#include "reference/values/lines.h"
#include "reference/values/narrow_types.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// The error that every step of the formulas may have.
template <typename S>
struct StepError {
  S unit = 0;     // in relation to the result; 0: said of the whole formula instead
  S grain = 0;    // of products and quotients that are subnormal
  S flushed = 0;  // what is smaller may become zero
  S normal = 0;   // what is smaller is subnormal
  S largest = std::numeric_limits<S>::infinity();  // that does not overflow
};

// A real number that is known up to a radius, and the sum of the absolute values of the terms that
// made it. `peak`: the largest magnitude on the way, which may not fit the type though the result
// does. `step`: the errors of the ops that made it; null for a number that is given. `made_of`:
// like `terms`, of what the operands were made of themselves (ElementBound::magnitude).
template <typename S>
struct Estimate {
  S centre = 0, radius = 0, terms = 0, peak = 0;
  const StepError<S>* step = nullptr;
  S made_of = 0;

  S size() const { return std::fabs(centre) + radius; }
  // Adds the error of so many roundings, and what becomes of a number near zero, in units of the
  // smallest subnormal number beside flushing.
  Estimate& Round(S roundings, S grains) {
    if (step == nullptr) return *this;
    // A certain zero has neither a last digit nor anything to flush.
    if (size() > 0) {
      radius +=
          roundings * step->unit * size() + grains * step->grain + std::min(size(), step->flushed);
    }
    peak = std::max(peak, step->unit == 0 ? terms + radius : size());
    return *this;
  }
};

template <typename S>
Estimate<S> Made(S centre, S radius, S terms, const Estimate<S>& a, const Estimate<S>& b) {
  return {centre,
          radius,
          terms,
          std::max(a.peak, b.peak),
          a.step != nullptr ? a.step : b.step,
          a.made_of + b.made_of};
}

template <typename S>
Estimate<S> operator+(const Estimate<S>& a, const Estimate<S>& b) {
  Estimate<S> sum = Made(a.centre + b.centre, a.radius + b.radius, a.terms + b.terms, a, b);
  return sum.Round(1, 0);
}
template <typename S>
Estimate<S> operator-(const Estimate<S>& a, const Estimate<S>& b) {
  Estimate<S> sum = Made(a.centre - b.centre, a.radius + b.radius, a.terms + b.terms, a, b);
  return sum.Round(1, 0);
}
template <typename S>
Estimate<S> operator*(const Estimate<S>& a, const Estimate<S>& b) {
  Estimate<S> product =
      Made(a.centre * b.centre,
           std::fabs(a.centre) * b.radius + std::fabs(b.centre) * a.radius + a.radius * b.radius,
           a.terms * b.terms, a, b);
  product.made_of = a.made_of * b.made_of;
  return product.Round(1, 1);
}
// The divisor is positive; where it may be zero, the quotient is not known at all.
template <typename S>
Estimate<S> operator/(const Estimate<S>& a, const Estimate<S>& b) {
  const S least = b.centre - b.radius, centre = a.centre / b.centre;
  const S radius = least > 0 ? (a.radius + std::fabs(centre) * b.radius) / least
                             : std::numeric_limits<S>::infinity();
  Estimate<S> quotient = Made(centre, radius, a.terms / b.centre, a, b);
  quotient.made_of = a.made_of * b.made_of / (b.centre * b.centre);
  return quotient.Round(1, 1);
}
// The root as a divisor: who multiplies by the reciprocal root instead has the 2 ulps of rsqrt.
template <typename S>
Estimate<S> Root(const Estimate<S>& estimate) {
  constexpr S kRoundings = 5;
  const S least = estimate.centre - estimate.radius, centre = std::sqrt(estimate.centre);
  const S radius = least > 0 ? estimate.radius / (std::sqrt(least) + centre)
                             : std::numeric_limits<S>::infinity();
  Estimate<S> root = Made(centre, radius, centre, estimate, estimate);
  root.made_of = std::sqrt(estimate.made_of);
  return root.Round(kRoundings, 0);
}
template <typename S>
Estimate<S> Number(S value) {
  return {value, 0, std::fabs(value), 0, nullptr, std::fabs(value)};
}

// A sum of many terms in any order.
template <typename S>
class Sum {
 public:
  explicit Sum(const StepError<S>& step) { total_.step = &step; }

  void Add(const Estimate<S>& estimate) {
    total_ = Made(total_.centre + estimate.centre, total_.radius + estimate.radius,
                  total_.terms + estimate.terms, total_, estimate);
    size_ += estimate.size();
    ++count_;
  }
  Estimate<S> Total() const {
    const S additions = count_ > 0 ? static_cast<S>(count_ - 1) : 0;
    const StepError<S>& step = *total_.step;
    Estimate<S> total = total_;
    total.radius += additions * (step.unit * size_ * (1 + additions * step.unit) +
                                 std::min(size_, step.flushed));
    total.peak = std::max(total.peak, step.unit == 0 ? total.terms + total.radius : size_);
    return total;
  }

 private:
  Estimate<S> total_;
  S size_ = 0;  // of all terms together
  int64_t count_ = 0;
};

// One batch normalisation op on elements of type T. `lines_` runs along feature_index: features are
// the steps of the lines, and the elements of a feature are numbered by their lines.
template <typename T>
class BatchNorm {
 public:
  using W = Wide<T>;
  using Estimate = reference::Estimate<W>;
  using StepError = reference::StepError<W>;
  using Sum = reference::Sum<W>;

  BatchNorm(const OpContext& op, bool bounding, const std::vector<Array*>& results, double epsilon)
      : op_(op),
        bounding_(bounding),
        results_(results),
        lines_(op.literal(0).shape(), op.instruction.attributes().Integer(Attr::kFeatureIndex)),
        epsilon_(Number<W>(epsilon)),
        step_(StepOf(op)),
        has_known_terms_(
            std::all_of(op.operands.begin(), op.operands.end(),
                        [](const Value* operand) { return operand->array->Certain(); })) {}

  // y = scale (x - mean) / sqrt(variance + epsilon) + offset, mean and variance those of the batch.
  void Training() {
    for (int64_t f = 0; f < lines_.length; ++f) {
      Begin();
      const Estimate scale = Read(1, f), offset = Read(2, f);
      Sum sum(step_), squares(step_);
      for (int64_t k = 0; k < lines_.count; ++k) sum.Add(Read(0, lines_.Element(k, f)));
      const Estimate mean = Finish(Mean(sum.Total()), 1, f, true);
      for (int64_t k = 0; k < lines_.count; ++k) {
        const Estimate deviation = Read(0, lines_.Element(k, f)) - mean;
        squares.Add(deviation * deviation);
        if (std::isnan(mean.centre)) break;  // and so is the sum
      }
      const Estimate variance =
          Finish(WithDifferenceOfSquares(Mean(squares.Total()), mean), 2, f, true);
      const Estimate root = Root(variance + epsilon_);
      if (FinishAllAsNan({scale, mean, root, offset}, f)) continue;
      for (int64_t k = 0; k < lines_.count; ++k) {
        const int64_t at = lines_.Element(k, f);
        Finish(scale * (Read(0, at) - mean) / root + offset, 0, at, true);
      }
    }
  }

  // The y of Training with a mean and a variance that are given as operands 3 and 4.
  void Inference() {
    for (int64_t f = 0; f < lines_.length; ++f) {
      for (int64_t k = 0; k < lines_.count; ++k) {
        Begin();
        const int64_t at = lines_.Element(k, f);
        const Estimate scale = Read(1, f), offset = Read(2, f), mean = Read(3, f);
        const Estimate root = Root(Read(4, f) + epsilon_);
        const Estimate x = Read(0, at);
        const Estimate result = scale * (x - mean) / root + offset;
        const Estimate s = scale / root;
        Finish(WithScaleOfOperand(result, s, offset - mean * s, x.size(), mean.size()), 0, at,
               false);
      }
    }
  }

  // The gradients by the operand, by scale and by offset, from those of the output, operand 4.
  void Gradient() {
    for (int64_t f = 0; f < lines_.length; ++f) {
      Begin();
      Sum gradients(step_);
      for (int64_t k = 0; k < lines_.count; ++k) gradients.Add(Read(4, lines_.Element(k, f)));
      const Estimate sum = gradients.Total();
      Finish(sum, 2, f, true);
      const Estimate scale = Read(1, f), mean = Read(2, f), shifted = Read(3, f) + epsilon_;
      const Estimate root = Root(shifted);
      Sum of_products(step_);  // of gradients and deviations
      for (int64_t k = 0; k < lines_.count; ++k) {
        const int64_t at = lines_.Element(k, f);
        of_products.Add(Read(4, at) * (Read(0, at) - mean));
        if (std::isnan(mean.centre)) break;  // and so is the sum
      }
      const Estimate products = of_products.Total();
      Finish(products / root, 1, f, true);
      const Estimate d = Spread(Mean(sum)), c = Spread(Mean(products) / shifted);
      if (FinishAllAsNan({scale, mean, root, d, c}, f)) continue;
      for (int64_t k = 0; k < lines_.count; ++k) {
        const int64_t at = lines_.Element(k, f);
        const Estimate gradient = Read(4, at), deviation = Read(0, at) - mean;
        const Estimate correction = c * deviation;
        Estimate factor = WithFactorOfAll(gradient - d - correction, shifted);
        // The formula multiplies by the deviation first and divides by the variance then; all terms
        // it multiplies by the number of elements, by which all is divided in the end.
        const auto m = static_cast<W>(lines_.count);
        factor.peak =
            std::max({factor.peak, products.size() * deviation.size(), m, m * gradient.size(),
                      m * correction.size(), m * (gradient - d).size(), m * factor.size()});
        Finish(WithDivisionLast(scale / root * factor, scale / root, factor), 0, at, true);
      }
    }
  }

 private:
  // The type whose precision the computation has: f32 for elements that are narrower.
  using Computed = std::conditional_t<kIsNarrow<T>, float, T>;

  // A NaN that goes into the results of all elements of a feature makes them NaN, and leaves
  // nothing to compute, which is slow on NaN. True if one of `parts` is NaN.
  bool FinishAllAsNan(std::initializer_list<Estimate> parts, int64_t f) {
    const auto nan = std::find_if(parts.begin(), parts.end(),
                                  [](const Estimate& part) { return std::isnan(part.centre); });
    if (nan == parts.end()) return false;
    for (int64_t k = 0; k < lines_.count; ++k) Finish(*nan, 0, lines_.Element(k, f), true);
    return true;
  }

  // Starts a result: forgets the special values that were read for the one before.
  void Begin() { nan_ = unknown_ = false; }

  Estimate Read(int64_t operand, int64_t i) {
    const Array& array = op_.array(operand);
    const Range<W> x =
        bounding_ ? Seen<T>(op_.clauses, array, i) : Point<T>(array.literal.data<T>()[i]);
    const uint32_t flags = x.flags & kSpecialFlags & ~uint32_t{kZeroSignFree};
    const W size = std::fabs(x.centre) + x.radius;
    const W noted = array.facts().bounds.empty() ? 0 : array.facts().bounds[i].magnitude();
    if (flags == 0) return {x.centre, x.radius, size, 0, &step_, std::max(size, noted)};
    nan_ = nan_ || flags == (kNotFinite | kMayBeNan);
    unknown_ = unknown_ || flags != (kNotFinite | kMayBeNan);
    const auto plain = static_cast<W>(Widen<W>(array.literal.data<T>()[i]));
    return Number<W>(plain);
  }

  static StepError StepOf(const OpContext& op) {
    // The type that the instruction has: narrow ones were widened before.
    const FloatFormat& format = Format(op.instruction.operand(0)->shape().element_type());
    StepError step;
    const bool flush = op.clauses.Has(ClauseId::kFlushSubnormals) && kFlushes<T>;
    step.grain = format.MinSubnormal();
    step.normal = format.MinNormal();
    step.flushed = flush ? format.MinNormal() : 0;
    if (format.type == ElementType::kF32 || format.type == ElementType::kF64) return step;
    step.unit = std::ldexp(W{1}, -format.precision());
    step.largest = format.MaxFinite();
    return step;
  }

  // Divides by the number of elements, which is rounded, and whose reciprocal may be multiplied by.
  Estimate Mean(const Estimate& sum) const {
    constexpr W kRoundings = 3;
    const auto m = static_cast<W>(lines_.count);
    Estimate mean{sum.centre / m, sum.radius / m, sum.terms / m,
                  sum.peak,       sum.step,       sum.made_of / m};
    if (step_.unit != 0) mean.peak = std::max(mean.peak, m);
    return mean.Round(kRoundings, 1);
  }

  // The variance, which may also be the mean of the squares less the square of the mean. In f32 and
  // f64 the bound of the whole formula holds that.
  Estimate WithDifferenceOfSquares(Estimate variance, const Estimate& mean) const {
    if (step_.unit == 0) return variance;
    const auto m = static_cast<W>(lines_.count);
    const W of_mean = mean.size() * mean.size();
    const W squares = variance.size() + of_mean;
    const W radius = (m + 4) * step_.unit * squares * (1 + m * step_.unit) +
                     2 * mean.size() * mean.radius + 3 * step_.unit * of_mean +
                     (m + 3) * (step_.grain + step_.flushed);
    variance.radius = std::max(variance.radius, radius);
    variance.peak = std::max(variance.peak, m * squares);
    return variance;
  }

  // The most that a number of this size may lose by rounding or flushing near zero.
  W LostNearZero(W size) const {
    return size > 0 ? step_.grain + std::min(size, step_.flushed) : 0;
  }

  // With s = scale / root, the result that XLA computes as x s + (offset - mean s), from |x| and
  // |mean|: s, the products and their difference from the offset, `shift`, may be subnormal, or
  // flushed, or overflow, where the result is none of it. Where x was scaled by a constant, s may
  // be scaled instead (constant-chains).
  Estimate WithScaleOfOperand(Estimate result, const Estimate& s, const Estimate& shift, W x,
                              W mean) const {
    constexpr W kRoundings = 3;
    const W by = x + mean;
    if (!op_.analysis.is_xla || !std::isfinite(s.size())) return result;
    result.radius += kRoundings * step_.unit * result.terms + by * LostNearZero(s.size()) +
                     2 * LostNearZero(s.size() * by);
    result.peak = std::max({result.peak, s.size(), s.size() * x, s.size() * mean, shift.size()});
    const W scale = EarlyScale(), least = std::max<W>(std::fabs(s.centre) - s.radius, 0);
    if (scale > 0 && least < 2 * scale * step_.normal)
      result.radius += scale * x * LostNearZero(s.size() / scale);
    return result;
  }

  // A factor may become smaller by this when it is multiplied early by the constant that scaled the
  // operand; 0 where there is none.
  W EarlyScale() const {
    const W constant = static_cast<W>(op_.licensed.first_scale);
    const bool is_chain =
        op_.licensed.scales_twice && op_.clauses.Has(ClauseId::kConstantChains) && constant > 0;
    const W scale = is_chain ? std::max<W>(constant, 1 / constant) : 0;
    return std::isfinite(scale) ? scale : 0;
  }

  // The gradient of an element, where scale / root may have been divided by m before.
  Estimate WithDivisionLast(Estimate gradient, const Estimate& by, const Estimate& factor) const {
    const auto m = static_cast<W>(lines_.count);
    gradient.radius += m * factor.size() * LostNearZero(by.size() / m);
    return gradient;
  }

  // The factor of scale / root in the gradient of an element, which may be computed m times as
  // large, the sums not yet divided.
  Estimate WithFactorOfAll(Estimate factor, const Estimate& shifted) const {
    if (factor.size() == 0 && factor.terms == 0) return factor;
    factor.radius += (step_.grain + step_.flushed) * (2 + 1 / shifted.centre);
    factor.radius += 3 * step_.unit * factor.size();
    return factor;
  }

  // `x` with the error that the document grants to it: 32 (m + 8) u S, m being the number of
  // elements of a feature where a sum over these was made, else 1.
  Estimate Spread(Estimate x, bool of_sum = true) const {
    const W m = of_sum ? static_cast<W>(lines_.count) : 1;
    x.radius += 32 * (m + 8) * static_cast<W>(UnitRoundoff<Computed>()) * x.terms;
    const bool is_zero = x.size() == 0 && x.terms == 0;
    if (op_.clauses.Has(ClauseId::kFlushSubnormals) && !is_zero)
      x.radius += (m + 8) * static_cast<W>(Tiny<Computed>());
    return x;
  }

  // Stores x as element i of a result, and returns the estimate that later formulas may use.
  Estimate Finish(const Estimate& exact, size_t result, int64_t i, bool of_sum) {
    Array& array = *results_[result];
    const T plain = Round<T>(static_cast<W>(exact.centre));
    array.literal.data<T>()[i] = plain;
    const Estimate x = Spread(exact, of_sum);
    if (!bounding_) return x;
    if (nan_ && !unknown_ && std::isnan(exact.centre)) {
      Store(array, i, Range<W>{0, 0, kNotFinite | kMayBeNan}, 0);
    } else if (nan_ || unknown_ || !std::isfinite(x.centre) || !std::isfinite(x.radius) ||
               x.peak > static_cast<W>(std::numeric_limits<Computed>::max()) / 2 ||
               x.peak > step_.largest) {
      // UNSPECIFIED(operation semantics 12): results where infinities occur, also on the way, and
      // where variance + epsilon is not positive.
      if (lines_.count > 0 || unknown_) SetUndecided(array, i);
    } else {
      const auto centre = static_cast<W>(x.centre);
      const W radius =
          static_cast<W>(x.radius) + (std::fabs(centre) + static_cast<W>(x.radius)) * kSlop<W>;
      const Range<W> range = Rounded<T>(Range<W>{centre, radius, 0}, 0);
      const bool flush = op_.clauses.Has(ClauseId::kFlushSubnormals) && TouchesSubnormals<T>(range);
      Store(array, i, range, flush ? uint32_t{kMayFlush} : 0);
      array.facts().bounds[i].set_magnitude(static_cast<double>(x.made_of), has_known_terms_);
    }
    return x;
  }

  const OpContext& op_;
  bool bounding_;
  const std::vector<Array*>& results_;
  Lines lines_;
  Estimate epsilon_;
  StepError step_;
  const bool has_known_terms_;  // all operands are known
  // True if since Begin a number was read that is NaN for sure; that may be infinite or unknown.
  bool nan_ = false, unknown_ = false;
};

// The results of the op on elements of a type that C++ computes.
std::vector<Array> Normalise(const OpContext& op, bool bounding, double epsilon) {
  std::vector<Array> results = ZerosOf(op.shape);
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

// The results on elements of a narrow type, which are computed in the wider type.
absl::StatusOr<std::vector<Array>> NormaliseNarrow(const OpContext& op, bool bounding,
                                                   double epsilon) {
  const ElementType type = op.literal(0).element_type(), wide = ComputedType(type);
  std::vector<Value> values;
  for (size_t k = 0; k < op.operands.size(); ++k) {
    ASSAY_ASSIGN_OR_RETURN(Array operand,
                           ConvertArray(op, op.array(static_cast<int64_t>(k)), wide, bounding));
    values.push_back({std::make_shared<const Array>(std::move(operand)), {}});
  }
  std::vector<const Value*> operands;
  for (const Value& value : values) operands.push_back(&value);
  auto widened = [wide](const Shape& leaf) { return Shape::Array(wide, leaf.dimensions()); };
  std::vector<Shape> leaves;
  if (op.shape.IsTuple())
    for (const Shape& leaf : op.shape.elements()) leaves.push_back(widened(leaf));
  const Shape shape = op.shape.IsTuple() ? Shape::Tuple(std::move(leaves)) : widened(op.shape);
  std::vector<Array> results = Normalise(op.On(shape, operands), bounding, epsilon);
  for (Array& result : results) {
    ASSAY_ASSIGN_OR_RETURN(Array narrow, ConvertArray(op, result, type, bounding));
    TakeMagnitudes(result, narrow);
    result = std::move(narrow);
  }
  return results;
}

absl::StatusOr<Value> ApplyBatchNorm(Interpreter& interpreter, const OpContext& op) {
  const int64_t elements = op.literal(0).element_count();
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(4 * elements + 1));
  const ElementType type = op.literal(0).element_type();
  const bool narrow = IsNarrowType(type), bounding = interpreter.bounding();
  if (!IsFloat(type) || (!IsComputed(type) && !narrow)) return UnsupportedType(op, type);
  // Beside the result the widened operands and their bounds are held on the way.
  const int64_t wide = narrow ? 3 * 4 * elements : 0;
  const int64_t bounds =
      elements * static_cast<int64_t>(sizeof(ElementBound)) * (narrow ? int64_t{4} : int64_t{1});
  for (int64_t need : {op.shape.ByteSize() + wide, bounding ? bounds : 0})
    ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(need));
  // The epsilon of the attribute, rounded to the element type.
  double epsilon = op.instruction.attributes().Float(Attr::kEpsilon);
  epsilon = DecodeFloat(Format(type), EncodeFloat(Format(type), epsilon));
  absl::StatusOr<std::vector<Array>> results;
  if (narrow) {
    results = NormaliseNarrow(op, bounding, epsilon);
  } else {
    results = Normalise(op, bounding, epsilon);
  }
  if (!results.ok()) return results.status();
  return ValueOfLeaves(*std::move(results), op.shape, interpreter.memory());
}

}  // namespace

absl::Span<const OpEvaluation> BatchNormEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kBatchNormTraining, .apply = ApplyBatchNorm},
      {.opcode = Opcode::kBatchNormInference, .apply = ApplyBatchNorm},
      {.opcode = Opcode::kBatchNormGrad, .apply = ApplyBatchNorm},
  };
  return kRows;
}

}  // namespace assay::reference
