// Answers that are legal, and the oracle as an implementation that gives such: what it keeps in
// wider types, what it flushes, and that a run gives what the last one gave.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "reference/bounds/choices/wider_module.h"
#include "reference/interpreter/interpreter.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay::reference {
namespace {

std::unique_ptr<Module> Read(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule("HloModule m\n\n" + text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// (1 + x) - 1 loses x in bf16.
TEST(KeepWider, GivesResultsTheirTypesBack) {
  const auto module = Read(R"(
ENTRY main {
  x = bf16[2] parameter(0)
  c = bf16[] constant(1)
  b = bf16[2] broadcast(c), dimensions={}
  s = bf16[2] add(x, b)
  d = bf16[2] subtract(s, b)
  n = s32[] constant(7)
  i = (bf16[2], s32[]) tuple(d, n)
  ROOT t = (bf16[2], (bf16[2], s32[])) tuple(d, i)
})");
  const auto wider = KeepWider(*module, ExcessType::kSingle);
  ASSERT_NE(wider, nullptr);
  EXPECT_EQ(wider->entry()->root()->shape(), module->entry()->root()->shape());
  EXPECT_EQ(wider->entry()->parameter(0)->shape(), module->entry()->parameter(0)->shape());
  Literal x(Shape::Array(ElementType::kBF16, {2}));
  x.SetDouble(0, 0x1p-10);
  x.SetDouble(1, 1);
  const auto rounded = MakeOracle()->Evaluate(*module, {&x}, Limits{});
  const auto kept = MakeOracle()->Evaluate(*wider, {&x}, Limits{});
  ASSERT_TRUE(rounded.ok() && kept.ok()) << rounded.status() << kept.status();
  EXPECT_EQ(Leaves(*rounded)[0]->GetDouble(0), 0);
  EXPECT_EQ(Leaves(*kept)[0]->GetDouble(0), 0x1p-10);
  EXPECT_EQ(Leaves(*kept)[1]->GetDouble(1), 1);
  EXPECT_EQ(Leaves(*kept)[2]->GetInteger(0), 7);
}

TEST(KeepWider, ConversionsRoundOnce) {
  // By way of f32 this integer becomes 451936256, which lies between two numbers of bf16.
  const auto module = Read(R"(
ENTRY main {
  n = s32[] parameter(0)
  ROOT c = bf16[] convert(n)
})");
  const auto wider = KeepWider(*module, ExcessType::kSingle);
  ASSERT_NE(wider, nullptr);
  Literal n(Shape::Scalar(ElementType::kS32));
  n.SetInteger(0, 451936255);
  const auto plain = MakeOracle()->Evaluate(*module, {&n}, Limits{});
  const auto kept = MakeOracle()->Evaluate(*wider, {&n}, Limits{});
  ASSERT_TRUE(plain.ok() && kept.ok());
  EXPECT_EQ(kept->GetBits(0), plain->GetBits(0));
}

TEST(KeepWider, LeavesBitsAloneAndWhatHasNothingToKeep) {
  EXPECT_EQ(KeepWider(*Read("ENTRY main {\n  ROOT x = f32[] parameter(0)\n}"), ExcessType::kSingle),
            nullptr);
  const auto bits = Read(R"(
ENTRY main {
  x = bf16[] parameter(0)
  s = bf16[] add(x, x)
  ROOT b = u16[] bitcast-convert(s)
})");
  EXPECT_EQ(KeepWider(*bits, ExcessType::kSingle), nullptr);
  const auto half = Read(R"(
ENTRY main {
  x = bf16[] parameter(0)
  ROOT s = bf16[] add(x, x)
})");
  EXPECT_EQ(KeepWider(*half, ExcessType::kHalf), nullptr) << "f16 does not hold bf16";
}

// A divisor that is made of constants, or of one number, may have a reciprocal: this is no case of
// verdicts.txt, where everything is.
TEST(LegalAnswers, AQuotientThatIsAPowerOfTwoMayBeTakenApart) {
  const auto module = Read(R"(
ENTRY main {
  x = f32[2] parameter(0)
  c = f32[] constant(2.53984547)
  b = f32[2] broadcast(c), dimensions={}
  m = f32[2] multiply(x, b)
  d = f32[2] divide(x, x)
  q = f32[2] divide(m, d)
  s = f32[2] add(q, x)
  ROOT t = (f32[2], f32[2]) tuple(q, s)
})");
  Literal x(Shape::Array(ElementType::kF32, {2})), answer(x.shape());
  x.SetDouble(0, -2.78477216f);
  x.SetDouble(1, 1);
  const auto expectation = MakeOracle()->Expect(*module, {&x}, Profile::Xla(), Limits{});
  ASSERT_TRUE(expectation.ok()) << expectation.status();
  const float product = -2.78477216f * 2.53984547f;
  answer.SetDouble(1, 2.53984547f);
  const Literal& sum = expectation->leaves[1].plain;
  auto judge = [&](float first) {
    answer.SetDouble(0, first);
    return Judge(*expectation, Literal::Tuple({answer, sum})).verdict;
  };
  EXPECT_EQ(judge(product), Verdict::kPass);
  // (m * x) / x for m / (x / x) is one ulp off.
  EXPECT_EQ(judge(std::nextafter(product, 0.0f)), Verdict::kPass);
  EXPECT_EQ(judge(product * (1 + 0x1p-18f)), Verdict::kFail);
}

TEST(ReferenceBackend, DrawsOtherAnswersAndTheSameAgain) {
  BackendRegistry registry;
  RegisterReference(registry);
  const auto module = Read(R"(
ENTRY main {
  x = f32[64] parameter(0)
  e = f32[64] exponential(x)
  ROOT d = f32[] dot(e, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
})");
  Literal x(Shape::Array(ElementType::kF32, {64}));
  for (int64_t i = 0; i < 64; ++i) x.SetDouble(i, 0.1 * static_cast<double>(i * 37 % 64) - 3);
  const auto expectation = MakeOracle()->Expect(*module, {&x}, Profile::Xla(), Limits{});
  ASSERT_TRUE(expectation.ok());
  std::set<uint64_t> answers;
  for (int seed = 1; seed <= 12; ++seed) {
    auto backend = registry.Create("reference:choices=" + std::to_string(seed));
    ASSERT_TRUE(backend.ok()) << backend.status();
    EXPECT_EQ((*backend)->Describe().profile, &Profile::Xla());
    auto executable = (*backend)->Compile(*module, {});
    ASSERT_TRUE(executable.ok());
    const auto first = (*executable)->Run({{&x}}), second = (*executable)->Run({{&x}});
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->outputs[0].GetBits(0), second->outputs[0].GetBits(0));
    EXPECT_EQ(Judge(*expectation, first->outputs[0]).verdict, Verdict::kPass);
    answers.insert(first->outputs[0].GetBits(0));
  }
  EXPECT_GT(answers.size(), 3u);
  EXPECT_FALSE(registry.Create("reference:choices=x").ok());
}

TEST(ReferenceBackend, FlushesSubnormalNumbersOfSomeRuns) {
  BackendRegistry registry;
  RegisterReference(registry);
  const auto module = Read(R"(
ENTRY main {
  x = f32[] parameter(0)
  c = f32[] constant(0.5)
  ROOT m = f32[] multiply(x, c)
})");
  Literal x(Shape::Scalar(ElementType::kF32));
  x.SetDouble(0, 0x1p-126);
  std::set<double> answers;
  for (int seed = 1; seed <= 12; ++seed) {
    auto backend = registry.Create("reference:choices=" + std::to_string(seed));
    auto executable = (*backend)->Compile(*module, {});
    const auto run = (*executable)->Run({{&x}});
    ASSERT_TRUE(run.ok()) << run.status();
    answers.insert(run->outputs[0].GetDouble(0));
  }
  EXPECT_EQ(answers, (std::set<double>{0, 0x1p-127}));
}

}  // namespace
}  // namespace assay::reference
