#include "spec/verifier/broadcasting.h"

#include <fstream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/base/row_table_for_test.h"
#include "spec/ir/module.h"
#include "spec/verifier/broadcastable.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

using Row = std::vector<std::string>;

// Lines of "field | field | ..." without comments, blanks around fields removed.
std::vector<Row> ReadRows(const std::string& file) {
  std::ifstream in(TestDataDir() + "/spec/ops/testdata/" + file);
  EXPECT_TRUE(in.good()) << file;
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#' || line.rfind("row:", 0) == 0) continue;
    Row row;
    for (absl::string_view field : absl::StrSplit(line, '|'))
      row.emplace_back(absl::StripAsciiWhitespace(field));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<int64_t> ParseList(const std::string& text) {
  std::vector<int64_t> list;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
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
  const std::vector<Row> rows = ReadRows("broadcasting.txt");
  ASSERT_GE(rows.size(), 20u);
  for (const Row& row : rows) {
    SCOPED_TRACE(absl::StrJoin(row, " | "));
    ASSERT_EQ(row.size(), 4u);
    Module module("m");
    Computation* main = module.AddComputation("main");
    Instruction* lhs = main->AddParameter(0, Shape::Array(ElementType::kF32, ParseList(row[0])));
    Instruction* rhs = main->AddParameter(1, Shape::Array(ElementType::kF32, ParseList(row[1])));
    const auto sum = AddBinary(*main, Opcode::kAdd, lhs, rhs, ParseList(row[2]));
    if (row[3] == "reject") {
      EXPECT_FALSE(sum.ok());
      continue;
    }
    ASSERT_TRUE(sum.ok()) << sum.status();
    EXPECT_EQ((*sum)->shape(), Shape::Array(ElementType::kF32, ParseList(row[3])));
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
  const std::vector<Row> rows = ReadRows("broadcastable.txt");
  ASSERT_GE(rows.size(), 28u);
  for (const Row& row : rows) {
    SCOPED_TRACE(absl::StrJoin(row, " | "));
    ASSERT_EQ(row.size(), 3u);
    std::vector<TraitShape> operands;
    for (absl::string_view text : absl::StrSplit(row[0], ' '))
      operands.push_back(ParseTraitShape(text));
    EXPECT_EQ(VerifyBroadcastable(operands, ParseTraitShape(row[1])).ok(), row[2] == "accept");
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
