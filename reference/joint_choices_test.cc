// Elements that are right one by one and wrong together: copies on several devices that differ, a
// collective in two branches, random numbers that are not random.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "reference/interpreter/interpreter.h"
#include "reference/ops/random/draw_tests.h"
#include "spec/text/reader.h"
#include "spec/types/float_format.h"
#include "spec/verifier/verifier.h"

namespace assay::reference {
namespace {

std::unique_ptr<Module> Read(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(Verify(**module).ok()) << Verify(**module);
  return *std::move(module);
}

// The expectation of one argument for each of some replicas.
Expectation ExpectOn(const std::string& text, const std::vector<Literal>& arguments,
                     const Profile& profile) {
  const std::unique_ptr<Module> module = Read(text);
  std::vector<DeviceInputs> inputs;
  for (const Literal& argument : arguments) inputs.push_back({{&argument}, {}});
  auto devices = MakeOracle()->ExpectDevices(
      *module, {static_cast<int64_t>(arguments.size()), 1, {}}, inputs, profile, Limits{});
  EXPECT_TRUE(devices.ok()) << devices.status();
  Expectation all;
  for (size_t d = 0; devices.ok() && d < devices->size(); ++d)
    all.Append(std::move((*devices)[d].result));
  return all;
}

std::vector<Literal> PlainOf(const Expectation& expectation) {
  std::vector<Literal> answer;
  for (const ArrayExpectation& leaf : expectation.leaves) answer.push_back(leaf.plain);
  return answer;
}

Judgement JudgementOn(const Expectation& expectation, const std::vector<Literal>& answer) {
  std::vector<const Literal*> leaves;
  for (const Literal& leaf : answer) leaves.push_back(&leaf);
  return JudgeLeaves(expectation, leaves);
}

std::vector<Literal> Vectors(const std::vector<std::string>& texts) {
  std::vector<Literal> vectors;
  for (const std::string& text : texts)
    vectors.push_back(*ReadLiteral(Shape::Array(ElementType::kF32, {3}), text));
  return vectors;
}

constexpr char kSumOfAll[] = R"(HloModule m, replica_count=4
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] all-reduce(x), to_apply=f
)";

// A sum may be rounded in several ways, but in one way for all members.
TEST(AllReduce, MembersHaveTheSameBits) {
  const std::vector<Literal> inputs = Vectors({"{-0.559, -1.79, -0.27}", "{-0.555, -0.246, -0.652}",
                                               "{-1.411, 0.7659, 1.1997}", "{1.48, 0.1339, 1.29}"});
  for (const Profile* profile : {&Profile::Strict(), &Profile::Xla()}) {
    // The joint choice holds for the result as it is, and after moves.
    for (const char* rest :
         {"ROOT r = f32[3] copy(y)\n}", "ROOT r = f32[3] reverse(y), dimensions={0}\n}"}) {
      const Expectation e = ExpectOn(std::string(kSumOfAll) + rest, inputs, *profile);
      std::vector<Literal> answer = PlainOf(e);
      EXPECT_EQ(JudgementOn(e, answer).verdict, Verdict::kPass);
      for (int64_t i = 0; i < 3; ++i) {
        std::vector<Literal> other = answer;
        for (size_t d = 0; d < 4; ++d) other[d].SetBits(i, other[d].GetBits(i) + 1);
        if (JudgementOn(e, other).verdict != Verdict::kPass) continue;  // no other rounding
        EXPECT_EQ(JudgementOn(e, {other[0], other[1], answer[2], other[3]}).verdict,
                  Verdict::kFail);
      }
      const Literal one = answer[3];
      answer[3].SetBits(2, one.GetBits(2) + 1);
      const Judgement judgement = JudgementOn(e, answer);
      EXPECT_EQ(judgement.verdict, Verdict::kFail);
      EXPECT_EQ(judgement.elements, 12);
    }
    // Each member is judged alone where the sums go through other ops.
    const Expectation e =
        ExpectOn(std::string(kSumOfAll) + "ROOT r = f32[3] negate(y)\n}", inputs, *profile);
    std::vector<Literal> answer = PlainOf(e);
    EXPECT_EQ(JudgementOn(e, answer).verdict, Verdict::kPass);
  }
}

TEST(Channels, BranchesThatShareOneMeet) {
  const std::string text = R"(HloModule m, replica_count=2
f { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT s = s32[] add(a, b) }
t { x = s32[] parameter(0)
  a = s32[] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=f
  ROOT r = s32[] add(a, a) }
g { x = s32[] parameter(0)
  ROOT a = s32[] all-reduce(x), channel_id=CHANNEL, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=f }
ENTRY e {
  x = s32[] parameter(0)
  i = u32[] replica-id()
  z = u32[] constant(0)
  p = pred[] compare(i, z), direction=EQ
  ROOT c = s32[] conditional(p, x, x), true_computation=t, false_computation=g
})";
  auto run = [&](const std::string& channel) {
    std::string with_channel = text;
    with_channel.replace(with_channel.find("CHANNEL"), 7, channel);
    const std::unique_ptr<Module> module = Read(with_channel);
    const Literal three = *ReadLiteral(Shape::Scalar(ElementType::kS32), "3");
    const Literal four = *ReadLiteral(Shape::Scalar(ElementType::kS32), "4");
    return MakeOracle()->EvaluateDevices(*module, {2, 1, {}}, {{{&three}, {}}, {{&four}, {}}},
                                         Limits{});
  };
  const auto one_channel = run("1");
  ASSERT_TRUE(one_channel.ok()) << one_channel.status();
  EXPECT_EQ((*one_channel)[0].result.GetInteger(0), 14);
  EXPECT_EQ((*one_channel)[1].result.GetInteger(0), 7);
  const auto two_channels = run("2");
  EXPECT_FALSE(two_channels.ok());
  EXPECT_NE(std::string(two_channels.status().message()).find("deadlock"), std::string::npos);
}

// ---- Random numbers.

Distribution Uniform() { return {Distribution::kUniform, ElementType::kF64, -1, 3, 0}; }
Distribution Normal() { return {Distribution::kNormal, ElementType::kF64, 5, 2, 0}; }
Distribution Dice() { return {Distribution::kIntegers, ElementType::kS32, 1, 0, 6}; }

std::string Violation(const Distribution& distribution, const std::vector<double>& draws) {
  Literal literal(Shape::Array(distribution.type, {static_cast<int64_t>(draws.size())}));
  std::vector<JointElement> elements;
  for (size_t i = 0; i < draws.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (distribution.kind == Distribution::kIntegers) {
      literal.SetInteger(at, static_cast<int64_t>(draws[i]));
    } else {
      literal.SetDouble(at, draws[i]);
    }
    elements.push_back({at, CodeOf(literal, at)});
  }
  return DrawViolation(distribution, elements);
}

TEST(Draws, RightOnesPass) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    const size_t count = seed % 10 == 0 ? 10000 : 10 + 60 * seed;
    std::vector<double> uniform, normal, dice;
    for (size_t i = 0; i < count; ++i) {
      uniform.push_back(std::uniform_real_distribution<double>(-1, 3)(random));
      normal.push_back(std::normal_distribution<double>(5, 2)(random));
      dice.push_back(std::uniform_int_distribution<int>(1, 6)(random));
    }
    EXPECT_EQ(Violation(Uniform(), uniform), "") << seed;
    EXPECT_EQ(Violation(Normal(), normal), "") << seed;
    EXPECT_EQ(Violation(Dice(), dice), "") << seed;
    // Drawn from another distribution.
    if (count < 2000) continue;
    EXPECT_NE(Violation(Normal(), uniform), "") << seed;
    std::vector<double> narrower = uniform, loaded = dice, wide = normal;
    for (double& x : narrower) x *= 0.75;
    for (double& x : loaded) x = x == 6 ? 5 : x;
    for (double& x : wide) x = 5 + (x - 5) * 1.25;
    EXPECT_NE(Violation(Uniform(), narrower), "") << seed;
    EXPECT_NE(Violation(Dice(), loaded), "") << seed;
    EXPECT_NE(Violation(Normal(), wide), "") << seed;
  }
}

TEST(Draws, OnesThatDependOnTheirNeighboursFail) {
  std::mt19937_64 random(7);
  std::vector<double> uniform, dice;
  for (size_t i = 0; i < 2000; ++i) {
    uniform.push_back(std::uniform_real_distribution<double>(-1, 3)(random));
    dice.push_back(std::uniform_int_distribution<int>(1, 6)(random));
    uniform.push_back(uniform.back());
    dice.push_back(7 - dice.back());
  }
  EXPECT_NE(Violation(Uniform(), uniform).find("neighbouring"), std::string::npos);
  EXPECT_NE(Violation(Dice(), dice).find("neighbouring"), std::string::npos);
}

TEST(Draws, WhatCannotBeDrawnFails) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_NE(Violation(Normal(), {5, infinity}), "");
  EXPECT_NE(Violation(Normal(), {5, std::nan("")}), "");
  EXPECT_NE(Violation(Dice(), {1, 7}), "");
  EXPECT_NE(Violation(Dice(), {0, 1}), "");
  EXPECT_EQ(Violation(Dice(), {1, 6}), "");
  EXPECT_EQ(Violation(Normal(), {5, -4}), "");
}

TEST(Draws, OfAProgramAreTested) {
  for (const char* draw : {"f32[4000] rng(a, b), distribution=rng_uniform",
                           "f32[4000] rng(a, b), distribution=rng_normal",
                           "bf16[4000] rng(c, d), distribution=rng_uniform",
                           "s32[4000] rng(i, j), distribution=rng_uniform"}) {
    SCOPED_TRACE(draw);
    const std::unique_ptr<Module> module = Read(std::string(R"(HloModule m
ENTRY e {
  a = f32[] constant(0)  b = f32[] constant(1)
  c = bf16[] constant(0)  d = bf16[] constant(1)
  i = s32[] constant(0)  j = s32[] constant(10)
  r = )") + draw + "\n  ROOT t = " + std::string(draw).substr(0, std::string_view(draw).find(' ')) +
                                                " reverse(r), dimensions={0}\n}");
    const auto expectation = MakeOracle()->Expect(*module, {}, Profile::Xla(), Limits{});
    ASSERT_TRUE(expectation.ok()) << expectation.status();
    std::vector<Literal> answer = PlainOf(*expectation);
    EXPECT_NE(JudgementOn(*expectation, answer).verdict, Verdict::kFail);
    const uint64_t code = answer[0].GetBits(17);
    for (int64_t i = 0; i < 4000; ++i) answer[0].SetBits(i, code);
    EXPECT_EQ(JudgementOn(*expectation, answer).verdict, Verdict::kFail);
  }
}

// The contract of an fft is on the norm of the error of one array. Every element of this answer is
// off by less than the whole error may be, so that it lies inside its own bound.
TEST(JointChoices, TheErrorOfALongFftIsJudgedByItsNorm) {
  constexpr int64_t kLength = 1 << 18;
  Literal x(Shape::Array(ElementType::kC64, {2, kLength}));
  std::mt19937 random(1);
  double squares = 0;
  for (int64_t k = 0; k < x.component_count(); ++k) {
    const double part = static_cast<double>(random()) * 0x1p-31 - 1;
    x.SetComponentBits(k, EncodeFloat(Format(ElementType::kF32), part));
    if (k >= 2 * kLength) squares += part * part;
  }
  const Expectation expectation = ExpectOn(R"(HloModule m
ENTRY e {
  x = c64[2,262144] parameter(0)
  ROOT r = c64[2,262144] fft(x), fft_type=FFT, fft_length={262144}
})",
                                           {x}, Profile::Xla());
  std::vector<Literal> answer = PlainOf(expectation);
  const Judgement right = JudgementOn(expectation, answer);
  EXPECT_EQ(right.verdict, Verdict::kPass);
  EXPECT_EQ(right.inconclusive, 0);
  // All of the second array is moved alike: to half of what the norm of the error may be, and to
  // twice that.
  const double allowed = 8 * 0x1p-24 * (1 + std::log2(kLength)) * std::sqrt(squares * kLength);
  const double each = allowed / std::sqrt(2.0 * kLength);
  for (const double part : {0.5, 2.0}) {
    std::vector<Literal> moved = answer;
    for (int64_t k = 2 * kLength; k < 4 * kLength; ++k) {
      moved[0].SetComponentBits(
          k, EncodeFloat(Format(ElementType::kF32), answer[0].GetComponent(k) + part * each));
    }
    const Judgement judgement = JudgementOn(expectation, moved);
    EXPECT_EQ(judgement.verdict, part < 1 ? Verdict::kPass : Verdict::kFail);
    EXPECT_EQ(judgement.inconclusive, 0);
  }
}

}  // namespace
}  // namespace assay::reference
