// Rewrites as data: the case files of optimized/testdata/passes (their grammar is that of
// spec/base/case_file.h). The fields of a case:
//
//   row: ID ...                the sentences of the documents that it asserts
//   pass: NAME ...             run in this order
//   options: KEY=VALUE ...     of those passes (PassOptions, profile)
//   log: LINE                  what they must have told, a line each
//   before:                    the lines of an entry, or a whole module
//   after:                     the same; "after: untouched" for a near miss
//   error: TEXT                instead of after: they refuse, and the message holds this
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "spec/base/case_file_for_test.h"

namespace assay {

struct PassCase {
  std::string name, before, after, error;
  std::vector<std::string> passes, options, log;
  bool untouched = false;
  CaseField after_field;  // of `file`
  CasesForTest* file = nullptr;
};

inline std::string AsModule(const std::string& text) {
  if (text.find("HloModule") != std::string::npos) return text;
  return "HloModule m\n\nENTRY main {\n" + text + "\n}\n";
}

// Every case of the folder; the files stay open, so that new texts can be written into them.
class PassCases {
 public:
  PassCases() {
    const std::string folder = "optimized/testdata/passes/";
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(TestDataDir() + "/" + folder)) {
      if (entry.path().extension() == ".txt") names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      files_.push_back(std::make_unique<CasesForTest>(
          folder + name, std::initializer_list<std::string_view>{"pass", "options", "log", "before",
                                                                 "after", "error"}));
      for (const CaseBlock& block : files_.back()->blocks()) Add(block, *files_.back());
    }
  }

  const std::vector<PassCase>& all() const { return cases_; }

 private:
  void Add(const CaseBlock& block, CasesForTest& file) {
    PassCase& one = cases_.emplace_back();
    one.name = block.name;
    one.file = &file;
    one.passes = block.Words("pass");
    one.options = block.Words("options");
    one.error = std::string(block.Value("error"));
    for (const CaseField& field : block.fields) {
      if (field.key == "log") one.log.push_back(field.value);
    }
    if (const CaseField* before = block.Find("before")) one.before = before->text;
    if (const CaseField* after = block.Find("after")) {
      one.after_field = *after;
      one.after = after->text;
      one.untouched = after->value == "untouched";
      EXPECT_TRUE(one.untouched || after->value.empty()) << block.name << ": " << after->value;
    }
    const bool has_after = block.Find("after") != nullptr;
    EXPECT_NE(has_after, !one.error.empty()) << block.name << ": needs either after: or error:";
    EXPECT_TRUE(BlessIsWanted() || !has_after || one.untouched || !one.after.empty())
        << block.name << ": after: says nothing";
    EXPECT_FALSE(one.passes.empty() || one.before.empty()) << block.name;
    EXPECT_TRUE(block.text.empty()) << block.name << ": what is this: " << block.text;
  }

  std::vector<std::unique_ptr<CasesForTest>> files_;
  std::vector<PassCase> cases_;
};

}  // namespace assay
