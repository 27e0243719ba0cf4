// The oracle gives every golden of the documents. The files are read at run time, from the source
// tree or from where ASSAY_DATA_DIR points.
#include <gtest/gtest.h>

#include "conformance/golden.h"
#include "reference/interpreter.h"
#include "spec/base/row_table_for_test.h"

namespace assay {
namespace {

TEST(GoldensOnTheOracle, AllPass) {
  absl::StatusOr<std::vector<GoldenCase>> cases =
      GoldensOfFolder(TestDataDir() + "/conformance/goldens");
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_GE(cases->size(), 80u);
  BackendRegistry registry;
  RegisterReference(registry);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create("reference");
  ASSERT_TRUE(backend.ok()) << backend.status();
  for (const GoldenCase& golden : *cases) {
    const GoldenResult result = RunGolden(golden, **backend, {});
    EXPECT_EQ(result.status, "passed") << golden.file << ":" << golden.line << " " << result.detail;
  }
}

}  // namespace
}  // namespace assay
