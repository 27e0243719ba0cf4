// Data-driven tests of shape rules and verifier: testdata/rejected.txt and testdata/shapes.txt.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/base/row_table_for_test.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> expected;
  std::string text;
};

std::vector<Case> ReadCases(const std::string& file) {
  const std::string path = TestDataDir() + "/spec/ops/testdata/" + file;
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  std::vector<Case> cases;
  for (std::string line; std::getline(in, line);) {
    // "row:" names the rows of the documents' checklist that the case asserts; tools/coverage reads
    // it.
    if (line.rfind("#", 0) == 0 || line.rfind("row:", 0) == 0) continue;
    if (line.rfind("--- ", 0) == 0) {
      cases.push_back({.name = line.substr(4)});
    } else if (line.rfind("expect: ", 0) == 0) {
      cases.back().expected.push_back(line.substr(8));
    } else if (!cases.empty()) {
      cases.back().text += line + "\n";
    }
  }
  return cases;
}

// Reading and verifying are one step for whoever uses a module; some constraints are already the
// reader's.
absl::Status ReadAndVerify(const std::string& text, std::unique_ptr<Module>* module) {
  auto read = ReadModule(text);
  if (!read.ok()) return read.status();
  *module = *std::move(read);
  return Verify(**module);
}

TEST(OpCasesTest, RejectedModulesSayWhy) {
  const std::vector<Case> cases = ReadCases("rejected.txt");
  ASSERT_GT(cases.size(), 100u);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ASSERT_FALSE(c.expected.empty());
    std::unique_ptr<Module> module;
    const absl::Status status = ReadAndVerify(c.text, &module);
    ASSERT_FALSE(status.ok());
    for (const std::string& fragment : c.expected) {
      EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(fragment));
    }
  }
}

TEST(OpCasesTest, ShapesAreInferred) {
  const std::vector<Case> cases = ReadCases("shapes.txt");
  ASSERT_GT(cases.size(), 50u);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ASSERT_EQ(c.expected.size(), 1u);
    std::unique_ptr<Module> module;
    const absl::Status status = ReadAndVerify(c.text, &module);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(module->entry()->root()->shape().ToString(), c.expected[0]);
  }
}

}  // namespace
}  // namespace assay
