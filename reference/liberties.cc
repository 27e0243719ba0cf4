#include "reference/liberties.h"

#include "reference/interpreter.h"
#include "spec/numerics/profile.h"

namespace assay::reference {
namespace {

// One sign after the other.
template <typename A>
void SortTerms(std::vector<A>& terms, bool falling) {
  auto less = [](A a, A b) { return !std::isnan(b) && (std::isnan(a) || a < b); };
  if (falling) {
    std::sort(terms.rbegin(), terms.rend(), less);
  } else {
    std::sort(terms.begin(), terms.end(), less);
  }
}

// Added in pairs, then pairs of pairs: what that is off by hardly shows.
template <typename A>
A AddInPairs(absl::Span<const A> terms) {
  if (terms.size() == 1) return terms[0];
  return AddInPairs(terms.subspan(0, terms.size() / 2)) +
         AddInPairs(terms.subspan(terms.size() / 2));
}

// Beside a large partial sum what a term loses is decided by its own low bits: the terms that lose
// in the wrong direction are added up beforehand, apart. Of the others those of the sign that
// weighs more come first, the largest before the others, which makes partial sums, and their
// roundings, large. The sum of the former is returned, the latter remain.
template <typename A, typename W>
A SetWrongTermsApart(std::vector<A>& terms, W wanted) {
  W above = 0, below = 0;
  for (A term : terms) (term > 0 ? above : below) += term;
  const W largest = std::max(above, -below);
  const A partial = static_cast<A>((above > -below ? largest : -largest) * W{0.6});
  auto is_right = [&](A term) {
    return (static_cast<W>(static_cast<A>(partial + term)) - (static_cast<W>(partial) + term)) *
               wanted >
           0;
  };
  const auto right = std::partition(terms.begin(), terms.end(), [&](A t) { return !is_right(t); });
  A apart = 0;
  if (right != terms.begin()) {
    apart = AddInPairs<A>({terms.data(), static_cast<size_t>(right - terms.begin())});
    terms.erase(terms.begin(), right);
  } else {
    apart = terms.back();
    terms.pop_back();
  }
  SortTerms(terms, above > -below);
  return apart;
}

// `value` and the terms combined such that the roundings lead up, or down: of the next few terms
// the one is taken whose rounding leads furthest.
template <typename A, typename W>
A CombineGreedily(A value, std::vector<A>& terms, bool multiply, W wanted) {
  constexpr size_t kCandidates = 12;
  for (size_t first = 0; first < terms.size(); ++first) {
    const size_t end = std::min(terms.size(), first + kCandidates);
    size_t best = first;
    W best_gain = -INFINITY;
    A best_value = value;
    for (size_t k = first; k < end; ++k) {
      const W exact =
          multiply ? static_cast<W>(value) * terms[k] : static_cast<W>(value) + terms[k];
      const A rounded = static_cast<A>(multiply ? value * terms[k] : value + terms[k]);
      W gain = (static_cast<W>(rounded) - exact) * wanted;
      if (multiply && exact != 0) gain /= exact;
      if (k == first || gain > best_gain) {
        best = k;
        best_gain = gain;
        best_value = rounded;
      }
    }
    value = best_value;
    std::swap(terms[first], terms[best]);
  }
  return value;
}

// The terms combined such that the roundings lead up, or down.
template <typename A>
A CombineTowards(std::vector<A>& terms, bool multiply, bool up) {
  using W = std::conditional_t<std::is_same_v<A, float>, double, long double>;
  W wanted = up ? 1 : -1, total = 0;
  for (A term : terms) {
    total += term;
    // What a rounding upwards does to a product depends on the signs of all.
    if (multiply && term < 0) wanted = -wanted;
  }
  if (!multiply) SortTerms(terms, total > 0);
  std::vector<A> rest(terms.begin() + 1, terms.end());
  const A together = CombineGreedily(terms[0], rest, multiply, wanted);
  if (multiply || terms.size() < 3) return together;
  const A first = SetWrongTermsApart(terms, wanted);
  const A apart = CombineGreedily(first, terms, false, wanted);
  return (apart - together) * wanted > 0 ? apart : together;
}

// The number of the type next to `end` on the side of `centre`, or at it.
template <typename T>
T Inside(long double end, long double centre) {
  T value = static_cast<T>(end);
  if ((end > centre && value > end) || (end < centre && value < end))
    value = std::nextafter(value, static_cast<T>(centre));
  return value;
}

template <typename T>
void MoveElements(const Array& bounded, Liberties& liberties, Literal& result) {
  absl::Span<T> values = result.data<T>();
  const int64_t site = liberties.Site(static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    const ElementBound& bound = bounded.bounds[i];
    if (bound.flags != 0) continue;
    const long double centre = static_cast<long double>(bound.centre) + bound.centre_low;
    const bool up = liberties.IsUp(site + static_cast<int64_t>(i));
    // The bound has room for its own rounding, which is not the function's to take.
    const long double reach = static_cast<long double>(bound.radius) * (1 - 0x1p-20L);
    const T moved = Inside<T>(up ? centre + reach : centre - reach, centre);
    if (std::isnormal(moved)) values[i] = moved;
  }
}

// Searches for evaluations in which the outputs stray far from the plain one.
class Search {
 public:
  Search(const Module& module, const std::vector<const Literal*>& arguments, int64_t steps)
      : module_(module), arguments_(arguments), steps_of_all_(steps) {}

  absl::StatusOr<std::vector<Literal>> Run() {
    absl::StatusOr<Literal> plain = Evaluate(nullptr);
    if (!plain.ok()) return plain.status();
    plain_ = *std::move(plain);
    for (const Literal* leaf : Leaves(plain_)) outputs_.push_back(OutputOf(*leaf));
    for (int rule = 1; rule <= Liberties::kRules; ++rule) {
      Liberties liberties = Liberties::OfRule(rule);
      absl::StatusOr<Literal> answer = Evaluate(&liberties);
      if (!answer.ok()) return answer.status();
      Note(*answer);
      answers_.push_back(*std::move(answer));
    }
    if (absl::Status status = SearchDirections(); !status.ok()) return status;
    return std::move(answers_);
  }

 private:
  // A float output: how far its elements have strayed, in parts of their size or that of all.
  struct Output {
    std::vector<double> plain, scale;
    std::vector<double> squares;    // of what its elements strayed by in the first trials
    int64_t target = 0;             // the element that is led astray
    std::vector<double> of_target;  // by trial
    double worst = 0;
  };
  static constexpr int kTrials = 512, kFirstTrials = 16;

  static Output OutputOf(const Literal& leaf) {
    Output output;
    if (BoundsPerElement(leaf.element_type()) == 0) return output;
    double sum = 0;
    for (int64_t i = 0; i < leaf.component_count(); ++i) {
      output.plain.push_back(leaf.GetComponent(i));
      if (std::isfinite(output.plain.back())) sum += output.plain.back() * output.plain.back();
    }
    const double mean =
        std::sqrt(sum / std::max<double>(1, static_cast<double>(output.plain.size())));
    for (double x : output.plain) output.scale.push_back(std::max(std::fabs(x), mean));
    output.squares.resize(output.plain.size());
    return output;
  }

  absl::StatusOr<Literal> Evaluate(Liberties* liberties) {
    Budget budget((Limits()));
    Interpreter interpreter(budget, nullptr);
    if (liberties != nullptr) interpreter.set_liberties(liberties);
    std::vector<Value> values;
    for (const Literal* argument : arguments_)
      values.push_back(MakeValue(*argument, interpreter.memory()));
    absl::StatusOr<Value> value = interpreter.Run(*module_.entry(), values);
    if (!value.ok()) return value.status();
    steps_ = budget.steps_taken();
    return ToLiteral(*value);
  }

  static double Away(const Output& output, const Literal& leaf, size_t i) {
    const double x = output.plain[i], y = leaf.GetComponent(static_cast<int64_t>(i));
    if (!std::isfinite(x) || !std::isfinite(y) || output.scale[i] == 0) return 0;
    return (y - x) / output.scale[i];
  }

  // Whether some output strays further than ever.
  bool Note(const Literal& answer) {
    bool is_further = false;
    const std::vector<const Literal*> leaves = Leaves(answer);
    for (size_t k = 0; k < outputs_.size(); ++k) {
      Output& output = outputs_[k];
      for (size_t i = 0; i < output.plain.size(); ++i) {
        const double away = std::fabs(Away(output, *leaves[k], i));
        if (away > output.worst) {
          output.worst = away;
          is_further = true;
        }
      }
    }
    return is_further;
  }

  absl::Status SearchDirections() {
    // Every direction by chance, many times over: what a choice does to an element is how the two
    // go together.
    Liberties first = Liberties::OfDirections(0, nullptr);
    absl::StatusOr<Literal> answer = Evaluate(&first);
    if (!answer.ok()) return answer.status();
    const int64_t choices = first.choices();
    if (choices == 0) return absl::OkStatus();
    const auto trials = static_cast<int>(
        std::clamp<int64_t>(steps_of_all_ / std::max<int64_t>(steps_, 1), kFirstTrials, kTrials));
    std::vector<Literal> early;
    for (int trial = 0; trial < trials; ++trial) {
      Liberties liberties = Liberties::OfDirections(static_cast<uint64_t>(trial), nullptr);
      answer = Evaluate(&liberties);
      if (!answer.ok()) return answer.status();
      if (trial < kFirstTrials) {
        early.push_back(*std::move(answer));
        if (trial + 1 == kFirstTrials) ChooseTargets(early);
        continue;
      }
      RecordTargets(*answer);
      Keep(*std::move(answer));
    }
    for (Literal& one : early) Keep(std::move(one));
    for (Output& output : outputs_) {
      if (output.plain.empty() || output.squares[output.target] == 0) continue;
      std::vector<double> effects(static_cast<size_t>(choices));
      for (size_t slot = 0; slot < effects.size(); ++slot) {
        for (int trial = 0; trial < trials; ++trial) {
          const double away = output.of_target[trial];
          effects[slot] += DrawnDirection(static_cast<uint64_t>(trial), static_cast<int64_t>(slot))
                               ? away
                               : -away;
        }
      }
      for (bool raises : {true, false}) {
        std::vector<bool> up;
        for (double effect : effects) up.push_back((effect > 0) == raises);
        Liberties liberties = Liberties::OfDirections(0, &up);
        answer = Evaluate(&liberties);
        if (!answer.ok()) return answer.status();
        Keep(*std::move(answer));
      }
    }
    return absl::OkStatus();
  }

  // The element that strayed furthest in the first trials is led on.
  void ChooseTargets(const std::vector<Literal>& early) {
    for (const Literal& answer : early) {
      const std::vector<const Literal*> leaves = Leaves(answer);
      for (size_t k = 0; k < outputs_.size(); ++k) {
        for (size_t i = 0; i < outputs_[k].plain.size(); ++i) {
          const double away = Away(outputs_[k], *leaves[k], i);
          outputs_[k].squares[i] += away * away;
        }
      }
    }
    for (Output& output : outputs_) {
      output.target =
          std::max_element(output.squares.begin(), output.squares.end()) - output.squares.begin();
    }
    for (const Literal& answer : early) RecordTargets(answer);
  }

  void RecordTargets(const Literal& answer) {
    const std::vector<const Literal*> leaves = Leaves(answer);
    for (size_t k = 0; k < outputs_.size(); ++k) {
      Output& output = outputs_[k];
      if (!output.plain.empty())
        output.of_target.push_back(Away(output, *leaves[k], static_cast<size_t>(output.target)));
    }
  }

  void Keep(Literal answer) {
    if (Note(answer)) answers_.push_back(std::move(answer));
  }

  const Module& module_;
  const std::vector<const Literal*>& arguments_;
  int64_t steps_of_all_;
  Literal plain_;
  std::vector<Output> outputs_;
  std::vector<Literal> answers_;
  int64_t steps_ = 0;
};

}  // namespace

bool DrawnDirection(uint64_t seed, int64_t slot) {
  uint64_t x = seed * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(slot) + 0x632BE59BD9B4E019u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return (x >> 63) != 0;
}

bool Liberties::IsUp(int64_t slot) const {
  if (rule_ == 1 || rule_ == 2) return rule_ == 1;
  if (up_ != nullptr && slot < static_cast<int64_t>(up_->size())) return (*up_)[slot];
  return DrawnDirection(seed_ + static_cast<uint64_t>(rule_), slot);
}

template <typename A>
A Liberties::Combine(std::vector<A>& terms, bool multiply, int64_t slot) const {
  if (rule_ == 0) return CombineTowards(terms, multiply, IsUp(slot));
  if (rule_ % 4 == 1) SortTerms(terms, false);
  if (rule_ % 4 == 2) SortTerms(terms, true);
  if (rule_ % 4 == 3) std::reverse(terms.begin(), terms.end());
  A value = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) value = multiply ? value * terms[i] : value + terms[i];
  return value;
}
template float Liberties::Combine(std::vector<float>&, bool, int64_t) const;
template double Liberties::Combine(std::vector<double>&, bool, int64_t) const;

absl::Status MoveWithinBudget(const OpContext& op, BoundFn bound, Liberties& liberties,
                              Literal& result) {
  const ElementType type = op.type();
  if (type != ElementType::kF32 && type != ElementType::kF64) return absl::OkStatus();
  Array bounded{result};
  if (absl::Status status = bound(op, bounded); !status.ok()) return status;
  if (bounded.bounds.empty()) return absl::OkStatus();
  if (type == ElementType::kF32) {
    MoveElements<float>(bounded, liberties, result);
  } else {
    MoveElements<double>(bounded, liberties, result);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Literal>> EvaluateWithLiberties(
    const Module& module, const std::vector<const Literal*>& arguments) {
  return SearchLiberties(module, arguments, 120'000'000);
}

absl::StatusOr<std::vector<Literal>> SearchLiberties(const Module& module,
                                                     const std::vector<const Literal*>& arguments,
                                                     int64_t steps) {
  return Search(module, arguments, steps).Run();
}

}  // namespace assay::reference
