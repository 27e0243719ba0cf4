// Tests that the ledger's reader takes whole folders alone, and what its table says.
#include "conformance/known/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_replace.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kWhole[] = R"({
 "title": "the square of an integer is taken for a number that is not negative",
 "severity": "wrong value", "component": "HLO pass algsimp", "sentence": "2.1 abs: |x|",
 "status": "live", "found_by": "seed 1, program 2",
 "measured": {"kind": "wrong value", "bucket": "xla/wrong value/algsimp/abs", "first_bad": "0.4.13",
              "last_asked": "0.10.2", "flags": {"xla_a": "pass"}, "fails": ["s8 for s32"],
              "has_jax": true}
})";

std::string Folder(const std::string& name, const std::string& json) {
  const std::string folder = testing::TempDir() + "/assay_ledger/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/cause.json") << json;
  for (const char* file : {"program.hlo", "repro.py", "jax.py"}) std::ofstream(folder + "/" + file);
  return folder;
}

TEST(Ledger, WritesWhatItReads) {
  const std::string folder = Folder("abs-of-a-square", kWhole);
  absl::StatusOr<Cause> cause = ReadCause(folder);
  ASSERT_TRUE(cause.ok()) << cause.status();
  EXPECT_EQ(cause->name, "abs-of-a-square");
  EXPECT_EQ(cause->severity, Severity::kWrongValue);
  EXPECT_TRUE(cause->IsSilentInJax());
  cause->reason = "0.11.0";
  cause->status = CauseStatus::kFixed;
  ASSERT_TRUE(WriteCause(*cause).ok());
  const absl::StatusOr<Cause> again = ReadCause(folder);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->reason, "0.11.0");
  EXPECT_EQ(again->measured.flags, cause->measured.flags);
  EXPECT_EQ(again->measured.fails, cause->measured.fails);
  EXPECT_EQ(LedgerJson({*again}), LedgerJson({*cause}));
}

struct Malformed {
  const char* from;
  const char* to;
  const char* complaint;  // names the field
  const char* remedy;
};

TEST(Ledger, SaysWhatIsWrongWithAFolderAndWhatMayStandThere) {
  const Malformed cases[] = {
      {"{\n", "[\n", "no JSON object", "docs/json.md"},
      {"\"title\"", "\"titel\"", "unknown field titel", "known: title"},
      {"\"the square of an integer is taken for a number that is not negative\"", "7",
       "title is no text", "\"title\": \"...\""},
      {"\"2.1 abs: |x|\"", "\"\"", "has no sentence", "add one"},
      {"\"severity\": \"wrong value\"", "\"severity\": \"bad\"", "severity is \"bad\"",
       "wrong value, memory"},
      {"\"live\"", "\"fixed\"", "without a reason", "add one"},
      {"\"live\"", "\"dead\"", "status is \"dead\"", "live, fixed"},
      {"\"bucket\"", "\"buckets\"", "unknown field buckets", "--refresh"},
      {"[\"s8 for s32\"]", "\"s8\"", "fails is no list", "of texts"},
      {"{\"xla_a\": \"pass\"}", "[]", "flags is no object", "of texts"},
      {"\"has_jax\": true", "\"has_jax\": 1", "has_jax", "true nor false"},
  };
  for (const Malformed& one : cases) {
    const std::string json = absl::StrReplaceAll(kWhole, {{one.from, one.to}});
    ASSERT_NE(json, kWhole) << one.from;
    const absl::StatusOr<Cause> cause = ReadCause(Folder("malformed", json));
    ASSERT_FALSE(cause.ok()) << json;
    EXPECT_THAT(cause.status().message(), AllOf(HasSubstr("malformed/cause.json"),
                                                HasSubstr(one.complaint), HasSubstr(one.remedy)));
  }
}

TEST(Ledger, MissesFilesThatAFolderHas) {
  for (const char* file : {"program.hlo", "repro.py", "jax.py"}) {
    const std::string folder = Folder("missing", kWhole);
    std::filesystem::remove(folder + "/" + file);
    EXPECT_THAT(ReadCause(folder).status().message(), HasSubstr(StrCat(file, " is missing")))
        << file;
  }
  std::filesystem::remove_all(testing::TempDir() + "/assay_ledger");
  EXPECT_THAT(ReadLedger(testing::TempDir() + "/assay_ledger").status().message(),
              HasSubstr("assay known --add"));
}

TEST(Ledger, TheTableBeginsWithWhatHurtsMost) {
  Cause parser, wrong, in_jax;
  parser.name = "a-parser";
  parser.severity = Severity::kParser;
  wrong.name = "b-wrong";
  wrong.title = "a | b";
  in_jax.name = "c-in-jax";
  in_jax.measured.has_jax = true;
  const std::string table = LedgerMarkdown({parser, wrong, in_jax}, "../known");
  EXPECT_LT(table.find("c-in-jax"), table.find("b-wrong"));
  EXPECT_LT(table.find("b-wrong"), table.find("a-parser"));
  EXPECT_THAT(table, HasSubstr("a \\| b"));
  EXPECT_THAT(table, HasSubstr("(../known/a-parser)"));
}

}  // namespace
}  // namespace assay
