// The grammar of case files: what is read, what is refused with its line, what an edit changes.
#include "spec/base/case_file.h"

#include "spec/base/case_file_for_test.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr std::string_view kKeys[] = {"expect", "in", "before", "after"};

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<std::vector<CaseBlock>> blocks = ParseCases("f.txt", text, kKeys);
  return blocks.ok() ? "" : std::string(blocks.status().message());
}

std::vector<CaseBlock> Blocks(std::string_view text) {
  absl::StatusOr<std::vector<CaseBlock>> blocks = ParseCases("f.txt", text, kKeys);
  EXPECT_TRUE(blocks.ok()) << blocks.status();
  return blocks.ok() ? *std::move(blocks) : std::vector<CaseBlock>();
}

TEST(CaseFile, ReadsFieldsAndTexts) {
  const std::vector<CaseBlock> blocks = Blocks(
      "# a comment\n"
      "\n"
      "== first case \r\n"
      "row: a b\n"
      "row: c\n"
      "add (x: f32[]) -> f32[] {\n"
      "# a comment inside\n"
      "\n"
      "}\n"
      "\n"
      "in[2]:  {1, 2}  \n"
      "before:\n"
      "  ROOT x = 3: not a key\n"
      "\n"
      "after: untouched\n"
      "== second\n");
  ASSERT_EQ(blocks.size(), 2u);
  const CaseBlock& first = blocks[0];
  EXPECT_EQ(first.name, "first case");
  EXPECT_EQ(first.line, 3);
  EXPECT_EQ(first.text, "add (x: f32[]) -> f32[] {\n\n}\n");
  EXPECT_EQ(first.text_line, 6);
  EXPECT_EQ(first.Words("row"), (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(first.fields.size(), 5u);
  EXPECT_EQ(first.fields[2].index, 2);
  EXPECT_EQ(first.Value("in"), "{1, 2}");
  EXPECT_EQ(first.Find("before")->text, "  ROOT x = 3: not a key\n");
  EXPECT_EQ(first.Value("after"), "untouched");
  EXPECT_EQ(first.Find("expect"), nullptr);
  EXPECT_EQ(first.Value("expect"), "");
  EXPECT_EQ(blocks[1].text_line, 0);
  EXPECT_TRUE(Blocks("").empty());
}

TEST(CaseFile, ErrorsNameTheLine) {
  EXPECT_EQ(ErrorOf("hello\n"), "f.txt:1: expected a case: == NAME");
  EXPECT_EQ(ErrorOf("== \n"), "f.txt:1: expected a name: == NAME");
  EXPECT_EQ(ErrorOf("== a\n== b\n== a\n"),
            "f.txt:3: a second case 'a'; the first one begins in line 1");
  EXPECT_EQ(ErrorOf("== a\nexpct: 1\n"),
            "f.txt:2: unknown key 'expct:'; the keys here are row: expect: in: before: after:");
  EXPECT_NE(ErrorOf("== a\nexpect: 1\ntext\nin: 2\nmore\n").find("f.txt:5: the text of case 'a'"),
            std::string::npos);
}

TEST(CaseFile, AnyBytesAreReadOrRefused) {
  const std::string nul("== a\0b\nexpect:\0\n\n", 17);
  EXPECT_EQ(Blocks(nul).at(0).name.size(), 3u);
  std::string many;
  for (int i = 0; i < 20000; ++i) StrAppend(&many, "== c", i, "\nin[", i, "]: ", i, "\n");
  EXPECT_EQ(Blocks(many).size(), 20000u);
  // An index that no number holds makes the line text.
  EXPECT_EQ(Blocks("== a\nin[99999999999999999999]: 1\n").at(0).fields.size(), 0u);
  EXPECT_EQ(Blocks("== a\nin[-1]: 1\n").at(0).fields.size(), 0u);
  EXPECT_EQ(Blocks("== a\nin[1\n").at(0).text, "in[1\n");
  EXPECT_FALSE(ReadCaseText("/dev/null/nothing").ok());
  EXPECT_FALSE(ReadCaseText(testing::TempDir()).ok());
}

TEST(CaseFile, EditsChangeOnlyTheirFields) {
  const std::string text =
      "# head\n"
      "== a\n"
      "expect: 1  \n"
      "before:\n"
      "  x\n"
      "after:\n"
      "  old\n"
      "  older\n"
      "\n"
      "# about b\n"
      "== b\n"
      "in[1]: 7\n"
      "after:\n"
      "expect: 2";
  const std::vector<CaseBlock> blocks = Blocks(text);
  CaseEdits none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.Apply(text), text);
  CaseEdits edits;
  edits.SetValue(*blocks[0].Find("expect"), "one");
  edits.SetText(*blocks[0].Find("after"), "  new");
  edits.SetValue(*blocks[1].Find("in"), "8");
  edits.SetText(*blocks[1].Find("after"), "  first\n");
  edits.SetValue(*blocks[1].Find("expect"), "two");
  EXPECT_EQ(edits.size(), 5);
  EXPECT_EQ(edits.Apply(text),
            "# head\n"
            "== a\n"
            "expect: one\n"
            "before:\n"
            "  x\n"
            "after:\n"
            "  new\n"
            "\n"
            "# about b\n"
            "== b\n"
            "in[1]: 8\n"
            "after:\n"
            "  first\n"
            "expect: two\n");
  // The written text reads back.
  EXPECT_EQ(Blocks(edits.Apply(text))[0].Find("after")->text, "  new\n");
}

}  // namespace
}  // namespace assay
