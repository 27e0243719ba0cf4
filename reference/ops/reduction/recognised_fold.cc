// Accumulates sums, products, minima and the like in a wide type.
#include "reference/ops/reduction/recognised_fold.h"
#include "reference/interpreter/widening.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "reference/bounds/ball.h"
#include "reference/bounds/choices/legal_choices.h"
#include "reference/bounds/components.h"
#include "reference/bounds/elements.h"
#include "reference/bounds/magnitudes.h"
#include "reference/scalar/double_double.h"
#include "reference/values/combiner.h"
#include "reference/values/narrow_types.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// A product of doubles. Where two factors are other than 1 and -1 it is one rounding, which must
// not be made in two steps, of the wide type first.
class DoubleProduct {
 public:
  explicit DoubleProduct(double init) { Multiply(init); }

  void Multiply(double x) {
    wide_ *= x;
    if (std::fabs(x) == 1) {
      sign_ *= x;
    } else if (++count_ <= 2) {
      factors_[count_ - 1] = x;
    }
  }
  double Rounded() const {
    return count_ == 2 ? sign_ * (factors_[0] * factors_[1]) : static_cast<double>(wide_);
  }

 private:
  long double wide_ = 1;
  double sign_ = 1, factors_[2] = {1, 1};
  int64_t count_ = 0;
};

// f(...f(f(init, x0), x1)...) of floats: accumulated in a wide type and rounded once at the end, or
// if `stepwise` rounded at every step.
template <typename Op, typename T>
class RealFold {
 public:
  RealFold(T init, bool stepwise) : stepwise_(stepwise), rounded_(init), wide_(Widen<W>(init)) {}

  void Take(T x) {
    using S = Working<T>;
    if (stepwise_) {
      rounded_ = Round<T>(Op::template Real<S>(Widen<S>(rounded_), Widen<S>(x)));
    } else if constexpr (kIsDoubleSum) {
      wide_.Add(x);
    } else if constexpr (kIsDoubleProduct) {
      wide_.Multiply(x);
    } else {
      wide_ = Op::template Real<W>(wide_, Widen<W>(x));
    }
  }
  T Value() const {
    if (stepwise_) return rounded_;
    if constexpr (kIsDoubleSum || kIsDoubleProduct) {
      return wide_.Rounded();
    } else {
      return Round<T>(wide_);
    }
  }

 private:
  static constexpr bool kAdds = std::is_same_v<Op, Add>;
  static constexpr bool kMultiplies = std::is_same_v<Op, Multiply>;
  static constexpr bool kIsDoubleSum = kAdds && std::is_same_v<T, double>;
  static constexpr bool kIsDoubleProduct = kMultiplies && std::is_same_v<T, double>;
  using Simple = std::conditional_t<kAdds || kMultiplies, Wide<T>, Working<T>>;
  using W = std::conditional_t<kIsDoubleSum, DoubleDouble,
                               std::conditional_t<kIsDoubleProduct, DoubleProduct, Simple>>;

  bool stepwise_;
  T rounded_;
  W wide_;
};

// Does so for integers and predicates.
template <typename Op, typename T>
class ExactFold {
 public:
  ExactFold(T init, bool /*stepwise*/) : value_(init) {}

  void Take(T x) {
    if constexpr (kIsPred<T>) {
      if constexpr (requires { &Op::Predicate; }) value_ = Op::Predicate(value_, x);
    } else if constexpr (!kIsReal<T>) {
      value_ = Op::template Integer<T>(value_, x);
    }
  }
  T Value() const { return value_; }

 private:
  T value_;
};

// The elements of one type that a fold reads and makes.
template <typename T>
struct FoldedElements {
  absl::Span<const T> in, init;
  absl::Span<T> out;
};

template <typename Op, typename T>
void FoldAll(const OpContext& op, const RecognisedFold& fold, const FoldedElements<T>& elements) {
  // and, or, xor of floats, which the verifier rejects, stay what they are.
  using Running = std::conditional_t<kIsReal<T>&& requires { &Op::template Real<Working<T>>; },
                                     RealFold<Op, T>, ExactFold<Op, T>>;
  std::optional<Running> running;
  IndexMap more;
  for (int64_t k = 0; k < fold.terms.results(); ++k) {
    if (op.OutOfTime(static_cast<int64_t>(more.size()))) return;
    const auto [o, goes_on] = fold.terms.Visit(k, more);
    if (!goes_on) running.emplace(elements.init[fold.terms.InitOf(o)], fold.rules.stepwise);
    for (int64_t at : more) running->Take(elements.in[at]);
    elements.out[o] = running->Value();
  }
}

// A sum or product of floats whose order is one of the `choices`.
template <typename T>
void FoldChosen(const OpContext& op, const RecognisedFold& fold, LegalChoices& choices,
                const FoldedElements<T>& elements) {
  using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const int64_t site = choices.Site(static_cast<int64_t>(elements.out.size()));
  IndexMap list;
  for (int64_t o = 0; o < fold.terms.results(); ++o) {
    if (op.OutOfTime(static_cast<int64_t>(list.size()))) return;
    fold.terms.List(o, list);
    std::vector<A> values = {Widen<A>(elements.init[fold.terms.InitOf(o)])};
    for (int64_t at : list) values.push_back(Widen<A>(elements.in[at]));
    elements.out[o] =
        Round<T>(choices.Combine(values, fold.combiner == Opcode::kMultiply, site + o));
  }
}

// True if the terms of all results, each looked at by itself, are so many that only a running fold
// ends in time: those of long windows that overlap.
bool AreTooManyTerms(const RecognisedFold& fold) {
  constexpr int64_t kMost = int64_t{1} << 26;
  const int64_t results = fold.terms.results();
  if (results == 0) return false;
  IndexMap list;
  size_t longest = 0;
  for (int64_t o : {int64_t{0}, results / 2, results - 1}) {
    fold.terms.List(o, list);
    longest = std::max(longest, list.size());
  }
  return static_cast<int64_t>(longest) > kMost / results;
}

// A fold of elements of a type that C++ computes.
Array FoldComputed(const OpContext& op, bool bounding, const RecognisedFold& fold,
                   absl::Span<const int64_t> dimensions) {
  const ElementType type = fold.input.literal.element_type();
  Array result{Literal(Shape::Array(type, dimensions))};
  DispatchComputed(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const FoldedElements<T> elements{fold.input.literal.data<T>(), fold.init.literal.data<T>(),
                                     result.literal.data<T>()};
    const bool has_order = fold.combiner == Opcode::kAdd || fold.combiner == Opcode::kMultiply;
    if constexpr (kIsReal<T>) {
      if (op.analysis.choices != nullptr && has_order && !fold.rules.stepwise &&
          !AreTooManyTerms(fold)) {
        FoldChosen<T>(op, fold, *op.analysis.choices, elements);
        return;
      }
    }
    if (op.analysis.choices != nullptr) {
      op.analysis.choices->Site(static_cast<int64_t>(elements.out.size()));
    }
    VisitCombiner(fold.combiner,
                  [&](auto meaning) { FoldAll<decltype(meaning), T>(op, fold, elements); });
  });
  if (bounding) BoundRecognisedFold(op, fold, result);
  return result;
}

// Tells whether sums or products of floats, taken in any order and rounded at every step, are exact
// at every step.
class StepsOfFold {
 public:
  StepsOfFold(const FloatFormat& format, Opcode combiner)
      : format_(&format), adds_(combiner == Opcode::kAdd) {}

  // One more term, element i.
  void Take(const Array& array, int64_t i) {
    const bool forced = !array.facts().IsOpen(i);
    const double x = std::fabs(array.literal.GetComponent(i));
    known_ = known_ && forced && std::isfinite(x);
    if (!known_ || x == 0) return;
    int exponent = 0;
    // The mantissa as an integer, and the unit of its last digit that is not zero.
    const auto digits = static_cast<uint64_t>(
        std::ldexp(std::frexp(x, &exponent), std::numeric_limits<double>::digits));
    unit_ = std::min(unit_, std::ldexp(1.0, exponent - std::numeric_limits<double>::digits +
                                                std::countr_zero(digits)));
    sum_ += x;
    if (!std::has_single_bit(digits)) ++others_;
    most_ *= std::max(x, 1.0);
    least_ *= std::min(x, 1.0);
  }
  bool AreExact() const {
    if (!known_) return false;
    // Every partial sum is a multiple of the unit.
    if (adds_)
      return sum_ <= format_->MaxFinite() && sum_ <= std::ldexp(unit_, format_->precision());
    return others_ <= 1 && most_ <= format_->MaxFinite() && least_ >= format_->MinNormal();
  }

 private:
  const FloatFormat* format_;
  bool adds_, known_ = true;
  int64_t others_ = 0;  // terms that are no power of two
  double sum_ = 0, most_ = 1, least_ = 1, unit_ = std::numeric_limits<double>::infinity();
};

// A fold of a narrow type: accumulated in the wider type and rounded, or wrapped, at the end.
absl::StatusOr<Array> FoldNarrow(const OpContext& op, bool bounding, const RecognisedFold& fold,
                                 absl::Span<const int64_t> dimensions) {
  const ElementType type = fold.input.literal.element_type(), wide = ComputedType(type);
  ASSAY_ASSIGN_OR_RETURN(const Array input, ConvertArray(op, fold.input, wide, bounding));
  ASSAY_ASSIGN_OR_RETURN(const Array init, ConvertArray(op, fold.init, wide, bounding));
  const Array sums =
      FoldComputed(op, bounding, {fold.combiner, input, init, fold.terms, {}}, dimensions);
  ASSAY_ASSIGN_OR_RETURN(Array result, ConvertArray(op, sums, type, bounding));
  TakeMagnitudes(sums, result);
  const bool rounds =
      IsFloat(type) && (fold.combiner == Opcode::kAdd || fold.combiner == Opcode::kMultiply);
  if (!bounding || !rounds || !op.clauses.Has(ClauseId::kLiteralReducer)) return result;
  // A literal reducer rounds at every step, and the bounds of that are not derived where one of the
  // steps may be inexact.
  IndexMap more;
  size_t terms = 0;
  StepsOfFold steps(Format(type), fold.combiner);
  for (int64_t k = 0; k < fold.terms.results(); ++k) {
    const auto [o, goes_on] = fold.terms.Visit(k, more);
    if (!goes_on) {
      terms = 0;
      steps = StepsOfFold(Format(type), fold.combiner);
      steps.Take(fold.init, fold.terms.InitOf(o));
    }
    terms += more.size();
    for (int64_t at : more) steps.Take(fold.input, at);
    if (terms > 1 && !steps.AreExact()) SetUndecided(result, o);
  }
  return result;
}

// A product of complex numbers in any order: every factor rounds with a relative error of sqrt(5) u
// at most, in modulus, while nothing on the way leaves the range.
template <typename C>
void MultiplyComplex(const OpContext& op, bool bounding, const RecognisedFold& fold,
                     Array& result) {
  using T = typename C::value_type;
  using W = Wide<T>;
  using D = Ball<std::complex<W>>;
  const Array inputs = Components(fold.input), inits = Components(fold.init);
  bool known = true;
  auto read = [&](const Array& parts, int64_t i) {
    const auto re = Seen<T>(op.clauses, parts, 2 * i), im = Seen<T>(op.clauses, parts, 2 * i + 1);
    known = known && ((re.flags | im.flags) & ~uint32_t{kZeroSignFree}) == 0;
    return D({re.centre, im.centre}, re.radius + im.radius);
  };
  auto plain = [](const Array& parts, int64_t i) {
    const T* at = &parts.literal.data<T>()[2 * i];
    return std::complex<W>(at[0], at[1]);
  };
  const FoldTerms& terms = fold.terms;
  IndexMap list;
  for (int64_t o = 0; o < terms.results(); ++o) {
    if (op.OutOfTime(static_cast<int64_t>(list.size()))) return;
    terms.List(o, list);
    std::complex<W> value = plain(inits, terms.InitOf(o));
    for (int64_t at : list) value *= plain(inputs, at);
    result.literal.data<C>()[o] = C(static_cast<T>(value.real()), static_cast<T>(value.imag()));
    if (!bounding) continue;
    if (list.empty()) {
      MoveBound(fold.init, terms.InitOf(o), result, o);
      continue;
    }
    known = true;
    D product = read(inits, terms.InitOf(o));
    // A product with zero is zero, however small the other factor was.
    bool is_zero = product.IsZero();
    W least = std::min<W>(1, product.Modulus()), most = std::max<W>(1, product.Modulus());
    for (int64_t at : list) {
      const D factor = read(inputs, at);
      product = product * factor;
      is_zero = is_zero || factor.IsZero();
      least *= std::min<W>(1, factor.Modulus());
      most *= std::max<W>(1, factor.Modulus() + factor.radius);
    }
    const bool in_range =
        (is_zero || least > Tiny<T>() * W{0x1p30}) && most < OverflowThreshold<T>() * W{0x1p-30};
    if (!known || !product.IsKnown() || !in_range) {
      SetUndecided(result, o);
      continue;
    }
    const W growth = static_cast<W>(list.size() + 1) * W{2.5} * UnitRoundoff<T>();
    const W radius = product.radius + (product.Modulus() + product.radius) * growth * (1 + growth);
    const uint32_t flags = is_zero ? uint32_t{kZeroSignFree} : 0;
    Store(result, 2 * o, Range<W>{product.centre.real(), radius, flags}, 0);
    Store(result, 2 * o + 1, Range<W>{product.centre.imag(), radius, flags}, 0);
  }
}

// A fold of complex numbers: a product, or the sums of both parts.
Array FoldComplex(const OpContext& op, bool bounding, const RecognisedFold& fold,
                  absl::Span<const int64_t> dimensions) {
  const ElementType type = fold.input.literal.element_type();
  Array result{Literal(Shape::Array(type, dimensions))};
  if (fold.combiner == Opcode::kMultiply) {
    DispatchComplex(type, [&](auto tag) {
      MultiplyComplex<typename decltype(tag)::type>(op, bounding, fold, result);
    });
    return result;
  }
  for (Part part : {Part::kReal, Part::kImaginary}) {
    const Array input = PartOf(fold.input, part), init = PartOf(fold.init, part);
    SetPart(FoldComputed(op, bounding, {fold.combiner, input, init, fold.terms, fold.rules},
                         dimensions),
            part, result);
  }
  return result;
}

}  // namespace

bool IsRecognisedOn(ElementType type, Opcode combiner, FoldRules rules) {
  if (IsComplex(type)) return combiner == Opcode::kAdd || combiner == Opcode::kMultiply;
  return IsComputed(type) || (IsNarrowType(type) && !rules.stepwise);
}

absl::StatusOr<Array> FoldRecognised(const OpContext& op, bool bounding, const RecognisedFold& fold,
                                     absl::Span<const int64_t> dimensions) {
  const ElementType type = fold.input.literal.element_type();
  if (IsNarrowType(type)) return FoldNarrow(op, bounding, fold, dimensions);
  if (IsComplex(type)) return FoldComplex(op, bounding, fold, dimensions);
  return FoldComputed(op, bounding, fold, dimensions);
}

}  // namespace assay::reference
