// Turns draws into numbers that are uniform in [0, 1) if they are right, and tests those.
#include "reference/ops/random/draw_tests.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "spec/base/strings.h"
#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

// One set of right draws in 10^9 fails a test. The largest distance of the distribution function of
// n draws from the true one passes sqrt(ln(2e9) / 2 / n) so seldom (the inequality of Dvoretzky,
// Kiefer, Wolfowitz and Massart, which holds for every n); a normal variable passes kRareNormal.
const double kRareDistance = std::sqrt(std::log(2e9) / 2);
constexpr double kRareNormal = 6.0;

constexpr size_t kFewestDraws = 100;
constexpr size_t kFewestPerClass = 5;
constexpr size_t kClasses = 16;        // of single draws
constexpr size_t kPairClasses = 8;     // of each of a pair
constexpr uint64_t kFewIntegers = 64;  // are a class each

// The value that chi-square with so many degrees of freedom passes in one of 10^9 cases (Wilson and
// Hilferty: its cube root is nearly normal).
double RareChiSquare(double degrees) {
  const double spread = 2 / (9 * degrees);
  return degrees * std::pow(1 - spread + kRareNormal * std::sqrt(spread), 3);
}

// True if so many draws in each class show that the classes are not equally likely.
bool IsUneven(absl::Span<const size_t> counts) {
  double draws = 0;
  for (size_t count : counts) draws += static_cast<double>(count);
  const double expected = draws / static_cast<double>(counts.size());
  if (counts.size() < 2 || expected < kFewestPerClass) return false;
  double chi_square = 0;
  for (size_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    chi_square += off * off / expected;
  }
  return chi_square > RareChiSquare(static_cast<double>(counts.size() - 1));
}

// `slack`: how far rounding to a narrow type moves the distribution function.
bool IsFarFromUniform(std::vector<double> values, double slack) {
  if (values.size() < kFewestDraws) return false;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<double>(i);
    distance = std::max({distance, values[i] - at / n, (at + 1) / n - values[i]});
  }
  return distance > kRareDistance / std::sqrt(n) + slack;
}

size_t ClassOf(double uniform, size_t classes) {
  const double at = std::floor(uniform * static_cast<double>(classes));
  return static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(classes - 1)));
}

// A draw by its number, as a number that is uniform in [0, 1].
struct Draw {
  int64_t number;
  double uniform;
};

// Counts the pairs of draws 0 and 1, 2 and 3, ... that are both there.
std::vector<size_t> PairCounts(absl::Span<const Draw> draws, size_t classes) {
  std::vector<size_t> counts(classes * classes, 0);
  for (size_t i = 0; i + 1 < draws.size(); ++i) {
    if (draws[i].number % 2 != 0 || draws[i + 1].number != draws[i].number + 1) continue;
    ++counts[ClassOf(draws[i].uniform, classes) * classes + ClassOf(draws[i + 1].uniform, classes)];
  }
  return counts;
}

// The value of a draw as a uniform number; none if it is outside of what may be drawn, or not
// finite.
std::optional<double> UniformOf(const Distribution& distribution, uint64_t code) {
  if (distribution.kind == Distribution::kIntegers) {
    Literal scalar(Shape::Scalar(distribution.type));
    scalar.SetBits(0, code);
    const double value = IsSigned(distribution.type) ? static_cast<double>(scalar.GetInteger(0))
                                                     : static_cast<double>(code);
    const double at = value - distribution.a;
    if (at < 0 || at >= static_cast<double>(distribution.count)) return std::nullopt;
    return (at + 0.5) / static_cast<double>(distribution.count);
  }
  const double value = DecodeFloat(Format(distribution.type), code);
  if (!std::isfinite(value)) return std::nullopt;
  if (distribution.kind == Distribution::kUniform)
    return (value - distribution.a) / (distribution.b - distribution.a);
  return std::erfc((distribution.a - value) / (distribution.b * std::sqrt(2.0))) / 2;
}

bool IsNarrow(const Distribution& distribution) {
  return distribution.kind != Distribution::kIntegers && Format(distribution.type).precision() < 24;
}

}  // namespace

std::string DrawViolation(const Distribution& distribution,
                          absl::Span<const JointElement> elements) {
  std::vector<Draw> draws;
  for (const JointElement& element : elements) {
    const std::optional<double> uniform = UniformOf(distribution, element.code.real);
    if (!uniform.has_value()) {
      return distribution.kind == Distribution::kNormal ? "a normal draw is not finite"
                                                        : "a draw is outside of its range";
    }
    draws.push_back({element.number, *uniform});
  }
  std::sort(draws.begin(), draws.end(),
            [](const Draw& a, const Draw& b) { return a.number < b.number; });
  std::vector<double> uniforms;
  for (const Draw& draw : draws) uniforms.push_back(draw.uniform);
  const bool integers = distribution.kind == Distribution::kIntegers;
  double slack = 0x1p-20;
  if (integers) slack = 1 / static_cast<double>(distribution.count);
  if (IsNarrow(distribution)) slack = std::exp2(2 - Format(distribution.type).precision());
  if (IsFarFromUniform(uniforms, slack))
    return "draws are not distributed as they should be (Kolmogorov-Smirnov)";
  // Classes of equal weight, unless the steps of a type are too coarse for them.
  if (IsNarrow(distribution) ||
      (integers && distribution.count > kFewIntegers && distribution.count < (uint64_t{1} << 16)))
    return "";
  const bool few = integers && distribution.count <= kFewIntegers;
  std::vector<size_t> counts(few ? distribution.count : kClasses, 0);
  for (double uniform : uniforms) ++counts[ClassOf(uniform, counts.size())];
  if (IsUneven(counts)) return "draws do not come equally often (chi-square)";
  const size_t classes = few ? static_cast<size_t>(distribution.count) : kPairClasses;
  if (IsUneven(PairCounts(draws, classes)))
    return "neighbouring draws depend on each other (chi-square of pairs)";
  return "";
}

std::shared_ptr<const Joint> JointDraws(const Distribution& distribution) {
  auto joint = std::make_shared<Joint>();
  joint->what = "draws of a random distribution";
  joint->joint_violation = [distribution](absl::Span<const JointElement> draws) {
    return DrawViolation(distribution, draws);
  };
  return joint;
}

}  // namespace assay::reference
