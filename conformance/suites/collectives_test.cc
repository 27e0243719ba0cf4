// The modules for several devices on the oracle: XLA's stored results pass.
#include <gtest/gtest.h>

#include "conformance/module_check.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

TEST(Collectives, StoredResultsPass) {
  const std::string folder = std::string(ASSAY_SOURCE_DIR) + "/conformance/corpus_collectives";
  absl::StatusOr<std::vector<CaseFile>> files = FindCases(folder);
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_EQ(files->size(), 22u);
  auto oracle = MakeOracle();
  CheckOptions options;
  options.profile = &Profile::Xla();
  int passed = 0;
  for (const CaseFile& file : *files) {
    const ModuleResult result = CheckModule(file, *oracle, nullptr, options);
    std::string detail = result.outcome.Describe();
    for (const SubjectResult& subject : result.subjects)
      StrAppend(&detail, subject.outcome.Describe());
    for (const std::string& name : result.unsupported) StrAppend(&detail, " ", name);
    // Ops that have no meaning yet are not this test's subject; their number may only fall.
    if (result.outcome.kind == Outcome::kUnsupported) continue;
    EXPECT_EQ(StatusWord(result.outcome.kind), "passed") << file.name << ": " << detail;
    ASSERT_EQ(result.subjects.size(), 1u) << file.name;
    // XLA's collective drops NaN (waivers.json).
    EXPECT_EQ(!result.subjects[0].waived.empty(), file.name == "coll__pmax_nan");
    ++passed;
  }
  EXPECT_GE(passed, 18);
}

}  // namespace
}  // namespace assay
