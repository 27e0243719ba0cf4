// The errors that elements share (reference/bounds/error_forms.h), and the search for legal
// evaluations that stray far (reference/bounds/choices/legal_choices.h).
#include "reference/bounds/error_forms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "reference/bounds/choices/legal_choices.h"
#include "reference/interpreter/interpreter.h"
#include "reference/power/choice_search.h"
#include "reference/testing/legal_evaluator.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay::reference {
namespace {

constexpr std::string_view kReducer =
    "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n";

struct Program {
  std::unique_ptr<Module> module;
  std::vector<Literal> inputs;

  // `entry`: the lines after the parameters x, y, z: f32[n]. Inputs are drawn.
  Program(const std::string& entry, int64_t n, Random& random) {
    std::string text = StrCat("HloModule m\n", kReducer, "ENTRY main {\n");
    int number = 0;
    for (std::string_view name : {"x", "y", "z"})
      StrAppend(&text, "  ", name, " = f32[", n, "] parameter(", number++, ")\n");
    StrAppend(&text, "  zero = f32[] constant(0)\n", entry, "}\n");
    absl::StatusOr<std::unique_ptr<Module>> read = ReadModule(text);
    EXPECT_TRUE(read.ok()) << read.status().message();
    if (!read.ok()) return;
    module = *std::move(read);
    EXPECT_TRUE(Verify(*module).ok()) << Verify(*module);
    for (int k = 0; k < 3; ++k) {
      inputs.emplace_back(Shape::Array(ElementType::kF32, {n}));
      for (int64_t i = 0; i < n; ++i) inputs[k].SetDouble(i, random.Between(-3, 4));
    }
  }

  std::vector<const Literal*> Arguments() const {
    std::vector<const Literal*> arguments;
    for (const Literal& input : inputs) arguments.push_back(&input);
    return arguments;
  }

  Expectation Expect() const {
    absl::StatusOr<Expectation> expectation =
        MakeOracle()->Expect(*module, Arguments(), Profile::Xla(), Limits{});
    EXPECT_TRUE(expectation.ok()) << expectation.status();
    return expectation.ok() ? *expectation : Expectation();
  }
};

// The sums that all programs begin with.
std::string Sums() {
  return "  sum0 = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
         "  sum1 = f32[] reduce(z, zero), dimensions={0}, to_apply=add\n"
         "  sum2 = f32[] dot(y, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n";
}

// The radius of the only result of "sum0, sum1, sum2; ROOT r = ...".
double RadiusOf(const std::string& rest, int64_t n, uint64_t seed = 7) {
  Random random(seed);
  const Program program(StrCat(Sums(), rest), n, random);
  const Expectation expectation = program.Expect();
  if (expectation.leaves.empty()) return -1;
  const ArrayExpectation& leaf = expectation.leaves[0];
  return leaf.bounds.empty() ? 0 : leaf.bounds[0].radius;
}

TEST(Forms, ErrorsOfOneSumCancel) {
  const double sum = RadiusOf("  ROOT r = f32[] reshape(sum0)\n", 64);
  const double other = RadiusOf("  ROOT r = f32[] reshape(sum2)\n", 64);
  ASSERT_GT(sum, 1e-6);
  // The radius of x - x is that of the subtraction itself, which is next to nothing.
  EXPECT_LE(RadiusOf("  t = f32[] reshape(sum0)\n  ROOT r = f32[] subtract(sum0, t)\n", 64),
            sum * 1e-6);
  // Two sums of the same terms are not the same sum, though.
  const std::string again =
      "  t = f32[] dot(y, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
      "  ROOT r = f32[] subtract(sum0, t)\n";
  EXPECT_GE(RadiusOf(again, 64), sum * 1.9);
  // Nor do errors of different sums cancel.
  EXPECT_GE(RadiusOf("  ROOT r = f32[] subtract(sum0, sum2)\n", 64), (sum + other) * 0.99);
  // (s + t) - t: the errors of t cancel, its rounding within the addition does not.
  const double through =
      RadiusOf("  t = f32[] add(sum0, sum2)\n  ROOT r = f32[] subtract(t, sum2)\n", 64);
  EXPECT_GE(through, sum);
  EXPECT_LE(through, sum + other * 0.5);
}

// The errors of a sum go through a function, and of two that are almost the same nothing is left.
TEST(Forms, FunctionsAreFollowedAlongTheirSlope) {
  for (std::string_view function : {"tanh", "logistic", "exponential", "exponential-minus-one",
                                    "log-plus-one", "erf", "sine", "cosine"}) {
    const std::string small =
        "  k = f32[] constant(0.004)\n  p = f32[] multiply(sum0, k)\n"
        "  q = f32[] abs(p)\n";
    const std::string one = StrCat(small, "  ROOT r = f32[] ", function, "(q)\n");
    const std::string both =
        StrCat(small, "  l = f32[] constant(1.001)\n  m = f32[] multiply(q, l)\n  f = f32[] ",
               function, "(q)\n  g = f32[] ", function, "(m)\n  ROOT r = f32[] subtract(f, g)\n");
    EXPECT_GT(RadiusOf(one, 256), 0) << function;
    EXPECT_LT(RadiusOf(both, 256), RadiusOf(one, 256)) << function;
  }
}

// A random chain of element-wise ops over the sums and what was made of them before.
std::string RandomChain(Random& random) {
  std::vector<std::string> names = {"sum0", "sum1", "sum2"};
  std::string text = Sums();
  const int64_t steps = 2 + random.Below(6);
  for (int64_t k = 0; k < steps; ++k) {
    static constexpr std::string_view kBinary[] = {"add",    "subtract", "subtract", "multiply",
                                                   "divide", "maximum",  "minimum"};
    static constexpr std::string_view kUnary[] = {
        "negate",       "abs", "tanh", "logistic", "exponential-minus-one",
        "log-plus-one", "erf", "sine", "cosine",   "tanh"};
    const auto any = [&] {
      return names[static_cast<size_t>(random.Below(static_cast<int64_t>(names.size())))];
    };
    const std::string name = StrCat("t", k);
    StrAppend(&text, "  ", name, " = f32[] ");
    if (random.OneIn(4)) {
      StrAppend(&text, kUnary[random.Below(10)], "(", any(), ")\n");
    } else {
      StrAppend(&text, kBinary[random.Below(7)], "(", any(), ", ", any(), ")\n");
    }
    names.push_back(name);
  }
  StrAppend(&text, "  ROOT r = (f32[]) tuple(", names.back(), ")\n");
  return text;
}

TEST(Forms, NoLegalEvaluationLiesOutside) {
  int64_t judged = 0, decided = 0;
  double closest = 0;
  for (uint64_t seed = 1; seed <= 2500; ++seed) {
    Random random(seed);
    const std::string text = RandomChain(random);
    const Program program(text, 2 + random.Below(12), random);
    const Expectation expectation = program.Expect();
    ASSERT_FALSE(expectation.leaves.empty()) << text;
    const ArrayExpectation& leaf = expectation.leaves[0];
    // The worst of many legal evaluations, by chance and searched for.
    std::vector<Literal> answers;
    for (int run = 0; run < 12; ++run)
      answers.push_back(
          EvaluateLegally(*program.module, program.Arguments(), Profile::Xla(), random));
    absl::StatusOr<std::vector<Literal>> searched =
        SearchChoices(*program.module, program.Arguments(), 1000);
    ASSERT_TRUE(searched.ok()) << searched.status();
    for (Literal& answer : *searched) answers.push_back(std::move(answer));
    for (const Literal& answer : answers) {
      const Judgement judgement = JudgeLeaves(expectation, Leaves(answer));
      ASSERT_NE(judgement.verdict, Verdict::kFail)
          << "seed " << seed << "\n"
          << text << answer.ToString() << " " << judgement.reason;
      ++judged;
      decided += judgement.verdict == Verdict::kPass;
      if (leaf.bounds.empty() || leaf.bounds[0].flags != 0 || leaf.bounds[0].radius == 0) continue;
      const double away = std::fabs(Leaves(answer)[0]->GetDouble(0) - leaf.bounds[0].centre);
      closest = std::max(closest, away / leaf.bounds[0].radius);
    }
  }
  std::printf("forms: %lld answers, %lld decided, the worst at %.2f of the radius\n",
              static_cast<long long>(judged), static_cast<long long>(decided), closest);
  EXPECT_GT(decided, judged / 2);
  EXPECT_GT(closest, 0.5);
}

TEST(Forms, WhatIsRememberedIsLimited) {
  ErrorNumbers numbers;
  int64_t count = 0;
  while (count < (int64_t{1} << 24) && numbers.Next(0) >= 0) ++count;
  EXPECT_LT(count, int64_t{1} << 24);
  EXPECT_EQ(numbers.Next(0), -1);
  ErrorNumbers looks;
  int rounds = 0;
  while (rounds < 10000 && looks.Take(1 << 20)) ++rounds;
  EXPECT_GT(rounds, 0);
  EXPECT_LT(rounds, 10000);
  // Room is that of the forms which are alive.
  ErrorNumbers holds;
  for (int twice = 0; twice < 2; ++twice) {
    std::vector<std::shared_ptr<const ErrorTerms>> alive;
    while (alive.size() < 1000) {
      ErrorTerms& terms = holds.Scratch();
      terms.errors.resize(1 << 20);
      terms.coefficients.resize(1 << 20);
      std::shared_ptr<const ErrorTerms> stored = holds.Store(terms);
      if (stored == nullptr) break;
      alive.push_back(std::move(stored));
    }
    EXPECT_GT(alive.size(), 1u);
    EXPECT_LT(alive.size(), 1000u);
  }
  // Sums over more sums than a form remembers: nothing cancels, nothing is lost.
  Random random(3);
  const Program program(
      "  a = f32[5000,1] reshape(x)\n  b = f32[1,5000] reshape(y)\n"
      "  c = f32[5000,4] broadcast(z), dimensions={0}\n"
      "  d = f32[1,4] dot(b, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  e = f32[5000,4] dot(a, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  f = f32[5000] reduce(e, zero), dimensions={1}, to_apply=add\n"
      "  ROOT r = f32[] reduce(f, zero), dimensions={0}, to_apply=add\n",
      5000, random);
  const Expectation expectation = program.Expect();
  ASSERT_EQ(expectation.leaves.size(), 1u);
  ASSERT_FALSE(expectation.leaves[0].bounds.empty());
  EXPECT_TRUE(std::isfinite(expectation.leaves[0].bounds[0].radius));
  const auto answers = SearchChoices(*program.module, program.Arguments(), 1000);
  ASSERT_TRUE(answers.ok()) << answers.status();
  for (const Literal& answer : *answers)
    EXPECT_NE(JudgeLeaves(expectation, Leaves(answer)).verdict, Verdict::kFail);
}

TEST(Forms, RunsOfSumsCancelLikeSingleOnes) {
  // The errors of 64 sums, once as a run, once as every other one.
  const std::string sums =
      "  a = f32[64,256] reshape(x)\n  b = f32[256] slice(y), slice={[0:256]}\n"
      "  s = f32[64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  all = f32[] reduce(s, zero), dimensions={0}, to_apply=add\n";
  const std::string halves =
      "  part0 = f32[32] slice(s), slice={[0:64:2]}\n  part1 = f32[32] slice(s), slice={[1:64:2]}\n"
      "  even = f32[] reduce(part0, zero), dimensions={0}, to_apply=add\n"
      "  odd = f32[] reduce(part1, zero), dimensions={0}, to_apply=add\n"
      "  rest = f32[] subtract(all, even)\n";
  auto expect = [&](const std::string& last, Expectation& expectation) {
    Random random(5);
    const Program program(StrCat(sums, halves, last), 64 * 256, random);
    expectation = program.Expect();
    const auto answers = SearchChoices(*program.module, program.Arguments(), 1000);
    ASSERT_TRUE(answers.ok()) << answers.status();
    for (const Literal& answer : *answers)
      EXPECT_NE(JudgeLeaves(expectation, Leaves(answer)).verdict, Verdict::kFail);
    ASSERT_FALSE(expectation.leaves.empty());
    ASSERT_FALSE(expectation.leaves[0].bounds.empty());
  };
  Expectation one, none, half;
  expect("  ROOT r = f32[] add(all, zero)\n", one);
  expect("  ROOT r = f32[] subtract(rest, odd)\n", none);
  expect("  ROOT r = f32[] add(rest, zero)\n", half);
  const double whole = one.leaves[0].bounds[0].radius;
  EXPECT_LT(none.leaves[0].bounds[0].radius, whole / 8);
  EXPECT_LT(half.leaves[0].bounds[0].radius, whole * 0.75);
  EXPECT_GT(half.leaves[0].bounds[0].radius, whole / 4);
  // Two runs with 400 errors of others between them, in one sum.
  const std::string apart =
      "  part2 = f32[16000] slice(z), slice={[0:16000]}\n  c = f32[400,40] reshape(part2)\n"
      "  d = f32[40] slice(y), slice={[0:40]}\n"
      "  between = f32[400] dot(c, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  e = f32[64,256] reshape(z)\n"
      "  t = f32[64] dot(e, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  far = f32[] reduce(t, zero), dimensions={0}, to_apply=add\n"
      "  all1 = f32[1] reshape(all)\n  far1 = f32[1] reshape(far)\n"
      "  two = f32[2] concatenate(all1, far1), dimensions={0}\n"
      "  both = f32[] reduce(two, zero), dimensions={0}, to_apply=add\n"
      "  less = f32[] subtract(both, all)\n  none = f32[] subtract(less, far)\n";
  Expectation sum, nothing;
  expect(StrCat(apart, "  ROOT r = (f32[], f32[400], f32[]) tuple(all, between, both)\n"), sum);
  expect(StrCat(apart, "  ROOT r = (f32[], f32[400], f32[]) tuple(all, between, none)\n"), nothing);
  EXPECT_GT(sum.leaves.back().bounds[0].radius, whole * 1.5);
  EXPECT_LT(nothing.leaves.back().bounds[0].radius, whole / 8);
}

// The distance of the first output from the plain one in the worst of the answers.
double WorstOf(const Literal& plain, absl::Span<const Literal> answers) {
  double worst = 0;
  for (const Literal& answer : answers)
    for (int64_t i = 0; i < plain.element_count(); ++i)
      worst = std::max(worst, std::fabs(Leaves(answer)[0]->GetDouble(i) - plain.GetDouble(i)));
  return worst;
}

TEST(Search, KnowsWhichWayChoicesLead) {
  // (a b) c - a (b c): nothing but the errors of a thousand sums.
  Random random(11);
  const Program program(
      "  a = f32[16,16] reshape(x)\n  b = f32[16,16] reshape(y)\n  c = f32[16,16] reshape(z)\n"
      "  d = f32[16,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  e = f32[16,16] dot(d, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  f = f32[16,16] dot(b, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  g = f32[16,16] dot(a, f), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  h = f32[16,16] subtract(e, g)\n"
      "  ROOT r = f32[] reduce(h, zero), dimensions={0,1}, to_apply=add\n",
      256, random);
  const Expectation expectation = program.Expect();
  ASSERT_EQ(expectation.leaves.size(), 1u);
  const Literal& plain = expectation.leaves[0].plain;
  std::vector<Literal> by_chance;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Budget budget((Limits()));
    Interpreter interpreter(budget, nullptr);
    LegalChoices choices = LegalChoices::OfDirections(seed, nullptr);
    interpreter.set_choices(&choices);
    std::vector<Value> values;
    for (const Literal& input : program.inputs)
      values.push_back(MakeValue(input, interpreter.memory()));
    const absl::StatusOr<Value> value = interpreter.Run(*program.module->entry(), values);
    ASSERT_TRUE(value.ok()) << value.status();
    by_chance.push_back(ToLiteral(*value));
  }
  const auto searched = SearchChoices(*program.module, program.Arguments(), 1000);
  ASSERT_TRUE(searched.ok()) << searched.status();
  for (const Literal& answer : *searched)
    EXPECT_NE(JudgeLeaves(expectation, Leaves(answer)).verdict, Verdict::kFail);
  const double chance = WorstOf(plain, by_chance), led = WorstOf(plain, *searched);
  std::printf("search: %.3g by chance, %.3g led\n", chance, led);
  EXPECT_GT(led, 4 * chance);
}

// Each line: a program whose only freedom is the one named, which the search makes use of.
TEST(Search, UsesEveryFreedomOfOps) {
  struct Freedom {
    std::string_view name, entry;
  };
  const Freedom clauses[] = {
      {"contraction", "  p = f32[64] multiply(x, y)\n  ROOT r = f32[64] add(p, z)\n"},
      {"contraction of what is subtracted",
       "  p = f32[64] multiply(x, y)\n  ROOT r = f32[64] subtract(z, p)\n"},
      {"reciprocal of a broadcast",
       "  c = f32[] constant(3)\n  d = f32[64] broadcast(c), dimensions={}\n"
       "  ROOT r = f32[64] divide(x, d)\n"},
      {"reciprocal root",
       "  m = f32[64] abs(y)\n  s = f32[64] sqrt(m)\n  ROOT r = f32[64] divide(x, s)\n"},
      {"budget", "  ROOT r = f32[64] exponential(x)\n"},
      {"order", "  ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=add\n"},
      {"products",
       "  ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"},
      {"residual of a solve",
       "  a = f32[8,8] reshape(x)\n  b = f32[8,8] reshape(y)\n"
       "  ROOT r = f32[8,8] triangular-solve(a, b), left_side=true, lower=true, "
       "unit_diagonal=true, transpose_a=NO_TRANSPOSE\n"},
      {"residual of a factor",
       "  i = s32[8,8] iota(), iota_dimension=0\n  j = s32[8,8] iota(), iota_dimension=1\n"
       "  same = pred[8,8] compare(i, j), direction=EQ\n  a = f32[8,8] reshape(x)\n"
       "  k = f32[] constant(1000)\n  d = f32[8,8] broadcast(k), dimensions={}\n"
       "  m = f32[8,8] select(same, d, a)\n  ROOT r = f32[8,8] cholesky(m), lower=true\n"},
      {"residual of a routine",
       "  a = f32[8,8] reshape(x)\n"
       "  c = (f32[8,8], s32[8], s32[]) custom-call(a), custom_call_target=\"lapack_sgetrf_ffi\"\n"
       "  ROOT r = f32[8,8] get-tuple-element(c), index=0\n"},
  };
  for (const Freedom& freedom : clauses) {
    Random random(5);
    const Program program(std::string(freedom.entry), 64, random);
    const Expectation expectation = program.Expect();
    ASSERT_EQ(expectation.leaves.size(), 1u) << freedom.name;
    const auto searched = SearchChoices(*program.module, program.Arguments(), 1000);
    ASSERT_TRUE(searched.ok()) << searched.status();
    for (const Literal& answer : *searched)
      EXPECT_NE(JudgeLeaves(expectation, Leaves(answer)).verdict, Verdict::kFail) << freedom.name;
    EXPECT_GT(WorstOf(expectation.leaves[0].plain, *searched), 0) << freedom.name;
  }
}

}  // namespace
}  // namespace assay::reference
