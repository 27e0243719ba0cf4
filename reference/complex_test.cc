// Complex numbers in the oracle: moves carry both parts' bounds, arithmetic is that of the parts,
// functions are held against their definition in twice the precision.
#include <gtest/gtest.h>

#include <complex>

#include "absl/strings/str_format.h"
#include "reference/testing/expectation_test.h"

namespace assay::reference {
namespace {

class ComplexTest : public ExpectationTest {
 protected:
  Judgement JudgementOn(const std::string& result, const Profile& profile = Profile::Strict()) {
    return ExpectationTest::JudgementOn(result, profile);
  }
};

TEST_F(ComplexTest, PartsAreJudgedOneByOne) {
  Load(R"(  a = c64[2] constant({(1, 2), (3, -0)})
            b = c64[2] constant({(10, 20), (0, 0)})
            ROOT r = c64[2] add(a, b)
)");
  EXPECT_EQ(JudgementOn("{(11, 22), (3, 0)}").verdict, Verdict::kPass);
  EXPECT_EQ(JudgementOn("{(11, 22), (3, 0)}").forced, 2);
  EXPECT_EQ(JudgementOn("{(11, 22.000002), (3, 0)}").verdict, Verdict::kFail);
  EXPECT_EQ(JudgementOn("{(11.000001, 22), (3, 0)}").failed, 1);
  EXPECT_EQ(JudgementOn("{(11, 22), (3, -0)}").first.element, 1);
}

TEST_F(ComplexTest, MovesCarryTheBoundsOfBothParts) {
  // The exponentials have bounds; each must arrive at its place.
  Load(R"(  a = c64[3] constant({(1, 2), (0.5, -1), (-20, 3)})
            e = c64[3] exponential(a)
            v = c64[3] reverse(e), dimensions={0}
            w = c64[1,3] reshape(v)
            u = c64[3] reshape(w)
            x = c64[2,3] broadcast(u), dimensions={1}
            y = c64[2,2] slice(x), slice={[0:2], [1:3]}
            p = pred[] constant(true)
            z = c64[2,2] select(p, y, y)
            c = c64[2,1] slice(x), slice={[0:2], [0:1]}
            d = c64[2,3] concatenate(z, c), dimensions={1}
            ROOT t = c64[3,2] transpose(d), dimensions={1,0}
)");
  const ArrayExpectation leaf = Expect(Profile::Strict()).leaves[0];
  ASSERT_EQ(leaf.bounds.size(), 12u);
  const std::complex<double> kPoints[] = {{1, 2}, {0.5, -1}, {-20, 3}};
  constexpr int kOrder[] = {1, 0, 2};  // of the reversed points after slice and concatenate
  for (int64_t i = 0; i < 6; ++i) {
    const std::complex<double> want = std::exp(kPoints[kOrder[i / 2]]);
    EXPECT_NEAR(leaf.bounds[2 * i].centre, want.real(), 1e-12 * std::abs(want));
    EXPECT_NEAR(leaf.bounds[2 * i + 1].centre, want.imag(), 1e-12 * std::abs(want));
    EXPECT_GT(leaf.bounds[2 * i].radius, 0);
    EXPECT_LT(leaf.bounds[2 * i].radius, 1e-5 * std::abs(want));
  }
}

TEST_F(ComplexTest, UndecidedPredicatesGiveTheHullOfBothArms) {
  Load(R"(  x = f32[] constant(0.1)
            e = f32[] exponential(x)
            t = f32[] constant(1.1051709)
            p = pred[] compare(e, t), direction=LT
            a = c64[] constant((1, 2))
            b = c64[] constant((1.0000001, 2))
            ROOT r = c64[] select(p, a, b)
)");
  EXPECT_NE(JudgementOn("(1, 2)").verdict, Verdict::kFail);
  EXPECT_NE(JudgementOn("(1.0000001, 2)").verdict, Verdict::kFail);
  EXPECT_EQ(JudgementOn("(1, 2.0000002)").verdict, Verdict::kFail);
}

TEST_F(ComplexTest, MultiplyRoundsEveryProductAndSum) {
  // (1 + 2^-12)^2 rounds in f32, and the product of the imaginary parts is taken off it.
  Load(R"(  a = c64[] constant((1.000244140625, 1))
            b = c64[] constant((1.000244140625, 1.00048828125))
            ROOT r = c64[] multiply(a, b)
)");
  EXPECT_EQ(JudgementOn("(0, 2.0009766)").verdict, Verdict::kPass);
  EXPECT_EQ(JudgementOn("(0, 2.000977)").verdict, Verdict::kFail);
  EXPECT_EQ(JudgementOn("(5.9604644775390625e-08, 2.0009766)").verdict, Verdict::kFail);
  const Expectation strict = Expect(Profile::Strict());
  EXPECT_EQ(strict.leaves[0].plain.GetComponent(0), 0);
  EXPECT_TRUE(strict.leaves[0].AllForced());
  // Contraction keeps the product's last bits.
  EXPECT_NE(JudgementOn("(5.9604644775390625e-08, 2.0009766)", Profile::Xla()).verdict,
            Verdict::kFail);
}

TEST_F(ComplexTest, ComparesBothParts) {
  Load(R"(  a = c64[4] constant({(1, 2), (1, 3), (nan, 0), (0, -0)})
            b = c64[4] constant({(1, 2), (1, 2), (nan, 0), (-0, 0)})
            e = pred[4] compare(a, b), direction=EQ
            n = pred[4] compare(a, b), direction=NE
            ROOT t = (pred[4], pred[4]) tuple(e, n)
)");
  absl::StatusOr<Literal> got = MakeOracle()->Evaluate(*module_, {}, Limits{});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->ToString(), "( {1, 0, 0, 1}, {0, 1, 1, 0} )");
}

TEST_F(ComplexTest, ConvertsTheRealPart) {
  Load(R"(  a = c128[3] constant({(1.5, 7), (-2.75, nan), (300, 1)})
            b = s8[3] convert(a)
            c = c64[3] convert(a)
            d = c64[3] convert(b)
            i = c64[3] iota(), iota_dimension=0
            ROOT t = (s8[3], c64[3], c64[3], c64[3]) tuple(b, c, d, i)
)");
  absl::StatusOr<Literal> got = MakeOracle()->Evaluate(*module_, {}, Limits{});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->elements()[0].ToString(), "{1, -2, 127}");
  EXPECT_EQ(got->elements()[1].ToString(), "{(1.5, 7), (-2.75, nan), (300, 1)}");
  EXPECT_EQ(got->elements()[2].ToString(), "{(1, 0), (-2, 0), (127, 0)}");
  EXPECT_EQ(got->elements()[3].ToString(), "{(0, 0), (1, 0), (2, 0)}");
}

// A function of z = x + y i with the values to expect, by their definitions.
using Function = std::complex<long double> (*)(std::complex<long double>);
struct FunctionCase {
  const char* name;
  Function value;
};
using Z = std::complex<long double>;

class ComplexFunctionTest : public testing::TestWithParam<FunctionCase> {};

// Grid of moderate numbers in all quadrants, on the axes and beside the cuts; c64 through the
// compiler's precision, so that the truth is 40 bits better.
TEST_P(ComplexFunctionTest, LiesInItsBoundAndNowhereElse) {
  const long double kParts[] = {-7.5L, -2.25L, -1,   -0.40625L, -0x1p-12L, 0x1p-20L,
                                0.25L, 1,      1.5L, 3,         12.75L};
  std::string values;
  std::vector<Z> points;
  for (long double x : kParts)
    for (long double y : kParts) {
      points.emplace_back(x, y);
      absl::StrAppendFormat(&values, "%s(%.17g, %.17g)", values.empty() ? "" : ", ",
                            static_cast<double>(x), static_cast<double>(y));
    }
  for (const std::string type : {"c64", "c128"}) {
    absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(
        StrCat("HloModule m\nENTRY main {\n a = ", type, "[", points.size(), "] constant({", values,
               "})\n ROOT r = ", type, "[", points.size(), "] ", GetParam().name, "(a)\n}\n"));
    ASSERT_TRUE(module.ok()) << module.status().message();
    absl::StatusOr<Expectation> expectation =
        MakeOracle()->Expect(**module, {}, Profile::Strict(), Limits{});
    ASSERT_TRUE(expectation.ok()) << expectation.status();
    const ArrayExpectation& leaf = expectation->leaves[0];
    ASSERT_FALSE(leaf.bounds.empty());
    Literal truth = leaf.plain, wrong = leaf.plain;
    const double eps = type == "c64" ? 0x1p-23 : 0x1p-52;
    int undecided = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      const Z want = GetParam().value(points[i]);
      const int64_t k = static_cast<int64_t>(i);
      if (type == "c64") {
        truth.data<std::complex<float>>()[i] = std::complex<float>(want);
        wrong.data<std::complex<float>>()[i] = std::complex<float>(want * Z(1, 0x1p-12L));
      } else {
        truth.data<std::complex<double>>()[i] = std::complex<double>(want);
        wrong.data<std::complex<double>>()[i] = std::complex<double>(want * Z(1, 0x1p-40L));
      }
      if ((leaf.bounds[2 * k].flags & kUndecided) != 0) ++undecided;
      // The oracle's own value is right to half a unit of the modulus or so.
      const Z got(leaf.plain.GetComponent(2 * k), leaf.plain.GetComponent(2 * k + 1));
      if (std::abs(want) < 1e30L) {
        EXPECT_LE(std::abs(got - want), 0.8L * eps * std::abs(want))
            << GetParam().name << " " << points[i];
      }
    }
    EXPECT_EQ(Judge(*expectation, truth).verdict,
              undecided > 0 ? Verdict::kInconclusive : Verdict::kPass)
        << DescribeFailure(*expectation, truth, Judge(*expectation, truth));
    EXPECT_LE(undecided, 2);
    const Judgement judgement = Judge(*expectation, wrong);
    EXPECT_GE(judgement.failed, static_cast<int64_t>(points.size()) * 9 / 10) << GetParam().name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Functions, ComplexFunctionTest,
    testing::Values(
        FunctionCase{"exponential", [](Z z) { return std::polar(std::exp(z.real()), z.imag()); }},
        FunctionCase{"log",
                     [](Z z) {
                       return Z(std::log(std::hypot(z.real(), z.imag())),
                                std::atan2(z.imag(), z.real()));
                     }},
        FunctionCase{"sqrt",
                     [](Z z) { return std::polar(std::sqrt(std::abs(z)), std::arg(z) / 2); }},
        FunctionCase{"rsqrt",
                     [](Z z) { return std::polar(1 / std::sqrt(std::abs(z)), -std::arg(z) / 2); }},
        FunctionCase{"cbrt",
                     [](Z z) { return std::polar(std::cbrt(std::abs(z)), std::arg(z) / 3); }},
        FunctionCase{"sine", [](Z z) { return std::sin(z); }},
        FunctionCase{"cosine", [](Z z) { return std::cos(z); }},
        FunctionCase{"tan", [](Z z) { return std::sin(z) / std::cos(z); }},
        FunctionCase{"tanh", [](Z z) { return std::sinh(z) / std::cosh(z); }},
        FunctionCase{"logistic", [](Z z) { return 1.0L / (1.0L + std::exp(-z)); }},
        FunctionCase{"sign", [](Z z) { return z / std::abs(z); }}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace assay::reference
