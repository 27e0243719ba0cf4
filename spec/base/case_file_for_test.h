// Case files as tests use them: read from the source tree, compared, or blessed (ASSAY_BLESS=1).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "spec/base/case_file.h"

namespace assay {

// The folder of the data of tests: the source tree, or the one that ASSAY_DATA_DIR names.
inline std::string TestDataDir() {
  const char* other = std::getenv("ASSAY_DATA_DIR");
  return other != nullptr ? other : ASSAY_SOURCE_DIR;
}

// The cases of one file of the source tree. With ASSAY_BLESS=1 its destructor writes what the
// Expect functions were told into the file; without, they compare.
class CasesForTest {
 public:
  CasesForTest(const std::string& path, std::initializer_list<std::string_view> keys)
      : path_(TestDataDir() + "/" + path) {
    absl::StatusOr<std::string> text = ReadCaseText(path_);
    EXPECT_TRUE(text.ok()) << text.status();
    if (!text.ok()) return;
    text_ = *std::move(text);
    absl::StatusOr<std::vector<CaseBlock>> blocks = ParseCases(path, text_, keys);
    EXPECT_TRUE(blocks.ok()) << blocks.status();
    if (blocks.ok()) blocks_ = *std::move(blocks);
  }
  CasesForTest(const CasesForTest&) = delete;
  CasesForTest& operator=(const CasesForTest&) = delete;
  ~CasesForTest() {
    if (edits_.empty()) return;
    std::ofstream(path_, std::ios::binary) << edits_.Apply(text_);
    std::printf("blessed %d fields of %s\n", static_cast<int>(edits_.size()), path_.c_str());
  }

  const std::vector<CaseBlock>& blocks() const { return blocks_; }

  // The value of `field` is `got`.
  void ExpectValue(const CaseField& field, const std::string& got) {
    if (got == field.value) return;
    const bool fits = got.find('\n') == std::string::npos && !got.empty();
    if (BlessIsWanted() && fits) return edits_.SetValue(field, got);
    EXPECT_EQ(got, field.value) << path_ << ":" << field.line;
  }
  // The text of `field` is to be `got`. For tests that compare in a way of their own: true if the
  // new text was noted, false if the test has to fail.
  bool Bless(const CaseField& field, const std::string& got) {
    if (!BlessIsWanted()) return false;
    edits_.SetText(field, got);
    return true;
  }

 private:
  std::string path_, text_;
  std::vector<CaseBlock> blocks_;
  CaseEdits edits_;
};

}  // namespace assay
