// Verdicts on written answers, from testdata/verdicts.txt.
#include "reference/testing/expectation_test.h"
#include "spec/base/case_file_for_test.h"

namespace assay::reference {
namespace {

class VerdictsTest : public ExpectationTest {};

TEST_F(VerdictsTest, AnswersAreJudgedAsWritten) {
  CasesForTest cases("reference/testdata/verdicts.txt",
                     {"entry", "input", "xla", "strict", "xla-gpu", "xla-as-written"});
  EXPECT_GE(cases.blocks().size(), 12u);
  for (const CaseBlock& block : cases.blocks()) {
    SCOPED_TRACE(block.name);
    const CaseField* entry = block.Find("entry");
    ASSERT_NE(entry, nullptr);
    ASSERT_NO_FATAL_FAILURE(Load(entry->text, block.text));
    int answers = 0;
    for (const CaseField& field : block.fields) {
      if (field.key == "input") {
        ASSERT_NO_FATAL_FAILURE(AddInput(field.value));
      }
      if (field.key == "entry" || field.key == "row" || field.key == "input") continue;
      SCOPED_TRACE(field.value);
      ++answers;
      const size_t blank = field.value.find(' ');
      ASSERT_NE(blank, std::string::npos) << "want: VERDICT RESULT";
      absl::StatusOr<const Profile*> profile = Profile::Find(field.key);
      ASSERT_TRUE(profile.ok()) << profile.status();
      const Judgement judgement = JudgementOn(field.value.substr(blank + 1), **profile);
      EXPECT_EQ(Name(judgement.verdict), field.value.substr(0, blank)) << field.key;
    }
    EXPECT_GE(answers, 2);
  }
}

}  // namespace
}  // namespace assay::reference
