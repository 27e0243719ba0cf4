// The goldens for several devices on the compiler.
#include <gtest/gtest.h>

#include <set>

#include "conformance/golden.h"
#include "optimized/cpu/cpu_backend.h"
#include "spec/base/row_table_for_test.h"

namespace assay {
namespace {

// Whoever teaches the compiler one of these takes it off the list.
TEST(CollectivesOnCpu, GoldensPass) {
  const std::set<std::string> unsupported = {
      "collective-permute-of-a-slice", "collective-permute-start-of-slices", "infeed-runs-dry",
      "schedules-with-a-cycle-deadlock", "send-between-devices"};
  BackendRegistry registry;
  RegisterCpu(registry);
  absl::StatusOr<std::unique_ptr<Backend>> cpu = registry.Create("cpu");
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  absl::StatusOr<std::vector<GoldenCase>> cases =
      GoldensOfFolder(TestDataDir() + "/conformance/goldens");
  ASSERT_TRUE(cases.ok()) << cases.status();
  int several = 0;
  for (const GoldenCase& golden : *cases) {
    if (golden.devices.replicas * golden.devices.partitions == 1) continue;
    const GoldenResult result = RunGolden(golden, **cpu, {});
    EXPECT_EQ(result.status, unsupported.contains(golden.name) ? "unsupported" : "passed")
        << golden.name << ": " << result.detail;
    ++several;
  }
  EXPECT_GE(several, 36);
}

}  // namespace
}  // namespace assay
