// Arithmetic on single elements, by long double where a result is to be rounded once.
#include "reference/testing/legal_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spec/ops/op_table.h"

namespace assay::reference {

double LegalArithmetic::Flush(ElementType type, double x) const {
  const bool subnormal = x != 0 && std::fabs(x) < Format(type).MinNormal();
  const bool flushes = BitWidth(type) >= 32 || type == ElementType::kBF16;
  return flush_ && subnormal && flushes ? std::copysign(0.0, x) : x;
}

double LegalArithmetic::Round(ElementType type, long double x) const {
  const FloatFormat& format = Format(type);
  if (type == ElementType::kF64) return static_cast<double>(x);
  if (type == ElementType::kF32) return static_cast<float>(x);
  return DecodeFloat(format, EncodeFloat(format, static_cast<double>(x)));
}

Cell LegalArithmetic::Finish(ElementType type, long double exact) {
  Cell cell;
  // The other ones give the same by way of f32.
  if (type == ElementType::kF8E8M0FNU) exact = Round(ElementType::kF32, exact);
  if (FitsHalf(type) && Grants(ClauseId::kExcessPrecision) && random_.Coin())
    exact = Round(ElementType::kF16, exact);
  cell.value = Flush(type, Round(type, exact));
  cell.unrounded = IsNarrow(type) ? static_cast<float>(exact) : cell.value;
  return cell;
}

double LegalArithmetic::Perturb(ElementType type, double value, double ulps) {
  if (!std::isfinite(value) || value == 0) return value;
  const int64_t steps = static_cast<int64_t>(ulps);
  int64_t move = random_.Below(2 * steps + 1) - steps;
  const FloatFormat& format = Format(type);
  uint64_t code = EncodeFloat(format, value);
  const bool negative = value < 0;
  for (; move != 0; move += move > 0 ? -1 : 1) {
    const uint64_t next = (move > 0) != negative ? code + 1 : code - 1;
    const double moved = DecodeFloat(format, next);
    if (!std::isfinite(moved) || moved == 0) break;
    code = next;
  }
  return DecodeFloat(format, code);
}

Cell LegalArithmetic::Function(const Instruction& op, double x) {
  const long double wide = x;
  long double y = 0;
  bool exact_point = x == 0 || !std::isfinite(x);
  double low = -INFINITY, high = INFINITY;
  auto within = [&](double least, double most) {
    low = least;
    high = most;
  };
  switch (op.opcode()) {
    case Opcode::kExponential:
      y = std::exp(wide);
      within(0, INFINITY);
      break;
    case Opcode::kExponentialMinusOne:
      y = std::expm1(wide);
      within(-1, INFINITY);
      break;
    case Opcode::kLog:
      y = std::log(wide);
      exact_point = exact_point || x == 1;
      break;
    case Opcode::kLogPlusOne:
      y = std::log1p(wide);
      break;
    case Opcode::kTanh:
      y = std::tanh(wide);
      within(-1, 1);
      break;
    case Opcode::kErf:
      y = std::erf(wide);
      within(-1, 1);
      break;
    case Opcode::kLogistic:
      y = 1 / (1 + std::exp(-wide));
      within(0, 1);
      break;
    case Opcode::kCbrt:
      y = std::cbrt(wide);
      break;
    case Opcode::kSine:
      y = std::sin(wide);
      within(-1, 1);
      break;
    case Opcode::kCosine:
      y = std::cos(wide);
      within(-1, 1);
      break;
    case Opcode::kTan:
      y = std::tan(wide);
      break;
    default:
      y = 1 / std::sqrt(wide);
      break;
  }
  return Perturbed(op, y, exact_point, low, high);
}

double LegalArithmetic::UlpsOf(ElementType type, Opcode opcode) const {
  const NumericContract& contract = Info(opcode).numeric;
  const UlpBudget& budget = profile_.IsXla() ? contract.xla : contract.strict;
  if (BitWidth(type) <= 8) return 1;
  return type == ElementType::kF64   ? budget.f64
         : type == ElementType::kF32 ? budget.f32
         : type == ElementType::kF16 ? budget.f16
                                     : budget.bf16;
}

Cell LegalArithmetic::Perturbed(const Instruction& op, long double y, bool exact_point, double low,
                                double high) {
  const ElementType type = op.shape().element_type();
  const double ulps = UlpsOf(type, op.opcode());
  Cell cell = Finish(type, y);
  // A number that is rounded twice may be off by an ulp already.
  const bool is_moved = !IsTiny(type) || cell.value == Round(type, y);
  // A number that rounds to zero is zero.
  const bool is_zero = cell.value == 0 && !IsNarrow(type);
  if (!exact_point && is_moved && !is_zero && !std::isnan(cell.value)) {
    cell.value = Flush(type, std::clamp(Perturb(type, cell.value, ulps), low, high));
    if (!IsNarrow(type)) cell.unrounded = cell.value;
  }
  return cell;
}

Cell LegalArithmetic::Approximate(ElementType type, long double exact, double ulps) {
  const auto single = static_cast<float>(exact);
  const bool is_exact = !Grants(ClauseId::kApproximateQuotients) || !std::isnormal(single);
  if (is_exact || random_.Coin()) return Finish(type, exact);
  return Finish(type, Perturb(ElementType::kF32, single, ulps));
}

double LegalArithmetic::TowardsZero(long double exact) {
  const auto nearest = static_cast<float>(exact);
  const bool is_beyond = std::isfinite(nearest) && std::fabs(nearest) > std::fabs(exact);
  return is_beyond ? std::nextafter(nearest, 0.0F) : nearest;
}

double LegalArithmetic::Intermediate(ElementType type, long double exact) {
  if (!IsTiny(type)) return Round(type, exact);
  return Round(FitsHalf(type) && random_.Coin() ? ElementType::kF16 : ElementType::kF32, exact);
}

Cell LegalArithmetic::Product(ElementType type, double x, double y) {
  Cell cell = type == ElementType::kF64 ? Finish(type, x * y)
                                        : Finish(type, static_cast<long double>(x) * y);
  cell.is_product = true;
  cell.factor_a = x;
  cell.factor_b = y;
  return cell;
}

Cell LegalArithmetic::TimesReciprocalRoot(const Instruction& op, const Cell& dividend,
                                          const Cell& radicand, bool excess) {
  const ElementType type = op.shape().element_type();
  const double x = Read(type, dividend, excess), y = Read(type, radicand, excess);
  const double ulps = UlpsOf(type, Opcode::kRsqrt);
  const double root = Intermediate(type, 1 / std::sqrt(static_cast<long double>(y)));
  const double inverse = IsTiny(type) ? root : Perturb(type, root, ulps);
  return Product(type, x, inverse);
}

Cell LegalArithmetic::Unary(const Instruction& op, const Cell& operand, bool excess) {
  const ElementType type = op.shape().element_type();
  if (op.opcode() == Opcode::kNegate && type != ElementType::kF8E8M0FNU) {
    return {-operand.value, -operand.unrounded, operand.is_product, -operand.factor_a,
            operand.factor_b};
  }
  if (op.opcode() == Opcode::kAbs) {
    const double value = std::fabs(operand.value);
    return {value, std::fabs(operand.unrounded), false, 0, 0};
  }
  const double x = Read(type, operand, excess);
  switch (op.opcode()) {
    case Opcode::kNegate:
      return Finish(type, -x);  // which a type without a sign does not hold
    case Opcode::kFloor:
      return Finish(type, std::floor(x));
    case Opcode::kCeil:
      return Finish(type, std::ceil(x));
    case Opcode::kRoundNearestEven:
      return Finish(type, std::nearbyint(x));
    case Opcode::kSign:
      return Finish(type, x > 0 ? 1.0 : x < 0 ? -1.0 : x);
    case Opcode::kSqrt: {
      if (type == ElementType::kF64) return Finish(type, std::sqrt(x));
      return Approximate(type, std::sqrt(static_cast<long double>(x)), 1);
    }
    default:
      return Function(op, x);
  }
}

double LegalArithmetic::Extremum(double a, double b, bool maximum) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) == maximum ? b : a;
  return (a > b) == maximum ? a : b;
}

Cell LegalArithmetic::Chosen(const Instruction& op, const Cell& a, const Cell& b, bool excess) {
  const ElementType type = op.shape().element_type();
  const double x = Read(type, a, excess), y = Read(type, b, excess);
  const double value = Extremum(x, y, op.opcode() == Opcode::kMaximum);
  Cell cell = Finish(type, value);
  const Cell& taken = value == x ? a : b;
  if (x != y && !std::isnan(value)) {
    cell.is_product = taken.is_product;
    cell.factor_a = taken.factor_a;
    cell.factor_b = taken.factor_b;
  }
  return cell;
}

Cell LegalArithmetic::Fused(ElementType type, double a, double b, double c) {
  if (type == ElementType::kF64) return Finish(type, std::fma(a, b, c));
  Cell cell;
  cell.value =
      Flush(type, std::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
  cell.unrounded = cell.value;
  return cell;
}

Cell LegalArithmetic::Sum(const Instruction& op, const Cell& a, const Cell& b, bool excess,
                          bool contract) {
  const ElementType type = op.shape().element_type();
  const double sign = op.opcode() == Opcode::kSubtract ? -1 : 1;
  const double x = Read(type, a, excess), y = Read(type, b, excess);
  if (contract && !IsNarrow(type)) {
    if (a.is_product && (!b.is_product || random_.Coin()))
      return Fused(type, Flush(type, a.factor_a), Flush(type, a.factor_b), sign * y);
    if (b.is_product)
      return Fused(type, sign * Flush(type, b.factor_a), Flush(type, b.factor_b), x);
  }
  if (type == ElementType::kF64) return Finish(type, x + sign * y);
  return Finish(type, static_cast<long double>(x) + sign * static_cast<long double>(y));
}

Cell LegalArithmetic::Binary(const Instruction& op, const Cell& a, const Cell& b, bool excess,
                             bool contract, bool reciprocal) {
  const ElementType type = op.shape().element_type();
  const double x = Read(type, a, excess), y = Read(type, b, excess);
  switch (op.opcode()) {
    case Opcode::kMultiply:
      return Product(type, x, y);
    case Opcode::kDivide: {
      if (reciprocal && std::isfinite(y) && y != 0) {
        const double inverse = Flush(type, Intermediate(type, 1 / static_cast<long double>(y)));
        if (std::isfinite(inverse) && std::fabs(inverse) >= Format(type).MinNormal())
          return Product(type, x, inverse);
      }
      return type == ElementType::kF64 ? Finish(type, x / y)
                                       : Approximate(type, static_cast<long double>(x) / y, 2);
    }
    case Opcode::kRemainder:
      return Finish(type, std::fmod(x, y));
    case Opcode::kPower: {
      const bool exact_point = x == 0 || y == 0 || x == 1 || !std::isfinite(x) ||
                               !std::isfinite(y) || (x < 0 && y != std::trunc(y));
      return Perturbed(op, std::pow(static_cast<long double>(x), static_cast<long double>(y)),
                       exact_point, -INFINITY, INFINITY);
    }
    case Opcode::kAtan2: {
      const bool exact_point = std::isnan(x) || std::isnan(y) || (x == 0 && y >= 0);
      return Perturbed(op, std::atan2(static_cast<long double>(x), static_cast<long double>(y)),
                       exact_point, -INFINITY, INFINITY);
    }
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return Chosen(op, a, b, excess);
    default:
      return Sum(op, a, b, excess, contract);
  }
}

bool LegalArithmetic::Compare(Direction direction, double a, double b) {
  switch (direction) {
    case Direction::kEq:
      return a == b;
    case Direction::kNe:
      return a != b;
    case Direction::kGe:
      return a >= b;
    case Direction::kGt:
      return a > b;
    case Direction::kLe:
      return a <= b;
    case Direction::kLt:
      return a < b;
  }
  return false;
}

ElementType LegalArithmetic::AccumulatorOf(ElementType type) {
  if (FitsHalf(type) && Grants(ClauseId::kExcessPrecision) && random_.OneIn(4))
    return ElementType::kF16;
  return type == ElementType::kF64 ? type : ElementType::kF32;
}

double LegalArithmetic::Combine(Opcode opcode, ElementType type, double a, double b) const {
  const bool wide = type == ElementType::kF64;
  if (opcode == Opcode::kMaximum) return Extremum(Flush(type, a), Flush(type, b), true);
  if (opcode == Opcode::kAdd)
    return Flush(type, wide ? a + b : Round(type, static_cast<long double>(a) + b));
  return Flush(type, wide ? a * b : Round(type, static_cast<long double>(a) * b));
}

double LegalArithmetic::CombineAll(Opcode opcode, ElementType type, std::vector<double> terms) {
  const int64_t kind = random_.Below(4);
  if (kind != 0) {
    auto less = [](double a, double b) { return !std::isnan(b) && (std::isnan(a) || a < b); };
    if (kind == 1) std::sort(terms.begin(), terms.end(), less);
    if (kind == 2) std::sort(terms.rbegin(), terms.rend(), less);
    double value = terms[0];
    for (size_t i = 1; i < terms.size(); ++i) value = Combine(opcode, type, value, terms[i]);
    return value;
  }
  while (terms.size() > 1) {
    const auto n = static_cast<int64_t>(terms.size());
    const int64_t a = random_.Below(n);
    int64_t b = random_.Below(n - 1);
    if (b >= a) ++b;
    terms[a] = Combine(opcode, type, terms[a], terms[b]);
    terms.erase(terms.begin() + b);
  }
  return terms[0];
}

Cell LegalArithmetic::Convert(ElementType from, ElementType to, const Cell& operand, bool excess) {
  if (from == to) return operand;
  if (to == ElementType::kS32) {
    const double x = Read(from, operand, excess);
    Cell cell;
    cell.value = std::isnan(x) ? 0 : std::clamp(std::trunc(x), -0x1p31, 0x1p31 - 1) + 0.0;
    return cell;
  }
  const double x = from == ElementType::kS32 ? operand.value : Read(from, operand, excess);
  Cell cell = Finish(to, x);
  // A conversion itself rounds once.
  if (IsTiny(to)) cell.value = Round(to, x);
  return cell;
}

Cell LegalArithmetic::ReducePrecision(const Instruction& op, double x) {
  const auto exponent = static_cast<int>(op.attributes().Integer(Attr::kExponentBits));
  const auto mantissa = static_cast<int>(op.attributes().Integer(Attr::kMantissaBits));
  double y = x;
  if (std::isfinite(x) && x != 0) {
    const int bias = (1 << (exponent - 1)) - 1;
    y = std::ldexp(std::nearbyint(std::ldexp(x, mantissa - std::ilogb(x))),
                   std::ilogb(x) - mantissa);
    if (std::ilogb(y) < 1 - bias) y = std::copysign(0.0, x);
    if (std::ilogb(y) > bias && y != 0) y = std::copysign(INFINITY, x);
  }
  return Finish(op.shape().element_type(), y);
}

}  // namespace assay::reference
