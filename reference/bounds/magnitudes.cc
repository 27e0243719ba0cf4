// Magnitudes op by op: a first-order error analysis of which only the sizes are kept.
#include "reference/bounds/magnitudes.h"

#include <algorithm>
#include <cmath>

#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

// Reads the elements of an array as numbers with sizes; a scalar stands for every element.
class Sizes {
 public:
  // Numbers below `tiny` may be flushed, and count as the numbers whose spacing that is: `flushed`.
  struct Flushing {
    double tiny = 0, flushed = 0;
  };

  Sizes(const Array& array, int64_t count, Flushing flushing)
      : array_(array),
        flushing_(flushing),
        parts_(BoundsPerElement(array.literal.element_type())),
        is_scalar_(array.literal.element_count() != count),
        known_(parts_ == 0 ? 0 : RoundingsOf(array)),
        floats_(array.literal.element_type() == ElementType::kF32
                    ? array.literal.data<float>().data()
                    : nullptr) {}

  bool IsFloat() const { return parts_ != 0; }
  // The centre of a real element; the modulus of a complex one.
  double Value(int64_t i) const {
    if (is_scalar_) i = 0;
    if (parts_ == 1) return Part(i);
    return std::hypot(Part(2 * i), Part(2 * i + 1));
  }
  double Magnitude(int64_t i) const {
    if (is_scalar_) i = 0;
    double most = std::fabs(Value(i));
    bool may_be_flushed = most < flushing_.tiny && most > 0;
    if (!array_.facts().bounds.empty()) {
      for (int64_t k = i * parts_; k < (i + 1) * parts_; ++k) {
        most = std::max(most, array_.facts().bounds[k].magnitude());
        may_be_flushed =
            may_be_flushed || (array_.facts().bounds[k].flags & (kMayFlush | kMayBeZero)) != 0;
      }
    }
    return may_be_flushed ? std::max(most, flushing_.flushed) : most;
  }
  // True if the element is known up to a rounding or two.
  bool IsKnown(int64_t i) const {
    if (is_scalar_) i = 0;
    double radius = 0;
    for (int64_t k = i * parts_; k < (i + 1) * parts_ && !array_.facts().bounds.empty(); ++k) {
      const ElementBound& bound = array_.facts().bounds[k];
      if ((bound.flags & kForced) != 0) continue;
      if ((bound.flags & (kNotFinite | kUndecided)) != 0) return false;
      radius = std::max(radius, bound.radius);
    }
    return radius == 0 || radius <= known_ * std::fabs(Value(i));
  }
  bool HasKnownTerms(int64_t i) const {
    if (is_scalar_) i = 0;
    return !array_.facts().bounds.empty() && array_.facts().bounds[i * parts_].has_known_terms();
  }

 private:
  // Twice the largest part of a number by which rounding moves it.
  static double RoundingsOf(const Array& array) {
    const ElementType type = ComponentType(array.literal.element_type());
    return std::exp2(1 - std::min(Format(type).precision(), array.facts().significand));
  }
  double Part(int64_t slot) const {
    if (!array_.facts().bounds.empty() &&
        (array_.facts().bounds[slot].flags & (kForced | kNotFinite)) == 0)
      return array_.facts().bounds[slot].centre;
    return floats_ != nullptr ? floats_[slot] : array_.literal.GetComponent(slot);
  }

  const Array& array_;
  Flushing flushing_;
  int64_t parts_;
  bool is_scalar_;
  double known_;
  const float* floats_;
};

// The numbers of an array that may be flushed. Without flushing, numbers below the least normal one
// have its spacing.
Sizes::Flushing FlushingOf(const OpContext& op, const Array& array) {
  const ElementType type = array.literal.element_type();
  if (BoundsPerElement(type) == 0) return {};
  const FloatFormat& format = Format(ComponentType(type));
  const double tiny = format.MinNormal();
  const bool flushes = op.clauses.Has(ClauseId::kFlushSubnormals) && type != ElementType::kF16;
  return {tiny, flushes ? std::ldexp(tiny, format.precision() - 1) : tiny};
}

// The slope of a function at x, where its value is y; 0 for functions whose magnitude is that of
// their result alone.
double Steepness(Opcode opcode, double x, double y) {
  switch (opcode) {
    case Opcode::kExponentialMinusOne:
      return y + 1;
    case Opcode::kLog:
      return 1 / x;
    case Opcode::kLogPlusOne:
      return 1 / (1 + x);
    case Opcode::kSine:
    case Opcode::kCosine:
      return std::sqrt(std::max(0.0, 1 - y * y));
    case Opcode::kTan:
      return 1 + y * y;
    case Opcode::kTanh:
      return 1 - y * y;
    case Opcode::kErf:
      return 1.13 * std::exp(-x * x);
    case Opcode::kAsin:
    case Opcode::kAcos:
      return 1 / std::sqrt(1 - x * x);
    case Opcode::kAsinh:
      return 1 / std::sqrt(1 + x * x);
    case Opcode::kAcosh:
      return 1 / std::sqrt(x * x - 1);
    case Opcode::kAtanh:
      return 1 / (1 - x * x);
    case Opcode::kSinh:
    case Opcode::kCosh:
      return std::fabs(y) + 1;
    default:
      return 0;
  }
}

// One operand's number and size.
struct SizedNumber {
  double value = 0, magnitude = 0;
  bool is_known = false;         // up to a rounding or two
  bool has_known_terms = false;  // ElementBound::has_known_terms
};

// The size that is noted of a result.
struct Size {
  double magnitude = 0;
  bool of_known_terms = false;
};

// The magnitude of an op on one number where it is y.
double MagnitudeOfUnary(Opcode opcode, const SizedNumber& x, double y) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kNegate:
    case Opcode::kConvert:
    case Opcode::kStochasticConvert:
    case Opcode::kReducePrecision:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
      return x.magnitude;
    case Opcode::kSqrt:
      return std::sqrt(x.magnitude);
    case Opcode::kCbrt:
      return std::cbrt(x.magnitude);
    default:
      break;
  }
  // A curved function cannot pass the size on where the operand has lost it to cancellation: no
  // straight line is near it there.
  const double passed_on = std::fabs(Steepness(opcode, x.value, y)) * x.magnitude;
  return std::min(passed_on, std::max(1.0, std::fabs(y)));
}

// The magnitude of an op on two numbers.
double MagnitudeOfBinary(Opcode opcode, const SizedNumber& a, const SizedNumber& b, double y) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
      return a.magnitude + b.magnitude;
    case Opcode::kMultiply:
      return a.magnitude * b.magnitude;
    case Opcode::kDivide:
      return a.magnitude * b.magnitude / (b.value * b.value);
    case Opcode::kRemainder:
      return a.magnitude;
    case Opcode::kPower:
      return std::fabs(y) * (std::fabs(b.value / a.value) * a.magnitude +
                             std::fabs(std::log(std::fabs(a.value))) * b.magnitude);
    case Opcode::kAtan2:
      return (std::fabs(b.value) * a.magnitude + std::fabs(a.value) * b.magnitude) /
             (a.value * a.value + b.value * b.value);
    default:
      return 0;
  }
}

// True if what one number was made of is all that was added up for the result.
bool PassesTermsOn(Opcode opcode) {
  return opcode == Opcode::kAbs || opcode == Opcode::kNegate || opcode == Opcode::kConvert ||
         opcode == Opcode::kReducePrecision;
}

bool HasKnownTerms(Opcode opcode, const SizedNumber& operand) {
  return operand.is_known || (operand.has_known_terms && PassesTermsOn(opcode));
}

// A factor or divisor that is known scales what the other number was made of.
bool HasKnownTerms(Opcode opcode, const SizedNumber& a, const SizedNumber& b) {
  if (a.is_known && b.is_known) return true;
  if (opcode == Opcode::kMultiply && a.is_known && b.has_known_terms) return true;
  return (opcode == Opcode::kMultiply || opcode == Opcode::kDivide) && b.is_known &&
         a.has_known_terms;
}

bool IsPick(Opcode opcode) {
  return opcode == Opcode::kMaximum || opcode == Opcode::kMinimum || opcode == Opcode::kClamp;
}

// Element-wise ops: calls f(i) for the size of every element that is not forced.
template <typename F>
void SetEach(const Sizes& own, Array& result, F f) {
  const int64_t parts = BoundsPerElement(result.literal.element_type());
  for (int64_t i = 0; i < result.literal.element_count(); ++i) {
    bool is_open = false;
    for (int64_t k = i * parts; k < (i + 1) * parts; ++k)
      is_open = is_open || (result.facts().bounds[k].flags & kForced) == 0;
    if (!is_open) continue;
    const Size size = f(i);
    const double magnitude = std::max(size.magnitude, own.Magnitude(i));
    for (int64_t k = i * parts; k < (i + 1) * parts; ++k)
      result.facts().bounds[k].set_magnitude(magnitude, size.of_known_terms);
  }
}

void NoteElementwise(const OpContext& op, Array& result) {
  const Opcode opcode = op.instruction.opcode();
  const int64_t count = result.literal.element_count();
  std::vector<Sizes> operands;
  for (const Value* operand : op.operands)
    operands.emplace_back(*operand->array, count, FlushingOf(op, *operand->array));
  const Sizes own(result, count, FlushingOf(op, result));
  auto sized = [&](size_t k, int64_t i) {
    return SizedNumber{operands[k].Value(i), operands[k].Magnitude(i), operands[k].IsKnown(i),
                       operands[k].HasKnownTerms(i)};
  };
  if (IsPick(opcode)) {
    // The magnitude is that of the operand that was picked, or the largest of those that may be.
    SetEach(own, result, [&](int64_t i) {
      Size most;
      for (size_t k = 0; k < operands.size(); ++k) {
        const SizedNumber operand = sized(k, i);
        if (std::fabs(operand.value - own.Value(i)) > result.facts().bounds[i].radius) continue;
        if (operand.magnitude >= most.magnitude)
          most = {operand.magnitude, operand.is_known || operand.has_known_terms};
      }
      return most;
    });
  } else if (operands.size() == 2 && operands[0].IsFloat() && operands[1].IsFloat()) {
    SetEach(own, result, [&](int64_t i) {
      const SizedNumber a = sized(0, i), b = sized(1, i);
      return Size{MagnitudeOfBinary(opcode, a, b, own.Value(i)), HasKnownTerms(opcode, a, b)};
    });
  } else if (!operands.empty() && operands[0].IsFloat()) {
    SetEach(own, result, [&](int64_t i) {
      const SizedNumber x = sized(0, i);
      return Size{MagnitudeOfUnary(opcode, x, own.Value(i)), HasKnownTerms(opcode, x)};
    });
  }
}

bool HasMagnitudes(const Array& result) {
  return std::any_of(result.facts().bounds.begin(), result.facts().bounds.end(),
                     [](const ElementBound& bound) { return bound.magnitude_bits != 0; });
}

// The number of trailing dimensions over which an op makes every element of the same numbers: the
// lines of a transform, the matrix of a factorization. -1: of no op else.
int64_t SharedDimensions(const Instruction& instruction, const Shape& shape) {
  switch (instruction.opcode()) {
    case Opcode::kFft:
      return std::min<int64_t>(instruction.attributes().Integers(Attr::kFftLength).size(),
                               shape.rank());
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve:
    case Opcode::kCustomCall:
      return std::min<int64_t>(2, shape.rank());
    default:
      return -1;
  }
}

// Gives every element in [begin, end) the root mean square of these: what sums over all of the
// numbers that they were made of have commonly.
void NoteRootMeanSquare(Array& result, int64_t begin, int64_t end) {
  const Sizes sizes(result, result.literal.element_count(), {});
  double largest = 0, sum = 0;
  for (int64_t i = begin; i < end; ++i) {
    const double value = std::fabs(sizes.Value(i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  if (largest == 0) return;
  for (int64_t i = begin; i < end; ++i) {  // scaled, so that squares neither overflow nor vanish
    const double value = sizes.Value(i) / largest;
    if (std::isfinite(value)) sum += value * value;
  }
  const double mean = largest * std::sqrt(sum / static_cast<double>(end - begin));
  const int64_t parts = BoundsPerElement(result.literal.element_type());
  for (int64_t k = begin * parts; k < end * parts; ++k)
    result.facts().bounds[k].set_magnitude(mean);
}

void NoteShared(const OpContext& op, Array& result) {
  const Shape& shape = result.literal.shape();
  const int64_t shared = SharedDimensions(op.instruction, shape);
  if (shared < 0) return;
  int64_t size = 1;
  for (int64_t d = shape.rank() - shared; d < shape.rank(); ++d) size *= shape.dimension(d);
  if (size == 0) return;
  for (int64_t at = 0; at < result.literal.element_count(); at += size)
    NoteRootMeanSquare(result, at, at + size);
}

}  // namespace

bool IsMove(Opcode opcode) {
  return Info(opcode).Is(kDataMovement) || opcode == Opcode::kSelect ||
         opcode == Opcode::kComplex || opcode == Opcode::kReal || opcode == Opcode::kImag;
}

void NoteMagnitudes(const OpContext& op, Array& result) {
  if (result.facts().bounds.empty()) return;
  const OpInfo& info = Info(op.instruction.opcode());
  const bool has_tuple = std::any_of(op.operands.begin(), op.operands.end(),
                                     [](const Value* operand) { return operand->IsTuple(); });
  if (IsMove(op.instruction.opcode())) return;
  if (info.Is(kElementwise) && !has_tuple) return NoteElementwise(op, result);
  if (!HasMagnitudes(result)) NoteShared(op, result);
}

void TakeMagnitudes(const Array& from, Array& to) {
  if (to.facts().bounds.empty() || to.facts().bounds.size() != from.facts().bounds.size()) return;
  for (size_t i = 0; i < from.facts().bounds.size(); ++i)
    to.facts().bounds[i].magnitude_bits = from.facts().bounds[i].magnitude_bits;
}

void NoteFreshMagnitudes(const OpContext& op, Array& result) {
  if (result.facts().bounds.empty() || Info(op.instruction.opcode()).Is(kDataMovement)) return;
  if (!HasMagnitudes(result)) NoteShared(op, result);
}

}  // namespace assay::reference
