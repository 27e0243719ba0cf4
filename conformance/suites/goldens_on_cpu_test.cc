// The goldens on the compiler.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "conformance/golden.h"
#include "optimized/cpu/cpu_backend.h"
#include "spec/base/case_file_for_test.h"

namespace assay {
namespace {

std::set<std::string> NotCompiled() {
  std::ifstream in(TestDataDir() + "/conformance/goldens_not_compiled.list");
  EXPECT_TRUE(in.good());
  std::set<std::string> names;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') names.insert(line);
  return names;
}

TEST(GoldensOnCpu, PassOrAreListed) {
  std::set<std::string> listed = NotCompiled();
  BackendRegistry registry;
  RegisterCpu(registry);
  absl::StatusOr<std::unique_ptr<Backend>> cpu = registry.Create("cpu");
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  absl::StatusOr<std::vector<GoldenCase>> cases =
      GoldensOfFolder(TestDataDir() + "/conformance/goldens");
  ASSERT_TRUE(cases.ok()) << cases.status();
  int passed = 0, of_several_devices = 0;
  for (const GoldenCase& golden : *cases) {
    const GoldenResult result = RunGolden(golden, **cpu, {});
    const Outcome::Kind wanted =
        listed.erase(golden.name) != 0 ? Outcome::kUnsupported : Outcome::kPassed;
    EXPECT_EQ(Name(result.outcome.kind), Name(wanted))
        << golden.name << ": " << result.outcome.Describe();
    if (result.outcome.kind != Outcome::kPassed) continue;
    ++passed;
    of_several_devices += golden.devices.replicas * golden.devices.partitions > 1 ? 1 : 0;
  }
  EXPECT_GE(passed, 510);
  EXPECT_GE(of_several_devices, 33);
  EXPECT_TRUE(listed.empty()) << "no golden has the name " << *listed.begin();
}

}  // namespace
}  // namespace assay
