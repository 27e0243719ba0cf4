// The documents' worked examples on the oracle: its plain values are theirs, and no bound of either
// profile calls them wrong.
#include <gtest/gtest.h>

#include "conformance/golden.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Read at run time, from the source tree or from where ASSAY_DATA_DIR points: tools/coverage bends
// copies.
absl::StatusOr<std::vector<GoldenCase>> AllGoldens() {
  return GoldensOfFolder(TestDataDir() + "/conformance/goldens");
}

TEST(GoldensOnReference, AllPass) {
  BackendRegistry registry;
  RegisterReference(registry);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create("reference");
  ASSERT_TRUE(backend.ok());
  absl::StatusOr<std::vector<GoldenCase>> cases = AllGoldens();
  ASSERT_TRUE(cases.ok()) << cases.status();
  for (const GoldenCase& golden : *cases) {
    const GoldenResult result = RunGolden(golden, **backend, {});
    EXPECT_EQ(Name(result.outcome.kind), Name(Outcome::kPassed))
        << golden.name << ": " << result.outcome.Describe();
  }
}

TEST(GoldensOnReference, AreInsideTheBounds) {
  absl::StatusOr<std::vector<GoldenCase>> cases = AllGoldens();
  ASSERT_TRUE(cases.ok()) << cases.status();
  auto oracle = MakeOracle();
  for (const GoldenCase& golden : *cases) {
    const auto parameters = static_cast<size_t>(golden.module->entry()->parameter_count());
    const auto devices = static_cast<size_t>(golden.devices.replicas * golden.devices.partitions);
    for (const GoldenCase::Row& row : golden.rows) {
      if (!row.error.empty()) continue;
      std::vector<DeviceInputs> inputs(devices);
      for (size_t d = 0; d < devices; ++d) {
        for (size_t p = 0; p < parameters; ++p)
          inputs[d].arguments.push_back(&row.inputs[d * parameters + p]);
        if (!row.infeed.empty()) inputs[d].infeed = row.infeed[d];
      }
      for (const Profile* profile : {&Profile::Strict(), &Profile::Xla()}) {
        auto expected =
            oracle->ExpectDevices(*golden.module, golden.devices, inputs, *profile, Limits{});
        ASSERT_TRUE(expected.ok()) << golden.name << ": " << expected.status();
        const size_t leaves = row.expected.size() / devices;
        for (size_t d = 0; d < devices; ++d) {
          std::vector<const Literal*> values;
          for (size_t i = 0; i < leaves; ++i) values.push_back(&row.expected[d * leaves + i]);
          const Judgement judgement = JudgeLeaves((*expected)[d].result, values);
          EXPECT_NE(judgement.verdict, Verdict::kFail)
              << golden.name << " device " << d << ", " << profile->name() << ": "
              << judgement.reason;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay
