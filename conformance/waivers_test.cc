// Every waiver is about a module of the corpora, is not expired, and excuses exactly the elements
// that it names: with these corrected, the stored answer passes.
#include "conformance/waivers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "conformance/module_check.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/case_file.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::string Today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

std::string BytesOf(const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadCaseText(path);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *std::move(bytes) : "";
}

// The file of the corpora that the waiver is about; nullopt if there is none.
std::optional<CaseFile> FileOf(const Waiver& waiver) {
  for (const char* folder : {"/conformance/corpus", "/conformance/corpus_collectives"}) {
    const absl::StatusOr<std::vector<CaseFile>> files =
        FindCases(ASSAY_SOURCE_DIR + std::string(folder));
    if (!files.ok()) continue;
    for (const CaseFile& file : *files) {
      if (file.name == waiver.module) return file;
    }
  }
  return std::nullopt;
}

TEST(Waivers, AreKnownAndNotExpired) {
  const absl::StatusOr<std::vector<Waiver>> waivers = BuiltInWaivers();
  ASSERT_TRUE(waivers.ok()) << waivers.status();
  for (const Waiver& waiver : *waivers) {
    SCOPED_TRACE(waiver.module);
    EXPECT_LE(waiver.since, Today());
    EXPECT_GE(waiver.expires, Today()) << "expired: is the answer still wrong, and why?";
    const std::optional<CaseFile> file = FileOf(waiver);
    ASSERT_TRUE(file.has_value()) << "no module of the corpora has this name";
    EXPECT_EQ(waiver.module_hash, ContentHash(BytesOf(file->module_path)));
    EXPECT_EQ(waiver.arrays_hash, ContentHash(BytesOf(file->arrays_path)));
    EXPECT_EQ(WaiverOf(*file), waiver.proof);
  }
}

TEST(Waivers, ExcuseTheirElementsAndNoOthers) {
  const absl::StatusOr<std::vector<Waiver>> waivers = BuiltInWaivers();
  ASSERT_TRUE(waivers.ok()) << waivers.status();
  auto oracle = MakeOracle();
  for (const Waiver& waiver : *waivers) {
    SCOPED_TRACE(waiver.module);
    const std::optional<CaseFile> file = FileOf(waiver);
    ASSERT_TRUE(file.has_value());
    const absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(BytesOf(file->module_path));
    ASSERT_TRUE(module.ok()) << module.status();
    absl::StatusOr<CaseArrays> arrays = LoadArrays(**module, file->arrays_path, 1);
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    const int64_t devices = arrays->devices.replicas * arrays->devices.partitions;
    const int64_t outputs = static_cast<int64_t>(arrays->stored.size()) / devices;
    for (const Profile* profile : {&Profile::Strict(), &Profile::Xla()}) {
      const absl::StatusOr<CaseExpectation> all =
          ExpectOn(*oracle, CaseOf(**module, *arrays), *profile, Limits());
      ASSERT_TRUE(all.ok()) << all.status();
      const Expectation& expected = all->results;
      std::vector<Literal> answer = arrays->stored;
      EXPECT_EQ(JudgeLeaves(expected, Pointers(answer)).verdict, Verdict::kFail);
      for (const WaivedElement& element : waiver.elements) {
        const int64_t leaf = element.device * outputs + element.output;
        ASSERT_LT(leaf, static_cast<int64_t>(answer.size()));
        ASSERT_LT(element.element, answer[leaf].element_count());
        const absl::StatusOr<Literal> value =
            ReadLiteral(Shape::Scalar(answer[leaf].element_type()), element.value);
        ASSERT_TRUE(value.ok()) << value.status();
        EXPECT_EQ(answer[leaf].GetBits(element.element), value->GetBits(0));
        answer[leaf].SetBits(element.element, expected.leaves[leaf].plain.GetBits(element.element));
      }
      const Judgement judgement = JudgeLeaves(expected, Pointers(answer));
      EXPECT_EQ(judgement.verdict, Verdict::kPass) << judgement.reason;
    }
  }
}

// A module of the same name with other bytes, or with other arrays, has no waiver; nor does a file
// called waivers.json beside it count.
TEST(Waivers, AreAboutOnePairOfFiles) {
  const std::string from = ASSAY_SOURCE_DIR + std::string("/conformance/corpus_collectives/");
  const std::string folder = testing::TempDir() + "/assay_waivers/";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string name = "coll__pmax_nan";
  const std::string module = BytesOf(from + name + ".hlo"), arrays = BytesOf(from + name + ".npz");
  const auto waived = [&](const std::string& module_bytes, const std::string& array_bytes) {
    std::ofstream(folder + name + ".hlo", std::ios::binary) << module_bytes;
    std::ofstream(folder + name + ".npz", std::ios::binary) << array_bytes;
    return !WaiverOf(CaseFile{name, folder + name + ".hlo", folder + name + ".npz"}).empty();
  };
  EXPECT_TRUE(waived(module, arrays));
  EXPECT_FALSE(waived(module + "\n", arrays));
  EXPECT_FALSE(waived(module, arrays + "x"));
  std::ofstream(folder + "waivers.json") << "{\"" << name << "\": \"whatever\"}";
  EXPECT_FALSE(waived(module + "\n", arrays));
  EXPECT_EQ(WaiverOf(CaseFile{"other", folder + name + ".hlo", folder + name + ".npz"}), "");
  EXPECT_EQ(WaiverOf(CaseFile{name, folder + "missing.hlo", ""}), "");
}

TEST(Waivers, BadRowsAreErrors) {
  const std::string row =
      R"({"module": "m", "module_hash": "1", "arrays_hash": "2", "backend": "b", "versions": "v",
          "elements": [{"device": 0, "output": 0, "element": 3, "value": "5"}], "issue": "i",
          "since": "2026-01-01", "expires": "2027-01-01", "proof": "p"})";
  const auto error_of = [](const std::string& text) {
    const absl::StatusOr<std::vector<Waiver>> waivers = ParseWaivers(text);
    return waivers.ok() ? "" : std::string(waivers.status().message());
  };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = row;
    text.replace(text.find(from), from.size(), to);
    return error_of("[" + text + "]");
  };
  EXPECT_EQ(error_of("[" + row + "]"), "");
  EXPECT_THAT(error_of("{}"), HasSubstr("expected a JSON array"));
  EXPECT_THAT(error_of("[1"), HasSubstr("expected a JSON array"));
  EXPECT_THAT(error_of("[7]"), HasSubstr("waiver 1: no object"));
  EXPECT_THAT(changed("\"proof\"", "\"prof\""), HasSubstr("waiver 1: there is no \"proof\""));
  EXPECT_THAT(changed("\"issue\"", "\"more\": 1, \"issue\""), HasSubstr("another name"));
  EXPECT_THAT(changed("\"i\"", "\"\""), HasSubstr("\"issue\" should be a text"));
  EXPECT_THAT(changed("3,", "-3,"), HasSubstr("\"element\" should be a number from 0"));
  EXPECT_THAT(changed("[{", "[7, {"), HasSubstr("elements: no object"));
  EXPECT_THAT(changed("2027-01-01", "soon"), HasSubstr("YYYY-MM-DD"));
}

TEST(Waivers, HashIsTheKnownOne) {
  EXPECT_EQ(ContentHash(""), "cbf29ce484222325");
  EXPECT_EQ(ContentHash("a"), "af63dc4c8601ec8c");
}

}  // namespace
}  // namespace assay
