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

  // Makes one State after the other of the initial value and the inputs of a result element, given
  // to its Add with their range and the magnitude that was noted for them, and calls
  // finish(state, o).
  template <typename State, typename Finish>
  void ForEachResult(Consumer consumer, Finish finish) const {
    using T = typename State::Type;
    std::optional<State> state;
    const auto add = [&](const Array& array, int64_t i) {
      state->Add(Seen<T>(op.clauses, array, i, consumer),
                 array.facts().bounds.empty() ? 0 : array.facts().bounds[i].magnitude());
    };
    IndexMap more;
    for (int64_t k = 0; k < lists.results(); ++k) {
      if (op.OutOfTime(static_cast<int64_t>(more.size()))) return;
      const auto [o, goes_on] = lists.Visit(k, more);
      if (!goes_on) {
        state.emplace();
        add(init, lists.InitOf(o));
      }
      for (int64_t at : more) add(input, at);
      finish(std::as_const(*state), o);
    }
  }
};

// Notes the magnitude of a result beside its bound, if it has one.
void NoteMagnitude(Array& result, int64_t i, double magnitude) {
  if (!result.facts().bounds.empty()) result.facts().bounds[i].set_magnitude(magnitude);
}

template <typename T, typename A>
struct SumOfTerms {
  using Type = T;
  SumBound<T, A> sum;
  void Add(const Range<Wide<T>>& term, double noted) { sum.Add(term, false, noted); }
};

// A is the narrowest accumulator that the profile allows; the results of wider ones lie inside its
// bound.
template <typename T, typename A>
void BoundSum(const Terms& terms, Array& result) {
  const ClauseSet clauses = terms.op.clauses;
  const bool joins = clauses.Has(ClauseId::kSumsOfSums);
  const bool flush = clauses.Has(ClauseId::kFlushSubnormals);
  terms.ForEachResult<SumOfTerms<T, A>>(
      Consumer::kSum, [&](const SumOfTerms<T, A>& state, int64_t o) {
        if (!joins) return FinishSum<T, A>(clauses, result, o, state.sum, View::kNone);
        SumBound<T, A> joined = state.sum;
        joined.JoinSumOf(terms.op.licensed.terms_of_whole_sum, flush);
        FinishSum<T, A>(clauses, result, o, joined, View::kNone);
      });
}

template <typename Rule, typename T>
struct Extremum {
  using Type = T;
  bool first = true, single = true;
  Range<Wide<T>> extremum;
  double size = 0;  // of those that may be the extremum

  void Add(const Range<Wide<T>>& term, double noted) {
    single = single && term.Single();
    const Range<Wide<T>> before = extremum;
    extremum = first ? term : RangeOf<Rule>(extremum, term);
    if (first || std::fabs(extremum.centre - term.centre) <= extremum.radius) {
      const bool stays = !first && std::fabs(extremum.centre - before.centre) <= extremum.radius;
      size = stays ? std::max(size, noted) : noted;
    }
    first = false;
  }
};

// A fold of one term for each result is one op, which only chooses.
template <typename T>
void PassOnSumViews(const Terms& terms, Array& result) {
  const int64_t count = result.literal.element_count();
  if (terms.input.facts().bounds.empty() || terms.input.literal.element_count() != count) return;
  IndexMap more;
  int64_t size = 0, only = -1;  // of the terms of the result that was visited last
  for (int64_t k = 0; k < count; ++k) {
    const auto [o, goes_on] = terms.lists.Visit(k, more);
    size = (goes_on ? size : 0) + static_cast<int64_t>(more.size());
    if (!more.empty()) only = more[0];
    if (size == 1) PassOnSumView<T>(terms.input, only, result, o);
  }
}

template <typename Rule, typename T>
void BoundExtremum(const Terms& terms, Array& result) {
  using State = Extremum<Rule, T>;
  terms.ForEachResult<State>(Consumer::kOther, [&](const State& state, int64_t o) {
    if (state.single) return;
    FinishExact<T>(terms.op.clauses, result, o, state.extremum);
    NoteMagnitude(result, o,
                  std::max(state.size, static_cast<double>(std::fabs(state.extremum.centre))));
  });
  PassOnSumViews<T>(terms, result);
}

template <typename T>
struct ProductOfTerms {
  using Type = T;
  using W = Wide<T>;
  W product = 1, largest = 1, size = 1, grown = 1, shrunk = 1;
  int64_t factors = 0;
  bool single = true, finite = true, whole = true, zero = false;

  void Add(const Range<W>& factor, double noted) {
    single = single && factor.Single();
    if (!factor.HasFinite() || factor.flags != 0) {
      finite = false;
      return;
    }
    if (factor.radius == 0 && factor.centre == 0) zero = true;
    if (factor.radius == 0 && (std::fabs(factor.centre) == 1 || factor.centre == 0)) {
      product *= factor.centre;
      return;
    }
    ++factors;
    product *= factor.centre;
    whole = whole && factor.centre == std::trunc(factor.centre);
    const W high = std::fabs(factor.centre) + factor.radius,
            low = std::fabs(factor.centre) - factor.radius;
    largest *= high;
    size *= std::max(high, static_cast<W>(noted));
    if (high > 1) grown *= high;
    if (low < 1) shrunk *= std::max<W>(low, 0);
  }
};

// Bounds a product of terms in any order: relative errors add up, as long as no partial product
// leaves the normal range.
template <typename T, typename A>
void FinishProduct(ClauseSet clauses, Array& result, int64_t i, const ProductOfTerms<T>& all) {
  using W = Wide<T>;
  const bool normal = all.finite && all.grown < OverflowThreshold<A>() && all.shrunk >= Tiny<A>();
  const bool exact = all.whole && all.grown <= PowerOfTwo<W>(FormatOf<A>::kPrecision);
  const W size = std::fabs(all.product), slop = size * kSlop<W>;
  if (all.single && !all.finite && all.factors == 0)
    return;  // infinities, NaN, ones and zeros only
  if (all.single && normal && (all.zero || exact || all.factors <= 2)) {
    const W error = exact || all.factors <= 1 ? W{0} : slop;
    FinishSingle<T>(clauses, result, i, {all.product, error, 0}, View::kSum);
  } else if (all.single && all.finite && all.factors <= 2 && !all.zero) {
    FinishRounded<T>(clauses, result, i, {all.product, slop, 0}, View::kSum);
  } else if (!normal || all.zero) {
    SetUndecided(result, i);
  } else {
    const W growth = static_cast<W>(all.factors - 1) * UnitRoundoff<A>();
    const W radius = all.largest - size + all.largest * (growth * (1 + growth)) +
                     all.largest * kSlop<W> * static_cast<W>(all.factors + 1);
    FinishRounded<T>(clauses, result, i, {all.product, radius, 0}, View::kSum);
    NoteMagnitude(result, i, static_cast<double>(all.size));
  }
}

template <typename T, typename A>
void BoundProduct(const Terms& terms, Array& result) {
  terms.ForEachResult<ProductOfTerms<T>>(
      Consumer::kOther, [&](const ProductOfTerms<T>& product, int64_t o) {
        FinishProduct<T, A>(terms.op.clauses, result, o, product);
      });
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
  IndexMap more;
  std::vector<uint64_t> codes;
  for (int64_t k = 0; k < terms.lists.results(); ++k) {
    if (terms.op.OutOfTime(static_cast<int64_t>(more.size()))) return;
    const auto [o, goes_on] = terms.lists.Visit(k, more);
    if (!goes_on) codes = CodesOf(terms.init, terms.lists.InitOf(o));
    for (int64_t at : more) {
      std::vector<uint64_t> next;
      for (uint64_t b : CodesOf(terms.input, at))
        for (uint64_t a : codes) next.push_back(combine(a, b));
      std::sort(next.begin(), next.end());
      next.erase(std::unique(next.begin(), next.end()), next.end());
      if (next.size() > 4 * kMaxChoices) next.clear();
      codes = std::move(next);
      if (codes.empty()) break;
    }
    SetCodes(result, o, codes);
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
