// Evaluates small float programs element by element; a seeded generator makes every choice that the
// profile leaves open.
#include "reference/testing/legal_evaluator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/base/casts.h"
#include "absl/container/flat_hash_map.h"
#include "spec/ops/op_table.h"
#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

// One element: its value in its type, and what a fused consumer could use instead.
struct Cell {
  double value = 0;
  double unrounded = 0;  // narrow types: as kept in f32
  bool is_product = false;
  double factor_a = 0, factor_b = 0;
};
using Cells = std::vector<Cell>;

class Evaluator {
 public:
  Evaluator(const Profile& profile, Random& random)
      : profile_(profile),
        random_(random),
        flush_(profile.Grants(ClauseId::kFlushSubnormals) && random.Coin()) {}

  Literal Run(const Module& module, const std::vector<const Literal*>& arguments) {
    const Computation& entry = *module.entry();
    for (const Instruction* instruction : entry.PostOrder()) {
      if (instruction->opcode() == Opcode::kTuple) continue;
      cells_[instruction] = Evaluate(*instruction, arguments);
    }
    std::vector<Literal> outputs;
    for (const Instruction* output : entry.root()->operands()) {
      Literal literal(output->shape());
      for (int64_t i = 0; i < literal.element_count(); ++i)
        literal.SetDouble(i, cells_[output][i].value);
      outputs.push_back(std::move(literal));
    }
    return Literal::Tuple(std::move(outputs));
  }

 private:
  static bool IsNarrow(ElementType type) { return BitWidth(type) < 32; }
  bool Grants(ClauseId clause) const { return profile_.Grants(clause); }

  double Flush(ElementType type, double x) const {
    const bool subnormal = x != 0 && std::fabs(x) < Format(type).MinNormal();
    return flush_ && subnormal && type != ElementType::kF16 ? std::copysign(0.0, x) : x;
  }

  // Rounds to the type, once.
  double Round(ElementType type, long double x) const {
    const FloatFormat& format = Format(type);
    if (type == ElementType::kF64) return static_cast<double>(x);
    if (type == ElementType::kF32) return static_cast<float>(x);
    return DecodeFloat(format, EncodeFloat(format, static_cast<double>(x)));
  }

  // A finished result: `exact` to be rounded to the type.
  Cell Finish(ElementType type, long double exact) const {
    Cell cell;
    cell.value = Flush(type, Round(type, exact));
    cell.unrounded = IsNarrow(type) ? static_cast<float>(exact) : cell.value;
    return cell;
  }

  // An operand as an arithmetic op reads it.
  double Read(ElementType type, const Cell& cell, bool excess) const {
    return Flush(type, excess && IsNarrow(type) ? cell.unrounded : cell.value);
  }

  double Perturb(ElementType type, double value, double ulps) {
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

  Cell Function(const Instruction& op, double x) {
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

  double UlpsOf(ElementType type, Opcode opcode) const {
    const NumericContract& contract = Info(opcode).numeric;
    const UlpBudget& budget = profile_.IsXla() ? contract.xla : contract.strict;
    return type == ElementType::kF64   ? budget.f64
           : type == ElementType::kF32 ? budget.f32
           : type == ElementType::kF16 ? budget.f16
                                       : budget.bf16;
  }

  // The function's value, rounded and moved within its budget.
  Cell Perturbed(const Instruction& op, long double y, bool exact_point, double low, double high) {
    const ElementType type = op.shape().element_type();
    const double ulps = UlpsOf(type, op.opcode());
    Cell cell = Finish(type, y);
    if (!exact_point && !std::isnan(cell.value)) {
      cell.value = Flush(type, std::clamp(Perturb(type, cell.value, ulps), low, high));
      if (!IsNarrow(type)) cell.unrounded = cell.value;
    }
    return cell;
  }

  // A quotient or root that GPUs compute in f32 to within `ulps` of that type.
  Cell Approximate(ElementType type, long double exact, double ulps) {
    const auto single = static_cast<float>(exact);
    const bool is_exact = !Grants(ClauseId::kApproximateQuotients) || !std::isnormal(single);
    if (is_exact || random_.Coin()) return Finish(type, exact);
    return Finish(type, Perturb(ElementType::kF32, single, ulps));
  }

  // x * y, which an addition may read unrounded.
  Cell Product(ElementType type, double x, double y) const {
    Cell cell = type == ElementType::kF64 ? Finish(type, x * y)
                                          : Finish(type, static_cast<long double>(x) * y);
    cell.is_product = true;
    cell.factor_a = x;
    cell.factor_b = y;
    return cell;
  }

  // x * rsqrt(y), for an op that is x / sqrt(y).
  Cell TimesReciprocalRoot(const Instruction& op, const Cell& dividend, const Cell& radicand,
                           bool excess) {
    const ElementType type = op.shape().element_type();
    const double x = Read(type, dividend, excess), y = Read(type, radicand, excess);
    const double ulps = UlpsOf(type, Opcode::kRsqrt);
    const double inverse =
        Perturb(type, Round(type, 1 / std::sqrt(static_cast<long double>(y))), ulps);
    return Product(type, x, inverse);
  }

  Cell Unary(const Instruction& op, const Cell& operand, bool excess) {
    const ElementType type = op.shape().element_type();
    if (op.opcode() == Opcode::kNegate) {
      return {-operand.value, -operand.unrounded, operand.is_product, -operand.factor_a,
              operand.factor_b};
    }
    if (op.opcode() == Opcode::kAbs) {
      const double value = std::fabs(operand.value);
      return {value, std::fabs(operand.unrounded), false, 0, 0};
    }
    const double x = Read(type, operand, excess);
    switch (op.opcode()) {
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

  static double Extremum(double a, double b, bool maximum) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
    if (a == b) return std::signbit(a) == maximum ? b : a;
    return (a > b) == maximum ? a : b;
  }

  // a * b + c or the like with one rounding.
  Cell Fused(ElementType type, double a, double b, double c) const {
    if (type == ElementType::kF64) return Finish(type, std::fma(a, b, c));
    Cell cell;
    cell.value =
        Flush(type, std::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
    cell.unrounded = cell.value;
    return cell;
  }

  Cell Sum(const Instruction& op, const Cell& a, const Cell& b, bool excess, bool contract) {
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

  Cell Binary(const Instruction& op, const Cell& a, const Cell& b, bool excess, bool contract,
              bool reciprocal) {
    const ElementType type = op.shape().element_type();
    const double x = Read(type, a, excess), y = Read(type, b, excess);
    switch (op.opcode()) {
      case Opcode::kMultiply:
        return Product(type, x, y);
      case Opcode::kDivide: {
        if (reciprocal && std::isfinite(y) && y != 0) {
          const double inverse = Finish(type, 1 / static_cast<long double>(y)).value;
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
        return Finish(type, Extremum(x, y, op.opcode() == Opcode::kMaximum));
      default:
        return Sum(op, a, b, excess, contract);
    }
  }

  bool Compare(Direction direction, double a, double b) {
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

  // Accumulator of narrow types is f32.
  static ElementType AccumulatorOf(ElementType type) {
    return type == ElementType::kF64 ? type : ElementType::kF32;
  }

  double Combine(Opcode opcode, ElementType type, double a, double b) const {
    const bool wide = type == ElementType::kF64;
    if (opcode == Opcode::kMaximum) return Extremum(Flush(type, a), Flush(type, b), true);
    if (opcode == Opcode::kAdd)
      return Flush(type, wide ? a + b : Round(type, static_cast<long double>(a) + b));
    return Flush(type, wide ? a * b : Round(type, static_cast<long double>(a) * b));
  }

  // Adds in an order of four kinds: as they come, one sign after the other from the largest or from
  // the smallest on (partial sums are large), or random pairs until one is left.
  double CombineAll(Opcode opcode, ElementType type, std::vector<double> terms) {
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

  Cell Reduce(const Instruction& op) {
    const ElementType type = op.shape().element_type();
    const bool literal = Grants(ClauseId::kLiteralReducer) && random_.Coin();
    const ElementType accumulator = literal ? type : AccumulatorOf(type);
    const Opcode combiner = op.callee()->root()->opcode();
    const bool excess = Grants(ClauseId::kExcessPrecision) && random_.Coin();
    std::vector<double> terms = {cells_[op.operand(1)][0].value};
    for (const Cell& cell : cells_[op.operand(0)]) {
      // A product that feeds the sum may be fused into it; the first such addition is done here.
      if (combiner == Opcode::kAdd && cell.is_product && !IsNarrow(type) &&
          Grants(ClauseId::kContraction) && random_.Coin()) {
        const double fused =
            Fused(type, Flush(type, cell.factor_a), Flush(type, cell.factor_b), terms[0]).value;
        if (terms.size() == 1) {
          terms[0] = fused;
          continue;
        }
      }
      terms.push_back(Read(type, cell, excess));
    }
    return Finish(type, CombineAll(combiner, accumulator, std::move(terms)));
  }

  // A factor of a product of f32, which may keep 10 bits of its fraction: the others are cut off,
  // or rounded.
  double Factor(ElementType type, const Cell& cell, bool excess) {
    const double x = Read(type, cell, excess);
    constexpr uint32_t kDropped = (1u << 13) - 1, kHalf = 1u << 12;
    const bool is_whole = type != ElementType::kF32 || !Grants(ClauseId::kNarrowFactors);
    if (is_whole || !std::isfinite(x) || random_.Coin()) return x;
    const auto bits = absl::bit_cast<uint32_t>(static_cast<float>(x));
    const uint32_t rounded = random_.Coin() ? bits + kHalf : bits;
    return absl::bit_cast<float>(rounded & ~kDropped);
  }

  Cell Dot(const Instruction& op) {
    const ElementType type = op.shape().element_type();
    const ElementType accumulator = AccumulatorOf(type);
    const bool excess = Grants(ClauseId::kExcessPrecision) && random_.Coin();
    const bool fused = random_.Coin();
    const Cells &a = cells_[op.operand(0)], &b = cells_[op.operand(1)];
    std::vector<double> terms;
    double running = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const double x = Factor(type, a[i], excess), y = Factor(type, b[i], excess);
      if (fused) {
        running = Fused(accumulator, x, y, running).value;
      } else {
        terms.push_back(Combine(Opcode::kMultiply, accumulator, x, y));
      }
    }
    if (fused || terms.empty()) return Finish(type, running);
    return Finish(type, CombineAll(Opcode::kAdd, accumulator, std::move(terms)));
  }

  // One update after the other in any order, each sum rounded.
  Cells Scatter(const Instruction& op, Cells start, bool excess) {
    const ElementType type = op.shape().element_type();
    const Cells &places = cells_[op.operand(1)], &updates = cells_[op.operand(2)];
    std::vector<int64_t> order(updates.size());
    for (size_t u = 0; u < order.size(); ++u) {
      order[u] = static_cast<int64_t>(u);
      std::swap(order[u], order[random_.Below(static_cast<int64_t>(u) + 1)]);
    }
    for (Cell& cell : start) cell = {cell.value, cell.value};
    for (int64_t u : order) {
      const auto place = static_cast<size_t>(places[u].value);
      if (place >= start.size()) continue;
      double& value = start[place].value;
      value = Combine(Opcode::kAdd, type, Flush(type, value), Read(type, updates[u], excess));
      start[place].unrounded = value;
    }
    return start;
  }

  // True if operand `which` of an addition is a sum by scatter that nothing else reads.
  static bool AddsToScatter(const Instruction& op, int64_t which) {
    const Instruction& sum = *op.operand(which);
    return op.opcode() == Opcode::kAdd && sum.opcode() == Opcode::kScatter &&
           sum.users().size() == 1 && op.operand(0) != op.operand(1);
  }

  // The addition to that sum, made before: the scatter starts from its result.
  Cells PulledAddition(const Instruction& op, int64_t which, bool excess, bool contract) {
    const Instruction& scatter = *op.operand(which);
    const Instruction& start = *scatter.operand(0);
    Cells cells = cells_[op.operand(1 - which)];
    const bool adds_to_zero = start.opcode() == Opcode::kBroadcast &&
                              start.operand(0)->opcode() == Opcode::kConstant &&
                              start.operand(0)->literal()->GetBits(0) == 0;
    for (size_t i = 0; i < cells.size() && !adds_to_zero; ++i) {
      const Cell& other = CellOf(scatter, 0, static_cast<int64_t>(i));
      cells[i] = which == 0 ? Sum(op, other, cells[i], excess, contract)
                            : Sum(op, cells[i], other, excess, contract);
    }
    return Scatter(scatter, std::move(cells), excess);
  }

  Cell Convert(const Instruction& op, const Cell& operand, bool excess) {
    const ElementType from = op.operand(0)->shape().element_type();
    if (from == op.shape().element_type()) return operand;
    return Finish(op.shape().element_type(), Read(from, operand, excess));
  }

  // The choices that are made for all elements of one instruction.
  struct Choices {
    bool excess, contract, reciprocal;
    bool root;    // multiplies by a reciprocal root
    bool nested;  // makes (a / b) / c as a / (b * c)
  };
  Choices Draw(const Instruction& op) {
    const bool divides = op.opcode() == Opcode::kDivide;
    Choices drawn{};
    drawn.excess = Grants(ClauseId::kExcessPrecision) && random_.Coin();
    drawn.contract = Grants(ClauseId::kContraction) && random_.Coin();
    drawn.reciprocal = Grants(ClauseId::kReciprocalDivision) && random_.Coin() && divides &&
                       op.operand(1)->opcode() == Opcode::kBroadcast;
    drawn.root = Grants(ClauseId::kReciprocalRoot) && random_.Coin() && divides &&
                 op.operand(1)->opcode() == Opcode::kSqrt;
    drawn.nested = Grants(ClauseId::kNestedQuotients) && random_.Coin() && !drawn.root && divides &&
                   op.operand(0)->opcode() == Opcode::kDivide;
    return drawn;
  }

  const Cell& CellOf(const Instruction& op, int64_t operand, int64_t i) {
    const Cells& cells = cells_[op.operand(operand)];
    return cells[cells.size() == 1 ? 0 : i];
  }

  // Element i of an op that computes element by element.
  Cell Arithmetic(const Instruction& op, int64_t i, const Choices& choices) {
    const Cell& first = CellOf(op, 0, i);
    if (choices.root) {
      const Cells& radicands = cells_[op.operand(1)->operand(0)];
      return TimesReciprocalRoot(op, first, radicands[i], choices.excess);
    }
    if (op.operand_count() == 1) return Unary(op, first, choices.excess);
    const Cell& second = CellOf(op, 1, i);
    if (choices.nested) {
      const Cells& dividends = cells_[op.operand(0)->operand(0)];
      const Cells& divisors = cells_[op.operand(0)->operand(1)];
      const ElementType type = op.shape().element_type();
      const Cell product = Product(type, Read(type, divisors[i], choices.excess),
                                   Read(type, second, choices.excess));
      // Out of the range of the type this is another number, which nothing licenses.
      if (std::isfinite(product.value) && std::fabs(product.value) >= Format(type).MinNormal())
        return Binary(op, dividends[i], product, choices.excess, choices.contract, false);
    }
    return Binary(op, first, second, choices.excess, choices.contract, choices.reciprocal);
  }

  Cells Evaluate(const Instruction& op, const std::vector<const Literal*>& arguments) {
    const int64_t count = op.shape().ElementCount();
    Cells result(count);
    auto load = [&](const Literal& literal) {
      for (int64_t i = 0; i < count; ++i)
        result[i].value = result[i].unrounded = literal.GetDouble(i);
    };
    const Choices choices = Draw(op);
    for (int64_t which : {0, 1}) {
      if (Grants(ClauseId::kScatterStarts) && op.operand_count() == 2 && AddsToScatter(op, which) &&
          random_.Coin())
        return PulledAddition(op, which, choices.excess, choices.contract);
    }
    auto cell = [&](int64_t operand, int64_t i) -> const Cell& { return CellOf(op, operand, i); };
    switch (op.opcode()) {
      case Opcode::kParameter:
        load(*arguments[op.parameter_number()]);
        break;
      case Opcode::kConstant:
        load(*op.literal());
        break;
      case Opcode::kBroadcast:
        for (Cell& to : result) to = cell(0, 0);
        break;
      case Opcode::kReverse:
        for (int64_t i = 0; i < count; ++i) result[i] = cell(0, count - 1 - i);
        break;
      case Opcode::kReduce:
        result[0] = Reduce(op);
        break;
      case Opcode::kDot:
        result[0] = Dot(op);
        break;
      case Opcode::kScatter:
        return Scatter(op, cells_[op.operand(0)], choices.excess);
      case Opcode::kConvert:
        for (int64_t i = 0; i < count; ++i) result[i] = Convert(op, cell(0, i), choices.excess);
        break;
      case Opcode::kCompare: {
        const ElementType type = op.operand(0)->shape().element_type();
        const auto direction = static_cast<Direction>(op.attributes().Integer(Attr::kDirection));
        for (int64_t i = 0; i < count; ++i)
          result[i].value = Compare(direction, Read(type, cell(0, i), choices.excess),
                                    Read(type, cell(1, i), choices.excess));
        break;
      }
      case Opcode::kSelect:
        for (int64_t i = 0; i < count; ++i)
          result[i] = cell(0, i).value != 0 ? cell(1, i) : cell(2, i);
        break;
      default:
        for (int64_t i = 0; i < count; ++i) result[i] = Arithmetic(op, i, choices);
    }
    return result;
  }

  const Profile& profile_;
  Random& random_;
  bool flush_;
  absl::flat_hash_map<const Instruction*, Cells> cells_;
};

}  // namespace

Literal EvaluateLegally(const Module& module, const std::vector<const Literal*>& arguments,
                        const Profile& profile, Random& random) {
  return Evaluator(profile, random).Run(module, arguments);
}

}  // namespace assay::reference
