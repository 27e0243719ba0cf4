// Affine error forms of element-wise ops, of sums of products and of folds, and what they take away
// from bounds.
#include "reference/bounds/error_forms.h"

#include <algorithm>
#include <cmath>

#include "reference/bounds/choices/legal_choices.h"
#include "reference/bounds/elementwise/binary.h"
#include "reference/bounds/elementwise/slope.h"
#include "reference/bounds/elementwise/unary.h"

namespace assay::reference {
namespace {

// Most terms that the results of an element-wise op may copy to have errors of their own.
constexpr int64_t kMostTightened = 1 << 21;
constexpr size_t kMostMerged = 1 << 16;  // terms of two forms that are added
constexpr int64_t kMostSums = 1 << 15;   // results of one op that begin errors of their own

// An operand's element: the interval, and its form if it has one.
struct Element : Spot {
  double spread = 0;  // the radius about the centre that does not fit a double, at least
  double flush = 0;   // beside its form: what reading it as zero changes
  const ErrorForm* form = nullptr;
  bool usable = false;
  bool is_one_value = false;  // the same for all who read it
};

template <typename T>
Element ReadElement(ClauseSet clauses, const Array& array, int64_t i, Consumer consumer) {
  const auto x = Seen<T>(clauses, array, i, consumer);
  Element element;
  if ((x.flags & ~uint32_t{kZeroSignFree}) != 0) return element;
  element.usable = true;
  element.centre = static_cast<double>(x.centre);
  element.spread = static_cast<double>(x.radius) * (1 - kFormSlop);
  // The part that does not fit a double goes into the radius.
  element.radius = static_cast<double>(x.radius) * (1 + kFormSlop);
  if constexpr (std::is_same_v<T, double>)
    element.radius += static_cast<double>(std::fabs(x.centre - element.centre));
  element.is_one_value = x.radius == 0;
  if (array.facts().forms.empty() || array.facts().forms[i].terms == nullptr) return element;
  // Only a plain interval has the form's centre.
  const ElementBound& bound = array.facts().bounds[i];
  const bool is_plain = (bound.flags & ~(kZeroSigns | kZeroSignFree | kMayFlush)) == 0;
  if (!is_plain || bound.centre != element.centre) return element;
  element.form = &array.facts().forms[i];
  if ((bound.flags & kMayFlush) != 0) element.flush = static_cast<double>(Tiny<T>());
  element.is_one_value = element.form->loose == 0 && element.flush == 0;
  return element;
}

// The form of by_a * a + by_b * b, where a and b are the deviations of two elements from their
// centres.
class Combination {
 public:
  Combination(ErrorNumbers& numbers, const Element& a, double by_a, const Element& b, double by_b)
      : numbers_(numbers) {
    const bool same = a.form != nullptr && b.form != nullptr && a.form->terms == b.form->terms;
    if (same) {
      form_.terms = a.form->terms;
      form_.scale = by_a * a.form->scale + by_b * b.form->scale;
      form_.loose = std::fabs(by_a) * a.form->loose + std::fabs(by_b) * b.form->loose +
                    (std::fabs(by_a * a.form->scale) + std::fabs(by_b * b.form->scale)) *
                        form_.terms->magnitude * kFormSlop;
      return;
    }
    if (a.form == nullptr || by_a == 0) {
      TakeOne(b, by_b, std::fabs(by_a) * a.radius);
    } else if (b.form == nullptr || by_b == 0) {
      TakeOne(a, by_a, std::fabs(by_b) * b.radius);
    } else {
      Merge(*a.form, by_a, *b.form, by_b);
    }
  }

  ErrorForm& form() { return form_; }

 private:
  void TakeOne(const Element& element, double by, double loose) {
    if (element.form == nullptr) return;
    form_ = *element.form;
    form_.scale *= by;
    form_.loose = form_.loose * std::fabs(by) + loose;
  }

  void Merge(const ErrorForm& a, double by_a, const ErrorForm& b, double by_b) {
    const ErrorTerms &x = *a.terms, &y = *b.terms;
    const size_t most = x.errors.size() + y.errors.size();
    if (most > kMostMerged || !numbers_.Take(static_cast<int64_t>(most))) return;
    ErrorTerms& merged = numbers_.Scratch();
    const double scale_x = by_a * a.scale, scale_y = by_b * b.scale;
    size_t i = 0, j = 0;
    while (i < x.errors.size() || j < y.errors.size()) {
      const bool has_x = i < x.errors.size(), has_y = j < y.errors.size();
      const int32_t error =
          !has_y || (has_x && x.errors[i] <= y.errors[j]) ? x.errors[i] : y.errors[j];
      double c = 0;
      if (has_x && x.errors[i] == error) c += scale_x * x.coefficients[i++];
      if (has_y && y.errors[j] == error) c += scale_y * y.coefficients[j++];
      if (c == 0) continue;
      merged.errors.push_back(error);
      merged.coefficients.push_back(c);
      merged.magnitude += std::fabs(c);
    }
    form_.scale = 1;
    form_.loose = std::fabs(by_a) * a.loose + std::fabs(by_b) * b.loose +
                  (std::fabs(scale_x) * x.magnitude + std::fabs(scale_y) * y.magnitude) * kFormSlop;
    form_.terms = numbers_.Store(merged);
  }

  ErrorNumbers& numbers_;
  ErrorForm form_;
};

// Gives slot i the form, and a smaller radius if the form has one.
void SetForm(Array& result, int64_t i, ErrorForm form) {
  ElementBound& bound = result.facts().bounds[i];
  // The form is one about the double that is nearest to the centre.
  const double radius = (form.Radius() + std::fabs(bound.centre_low)) * (1 + kFormSlop);
  if (!std::isfinite(radius)) return;
  if (radius < bound.radius) bound.radius = radius;
  if (result.facts().forms.empty()) result.facts().forms.resize(result.facts().bounds.size());
  result.facts().forms[i] = std::move(form);
}

// The choices that element i follows, those of its operands and its own, along the straight line at
// their centres.
template <typename T>
void FollowElement(const OpContext& op, Array& result, int64_t i) {
  ErrorNumbers& numbers = *op.analysis.errors;
  Element a = ReadElement<T>(op.clauses, op.array(0), i, Consumer::kOther), b;
  a.radius = 0;
  Slope slope;
  if (op.operands.size() == 2) {
    b = ReadElement<T>(op.clauses, op.array(1), i, Consumer::kOther);
    b.radius = 0;
    slope = SlopeOfBinary(op.instruction.opcode(), a, b);
  } else {
    slope = SlopeOfUnary<Wide<T>>(op.instruction.opcode(), a);
  }
  ErrorForm form;
  if (a.usable && (b.usable || op.operands.size() == 1) && slope.is_known)
    form = Combination(numbers, a, slope.by_a, b, slope.by_b).form();
  form.loose = 0;
  if (HasChoice(op)) {
    const int32_t own = numbers.Next(i);
    const size_t count = form.terms == nullptr ? 0 : form.terms->errors.size();
    if (own < 0 || count >= numbers.most_terms()) return;
    ErrorTerms& terms = numbers.Scratch();
    if (count != 0) terms = *form.terms;
    for (double& c : terms.coefficients) c *= form.scale;
    terms.errors.push_back(own);
    terms.coefficients.push_back(static_cast<double>(UlpAt<T>(result.facts().bounds[i].centre)));
    terms.magnitude = terms.magnitude * std::fabs(form.scale) + terms.coefficients.back();
    form.scale = 1;
    form.terms = numbers.Store(terms);
  }
  if (form.terms == nullptr) return;
  if (result.facts().forms.empty()) result.facts().forms.resize(result.facts().bounds.size());
  result.facts().forms[i] = std::move(form);
}

// Ops that give an operand, or its negative, as it is.
bool IsExact(Opcode opcode) {
  return opcode == Opcode::kNegate || opcode == Opcode::kAbs || opcode == Opcode::kMaximum ||
         opcode == Opcode::kMinimum;
}

// True if the operands alone decide the result, which is always rounded correctly.
bool GivesOneValue(const OpContext& op, double ulps) {
  if (MayBeRewritten(op)) return false;
  switch (op.instruction.opcode()) {
    case Opcode::kMultiply:
      return !op.clauses.Has(ClauseId::kContraction);
    case Opcode::kDivide:
      return !DividesByRoot(op) &&
             !(op.licensed.divisor_is_invariant && op.clauses.Has(ClauseId::kReciprocalDivision));
    default:
      return ulps == 0;
  }
}

// The loose part of the error of element i, which is one value for all its readers, becomes an
// error like others, if that is not too dear.
void Tighten(const OpContext& op, int64_t i, ErrorForm& form) {
  ErrorNumbers& numbers = *op.analysis.errors;
  const auto count = static_cast<int64_t>(form.terms->errors.size());
  if (count * op.count() > kMostTightened) return;
  const int32_t own = numbers.Next(i);
  if (own < 0) return;
  ErrorTerms& terms = numbers.Scratch();
  terms.errors = form.terms->errors;
  for (double coefficient : form.terms->coefficients)
    terms.coefficients.push_back(form.scale * coefficient);
  const double magnitude = std::fabs(form.scale) * form.terms->magnitude;
  terms.errors.push_back(own);
  terms.coefficients.push_back(form.loose + magnitude * kFormSlop);
  terms.magnitude = magnitude + terms.coefficients.back();
  if (auto stored = numbers.Store(terms)) form = {std::move(stored), 1, 0};
}

template <typename T>
void NarrowElement(const OpContext& op, Array& result, int64_t i, double ulps) {
  const ElementBound& bound = result.facts().bounds[i];
  if ((bound.flags & ~(kZeroSigns | kZeroSignFree | kMayFlush)) != 0) return;
  const Opcode opcode = op.instruction.opcode();
  const bool is_sum = opcode == Opcode::kAdd || opcode == Opcode::kSubtract;
  const Consumer consumer = is_sum ? Consumer::kSum : Consumer::kOther;
  const Element a = ReadElement<T>(op.clauses, op.array(0), i, consumer);
  if (!a.usable) return;
  Element b;
  Slope slope;
  if (op.operands.size() == 2) {
    b = ReadElement<T>(op.clauses, op.array(1), i, consumer);
    if (!b.usable || (a.form == nullptr && b.form == nullptr)) return;
    slope = SlopeOfBinary(opcode, a, b);
  } else {
    if (a.form == nullptr) return;
    slope = SlopeOfUnary<Wide<T>>(opcode, a);
  }
  if (!slope.is_known) return;
  Combination combination(*op.analysis.errors, a, slope.by_a, b, slope.by_b);
  ErrorForm& form = combination.form();
  if (form.terms == nullptr) return;
  double rest = slope.rest;
  if (opcode == Opcode::kDivide) {
    // (da - q db) / b at the centre's b; at another b of the interval it is larger.
    const double part = b.radius / std::fabs(b.centre) * (1 + kFormSlop);
    if (!(part < 1)) return;
    rest += form.Radius() * part / (1 - part) * (1 + kFormSlop);
  }
  // The result's own error: rounding, or its budget; flushing; where the bound has its centre.
  const double magnitude = std::fabs(bound.centre) + bound.radius;
  const bool may_flush = (bound.flags & kMayFlush) != 0 || a.flush > 0 || b.flush > 0;
  rest += static_cast<double>(std::fabs(slope.value - bound.centre)) * (1 + kFormSlop);
  if (!IsExact(opcode)) {
    rest += (ulps + 0.5) * static_cast<double>(UlpAt<T>(magnitude));
    const Range<Wide<T>> x{a.centre, a.radius, 0}, y{b.centre, b.radius, 0}, z{magnitude, 0, 0};
    if (opcode == Opcode::kDivide && op.licensed.divisor_is_invariant &&
        op.clauses.Has(ClauseId::kReciprocalDivision))
      rest += static_cast<double>(ReciprocalError<T>(x, y, z));
    if (opcode == Opcode::kDivide && DividesByRoot(op))
      rest += static_cast<double>(RootError<T>(op, x, y, z));
    if (MayBeRewritten(op)) rest += static_cast<double>(RewriteError<T>(op, x, y, z));
    rest += static_cast<double>(std::fabs(slope.value)) * 0x1p-61;
  }
  if (may_flush) {
    rest += 2 * static_cast<double>(Tiny<T>()) + std::fabs(slope.by_a) * a.flush +
            std::fabs(slope.by_b) * b.flush;
  }
  form.loose += rest;
  const bool is_one_value =
      a.is_one_value && (b.is_one_value || op.operands.size() == 1) && !may_flush;
  if (is_one_value && form.loose > 0 && GivesOneValue(op, ulps)) Tighten(op, i, form);
  SetForm(result, i, std::move(form));
}

// Adds forms up, each times a factor.
class Accumulation {
 public:
  explicit Accumulation(ErrorNumbers& numbers)
      : numbers_(numbers), sums_(numbers.sums()), seen_(numbers.seen()) {}

  // Adds factor * (x - its centre); false if there were too many terms.
  bool Add(const Element& element, double factor) {
    ++additions_;
    if (element.form == nullptr) {
      loose_ += std::fabs(factor) * element.radius;
      return true;
    }
    const ErrorTerms& terms = *element.form->terms;
    if (!numbers_.Take(static_cast<int64_t>(terms.errors.size()))) return false;
    const double scale = factor * element.form->scale;
    if (!terms.errors.empty() && sums_.size() <= static_cast<size_t>(terms.errors.back())) {
      sums_.resize(static_cast<size_t>(terms.errors.back()) + 1);
      seen_.resize(sums_.size());
    }
    for (size_t i = 0; i < terms.errors.size();) {
      const size_t size = RunFrom(terms.errors, i);
      const int32_t first = terms.errors[i];
      if (size >= kLeastRun && TakesRun(first, size)) {
        for (size_t k = 0; k < size; ++k) sums_[first + k] += scale * terms.coefficients[i + k];
      } else {
        for (size_t k = i; k < i + size; ++k) {
          const int32_t error = terms.errors[k];
          if (!seen_[error]) {
            seen_[error] = 1;
            errors_.push_back(error);
          }
          sums_[error] += scale * terms.coefficients[k];
        }
      }
      i += size;
    }
    added_ += std::fabs(scale) * terms.magnitude;
    loose_ += std::fabs(factor) * (element.form->loose + element.flush);
    return true;
  }

  void AddLoose(double loose) {
    ++additions_;
    loose_ += loose;
  }

  // The form of sum i of an op, with `own` as its own new error; begins anew. A sum of several
  // terms is one value for all who read it, so what else is in its error is new, too, not loose; a
  // single one may be computed anew for each of them, like the results of element-wise ops.
  ErrorForm Take(int64_t i, double own, bool is_one_value) {
    ErrorForm form;
    // Errors that are listed one by one are several times as dear as an addition.
    numbers_.Spend(kDearness * static_cast<int64_t>(errors_.size()) + last_ - first_);
    std::sort(errors_.begin(), errors_.end());
    ErrorTerms& terms = numbers_.Scratch();
    const double slop = kFormSlop + static_cast<double>(additions_) * 0x1p-52;
    double rest = own + loose_ * (1 + slop) + added_ * slop;
    auto add = [&](int32_t error) {
      terms.errors.push_back(error);
      terms.coefficients.push_back(sums_[error]);
      terms.magnitude += std::fabs(sums_[error]);
    };
    // Zeros within a run are kept, so that runs are longer, unless most of a run is zeros.
    const auto zeros = std::count(sums_.begin() + first_, sums_.begin() + last_, 0.0);
    const bool keep_zeros = 2 * zeros < last_ - first_;
    auto next_error = errors_.begin();
    for (; next_error != errors_.end() && *next_error < first_; ++next_error)
      if (sums_[*next_error] != 0) add(*next_error);
    for (int32_t error = first_; error < last_; ++error)
      if (keep_zeros || sums_[error] != 0) add(error);
    for (; next_error != errors_.end(); ++next_error)
      if (*next_error >= last_ && sums_[*next_error] != 0) add(*next_error);
    if (terms.errors.size() >= numbers_.most_terms() || !numbers_.HasRoom(terms)) {
      rest += terms.magnitude * (1 + kFormSlop);
      terms = {};
    }
    const int32_t next = is_one_value ? numbers_.Next(i) : -1;
    if (next >= 0) {
      terms.errors.push_back(next);
      terms.coefficients.push_back(rest);
      terms.magnitude += rest;
    } else {
      form.loose = rest;
    }
    if (!terms.errors.empty()) form.terms = numbers_.Store(terms);
    Forget();
    return form;
  }

  void Forget() {
    for (int32_t error : errors_) {
      sums_[error] = 0;
      seen_[error] = 0;
    }
    std::fill(sums_.begin() + first_, sums_.begin() + last_, 0.0);
    errors_.clear();
    first_ = last_ = 0;
    run_terms_ = additions_ = 0;
    loose_ = added_ = 0;
  }

 private:
  static constexpr int64_t kDearness = 16;
  // Shorter runs of errors are not worth it.
  static constexpr size_t kLeastRun = 8;

  // The number of errors, from the one at i on, that are numbered without a gap.
  static size_t RunFrom(const std::vector<int32_t>& errors, size_t i) {
    auto is_run = [&](size_t size) {
      return static_cast<size_t>(errors[i + size - 1] - errors[i]) == size - 1;
    };
    const size_t most = errors.size() - i;
    if (is_run(most)) return most;
    size_t size = 1;
    while (2 * size < most && is_run(2 * size)) size *= 2;
    for (size_t step = size; step > 0; step /= 2)
      if (size + step < most && is_run(size + step)) size += step;
    return size;
  }

  // True if the run goes to the one range whose errors are not listed one by one. The range is not
  // much longer than what was added to it, for all of it will be looked through.
  bool TakesRun(int32_t first, size_t size) {
    run_terms_ += static_cast<int64_t>(size);
    const bool is_first = first_ == last_;
    const int32_t last = first + static_cast<int32_t>(size);
    const int32_t low = is_first ? first : std::min(first_, first);
    const int32_t high = is_first ? last : std::max(last_, last);
    if (high - low > 2 * run_terms_) return false;
    first_ = low;
    last_ = high;
    return true;
  }

  ErrorNumbers& numbers_;
  std::vector<double>& sums_;  // by error; zero where nothing was added
  std::vector<uint8_t>& seen_;
  std::vector<int32_t> errors_;   // those seen, listed one by one
  int32_t first_ = 0, last_ = 0;  // the range
  int64_t run_terms_ = 0, additions_ = 0;
  double loose_ = 0, added_ = 0;
};

// True if slot i of a sum is an interval whose own error, beside `propagated`, is known.
bool IsPlainSum(const Array& result, int64_t i) {
  const ElementBound& bound = result.facts().bounds[i];
  return (bound.flags & ~(kZeroSigns | kZeroSignFree | kMayFlush)) == 0 && bound.radius > 0;
}

// The facts about a sum beside the errors of its terms.
template <typename W>
struct SumOfCentres {
  W centre = 0, magnitude = 0;
  double propagated = 0;
  int64_t terms = 0;
  void Add(W term) {
    centre += term;
    magnitude += std::fabs(term);
    ++terms;
  }
};

template <typename W>
void FinishSumForm(Array& result, int64_t i, const SumOfCentres<W>& known, bool is_one_value,
                   Accumulation& sum) {
  const ElementBound& bound = result.facts().bounds[i];
  const W slop = static_cast<W>(known.terms) * known.magnitude * kSlop<W>;
  const double own =
      std::max(0.0, bound.radius - known.propagated * (1 - kFormSlop)) + bound.radius * kFormSlop +
      static_cast<double>(std::fabs(known.centre - bound.centre) + slop) * (1 + kFormSlop);
  ErrorForm form = sum.Take(i, own, is_one_value);
  if (form.terms != nullptr) SetForm(result, i, std::move(form));
}

template <typename T>
std::vector<Element> ReadAll(const OpContext& op, int64_t k, const DimList& dims) {
  std::vector<Element> elements;
  elements.reserve(static_cast<size_t>(dims.Count()));
  dims.ForEachPlace([&](int64_t at) {
    elements.push_back(ReadElement<T>(op.clauses, op.array(k), at, Consumer::kSum));
  });
  return elements;
}

template <typename T>
void NarrowProducts(const OpContext& op, const ProductSums& sums, Array& result) {
  const std::vector<Element> lhs = ReadAll<T>(op, 0, sums.lhs), rhs = ReadAll<T>(op, 1, sums.rhs);
  Accumulation sum(*op.analysis.errors);
  bool enough = true;
  const bool follows = op.analysis.errors->follows_choices();
  sums.for_each_block([&](const ProductSums::Block& block) {
    const auto products = sums.length * static_cast<int64_t>(block.runs.size());
    for (int64_t c = 0; enough && c < block.columns && !op.OutOfTime(products); ++c) {
      const int64_t i = block.result + c * block.result_step;
      if (!IsPlainSum(result, i)) continue;
      SumOfCentres<Wide<T>> known;
      bool usable = true;
      sums.ForEachProduct(block, c, [&](int64_t a, int64_t b) {
        const Element &x = lhs[a], &y = rhs[b];
        usable = usable && x.usable && y.usable;
        if (!usable || !enough) return;
        known.Add(static_cast<Wide<T>>(x.centre) * y.centre);
        const double both = x.radius * y.radius;
        // Forms no difference of products: its rounding would be as large as the sum's own.
        known.propagated +=
            std::fabs(x.centre) * y.spread + std::fabs(y.centre) * x.spread + x.spread * y.spread;
        if (x.radius != 0) enough = enough && sum.Add(x, y.centre);
        if (y.radius != 0) enough = enough && sum.Add(y, x.centre);
        if (both != 0) sum.AddLoose(both);
      });
      if (usable && enough) {
        FinishSumForm(result, i, known, follows || products > 1, sum);
      } else {
        sum.Forget();
      }
    }
  });
}

// Sums of terms without forms. What windows that run have in common is added up once.
template <typename T>
void NarrowPlainTerms(const OpContext& op, const Array& input, const Array& init,
                      const FoldTerms& lists, Array& result) {
  Accumulation sum(*op.analysis.errors);
  SumOfCentres<Wide<T>> known;
  bool usable = true;
  double loose = 0;
  auto add = [&](const Array& array, int64_t i) {
    if (!usable) return;
    const Element x = ReadElement<T>(op.clauses, array, i, Consumer::kSum);
    usable = x.usable;
    known.Add(x.centre);
    known.propagated += x.spread;
    loose += x.radius;
  };
  IndexMap more;
  for (int64_t k = 0; k < lists.results(); ++k) {
    if (op.OutOfTime(static_cast<int64_t>(more.size()))) return;
    const auto [o, goes_on] = lists.Visit(k, more);
    if (!goes_on) {
      known = {};
      usable = true;
      loose = 0;
      add(init, lists.InitOf(o));
    }
    for (int64_t at : more) add(input, at);
    if (!usable || !IsPlainSum(result, o)) continue;
    const bool has_several = known.terms > 2;  // beside the initial value
    sum.AddLoose(loose * (1 + static_cast<double>(known.terms) * 0x1p-52));
    FinishSumForm(result, o, known, has_several, sum);
  }
}

template <typename T>
void NarrowTerms(const OpContext& op, const Array& input, const Array& init, const FoldTerms& lists,
                 Array& result) {
  Accumulation sum(*op.analysis.errors);
  IndexMap list;
  for (int64_t o = 0; o < lists.results(); ++o) {
    if (op.OutOfTime(static_cast<int64_t>(list.size()))) return;
    if (!IsPlainSum(result, o)) continue;
    SumOfCentres<Wide<T>> known;
    bool usable = true;
    auto add = [&](const Element& x) {
      usable = usable && x.usable;
      if (!usable) return;
      known.Add(x.centre);
      known.propagated += x.spread;
      if (x.radius != 0) usable = sum.Add(x, 1);
    };
    add(ReadElement<T>(op.clauses, init, lists.InitOf(o), Consumer::kSum));
    lists.List(o, list);
    for (int64_t at : list) add(ReadElement<T>(op.clauses, input, at, Consumer::kSum));
    if (usable) {
      const bool follows = op.analysis.errors->follows_choices();
      FinishSumForm(result, o, known, follows || list.size() > 1, sum);
    } else {
      sum.Forget();
    }
  }
}

template <typename F>
void DispatchWide(ElementType type, F f) {
  if (type == ElementType::kF32) f(TypeTag<float>());
  if (type == ElementType::kF64) f(TypeTag<double>());
}

}  // namespace

double ErrorForm::Radius() const {
  if (terms == nullptr) return INFINITY;
  return (std::fabs(scale) * terms->magnitude + loose) * (1 + kFormSlop);
}

void ErrorNumbers::FollowChoices(const LegalChoices& choices) { choices_ = &choices; }

size_t ErrorNumbers::most_terms() const {
  if (choices_ != nullptr) return 1 << 16;
  const bool is_scarce = left_ < kLeft / 2 || *held_ > kRoom / 2;
  return is_scarce ? 1 << 10 : 1 << 12;
}

int32_t ErrorNumbers::Next(int64_t i) {
  const int64_t number = choices_ == nullptr ? next_++ : choices_->last_site() + i;
  return number < (1 << 22) ? static_cast<int32_t>(number) : -1;
}

bool ErrorNumbers::Take(int64_t terms) {
  if (terms > left_) return false;
  left_ -= terms;
  return true;
}

ErrorTerms& ErrorNumbers::Scratch() {
  scratch_.errors.clear();
  scratch_.coefficients.clear();
  scratch_.magnitude = 0;
  return scratch_;
}

bool ErrorNumbers::HasRoom(const ErrorTerms& terms) const {
  return *held_ + static_cast<int64_t>(terms.errors.size()) < kRoom;
}

std::shared_ptr<const ErrorTerms> ErrorNumbers::Store(const ErrorTerms& terms) {
  if (!HasRoom(terms)) return nullptr;
  const auto size = static_cast<int64_t>(terms.errors.size());
  *held_ += size;
  return {new ErrorTerms(terms), [held = held_, size](const ErrorTerms* stored) {
            *held -= size;
            delete stored;
          }};
}

void NarrowElementwise(const OpContext& op, Array& result) {
  if (op.analysis.errors == nullptr || result.facts().bounds.empty() || op.operands.size() > 2)
    return;
  bool has_forms = false;
  for (const Value* operand : op.operands) {
    if (operand->IsTuple() || operand->array->literal.element_type() != op.type()) return;
    has_forms = has_forms || !operand->array->facts().forms.empty();
  }
  const bool follows = op.analysis.errors->follows_choices();
  if (!has_forms && !follows) return;
  DispatchWide(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const double ulps = UlpsOf<T>(op);
    for (int64_t i = 0; i < op.count(); ++i) {
      if (follows) {
        FollowElement<T>(op, result, i);
      } else {
        NarrowElement<T>(op, result, i, ulps);
      }
    }
  });
}

void NarrowProductSums(const OpContext& op, const ProductSums& sums, Array& result) {
  if (op.analysis.errors == nullptr || result.facts().bounds.empty()) return;
  if (op.count() > kMostSums && !op.analysis.errors->follows_choices()) return;
  for (const Value* operand : op.operands)
    if (operand->array->literal.element_type() != op.type()) return;
  DispatchWide(op.type(),
               [&](auto tag) { NarrowProducts<typename decltype(tag)::type>(op, sums, result); });
}

void NarrowFold(const OpContext& op, const Array& input, const Array& init, const FoldTerms& lists,
                Array& result) {
  if (op.analysis.errors == nullptr || result.facts().bounds.empty()) return;
  if (lists.results() > kMostSums && !op.analysis.errors->follows_choices()) return;
  const bool is_plain = input.facts().forms.empty() && init.facts().forms.empty() &&
                        !op.analysis.errors->follows_choices();
  DispatchWide(result.literal.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    is_plain ? NarrowPlainTerms<T>(op, input, init, lists, result)
             : NarrowTerms<T>(op, input, init, lists, result);
  });
}

}  // namespace assay::reference
