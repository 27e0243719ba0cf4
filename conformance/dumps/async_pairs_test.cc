// States that start something and end it later are judged as what they do; and a run of several
// processes tells what one tells.
#include "conformance/dumps/async_pairs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_replace.h"
#include "conformance/dumps/validate_run.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/file.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr char kBefore[] = R"(HloModule m
ENTRY main {
  x = f32[8,3] parameter(0)
  s = f32[2,3] slice(x), slice={[4:6], [0:3]}
  n = f32[2,3] negate(s)
  ROOT e = f32[2,3] exponential(n)
}
)";

constexpr char kAfter[] = R"(HloModule m, is_scheduled=true
wrapped (p: f32[8,3]) -> f32[2,3] {
  p = f32[8,3] parameter(0)
  ROOT s = f32[2,3] slice(p), slice={[4:6], [0:3]}
}
ENTRY main {
  x = f32[8,3]{1,0} parameter(0)
  slice-start = ((f32[8,3]{1,0}), f32[2,3]{1,0:S(1)}, u32[]) async-start(x), calls=wrapped
  slice-done = f32[2,3]{1,0:S(1)} async-done(slice-start)
  n = f32[2,3]{1,0:S(1)} negate(slice-done)
  copy-start = (f32[2,3]{1,0}, f32[2,3]{1,0:S(1)}, u32[]{:S(2)}) copy-start(n)
  copy-done = f32[2,3]{1,0} copy-done(copy-start)
  ROOT e = f32[2,3]{1,0} exponential(copy-done)
}
)";

// The states of one module, written to a folder of the test.
class States {
 public:
  explicit States(const std::vector<std::string>& texts)
      : path_(fs::path(testing::TempDir()) / StrCat("async_pairs", getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    dumped_.name = "m";
    for (size_t k = 0; k < texts.size(); ++k) {
      const std::string path = (path_ / StrCat(k, ".txt")).string();
      EXPECT_TRUE(WriteFile(path, texts[k]).ok());
      dumped_.snapshots.push_back({path, "", StrCat("pass", k)});
    }
  }
  ~States() { fs::remove_all(path_); }

  // "pass3 failed n", for each step that is told of.
  std::vector<std::string> Validate(int jobs) const {
    ValidateRunOptions options;
    options.validate.profile = &Profile::Xla();
    options.jobs = jobs;
    std::vector<std::string> told;
    ValidateListener listener;
    listener.begin = [](const DumpedModule&) {};
    listener.tell = [&](const DumpStep& step) {
      const StepVerdict& verdict = step.verdict;
      told.push_back(StrCat(step.after.pass, " ", Name(verdict.kind),
                            verdict.where.empty() ? "" : " ", verdict.where));
      EXPECT_EQ(step.diff.empty(), verdict.kind != StepVerdict::kFailed);
    };
    listener.excuse = [&](const absl::Status& status) { told.push_back(status.ToString()); };
    listener.end = [] {};
    listener.progress = [](int64_t, int64_t) {};
    const ValidateRunEnd end =
        ValidateDumps({dumped_}, [] { return MakeOracle(); }, options, listener);
    EXPECT_FALSE(end.interrupted || end.out_of_time);
    return told;
  }

 private:
  fs::path path_;
  DumpedModule dumped_;
};

TEST(AsyncPairs, BecomeWhatTheyDo) {
  const auto module = ReadModule(kAfter);
  ASSERT_TRUE(module.ok()) << module.status();
  const std::unique_ptr<Module> joined = WithoutAsyncPairs(**module);
  ASSERT_NE(joined, nullptr);
  const std::string text = WriteModule(*joined, WriteOptions::Short());
  EXPECT_EQ(text.find("start"), std::string::npos) << text;
  EXPECT_NE(text.find("copy-done = f32[2,3]{1,0} copy(n)"), std::string::npos) << text;
  EXPECT_NE(text.find("slice-done = f32[2,3]{1,0:S(1)} call(x)"), std::string::npos) << text;
  EXPECT_EQ(WithoutAsyncPairs(**ReadModule(kBefore)), nullptr);
}

TEST(AsyncPairs, AreJudged) {
  using Told = std::vector<std::string>;
  EXPECT_EQ(States({kBefore, kAfter}).Validate(1), Told({"pass1 passed"}));
  EXPECT_EQ(States({kBefore, absl::StrReplaceAll(kAfter, {{"[4:6]", "[3:5]"}})}).Validate(1),
            Told({"pass1 failed s"}));
  EXPECT_EQ(States({kAfter, absl::StrReplaceAll(kAfter, {{"negate(", "cosine("}})}).Validate(1),
            Told({"pass1 failed n"}));
}

// A long dump is divided; the parts behind the first step that fails say nothing.
TEST(ValidateRun, TellsInTheOrderOfTheStates) {
  std::vector<std::string> texts, expected;
  for (int k = 0; k < 40; ++k) {
    texts.push_back(k % 2 == 0 ? kBefore : kAfter);
    if (k > 0) expected.push_back(StrCat("pass", k, " passed"));
  }
  texts[20] = "HloModule m\nENTRY main { broken";
  expected[19] = "pass20 not judged";
  expected[20] = "pass21 unchanged";
  EXPECT_EQ(States(texts).Validate(3), expected);
  EXPECT_EQ(States(texts).Validate(1), expected);
  for (int k = 30; k < 40; ++k) texts[k] = absl::StrReplaceAll(texts[k], {{"negate(", "cosine("}});
  expected.resize(29);
  expected.push_back("pass30 failed n");
  EXPECT_EQ(States(texts).Validate(3), expected);
}

}  // namespace
}  // namespace assay
