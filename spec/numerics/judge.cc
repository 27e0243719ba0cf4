// Verdicts on results. Design: "Tolerances are derived, not guessed".
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "spec/base/strings.h"
#include "spec/numerics/element_sizes.h"
#include "spec/numerics/expectation.h"
#include "spec/numerics/open_elements.h"

namespace assay {
namespace {

// Room for the rounding of the comparison itself, far below an ulp of any type.
constexpr long double kSlop = 0x1p-58L;

// From the best to the worst.
enum class ElementVerdict { kPass, kInconclusive, kFail };

struct ElementJudgement {
  ElementVerdict verdict;
  double ulps = 0;         // distance from the allowed set, when it failed
  double bound_used = 0;   // |got - centre| / radius
  bool is_forced = false;  // there is exactly one right answer, though this may be another
};

// Spacing of the format at a magnitude.
double UlpAt(const FloatFormat& format, double magnitude) {
  const uint64_t code = EncodeFloat(format, std::min(magnitude, format.MaxFinite()));
  const double value = DecodeFloat(format, code);
  const double next = DecodeFloat(format, code + 1);
  if (std::isfinite(next)) return next - value;
  return value - DecodeFloat(format, code - 1);
}

ElementJudgement Worse(const ElementJudgement& a, const ElementJudgement& b) {
  ElementJudgement worse = b.verdict > a.verdict ? b : a;
  worse.ulps = std::max(a.ulps, b.ulps);
  worse.bound_used = std::max(a.bound_used, b.bound_used);
  worse.is_forced = a.is_forced && b.is_forced;
  return worse;
}

// Judges the float or complex elements of one leaf.
class FloatJudge {
 public:
  explicit FloatJudge(const ArrayExpectation& leaf)
      : leaf_(leaf), format_(Format(leaf.plain.element_type())) {
    if (leaf.bounds.empty()) return;
    useful_ = std::exp2(-std::min(format_.precision(), leaf.significand) / 3.0);
    const double max = format_.MaxFinite();
    overflow_ = static_cast<long double>(max) + UlpAt(format_, max) / 2.0L;
    tiny_ = format_.MinNormal();
  }

  // True if finite element i of an f32 array lies well inside a plain and useful interval; `used`
  // gets how far from its centre. Big arrays are made of such elements; all others take the long
  // way through Judge.
  bool IsPlainPass(double got, int64_t i, double& used) const {
    const ElementBound& bound = leaf_.bounds[i];
    const double away = std::fabs(got - bound.centre);
    if (bound.flags != 0 || bound.centre_low != 0 || !(away <= bound.radius)) return false;
    if (!(bound.radius <= useful_ * std::fabs(bound.centre)) &&
        !(bound.radius <= useful_ * Counted({bound.magnitude(), bound.has_known_terms()})))
      return false;
    if (away > used * bound.radius) used = away / bound.radius;
    return bound.radius > 0;
  }

  // True if element i of an f32 array has one right answer, and `got` is that.
  bool IsForcedPass(float got, int64_t i) const {
    return (leaf_.bounds[i].flags & kForced) != 0 &&
           std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(leaf_.plain.data<float>()[i]);
  }

  ElementJudgement Judge(const Literal& result, int64_t i) const {
    if (!IsComplex(leaf_.plain.element_type())) return JudgeSlot(result, i, i);
    return Worse(JudgeSlot(result, i, 2 * i), JudgeSlot(result, i, 2 * i + 1));
  }

 private:
  ElementJudgement JudgeSlot(const Literal& result, int64_t i, int64_t slot) const {
    const uint64_t code = result.GetComponentBits(slot);
    if (leaf_.bounds.empty() || (leaf_.bounds[slot].flags & kForced) != 0)
      return JudgeForced(code, leaf_.plain.GetComponentBits(slot));
    return JudgeBounded(DecodeFloat(format_, code), leaf_.bounds[slot], i);
  }

  ElementJudgement JudgeForced(uint64_t got, uint64_t wanted) const {
    const bool both_nan = IsNanCode(format_, got) && IsNanCode(format_, wanted);
    if (got == wanted || (both_nan && !leaf_.nan_bits))
      return {.verdict = ElementVerdict::kPass, .is_forced = true};
    const int64_t distance = both_nan ? 0 : UlpDistance(format_, got, wanted);
    const bool is_number = distance != std::numeric_limits<int64_t>::max();
    return {.verdict = ElementVerdict::kFail,
            .ulps = is_number ? static_cast<double>(distance) : 0,
            .is_forced = true};
  }

  ElementJudgement JudgeBounded(double got, const ElementBound& bound, int64_t i) const {
    if ((bound.flags & kUndecided) != 0) return {ElementVerdict::kInconclusive};
    const auto centre = bound.Value<long double>();
    const long double radius = bound.radius;
    const bool finite = (bound.flags & kNotFinite) == 0;
    // NaN, or one of the infinities, and nothing else.
    const uint32_t special = bound.flags & (kMayBeNan | kMayBePosInf | kMayBeNegInf);
    const bool is_forced =
        !finite && std::has_single_bit(special) && (bound.flags & kMayBeZero) == 0;
    const long double slop = (std::fabs(centre) + radius) * kSlop;
    long double low = centre - radius - slop, high = centre + radius + slop;
    if (!format_.HasInfinity() && !format_.HasNan()) {  // what is beyond is clamped
      low = std::min<long double>(low, format_.MaxFinite());
      high = std::max<long double>(high, -format_.MaxFinite());
    }
    bool allowed;
    double ulps = 0, used = 0;
    if (std::isnan(got)) {
      allowed = (bound.flags & kMayBeNan) != 0 || (finite && MayOverflowToNan(low, high));
    } else if (std::isinf(got)) {
      // A value of the interval may round to infinity.
      allowed = got > 0 ? (bound.flags & kMayBePosInf) != 0 || (finite && high >= overflow_)
                        : (bound.flags & kMayBeNegInf) != 0 || (finite && low <= -overflow_);
    } else if (!finite) {
      allowed = got == 0 && (bound.flags & kMayBeZero) != 0;
    } else {
      allowed = (low <= got && got <= high) || (got == 0 && (bound.flags & kMayBeZero) != 0);
      if (allowed && got == 0 && centre == 0 && radius == 0 &&
          (bound.flags & (kZeroSignFree | kMayBeZero)) == 0)
        allowed = std::signbit(got) == std::signbit(bound.centre);
      if (radius > 0 && low <= got && got <= high)
        used = static_cast<double>(std::fabs(got - centre) / radius);
      if (!allowed && got == 0 && (bound.flags & kMayFlush) != 0)
        allowed = low < tiny_ && high > -tiny_;
      if (!allowed) {
        const long double distance = got > high ? got - high : got < low ? low - got : 0;
        ulps =
            static_cast<double>(distance / UlpAt(format_, static_cast<double>(std::fabs(centre))));
      }
    }
    if (got == 0 && (bound.flags & (std::signbit(got) ? kNoNegativeZero : kNoPositiveZero)) != 0)
      allowed = false;
    if (!allowed) return {ElementVerdict::kFail, ulps, 0, is_forced};
    if (finite && !IsUseful(bound, i)) return {ElementVerdict::kInconclusive, 0, used};
    return {ElementVerdict::kPass, 0, used, is_forced};
  }

  // True if the interval convicts what is plainly wrong.
  bool IsUseful(const ElementBound& bound, int64_t i) const {
    if (bound.radius <= format_.MinSubnormal() || IsTinyBound(bound)) return true;
    return bound.radius <= useful_ * Modulus(leaf_, i) ||
           bound.radius <= useful_ * Counted(NotedSizeOf(leaf_, i));
  }

  // The magnitude that was added up for an element, as far as it counts. Magnitudes grow from op to
  // op as errors do, so behind a chain of amplifications every bound would be small beside them.
  double Counted(const NotedSize& noted) const {
    if (noted.of_known_terms) return noted.magnitude;
    if (!most_magnitude_.has_value())
      most_magnitude_ = std::max(kMostMagnitude * RootMeanSquare(leaf_), SizeOfFlushed());
    return std::min(noted.magnitude, *most_magnitude_);
  }

  // The numbers whose spacing is that of what may be flushed. Types of few exponents are not.
  double SizeOfFlushed() const {
    return tiny_ < 0x1p-100 ? std::ldexp(tiny_, format_.precision() - 1) : tiny_;
  }

  // Formats without infinities have a NaN for what they cannot hold.
  bool MayOverflowToNan(long double low, long double high) const {
    if (format_.HasInfinity() || !format_.HasNan()) return false;
    if (format_.special == SpecialValues::kExponent && low <= 0) return true;
    return high >= overflow_ || low <= -overflow_;
  }

  // An interval of subnormals is as sharp as the type can say.
  bool IsTinyBound(const ElementBound& bound) const {
    return std::fabs(bound.centre) + bound.radius < tiny_ &&
           bound.radius <= 16 * format_.MinSubnormal();
  }

  const ArrayExpectation& leaf_;
  const FloatFormat& format_;
  double useful_ = 0, tiny_ = 0;
  long double overflow_ = 0;
  mutable std::optional<double> most_magnitude_;  // found when the first element asks for it
};

ElementJudgement JudgeCode(const ArrayExpectation& leaf, const std::vector<uint64_t>* choices,
                           uint64_t code, int64_t i) {
  if (choices == nullptr) {
    const bool is_right = code == leaf.plain.GetBits(i);
    return {.verdict = is_right ? ElementVerdict::kPass : ElementVerdict::kFail, .is_forced = true};
  }
  if (choices->empty()) return {ElementVerdict::kInconclusive};
  const bool listed = std::find(choices->begin(), choices->end(), code) != choices->end();
  if (!listed) return {ElementVerdict::kFail};
  // A predicate that may be either says nothing.
  const bool says_nothing = choices->size() == 2 && IsPred(leaf.plain.element_type());
  return {says_nothing ? ElementVerdict::kInconclusive : ElementVerdict::kPass};
}

// A NaN that is lost, or that appears, is farther off than any number.
double Distance(double ulps) { return ulps > 0 ? ulps : std::numeric_limits<double>::infinity(); }

void Count(const ElementJudgement& element, int64_t leaf, int64_t i, Judgement& judgement) {
  ++judgement.elements;
  if (element.is_forced) ++judgement.forced;
  switch (element.verdict) {
    case ElementVerdict::kPass:
      ++judgement.passed;
      break;
    case ElementVerdict::kInconclusive:
      ++judgement.inconclusive;
      break;
    case ElementVerdict::kFail:
      if (judgement.failed == 0) judgement.first = judgement.worst = {leaf, i, element.ulps};
      if (Distance(element.ulps) > Distance(judgement.worst.ulps))
        judgement.worst = {leaf, i, element.ulps};
      ++judgement.failed;
      break;
  }
  judgement.max_ulps_used = std::max(judgement.max_ulps_used, element.bound_used);
}

// True if element i is judged by a property, together with others.
bool IsByProperty(const ArrayExpectation& leaf, int64_t i) {
  const int64_t slot = i * BoundsPerElement(leaf.plain.element_type());
  return !leaf.bounds.empty() && (leaf.bounds[slot].flags & kByProperty) != 0;
}

// The verdict on single elements of a leaf that were counted before.
class ElementJudge {
 public:
  explicit ElementJudge(const ArrayExpectation& leaf) : leaf_(leaf) {
    if (BoundsPerElement(leaf.plain.element_type()) != 0) floats_.emplace(leaf);
  }
  ElementJudgement Judge(const Literal& result, int64_t i) const {
    const auto it = leaf_.choices.find(i);
    const bool listed = it != leaf_.choices.end();
    if (floats_.has_value() && !listed) return floats_->Judge(result, i);
    return JudgeCode(leaf_, listed ? &it->second : nullptr, result.GetBits(i), i);
  }

 private:
  const ArrayExpectation& leaf_;
  std::optional<FloatJudge> floats_;
};

// Counts an element that is in its own set, but not together with others, as failed.
void Convict(const ElementJudgement& alone, int64_t leaf, int64_t i, Judgement& judgement) {
  if (alone.verdict != ElementVerdict::kFail && alone.is_forced) --judgement.forced;
  switch (alone.verdict) {
    case ElementVerdict::kPass:
      --judgement.passed;
      break;
    case ElementVerdict::kInconclusive:
      --judgement.inconclusive;
      break;
    case ElementVerdict::kFail:
      return;
  }
  --judgement.elements;
  Count({ElementVerdict::kFail}, leaf, i, judgement);
}

// True if all places of a property are among the results: those of a property of several devices
// are not where one of them is judged alone.
bool IsAllThere(const PropertyExpectation& property, size_t leaves) {
  return std::all_of(property.places.begin(), property.places.end(),
                     [&](const PropertyExpectation::Place& place) {
                       return place.leaf < static_cast<int64_t>(leaves);
                     });
}

// All elements of a property pass or fail together. Elements that have sets of their own beside it
// have been counted. Returns what is wrong.
std::string JudgeProperty(const Expectation& expectation, const PropertyExpectation& property,
                          absl::Span<const Literal* const> results, Judgement& judgement) {
  if (!IsAllThere(property, results.size())) return "";
  std::vector<Literal> parts = property.parts;
  for (const PropertyExpectation::Place& place : property.places) {
    const Literal& from = *results[place.leaf];
    const size_t width = StorageBytes(from.element_type());
    std::memcpy(parts[place.part].bytes().data() + place.index * width,
                from.bytes().data() + place.element * width, width);
  }
  const std::string violation = property.violation(parts, property.present);
  const ElementVerdict verdict = violation.empty() ? ElementVerdict::kPass : ElementVerdict::kFail;
  absl::flat_hash_map<int64_t, ElementJudge> judges;  // by leaf
  for (const PropertyExpectation::Place& place : property.places) {
    const ArrayExpectation& leaf = expectation.leaves[place.leaf];
    if (IsByProperty(leaf, place.element)) {
      Count({verdict}, place.leaf, place.element, judgement);
    } else if (verdict == ElementVerdict::kFail) {
      const ElementJudge& judge = judges.try_emplace(place.leaf, leaf).first->second;
      Convict(judge.Judge(*results[place.leaf], place.element), place.leaf, place.element,
              judgement);
    }
  }
  return violation;
}

using ElementSet = absl::flat_hash_set<int64_t>;

// `with_property`: the elements that some property of the expectation judges.
void JudgeLeaf(const ArrayExpectation& leaf, const Literal& result, int64_t number,
               const ElementSet& with_property, Judgement& judgement) {
  const int64_t n = leaf.plain.element_count();
  const bool has_bounds = BoundsPerElement(leaf.plain.element_type()) != 0;
  // The common case, without a look at single elements.
  if (leaf.AllForced() && leaf.plain.bytes() == result.bytes()) {
    judgement.elements += n;
    judgement.passed += n;
    judgement.forced += n;
    return;
  }
  if (has_bounds) {
    FloatJudge judge(leaf);
    const bool is_plain = leaf.plain.element_type() == ElementType::kF32 && !leaf.bounds.empty() &&
                          leaf.choices.empty();
    const float* got = is_plain ? result.data<float>().data() : nullptr;
    for (int64_t i = 0; i < n; ++i) {
      if (is_plain && judge.IsPlainPass(got[i], i, judgement.max_ulps_used)) {
        ++judgement.elements;
        ++judgement.passed;
        continue;
      }
      if (is_plain && judge.IsForcedPass(got[i], i)) {
        ++judgement.elements;
        ++judgement.passed;
        ++judgement.forced;
        continue;
      }
      auto it = leaf.choices.empty() ? leaf.choices.end() : leaf.choices.find(i);
      if (IsByProperty(leaf, i)) {
        if (!with_property.contains(i))
          Count({ElementVerdict::kInconclusive}, number, i, judgement);
        continue;
      }
      const ElementJudgement element = it != leaf.choices.end()
                                           ? JudgeCode(leaf, &it->second, result.GetBits(i), i)
                                           : judge.Judge(result, i);
      Count(element, number, i, judgement);
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    auto it = leaf.choices.empty() ? leaf.choices.end() : leaf.choices.find(i);
    Count(JudgeCode(leaf, it == leaf.choices.end() ? nullptr : &it->second, result.GetBits(i), i),
          number, i, judgement);
  }
}

Judgement WrongShape(std::string reason) {
  Judgement judgement;
  judgement.verdict = Verdict::kFail;
  judgement.reason = std::move(reason);
  return judgement;
}

void CollectLeaves(const Literal& value, std::vector<const Literal*>& leaves) {
  if (!value.shape().IsTuple()) {
    leaves.push_back(&value);
    return;
  }
  for (const Literal& element : value.elements()) CollectLeaves(element, leaves);
}

std::string FloatText(ElementType component, double value, uint64_t code) {
  return absl::StrFormat("%.*g (0x%x)", component == ElementType::kF64 ? 17 : 9, value, code);
}

std::string IndexText(const Shape& shape, int64_t element) {
  std::string text = "[";
  const DimVector strides = RowMajorStrides(shape.dimensions());
  for (int64_t d = 0; d < shape.rank(); ++d)
    StrAppend(&text, d == 0 ? "" : ", ", element / strides[d] % shape.dimension(d));
  return text + "]";
}

std::string DescribeBound(const ElementBound& bound, const FloatFormat& format) {
  std::vector<std::string> parts;
  if ((bound.flags & kNotFinite) == 0) {
    const double ulps = bound.radius / UlpAt(format, std::fabs(bound.centre));
    parts.push_back(absl::StrFormat("[%.17g, %.17g] (centre %.17g +- %.3g ulp)",
                                    bound.centre - bound.radius, bound.centre + bound.radius,
                                    bound.centre, ulps));
  }
  if ((bound.flags & kMayFlush) != 0) parts.push_back("zero (a flushed subnormal)");
  if ((bound.flags & kMayBeZero) != 0) parts.push_back("zero (of a flushed operand)");
  if ((bound.flags & kMayBePosInf) != 0) parts.push_back("inf");
  if ((bound.flags & kMayBeNegInf) != 0) parts.push_back("-inf");
  if ((bound.flags & kMayBeNan) != 0) parts.push_back("NaN");
  if ((bound.flags & kNoNegativeZero) != 0) parts.push_back("of the zeros only 0");
  if ((bound.flags & kNoPositiveZero) != 0) parts.push_back("of the zeros only -0");
  if (parts.empty()) return "nothing: all of it together lacks the property that defines it";
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    StrAppend(&text, i == 0 ? "" : parts[i].rfind("of", 0) == 0 ? ", " : ", or ", parts[i]);
  return text;
}

std::string DescribeSlot(const ArrayExpectation& expectation, int64_t slot) {
  const Literal& plain = expectation.plain;
  if (expectation.bounds.empty() || (expectation.bounds[slot].flags & kForced) != 0) {
    return StrCat("exactly ", FloatText(ComponentType(plain.element_type()),
                                        plain.GetComponent(slot), plain.GetComponentBits(slot)));
  }
  const ElementBound& bound = expectation.bounds[slot];
  if ((bound.flags & kByProperty) != 0) return "what gives all of them their property";
  if ((bound.flags & kUndecided) != 0) return "anything (undecided)";
  return DescribeBound(bound, Format(plain.element_type()));
}

}  // namespace

int64_t BoundsPerElement(ElementType type) { return IsComplex(type) ? 2 : IsFloat(type) ? 1 : 0; }

std::string DescribeElement(const Literal& literal, int64_t i) {
  const ElementType type = literal.element_type();
  if (IsPred(type)) return literal.GetBits(i) != 0 ? "true" : "false";
  if (IsUnsigned(type)) return StrCat(literal.GetBits(i));
  if (IsSigned(type)) return StrCat(literal.GetInteger(i));
  if (IsFloat(type)) return FloatText(type, literal.GetDouble(i), literal.GetBits(i));
  const ElementType component = ComponentType(type);
  auto part = [&](int64_t k) {
    return FloatText(component, literal.GetComponent(k), literal.GetComponentBits(k));
  };
  return StrCat("(", part(2 * i), ", ", part(2 * i + 1), ")");
}

std::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "fail";
    case Verdict::kInconclusive:
      return "inconclusive";
  }
  return "";
}

void Expectation::Append(Expectation other) {
  const auto first = static_cast<int64_t>(leaves.size());
  for (ArrayExpectation& leaf : other.leaves) leaves.push_back(std::move(leaf));
  for (PropertyExpectation& property : other.properties) {
    for (PropertyExpectation::Place& place : property.places) place.leaf += first;
    properties.push_back(std::move(property));
  }
  if (inconclusive.empty()) inconclusive = std::move(other.inconclusive);
}

std::vector<const Literal*> Leaves(const Literal& value) {
  std::vector<const Literal*> leaves;
  CollectLeaves(value, leaves);
  return leaves;
}

Judgement Judge(const Expectation& expectation, const Literal& result) {
  return JudgeLeaves(expectation, Leaves(result));
}

Judgement JudgeLeaves(const Expectation& expectation, absl::Span<const Literal* const> results) {
  if (results.size() != expectation.leaves.size()) {
    return WrongShape(StrCat("the result has ", results.size(), " arrays, expected are ",
                             expectation.leaves.size()));
  }
  for (size_t k = 0; k < results.size(); ++k) {
    const Shape& wanted = expectation.leaves[k].plain.shape();
    if (Compatible(wanted, results[k]->shape())) continue;
    return WrongShape(StrCat("output ", k, " has shape ", results[k]->shape().ToString(),
                             ", expected is ", wanted.ToString()));
  }
  Judgement judgement;
  if (!expectation.inconclusive.empty()) {
    judgement.verdict = Verdict::kInconclusive;
    judgement.reason = expectation.inconclusive;
    for (const Literal* result : results) judgement.elements += result->element_count();
    judgement.inconclusive = judgement.elements;
    return judgement;
  }
  std::vector<ElementSet> with_property(results.size());
  for (const PropertyExpectation& property : expectation.properties) {
    for (const PropertyExpectation::Place& place : property.places) {
      if (place.leaf < static_cast<int64_t>(results.size()) &&
          IsByProperty(expectation.leaves[place.leaf], place.element))
        with_property[place.leaf].insert(place.element);
    }
  }
  for (size_t k = 0; k < results.size(); ++k)
    JudgeLeaf(expectation.leaves[k], *results[k], static_cast<int64_t>(k), with_property[k],
              judgement);
  std::string violation;
  for (const PropertyExpectation& property : expectation.properties) {
    std::string wrong = JudgeProperty(expectation, property, results, judgement);
    if (violation.empty()) violation = std::move(wrong);
  }
  if (!violation.empty()) {
    judgement.verdict = Verdict::kFail;
    judgement.reason = std::move(violation);
  } else if (judgement.failed > 0) {
    judgement.verdict = Verdict::kFail;
    judgement.reason =
        StrCat(judgement.failed, " of ", judgement.elements, " elements lie outside their bound");
  } else if (judgement.inconclusive > 0) {
    judgement.verdict = Verdict::kInconclusive;
    judgement.reason = StrCat(judgement.inconclusive, " of ", judgement.elements,
                              " elements are undecided or have a bound too wide to convict");
  }
  return judgement;
}

namespace {

std::vector<int64_t> ElementsOf(const ArrayExpectation& expected, const Literal& got,
                                absl::Span<const ElementVerdict> verdicts) {
  const ElementJudge judge(expected);
  std::vector<int64_t> found;
  for (int64_t i = 0; i < got.element_count(); ++i) {
    const ElementVerdict verdict = judge.Judge(got, i).verdict;
    if (std::find(verdicts.begin(), verdicts.end(), verdict) != verdicts.end()) found.push_back(i);
  }
  return found;
}

}  // namespace

std::vector<int64_t> OpenElements(const ArrayExpectation& expected, const Literal& got) {
  return ElementsOf(expected, got, {ElementVerdict::kInconclusive, ElementVerdict::kFail});
}

std::vector<int64_t> FailedElements(const ArrayExpectation& expected, const Literal& got) {
  return ElementsOf(expected, got, {ElementVerdict::kFail});
}

std::vector<int64_t> UndecidedElements(const ArrayExpectation& expected, const Literal& got) {
  return ElementsOf(expected, got, {ElementVerdict::kInconclusive});
}

std::string DescribeAllowed(const ArrayExpectation& expectation, int64_t element) {
  auto it = expectation.choices.find(element);
  if (it != expectation.choices.end()) {
    if (it->second.empty()) return "anything (undecided)";
    Literal scalar(Shape::Scalar(expectation.plain.element_type()));
    std::string text = "one of {";
    for (size_t k = 0; k < it->second.size(); ++k) {
      scalar.SetBits(0, it->second[k]);
      StrAppend(&text, k == 0 ? "" : ", ", DescribeElement(scalar, 0));
    }
    return text + "}";
  }
  if (BoundsPerElement(expectation.plain.element_type()) == 0)
    return StrCat("exactly ", DescribeElement(expectation.plain, element));
  if (!IsComplex(expectation.plain.element_type())) return DescribeSlot(expectation, element);
  return StrCat("real part ", DescribeSlot(expectation, 2 * element), ", imaginary part ",
                DescribeSlot(expectation, 2 * element + 1));
}

std::string DescribeFailure(const Expectation& expectation, const Literal& result,
                            const Judgement& judgement) {
  if (judgement.verdict == Verdict::kPass) return "pass";
  if (judgement.failed == 0) return StrCat(Name(judgement.verdict), ": ", judgement.reason, "\n");
  const std::vector<const Literal*> leaves = Leaves(result);
  std::string text = StrCat(judgement.reason, "\n");
  auto describe = [&](std::string_view which, const ElementFailure& failure) {
    const ArrayExpectation& leaf = expectation.leaves[failure.leaf];
    StrAppend(&text, "  ", which, ": output ", failure.leaf, " ",
              IndexText(leaf.plain.shape(), failure.element), " of ", leaf.plain.shape().ToString(),
              "\n    got      ", DescribeElement(*leaves[failure.leaf], failure.element),
              "\n    allowed  ", DescribeAllowed(leaf, failure.element), "\n");
    if (failure.ulps > 0)
      StrAppend(&text, "    beyond   ", absl::StrFormat("%.4g ulp", failure.ulps), "\n");
  };
  describe("first", judgement.first);
  if (judgement.worst.leaf != judgement.first.leaf ||
      judgement.worst.element != judgement.first.element)
    describe("worst", judgement.worst);
  return text;
}

}  // namespace assay
