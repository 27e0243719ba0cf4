// Which pass is to blame, on a compiler that dumps what each of its passes makes of a module.
#include "fuzz/blame/pass_blame.h"

#include <algorithm>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/fake_backend.h"
#include "spec/backend/loop_notes.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

using testing::HasSubstr;

// Counts from `start` by `step` as long as it is below 9, in u8; the result is the number of trips
// and the last number.
std::string CountedLoop(const std::string& config, int start = 0, int step = 3) {
  return StrCat(R"(HloModule counted
condition {
  state = (u8[], s32[2]) parameter(0)
  i = u8[] get-tuple-element(state), index=0
  end = u8[] constant(9)
  ROOT below = pred[] compare(i, end), direction=LT
}
body {
  state = (u8[], s32[2]) parameter(0)
  i = u8[] get-tuple-element(state), index=0
  step = u8[] constant()",
                step, R"()
  next = u8[] add(i, step)
  sums = s32[2] get-tuple-element(state), index=1
  one = s32[] constant(1)
  ones = s32[2] broadcast(one), dimensions={}
  more = s32[2] add(sums, ones)
  ROOT both = (u8[], s32[2]) tuple(next, more)
}
ENTRY main {
  start = u8[] constant()",
                start, R"()
  sums = s32[2] parameter(0)
  state = (u8[], s32[2]) tuple(start, sums)
  ROOT loop = (u8[], s32[2]) while(state), condition=condition, body=body)",
                config.empty() ? "" : StrCat(", backend_config=", config), "\n}\n");
}

std::vector<Literal> TwoZeros() {
  std::vector<Literal> inputs;
  inputs.emplace_back(Shape::Array(ElementType::kS32, {2}));
  return inputs;
}

std::string ResultOf(const Module& module) {
  EXPECT_TRUE(Verify(module).ok()) << Verify(module) << module.ToString();
  const std::vector<Literal> inputs = TwoZeros();
  const auto value = MakeOracle()->Evaluate(module, {&inputs[0]}, Limits());
  return value.ok() ? value->ToString() : std::string(value.status().message());
}

TEST(LoopNotes, AreWhatTheLoopGoesBy) {
  struct Row {
    std::string config;
    std::string result;
    int start = 0, step = 3;
  };
  const Row rows[] = {
      {R"({"known_trip_count":{"n":"3"}})", "( 9, {3, 3} )"},
      {R"({"known_trip_count":{"n":"2"}})", "( 6, {2, 2} )"},
      {R"({"known_trip_count":{"n":4}})", "( 12, {4, 4} )"},
      {R"({"known_trip_count":{"n":"0"}})", "( 0, {0, 0} )"},
      {R"({"known_trip_count":{"n":"-13"}})", "( 0, {0, 0} )"},
      {R"({"known_trip_count":{}})", "( 0, {0, 0} )"},
      // Whose start and step these are is not said, or cannot be read.
      {R"j({"known_trip_count":{"n":"3"},"known_init_step":{"init":"1"}})j", "( 9, {3, 3} )"},
      {R"j({"known_trip_count":{"n":"3"},"known_init_step":{"init":"x"},)j"
       R"j("known_induction_variable":{}})j",
       "( 9, {3, 3} )"},
      {R"({"known_trip_count":{"n":"3"},"known_init_step":{"init":"0","step":"3"},)"
       R"("known_induction_variable":{"tuple_index":"0"}})",
       "( 9, {3, 3} )"},
      {R"({"known_trip_count":{"n":"3"},"known_init_step":{"step":"3"},"known_induction_variable":{}})",
       "( 9, {3, 3} )"},
      {R"({"known_trip_count":{"n":"3"},"known_init_step":{"init":"1","step":"3"},"known_induction_variable":{}})",
       "( 10, {3, 3} )"},
      {R"({"known_trip_count":{"n":"3"},"known_init_step":{"init":"0","step":"4"},"known_induction_variable":{}})",
       "( 11, {3, 3} )"},
      {R"({"known_trip_count":{"n":"4"},"known_init_step":{"init":"4","step":"255"},"known_induction_variable":{}})",
       "( 0, {4, 4} )", 4, 255},
      {R"({"known_trip_count":{"n":"4"},)"
       R"("known_init_step":{"init":"4","step":"18446744073709551615"},"known_induction_variable":{}})",
       "( 0, {4, 4} )", 4, 255},
  };
  for (const Row& row : rows) {
    const auto module = ReadModule(CountedLoop(row.config, row.start, row.step));
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ(ApplyLoopNotes(**module, true).size(), 1) << row.config;
    EXPECT_EQ(ResultOf(**module), row.result) << row.config;
  }
}

TEST(LoopNotes, ThatCannotBeReadChangeNothing) {
  for (const char* config :
       {"", "{}", "{\"known_trip_count\":{\"n\":\"x\"}}", "{\"known_trip_count\":3}",
        "{\"known_init_step\":{}}", "{\"known_trip_count\":{\"n\":{\"n\":\"3\"}}}"}) {
    const auto module = ReadModule(CountedLoop(config));
    ASSERT_TRUE(module.ok()) << module.status() << config;
    EXPECT_TRUE(ApplyLoopNotes(**module, true).empty()) << config;
    EXPECT_EQ(ResultOf(**module), "( 9, {3, 3} )") << config;
  }
}

// A pass's name and the text of the module that it made.
using Dump = std::pair<std::string, std::string>;

// Like XLA: writes a dump after each pass, and is wrong unless one of `silencing` is disabled.
FakeBackend::Script Dumping(std::vector<Dump> dumps, std::vector<std::string> silencing) {
  FakeBackend::Script script;
  script.description.name = "fake";
  script.description.in_process = false;
  script.description.dumps_passes = true;
  script.description.profile = &Profile::Strict();
  script.compile = [dumps](const Module&, const CompileOptions& options) {
    const auto folder = options.flags.find("xla_dump_to");
    for (size_t i = 0; folder != options.flags.end() && i < dumps.size(); ++i) {
      std::ofstream(StrCat(folder->second, "/module_0001.m.000", i, ".simplification.after_",
                           dumps[i].first, ".before_next.txt"))
          << dumps[i].second;
    }
    return absl::OkStatus();
  };
  script.run = [silencing](const Module& module, const CompileOptions& options,
                           const std::vector<std::vector<const Literal*>>& arguments) {
    const auto flag = options.flags.find("xla_disable_hlo_passes");
    const bool is_silent =
        flag != options.flags.end() &&
        std::find(silencing.begin(), silencing.end(), flag->second) != silencing.end();
    RunResult result;
    result.outputs.push_back(*MakeOracle()->Evaluate(module, arguments[0], Limits()));
    if (!is_silent) result.outputs[0].mutable_elements()[1].SetBits(0, 77);
    return absl::StatusOr<RunResult>(std::move(result));
  };
  return script;
}

PassBlame BlameOf(std::vector<Dump> dumps, std::vector<std::string> silencing) {
  FakeBackend backend(Dumping(std::move(dumps), std::move(silencing)));
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  const CheckSubject subject{*oracle, backend, Profile::Strict(), {}, Limits()};
  const auto module = ReadModule(CountedLoop(""));
  EXPECT_TRUE(module.ok()) << module.status();
  return BlamePass(subject, **module, TwoZeros(), Outcome::kWrong);
}

constexpr char kThreeTrips[] = R"({"known_trip_count":{"n":"3"}})";
constexpr char kFourTrips[] = R"({"known_trip_count":{"n":"4"}})";

TEST(PassBlame, NamesThePassAfterWhichTheModuleIsWrong) {
  const PassBlame blame = BlameOf({{"pipeline-start", CountedLoop("")},
                                   {"innocent", CountedLoop(kThreeTrips)},
                                   {"guilty", CountedLoop(kThreeTrips, 0, 2)},
                                   {"later", CountedLoop(kThreeTrips, 0, 1)}},
                                  {"guilty"});
  EXPECT_EQ(blame.pass, "guilty");
  EXPECT_EQ(blame.note, "");
  EXPECT_EQ(blame.silencing, "");
  EXPECT_EQ(blame.verdict,
            "the module is wrong after pass guilty of pipeline simplification, and right without "
            "that pass");
}

TEST(PassBlame, ReadsWhatAPassNotesOfALoop) {
  const PassBlame blame = BlameOf({{"pipeline-start", CountedLoop("")},
                                   {"innocent", CountedLoop(kThreeTrips)},
                                   {"annotator", CountedLoop(kFourTrips)},
                                   {"later", CountedLoop(kFourTrips)}},
                                  {"annotator"});
  EXPECT_EQ(blame.pass, "annotator");
  EXPECT_EQ(blame.note, "a loop is taken to run 4 times");
  EXPECT_THAT(blame.verdict, HasSubstr("what it says of a loop's trips or counter is wrong after "
                                       "pass annotator"));
}

TEST(PassBlame, ReadsWhatAPassNotesOfACounter) {
  const std::string right =
      R"({"known_trip_count":{"n":"3"},"known_init_step":{"step":"3"},"known_induction_variable":{}})";
  const std::string wrong =
      R"({"known_trip_count":{"n":"3"},"known_init_step":{"step":"2"},"known_induction_variable":{}})";
  const PassBlame blame = BlameOf({{"pipeline-start", CountedLoop("")},
                                   {"innocent", CountedLoop(right)},
                                   {"annotator", CountedLoop(wrong)}},
                                  {"annotator"});
  EXPECT_EQ(blame.pass, "annotator");
  EXPECT_EQ(blame.note, "a loop is taken to run 3 times, and to count from 0 by 2");
}

TEST(PassBlame, DisablesPassesWhereEverySnapshotIsRight) {
  const std::vector<Dump> dumps = {
      {"pipeline-start", CountedLoop("")},     {"early", CountedLoop(kThreeTrips)},
      {"unchanged", CountedLoop(kThreeTrips)}, {"middle", CountedLoop("{}")},
      {"late", CountedLoop(kThreeTrips)},      {"pipeline-end", CountedLoop("")}};
  PassBlame blame = BlameOf(dumps, {"early", "unchanged", "middle", "pipeline-end"});
  EXPECT_EQ(blame.pass, "");
  EXPECT_EQ(blame.silencing, "middle") << "the last that changed the program";
  EXPECT_EQ(blame.verdict,
            "right without pass middle, though every dumped module that can be read is right");
  EXPECT_EQ(blame.checks.back(),
            (std::pair<std::string, std::string>("--xla_disable_hlo_passes=middle", "pass")));
  blame = BlameOf(dumps, {"unchanged"});
  EXPECT_EQ(blame.silencing, "") << "it changed nothing";
  EXPECT_THAT(blame.verdict, HasSubstr("neither HLO passes nor LLVM"));
}

}  // namespace
}  // namespace assay
