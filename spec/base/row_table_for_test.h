// Tests as data: a file with one line per row of the documents' checklist,
//   ID [ID ...] | what must come out
// and a function per first ID that does something and says what came out. tools/coverage reads the
// same files, and bends them to see the test fail.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace assay {

// Where the data of tests lies: the source tree, or what ASSAY_DATA_DIR says.
inline std::string TestDataDir() {
  const char* other = std::getenv("ASSAY_DATA_DIR");
  return other != nullptr ? other : ASSAY_SOURCE_DIR;
}

struct RowLine {
  std::string id;  // the first of the ids
  std::string expected;
};

inline std::vector<RowLine> ReadRowTable(const std::string& path) {
  std::ifstream in(TestDataDir() + "/" + path);
  EXPECT_TRUE(in.good()) << path;
  std::vector<RowLine> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t bar = line.find(" | ");
    if (bar == std::string::npos) {
      ADD_FAILURE() << path << ": no ' | ' in: " << line;
      continue;
    }
    lines.push_back({line.substr(0, line.find(' ')), line.substr(bar + 3)});
  }
  return lines;
}

using Observations = std::map<std::string, std::function<std::string()>>;

// Every line has its observation and every observation its line; what is seen is what is expected.
inline void CheckRowTable(const std::string& path, const Observations& observations) {
  std::set<std::string> seen;
  for (const RowLine& line : ReadRowTable(path)) {
    SCOPED_TRACE(line.id);
    EXPECT_TRUE(seen.insert(line.id).second) << "two lines";
    auto at = observations.find(line.id);
    if (at == observations.end()) {
      ADD_FAILURE() << "nothing observes this row";
      continue;
    }
    std::string got = at->second();
    while (!got.empty() && got.back() == ' ') got.pop_back();
    EXPECT_EQ(got, line.expected);
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
