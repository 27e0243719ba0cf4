// Functions that compiled code calls, against the C library's in 80 bits: arc and hyperbolic ones,
// angles of any size, and those of complex numbers, whose errors count relative to the modulus.
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "optimized/runtime/symbols.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

template <typename F>
F* FunctionNamed(std::string_view name) {
  for (const RuntimeSymbol& symbol : RuntimeSymbols()) {
    if (symbol.name == name) return reinterpret_cast<F*>(symbol.address);
  }
  ADD_FAILURE() << "there is no " << name;
  return nullptr;
}

double Between(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * std::ldexp(static_cast<double>(random() >> 11), -53);
}

double UlpsOff(double value, long double truth) {
  const auto nearest = static_cast<double>(truth);
  if (value == nearest || (std::isnan(value) && std::isnan(nearest))) return 0;
  int exponent = 0;
  std::frexp(nearest, &exponent);
  return static_cast<double>(std::fabs(value - truth) / std::ldexp(1.0L, exponent - 53));
}

struct RealCase {
  const char* name;
  long double (*truth)(long double);
  double low, high;
};

TEST(Functions, OfRealNumbersKeepWithinThreeUlps) {
  const RealCase cases[] = {
      {"acos", acosl, -1, 1},     {"acosh", acoshl, 1, 3},    {"acosh", acoshl, 1, 1e300},
      {"asin", asinl, -1, 1},     {"asinh", asinhl, -3, 3},   {"asinh", asinhl, -1e300, 1e300},
      {"atanh", atanhl, -1, 1},   {"cbrt", cbrtl, -1e5, 1e5}, {"cosh", coshl, -710, 710},
      {"sinh", sinhl, -710, 710}, {"sinh", sinhl, -0.5, 0.5}, {"tan", tanl, -1e9, 1e9}};
  std::mt19937_64 random(1);
  for (const RealCase& each : cases) {
    auto* function = FunctionNamed<double(double)>(StrCat("assay_", each.name));
    ASSERT_NE(function, nullptr);
    for (int k = 0; k < 3000; ++k) {
      const double x = Between(random, each.low, each.high);
      EXPECT_LT(UlpsOff(function(x), each.truth(x)), 3) << each.name << " of " << x;
    }
    EXPECT_TRUE(std::isnan(function(std::nan("")))) << each.name;
  }
}

TEST(Functions, OfHugeAnglesKeepWithinOneUlp) {
  const RealCase cases[] = {{"sin", sinl, 0, 0}, {"cos", cosl, 0, 0}, {"tan", tanl, 0, 0}};
  std::mt19937_64 random(2);
  for (const RealCase& each : cases) {
    auto* function = FunctionNamed<void(double*, int64_t)>(StrCat("assay_lanes_far_", each.name));
    ASSERT_NE(function, nullptr);
    for (int k = 0; k < 4000; ++k) {
      // Takes any exponent, and the one that comes closest to a multiple of pi / 2.
      double x = k == 0 ? std::ldexp(6381956970095103.0, 797)
                        : std::ldexp(Between(random, 1, 2), 30 + static_cast<int>(random() % 990));
      if (random() % 2 == 0) x = -x;
      double value = x;
      function(&value, 1);
      EXPECT_LT(UlpsOff(value, each.truth(x)), 1) << each.name << " of " << x;
    }
    double infinite = INFINITY;
    function(&infinite, 1);
    EXPECT_TRUE(std::isnan(infinite));
  }
}

using Wide = std::complex<long double>;
struct Parts {
  double re, im;
};
struct ComplexCase {
  const char* name;
  Wide (*truth)(const Wide&);
};

TEST(Functions, OfComplexNumbersAreRoundedOnce) {
  const ComplexCase cases[] = {{"exponential", std::exp},
                               {"log", std::log},
                               {"sqrt", std::sqrt},
                               {"sine", std::sin},
                               {"cosine", std::cos},
                               {"tan", std::tan},
                               {"tanh", std::tanh},
                               {"sinh", std::sinh},
                               {"cosh", std::cosh},
                               {"asin", [](const Wide& z) { return std::asin(z); }},
                               {"acos", [](const Wide& z) { return std::acos(z); }},
                               {"asinh", [](const Wide& z) { return std::asinh(z); }},
                               {"acosh", [](const Wide& z) { return std::acosh(z); }},
                               {"atanh", [](const Wide& z) { return std::atanh(z); }},
                               {"rsqrt", [](const Wide& z) { return 1.0L / std::sqrt(z); }},
                               {"sign", [](const Wide& z) { return z / std::abs(z); }}};
  std::mt19937_64 random(3);
  for (const ComplexCase& each : cases) {
    for (const auto& [type, unit] : {std::pair("_c64", 0x1p-24), {"_c128", 0x1p-53}}) {
      auto* function =
          FunctionNamed<Parts(double, double)>(StrCat("assay_complex_", each.name, type));
      ASSERT_NE(function, nullptr);
      for (int k = 0; k < 1000; ++k) {
        const double size = std::ldexp(1.0, static_cast<int>(random() % 40) - 33);
        const double a = Between(random, -size, size), b = Between(random, -2, 2);
        const Parts got = function(a, b);
        const Wide truth = each.truth(Wide(a, b));
        const auto off =
            static_cast<double>(std::abs(Wide(got.re, got.im) - truth) / std::abs(truth));
        EXPECT_LT(off, 1.1 * unit) << each.name << type << " of " << a << ", " << b;
      }
    }
  }
}

// Squares of such numbers, or of what they are off one, are infinite or zero.
TEST(Functions, OfComplexNumbersWithoutSquaresAreRight) {
  const ComplexCase cases[] = {{"asin", [](const Wide& z) { return std::asin(z); }},
                               {"acos", [](const Wide& z) { return std::acos(z); }},
                               {"asinh", [](const Wide& z) { return std::asinh(z); }},
                               {"acosh", [](const Wide& z) { return std::acosh(z); }},
                               {"atanh", [](const Wide& z) { return std::atanh(z); }}};
  const double large = std::numeric_limits<double>::max();
  const std::pair<double, double> arguments[] = {
      {large, large},       {-large, 1},    {0.5, -large},  {large, 0x1p-1040},
      {0x1p900, -0x1p1000}, {1, 0x1p-1040}, {-1, -0x1p-600}};
  for (const ComplexCase& each : cases) {
    auto* function =
        FunctionNamed<Parts(double, double)>(StrCat("assay_complex_", each.name, "_c128"));
    for (const auto& [a, b] : arguments) {
      const Parts got = function(a, b);
      const Wide truth = each.truth(Wide(a, b));
      EXPECT_LT(std::abs(Wide(got.re, got.im) - truth) / std::abs(truth), 0x1p-52)
          << each.name << " of " << a << ", " << b << ": " << got.re << ", " << got.im;
    }
  }
}

}  // namespace
}  // namespace assay
