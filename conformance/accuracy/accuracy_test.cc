// Truth, ulps and classes of errors on a few arguments, and a sweep of the oracle, which rounds
// correctly or nearly.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "conformance/accuracy/page.h"
#include "conformance/accuracy/real.h"
#include "nlohmann/json.hpp"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"

namespace assay::accuracy {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The quick value of every function is as near to MPFR's as its rounding test takes for granted.
TEST(Truth, QuickValuesAreWithinTheirError) {
  for (const TrueFunction& function : Functions()) {
    if (function.quick == nullptr && function.quick2 == nullptr) continue;
    std::mt19937_64 random(7);
    for (int i = 0; i < 2000; ++i) {
      const double x = std::bit_cast<float>(static_cast<uint32_t>(random()));
      const double y = std::bit_cast<float>(static_cast<uint32_t>(random()));
      const double quick = function.arity == 1 ? function.quick(x) : function.quick2(x, y);
      const double size = std::fabs(quick);
      if (!(size > 0x1p-1000 && size < 0x1p1000)) continue;
      Real truth(160), first(53, x), second(53, y);
      function.exact(truth, first, second);
      mpfr_d_sub(truth, quick, truth, MPFR_RNDN);
      EXPECT_LE(std::fabs(mpfr_get_d(truth.get(), MPFR_RNDN)), size * kQuickError)
          << function.name << " " << x << " " << y;
    }
  }
}

// The quick NaN, zeros and infinities are those of the nearest f32.
TEST(Truth, EndsAreRight) {
  const auto at = [](const char* name, double x) {
    return Truth(*FindFunction(name), ElementType::kF32).At(x, 0).nearest;
  };
  EXPECT_EQ(at("erf_inv", 1), kInfinity);
  EXPECT_TRUE(std::isnan(at("erfcinv", 3)));
  EXPECT_EQ(at("exponential", 89), kInfinity);
  EXPECT_EQ(at("exponential", -200), 0);
  EXPECT_EQ(at("bessel_i0e", 0), 1);
  EXPECT_EQ(at("sinc", 2), 0);
  EXPECT_TRUE(std::signbit(at("cbrt", -0.0)));
  EXPECT_TRUE(std::isnan(at("log", -1)));
}

// Figures of tables of functions.
TEST(Truth, FunctionsOfTheirOwn) {
  const auto at = [](const char* name, double x) {
    return Truth(*FindFunction(name), ElementType::kF64).At(x, 0).nearest;
  };
  EXPECT_DOUBLE_EQ(at("bessel_i0e", 1), 0.46575960759364043);
  EXPECT_DOUBLE_EQ(at("bessel_i1e", 1), 0.20791041534970845);
  EXPECT_DOUBLE_EQ(at("erf_inv", 0.5), 0.47693627620446987);
  EXPECT_DOUBLE_EQ(at("erfcinv", 0.5), 0.47693627620446987);
  EXPECT_DOUBLE_EQ(at("erfcinv", 1.5), -0.47693627620446987);
  EXPECT_DOUBLE_EQ(at("ndtri", 0.975), 1.959963984540054);
  EXPECT_DOUBLE_EQ(at("erfcx", 1), 0.42758357615580700);
  EXPECT_DOUBLE_EQ(at("sinc", 0.5), 0.6366197723675814);
  EXPECT_NEAR(at("bessel_i0e", 500) * std::sqrt(2 * M_PI * 500), 1.000250281836, 1e-11);
}

// ErfInverse undoes erf to all digits, near its ends too.
TEST(Truth, InversesGoBack) {
  for (const double x : {1e-30, -0.125, 0.5, 0.9, 0.999999940395355}) {
    Real root(200), back(200), argument(53, x);
    FindFunction("erf_inv")->exact(root, argument, argument);
    mpfr_erf(back, root, MPFR_RNDN);
    mpfr_d_sub(back, x, back, MPFR_RNDN);
    EXPECT_LE(std::fabs(mpfr_get_d(back.get(), MPFR_RNDN)), std::fabs(x) * 0x1p-150) << x;
  }
}

TEST(Units, AreThoseOfTheTruthsBinade) {
  const Units units(Format(ElementType::kF32));
  const auto between = [&](double result, double truth, bool flushes = false) {
    return units.Between(result, {truth, {truth, 0, 0}}, flushes);
  };
  EXPECT_EQ(between(1 + 0x1p-23, 1), 1);
  EXPECT_EQ(between(1 - 0x1p-24, 1), 0.5);
  EXPECT_EQ(between(0x1p-149, 0x1p-148), 1);
  EXPECT_EQ(between(0x1p-126, 0x1p-149, true), 1);
  EXPECT_EQ(between(0, 0x1p-126), 1);
  EXPECT_EQ(between(kInfinity, 0x1.fffffep127), 1);
}

Errors Counted(const char* name, std::vector<Sample> samples) {
  ErrorCounter counter(*FindFunction(name), ElementType::kF32, ElementType::kF32, false);
  for (const Sample& sample : samples) counter.Add(sample.x, sample.y, sample.got);
  return counter.Take();
}

TEST(Errors, AreClassed) {
  const Errors errors = Counted("log", {{1, 0, 0, 0},                  // right
                                        {1, 0, -0.0, 0},               // the other zero
                                        {-1, 0, kNan, 0},              // right
                                        {0, 0, 0, 0},                  // minus infinity
                                        {0x1p-149, 0, -kInfinity, 0},  // zero's
                                        {2, 0, 0.693147242, 0}});
  EXPECT_EQ(errors.inputs, 6);
  EXPECT_EQ(errors.nearest, 2);
  EXPECT_EQ(errors.zero_sign.count, 1);
  EXPECT_EQ(errors.other_class.count, 1);
  EXPECT_EQ(errors.flushed_in.count, 1);
  EXPECT_NEAR(errors.worst, 1.037, 0.01);
  EXPECT_EQ(errors.worst_at.x, 2);
  const Errors small = Counted("exponential", {{-100, 0, 0, 0}, {-100, 0, 0x1p-126, 0}});
  EXPECT_EQ(small.flushed_out.count, 1);
  EXPECT_GT(small.worst, 1e6);
}

TEST(Errors, GoThroughJson) {
  Errors errors = Counted("log", {{2, 0, 0.7, 0}, {0, 0, 1, 0}, {3, 0, kNan, 0}});
  const auto again = ErrorsFromJson(ToJson(errors));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(ToJson(*again), ToJson(errors));
  nlohmann::json json = ToJson(errors);
  json.erase("worst");
  EXPECT_FALSE(ErrorsFromJson(json).ok());
  json = ToJson(errors);
  json["other_class"]["first"] = 3;
  EXPECT_FALSE(ErrorsFromJson(json).ok());
}

std::vector<PieceResult> SweepOf(const SubjectFilter& filter, SweepOptions options = {}) {
  BackendRegistry registry;
  RegisterReference(registry);
  const std::unique_ptr<Backend> oracle = *registry.Create("reference");
  std::vector<PieceResult> pieces;
  options.take = [&](const PieceResult& piece) {
    pieces.push_back(piece);
    return absl::OkStatus();
  };
  EXPECT_TRUE(Sweep(OpSubjects(filter), *oracle, oracle.get(), options).ok());
  return pieces;
}

TEST(Sweep, TheOracleRoundsNarrowTypesToTheNearest) {
  const std::vector<PieceResult> pieces = SweepOf({{}, {"f8e4m3fn", "f4e2m1fn"}});
  EXPECT_GT(pieces.size(), 60u);
  for (const PieceResult& piece : pieces) {
    EXPECT_EQ(piece.refusal, "") << piece.Key();
    EXPECT_EQ(piece.errors.inputs, piece.errors.nearest)
        << piece.Key() << ToJson(piece.errors).dump();
  }
}

TEST(Sweep, OrderAndMirrorAreSeen) {
  const std::vector<PieceResult> pieces = SweepOf({{"tanh", "cosine"}, {"bf16"}});
  ASSERT_EQ(pieces.size(), 2u);
  for (const PieceResult& piece : pieces) {
    EXPECT_GT(piece.errors.pairs, 30000) << piece.Key();
    EXPECT_EQ(piece.errors.not_monotone.count + piece.errors.not_symmetric.count, 0);
    EXPECT_LT(piece.errors.worst, 1);
  }
  ErrorCounter counter(*FindFunction("tanh"), ElementType::kF32, ElementType::kF32, false);
  counter.AddNeighbours({1, 0, 0.8, 0}, {2, 0, 0.7, 0}, 1);
  counter.AddMirror({1, 0, 0.8, 0}, {-1, 0, -0.7, 0}, Parity::kOdd);
  EXPECT_EQ(counter.Take().not_monotone.count, 1);
  EXPECT_EQ(counter.Take().not_symmetric.count, 1);
}

TEST(Sweep, ComplexNumbersByTheirNorm) {
  for (const PieceResult& piece : SweepOf({{"multiply", "sqrt", "abs", "exponential"}, {"c64"}})) {
    EXPECT_EQ(piece.refusal, "") << piece.Key();
    EXPECT_LT(piece.errors.worst, 3) << piece.Key() << ToJson(piece.errors).dump();
  }
}

// Parts are the whole, and what a file has is not measured again.
TEST(Sweep, PartsAndResumption) {
  SweepOptions options;
  options.size.samples = 65536;
  options.size.stride = 1 << 17;
  const SubjectFilter filter = {{"floor", "sign"}, {"f32", "f64", "f16"}};
  const size_t all = SweepOf(filter, options).size();
  EXPECT_EQ(all, 6u);
  size_t parts = 0;
  options.parts = 3;
  for (options.part = 0; options.part < 3; ++options.part) parts += SweepOf(filter, options).size();
  EXPECT_EQ(parts, all);
  options.is_done = [](const std::string& key) { return key.find("sign") != std::string::npos; };
  options.part = 0;
  options.parts = 1;
  for (const PieceResult& piece : SweepOf(filter, options)) {
    EXPECT_EQ(piece.name, "floor");
    EXPECT_EQ(piece.errors.inputs, piece.errors.nearest);
    const auto again = PieceFromJson(ToJson(piece));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->Key(), piece.Key());
  }
}

TEST(Page, HasAColumnForEachBackendAndJaxsFigures) {
  std::vector<PieceResult> pieces = SweepOf({{"tanh"}, {"bf16"}});
  PieceResult other = pieces[0];
  other.backend = "other";
  other.errors.worst = 7.25;
  PieceResult jax = other;
  jax.name = "jax.tanh";
  pieces.push_back(other);
  pieces.push_back(jax);
  const auto page = AccuracyPage(Join(pieces));
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_NE(page->find("`other`"), std::string::npos);
  EXPECT_NE(page->find("7.2500"), std::string::npos);
  EXPECT_NE(page->find("| tanh | bf16 | 0.5 | 7.5 | **more here** |"), std::string::npos) << *page;
  const auto published = PublishedByJax();
  ASSERT_TRUE(published.ok());
  EXPECT_EQ(published->size(), 150u);
  for (const Published& one : *published)
    EXPECT_NE(FindFunction(one.function), nullptr) << one.function;
}

}  // namespace
}  // namespace assay::accuracy
