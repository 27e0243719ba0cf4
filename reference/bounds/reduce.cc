// Bounds of folds with recognised combiners.
#include "reference/bounds/reduce.h"

#include "reference/bounds/elementwise/binary.h"
#include "reference/bounds/error_forms.h"
#include "reference/bounds/sum.h"
#include "reference/values/combiner.h"

namespace assay::reference {
namespace {

struct Terms {
  const OpContext& op;
  const Array& input;
  const Array& init;
  const FoldTerms& lists;
  mutable IndexMap list = {};

  // True if there is a result element o, and time for it.
  bool Has(int64_t o) const {
    return o < lists.results() && !op.OutOfTime(static_cast<int64_t>(list.size()));
  }
  // Calls f with the range of the initial value and of every input of result element o, and with
  // the magnitude that was noted for it.
  template <typename T, typename F>
  void ForEach(int64_t o, Consumer consumer, F f) const {
    auto noted = [](const Array& array, int64_t i) {
      return array.bounds.empty() ? 0 : array.bounds[i].magnitude();
    };
    const int64_t first = lists.InitOf(o);
    f(Seen<T>(op.clauses, init, first, consumer), noted(init, first));
    lists.List(o, list);
    for (int64_t at : list) f(Seen<T>(op.clauses, input, at, consumer), noted(input, at));
  }
};

// Notes the magnitude of a result beside its bound, if it has one.
void NoteMagnitude(Array& result, int64_t i, double magnitude) {
  if (!result.bounds.empty()) result.bounds[i].set_magnitude(magnitude);
}

// A is the narrowest accumulator that the profile allows; the results of wider ones lie inside its
// bound.
template <typename T, typename A>
void BoundSum(const Terms& terms, Array& result) {
  for (int64_t o = 0; terms.Has(o); ++o) {
    SumBound<T, A> sum;
    terms.ForEach<T>(o, Consumer::kSum,
                     [&](const auto& x, double size) { sum.Add(x, false, size); });
    if (terms.op.clauses.Has(ClauseId::kSumsOfSums))
      sum.JoinSumOf(terms.op.licensed.terms_of_whole_sum,
                    terms.op.clauses.Has(ClauseId::kFlushSubnormals));
    FinishSum<T, A>(terms.op.clauses, result, o, sum, View::kNone);
  }
}

template <typename Rule, typename T>
void BoundExtremum(const Terms& terms, Array& result) {
  for (int64_t o = 0; terms.Has(o); ++o) {
    bool first = true, single = true;
    Range<Wide<T>> extremum;
    double size = 0;  // of those that may be the extremum
    terms.ForEach<T>(o, Consumer::kOther, [&](const auto& x, double noted) {
      single = single && x.Single();
      const Range<Wide<T>> before = extremum;
      extremum = first ? x : RangeOf<Rule>(extremum, x);
      if (first || std::fabs(extremum.centre - x.centre) <= extremum.radius) {
        const bool stays = !first && std::fabs(extremum.centre - before.centre) <= extremum.radius;
        size = stays ? std::max(size, noted) : noted;
      }
      first = false;
    });
    if (single) continue;
    FinishExact<T>(terms.op.clauses, result, o, extremum);
    NoteMagnitude(result, o, std::max(size, static_cast<double>(std::fabs(extremum.centre))));
  }
}

// Bounds a product of terms in any order: relative errors add up, as long as no partial product
// leaves the normal range.
template <typename T, typename A>
void BoundProduct(const Terms& terms, Array& result) {
  using W = Wide<T>;
  for (int64_t o = 0; terms.Has(o); ++o) {
    W product = 1, largest = 1, size = 1, grown = 1, shrunk = 1;
    int64_t factors = 0;
    bool single = true, finite = true, whole = true, zero = false;
    terms.ForEach<T>(o, Consumer::kOther, [&](const auto& x, double noted) {
      single = single && x.Single();
      if (!x.HasFinite() || x.flags != 0) {
        finite = false;
        return;
      }
      if (x.radius == 0 && x.centre == 0) zero = true;
      if (x.radius == 0 && (std::fabs(x.centre) == 1 || x.centre == 0)) {
        product *= x.centre;
        return;
      }
      ++factors;
      product *= x.centre;
      whole = whole && x.centre == std::trunc(x.centre);
      const W high = std::fabs(x.centre) + x.radius, low = std::fabs(x.centre) - x.radius;
      largest *= high;
      size *= std::max(high, static_cast<W>(noted));
      if (high > 1) grown *= high;
      if (low < 1) shrunk *= std::max<W>(low, 0);
    });
    const int64_t i = o;
    const bool normal = finite && grown < OverflowThreshold<A>() && shrunk >= Tiny<A>();
    const bool exact = whole && grown <= PowerOfTwo<W>(FormatOf<A>::kPrecision);
    if (single && !finite && factors == 0) continue;  // infinities, NaN, ones and zeros only
    if (single && normal && (zero || exact || factors <= 2)) {
      const W slop = exact || factors <= 1 ? W{0} : std::fabs(product) * kSlop<W>;
      FinishSingle<T>(terms.op.clauses, result, i, {product, slop, 0}, View::kSum);
    } else if (single && finite && factors <= 2 && !zero) {
      FinishRounded<T>(terms.op.clauses, result, i, {product, std::fabs(product) * kSlop<W>, 0},
                       View::kSum);
    } else if (!normal || zero) {
      SetUndecided(result, i);
    } else {
      const W growth = static_cast<W>(factors - 1) * UnitRoundoff<A>();
      Range<W> x{product,
                 largest - std::fabs(product) + largest * (growth * (1 + growth)) +
                     largest * kSlop<W> * static_cast<W>(factors + 1),
                 0};
      FinishRounded<T>(terms.op.clauses, result, i, x, View::kSum);
      NoteMagnitude(result, i, static_cast<double>(size));
    }
  }
}

// Tries, for integers and predicates, every combination of the codes of uncertain terms.
template <typename Op, typename T>
void BoundCodes(const Terms& terms, Array& result) {
  if (terms.input.Certain() && terms.init.Certain()) return;
  auto combine = [](uint64_t a, uint64_t b) -> uint64_t {
    if constexpr (kIsPred<T>) {
      if constexpr (requires { &Op::Predicate; }) return Op::Predicate(a != 0, b != 0) ? 1 : 0;
    } else if constexpr (requires { &Op::template Integer<T>; }) {
      const T value = Op::template Integer<T>(static_cast<T>(a), static_cast<T>(b));
      return static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
    }
    return a;
  };
  for (int64_t o = 0; terms.Has(o); ++o) {
    const int64_t i = o;
    std::vector<uint64_t> codes = CodesOf(terms.init, terms.lists.InitOf(o));
    terms.lists.List(o, terms.list);
    for (int64_t at : terms.list) {
      std::vector<uint64_t> next;
      for (uint64_t b : CodesOf(terms.input, at))
        for (uint64_t a : codes) next.push_back(combine(a, b));
      std::sort(next.begin(), next.end());
      next.erase(std::unique(next.begin(), next.end()), next.end());
      if (next.size() > 4 * kMaxChoices) next.clear();
      codes = std::move(next);
      if (codes.empty()) break;
    }
    SetCodes(result, i, std::move(codes));
  }
}

}  // namespace

void BoundRecognisedFold(const OpContext& op, const RecognisedFold& fold, Array& result) {
  const Opcode combiner = fold.combiner;
  const FoldRules rules = fold.rules;
  const Terms terms{op, fold.input, fold.init, fold.terms};
  DispatchComputed(result.literal.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsReal<T>) {
      using A = Accumulator<T>;
      if (op.clauses.Has(ClauseId::kLiteralReducer) || rules.stepwise) {
        if (combiner == Opcode::kAdd) BoundSum<T, T>(terms, result);
        if (combiner == Opcode::kMultiply) BoundProduct<T, T>(terms, result);
      } else {
        if (combiner == Opcode::kAdd) BoundSum<T, A>(terms, result);
        if (combiner == Opcode::kMultiply) BoundProduct<T, A>(terms, result);
      }
      if (combiner == Opcode::kAdd && !rules.stepwise)
        NarrowFold(op, fold.input, fold.init, fold.terms, result);
      if (combiner == Opcode::kMaximum) BoundExtremum<MaximumBound, T>(terms, result);
      if (combiner == Opcode::kMinimum) BoundExtremum<MinimumBound, T>(terms, result);
    } else {
      VisitCombiner(combiner,
                    [&](auto meaning) { BoundCodes<decltype(meaning), T>(terms, result); });
    }
  });
}

}  // namespace assay::reference
