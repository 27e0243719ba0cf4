// Verdicts on written answers, from testdata/verdicts.txt.
#include <fstream>

#include "absl/strings/str_split.h"
#include "reference/testing/expectation_test.h"
#include "spec/base/row_table_for_test.h"

namespace assay::reference {
namespace {

struct Answer {
  std::string profile, verdict, result;
};

struct VerdictCase {
  std::string name, computations, entry;
  std::vector<Answer> answers;
};

std::vector<VerdictCase> ReadCases() {
  std::ifstream in(TestDataDir() + "/reference/testdata/verdicts.txt");
  EXPECT_TRUE(in.good());
  std::vector<VerdictCase> cases;
  bool in_entry = false;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("== ")) {
      cases.push_back({line.substr(3), "", "", {}});
      in_entry = false;
    } else if (line == "entry:") {
      in_entry = true;
    } else if (line.starts_with("xla ") || line.starts_with("strict ")) {
      const size_t blank = line.find(' '), colon = line.find(": ");
      if (colon == std::string::npos || colon < blank) {
        ADD_FAILURE() << "no ': ' in: " << line;
        continue;
      }
      cases.back().answers.push_back({line.substr(0, blank),
                                      line.substr(blank + 1, colon - blank - 1),
                                      line.substr(colon + 2)});
    } else {
      StrAppend(in_entry ? &cases.back().entry : &cases.back().computations, line, "\n");
    }
  }
  return cases;
}

class VerdictsTest : public ExpectationTest {};

TEST_F(VerdictsTest, AnswersAreJudgedAsWritten) {
  const std::vector<VerdictCase> cases = ReadCases();
  EXPECT_GE(cases.size(), 12u);
  for (const VerdictCase& one : cases) {
    SCOPED_TRACE(one.name);
    EXPECT_GE(one.answers.size(), 2u);
    ASSERT_NO_FATAL_FAILURE(Load(one.entry, one.computations));
    for (const Answer& answer : one.answers) {
      SCOPED_TRACE(answer.result);
      absl::StatusOr<const Profile*> profile = Profile::Find(answer.profile);
      ASSERT_TRUE(profile.ok()) << profile.status();
      EXPECT_EQ(Name(JudgementOn(answer.result, **profile).verdict), answer.verdict)
          << answer.profile;
    }
  }
}

}  // namespace
}  // namespace assay::reference
