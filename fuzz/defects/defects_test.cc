// Every planted defect is accepted by the compiler that it is for.
#include "fuzz/defects/defects.h"

#include <map>
#include <set>

#include "gtest/gtest.h"
#include "optimized/defects/defect.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

TEST(PlantedDefects, AllParseAndAgreeWithTheirFile) {
  ASSERT_GE(PlantedDefects().size(), 200u);
  for (const PlantedDefect& planted : PlantedDefects()) {
    absl::StatusOr<Defect> defect = ParseDefect(planted.json);
    ASSERT_TRUE(defect.ok()) << planted.name << ": " << defect.status();
    EXPECT_EQ(defect->name, planted.name);
    EXPECT_EQ(defect->gate, planted.gate);
    EXPECT_EQ(Name(defect->kind), planted.kind) << planted.name;
    EXPECT_GT(planted.summary.size(), 10u) << planted.name;
    EXPECT_FALSE(planted.of_class.empty()) << planted.name;
  }
}

TEST(PlantedDefects, AreSpreadOverGatesAndOftenGuarded) {
  std::map<std::string, int> of_gate;
  std::set<std::string> names;
  size_t guarded = 0, others = 0;
  for (const PlantedDefect& planted : PlantedDefects()) {
    EXPECT_TRUE(names.insert(planted.name).second) << planted.name;
    // Few gates hold all the mistakes of kernels for GPUs.
    if (planted.backend == "gpu-sim") continue;
    EXPECT_LE(++of_gate[planted.gate], 3) << planted.gate;
    guarded += planted.guarded ? 1 : 0;
    ++others;
  }
  EXPECT_GE(10 * guarded, 4 * others);
}

TEST(PlantedDefects, BiteOnBackendsWithTheOptionsThatTheyNeed) {
  PlantedDefect defect;
  EXPECT_TRUE(IsFor(defect, "cpu:threads=1"));
  EXPECT_EQ(BackendFor(defect, "cpu"), "cpu");
  defect.backend = "gpu-sim";
  EXPECT_TRUE(IsFor(defect, "gpu-sim") && IsFor(defect, "gpu-sim:seed=5"));
  EXPECT_FALSE(IsFor(defect, "gpu") || IsFor(defect, "cpu"));
  defect.backend = "gpu-sim:libraries=on";
  EXPECT_TRUE(IsFor(defect, "gpu-sim:seed=5,libraries=on"));
  EXPECT_FALSE(IsFor(defect, "gpu-sim") || IsFor(defect, "gpu-sim:libraries=off"));
  defect.passes = "all";
  EXPECT_EQ(BackendFor(defect, "cpu"), "cpu:passes=all");
  // One of a file may need other options than the rest.
  for (const PlantedDefect& planted : PlantedDefects())
    if (planted.name == "inlined-call-forgets-relu") defect = planted;
  EXPECT_EQ(defect.backend, "gpu-sim:libraries=off");
  EXPECT_EQ(defect.json.find("libraries"), std::string::npos);
  defect.passes = "all";
  EXPECT_EQ(BackendFor(defect, "gpu-sim:seed=5"), "gpu-sim:seed=5,passes=all");
}

TEST(PlantedDefects, SurvivorsAreDefectsOfAKnownReason) {
  const std::set<std::string> reasons = {"equivalent", "invisible", "not generated", "masked"};
  for (const auto& [name, survivor] : Survivors()) {
    EXPECT_TRUE(FindDefect(name).ok()) << name;
    EXPECT_TRUE(reasons.contains(survivor.reason)) << name;
    EXPECT_GT(survivor.text.size(), 10u) << name;
  }
}

TEST(PlantedDefects, UseAtLeastFourOperators) {
  std::set<std::string> operators;
  for (const PlantedDefect& planted : PlantedDefects()) operators.insert(planted.op);
  EXPECT_GE(operators.size(), 4u);
}

TEST(PlantedDefects, AreFoundByName) {
  EXPECT_TRUE(FindDefect("ds-of-ds-clamp").ok());
  absl::StatusOr<PlantedDefect> none = FindDefect("ds-of-ds-clmp");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.status().message().find("ds-of-ds-clamp"), std::string::npos);
}

}  // namespace
}  // namespace assay
