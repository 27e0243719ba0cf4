// Tests as data: a case file (spec/base/case_file.h) with one case per row of the documents'
// checklist. Its name is the row, "row:" lists all rows that it asserts, and "expect:" says what a
// function that is registered under that name must give. tools/coverage reads the same files, and
// bends them to see the test fail.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "spec/base/case_file_for_test.h"

namespace assay {

using Observations = std::map<std::string, std::function<std::string()>>;

// Every row has its observation and every observation its row; what is seen is what is expected.
inline void CheckRowTable(const std::string& path, const Observations& observations) {
  CasesForTest cases(path, {"expect"});
  std::set<std::string> seen;
  for (const CaseBlock& row : cases.blocks()) {
    SCOPED_TRACE(row.name);
    seen.insert(row.name);
    const CaseField* expected = row.Find("expect");
    const auto at = observations.find(row.name);
    if (at == observations.end() || expected == nullptr) {
      ADD_FAILURE() << (expected == nullptr ? "no expect:" : "nothing observes this row");
      continue;
    }
    std::string got = at->second();
    while (!got.empty() && got.back() == ' ') got.pop_back();
    cases.ExpectValue(*expected, got);
  }
  for (const auto& [id, observe] : observations) EXPECT_TRUE(seen.contains(id)) << id;
}

// "aborts" when `run` ends the program, "returns" otherwise; in a child process.
inline std::string Fate(const std::function<void()>& run) {
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
    run();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) || WEXITSTATUS(status) != 0 ? "aborts" : "returns";
}

}  // namespace assay
