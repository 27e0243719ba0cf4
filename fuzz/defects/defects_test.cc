// Every planted defect is accepted by the compiler that it is for.
#include "fuzz/defects/defects.h"

#include <set>

#include "gtest/gtest.h"
#include "optimized/defects/defect.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

TEST(PlantedDefects, AllParseAndAgreeWithTheirFile) {
  ASSERT_GE(PlantedDefects().size(), 12u);
  for (const PlantedDefect& planted : PlantedDefects()) {
    absl::StatusOr<Defect> defect = ParseDefect(planted.json);
    ASSERT_TRUE(defect.ok()) << planted.name << ": " << defect.status();
    EXPECT_EQ(defect->name, planted.name);
    EXPECT_EQ(defect->gate, planted.gate);
    EXPECT_EQ(Name(defect->kind), planted.kind) << planted.name;
    EXPECT_GT(planted.summary.size(), 20u) << planted.name;
  }
}

TEST(PlantedDefects, UseAtLeastFourOperators) {
  std::set<std::string> operators;
  for (const PlantedDefect& planted : PlantedDefects()) operators.insert(planted.op);
  EXPECT_GE(operators.size(), 4u);
}

TEST(PlantedDefects, AreFoundByName) {
  EXPECT_TRUE(FindDefect("ds-of-ds-clamp").ok());
  absl::StatusOr<PlantedDefect> none = FindDefect("no-such-defect");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.status().message().find("ds-of-ds-clamp"), std::string::npos);
}

}  // namespace
}  // namespace assay
