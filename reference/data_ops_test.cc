// The answers that may come out of ops whose order or place is open: scatter, sort, top-k, windows.
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/clock.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay::reference {
namespace {

Expectation Expect(const std::string& text, const Profile& profile) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(Verify(**module).ok()) << Verify(**module);
  absl::StatusOr<Expectation> expectation = MakeOracle()->Expect(**module, {}, profile, Limits{});
  EXPECT_TRUE(expectation.ok()) << expectation.status();
  return expectation.ok() ? *std::move(expectation) : Expectation();
}

// The verdict on the plain answer of leaf 0 with elements `i` and `j` exchanged.
Verdict VerdictOnExchange(const Expectation& expectation, int64_t i, int64_t j) {
  std::vector<Literal> answer;
  for (const ArrayExpectation& leaf : expectation.leaves) answer.push_back(leaf.plain);
  answer[0].SetBits(i, expectation.leaves[0].plain.GetBits(j));
  answer[0].SetBits(j, expectation.leaves[0].plain.GetBits(i));
  std::vector<const Literal*> leaves;
  for (const Literal& leaf : answer) leaves.push_back(&leaf);
  return JudgeLeaves(expectation, leaves).verdict;
}

// The verdict on the plain answer of leaf 0 with element `i` replaced.
Verdict VerdictOn(const Expectation& expectation, int64_t i, double value) {
  std::vector<Literal> answer;
  for (const ArrayExpectation& leaf : expectation.leaves) answer.push_back(leaf.plain);
  if (IsFloat(answer[0].element_type())) {
    answer[0].SetDouble(i, value);
  } else {
    answer[0].SetInteger(i, static_cast<int64_t>(value));
  }
  std::vector<const Literal*> leaves;
  for (const Literal& leaf : answer) leaves.push_back(&leaf);
  return JudgeLeaves(expectation, leaves).verdict;
}

std::string Scatter(const std::string& combiner, const std::string& indices,
                    const std::string& updates, const std::string& flags) {
  return "HloModule m\n" + combiner + R"(
ENTRY e {
  x = f32[4] constant({1, 2, 3, 4})
  i = s32[3] constant()" +
         indices + R"()
  u = f32[3] constant()" +
         updates +
         R"()
  ROOT r = f32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, )"
         R"(scatter_dims_to_operand_dims={0}, index_vector_dim=1, )" +
         flags + R"(to_apply=f
})";
}

constexpr char kLast[] = "f { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }";
constexpr char kSum[] =
    "f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }";
constexpr char kHalves[] =
    "f { a = f32[] parameter(0)  b = f32[] parameter(1)  h = f32[] constant(0.5)  "
    "m = f32[] multiply(a, h)  ROOT c = f32[] add(m, b) }";

TEST(Scatter, AnyOfSeveralUpdatesMayBeTheLast) {
  const Expectation e = Expect(Scatter(kLast, "{1, 1, 2}", "{10, 20, 30}", ""), Profile::Strict());
  EXPECT_EQ(VerdictOn(e, 1, 20), Verdict::kPass);
  EXPECT_EQ(VerdictOn(e, 1, 10), Verdict::kPass);
  EXPECT_EQ(VerdictOn(e, 1, 15), Verdict::kFail);
  EXPECT_EQ(VerdictOn(e, 1, 2), Verdict::kFail);
  EXPECT_EQ(VerdictOn(e, 2, 3), Verdict::kFail);
}

TEST(Scatter, SumsAreBoundedInAnyOrder) {
  const Expectation e =
      Expect(Scatter(kSum, "{1, 1, 1}", "{0.1, 0.2, 0.3}", ""), Profile::Strict());
  EXPECT_EQ(VerdictOn(e, 1, (2.0f + 0.3f) + (0.2f + 0.1f)), Verdict::kPass);
  EXPECT_EQ(VerdictOn(e, 1, 2.6001), Verdict::kFail);
  EXPECT_EQ(VerdictOn(e, 0, 1.0000001), Verdict::kFail);
}

TEST(Scatter, CombinersThatDependOnTheOrderAreUndecidedWhereUpdatesMeet) {
  const Expectation e =
      Expect(Scatter(kHalves, "{1, 1, 2}", "{10, 20, 30}", ""), Profile::Strict());
  EXPECT_EQ(VerdictOn(e, 1, 99), Verdict::kInconclusive);
  EXPECT_EQ(VerdictOn(e, 2, 99), Verdict::kFail);
}

TEST(Scatter, BrokenPromisesPromiseNothing) {
  const Expectation unique = Expect(
      Scatter(kSum, "{1, 1, 2}", "{10, 20, 30}", "unique_indices=true, "), Profile::Strict());
  EXPECT_EQ(VerdictOn(unique, 1, 22), Verdict::kInconclusive);
  EXPECT_EQ(VerdictOn(unique, 2, 34), Verdict::kFail);
  const Expectation sorted = Expect(
      Scatter(kSum, "{2, 1, 0}", "{10, 20, 30}", "indices_are_sorted=true, "), Profile::Strict());
  EXPECT_EQ(VerdictOn(sorted, 0, 99), Verdict::kInconclusive);
}

TEST(Scatter, AWindowThatIsPartlyOutsideMayBeDroppedByXla) {
  constexpr char kText[] = R"(HloModule m
f { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }
ENTRY e {
  x = f32[3] constant({1, 2, 3})
  i = s32[1] constant({2})
  u = f32[2] constant({5, 6})
  ROOT r = f32[3] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=f
})";
  EXPECT_EQ(VerdictOn(Expect(kText, Profile::Strict()), 2, 3), Verdict::kFail);
  EXPECT_EQ(VerdictOn(Expect(kText, Profile::Xla()), 2, 3), Verdict::kPass);
  EXPECT_EQ(VerdictOn(Expect(kText, Profile::Xla()), 2, 5), Verdict::kPass);
  EXPECT_EQ(VerdictOn(Expect(kText, Profile::Xla()), 2, 4), Verdict::kFail);
}

std::string Sort(const std::string& flags) {
  return R"(HloModule m
f { a = f32[] parameter(0)  b = f32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)
    ROOT r = pred[] compare(a, b), direction=LT }
ENTRY e {
  k = f32[4] constant({2, 1, 2, 0})
  v = s32[4] constant({10, 11, 12, 13})
  s = (f32[4], s32[4]) sort(k, v), dimensions={0}, )" +
         flags + R"(to_apply=f
  a.1 = f32[4] get-tuple-element(s), index=0
  b.1 = s32[4] get-tuple-element(s), index=1
  ROOT t = (s32[4], f32[4]) tuple(b.1, a.1)
})";
}

TEST(Sort, EqualsMayChangePlacesUnlessTheSortIsStable) {
  const Expectation stable = Expect(Sort("is_stable=true, "), Profile::Xla());
  EXPECT_EQ(VerdictOn(stable, 2, 12), Verdict::kFail);
  const Expectation unstable = Expect(Sort(""), Profile::Xla());
  EXPECT_EQ(VerdictOnExchange(unstable, 2, 3), Verdict::kPass);
  EXPECT_EQ(VerdictOn(unstable, 2, 12), Verdict::kFail);  // 12 twice
  EXPECT_EQ(VerdictOnExchange(unstable, 1, 2), Verdict::kFail);
  EXPECT_EQ(VerdictOn(unstable, 2, 11), Verdict::kFail);
  EXPECT_EQ(VerdictOn(unstable, 0, 11), Verdict::kFail);
  EXPECT_EQ(VerdictOn(Expect(Sort(""), Profile::Strict()), 2, 12), Verdict::kFail);
}

// Numbers of few bits make few pairs, of which each is compared once.
TEST(Sort, OfFewNumbersAsksForFewPairs) {
  const auto module = ReadModule(R"(HloModule m
f { a = f8e4m3fn[] parameter(0)  b = f8e4m3fn[] parameter(1)
    ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER }
ENTRY e {
  x = f8e4m3fn[4] constant({2, -1, 8, 2})
  k = f8e4m3fn[70,4] broadcast(x), dimensions={1}
  line = f8e4m3fn[280] reshape(k)
  ROOT s = f8e4m3fn[280] sort(line), dimensions={0}, to_apply=f
})");
  ASSERT_TRUE(module.ok()) << module.status();
  Limits limits;
  limits.steps = 4000;  // all pairs are 78,400
  const auto expectation = MakeOracle()->Expect(**module, {}, Profile::Xla(), limits);
  ASSERT_TRUE(expectation.ok()) << expectation.status();
  EXPECT_EQ(VerdictOn(*expectation, 69, -1), Verdict::kPass);
  EXPECT_EQ(VerdictOn(*expectation, 70, -1), Verdict::kFail);
  EXPECT_EQ(VerdictOnExchange(*expectation, 70, 209), Verdict::kPass) << "both are 2";
  EXPECT_EQ(VerdictOnExchange(*expectation, 209, 210), Verdict::kFail) << "8 comes after 2";
}

// A comparator may read keys and payloads, which together are few bits as well.
TEST(Sort, GoesByAllThatTheComparatorReads) {
  const Expectation e = Expect(R"(HloModule m
f { a = u8[] parameter(0)  b = u8[] parameter(1)  c = s8[] parameter(2)  d = s8[] parameter(3)
    less = pred[] compare(a, b), direction=LT
    same = pred[] compare(a, b), direction=EQ
    more = pred[] compare(c, d), direction=GT
    second = pred[] and(same, more)
    ROOT r = pred[] or(less, second) }
ENTRY e {
  k = u8[6] constant({2, 1, 2, 255, 1, 2})
  v = s8[6] constant({-3, 4, 5, 0, 6, 5})
  s = (u8[6], s8[6]) sort(k, v), dimensions={0}, to_apply=f
  a.1 = u8[6] get-tuple-element(s), index=0
  b.1 = s8[6] get-tuple-element(s), index=1
  ROOT t = (s8[6], u8[6]) tuple(b.1, a.1)
})",
                               Profile::Xla());
  EXPECT_EQ(e.leaves[0].plain.ToString(), "{6, 4, 5, 5, -3, 0}");
  EXPECT_EQ(e.leaves[1].plain.ToString(), "{1, 1, 2, 2, 2, 255}");
  EXPECT_EQ(VerdictOnExchange(e, 0, 1), Verdict::kFail);
}

TEST(Sort, NaNsWithoutAPlaceInTheOrderLeaveNone) {
  const Expectation e = Expect(R"(HloModule m
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
ENTRY e {
  k = f32[4] constant({2, nan, 1, 0})
  ROOT s = f32[4] sort(k), dimensions={0}, to_apply=f
})",
                               Profile::Strict());
  EXPECT_EQ(VerdictOn(e, 0, 7), Verdict::kInconclusive);
}

TEST(Sort, KeysThatMayBeExchangedByRoundingExchangeTheirPayload) {
  const Expectation e = Expect(R"(HloModule m
f { a = f32[] parameter(0)  b = f32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)
    ROOT r = pred[] compare(a, b), direction=LT }
ENTRY e {
  x = f32[3] constant({1, 1.0000001, 5})
  k = f32[3] exponential(x)
  v = s32[3] constant({10, 11, 12})
  s = (f32[3], s32[3]) sort(k, v), dimensions={0}, is_stable=true, to_apply=f
  a.1 = f32[3] get-tuple-element(s), index=0
  b.1 = s32[3] get-tuple-element(s), index=1
  ROOT t = (s32[3], f32[3]) tuple(b.1, a.1)
})",
                               Profile::Strict());
  EXPECT_EQ(VerdictOnExchange(e, 0, 1), Verdict::kPass);
  EXPECT_EQ(VerdictOn(e, 0, 11), Verdict::kFail);  // 11 twice
  EXPECT_EQ(VerdictOn(e, 0, 12), Verdict::kFail);
  EXPECT_EQ(VerdictOn(e, 2, 10), Verdict::kFail);
}

TEST(TopK, CloseValuesMayExchangeTheirIndices) {
  const Expectation e = Expect(R"(HloModule m
ENTRY e {
  x = f32[4] constant({1, 5, 1.0000001, 5})
  y = f32[4] exponential(x)
  k = (f32[3], s32[3]) topk(y), k=3, largest=true
  v = f32[3] get-tuple-element(k), index=0
  i = s32[3] get-tuple-element(k), index=1
  ROOT t = (s32[3], f32[3]) tuple(i, v)
})",
                               Profile::Strict());
  EXPECT_EQ(VerdictOn(e, 2, 0), Verdict::kPass);
  EXPECT_EQ(VerdictOn(e, 2, 2), Verdict::kPass);
  EXPECT_EQ(VerdictOn(e, 2, 1), Verdict::kFail);
}

TEST(ReduceWindow, PaddingMayHoldTheInitialValueForXla) {
  auto text = [](const std::string& init) {
    return R"(HloModule m
f { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] add(a, b) }
ENTRY e {
  x = s32[3] constant({1, 2, 3})
  i = s32[] constant()" +
           init + R"()
  ROOT r.1 = s32[3] reduce-window(x, i), window={size=2 pad=1_0}, to_apply=f
})";
  };
  EXPECT_EQ(VerdictOn(Expect(text("5"), Profile::Xla()), 0, 11), Verdict::kInconclusive);
  EXPECT_EQ(VerdictOn(Expect(text("5"), Profile::Xla()), 1, 9), Verdict::kFail);
  EXPECT_EQ(VerdictOn(Expect(text("5"), Profile::Strict()), 0, 11), Verdict::kFail);
  EXPECT_EQ(VerdictOn(Expect(text("0"), Profile::Xla()), 0, 11), Verdict::kFail);
}

TEST(SelectAndScatter, AChoiceByRoundingGoesToEither) {
  const Expectation e = Expect(R"(HloModule m
ge { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=GE }
last { c = f32[] parameter(0)  ROOT d = f32[] parameter(1) }
ENTRY e {
  x = f32[3] constant({1, 1.0000001, 0})
  y = f32[3] exponential(x)
  s = f32[1] constant({7})
  i = f32[] constant(0)
  ROOT r.1 = f32[3] select-and-scatter(y, s, i), window={size=3}, select=ge, scatter=last
})",
                               Profile::Strict());
  EXPECT_EQ(VerdictOn(e, 0, 7), Verdict::kPass);
  EXPECT_EQ(VerdictOn(e, 0, 3), Verdict::kFail);
  EXPECT_EQ(VerdictOn(e, 2, 7), Verdict::kFail);
}

TEST(BatchNorm, WrongAnswersFail) {
  const Expectation e = Expect(R"(HloModule m
ENTRY e {
  x = f32[4,1] constant({{1},{2},{3},{6}})
  s = f32[1] constant({1})
  o = f32[1] constant({0})
  b = (f32[4,1], f32[1], f32[1]) batch-norm-training(x, s, o), epsilon=0.5, feature_index=1
  ROOT y = f32[4,1] get-tuple-element(b), index=0
})",
                               Profile::Xla());
  EXPECT_EQ(VerdictOn(e, 0, -1.0000001), Verdict::kPass);
  EXPECT_EQ(VerdictOn(e, 0, -0.999), Verdict::kFail);
}

TEST(DynamicShapes, SizesMustFit) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(R"(HloModule m
ENTRY e {
  x = f32[3] constant({1, 2, 3})
  n = s32[] constant(4)
  d = f32[<=3] set-dimension-size(x, n), dimensions={0}
  ROOT s = s32[] get-dimension-size(d), dimensions={0}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<Literal> value = MakeOracle()->Evaluate(**module, {}, Limits{});
  ASSERT_FALSE(value.ok());
  EXPECT_NE(std::string(value.status().message()).find("the run-time size 4 of dimension 0"),
            std::string::npos)
      << value.status();
}

TEST(DynamicShapes, ASizeThatCameBackHoldsAnything) {
  const Expectation e = Expect(R"(HloModule m
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
ENTRY e {
  x = f32[3] constant({1, 2, 3})
  one = s32[] constant(1)
  two = s32[] constant(2)
  z = f32[] constant(0)
  d = f32[<=3] set-dimension-size(x, one), dimensions={0}
  u = f32[<=3] set-dimension-size(d, two), dimensions={0}
  a.1 = f32[] reduce(d, z), dimensions={0}, to_apply=f
  b.1 = f32[] reduce(u, z), dimensions={0}, to_apply=f
  ROOT t = (f32[], f32[]) tuple(b.1, a.1)
})",
                               Profile::Strict());
  EXPECT_EQ(VerdictOn(e, 0, 2), Verdict::kInconclusive);
  EXPECT_EQ(e.leaves[1].plain.GetDouble(0), 1);
}

// Long arrays of types of a byte are converted by a table, which the types' own functions make.
TEST(Conversions, OfLongArraysAreThoseOfShortOnes) {
  const std::vector<ElementType> types = {
      ElementType::kS1,       ElementType::kU2,         ElementType::kS4,
      ElementType::kU4,       ElementType::kS8,         ElementType::kU8,
      ElementType::kF4E2M1FN, ElementType::kF8E5M2,     ElementType::kF8E4M3FN,
      ElementType::kF8E3M4,   ElementType::kF8E4M3FNUZ, ElementType::kF8E8M0FNU,
      ElementType::kPred,     ElementType::kF16,        ElementType::kF64,
      ElementType::kS64};
  for (const ElementType from : types) {
    if (Info(from).storage_bytes != 1 || IsPred(from)) continue;
    const int64_t codes = int64_t{1} << BitWidth(from), copies = 4096 / codes;
    Literal few(Shape::Array(from, {codes})), many(Shape::Array(from, {codes * copies}));
    for (int64_t i = 0; i < codes * copies; ++i) {
      few.SetBits(i % codes, static_cast<uint64_t>(i % codes));
      many.SetBits(i, static_cast<uint64_t>(i % codes));
    }
    for (const ElementType to : types) {
      const auto convert = [&](const Literal& input) {
        const std::string size = "[" + std::to_string(input.element_count()) + "]";
        const std::string text = "HloModule m\nENTRY e { x = " + std::string(Name(from)) + size +
                                 " parameter(0) ROOT y = " + std::string(Name(to)) + size +
                                 " convert(x) }";
        absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
        EXPECT_TRUE(module.ok()) << module.status() << text;
        return *MakeOracle()->Evaluate(**module, {&input}, Limits{});
      };
      const Literal of_few = convert(few), of_many = convert(many);
      for (int64_t i = 0; i < codes * copies; ++i) {
        ASSERT_EQ(of_many.GetBits(i), of_few.GetBits(i % codes))
            << Name(from) << " to " << Name(to) << ", code " << i % codes;
      }
    }
  }
}

// The bounds of an associative scan take time as it is long, not its square: those of 200,000
// uncertain numbers are there in less than a second.
TEST(Scans, OfExtremaOfUncertainNumbersAreQuick) {
  const std::string body =
      "f { a = f32[] parameter(0)  b = f32[] parameter(1)  m = f32[] maximum(a, b)\n"
      "ROOT t = (f32[], f32[]) tuple(m, m) }\n";
  const std::string entry =
      "ENTRY e { i = f32[200000] iota(), iota_dimension=0  s = f32[200000] sine(i)\n"
      "z = f32[] constant(-inf)\n"
      "r = (f32[200000], f32[]) scan(s, z), dimensions={0}, num_carries=1, is_associative=true, "
      "to_apply=f\nROOT o = f32[200000] get-tuple-element(r), index=0 }";
  const double begun = Now();
  const Expectation e = Expect("HloModule m\n" + body + entry, Profile::Xla());
  EXPECT_LT(Now() - begun, 15) << "it took a minute when it took its square";
  ASSERT_EQ(e.leaves.size(), 1u);
  EXPECT_EQ(VerdictOn(e, 100, 0.99), Verdict::kFail) << "sine(33) is nearer to 1";
}

// Beyond the largest number a bound took a step for each term of each prefix.
TEST(Scans, OfSumsThatMayOverflowAreQuick) {
  const double begun = Now();
  const Expectation e = Expect(R"(HloModule m
f { a = bf16[] parameter(0)  b = bf16[] parameter(1)  s = bf16[] add(a, b)
ROOT t = (bf16[], bf16[]) tuple(s, s) }
ENTRY e { i = bf16[100000] iota(), iota_dimension=0  s = bf16[100000] sine(i)
c = bf16[] constant(3e38) d = bf16[100000] broadcast(c), dimensions={}
x = bf16[100000] multiply(s, d) z = bf16[] constant(0)
r = (bf16[100000], bf16[]) scan(x, z), dimensions={0}, num_carries=1, is_associative=true, to_apply=f
ROOT o = bf16[100000] get-tuple-element(r), index=0 })",
                               Profile::Xla());
  EXPECT_LT(Now() - begun, 15);
  EXPECT_EQ(e.leaves.size(), 1u) << e.inconclusive;
}

// A long associative scan is tried in another association as a short one is, and where numbers
// round its results are not unique; the longest is left open.
TEST(Scans, OfAnyLengthAreTriedInAnotherAssociation) {
  // Composes x -> m x + a, later ones over earlier ones.
  const auto composed = [](const std::string& type, int length) {
    return absl::StrReplaceAll(
        R"(HloModule m
f { m = ONE parameter(0) a = ONE parameter(1) n = ONE parameter(2) b = ONE parameter(3)
  p = ONE multiply(m, n) q = ONE multiply(m, b) r = ONE add(q, a)
  ROOT t = (ONE, ONE, ONE, ONE) tuple(p, r, p, r) }
ENTRY e { o = ONE constant(1) z = ONE constant(0) h = ONE constant(PART)
  i = ALL iota(), iota_dimension=0 c = ALL broadcast(o), dimensions={}
  k = ALL broadcast(h), dimensions={} w = ALL multiply(i, k)
  s = (ALL, ALL, ONE, ONE) scan(c, w, o, z), dimensions={0}, num_carries=2, is_associative=true,
    to_apply=f
  ROOT r = ALL get-tuple-element(s), index=1 })",
        {{"ALL", StrCat(type, "[", length, "]")},
         {"ONE", type + "[]"},
         {"PART", type == "s32" ? "3" : "0.1"}});
  };
  for (const int length : {100, 3000}) {
    const Expectation exact = Expect(composed("s32", length), Profile::Xla());
    ASSERT_EQ(exact.leaves.size(), 1u) << exact.inconclusive;
    EXPECT_TRUE(exact.leaves[0].AllForced()) << length;
    const Expectation rounded = Expect(composed("f32", length), Profile::Xla());
    ASSERT_EQ(rounded.leaves.size(), 1u) << rounded.inconclusive;
    const ArrayExpectation& leaf = rounded.leaves[0];
    ASSERT_FALSE(leaf.bounds.empty());
    EXPECT_GT(leaf.bounds[static_cast<size_t>(length - 1)].radius, 0) << length;
    EXPECT_EQ(leaf.bounds[static_cast<size_t>(length - 1)].flags & kUndecided, 0u) << length;
  }
  const double begun = Now();
  const Expectation open = Expect(composed("f32", 100000), Profile::Xla());
  EXPECT_LT(Now() - begun, 15) << "its square takes hours";
  ASSERT_EQ(open.leaves.size(), 1u) << open.inconclusive;
  EXPECT_NE(open.leaves[0].bounds[99999].flags & kUndecided, 0u);
}

// A parameter's run-time size comes from another parameter.
TEST(DynamicSizes, BindingsGiveParametersTheirSizes) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(R"(HloModule m
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  n = s32[] parameter(0)
  x = f32[<=4] parameter(1)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=f
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const Literal x = *ReadLiteral(Shape::Array(ElementType::kF32, {4}), "{1, 10, 100, 1000}");
  auto sum = [&](int32_t size) {
    const Literal n = *ReadLiteral(Shape::Scalar(ElementType::kS32), std::to_string(size));
    return MakeOracle()->Evaluate(**module, {&n, &x}, Limits{});
  };
  EXPECT_EQ(sum(2)->GetDouble(0), 1111);
  ASSERT_TRUE((*module)->annotations().dynamic_parameter_binding.Bind({0, {}}, {1, {}, 0}).ok());
  EXPECT_EQ(sum(2)->GetDouble(0), 11);
  EXPECT_EQ(sum(0)->GetDouble(0), 0);
  EXPECT_NE(std::string(sum(5).status().message()).find("not in [0, 4]"), std::string::npos);
  ASSERT_TRUE((*module)->annotations().dynamic_parameter_binding.Bind({7, {}}, {1, {}, 1}).ok());
  EXPECT_FALSE(sum(2).ok());
}

}  // namespace
}  // namespace assay::reference
