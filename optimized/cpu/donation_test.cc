// Arguments that are given away: results lie in their memory, and nobody else's values change.
#include <gtest/gtest.h>

#include "optimized/cpu/cpu_backend.h"
#include "optimized/cpu/cpu_executable.h"
#include "optimized/cpu/testing.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

std::unique_ptr<CpuExecutable> MustCompile(const std::string& text) {
  std::unique_ptr<Module> module = MustRead(text);
  auto executable = MakeCpu()->Compile(*module, {});
  EXPECT_TRUE(executable.ok()) << executable.status();
  return std::unique_ptr<CpuExecutable>(static_cast<CpuExecutable*>(executable->release()));
}

// A cache of 64 MiB of which one row is written.
constexpr char kCache[] = R"(HloModule cache, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  cache = f32[4096,4096] parameter(0)
  row = f32[1,4096] parameter(1)
  at = s32[] parameter(2)
  zero = s32[] constant(0)
  ROOT next = f32[4096,4096] dynamic-update-slice(cache, row, at, zero)
})";

TEST(Donation, ACacheIsUpdatedWhereItIs) {
  std::unique_ptr<CpuExecutable> executable = MustCompile(kCache);
  Literal cache(Shape::Array(ElementType::kF32, {4096, 4096}));
  Literal row(Shape::Array(ElementType::kF32, {1, 4096}));
  for (float& value : row.data<float>()) value = 7;
  for (int32_t step = 0; step < 3; ++step) {
    const Literal at = Literal::Scalar(ElementType::kS32, step * 100);
    const uint8_t* before = cache.bytes().data();
    auto run = executable->RunDonating({{&cache, &row, &at}}, {{&cache, nullptr, nullptr}});
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_TRUE(cache.bytes().empty()) << "what was given away is empty";
    cache = std::move(run->outputs[0]);
    // It is the same memory, and there is none of that size beside it: only the row was moved.
    EXPECT_EQ(cache.bytes().data(), before);
    EXPECT_LT(run->peak_bytes, 1 << 20);
  }
  for (int64_t r = 0; r < 300; ++r) {
    EXPECT_EQ(cache.data<float>()[r * 4096 + 17], r % 100 == 0 ? 7 : 0) << r;
  }
}

TEST(Donation, WhatIsNotGivenStaysAsItIs) {
  std::unique_ptr<CpuExecutable> executable = MustCompile(kCache);
  const Literal cache(Shape::Array(ElementType::kF32, {4096, 4096}));
  Literal row(Shape::Array(ElementType::kF32, {1, 4096}));
  row.data<float>()[0] = 3;
  const Literal at = Literal::Scalar<int32_t>(ElementType::kS32, 1);
  const auto run = executable->Run({{&cache, &row, &at}});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->outputs[0].data<float>()[4096], 3);
  EXPECT_EQ(cache.data<float>()[4096], 0);
}

// Each result lies where an operand of the other is read.
TEST(Donation, ResultsMayChangePlaces) {
  constexpr char kSwap[] =
      R"(HloModule swap, input_output_alias={ {0}: (0, {}, must-alias), {1}: (1, {0}, may-alias) }
ENTRY e {
  a = s32[5] parameter(0)
  t = (s32[5], s32[5]) parameter(1)
  b = s32[5] get-tuple-element(t), index=0
  c = s32[5] get-tuple-element(t), index=1
  d = s32[5] add(b, c)
  r = s32[5] reverse(a), dimensions={0}
  ROOT out = (s32[5], s32[5], s32[5]) tuple(d, r, a)
})";
  std::unique_ptr<CpuExecutable> executable = MustCompile(kSwap);
  for (const bool gives : {false, true}) {
    Literal a = MustReadLiteral("s32[5]", "{1, 2, 3, 4, 5}");
    std::vector<Literal> parts = {MustReadLiteral("s32[5]", "{10, 20, 30, 40, 50}"),
                                  MustReadLiteral("s32[5]", "{1, 1, 1, 1, 1}")};
    Literal t = Literal::Tuple(std::move(parts));
    const auto run =
        gives ? executable->RunDonating({{&a, &t}}, {{&a, &t}}) : executable->Run({{&a, &t}});
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->outputs[0].ToString(),
              "( {11, 21, 31, 41, 51}, {5, 4, 3, 2, 1}, {1, 2, 3, 4, 5} )");
    if (!gives) {
      EXPECT_EQ(a.ToString(), "{1, 2, 3, 4, 5}");
    }
  }
}

TEST(Donation, MistakesAreRefused) {
  constexpr char kSum[] = R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  ROOT c = f32[2] add(a, b)
})";
  std::unique_ptr<CpuExecutable> executable = MustCompile(kSum);
  Literal a = MustReadLiteral("f32[2]", "{1, 2}"), b = MustReadLiteral("f32[2]", "{3, 4}");
  const auto rejects = [&](const std::vector<const Literal*>& arguments,
                           const std::vector<std::vector<Literal*>>& donated, const char* word) {
    const auto run = executable->RunDonating({arguments}, donated);
    ASSERT_FALSE(run.ok()) << word;
    EXPECT_EQ(ClassOf(run.status()), ErrorClass::kRejected);
    EXPECT_NE(run.status().message().find(word), std::string::npos) << run.status();
  };
  rejects({&a, &a}, {{&a, nullptr}}, "another argument, too");
  rejects({&a, &a}, {{&a, &a}}, "another argument, too");
  rejects({&a, &b}, {{&b, nullptr}}, "is not the argument itself");
  rejects({&a, &b}, {{nullptr, nullptr, &a}}, "is not the argument itself");
  rejects({&a, &b}, {}, "devices");
  const auto run = executable->RunDonating({{&a, &b}}, {{&a, &b}});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->outputs[0].ToString(), "{4, 6}");
  // Both are gone, the one whose memory serves nobody as well.
  rejects({&a, &b}, {{nullptr, nullptr}}, "argument 0 is empty");
}

// A caller that a run refuses keeps what it offered.
TEST(Donation, ARefusedRunTakesNothing) {
  std::unique_ptr<CpuExecutable> executable = MustCompile(kCache);
  Literal cache(Shape::Array(ElementType::kF32, {4096, 4096}));
  const Literal row(Shape::Array(ElementType::kF32, {2, 4096}));
  const Literal at = Literal::Scalar<int32_t>(ElementType::kS32, 1);
  const auto run = executable->RunDonating({{&cache, &row, &at}}, {{&cache, nullptr, nullptr}});
  EXPECT_EQ(ClassOf(run.status()), ErrorClass::kRejected);
  EXPECT_EQ(cache.shape().ByteSize(), int64_t{64} << 20);
}

TEST(Donation, WhatMustAliasMustBeGiven) {
  constexpr char kMust[] = R"(HloModule m, input_output_alias={ {}: (1, {}, must-alias) }
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  ROOT c = f32[2] add(a, b)
})";
  std::unique_ptr<Module> module = MustRead(kMust);
  CompileOptions options;
  options.decision_limit = 0;  // an alias that must be is no decision
  auto compiled = MakeCpu()->Compile(*module, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  auto& executable = static_cast<CpuExecutable&>(**compiled);
  Literal a = MustReadLiteral("f32[2]", "{1, 2}"), b = MustReadLiteral("f32[2]", "{3, 4}");
  const auto kept = executable.RunDonating({{&a, &b}}, {{&a, nullptr}});
  EXPECT_EQ(ClassOf(kept.status()), ErrorClass::kRejected);
  EXPECT_NE(kept.status().message().find("must-alias"), std::string::npos) << kept.status();
  const uint8_t* before = b.bytes().data();
  const auto run = executable.RunDonating({{&a, &b}}, {{nullptr, &b}});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->outputs[0].bytes().data(), before);
  EXPECT_EQ(run->outputs[0].ToString(), "{4, 6}");
}

// An argument that a caller offers when it compiles is paired with a result of its shape.
TEST(Donation, OffersOfTheCompilationAreTaken) {
  std::string text = kCache;
  text.replace(0, text.find('\n'), "HloModule cache");
  std::unique_ptr<Module> module = MustRead(text);
  CompileOptions options;
  options.donated = {{0, {}}};
  auto compiled = MakeCpu()->Compile(*module, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_LT((*compiled)->Statistics().at("bytes.moved"), 1 << 20);
  Literal cache(Shape::Array(ElementType::kF32, {4096, 4096}));
  const Literal row(Shape::Array(ElementType::kF32, {1, 4096}));
  const Literal at = Literal::Scalar<int32_t>(ElementType::kS32, 1);
  const uint8_t* before = cache.bytes().data();
  const auto run = static_cast<CpuExecutable&>(**compiled)
                       .RunDonating({{&cache, &row, &at}}, {{&cache, nullptr, nullptr}});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->outputs[0].bytes().data(), before);
  options.donated = {{7, {}}};
  EXPECT_FALSE(MakeCpu()->Compile(*module, options).ok());
}

// A refused decision leaves a result of its own.
TEST(Donation, TheGateRefuses) {
  std::unique_ptr<Module> module = MustRead(kCache);
  CompileOptions options;
  options.decision_limit = 0;
  auto executable = MakeCpu()->Compile(*module, options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  Literal cache(Shape::Array(ElementType::kF32, {4096, 4096}));
  const Literal row(Shape::Array(ElementType::kF32, {1, 4096}));
  const Literal at = Literal::Scalar<int32_t>(ElementType::kS32, 1);
  const auto run = static_cast<CpuExecutable&>(**executable)
                       .RunDonating({{&cache, &row, &at}}, {{&cache, nullptr, nullptr}});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_GE(run->peak_bytes, int64_t{64} << 20);
}

}  // namespace
}  // namespace assay
