// Tests of the broadcasting rule against the table of the document.
#include "spec/verifier/broadcasting.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/base/case_file_for_test.h"
#include "spec/base/strings.h"
#include "spec/ir/module.h"
#include "spec/verifier/broadcastable.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

std::vector<int64_t> ParseList(std::string_view text) {
  std::vector<int64_t> list;
  for (absl::string_view part : absl::StrSplit(ToAbsl(text), ',', absl::SkipEmpty())) {
    EXPECT_TRUE(absl::SimpleAtoi(part, &list.emplace_back())) << text;
  }
  return list;
}

TraitShape ParseTraitShape(absl::string_view text) {
  if (text == "*") return TraitShape::Unranked();
  std::vector<int64_t> sizes;
  for (absl::string_view part : absl::StrSplit(text, 'x', absl::SkipEmpty())) {
    sizes.push_back(kDynamicSize);
    if (part != "?") {
      EXPECT_TRUE(absl::SimpleAtoi(part, &sizes.back())) << text;
    }
  }
  return TraitShape::Ranked(std::move(sizes));
}

TEST(BroadcastingTest, TableOfTheDocument) {
  CasesForTest rows("spec/ops/testdata/broadcasting.txt",
                    {"lhs", "rhs", "broadcast_dimensions", "expect"});
  ASSERT_GE(rows.blocks().size(), 20u);
  for (const CaseBlock& row : rows.blocks()) {
    SCOPED_TRACE(row.name);
    ASSERT_NE(row.Find("expect"), nullptr);
    Module module("m");
    Computation* main = module.AddComputation("main");
    const auto parameter = [&](int64_t number, std::string_view key) {
      return main->AddParameter(number, Shape::Array(ElementType::kF32, ParseList(row.Value(key))));
    };
    Instruction* lhs = parameter(0, "lhs");
    Instruction* rhs = parameter(1, "rhs");
    const auto sum =
        AddBinary(*main, Opcode::kAdd, lhs, rhs, ParseList(row.Value("broadcast_dimensions")));
    rows.ExpectValue(*row.Find("expect"),
                     sum.ok() ? absl::StrJoin((*sum)->shape().dimensions(), ",") : "reject");
    if (!sum.ok()) continue;
    EXPECT_EQ((*sum)->shape().element_type(), ElementType::kF32);
    main->set_root(*sum);
    EXPECT_TRUE(Verify(module).ok()) << Verify(module);
  }
}

TEST(BroadcastingTest, ErrorsNameDimensionAndSizes) {
  const auto result = BroadcastDimensions({7, 2, 5}, {7, 2, 6}, {});
  EXPECT_THAT(
      std::string(result.status().message()),
      ::testing::HasSubstr("dimension 2 of [7,2,5] has size 5, dimension 2 of [7,2,6] has 6"));
}

TEST(BroadcastingTest, EqualShapesAddNothing) {
  Module module("m");
  Computation* main = module.AddComputation("main");
  Instruction* a = main->AddParameter(0, Shape::Array(ElementType::kS32, {2, 1}));
  const auto sum = AddBinary(*main, Opcode::kAdd, a, a);
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(main->instruction_count(), 2);
}

TEST(BroadcastingTest, RefusesMixedTypesAndOtherOps) {
  Module module("m");
  Computation* main = module.AddComputation("main");
  Instruction* a = main->AddParameter(0, Shape::Array(ElementType::kS32, {2}));
  Instruction* b = main->AddParameter(1, Shape::Array(ElementType::kF32, {2}));
  EXPECT_THAT(std::string(AddBinary(*main, Opcode::kAdd, a, b).status().message()),
              ::testing::HasSubstr("element types differ: s32 and f32"));
  EXPECT_THAT(std::string(AddBinary(*main, Opcode::kDot, a, a).status().message()),
              ::testing::HasSubstr("dot is not an element-wise binary op"));
}

TEST(BroadcastableTest, TableOfTheDocument) {
  CasesForTest rows("spec/ops/testdata/broadcastable.txt", {"operands", "result", "expect"});
  ASSERT_GE(rows.blocks().size(), 28u);
  for (const CaseBlock& row : rows.blocks()) {
    SCOPED_TRACE(row.name);
    ASSERT_NE(row.Find("expect"), nullptr);
    std::vector<TraitShape> operands;
    for (const std::string& text : row.Words("operands")) operands.push_back(ParseTraitShape(text));
    const TraitShape result = ParseTraitShape(ToAbsl(row.Value("result")));
    rows.ExpectValue(*row.Find("expect"),
                     VerifyBroadcastable(operands, result).ok() ? "accept" : "reject");
  }
}

TEST(BroadcastableTest, InferDimIsSymmetricAndGivesTheTable) {
  constexpr int64_t kError = -2;
  const struct {
    int64_t a, b, result;
  } kRows[] = {{kDynamicSize, kDynamicSize, kDynamicSize},
               {kDynamicSize, 1, kDynamicSize},
               {kDynamicSize, 7, 7},
               {kDynamicSize, 0, 0},
               {1, 1, 1},
               {1, 7, 7},
               {1, 0, 0},
               {7, 7, 7},
               {0, 0, 0},
               {7, 8, kError},
               {0, 7, kError}};
  for (const auto& row : kRows) {
    EXPECT_EQ(InferDim(row.a, row.b).value_or(kError), row.result) << row.a << " " << row.b;
    EXPECT_EQ(InferDim(row.b, row.a).value_or(kError), row.result) << row.b << " " << row.a;
  }
}

TEST(BroadcastableTest, NothingRankedInfersNothing) {
  EXPECT_EQ(*InferResultShape({TraitShape::Unranked()}), TraitShape::Unranked());
  EXPECT_FALSE(VerifyBroadcastable({}, TraitShape::Unranked()).ok());
}

}  // namespace
}  // namespace assay
