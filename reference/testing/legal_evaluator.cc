// Evaluates small float programs element by element; a seeded generator makes every choice that the
// profile leaves open.
#include "reference/testing/legal_evaluator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "absl/base/casts.h"
#include "absl/container/flat_hash_map.h"
#include "reference/testing/legal_arithmetic.h"
#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

class Evaluator : private LegalArithmetic {
 public:
  Evaluator(const Profile& profile, Random& random) : LegalArithmetic(profile, random) {}

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
  Cell Reduce(const Instruction& op) { return SumOf(op, cells_[op.operand(0)]); }

  // Element i of a window that ends there and begins before the first one.
  Cell Prefix(const Instruction& op, int64_t i) {
    const Cells& cells = cells_[op.operand(0)];
    return SumOf(op, Cells(cells.begin(), cells.begin() + i + 1));
  }

  // Combines the elements and the start, in any order.
  Cell SumOf(const Instruction& op, const Cells& cells) {
    const ElementType type = op.shape().element_type();
    const bool literal = Grants(ClauseId::kLiteralReducer) && random_.Coin();
    const ElementType accumulator = literal ? type : AccumulatorOf(type);
    const Opcode combiner = op.callee()->root()->opcode();
    const bool excess = Grants(ClauseId::kExcessPrecision) && random_.Coin();
    std::vector<double> terms = {cells_[op.operand(1)][0].value};
    for (const Cell& cell : cells) {
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
    const bool cuts =
        accumulator == ElementType::kF32 && Grants(ClauseId::kEitherRounding) && random_.Coin();
    const bool fused = cuts || random_.Coin();
    const Cells &a = cells_[op.operand(0)], &b = cells_[op.operand(1)];
    std::vector<double> terms;
    double running = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const double x = Factor(type, a[i], excess), y = Factor(type, b[i], excess);
      if (cuts) {
        running = TowardsZero(static_cast<long double>(x) * y + running);
      } else if (fused) {
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

  // The choices that are made for all elements of one instruction.
  struct Choices {
    bool excess, contract, reciprocal;
    bool root;          // multiplies by a reciprocal root
    bool nested;        // makes (a / b) / c as a / (b * c), or other quotients of quotients
    bool chained;       // joins the constants of two ops
    bool exponentials;  // joins exponentials, or makes their reciprocals as such
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
    drawn.nested =
        Grants(ClauseId::kNestedQuotients) && random_.Coin() && !drawn.root && divides &&
        (op.operand(0)->opcode() == Opcode::kDivide || op.operand(1)->opcode() == Opcode::kDivide);
    drawn.chained = Grants(ClauseId::kConstantChains) && random_.Coin();
    drawn.exponentials = Grants(ClauseId::kExponentials) && random_.Coin();
    return drawn;
  }

  const Cell& CellOf(const Instruction& op, int64_t operand, int64_t i) {
    const Cells& cells = cells_[op.operand(operand)];
    return cells[cells.size() == 1 ? 0 : i];
  }

  // True if the type holds the value as a normal number. Beyond them another form gives another
  // number, which nothing licenses.
  static bool IsNormal(ElementType type, double value) {
    return std::isfinite(value) && std::fabs(value) >= Format(type).MinNormal();
  }

  double ReadAt(const Instruction& op, int64_t operand, int64_t i, const Choices& choices) {
    return Read(op.operand(operand)->shape().element_type(), CellOf(op, operand, i),
                choices.excess);
  }

  // A quotient of quotients, as one of products.
  std::optional<Cell> Quotients(const Instruction& op, int64_t i, const Choices& choices) {
    const ElementType type = op.shape().element_type();
    const Instruction &a = *op.operand(0), &b = *op.operand(1);
    const bool is_first = a.opcode() == Opcode::kDivide, is_second = b.opcode() == Opcode::kDivide;
    if ((is_first && !IsNormal(type, CellOf(op, 0, i).value)) ||
        (is_second && !IsNormal(type, CellOf(op, 1, i).value)))
      return std::nullopt;
    auto product = [&](double x, double y) {
      if (IsTiny(type)) return Intermediate(type, static_cast<long double>(x) * y);
      const Cell cell = Product(type, x, y);
      return Read(type, cell, choices.excess);
    };
    double dividend = is_first ? ReadAt(a, 0, i, choices) : ReadAt(op, 0, i, choices);
    double divisor = is_second ? ReadAt(b, 0, i, choices) : ReadAt(op, 1, i, choices);
    if (is_first) divisor = product(ReadAt(a, 1, i, choices), divisor);
    if (is_second) dividend = product(dividend, ReadAt(b, 1, i, choices));
    if ((is_first && !IsNormal(type, divisor)) || (is_second && !IsNormal(type, dividend)))
      return std::nullopt;
    return type == ElementType::kF64
               ? Finish(type, dividend / divisor)
               : Approximate(type, static_cast<long double>(dividend) / divisor, 2);
  }

  // An op that has a constant for one operand; the constant of a quotient or difference comes
  // second.
  struct WithConstant {
    const Instruction* other = nullptr;
    int64_t operand = 0;  // its number
    double constant = 0;
    bool scales = false;    // a product or a quotient; a sum or a difference otherwise
    bool inverted = false;  // a quotient, or a difference
  };
  static std::optional<WithConstant> Split(const Instruction& op) {
    const Opcode opcode = op.opcode();
    const bool scales = opcode == Opcode::kMultiply || opcode == Opcode::kDivide;
    if (!scales && opcode != Opcode::kAdd && opcode != Opcode::kSubtract) return std::nullopt;
    const bool inverted = opcode == Opcode::kDivide || opcode == Opcode::kSubtract;
    for (int64_t k : {1, 0}) {
      const Instruction& operand = *op.operand(k);
      if ((k == 0 && inverted) || operand.opcode() != Opcode::kBroadcast) continue;
      const Instruction& scalar = *operand.operand(0);
      if (scalar.opcode() == Opcode::kConstant)
        return WithConstant{op.operand(1 - k), 1 - k, scalar.literal()->GetDouble(0), scales,
                            inverted};
    }
    return std::nullopt;
  }

  // Two ops with a constant each, as one with one constant.
  std::optional<Cell> Chain(const Instruction& op, int64_t i, const Choices& choices) {
    const ElementType type = op.shape().element_type();
    auto read = [&](const WithConstant& from) {
      const Cells& cells = cells_[from.other];
      return Read(type, cells[cells.size() == 1 ? 0 : i], choices.excess);
    };
    if (op.opcode() == Opcode::kMultiply) {
      const auto a = Split(*op.operand(0)), b = Split(*op.operand(1));
      if (a && b && a->scales && b->scales && !a->inverted && !b->inverted) {
        const double scale =
            Intermediate(type, static_cast<long double>(a->constant) * b->constant);
        const double both = Intermediate(type, static_cast<long double>(read(*a)) * read(*b));
        const bool is_whole =
            std::isfinite(CellOf(op, 0, i).value) && std::isfinite(CellOf(op, 1, i).value);
        if (is_whole && IsNormal(type, scale) && IsNormal(type, both))
          return Product(type, both, scale);
      }
    }
    const auto outer = Split(op);
    if (!outer) return std::nullopt;
    const auto inner = Split(*outer->other);
    if (!inner || inner->scales != outer->scales) return std::nullopt;
    // A value that certainly overflows between the two is the one of the text.
    if (!std::isfinite(CellOf(op, outer->operand, i).value)) return std::nullopt;
    const long double c = inner->constant, d = outer->constant;
    const long double x = read(*inner);
    if (!outer->scales) {
      const double shift =
          Intermediate(type, (inner->inverted ? -c : c) + (outer->inverted ? -d : d));
      if (!std::isfinite(shift)) return std::nullopt;
      return type == ElementType::kF64 ? Finish(type, static_cast<double>(x) + shift)
                                       : Finish(type, x + shift);
    }
    const bool divides = inner->inverted && outer->inverted;
    const double scale = Intermediate(type, inner->inverted == outer->inverted ? c * d
                                            : inner->inverted                  ? d / c
                                                                               : c / d);
    if (!IsNormal(type, scale)) return std::nullopt;
    if (!divides) return Product(type, static_cast<double>(x), scale);
    return type == ElementType::kF64 ? Finish(type, static_cast<double>(x) / scale)
                                     : Approximate(type, x / scale, 2);
  }

  // Products and quotients of exponentials, of powers and of roots.
  std::optional<Cell> Exponentials(const Instruction& op, int64_t i, const Choices& choices) {
    const ElementType type = op.shape().element_type();
    // Conversions of floats of at most 8 bits are joined in a wider type, where nothing is seen of
    // it.
    if (IsTiny(type)) return std::nullopt;
    const Instruction &a = *op.operand(0), &b = *op.operand(1);
    const bool divides = op.opcode() == Opcode::kDivide;
    const auto is_normal = [&](int64_t k) { return IsNormal(type, CellOf(op, k, i).value); };
    if (op.opcode() == Opcode::kPower && a.opcode() == Opcode::kExponential && is_normal(0)) {
      const long double x = ReadAt(a, 0, i, choices);
      return Function(a, Intermediate(type, x * ReadAt(op, 1, i, choices)));
    }
    if (!divides && op.opcode() != Opcode::kMultiply) return std::nullopt;
    // The class of what overflows or vanishes on the way is that of the text.
    if (divides ? !is_normal(1) : !is_normal(0)) return std::nullopt;
    if (a.opcode() == Opcode::kExponential && b.opcode() == Opcode::kExponential) {
      if (!is_normal(0) || !is_normal(1)) return std::nullopt;
      const double x = ReadAt(a, 0, i, choices), y = ReadAt(b, 0, i, choices);
      return Function(a, Intermediate(type, divides ? static_cast<long double>(x) - y
                                                    : static_cast<long double>(x) + y));
    }
    const double dividend = ReadAt(op, 0, i, choices);
    if (divides && !std::isfinite(dividend)) return std::nullopt;
    if (divides && b.opcode() == Opcode::kExponential)
      return Product(type, dividend, Function(b, -ReadAt(b, 0, i, choices)).value);
    if (divides && b.opcode() == Opcode::kPower) {
      Cell exponent = CellOf(b, 1, i);
      exponent.value = -exponent.value;
      exponent.unrounded = -exponent.unrounded;
      const Cell inverse = Binary(b, CellOf(b, 0, i), exponent, choices.excess, false, false);
      return Product(type, dividend, inverse.value);
    }
    if (!divides && &a == &b && a.opcode() == Opcode::kSqrt && ReadAt(a, 0, i, choices) > 0)
      return Finish(type, ReadAt(a, 0, i, choices));
    return std::nullopt;
  }

  // log(x) / 2 for log(sqrt(x)).
  Cell LogOfRoot(const Instruction& op, const Cell& radicand, const Choices& choices) {
    const ElementType type = op.shape().element_type();
    return Finish(type, 0.5L * Function(op, Read(type, radicand, choices.excess)).value);
  }

  // min(max(low, x), high), where a product that is chosen stays one.
  Cell Clamp(const Instruction& op, int64_t i, const Choices& choices) {
    const Cell& x = CellOf(op, 1, i);
    const double low = ReadAt(op, 0, i, choices), high = ReadAt(op, 2, i, choices);
    const double value = ReadAt(op, 1, i, choices);
    const double clamped = Extremum(Extremum(low, value, true), high, false);
    Cell cell = Finish(op.shape().element_type(), clamped);
    if (low < value && value < high) {
      cell.is_product = x.is_product;
      cell.factor_a = x.factor_a;
      cell.factor_b = x.factor_b;
    }
    return cell;
  }

  // Element i of an op that computes element by element.
  Cell Arithmetic(const Instruction& op, int64_t i, const Choices& choices) {
    const Cell& first = CellOf(op, 0, i);
    if (choices.root) {
      const Cells& radicands = cells_[op.operand(1)->operand(0)];
      return TimesReciprocalRoot(op, first, radicands[i], choices.excess);
    }
    if (op.operand_count() == 1) {
      if (choices.exponentials && op.opcode() == Opcode::kLog &&
          op.operand(0)->opcode() == Opcode::kSqrt)
        return LogOfRoot(op, CellOf(*op.operand(0), 0, i), choices);
      return Unary(op, first, choices.excess);
    }
    const Cell& second = CellOf(op, 1, i);
    std::optional<Cell> other;
    if (choices.nested) other = Quotients(op, i, choices);
    if (!other && choices.chained) other = Chain(op, i, choices);
    if (!other && choices.exponentials) other = Exponentials(op, i, choices);
    if (other) return *other;
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
        for (int64_t i = 0; i < count; ++i)
          result[i] = Convert(op.operand(0)->shape().element_type(), op.shape().element_type(),
                              cell(0, i), choices.excess);
        break;
      case Opcode::kReducePrecision:
        for (int64_t i = 0; i < count; ++i)
          result[i] = ReducePrecision(op, ReadAt(op, 0, i, choices));
        break;
      case Opcode::kClamp:
        for (int64_t i = 0; i < count; ++i) result[i] = Clamp(op, i, choices);
        break;
      case Opcode::kReduceWindow:
        for (int64_t i = 0; i < count; ++i) result[i] = Prefix(op, i);
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

  absl::flat_hash_map<const Instruction*, Cells> cells_;
};

}  // namespace

Literal EvaluateLegally(const Module& module, const std::vector<const Literal*>& arguments,
                        const Profile& profile, Random& random) {
  return Evaluator(profile, random).Run(module, arguments);
}

}  // namespace assay::reference
