// Widens the bounds of a program that is compiled as it is written.
#include "fuzz/opinions/far_off.h"

#include <algorithm>
#include <cmath>

#include "spec/base/strings.h"
#include "spec/numerics/notable_limits.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

constexpr std::string_view kLegal = "legal, and ";

bool IsOfFloats(ElementType type) { return IsFloat(type) || IsComplex(type); }

double UlpAt(const FloatFormat& format, double number) {
  const double least = format.MinSubnormal();
  if (number == 0 || !std::isfinite(number)) return least;
  return std::max(least, std::ldexp(1.0, std::ilogb(number) - format.mantissa_bits));
}

// An answer that is forced to be a number may be off by some ulps as well; zeros may have either
// sign.
ElementBound Widened(const FloatFormat& format, ElementBound bound, double plain) {
  const bool is_forced = (bound.flags & kForced) != 0;
  if (is_forced && !std::isfinite(plain)) return bound;
  if (is_forced) {
    bound = {};
    bound.centre = plain;
  }
  bound.flags |= kZeroSignFree;
  bound.flags &= ~kZeroSigns;
  if ((bound.flags & kNotFinite) != 0) return bound;
  // A value that is zero however it is rounded, is so in any form that is near.
  const bool is_zero = is_forced && plain == 0;
  if (!is_zero)
    bound.radius = kTimesItsRounding * std::max(bound.radius, UlpAt(format, bound.centre) / 2);
  return bound;
}

ArrayExpectation Widened(const ArrayExpectation& leaf) {
  ArrayExpectation wide;
  wide.plain = leaf.plain;
  wide.choices = leaf.choices;
  wide.significand = leaf.significand;
  if (!IsOfFloats(leaf.plain.element_type())) return wide;
  const FloatFormat& format = Format(ComponentType(leaf.plain.element_type()));
  for (int64_t k = 0; k < leaf.plain.component_count(); ++k) {
    ElementBound bound;
    bound.flags = kForced;
    if (!leaf.bounds.empty()) bound = leaf.bounds[static_cast<size_t>(k)];
    wide.bounds.push_back(Widened(format, bound, leaf.plain.GetComponent(k)));
  }
  return wide;
}

bool AreOfOneClass(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return (a == 0) == (b == 0);
}

std::string HowFar(const Literal& plain, const Literal& answer, int64_t element) {
  const bool is_complex = IsComplex(plain.element_type());
  if (!IsOfFloats(plain.element_type())) return "far off";
  const int64_t parts = is_complex ? 2 : 1;
  bool is_lost = false;
  for (int64_t k = parts * element; k < parts * (element + 1); ++k) {
    const double right = plain.GetComponent(k), got = answer.GetComponent(k);
    if (!AreOfOneClass(right, got)) return "of another class";
    is_lost |= is_complex && std::fabs(got - right) >= std::fabs(right) && right != 0;
  }
  return is_lost ? "a part of a complex number is lost" : "far off";
}

bool IsNear(const Literal& plain, const Literal& answer) {
  if (plain.BitwiseEqual(answer)) return true;
  if (!IsOfFloats(plain.element_type()) || !Compatible(plain.shape(), answer.shape())) return false;
  const FloatFormat& format = Format(ComponentType(plain.element_type()));
  for (int64_t k = 0; k < plain.component_count(); ++k) {
    if (plain.GetComponentBits(k) == answer.GetComponentBits(k)) continue;
    const double right = plain.GetComponent(k);
    // Below the normal numbers an answer may be flushed. Infinities and NaN are near nothing.
    if (!(std::fabs(right) > format.MinNormal() && std::isfinite(right))) return false;
    const double distance = std::fabs(answer.GetComponent(k) - right);
    if (!(distance <= kUlpsOfNoNote * UlpAt(format, right))) return false;
  }
  return true;
}

}  // namespace

bool IsNearPlain(const Expectation& expectation, const Literal& answer) {
  const std::vector<const Literal*> leaves = Leaves(answer);
  return std::equal(leaves.begin(), leaves.end(), expectation.leaves.begin(),
                    expectation.leaves.end(),
                    [](const Literal* leaf, const ArrayExpectation& expected) {
                      return IsNear(expected.plain, *leaf);
                    });
}

std::string FarOff(const Expectation& as_written, const Literal& answer) {
  if (!answer.shape().IsValid() || !as_written.inconclusive.empty()) return "";
  const std::vector<const Literal*> leaves = Leaves(answer);
  if (leaves.size() != as_written.leaves.size()) return "";
  Expectation wide;
  for (const ArrayExpectation& leaf : as_written.leaves) wide.leaves.push_back(Widened(leaf));
  const Judgement judgement = JudgeLeaves(wide, leaves);
  if (judgement.verdict != Verdict::kFail || judgement.failed == 0) return "";
  const auto leaf = static_cast<size_t>(judgement.first.leaf);
  return StrCat(kLegal, HowFar(wide.leaves[leaf].plain, *leaves[leaf], judgement.first.element));
}

std::string FarOffByLicence(const CheckSubject& subject, const Module& module,
                            const std::vector<const Literal*>& arguments, const Literal& answer) {
  const absl::StatusOr<Expectation> as_written =
      subject.oracle.Expect(module, arguments, subject.profile, subject.limits);
  if (!as_written.ok()) return "";
  std::string far = FarOff(*as_written, answer);
  if (far.empty()) return "";
  const absl::StatusOr<Expectation> licensed =
      subject.oracle.Expect(module, arguments, Profile::Xla(), subject.limits);
  const bool is_legal = licensed.ok() && Judge(*licensed, answer).verdict != Verdict::kFail;
  return is_legal ? far : "";
}

bool IsByLicence(std::string_view notable) { return notable.rfind(kLegal, 0) == 0; }

}  // namespace assay
