// Runs that a compiler recorded are the inputs and the stored results of the module beside them,
// and of the file itself.
#include "conformance/inputs/recorded_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "conformance/case_files.h"
#include "conformance/module_check.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/file.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kSum[] = R"(HloModule jit_f
ENTRY e {
  x = f32[3] parameter(0)
  p = (f32[3], s32[]) parameter(1)
  y = f32[3] get-tuple-element(p), index=0
  i = s32[] get-tuple-element(p), index=1
  c = f32[3] constant({1, 2, 4})
  s = f32[3] add(x, y)
  t = f32[3] add(s, c)
  ROOT r = (f32[3], s32[]) tuple(t, i)
}
)";

Literal Floats(std::vector<double> values) {
  Literal literal(Shape::Array(ElementType::kF32, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) literal.SetDouble(static_cast<int64_t>(i), values[i]);
  return literal;
}

Literal Number(int64_t value) {
  Literal literal(Shape::Scalar(ElementType::kS32));
  literal.SetInteger(0, value);
  return literal;
}

class RecordedRuns : public testing::Test {
 protected:
  RecordedRuns() : folder_(fs::path(testing::TempDir()) / "assay_recorded_run_test") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~RecordedRuns() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    EXPECT_TRUE(WriteFile(path, text).ok());
    return path;
  }

  // A run of kSum of which the first element of the result is `first`. XLA records the arguments
  // leaf by leaf.
  std::string WriteRun(const std::string& name, double first) {
    Snapshot run;
    run.module = *ReadModule(kSum);
    run.arguments.emplace_back();
    for (Literal& argument : std::vector<Literal>{Floats({1, 2, 3}), Floats({1, 1, 1}), Number(7)})
      run.arguments[0].push_back(argument);
    run.result = Literal::Tuple({Floats({first, 5, 8}), Number(7)});
    return Write(name, *WriteSnapshot(run));
  }

  std::vector<std::string> StatusesOf(const std::string& path) {
    std::vector<std::string> statuses;
    const auto cases = FindCases(path);
    EXPECT_TRUE(cases.ok()) << cases.status();
    if (!cases.ok()) return {};
    CheckOptions options;
    options.profile = &Profile::Xla();
    const std::unique_ptr<Oracle> oracle = MakeOracle();
    for (const CaseFile& file : *cases) {
      const ModuleResult result = CheckModule(file, *oracle, nullptr, options);
      statuses.push_back(StrCat(file.name, " ", StatusWord(result.outcome.kind)));
    }
    return statuses;
  }

  fs::path folder_;
};

TEST_F(RecordedRuns, OfTheFileItselfAreJudged) {
  EXPECT_THAT(StatusesOf(WriteRun("right.pb", 3)), ElementsAre("right passed"));
  EXPECT_THAT(StatusesOf(WriteRun("wrong.hlo.pb", 4)), ElementsAre("wrong failed"));
  EXPECT_THAT(StatusesOf(WriteRun("a.snapshot.5.pb", 4)), ElementsAre("a.snapshot.5 failed"));
  EXPECT_EQ(FindCases((folder_ / "right.pb").string())->front().DescribeInputs(1),
            StrCat("inputs recorded in ", (folder_ / "right.pb").string()));
}

TEST_F(RecordedRuns, LieBesideTheModulesOfADump) {
  Write("module_0001.jit_f.before_optimizations.txt", kSum);
  Write("module_0001.jit_f.cpu_after_optimizations.txt", kSum);
  Write("module_0001.jit_f.0002.fusion.after_dce.before_cse.hlo.pb", "");
  Write("module_0002.jit_f_1.before_optimizations.txt", kSum);
  const std::string last = Write("module_0003.jit_g.sm_8.0_gpu_after_optimizations.txt", kSum);
  WriteRun("module_0001.jit_f.snapshot.289640341.pb", 4);
  WriteRun("jit_g.0.hlo_snapshot.pb", 4);
  EXPECT_THAT(StatusesOf(folder_.string()),
              ElementsAre("module_0001.jit_f.before_optimizations failed",
                          "module_0002.jit_f_1.before_optimizations nothing to judge",
                          "module_0003.jit_g.sm_8.0_gpu_after_optimizations failed"));
  EXPECT_THAT(StatusesOf(last),
              ElementsAre("module_0003.jit_g.sm_8.0_gpu_after_optimizations failed"));
  WriteRun("module_0001.jit_f.snapshot.289640342.pb", 3);
  EXPECT_THAT(StatusesOf((folder_ / "module_0001.jit_f.cpu_after_optimizations.txt").string()),
              ElementsAre("module_0001.jit_f.cpu_after_optimizations@snapshot.289640341 failed",
                          "module_0001.jit_f.cpu_after_optimizations@snapshot.289640342 passed"));
}

TEST_F(RecordedRuns, GiveTheConstantsThatATextLeavesOut) {
  std::string elided = kSum;
  elided.replace(elided.find("{1, 2, 4}"), 9, "{...}");
  Write("module_0001.jit_f.before_optimizations.txt", elided);
  WriteRun("module_0001.jit_f.snapshot.1.pb", 3);
  EXPECT_THAT(StatusesOf(folder_.string()),
              ElementsAre("module_0001.jit_f.before_optimizations passed"));
  elided.replace(elided.find("c = f32[3]"), 1, "d");
  elided.replace(elided.find("add(s, c)"), 9, "add(s, d)");
  const std::string path = Write("module_0001.jit_f.before_optimizations.txt", elided);
  const auto module = LoadCaseModule(FindCases(path)->front());
  EXPECT_THAT(std::string(module.status().message()), HasSubstr("leaves out the elements of d"));
}

TEST_F(RecordedRuns, ThatDoNotFitSaySo) {
  Write("module_0001.jit_f.before_optimizations.txt",
        "HloModule m\nENTRY e {\n  x = f32[3] parameter(0)\n  ROOT r = f32[3] negate(x)\n}\n");
  const std::string run = WriteRun("module_0001.jit_f.snapshot.1.pb", 3);
  const auto cases = FindCases(folder_.string());
  ASSERT_EQ(cases->size(), 1u);
  const auto arrays = LoadArrays(**LoadCaseModule(cases->front()), cases->front().arrays_path, 1);
  EXPECT_THAT(std::string(arrays.status().message()),
              HasSubstr(StrCat(run, ": 3 arrays were recorded, the module takes 1")));
}

}  // namespace
}  // namespace assay
