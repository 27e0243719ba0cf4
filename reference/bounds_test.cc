// Each clause of a profile lets some answers pass and others not; undecided values; limits.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "reference/bounds/partial_sums.h"
#include "reference/testing/expectation_test.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

constexpr const char* kAdd =
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n";

class BoundsTest : public ExpectationTest {
 protected:
  Verdict VerdictOn(const std::string& result, const Profile& profile = Profile::Xla()) {
    return JudgementOn(result, profile).verdict;
  }

  // The sum of `values`, a list of `count` f32 constants.
  void LoadSum(int64_t count, const std::string& values) {
    Load(StrCat("  x = f32[", count, "] constant(", values, R"()
            zero = f32[] constant(0)
            ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=add
)"),
         kAdd);
  }

  // Loads a program with a predicate p that nobody decides: exp(1) is somewhere within some ulps,
  // and so is the comparison with it. `rest` are the lines that use p.
  void LoadUndecided(const std::string& rest, const std::string& computations = "") {
    Load(StrCat(R"(  one = f32[] constant(1)
            e = f32[] exponential(one)
            c = f32[] constant(2.71828175)
            p = pred[] compare(e, c), direction=GT
)",
                rest),
         computations);
  }

  ErrorClass ErrorWith(const Limits& limits) {
    absl::StatusOr<Literal> value = MakeOracle()->Evaluate(*module_, {}, limits);
    EXPECT_FALSE(value.ok());
    EXPECT_EQ(MakeOracle()->Expect(*module_, {}, Profile::Xla(), limits).status().code(),
              value.status().code());
    return ClassOf(value.status());
  }
};

TEST_F(BoundsTest, ContractionOfAProductIntoASubtraction) {
  // (1 + 2^-12)^2 is 1 + 2^-11 + 2^-24; f32 drops the last term.
  Load(R"(  a = f32[] constant(1.000244140625)
            p = f32[] multiply(a, a)
            c = f32[] constant(1.00048828125)
            ROOT r = f32[] subtract(p, c)
)");
  EXPECT_EQ(VerdictOn("0", Profile::Strict()), Verdict::kPass);
  EXPECT_EQ(VerdictOn("5.9604644775390625e-08", Profile::Strict()), Verdict::kFail);
  EXPECT_NE(VerdictOn("0"), Verdict::kFail);
  EXPECT_NE(VerdictOn("5.9604644775390625e-08"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("1.2e-07"), Verdict::kFail);
}

TEST_F(BoundsTest, AProductThatIsAnOutputIsRounded) {
  Load(R"(  a = f32[] constant(1.000244140625)
            n = f32[] negate(a)
            ROOT r = f32[] multiply(a, n)
)");
  EXPECT_EQ(VerdictOn("-1.00048828125"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("-1.0004884"), Verdict::kFail);
}

TEST_F(BoundsTest, ContractionThroughMovesAndPowersOfTwo) {
  Load(R"(  a = f32[1] constant({1.000244140625})
            p = f32[1] multiply(a, a)
            two = f32[1] constant({2})
            d = f32[1] multiply(p, two)
            v = f32[1] reverse(d), dimensions={0}
            n = f32[1] negate(v)
            c = f32[1] constant({2.0009765625})
            ROOT r = f32[1] add(n, c)
)");
  EXPECT_NE(VerdictOn("{-1.1920928955078125e-07}"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("{-1.1920928955078125e-07}", Profile::Strict()), Verdict::kFail);
}

TEST_F(BoundsTest, ExcessPrecisionOfNarrowTypes) {
  Load(R"(  a = f32[] constant(1.001)
            n = bf16[] convert(a)
            ROOT r = f32[] convert(n)
)");
  EXPECT_EQ(VerdictOn("1"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("1.001"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("1.003"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("1.001", Profile::Strict()), Verdict::kFail);
}

TEST_F(BoundsTest, ANarrowOutputIsRoundedAllTheSame) {
  Load(R"(  a = f32[] constant(1.001)
            ROOT n = bf16[] convert(a)
)");
  EXPECT_EQ(VerdictOn("1"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("1.0078125"), Verdict::kFail);
}

TEST_F(BoundsTest, ReciprocalOfAConstantDivisor) {
  Load(R"(  a = f32[1] parameter(0)
            c = f32[] constant(3)
            b = f32[1] broadcast(c), dimensions={}
            ROOT r = f32[1] divide(a, b)
)");
  // 5 * fl(1/3) is 1.6666667461..., one unit above the quotient 1.66666662693.
  Literal five(Shape::Array(ElementType::kF32, {1}));
  five.data<float>()[0] = 5;
  Literal got = five;
  got.data<float>()[0] = 5 * (1.0f / 3.0f);
  for (const Profile* profile : {&Profile::Strict(), &Profile::Xla()}) {
    absl::StatusOr<Expectation> expectation =
        MakeOracle()->Expect(*module_, {&five}, *profile, Limits{});
    ASSERT_TRUE(expectation.ok()) << expectation.status();
    const bool exact = got.data<float>()[0] == 5.0f / 3.0f;
    EXPECT_FALSE(exact);
    EXPECT_EQ(Judge(*expectation, got).verdict, profile->IsXla() ? Verdict::kPass : Verdict::kFail);
  }
}

TEST_F(BoundsTest, FlushedSubnormals) {
  Load(R"(  a = f32[] constant(9.183549615799121e-41)
            ROOT r = f32[] add(a, a)
)");
  EXPECT_NE(VerdictOn("1.8367099231598242e-40"), Verdict::kFail);
  EXPECT_NE(VerdictOn("0"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("3e-40"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("0", Profile::Strict()), Verdict::kFail);
}

TEST_F(BoundsTest, SumsOfSmallIntegersAreForced) {
  LoadSum(4, "{1, 2, 3, 4}");
  EXPECT_TRUE(Expect(Profile::Xla()).leaves[0].AllForced());
  EXPECT_EQ(VerdictOn("10"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("10.000001"), Verdict::kFail);
}

TEST_F(BoundsTest, SumsInAnyOrder) {
  LoadSum(3, "{1, 1e8, -1e8}");
  EXPECT_NE(VerdictOn("0"), Verdict::kFail);
  EXPECT_NE(VerdictOn("1"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("100"), Verdict::kFail);
}

// The sums of random numbers over random trees, rounded to bf16 at every node, and how far the
// worst of them is from the exact sum, in parts of what is allowed.
double WorstOfRandomTrees(std::mt19937_64& random, size_t count, double scale_spread) {
  const FloatFormat& format = Format(ElementType::kBF16);
  auto rounded = [&](double x) { return DecodeFloat(format, EncodeFloat(format, x)); };
  std::normal_distribution<double> normal;
  std::vector<double> terms;
  PartialSums sums;
  for (size_t k = 0; k < count; ++k) {
    terms.push_back(rounded(normal(random) * std::exp(scale_spread * normal(random))));
    sums.Add(terms.back(), terms.back());
  }
  const double exact = std::accumulate(terms.begin(), terms.end(), 0.0);
  const double allowed = sums.LargestError(std::fabs(exact), {8, -126});
  double worst = 0;
  for (int tree = 0; tree < 40; ++tree) {
    std::vector<double> nodes = terms;
    // Orders that make partial sums large: rising numbers, one after the other.
    if (tree % 4 == 0) std::sort(nodes.begin(), nodes.end());
    while (nodes.size() > 1) {
      const size_t a = tree % 2 == 0 ? nodes.size() - 1 : random() % nodes.size();
      const double first = nodes[a];
      nodes.erase(nodes.begin() + static_cast<int64_t>(a));
      const size_t b = tree % 2 == 0 ? nodes.size() - 1 : random() % nodes.size();
      nodes[b] = rounded(nodes[b] + first);
    }
    worst = std::max(worst, std::fabs(nodes[0] - exact));
  }
  return worst / allowed;
}

TEST(PartialSums, HoldTheErrorsOfEveryOrder) {
  std::mt19937_64 random(7);
  double closest = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const double used = WorstOfRandomTrees(random, 2 + random() % 60, trial % 3);
    ASSERT_LE(used, 1) << "trial " << trial;
    closest = std::max(closest, used);
  }
  EXPECT_GT(closest, 0.5);  // of two terms
}

TEST(PartialSums, KnowFewAndManyTerms) {
  PartialSums sums;
  EXPECT_EQ(sums.LargestError(0, {8, -126}), 0);
  sums.Add(3, 3);
  EXPECT_EQ(sums.LargestError(3, {8, -126}), 0);
  // The last of 8 bits of 3 + 2 is 2^-5, and half of that is lost at most.
  sums.Add(2, 2);
  EXPECT_NEAR(sums.LargestError(5, {8, -126}), std::exp2(-6), std::exp2(-16));
  // 3 - 2 loses at most as much as 3 does.
  PartialSums difference;
  difference.Add(3, 3);
  difference.Add(-2, -2);
  EXPECT_LE(difference.LargestError(1, {8, -126}), std::exp2(-7) * 1.01);
  for (int64_t k = 0; k < PartialSums::kMostTerms; ++k) sums.Add(1, 1);
  EXPECT_TRUE(std::isinf(sums.LargestError(1e4, {8, -126})));
}

TEST_F(BoundsTest, PartialSumsMayOverflow) {
  LoadSum(3, "{3e38, 3e38, -3e38}");
  EXPECT_NE(VerdictOn("3e38"), Verdict::kFail);
  EXPECT_NE(VerdictOn("inf"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("-inf"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("nan"), Verdict::kFail);
}

TEST_F(BoundsTest, AnUndecidedPredicateGivesBothArms) {
  LoadUndecided(R"(  a = s32[] constant(5)
            b = s32[] constant(9)
            ROOT r = s32[] select(p, a, b)
)");
  EXPECT_EQ(VerdictOn("5"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("9"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("7"), Verdict::kFail);
}

TEST_F(BoundsTest, AnUndecidedStartGivesEveryPosition) {
  LoadUndecided(R"(  i = s32[] convert(p)
            x = s32[4] constant({10, 20, 30, 40})
            ROOT r = s32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
)");
  EXPECT_EQ(VerdictOn("{10}"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("{20}"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("{30}"), Verdict::kFail);
}

TEST_F(BoundsTest, AnUndecidedUpdatePositionTouchesOnlyItsCandidates) {
  LoadUndecided(R"(  i = s32[] convert(p)
            x = s32[4] constant({10, 20, 30, 40})
            u = s32[1] constant({7})
            ROOT r = s32[4] dynamic-update-slice(x, u, i)
)");
  EXPECT_EQ(VerdictOn("{7, 20, 30, 40}"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("{10, 7, 30, 40}"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("{10, 20, 7, 40}"), Verdict::kFail);
}

TEST_F(BoundsTest, AnUndecidedBranchIsTheHullOfBoth) {
  LoadUndecided(R"(  x = s32[] constant(4)
            ROOT r = s32[] conditional(p, x, x), true_computation=t, false_computation=f
)",
                "t { x = s32[] parameter(0) ROOT r = s32[] negate(x) }\n"
                "f { x = s32[] parameter(0) ROOT r = s32[] add(x, x) }\n");
  EXPECT_EQ(VerdictOn("-4"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("8"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("4"), Verdict::kFail);
}

// exp(1) is 2.71828174 or 2.71828198, among others: some go on, some do not.
constexpr char kMayGoOn[] =
    "c { x = f32[] parameter(0) l = f32[] constant(2.71828175) "
    "ROOT p = pred[] compare(x, l), direction=LT }\n";

TEST_F(BoundsTest, AnUnclearLoopIsTheHullOfItsEnds) {
  Load(R"(  one = f32[] constant(1)
            ROOT r = f32[] while(one), condition=c, body=b
)",
       StrCat(kMayGoOn, "b { x = f32[] parameter(0) ROOT r = f32[] exponential(x) }\n"));
  EXPECT_EQ(VerdictOn("2.7182817"), Verdict::kInconclusive);
  EXPECT_EQ(VerdictOn("15.154262"), Verdict::kInconclusive);
  EXPECT_EQ(VerdictOn("1"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("16"), Verdict::kFail);
}

TEST_F(BoundsTest, AnUnclearLoopWithNearEndsConvicts) {
  Load(R"(  one = f32[] constant(1)
            e = f32[] exponential(one)
            ROOT r = f32[] while(e), condition=c, body=b
)",
       StrCat(kMayGoOn,
              "b { x = f32[] parameter(0) s = f32[] constant(1e-5) ROOT r = f32[] add(x, s) }\n"));
  EXPECT_EQ(VerdictOn("2.7182817"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("2.7182917"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("2.7184"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("2.7181"), Verdict::kFail);
}

// Both ends of a loop that may run 1,000 times more: what the trips leave alone stays known.
TEST_F(BoundsTest, ALongUnclearLoopKeepsWhatItDoesNotChange) {
  const std::string computations =
      "c { s = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 "
      "x = f32[] get-tuple-element(s), index=1 l = f32[] constant(2.71828175) "
      "n = s32[] constant(1000) m = pred[] compare(i, n), direction=LT "
      "p = pred[] compare(x, l), direction=LT ROOT r = pred[] and(p, m) }\n"
      "b { s = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 "
      "x = f32[] get-tuple-element(s), index=1 u = s32[] constant(1) j = s32[] add(i, u) "
      "ROOT r = (s32[], f32[]) tuple(j, x) }\n";
  for (const bool counter : {false, true}) {
    Load(StrCat(R"(  one = f32[] constant(1)
            zero = s32[] constant(0)
            e = f32[] exponential(one)
            t = (s32[], f32[]) tuple(zero, e)
            w = (s32[], f32[]) while(t), condition=c, body=b
            ROOT r = )",
                counter ? "s32[] get-tuple-element(w), index=0\n"
                        : "f32[] get-tuple-element(w), index=1\n"),
         computations);
    if (counter) {
      EXPECT_EQ(VerdictOn("0"), Verdict::kInconclusive);
      EXPECT_EQ(VerdictOn("1000"), Verdict::kInconclusive);
    } else {
      EXPECT_EQ(VerdictOn("2.7182817"), Verdict::kPass);
      EXPECT_EQ(VerdictOn("2.7183"), Verdict::kFail);
    }
  }
}

// The orders of a log-sum-exp agree on one real number within their bounds.
TEST_F(BoundsTest, OrdersOfACombinerThatAgreeOnTheRealNumberAreTheirHull) {
  Load(R"(  x = f32[5] constant({0.5, 1, 2, -1, 0.25})
            low = f32[] constant(-inf)
            ROOT r = f32[] reduce(x, low), dimensions={0}, to_apply=lse
)",
       "lse { a = f32[] parameter(0) b = f32[] parameter(1) m = f32[] maximum(a, b) "
       "n = f32[] minimum(a, b) d = f32[] subtract(n, m) e = f32[] exponential(d) "
       "l = f32[] log-plus-one(e) ROOT s = f32[] add(m, l) }\n");
  EXPECT_EQ(VerdictOn("2.5958495"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("2.596"), Verdict::kFail);
}

// Operand semantics 1.4 and the flush clause: a subnormal exponent may be zero, and a subnormal
// base zero or a number below all others.
TEST_F(BoundsTest, PowersOfFlushedOperandsAreFewSets) {
  Load(
      "  x = f32[4] constant({nan, 0, 1e-40, -1e-40})\n"
      "  y = f32[4] constant({1e-40, 1e-40, 0.5, 0.5})\n"
      "  ROOT p = f32[4] power(x, y)\n");
  EXPECT_EQ(VerdictOn("{nan, 0, 9.999973e-21, nan}"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("{1, 1, 0, 0}"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("{1, 1, 2.6469780e-23, nan}"), Verdict::kPass);  // as XLA:CPU has it
  EXPECT_EQ(VerdictOn("{0, 1, 0, 0}"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("{1, 0.5, 0, 0}"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("{1, 1, 1e-19, 0}"), Verdict::kFail);
  EXPECT_EQ(VerdictOn("{1, 1, 0, 1}"), Verdict::kFail);
}

// The square of an interval about zero is not negative, so that its root is a number.
TEST_F(BoundsTest, ASquareIsNotNegative) {
  Load(R"(  x = f32[2] constant({1, 2})
            e = f32[2] exponential(x)
            l = f32[2] log(e)
            d = f32[2] subtract(l, x)
            s = f32[2] multiply(d, d)
            q = f32[2] sqrt(s)
            ROOT r = f32[2] add(q, x)
)");
  EXPECT_EQ(VerdictOn("{1, 2}"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("{nan, 2}"), Verdict::kFail);
}

TEST_F(BoundsTest, ACombinerThatIsNotAssociativeIsUndecided) {
  Load(R"(  x = s32[3] constant({1, 2, 4})
            zero = s32[] constant(0)
            ROOT r = s32[] reduce(x, zero), dimensions={0}, to_apply=sub
)",
       "sub { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] subtract(a, b) }\n");
  EXPECT_EQ(VerdictOn("-7"), Verdict::kInconclusive);
}

TEST_F(BoundsTest, AFloorInsideTheRadiusIsASmallSet) {
  Load(R"(  x = f32[] constant(1.0986123)
            e = f32[] exponential(x)
            ROOT r = s32[] convert(e)
)");
  EXPECT_EQ(VerdictOn("2"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("3"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("4"), Verdict::kFail);
}

TEST_F(BoundsTest, DescribesWhatIsAllowed) {
  Load(R"(  one = f32[] constant(1)
            ROOT e = f32[] exponential(one)
)");
  const Expectation expectation = Expect(Profile::Xla());
  EXPECT_NE(DescribeAllowed(expectation.leaves[0], 0).find("centre 2.71828"), std::string::npos);
  const Literal wrong = Literal::Scalar(ElementType::kF32, 3.0f);
  const Judgement judgement = Judge(expectation, wrong);
  const std::string text = DescribeFailure(expectation, wrong, judgement);
  EXPECT_NE(text.find("got      3"), std::string::npos) << text;
  EXPECT_NE(text.find("ulp"), std::string::npos) << text;
}

TEST_F(BoundsTest, WrongShapesFail) {
  Load("  ROOT r = s32[2] constant({1, 2})\n");
  const Judgement judgement =
      Judge(Expect(Profile::Xla()), Literal(Shape::Array(ElementType::kS32, {3})));
  EXPECT_EQ(judgement.verdict, Verdict::kFail);
  EXPECT_NE(judgement.reason.find("s32[3]"), std::string::npos);
}

TEST_F(BoundsTest, AnEndlessLoopRunsOutOfSteps) {
  Load(R"(  one = s32[] constant(1)
            ROOT r = s32[] while(one), condition=c, body=b
)",
       "c { x = s32[] parameter(0) ROOT p = pred[] constant(true) }\n"
       "b { ROOT x = s32[] parameter(0) }\n");
  Limits limits;
  limits.steps = 10000;
  EXPECT_EQ(ErrorWith(limits), ErrorClass::kTimeout);
  limits = Limits{};
  limits.seconds = 0.05;
  EXPECT_EQ(ErrorWith(limits), ErrorClass::kTimeout);
}

TEST_F(BoundsTest, CallsThatDoubleRunOutOfTime) {
  std::string callees = "f0 { ROOT x = f32[] parameter(0) }\n";
  for (int i = 1; i <= 60; ++i) {
    StrAppend(&callees, "f", i, " { x = f32[] parameter(0)\n a = f32[] call(x), to_apply=f", i - 1,
              "\n ROOT r = f32[] call(a), to_apply=f", i - 1, " }\n");
  }
  Load("  one = f32[] constant(1)\n  ROOT r = f32[] call(one), to_apply=f60\n", callees);
  Limits limits;
  limits.seconds = 0.05;
  EXPECT_EQ(ErrorWith(limits), ErrorClass::kTimeout);
  limits = Limits{};
  limits.steps = 10000;
  EXPECT_EQ(ErrorWith(limits), ErrorClass::kTimeout);
}

// An op of many seconds looks at the clock while it is at work.
TEST_F(BoundsTest, ALongOpRunsOutOfTime) {
  for (const char* root : {"dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                           "reduce-window(x, zero), window={size=2047x2047 pad=1023_1023x1023_1023}"
                           ", to_apply=add"}) {
    Load(StrCat("  zero = f32[] constant(0)\n"
                "  one = f32[] constant(1)\n"
                "  x = f32[2048,2048] broadcast(one), dimensions={}\n"
                "  ROOT r = f32[2048,2048] ",
                root, "\n"),
         "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n");
    Limits limits;
    limits.steps = int64_t{1} << 50;
    limits.seconds = 0.3;
    EXPECT_EQ(ErrorWith(limits), ErrorClass::kTimeout) << root;
  }
}

// Windows that run have terms in common, which are looked at once.
TEST_F(BoundsTest, RunningSumsEndInTime) {
  for (const char* pad : {"32767_0", "0_32767"}) {
    Load(StrCat("  n = f32[32768] iota(), iota_dimension=0\n"
                "  x = f32[32768] log-plus-one(n)\n"
                "  zero = f32[] constant(0)\n"
                "  ROOT r = f32[32768] reduce-window(x, zero), window={size=32768 pad=",
                pad, "}, to_apply=add\n"),
         "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n");
    Limits limits;
    limits.seconds = 3;
    EXPECT_TRUE(MakeOracle()->Expect(*module_, {}, Profile::Xla(), limits).ok()) << pad;
  }
}

TEST_F(BoundsTest, AHugeValueRunsOutOfMemory) {
  Load(R"(  one = f32[] constant(1)
            ROOT r = f32[100000,100000] broadcast(one), dimensions={}
)");
  EXPECT_EQ(ErrorWith(Limits{}), ErrorClass::kTimeout);  // more elements than the step limit
  Limits limits;
  limits.steps = int64_t{1} << 40;
  EXPECT_EQ(ErrorWith(limits), ErrorClass::kOutOfMemory);
}

// Bits only matter to a total order where values may be equal or NaN.
TEST_F(BoundsTest, TotalOrderOfWhatIsFarApartIsDecided) {
  for (const auto& [limit, verdict] :
       {std::pair("3", Verdict::kFail), std::pair("2.71828175", Verdict::kInconclusive)}) {
    Load(StrCat("  x = f32[] constant(1)\n  e = f32[] exponential(x)\n  c = f32[] constant(", limit,
                ")\n  ROOT r = pred[] compare(e, c), direction=LT, type=TOTALORDER\n"));
    EXPECT_EQ(VerdictOn("false"), verdict) << limit;
  }
  EXPECT_EQ(VerdictOn("true"), Verdict::kInconclusive);
}

// One of the two factors of the product is uncertain; its rounding is allowed for.
TEST_F(BoundsTest, ProductsOfComplexNumbersAreBounded) {
  Load(R"(  x = c64[2] constant({(1, 0), (3, 1)})
            e = c64[2] exponential(x)
            one = c64[] constant((1, 0))
            ROOT r = c64[] reduce(e, one), dimensions={0}, to_apply=times
)",
       "times { a = c64[] parameter(0) b = c64[] parameter(1) ROOT s = c64[] multiply(a, b) }\n");
  EXPECT_EQ(VerdictOn("(29.4995064, 45.9427605)"), Verdict::kPass);
  EXPECT_EQ(VerdictOn("(29.4995064, 45.95)"), Verdict::kFail);
}

TEST_F(BoundsTest, WrongArgumentsAreRejected) {
  Load("  ROOT r = s32[2] parameter(0)\n");
  EXPECT_EQ(ErrorWith(Limits{}), ErrorClass::kRejected);
}

}  // namespace
}  // namespace assay::reference
