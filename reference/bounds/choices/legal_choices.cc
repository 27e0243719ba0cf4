// Makes the choices of sums, quotients and functions in one direction or the other.
#include "reference/bounds/choices/legal_choices.h"

#include <algorithm>
#include <optional>

#include "reference/bounds/elementwise/binary.h"
#include "reference/scalar/compare.h"
#include "spec/base/status_macros.h"
#include "spec/ops/op_table.h"
#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

// x, or a product x * y that is rounded to `value` before it is combined with others, or not.
template <typename A>
struct Term {
  A x, y, value;
};
template <typename A>
using Wider = std::conditional_t<std::is_same_v<A, float>, double, long double>;

// Sorts the terms one sign after the other.
template <typename A>
void SortTerms(std::vector<Term<A>>& terms, bool falling) {
  auto less = [](const Term<A>& s, const Term<A>& t) {
    return !std::isnan(t.value) && (std::isnan(s.value) || s.value < t.value);
  };
  if (falling) {
    std::sort(terms.rbegin(), terms.rend(), less);
  } else {
    std::sort(terms.begin(), terms.end(), less);
  }
}

// Adds in pairs, then pairs of pairs: the error of that hardly shows.
template <typename A>
A AddInPairs(absl::Span<const Term<A>> terms) {
  if (terms.size() == 1) return terms[0].value;
  return AddInPairs(terms.subspan(0, terms.size() / 2)) +
         AddInPairs(terms.subspan(terms.size() / 2));
}

// The low bits of a term decide what it loses beside a large partial sum: the terms that lose in
// the wrong direction are added up beforehand, apart. Among the others, terms of the sign that
// weighs more come first, in order of size, which makes partial sums, and their roundings, large.
// The sum of the former is returned, the latter remain.
template <typename A, typename W>
A SetWrongTermsApart(std::vector<Term<A>>& terms, W wanted) {
  W above = 0, below = 0;
  for (const Term<A>& term : terms) (term.value > 0 ? above : below) += term.value;
  const W largest = std::max(above, -below);
  const A partial = static_cast<A>((above > -below ? largest : -largest) * W{0.6});
  auto is_wrong = [&](const Term<A>& term) {
    const W exact = static_cast<W>(partial) + static_cast<W>(term.x) * term.y;
    return !((static_cast<W>(static_cast<A>(partial + term.value)) - exact) * wanted > 0);
  };
  const auto right = std::partition(terms.begin(), terms.end(), is_wrong);
  A apart = 0;
  if (right != terms.begin()) {
    apart = AddInPairs<A>({terms.data(), static_cast<size_t>(right - terms.begin())});
    terms.erase(terms.begin(), right);
  } else {
    apart = terms.back().value;
    terms.pop_back();
  }
  SortTerms(terms, above > -below);
  return apart;
}

// Combines `value` and the terms such that the roundings lead up, or down: of the next few terms
// the one is taken whose rounding leads furthest.
template <bool kMultiply, typename A, typename W>
A CombineGreedily(A value, std::vector<Term<A>>& terms, W wanted) {
  const size_t candidates = terms.size() < 200 ? 12 : 5;
  for (size_t first = 0; first < terms.size(); ++first) {
    const size_t end = std::min(terms.size(), first + candidates);
    size_t best = first;
    W best_gain = -INFINITY;
    A best_value = value;
    for (size_t k = first; k < end; ++k) {
      const Term<A>& term = terms[k];
      const W before = value, factor = static_cast<W>(term.x) * term.y;
      const W exact = kMultiply ? before * factor : before + factor;
      auto consider = [&](A rounded, bool must) {
        W gain = (static_cast<W>(rounded) - exact) * wanted;
        if (kMultiply && exact != 0) gain /= exact;
        if (!must && !(gain > best_gain)) return;
        best = k;
        best_gain = gain;
        best_value = rounded;
      };
      consider(kMultiply ? value * term.value : value + term.value, k == first);
      if (!kMultiply && term.y != 1) consider(std::fma(term.x, term.y, value), false);
    }
    value = best_value;
    std::swap(terms[first], terms[best]);
  }
  return value;
}

// Adds the terms such that the roundings lead up, or down.
template <typename A>
A AddTowards(std::vector<Term<A>>& terms, bool up) {
  Wider<A> wanted = up ? 1 : -1, total = 0;
  for (const Term<A>& term : terms) total += term.value;
  SortTerms(terms, total > 0);
  std::vector<Term<A>> rest(terms.begin() + 1, terms.end());
  const A together = CombineGreedily<false>(terms[0].value, rest, wanted);
  if (terms.size() < 3) return together;
  const A first = SetWrongTermsApart(terms, wanted);
  const A apart = CombineGreedily<false>(first, terms, wanted);
  return (apart - together) * wanted > 0 ? apart : together;
}

template <typename A>
A MultiplyTowards(std::vector<Term<A>>& terms, bool up) {
  Wider<A> wanted = up ? 1 : -1;
  // The effect of a rounding upwards on a product depends on the signs of all factors.
  for (const Term<A>& term : terms)
    if (term.value < 0) wanted = -wanted;
  std::vector<Term<A>> rest(terms.begin() + 1, terms.end());
  return CombineGreedily<true>(terms[0].value, rest, wanted);
}

// The number of the type next to `end` on the side of `centre`, or at it.
template <typename T>
T Inside(long double end, long double centre) {
  T value = static_cast<T>(end);
  if ((end > centre && value > end) || (end < centre && value < end))
    value = std::nextafter(value, static_cast<T>(centre));
  return value;
}

// A bound that is wider than the function's budget spans answers between which nothing is legal, as
// of an operand that may be flushed: there the value stays as it is.
template <typename T>
void MoveWithin(const OpContext& op, const Array& bounded, const LegalChoices& choices,
                Literal& result) {
  absl::Span<T> values = result.data<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    const ElementBound& bound = bounded.facts().bounds[i];
    if (bound.flags != 0) continue;
    const long double centre = static_cast<long double>(bound.centre) + bound.centre_low;
    const long double budget = (UlpsOf<T>(op) + 1) * UlpAt<T>(std::fabs(bound.centre));
    if (bound.radius > 2 * budget) continue;
    const bool up = choices.IsUp(choices.last_site() + static_cast<int64_t>(i));
    // The bound has room for its own rounding, which is not the function's to take.
    const long double reach = static_cast<long double>(bound.radius) * (1 - 0x1p-20L);
    const T moved = Inside<T>(up ? centre + reach : centre - reach, centre);
    if (std::isnormal(moved)) values[i] = moved;
  }
}

// Asks as under the profile xla: plain evaluation, which makes the choices, has no clauses.
bool MayMultiplyByReciprocal(const OpContext& op) {
  return op.licensed.divisor_is_invariant || op.licensed.divides_by_root;
}

// Makes x / y as x times a reciprocal: that of y, or, where y is a root, a reciprocal root within
// its budget.
template <typename T>
void MoveQuotients(const OpContext& op, const LegalChoices& choices, Literal& result) {
  absl::Span<const T> dividends = op.literal(0).data<T>(), divisors = op.literal(1).data<T>();
  absl::Span<T> values = result.data<T>();
  constexpr T kLeast = std::numeric_limits<T>::min() * 4;
  const double ulps = op.licensed.divides_by_root ? UlpsOf<T>(op, Opcode::kRsqrt) : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const T x = dividends[i], y = divisors[i];
    const long double exact = 1 / static_cast<long double>(y);
    const auto reciprocal = static_cast<T>(exact);
    if (!std::isnormal(reciprocal) || !(std::fabs(values[i]) > kLeast)) continue;
    const bool up = choices.IsUp(choices.last_site() + static_cast<int64_t>(i));
    auto consider = [&](T value) {
      if (up ? value > values[i] : value < values[i]) values[i] = value;
    };
    if (op.licensed.divisor_is_invariant) consider(x * reciprocal);
    if (ulps < 2) continue;
    // The root was rounded: its reciprocal is off by a unit at most from that of what it was of.
    const long double step = (ulps - 1) * UlpAt<T>(std::fabs(static_cast<Wide<T>>(exact)));
    for (long double end : {exact - step, exact + step}) consider(x * Inside<T>(end, exact));
  }
}

template <typename T>
void FuseElements(bool subtract, const Literal* const (&operands)[2], const Factors (&factors)[2],
                  const LegalChoices& choices, Literal& result) {
  absl::Span<T> values = result.data<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    const T x = operands[0]->data<T>()[i], y = operands[1]->data<T>()[i];
    const bool up = choices.IsUp(choices.last_site() + static_cast<int64_t>(i));
    auto consider = [&](T value) {
      if (up ? value > values[i] : value < values[i]) values[i] = value;
    };
    if (factors[0].lhs != nullptr) {
      const T a = factors[0].lhs->data<T>()[i], b = factors[0].rhs->data<T>()[i];
      consider(std::fma(a, b, subtract ? -y : y));
    }
    if (factors[1].lhs != nullptr) {
      const T a = factors[1].lhs->data<T>()[i], b = factors[1].rhs->data<T>()[i];
      consider(std::fma(subtract ? -a : a, b, x));
    }
  }
}

// True of functions that need not be correctly rounded.
bool HasBudget(Opcode opcode) {
  const UlpBudget& budget = Info(opcode).numeric.xla;
  return budget.f32 > 0 || budget.f64 > 0;
}

bool IsSumOfProducts(const OpContext& op) {
  const Opcode opcode = op.instruction.opcode();
  if (opcode != Opcode::kAdd && opcode != Opcode::kSubtract) return false;
  return op.instruction.operand(0)->opcode() == Opcode::kMultiply ||
         op.instruction.operand(1)->opcode() == Opcode::kMultiply;
}

// Adds or multiplies the values as they come.
template <typename A>
A Total(const std::vector<A>& terms, bool multiply) {
  A value = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) value = multiply ? value * terms[i] : value + terms[i];
  return value;
}

template <typename A>
std::vector<Term<A>> SingleTerms(const std::vector<A>& values) {
  std::vector<Term<A>> terms;
  terms.reserve(values.size());
  for (A x : values) terms.push_back({x, 1, x});
  return terms;
}

}  // namespace

bool IsFlushed(const Instruction& instruction) {
  const Opcode opcode = instruction.opcode();
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kBitcastConvert:
    case Opcode::kComplex:
    case Opcode::kCopy:
    case Opcode::kImag:
    case Opcode::kIsFinite:
    case Opcode::kNegate:
    case Opcode::kReal:
    case Opcode::kReducePrecision:
    case Opcode::kSelect:
    case Opcode::kStochasticConvert:
      return false;  // they look at bits, or hand them on
    case Opcode::kCompare:
      return !IsTotalOrder(instruction);
    case Opcode::kConvert: {
      // Between numbers of the same kind it hands them on.
      const ElementType from = instruction.operand(0)->shape().element_type();
      return ComponentType(instruction.shape().element_type()) != ComponentType(from);
    }
    case Opcode::kDot:
    case Opcode::kConvolution:
      return true;
    default:
      return Info(opcode).Is(kElementwise) && !Info(opcode).Is(kDataMovement);
  }
}

Value FlushSubnormals(const Value& value, MemoryMeter& meter) {
  if (value.IsTuple()) return value;
  const Literal& literal = value.array->literal;
  const ElementType type = literal.element_type();
  const bool may_flush = IsComplex(type) || type == ElementType::kF32 ||
                         type == ElementType::kF64 || type == ElementType::kBF16;
  if (!may_flush) return value;
  const FloatFormat& format = Format(ComponentType(type));
  const double least = format.MinNormal();
  std::optional<Array> flushed;
  for (int64_t k = 0; k < literal.component_count(); ++k) {
    const double x = literal.GetComponent(k);
    if (x == 0 || !(std::fabs(x) < least)) continue;
    if (!flushed.has_value()) flushed = *value.array;
    flushed->literal.SetComponentBits(k, EncodeFloat(format, std::copysign(0.0, x)));
  }
  return flushed.has_value() ? MakeValue(*std::move(flushed), meter) : value;
}

bool DrawnDirection(uint64_t seed, int64_t slot) {
  uint64_t x = seed * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(slot) + 0x632BE59BD9B4E019u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return (x >> 63) != 0;
}

bool LegalChoices::IsUp(int64_t slot) const {
  if (rule_ == 1 || rule_ == 2) return rule_ == 1;
  if (up_ != nullptr && slot < static_cast<int64_t>(up_->size())) return (*up_)[slot];
  return DrawnDirection(seed_ + static_cast<uint64_t>(rule_), slot);
}

template <typename A>
A LegalChoices::Combine(std::vector<A>& values, bool multiply, int64_t slot) const {
  if (!Matters(slot)) return Total(values, multiply);
  if (rule_ == 0) {
    std::vector<Term<A>> terms = SingleTerms(values);
    return multiply ? MultiplyTowards(terms, IsUp(slot)) : AddTowards(terms, IsUp(slot));
  }
  auto less = [](A a, A b) { return !std::isnan(b) && (std::isnan(a) || a < b); };
  if (rule_ % 4 == 1) std::sort(values.begin(), values.end(), less);
  if (rule_ % 4 == 2) std::sort(values.rbegin(), values.rend(), less);
  if (rule_ % 4 == 3) std::reverse(values.begin(), values.end());
  return Total(values, multiply);
}
template float LegalChoices::Combine(std::vector<float>&, bool, int64_t) const;
template double LegalChoices::Combine(std::vector<double>&, bool, int64_t) const;

template <typename A>
A LegalChoices::CombineProducts(std::vector<std::pair<A, A>>& factors, int64_t slot) const {
  if (rule_ == 0 && Matters(slot)) {
    std::vector<Term<A>> terms;
    terms.reserve(factors.size());
    for (auto [x, y] : factors) terms.push_back({x, y, x * y});
    return AddTowards(terms, IsUp(slot));
  }
  std::vector<A> values;
  values.reserve(factors.size());
  for (auto [x, y] : factors) values.push_back(x * y);
  return Combine(values, false, slot);
}
template float LegalChoices::CombineProducts(std::vector<std::pair<float, float>>&, int64_t) const;
template double LegalChoices::CombineProducts(std::vector<std::pair<double, double>>&,
                                              int64_t) const;

bool HasChoice(const OpContext& op) {
  if (op.type() != ElementType::kF32 && op.type() != ElementType::kF64) return false;
  if (op.literal(0).element_type() != op.type()) return false;
  return HasBudget(op.instruction.opcode()) || IsSumOfProducts(op) || MayMultiplyByReciprocal(op);
}

absl::Status ChooseResult(const OpContext& op, BoundFn bound, LegalChoices& choices,
                          Literal& result) {
  if (!Info(op.instruction.opcode()).Is(kElementwise) || !HasChoice(op)) return absl::OkStatus();
  choices.Site(op.count());
  if (choices.numbers_only() || IsSumOfProducts(op)) return absl::OkStatus();
  const bool is_f32 = op.type() == ElementType::kF32;
  if (MayMultiplyByReciprocal(op)) {
    if (is_f32) {
      MoveQuotients<float>(op, choices, result);
    } else {
      MoveQuotients<double>(op, choices, result);
    }
    return absl::OkStatus();
  }
  Array bounded{result};
  ASSAY_RETURN_IF_ERROR(bound(op, bounded));
  if (bounded.facts().bounds.empty()) return absl::OkStatus();
  if (is_f32) {
    MoveWithin<float>(op, bounded, choices, result);
  } else {
    MoveWithin<double>(op, bounded, choices, result);
  }
  return absl::OkStatus();
}

void FuseProducts(bool subtract, const Literal* const (&operands)[2], const Factors (&factors)[2],
                  const LegalChoices& choices, Literal& result) {
  if (choices.numbers_only()) return;
  if (result.element_type() == ElementType::kF32) {
    FuseElements<float>(subtract, operands, factors, choices, result);
  } else {
    FuseElements<double>(subtract, operands, factors, choices, result);
  }
}

}  // namespace assay::reference
