// The first array that is wrong, small programs around it, and what is wrong behind it.
#include "fuzz/reduce/wrong_instruction.h"

#include <optional>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/testing/negates_nothing.h"
#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

TEST(WrongInstruction, IsTheFirstAndASmallProgramIsAroundIt) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend backend(NegatesNothing(*oracle));
  const CheckSubject subject{*oracle, backend, Profile::Strict(), {}, Limits()};
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(R"(HloModule m
ENTRY e {
  x = s32[3] parameter(0)
  y = s32[3] parameter(1)
  sum = s32[3] add(x, y)
  product = s32[3] multiply(sum, y)
  n = s32[3] negate(product)
  after = s32[3] add(n, x)
  ROOT last = s32[3] multiply(after, y)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  ReduceCase whole{*std::move(module), {}};
  for (int i = 0; i < 2; ++i) {
    Literal input(Shape::Array(ElementType::kS32, {3}));
    for (int64_t k = 0; k < 3; ++k) input.SetInteger(k, 2 + k + i);
    whole.inputs.push_back(std::move(input));
  }
  const Instruction* wrong = FirstWrongArray(subject, *whole.module, whole.inputs).instruction;
  ASSERT_NE(wrong, nullptr);
  EXPECT_EQ(PlaceOf(*wrong), "negate(multiply)");
  const std::vector<ReduceCase> around =
      ProgramsAround(whole, wrong, [&](const Module& part, const std::vector<Literal>& inputs) {
        return oracle->Evaluate(part, CheckCase::Of(part, inputs).arguments[0], {});
      });
  ASSERT_EQ(around.size(), 3u) << "one, two and three steps; then nothing is cut any more";
  EXPECT_EQ(around[0].module->InstructionCount(), 2) << WriteModule(*around[0].module);
  ASSERT_EQ(around[0].inputs.size(), 1u);
  EXPECT_EQ(around[0].inputs[0].GetInteger(0), (2 + 3) * 3);
  EXPECT_EQ(around[1].module->InstructionCount(), 4) << WriteModule(*around[1].module);
  EXPECT_EQ(around[2].module->InstructionCount(), 5) << WriteModule(*around[2].module);
}

TEST(WrongInstruction, WhatIsBehindItShowsWhenItsValueIsGiven) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend backend(NegatesNothing(*oracle));
  const CheckSubject subject{*oracle, backend, Profile::Strict(), {}, Limits()};
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(R"(HloModule m
ENTRY e {
  x = s32[2] parameter(0)
  product = s32[2] multiply(x, x)
  n = s32[2] negate(product)
  sum = s32[2] add(n, x)
  ROOT last = s32[2] negate(sum)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  ReduceCase program{*std::move(module), {}};
  program.inputs.push_back(Splat(Shape::Array(ElementType::kS32, {2}), 3));
  const EvaluateFunction evaluate = [&](const Module& part, const std::vector<Literal>& inputs) {
    return oracle->Evaluate(part, CheckCase::Of(part, inputs).arguments[0], {});
  };
  const Instruction* first = FirstWrongArray(subject, *program.module, program.inputs).instruction;
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(PlaceOf(*first), "negate(multiply)");
  const int64_t number = NumberOfArray(*program.module, first);
  std::optional<ReduceCase> behind = WithArrayGiven(program, number, evaluate);
  ASSERT_TRUE(behind.has_value());
  EXPECT_EQ(behind->inputs.size(), 2u) << WriteModule(*behind->module);
  EXPECT_EQ(behind->inputs.back().GetInteger(0), -9);
  const Instruction* second = FirstWrongArray(subject, *behind->module, behind->inputs).instruction;
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(PlaceOf(*second), "negate(add)");
  EXPECT_FALSE(WithArrayGiven(*behind, NumberOfArray(*behind->module, second), evaluate))
      << "nothing is left";
  EXPECT_FALSE(WithArrayGiven(program, -1, evaluate));
}

}  // namespace
}  // namespace assay
