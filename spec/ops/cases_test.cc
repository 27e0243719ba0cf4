// Data-driven tests of shape rules and verifier: testdata/rejected.txt and testdata/shapes.txt.
#include <string>

#include "gtest/gtest.h"
#include "spec/base/case_file_for_test.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

constexpr char kRejected[] = "spec/ops/testdata/rejected.txt";
constexpr char kShapes[] = "spec/ops/testdata/shapes.txt";

// Reading and verifying are one step for whoever uses a module; some constraints are already the
// reader's.
absl::Status ReadAndVerify(const std::string& text, std::unique_ptr<Module>* module) {
  auto read = ReadModule(text);
  if (!read.ok()) return read.status();
  *module = *std::move(read);
  return Verify(**module);
}

TEST(OpCasesTest, RejectedModulesSayWhy) {
  CasesForTest cases(kRejected, {"expect"});
  ASSERT_GT(cases.blocks().size(), 100u);
  for (const CaseBlock& block : cases.blocks()) {
    SCOPED_TRACE(block.name);
    ASSERT_NE(block.Find("expect"), nullptr);
    std::unique_ptr<Module> module;
    const absl::Status status = ReadAndVerify(block.text, &module);
    ASSERT_FALSE(status.ok());
    const std::string message(status.message());
    for (const CaseField& field : block.fields) {
      if (field.key != "expect" || message.find(field.value) != std::string::npos) continue;
      cases.ExpectValue(field, message);
    }
  }
}

TEST(OpCasesTest, ShapesAreInferred) {
  CasesForTest cases(kShapes, {"expect"});
  ASSERT_GT(cases.blocks().size(), 50u);
  for (const CaseBlock& block : cases.blocks()) {
    SCOPED_TRACE(block.name);
    ASSERT_NE(block.Find("expect"), nullptr);
    std::unique_ptr<Module> module;
    const absl::Status status = ReadAndVerify(block.text, &module);
    ASSERT_TRUE(status.ok()) << status;
    cases.ExpectValue(*block.Find("expect"), module->entry()->root()->shape().ToString());
  }
}

}  // namespace
}  // namespace assay
