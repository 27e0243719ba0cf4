// Rewrites as data, in optimized/testdata/passes/*.txt:
//
//   == NAME                    a case
//   row: ID ...                the sentences of the documents that it asserts
//   pass: NAME ...             run in this order
//   options: KEY=VALUE ...     of those passes (PassOptions, profile)
//   log: LINE                  what they must have told, a line each
//   before:                    the lines of an entry, or a whole module
//   after:                     the same, or `untouched` instead: a near miss
//   error: TEXT                instead: they refuse, and the message holds this
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "spec/base/row_table_for_test.h"

namespace assay {

struct PassCase {
  std::string name, before, after, error;
  std::vector<std::string> passes, options, log;
  bool untouched = false;
};

inline std::string AsModule(const std::string& text) {
  if (text.find("HloModule") != std::string::npos) return text;
  return "HloModule m\n\nENTRY main {\n" + text + "\n}\n";
}

inline std::vector<std::string> WordsForTest(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

inline void ReadPassCases(const std::string& path, std::vector<PassCase>& cases) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  std::string* text = nullptr;
  for (std::string line; std::getline(in, line);) {
    const auto after = [&](const std::string& key) {
      return line.rfind(key, 0) == 0 ? line.substr(std::min(key.size() + 1, line.size())) : "";
    };
    if (line.rfind("== ", 0) == 0) {
      cases.push_back({.name = after("==")});
      text = nullptr;
    } else if (line.empty() || line[0] == '#' || cases.empty() || line.rfind("row:", 0) == 0) {
      continue;
    } else if (line.rfind("pass:", 0) == 0) {
      cases.back().passes = WordsForTest(after("pass:"));
    } else if (line.rfind("options:", 0) == 0) {
      cases.back().options = WordsForTest(after("options:"));
    } else if (line.rfind("log:", 0) == 0) {
      cases.back().log.push_back(after("log:"));
    } else if (line.rfind("error:", 0) == 0) {
      cases.back().error = after("error:");
    } else if (line == "before:") {
      text = &cases.back().before;
    } else if (line == "after:") {
      text = &cases.back().after;
    } else if (line == "untouched") {
      cases.back().untouched = true;
      text = nullptr;
    } else if (text != nullptr) {
      *text += line + "\n";
    } else {
      ADD_FAILURE() << path << ": what is this: " << line;
    }
  }
}

inline std::vector<PassCase> AllPassCases() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(TestDataDir() + "/optimized/testdata/passes")) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<PassCase> cases;
  for (const std::string& file : files) ReadPassCases(file, cases);
  for (const PassCase& c : cases) {
    const int ends = (c.after.empty() ? 0 : 1) + (c.error.empty() ? 0 : 1) + (c.untouched ? 1 : 0);
    EXPECT_EQ(ends, 1) << c.name << ": needs one of after:, error: and untouched";
    EXPECT_FALSE(c.passes.empty() || c.before.empty()) << c.name;
  }
  return cases;
}

}  // namespace assay
