// Tests of the measurement: statistics, turns, inputs by rule, costs and the roof.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bench/measure.h"
#include "bench/statistics.h"
#include "bench/workload.h"
#include "spec/backend/fake_backend.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::vector<double> Ramp(int n) {
  std::vector<double> values;
  for (int i = n; i >= 1; --i) values.push_back(i);
  return values;
}

// Ranks and coverages from the table of the sign test.
TEST(EstimateMedian, TakesTheOrderStatisticsOfTheSignTest) {
  MedianInterval six = EstimateMedian(Ramp(6));
  EXPECT_EQ(six.median, 3.5);
  EXPECT_EQ(six.lower, 1);
  EXPECT_EQ(six.upper, 6);
  EXPECT_NEAR(six.coverage, 0.96875, 1e-9);
  MedianInterval twenty = EstimateMedian(Ramp(20));
  EXPECT_EQ(twenty.lower, 6);
  EXPECT_EQ(twenty.upper, 15);
  EXPECT_NEAR(twenty.coverage, 0.9586, 1e-4);
  MedianInterval hundred = EstimateMedian(Ramp(100));
  EXPECT_EQ(hundred.lower, 40);
  EXPECT_EQ(hundred.upper, 61);
}

TEST(CalmTenth, IsNotMovedByDisturbedRuns) {
  EXPECT_EQ(CalmTenth({}), 0);
  EXPECT_EQ(CalmTenth({7}), 7);
  std::vector<double> runs = Ramp(21);
  EXPECT_EQ(CalmTenth(runs), 3);
  for (size_t i = 0; i < 15; ++i) runs[i] *= 40;
  EXPECT_EQ(CalmTenth(runs), 3);
}

TEST(EstimateMedian, SaysWhenSamplesAreTooFew) {
  MedianInterval three = EstimateMedian(Ramp(3));
  EXPECT_EQ(three.lower, 1);
  EXPECT_EQ(three.upper, 3);
  EXPECT_NEAR(three.coverage, 0.75, 1e-9);
  EXPECT_EQ(EstimateMedian({5}).coverage, 0);
  EXPECT_EQ(EstimateMedian({}).samples, 0);
}

TEST(Ratios, ArePairedByRound) {
  EXPECT_EQ(PairedRatios({2, 6, 9}, {1, 3}), (std::vector<double>{2, 2}));
  EXPECT_EQ(PairedRatios({2}, {0}), std::vector<double>());
  EXPECT_DOUBLE_EQ(GeometricMean({0.5, 2}), 1);
}

constexpr char kModule[] = R"(HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  i = s32[3] parameter(1)
  ROOT r = f32[4] add(x, x)
}
)";

// A backend that takes `seconds` in each run and notes the order of calls.
FakeBackend Timed(const std::string& name, double seconds, std::string& order) {
  FakeBackend::Script script;
  script.description.name = name;
  script.run = [name, seconds, &order](
                   const Module&, const CompileOptions&,
                   const std::vector<std::vector<const Literal*>>&) -> absl::StatusOr<RunResult> {
    order += name;
    RunResult result;
    result.seconds = seconds;
    result.outputs.push_back(Literal(Shape::Array(ElementType::kF32, {4})));
    return result;
  };
  return FakeBackend(script);
}

std::string WriteModule(const std::string& folder, const std::string& manifest) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/m.hlo") << kModule;
  if (!manifest.empty()) std::ofstream(folder + "/manifest.json") << manifest;
  return folder + "/m.hlo";
}

TEST(MeasureInterleaved, TakesTurnsAndWarmsUp) {
  auto workload = LoadWorkload(WriteModule(testing::TempDir() + "/assay_measure", ""), 1);
  ASSERT_TRUE(workload.ok()) << workload.status();
  std::string order;
  FakeBackend a = Timed("a", 0.2, order), b = Timed("b", 0.1, order);
  MeasureOptions options;
  options.compiles = 3;
  options.min_runs = 4;
  options.min_seconds = 0;
  auto timings = MeasureInterleaved({&a, &b}, *workload->module,
                                    {&workload->inputs[0], &workload->inputs[1]}, options);
  ASSERT_TRUE(timings.ok()) << timings.status();
  EXPECT_EQ(a.compiles(), 3);
  EXPECT_EQ((*timings)[0].compile_seconds.size(), 3u);
  EXPECT_EQ((*timings)[0].run_seconds, std::vector<double>(4, 0.2));
  EXPECT_EQ((*timings)[1].run_seconds, std::vector<double>(4, 0.1));
  EXPECT_EQ(order, "abbaabbaabba");  // two rounds of warm-up, four that count
}

TEST(MeasureInterleaved, NamesTheBackendThatFails) {
  auto workload = LoadWorkload(WriteModule(testing::TempDir() + "/assay_measure_fail", ""), 1);
  ASSERT_TRUE(workload.ok());
  std::string order;
  FakeBackend good = Timed("good", 0.1, order);
  FakeBackend::Script script;
  script.description.name = "bad";
  script.compile = [](const Module&, const CompileOptions&) {
    return MakeError(ErrorClass::kUnsupported, "no add");
  };
  FakeBackend bad(script);
  auto timings = MeasureInterleaved({&good, &bad}, *workload->module, {}, {});
  ASSERT_FALSE(timings.ok());
  EXPECT_THAT(std::string(timings.status().message()), HasSubstr("bad: unsupported: no add"));
}

TEST(Workload, DrawsByTheManifest) {
  std::string path = WriteModule(testing::TempDir() + "/assay_workload", R"({"programs":{"m":{
      "class":"test","inputs":[{"lo":10,"hi":11},{"lo":100,"hi":200,"sorted":true}]}}})");
  auto workload = LoadWorkload(path, 1);
  ASSERT_TRUE(workload.ok()) << workload.status();
  EXPECT_EQ(workload->work_class, "test");
  for (int64_t i = 0; i < 4; ++i) EXPECT_GE(workload->inputs[0].GetDouble(i), 10);
  EXPECT_GE(workload->inputs[1].GetInteger(0), 100);
  EXPECT_LE(workload->inputs[1].GetInteger(0), workload->inputs[1].GetInteger(2));
}

TEST(Workload, SaysWhatIsWrongWithAManifest) {
  std::string folder = testing::TempDir() + "/assay_workload_bad";
  EXPECT_THAT(std::string(LoadWorkload(WriteModule(folder, "[1]"), 1).status().message()),
              HasSubstr("manifest.json"));
  EXPECT_THAT(
      std::string(LoadWorkload(WriteModule(folder, R"({"programs":{"m":{"inputs":[]}}})"), 1)
                      .status()
                      .message()),
      HasSubstr("must have 2 inputs"));
}

TEST(Workload, TheBundledOnesLoad) {
  auto paths = FindWorkloads(std::string(ASSAY_SOURCE_DIR) + "/bench/workloads");
  ASSERT_TRUE(paths.ok()) << paths.status();
  EXPECT_GE(paths->size(), 3u);
  for (const std::string& path : *paths) {
    auto workload = LoadWorkload(path, 1);
    EXPECT_TRUE(workload.ok()) << path << ": " << workload.status();
  }
}

}  // namespace
}  // namespace assay
