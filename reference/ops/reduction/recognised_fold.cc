// Accumulates sums, products, minima and the like in a wide type.
#include "reference/ops/reduction/recognised_fold.h"
#include "reference/interpreter/widening.h"

#include <algorithm>

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

// f(...f(f(init, x0), x1)...) of floats for one result element: accumulated in a wide type and
// rounded once at the end, or if `stepwise` rounded at every step.
template <typename Op, typename T>
T AccumulateReal(absl::Span<const T> in, T init, const IndexMap& terms, bool stepwise,
                 LegalChoices* choices, int64_t slot) {
  constexpr bool kSum = std::is_same_v<Op, Add>, kProduct = std::is_same_v<Op, Multiply>;
  if constexpr (kSum || kProduct) {
    if (choices != nullptr && !stepwise) {
      using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
      std::vector<A> values = {Widen<A>(init)};
      for (int64_t at : terms) values.push_back(Widen<A>(in[at]));
      return Round<T>(choices->Combine(values, kProduct, slot));
    }
  }
  if (stepwise) {
    T value = init;
    for (int64_t at : terms) {
      using W = Working<T>;
      value = Round<T>(Op::template Real<W>(Widen<W>(value), Widen<W>(in[at])));
    }
    return value;
  }
  if constexpr (std::is_same_v<Op, Add> && std::is_same_v<T, double>) {
    DoubleDouble sum(init);
    for (int64_t at : terms) sum.Add(in[at]);
    return sum.Rounded();
  } else {
    using W = std::conditional_t<std::is_same_v<Op, Add> || std::is_same_v<Op, Multiply>, Wide<T>,
                                 Working<T>>;
    W value = Widen<W>(init);
    for (int64_t at : terms) value = Op::template Real<W>(value, Widen<W>(in[at]));
    return Round<T>(value);
  }
}

// f(...f(f(init, x0), x1)...) of any elements for one result element, the one with number `slot`.
template <typename Op, typename T>
T Accumulate(absl::Span<const T> in, T init, const IndexMap& terms, bool stepwise,
             LegalChoices* choices, int64_t slot) {
  if constexpr (kIsReal<T>) {
    if constexpr (requires { &Op::template Real<Working<T>>; })
      return AccumulateReal<Op, T>(in, init, terms, stepwise, choices, slot);
  } else if constexpr (kIsPred<T>) {
    if constexpr (requires { &Op::Predicate; }) {
      T value = init;
      for (int64_t at : terms) value = Op::Predicate(value, in[at]);
      return value;
    }
  } else if constexpr (requires { &Op::template Integer<T>; }) {
    T value = init;
    for (int64_t at : terms) value = Op::template Integer<T>(value, in[at]);
    return value;
  }
  return init;  // the verifier rejects and, or, xor of floats
}

// A fold of elements of a type that C++ computes.
Array FoldComputed(const OpContext& op, bool bounding, const RecognisedFold& fold,
                   absl::Span<const int64_t> dimensions) {
  const ElementType type = fold.input.literal.element_type();
  Array result{Literal(Shape::Array(type, dimensions))};
  DispatchComputed(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    absl::Span<const T> in = fold.input.literal.data<T>(), first = fold.init.literal.data<T>();
    absl::Span<T> out = result.literal.data<T>();
    LegalChoices* choices = op.analysis.choices;
    const int64_t site = choices == nullptr ? 0 : choices->Site(static_cast<int64_t>(out.size()));
    VisitCombiner(fold.combiner, [&](auto meaning) {
      IndexMap list;
      for (size_t o = 0; o < out.size(); ++o) {
        const auto at = static_cast<int64_t>(o);
        if (op.OutOfTime(static_cast<int64_t>(list.size()))) return;
        fold.terms.List(at, list);
        out[o] = Accumulate<decltype(meaning), T>(in, first[fold.terms.InitOf(at)], list,
                                                  fold.rules.stepwise, choices, site + at);
      }
    });
  });
  if (bounding) BoundRecognisedFold(op, fold, result);
  return result;
}

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
  // A literal reducer rounds at every step, and the bounds of that are not derived.
  IndexMap list;
  for (int64_t o = 0; o < fold.terms.results(); ++o) {
    fold.terms.List(o, list);
    if (list.size() > 1) SetUndecided(result, o);
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
    W least = std::min<W>(1, product.Modulus()), most = std::max<W>(1, product.Modulus());
    for (int64_t at : list) {
      const D factor = read(inputs, at);
      product = product * factor;
      least *= std::min<W>(1, factor.Modulus());
      most *= std::max<W>(1, factor.Modulus() + factor.radius);
    }
    const bool in_range =
        least > Tiny<T>() * W{0x1p30} && most < OverflowThreshold<T>() * W{0x1p-30};
    if (!known || !product.IsKnown() || !in_range) {
      SetUndecided(result, o);
      continue;
    }
    const W growth = static_cast<W>(list.size() + 1) * W{2.5} * UnitRoundoff<T>();
    const W radius = product.radius + (product.Modulus() + product.radius) * growth * (1 + growth);
    Store(result, 2 * o, Range<W>{product.centre.real(), radius, 0}, 0);
    Store(result, 2 * o + 1, Range<W>{product.centre.imag(), radius, 0}, 0);
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
