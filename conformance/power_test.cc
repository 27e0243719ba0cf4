// The bounds of the bundled real modules convict what is plainly wrong.
#include "conformance/power.h"

#include <gtest/gtest.h>

#include "reference/interpreter.h"

namespace assay {
namespace {

TEST(Power, BentOutputsOfRealModulesFail) {
  absl::StatusOr<std::vector<CaseFile>> cases =
      FindCases(std::string(ASSAY_SOURCE_DIR) + "/conformance/corpus");
  ASSERT_TRUE(cases.ok()) << cases.status();
  auto oracle = MakeOracle();
  CheckOptions options;
  options.profile = &Profile::Xla();
  ModulePower total;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    options.seed = seed;
    for (const CaseFile& file : *cases) {
      const absl::StatusOr<ModulePower> power = MeasurePower(file, *oracle, nullptr, options);
      ASSERT_TRUE(power.ok()) << file.name << ": " << power.status();
      total.moved += power->moved;
      total.moved_caught += power->moved_caught;
      total.flipped += power->flipped;
      total.flipped_caught += power->flipped_caught;
      EXPECT_EQ(power->flipped, power->flipped_caught) << file.name << " seed " << seed;
    }
  }
  RecordProperty("moved", static_cast<int>(total.moved));
  std::printf("power: %lld of %lld moved elements and %lld of %lld flipped bits fail\n",
              static_cast<long long>(total.moved_caught), static_cast<long long>(total.moved),
              static_cast<long long>(total.flipped_caught), static_cast<long long>(total.flipped));
  EXPECT_GT(total.moved, 20);
  EXPECT_GT(total.flipped, 20);
  EXPECT_GE(10 * total.moved_caught, 9 * total.moved);
}

}  // namespace
}  // namespace assay
