// The compiler's functions of f64 are within two units of the last place of what double-double
// arithmetic gives, and have the same bits on every instruction set, whether emitted or called.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "conformance/accuracy/double_double.h"
#include "optimized/cpu/cpu_backend.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// `op` of the inputs, of y too if there is one; `count` of them in each run. One by one a few do.
std::vector<double> Results(const std::string& backend_name, const std::string& op,
                            const std::vector<double>& x, const std::vector<double>& y,
                            size_t count) {
  BackendRegistry registry;
  RegisterCpu(registry);
  const auto backend = registry.Create(backend_name);
  EXPECT_TRUE(backend.ok()) << backend.status();
  const std::string type = StrCat("f64[", count, "]");
  const auto module = ReadModule(
      StrCat("HloModule m\nENTRY e {\n  x = ", type, " parameter(0)\n  y = ", type,
             " parameter(1)\n  ROOT r = ", type, " ", op, y.empty() ? "(x)" : "(x, y)", "\n}"));
  EXPECT_TRUE(module.ok()) << module.status();
  const auto code = (*backend)->Compile(**module, CompileOptions());
  EXPECT_TRUE(code.ok()) << code.status();
  Literal of_x((*module)->entry()->parameter(0)->shape()), of_y(of_x.shape());
  std::vector<double> results;
  const size_t end = count == 1 ? 300 : x.size();
  for (size_t begin = 0; begin + count <= end; begin += count) {
    for (size_t i = 0; i < count; ++i) {
      of_x.data<double>()[i] = x[begin + i];
      if (!y.empty()) of_y.data<double>()[i] = y[begin + i];
    }
    const auto run = (*code)->Run({{&of_x, &of_y}});
    EXPECT_TRUE(run.ok()) << run.status();
    const auto part = run->outputs[0].data<double>();
    results.insert(results.end(), part.begin(), part.end());
  }
  return results;
}

// A number that is no multiple of any machine's vectors, and enough that formulas are emitted.
constexpr size_t kMany = 2047;
// So few that they are called.
constexpr size_t kFew = 23;
constexpr size_t kInputs = kMany * kFew;

double Uniform(std::mt19937_64& random) {
  return static_cast<double>(static_cast<int64_t>(random())) * 0x1p-63;
}

std::vector<double> Inputs() {
  std::mt19937_64 random(20261122);
  std::vector<double> x = {0.0,
                           -0.0,
                           1,
                           -1,
                           kInfinity,
                           -kInfinity,
                           kNan,
                           0x1p-1074,
                           -0x1p-1074,
                           0x1p-1022,
                           0x1.fffffffffffffp1023,
                           709.782712893384,
                           -745.1332191019411,
                           -708.3964185322641,
                           1e22,
                           0x1.6ac5b262ca1ffp849,
                           -1e300,
                           0x1p30,
                           355};
  while (x.size() < kInputs) {
    const double part = std::ldexp(1.0, -static_cast<int>(random() % 45));
    const double wide = std::bit_cast<double>(random());
    const double near = static_cast<double>(random() % (1 << 20)) * 1.5707963267948966;
    for (const double value : {wide, Uniform(random) * 750, 1 + Uniform(random) * part,
                               Uniform(random) * 6, near, Uniform(random) * part}) {
      x.push_back(value);
    }
  }
  x.resize(kInputs);
  return x;
}

void ExpectSameBits(const std::vector<double>& x, const std::vector<double>& right,
                    const std::vector<double>& other, const std::string& how) {
  ASSERT_EQ(right.size(), kInputs);
  ASSERT_GE(other.size(), size_t{300});
  for (size_t i = 0; i < other.size(); ++i) {
    if (std::isnan(right[i]) && std::isnan(other[i])) continue;
    ASSERT_EQ(std::bit_cast<uint64_t>(right[i]), std::bit_cast<uint64_t>(other[i]))
        << how << " at " << x[i] << ": " << right[i] << " and " << other[i];
  }
}

// In every form: on each instruction set, emitted or called, as vectors or one by one.
void ExpectSameInEveryForm(const std::string& op, const std::vector<double>& x,
                           const std::vector<double>& y, const std::vector<double>& right) {
  std::vector<std::string> backends = {"cpu:isa=host,threads=1", "cpu:isa=baseline,threads=1"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    backends.push_back("cpu:isa=avx2,threads=1");
  }
  for (const std::string& backend : backends) {
    for (const size_t count : {kMany, kFew, size_t{1}}) {
      ExpectSameBits(x, right, Results(backend, op, x, y, count),
                     StrCat(op, " on ", backend, " of ", count));
    }
  }
}

TEST(DoubleFunctions, AreWithinTwoUnitsInEveryForm) {
  const std::vector<double> x = Inputs();
  for (const DoubleFunction& function : DoubleFunctions()) {
    const std::vector<double> results = Results("cpu", function.op, x, {}, kMany);
    ASSERT_EQ(results.size(), kInputs);
    for (size_t i = 0; i < kInputs; ++i) {
      const double quick = function.quick(x[i]);
      if (std::isfinite(x[i]) && std::isfinite(quick) && quick != 0) {
        ASSERT_LE(UlpsFrom(results[i], function.truth(x[i])), 2)
            << function.op << " at " << x[i] << ": " << results[i];
      } else {
        ASSERT_TRUE((std::isnan(quick) && std::isnan(results[i])) ||
                    std::bit_cast<uint64_t>(quick) == std::bit_cast<uint64_t>(results[i]))
            << function.op << " at " << x[i] << ": " << results[i] << ", not " << quick;
      }
    }
    ExpectSameInEveryForm(function.op, x, {}, results);
  }
}

TEST(DoubleFunctions, PowersAreWithinTwoUnitsInEveryForm) {
  std::vector<double> x = Inputs(), y;
  std::mt19937_64 random(1);
  const double special[] = {0.0,    -0.0,       1,    -1,  kInfinity, -kInfinity,
                            kNan,   0.5,        2,    3,   -3,        0x1p-1074,
                            0x1p53, 0x1p53 + 2, -1e9, 2.5, -0.5,      1e300};
  for (size_t i = 0; i < kInputs; ++i) {
    if (i < std::size(special) * std::size(special)) {
      x[i] = special[i / std::size(special)];
      y.push_back(special[i % std::size(special)]);
    } else if (i % 3 == 0) {
      y.push_back(static_cast<double>(random() % 41) - 20);
    } else {
      y.push_back(Uniform(random) * 745 / std::log(std::fabs(x[i])));
    }
  }
  const std::vector<double> results = Results("cpu", "power", x, y, kMany);
  ASSERT_EQ(results.size(), kInputs);
  for (size_t i = 0; i < kInputs; ++i) {
    const double quick = std::pow(x[i], y[i]);
    const bool ordinary = std::isfinite(quick) && quick != 0 && std::isfinite(x[i]) &&
                          std::isfinite(y[i]) && x[i] != 0 && std::fabs(x[i]) != 1 && y[i] != 0;
    if (ordinary) {
      EXPECT_EQ(std::signbit(results[i]), std::signbit(quick)) << x[i] << " " << y[i];
      ASSERT_LE(UlpsFrom(std::fabs(results[i]), PrecisePower(std::fabs(x[i]), y[i])), 2)
          << x[i] << " to the power of " << y[i] << ": " << results[i];
    } else {
      ASSERT_TRUE((std::isnan(quick) && std::isnan(results[i])) ||
                  std::bit_cast<uint64_t>(quick) == std::bit_cast<uint64_t>(results[i]))
          << x[i] << " to the power of " << y[i] << ": " << results[i] << ", not " << quick;
    }
  }
  ExpectSameInEveryForm("power", x, y, results);
}

TEST(DoubleFunctions, AnglesAreWithinTwoUnitsInEveryForm) {
  const double special[] = {0.0,  -0.0,   1,          -1,    kInfinity, -kInfinity,
                            kNan, 3e-320, -0x1p-1074, 1e308, -1e308};
  std::vector<double> y = Inputs(), x = Inputs();
  std::mt19937_64 random(3);
  for (size_t i = 0; i < kInputs; ++i) {
    if (i < std::size(special) * std::size(special)) {
      y[i] = special[i / std::size(special)];
      x[i] = special[i % std::size(special)];
    } else if (i % 2 == 0) {
      x[i] = y[i] * (Uniform(random) * 4);
    } else {
      x[i] = x[(i * 7) % kInputs];
    }
  }
  const std::vector<double> results = Results("cpu", "atan2", y, x, kMany);
  ASSERT_EQ(results.size(), kInputs);
  for (size_t i = 0; i < kInputs; ++i) {
    const double quick = std::atan2(y[i], x[i]);
    if (!std::isnan(quick) && quick != 0) {
      ASSERT_LE(UlpsFrom(results[i], PreciseAtan2(y[i], x[i])), 2)
          << y[i] << " and " << x[i] << ": " << results[i] << " and " << quick;
    } else {
      ASSERT_TRUE((std::isnan(quick) && std::isnan(results[i])) ||
                  std::bit_cast<uint64_t>(quick) == std::bit_cast<uint64_t>(results[i]))
          << y[i] << " and " << x[i] << ": " << results[i] << ", not " << quick;
    }
  }
  ExpectSameInEveryForm("atan2", y, x, results);
}

// Each part of a complex exponential is a product of two functions.
TEST(DoubleFunctions, ComplexExponentialsAreWithinFourUnits) {
  BackendRegistry registry;
  RegisterCpu(registry);
  const auto backend = registry.Create("cpu");
  ASSERT_TRUE(backend.ok()) << backend.status();
  const auto module = ReadModule(
      "HloModule m\nENTRY e {\n  x = c128[2000] parameter(0)\n"
      "  ROOT r = c128[2000] exponential(x)\n}");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto code = (*backend)->Compile(**module, CompileOptions());
  ASSERT_TRUE(code.ok()) << code.status();
  Literal x((*module)->entry()->parameter(0)->shape());
  std::mt19937_64 random(4);
  std::vector<std::pair<double, double>> inputs = {{0, -0.0}, {-0.0, 0},  {709, 0.1}, {709.5, 1.5},
                                                   {-745, 1}, {1, 1e300}, {690, 3}};
  while (inputs.size() < 2000) inputs.emplace_back(Uniform(random) * 700, Uniform(random) * 1e3);
  for (size_t i = 0; i < inputs.size(); ++i) {
    x.SetComponentBits(static_cast<int64_t>(2 * i), std::bit_cast<uint64_t>(inputs[i].first));
    x.SetComponentBits(static_cast<int64_t>(2 * i) + 1, std::bit_cast<uint64_t>(inputs[i].second));
  }
  const auto run = (*code)->Run({{&x}});
  ASSERT_TRUE(run.ok()) << run.status();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const long double re = inputs[i].first, im = inputs[i].second;
    const long double size = std::exp(re);
    const double truths[] = {static_cast<double>(size * std::cos(im)),
                             static_cast<double>(size * std::sin(im))};
    for (int part = 0; part < 2; ++part) {
      const auto at = static_cast<int64_t>(2 * i) + part;
      const auto result = std::bit_cast<double>(run->outputs[0].GetComponentBits(at));
      const double ulp =
          std::nextafter(std::fabs(truths[part]), kInfinity) - std::fabs(truths[part]);
      EXPECT_LE(std::fabs(result - truths[part]), 4 * ulp) << re << " " << im << " " << part;
      EXPECT_EQ(std::signbit(result), std::signbit(truths[part])) << re << " " << im;
    }
  }
}

// The yardstick itself must satisfy identities to far less than a unit of f64.
TEST(DoubleDouble, HoldsIdentities) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) {
    const double x = 0.1 + std::fabs(Uniform(random)) * 20;
    const Precise sine = PreciseSine(x), cosine = PreciseCosine(x), tan = PreciseTan(x);
    EXPECT_NEAR(sine.high * sine.high + cosine.high * cosine.high, 1, 1e-15);
    EXPECT_NEAR(tan.high * cosine.high, sine.high, 1e-15);
    EXPECT_NEAR(std::ldexp(PreciseExp(x).high, PreciseExp(x).exponent), std::exp(x),
                1e-15 * std::exp(x));
    EXPECT_NEAR(std::ldexp(PreciseErf(x).high, PreciseErf(x).exponent), std::erf(x), 1e-15);
    // Its square and low parts leave no more than their product.
    const Precise root = PreciseRsqrt(x);
    const double high = std::ldexp(root.high, root.exponent);
    EXPECT_NEAR(high * high * x, 1, 1e-15);
    EXPECT_LE(std::fabs(root.low), 0x1p-53 * std::fabs(root.high));
  }
  EXPECT_EQ(UlpsFrom(1, {1, 0, 0}), 0);
  EXPECT_EQ(UlpsFrom(1 + 0x1p-52, {1, 0, 0}), 1);
  EXPECT_EQ(UlpsFrom(0x1p-1074, {0.75, 0, -1074}), 0.25);
  EXPECT_EQ(UlpsFrom(kInfinity, {1, 0, 1024}), 0);
  EXPECT_EQ(UlpsFrom(kInfinity, {1, 0, 1000}), kInfinity);
}

}  // namespace
}  // namespace assay
