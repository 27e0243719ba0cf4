// Tests which wrong answers are only notable, and which are really wrong.
#include "fuzz/opinions/notable.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/fake_backend.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

Literal Row(std::vector<double> values) {
  Literal row(Shape::Array(ElementType::kF32, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) row.SetDouble(static_cast<int64_t>(i), values[i]);
  return row;
}

std::string Note(const std::vector<double>& right, const std::vector<double>& answer) {
  Expectation expectation;
  expectation.leaves.emplace_back();
  expectation.leaves[0].plain = Row(right);
  return NotableDifference(expectation, Row(answer));
}

constexpr double kTiny = 1e-40;  // subnormal in f32

TEST(NotableTest, ZerosAloneAreNotable) {
  EXPECT_EQ(Note({0.0, 1}, {-0.0, 1}), "sign of a zero");
  EXPECT_EQ(Note({kTiny, 1}, {0, 1}), "a subnormal number became zero");
  EXPECT_EQ(Note({kTiny, -0.0}, {0, 0.0}), "a subnormal number became zero");
}

TEST(NotableTest, OneWrongElementIsAFailure) {
  EXPECT_EQ(Note({0.0, 1}, {-0.0, 2}), "");
  EXPECT_EQ(Note({0.0, 1}, {kTiny, 1}), "") << "a number for a zero";
  EXPECT_EQ(Note({1e-30, 1}, {0, 1}), "") << "a normal number is never flushed";
  EXPECT_EQ(Note({std::numeric_limits<double>::quiet_NaN(), 1}, {0, 1}), "");
}

TEST(NotableTest, PartsOfComplexNumbersAreNumbers) {
  Literal right(Shape::Array(ElementType::kC64, {1})), answer = right;
  right.SetComponentBits(0, 0x40300000);   // 2.75
  answer.SetComponentBits(0, 0x40300000);  // with +0 for the other part
  answer.SetComponentBits(1, 0x80000000);  // -0
  Expectation expectation;
  expectation.leaves.emplace_back();
  expectation.leaves[0].plain = right;
  EXPECT_EQ(NotableDifference(expectation, answer), "sign of a zero");
  answer.SetComponentBits(0, 0x40400000);
  EXPECT_EQ(NotableDifference(expectation, answer), "");
}

TEST(NotableTest, WhatPassesIsNotNotable) {
  EXPECT_EQ(Note({0.0, 1}, {0.0, 1}), "");
  EXPECT_EQ(NotableDifference(Expectation(), Literal()), "");
}

// A compiler elsewhere that takes x for x + 0 and, if it `drops_negate`, for -x.
FakeBackend::Script WithoutZeros(Oracle& oracle, bool drops_negate) {
  FakeBackend::Script script;
  script.description.name = "fake";
  script.description.dumps_passes = true;
  script.compile = [](const Module&, const CompileOptions&) { return absl::OkStatus(); };
  script.run = [&oracle, drops_negate](const Module& module, const CompileOptions&,
                                       const std::vector<std::vector<const Literal*>>& arguments) {
    std::unique_ptr<Module> simple = module.Clone("");
    for (Instruction* at : *simple->entry()) {
      const bool is_dropped =
          at->opcode() == Opcode::kAdd || (drops_negate && at->opcode() == Opcode::kNegate);
      if (is_dropped) at->ReplaceAllUsesWith(at->operand(0));
    }
    RunResult result;
    absl::StatusOr<Literal> value = oracle.Evaluate(*simple, arguments[0], Limits());
    if (!value.ok()) return absl::StatusOr<RunResult>(value.status());
    result.outputs.push_back(*std::move(value));
    return absl::StatusOr<RunResult>(std::move(result));
  };
  return script;
}

std::string OriginOf(const std::string& entry, bool drops_negate,
                     const std::vector<double>& row = {-0.0, 3}) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend backend(WithoutZeros(*oracle, drops_negate));
  const CheckSubject subject{*oracle, backend, Profile::Xla(), {}, Limits()};
  auto module = ReadModule("HloModule m\nENTRY e {\n" + entry + "}\n");
  EXPECT_TRUE(module.ok()) << module.status();
  std::vector<Literal> inputs;
  inputs.push_back(Row(row));
  const NotedOutcome noted = CheckAndNote(subject, **module, inputs);
  EXPECT_TRUE(noted.outcome.Fails(Outcome::kWrong)) << noted.outcome.Describe();
  EXPECT_EQ(noted.notable, "") << "the outputs themselves are wrong";
  const NotedOrigin origin = NotableOrigin(subject, **module, inputs, noted.answer);
  // A difference that zeros alone explain needs no array to blame; what remains a failure does.
  EXPECT_TRUE(origin.first.has_value() || !origin.notable.empty());
  if (origin.first.has_value()) {
    const WrongArray first = FirstWrongArray(subject, **module, inputs);
    EXPECT_EQ(origin.first->instruction, first.instruction) << "so that nobody looks for it again";
    EXPECT_EQ(origin.first->number, first.number);
  }
  return origin.notable;
}

TEST(NotableTest, WhatIsMadeOfANotableValueIsNotable) {
  const std::string bits = R"(
  x = f32[2] parameter(0)
  zero = f32[2] constant({0, 0})
  sum = f32[2] add(x, zero)
  ROOT bits = s32[2] bitcast-convert(sum)
)";
  EXPECT_EQ(OriginOf(bits, /*drops_negate=*/false), "sign of a zero");
  const std::string both = R"(
  x = f32[2] parameter(0)
  zero = f32[2] constant({0, 0})
  sum = f32[2] add(x, zero)
  bits = s32[2] bitcast-convert(sum)
  ROOT n = s32[2] negate(bits)
)";
  EXPECT_EQ(OriginOf(both, /*drops_negate=*/true), "") << "another bug is behind it";
  // One zero keeps its sign and one loses it, so that no turn of all zeros of an array explains the
  // answer; and the bits of the NaN stay open.
  const std::string beside = R"(
  x = f32[5] parameter(0)
  none = f32[] constant(0)
  zero = f32[5] broadcast(none), dimensions={}
  sum = f32[5] add(x, zero)
  both = f32[10] concatenate(sum, x), dimensions={0}
  ROOT bits = s32[10] bitcast-convert(both)
)";
  EXPECT_EQ(OriginOf(beside, /*drops_negate=*/false, {-0.0, std::nan(""), 3, 4, 0}),
            "sign of a zero");
}

// A compiler elsewhere that distributes: x * -1 + y * -1 is (x + y) * -1, and 1 - 1 has another
// sign than -1 + 1. As soon as the sum is an output it does not.
TEST(NotableTest, WhatIsMadeOfTheOtherZeroIsNotable) {
  const auto note = [](double slope) {
    const std::unique_ptr<Oracle> oracle = MakeOracle();
    FakeBackend::Script script;
    script.description.name = "fake";
    script.compile = [](const Module&, const CompileOptions&) { return absl::OkStatus(); };
    script.run = [&](const Module& module, const CompileOptions&,
                     const std::vector<std::vector<const Literal*>>& arguments) {
      absl::StatusOr<Literal> value = oracle->Evaluate(module, arguments[0], Limits());
      RunResult result;
      if (!value.ok()) return absl::StatusOr<RunResult>(value.status());
      if (!module.entry()->root()->shape().IsTuple()) {
        for (int64_t i = 0; i < value->element_count(); ++i)
          value->SetDouble(i, value->GetDouble(i) * slope);
      }
      result.outputs.push_back(*std::move(value));
      return absl::StatusOr<RunResult>(std::move(result));
    };
    FakeBackend backend(script);
    const CheckSubject subject{*oracle, backend, Profile::Xla(), {}, Limits()};
    auto module = ReadModule(R"(HloModule m
ENTRY e {
  x = f32[1] parameter(0)
  y = f32[1] parameter(1)
  sum = f32[1] add(x, y)
  one = f32[1] constant({1})
  ROOT r = f32[1] divide(one, sum)
}
)");
    EXPECT_TRUE(module.ok()) << module.status();
    std::vector<Literal> inputs;
    inputs.push_back(Row({-1}));
    inputs.push_back(Row({1}));
    const NotedOutcome noted = CheckAndNote(subject, **module, inputs);
    EXPECT_TRUE(noted.outcome.Fails(Outcome::kWrong)) << noted.outcome.Describe();
    return NotableOrigin(subject, **module, inputs, noted.answer).notable;
  };
  EXPECT_EQ(note(-1), "sign of a zero") << "an infinity of the other sign";
  EXPECT_EQ(note(0), "") << "a NaN";
}

}  // namespace
}  // namespace assay
