// Dumps of three platforms are silent as they are; bent by hand, each fails in the step and at the
// array that was bent. Names of dumps are read as they are.
#include "conformance/dumps/validate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "absl/strings/str_replace.h"
#include "conformance/dumps/diff.h"
#include "conformance/dumps/dump_folder.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/case_file_for_test.h"
#include "spec/base/file.h"
#include "spec/base/strings.h"
#include "spec/proto/module_proto.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// The report on one step, as a test sees it.
struct Told {
  std::string after;
  StepVerdict verdict;
};

std::vector<Told> Follow(const DumpedModule& dumped, const ValidateOptions& options) {
  std::vector<Told> told;
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  const absl::Status status = ValidateDump(dumped, *oracle, options, [&](const DumpStep& step) {
    told.push_back({step.after.path, step.verdict});
  });
  EXPECT_TRUE(status.ok()) << status;
  return told;
}

ValidateOptions DefaultOptions() {
  ValidateOptions options;
  options.profile = &Profile::Xla();
  return options;
}

std::string Testdata() { return TestDataDir() + "/conformance/dumps/testdata"; }

DumpedModule DumpOf(const std::string& name) {
  absl::StatusOr<std::vector<DumpedModule>> dumps = FindDumps(StrCat(Testdata(), "/", name));
  EXPECT_TRUE(dumps.ok()) << dumps.status();
  if (!dumps.ok()) return {};
  EXPECT_EQ(dumps->size(), 1u);
  return dumps->front();
}

// A folder of its own for each test.
class Folder {
 public:
  Folder() : path_(fs::path(testing::TempDir()) / StrCat("validate", getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = (path_ / name).string();
    EXPECT_TRUE(WriteFile(path, text).ok());
    return path;
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

class UnbentDump : public testing::TestWithParam<const char*> {};

TEST_P(UnbentDump, IsSilent) {
  std::map<StepVerdict::Kind, int> counts;
  for (const Told& told : Follow(DumpOf(GetParam()), DefaultOptions())) {
    ++counts[told.verdict.kind];
    EXPECT_NE(told.verdict.kind, StepVerdict::kFailed) << told.after << "\n"
                                                       << told.verdict.where << "\n"
                                                       << told.verdict.failure;
    EXPECT_NE(told.verdict.kind, StepVerdict::kInconclusive) << told.after << "\n"
                                                             << told.verdict.reason;
    if (told.verdict.kind == StepVerdict::kNotJudged) {
      EXPECT_NE(told.verdict.reason, "") << told.after;
    }
  }
  EXPECT_GT(counts[StepVerdict::kPassed], 2);
}

INSTANTIATE_TEST_SUITE_P(Dumps, UnbentDump,
                         testing::Values("cpu_conv", "cpu_embed", "cpu_rnn", "cpu_step", "gpu_rnn",
                                         "gpu_step", "tpu_conv", "tpu_step"),
                         [](const auto& info) { return std::string(info.param); });

TEST(BentDump, FailsInTheBentStep) {
  CasesForTest cases("conformance/dumps/testdata/bends.txt",
                     {"dump", "state", "from", "to", "where"});
  std::map<std::string, int> platforms;
  for (const CaseBlock& bend : cases.blocks()) {
    SCOPED_TRACE(bend.name);
    DumpedModule dumped = DumpOf(std::string(bend.Value("dump")));
    const std::string number = StrCat(".", bend.Value("state"), ".");
    const Folder folder;
    std::string bent;
    for (DumpSnapshot& snapshot : dumped.snapshots) {
      if (snapshot.path.find(number) == std::string::npos) continue;
      absl::StatusOr<std::string> text = ReadFile(snapshot.path);
      ASSERT_TRUE(text.ok()) << text.status();
      const std::string from(bend.Value("from")), to(bend.Value("to"));
      const size_t at = text->find(from);
      ASSERT_NE(at, std::string::npos);
      ASSERT_EQ(text->find(from, at + 1), std::string::npos);
      text->replace(at, from.size(), to);
      snapshot.path = bent = folder.Write("bent.txt", *text);
    }
    ASSERT_NE(bent, "");
    const std::vector<Told> told = Follow(dumped, DefaultOptions());
    ASSERT_FALSE(told.empty());
    for (size_t k = 0; k + 1 < told.size(); ++k)
      EXPECT_NE(told[k].verdict.kind, StepVerdict::kFailed) << told[k].after;
    EXPECT_EQ(told.back().after, bent);
    EXPECT_EQ(Name(told.back().verdict.kind), Name(StepVerdict::kFailed))
        << told.back().verdict.reason;
    if (told.back().verdict.kind != StepVerdict::kFailed) continue;
    EXPECT_NE(told.back().verdict.failure.find("allowed"), std::string::npos);
    cases.ExpectValue(*bend.Find("where"), told.back().verdict.where);
    ++platforms[std::string(bend.Value("dump").substr(0, 3))];
  }
  EXPECT_EQ(platforms.size(), 3u);
  EXPECT_GE(cases.blocks().size(), 20u);
}

// A layer deep enough that a bound over the whole program says little: x := tanh(x w) eight times.
std::string Deep() {
  std::string text =
      "HloModule m\n\nENTRY main {\n  x0 = f32[4,4] parameter(0)\n  w = f32[4,4] parameter(1)\n";
  for (int k = 0; k < 8; ++k) {
    const std::string a = std::to_string(k), b = std::to_string(k + 1);
    text += "  d" + b + " = f32[4,4] dot(x" + a +
            ", w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
    text += "  e" + b + " = f32[4,4] add(d" + b + ", d" + b + ")\n";
    text += std::string(k == 7 ? "  ROOT" : " ") + " x" + b + " = f32[4,4] tanh(e" + b + ")\n";
  }
  return text + "}\n";
}

// The verdict on the step between two texts.
StepVerdict Validate(const std::string& before, const std::string& after) {
  const Folder folder;
  DumpedModule dumped;
  dumped.name = "m";
  dumped.snapshots = {{folder.Write("before.txt", before), "", ""},
                      {folder.Write("after.txt", after), "", "pass"}};
  const std::vector<Told> told = Follow(dumped, DefaultOptions());
  EXPECT_EQ(told.size(), 1u);
  return told.empty() ? StepVerdict() : told.front().verdict;
}

TEST(Step, OtherNamesAreNoChange) {
  EXPECT_EQ(Validate(Deep(), absl::StrReplaceAll(Deep(), {{"e3", "other"}})).kind,
            StepVerdict::kUnchanged);
}

TEST(Step, AnEquivalentRewritePasses) {
  // y + y as 2 y, whose name is new.
  const std::string after = absl::StrReplaceAll(
      Deep(), {{"  e3 = f32[4,4] add(d3, d3)\n",
                "  two = f32[] constant(2)\n  twos = f32[4,4] broadcast(two), dimensions={}\n"
                "  product = f32[4,4] multiply(d3, twos)\n"},
               {"tanh(e3)", "tanh(product)"}});
  const StepVerdict verdict = Validate(Deep(), after);
  EXPECT_EQ(verdict.kind, StepVerdict::kPassed) << verdict.reason << verdict.failure;
  EXPECT_GT(verdict.shared, 10);
}

// A sum in f16 of which every update is small beside what is added to it.
TEST(Step, AScatterMayStartFromWhatIsAddedToItsResult) {
  const std::string places =
      " update_window_dims={}, inserted_window_dims={0},"
      " scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add";
  const std::string start =
      "HloModule m\n\nadd {\n  a = f16[] parameter(0)\n  b = f16[] parameter(1)\n"
      "  ROOT s = f16[] add(a, b)\n}\n\nENTRY main {\n  y = f16[4] parameter(0)\n"
      "  u = f16[12] parameter(1)\n  c = f16[] constant(0.0002)\n"
      "  cs = f16[12] broadcast(c), dimensions={}\n  v = f16[12] multiply(u, cs)\n"
      "  w = f16[12] abs(v)\n"
      "  i = s32[12] constant({0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2})\n";
  const std::string before = StrCat(start,
                                    "  z = f16[] constant(0)\n"
                                    "  zs = f16[4] broadcast(z), dimensions={}\n"
                                    "  sum = f16[4] scatter(zs, i, w),",
                                    places, "\n  ROOT r = f16[4] add(sum, y)\n}\n");
  const std::string after = StrCat(start, "  ROOT sum = f16[4] scatter(y, i, w),", places, "\n}\n");
  const StepVerdict verdict = Validate(before, after);
  EXPECT_EQ(verdict.kind, StepVerdict::kPassed) << verdict.reason << verdict.failure;
  const std::string bent = absl::StrReplaceAll(after, {{"scatter(y, i, w)", "scatter(y, i, u)"}});
  EXPECT_EQ(Validate(before, bent).kind, StepVerdict::kFailed);
}

TEST(Step, AReusedNameIsNoFailure) {
  // The name e3 stands for another value after the pass, and the result is the same.
  const std::string after = absl::StrReplaceAll(
      Deep(), {{"  e3 = f32[4,4] add(d3, d3)\n",
                "  e3 = f32[4,4] negate(d3)\n  f3 = f32[4,4] subtract(d3, e3)\n"},
               {"tanh(e3)", "tanh(f3)"}});
  const StepVerdict verdict = Validate(Deep(), after);
  EXPECT_EQ(verdict.kind, StepVerdict::kPassed) << verdict.reason << verdict.failure;
}

TEST(Step, NamesThatMoveToTheNextLayerAreNoFailure) {
  // Every name stands for the value of the layer above; by the numbers they are told.
  std::string after = Deep();
  for (int k = 8; k >= 1; --k) {
    const std::string old_name = std::to_string(k), new_name = std::to_string(k + 1);
    for (const char* letter : {"d", "e", "x"}) {
      after = absl::StrReplaceAll(after, {{letter + old_name + " ", letter + new_name + " "},
                                          {letter + old_name + ",", letter + new_name + ","},
                                          {letter + old_name + ")", letter + new_name + ")"}});
    }
  }
  after = absl::StrReplaceAll(after, {{"  e4 = f32[4,4] add(d4, d4)\n",
                                       "  e4 = f32[4,4] add(d4, d4)\n  f4 = f32[4,4] copy(e4)\n"},
                                      {"tanh(e4)", "tanh(f4)"}});
  const StepVerdict verdict = Validate(Deep(), after);
  EXPECT_EQ(verdict.kind, StepVerdict::kPassed) << verdict.reason << verdict.failure;
}

// A sum that is nothing but rounding has any sign: it says nothing about the name that it has.
TEST(Step, ASignThatMovesPastASumIsNoFailure) {
  const std::string before =
      "HloModule m\nplus {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
      "  ROOT r = f32[] add(p, q)\n}\nENTRY main {\n  x = f32[64] parameter(0)\n"
      "  zero = f32[] constant(0)\n  n = f32[] constant(0.015625)\n"
      "  sum = f32[] reduce(x, zero), dimensions={0}, to_apply=plus\n"
      "  mean = f32[] multiply(sum, n)\n  means = f32[64] broadcast(mean), dimensions={}\n"
      "  v = f32[64] subtract(x, means)\n  w = f32[64] negate(v)\n"
      "  s = f32[] reduce(w, zero), dimensions={0}, to_apply=plus\n"
      "  t = f32[1] reshape(s)\n  u = f32[1] add(t, t)\n  ROOT c = f32[1] cosine(u)\n}\n";
  const std::string after =
      absl::StrReplaceAll(before, {{"reduce(w, zero)", "reduce(v, zero)"},
                                   {"  w = f32[64] negate(v)\n", ""},
                                   {"reshape(s)", "reshape(m)"},
                                   {"  t = ", "  m = f32[] negate(s)\n  t = "}});
  const StepVerdict verdict = Validate(before, after);
  EXPECT_EQ(verdict.kind, StepVerdict::kPassed) << verdict.reason << verdict.failure;
}

// From the first layer to the result 21 more arrays depart.
TEST(Step, AWrongArrayFarFromTheResultFails) {
  const StepVerdict verdict =
      Validate(Deep(), absl::StrReplaceAll(Deep(), {{"tanh(e1)", "sine(e1)"}}));
  EXPECT_EQ(verdict.kind, StepVerdict::kFailed) << verdict.reason;
  EXPECT_EQ(verdict.where, "x1");
}

TEST(Step, BentPassesFailWhereTheyAreBent) {
  const std::vector<std::pair<std::string, std::string>> kBends = {
      {"e6 = f32[4,4] add(d6, d6)", "e6 = f32[4,4] add(d6, d5)"},
      {"e6 = f32[4,4] add(d6, d6)", "e6 = f32[4,4] subtract(d6, d6)"},
      {"dot(x5, w), lhs_contracting_dims={1}", "dot(x5, w), lhs_contracting_dims={0}"},
      {"dot(x5, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       "dot(x5, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}"},
      {"x6 = f32[4,4] tanh(e6)", "x6 = f32[4,4] logistic(e6)"},
      {"x6 = f32[4,4] tanh(e6)", "x6 = f32[4,4] tanh(d6)"},
      {"dot(x5, w)", "dot(x4, w)"},
  };
  for (const auto& [from, to] : kBends) {
    SCOPED_TRACE(to);
    const std::string after = absl::StrReplaceAll(Deep(), {{from, to}});
    ASSERT_NE(after, Deep());
    const StepVerdict verdict = Validate(Deep(), after);
    EXPECT_EQ(verdict.kind, StepVerdict::kFailed) << verdict.reason;
    EXPECT_EQ(verdict.where, from.substr(0, 3) == "dot" ? "d6" : from.substr(0, 2));
    EXPECT_NE(verdict.failure.find("allowed"), std::string::npos);
  }
}

TEST(Step, ADroppedConvertFails) {
  const std::string before =
      "HloModule m\nENTRY main {\n  x = f32[64] parameter(0)\n  y = f32[64] add(x, x)\n"
      "  i = s32[64] convert(y)\n  f = f32[64] convert(i)\n  ROOT r = f32[64] multiply(f, x)\n}\n";
  const std::string after = absl::StrReplaceAll(before, {{"multiply(f, x)", "multiply(y, x)"}});
  EXPECT_EQ(Validate(before, after).kind, StepVerdict::kFailed);
}

TEST(Step, OtherParametersAreNotJudged) {
  const StepVerdict verdict =
      Validate(Deep(), "HloModule m\nENTRY main { ROOT x = f32[4,4] parameter(0) }\n");
  EXPECT_EQ(verdict.kind, StepVerdict::kNotJudged);
  EXPECT_NE(verdict.reason.find("parameters"), std::string::npos) << verdict.reason;
}

// A call of a library in the place of a dot, and what comes before and after it.
std::string Library(const std::string& scale, const std::string& dot) {
  return "HloModule m\nENTRY main {\n  x = f32[4,4] parameter(0)\n  y = f32[4,4] " + scale +
         "\n  z = f32[4,4] " + dot + "\n  ROOT r = f32[4,4] negate(z)\n}\n";
}

constexpr char kCall[] = "custom-call(y, x), custom_call_target=\"__onednn$matmul\"";

TEST(Step, ACallOfALibraryHasAReason) {
  const StepVerdict verdict = Validate(
      Library("add(x, x)", "dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
      Library("add(x, x)", kCall));
  EXPECT_EQ(verdict.kind, StepVerdict::kNotJudged);
  EXPECT_NE(verdict.reason.find("__onednn$matmul"), std::string::npos) << verdict.reason;
}

TEST(Step, WhatACallOfALibraryReadsIsJudged) {
  const std::string before = Library("add(x, x)", kCall);
  const std::string twice = Library("multiply(x, c)", kCall);
  const std::string constant =
      "  c2 = f32[] constant(2)\n  c = f32[4,4] broadcast(c2), "
      "dimensions={}\n  y =";
  const std::string right = absl::StrReplaceAll(twice, {{"  y =", constant}});
  EXPECT_EQ(Validate(before, right).kind, StepVerdict::kPassed);
  EXPECT_EQ(Validate(before, absl::StrReplaceAll(right, {{"constant(2)", "constant(3)"}})).kind,
            StepVerdict::kFailed);
}

TEST(Step, ConstantsThatWereLeftOutAreTheSameByName) {
  const std::string before =
      "HloModule m\nENTRY main {\n  x = f32[40] parameter(0)\n  c = f32[40] constant({...})\n"
      "  y = f32[40] add(x, c)\n  ROOT z = f32[40] add(y, y)\n}\n";
  const std::string right = absl::StrReplaceAll(before, {{"add(x, c)", "add(c, x)"}});
  EXPECT_EQ(Validate(before, right).kind, StepVerdict::kPassed);
  EXPECT_EQ(Validate(before, absl::StrReplaceAll(before, {{"add(x, c)", "subtract(x, c)"}})).kind,
            StepVerdict::kFailed);
  const StepVerdict renamed = Validate(before, absl::StrReplaceAll(right, {{"c", "k"}}));
  EXPECT_EQ(renamed.kind, StepVerdict::kNotJudged);
}

TEST(Step, MixedPrecisionIsWrittenOut) {
  const std::string before =
      "HloModule m\nENTRY main {\n  x = bf16[40] parameter(0)\n  y = f32[40] parameter(1)\n"
      "  f = f32[40] convert(x)\n  z = f32[40] add(f, y)\n  ROOT r = f32[40] negate(z)\n}\n";
  const std::string mixed =
      absl::StrReplaceAll(before, {{"add(f, y)", "add(x, y)"}, {"  f = f32[40] convert(x)\n", ""}});
  EXPECT_EQ(Validate(before, mixed).kind, StepVerdict::kUnchanged);
  EXPECT_EQ(Validate(before, absl::StrReplaceAll(mixed, {{"add(x", "subtract(x"}})).kind,
            StepVerdict::kFailed);
}

// Doubles x as long as a u8 that is counted down is not nought.
std::string Doubling(const std::string& notes) {
  return StrCat(R"(HloModule m
condition {
  state = (u8[], s32[]) parameter(0)
  i = u8[] get-tuple-element(state), index=0
  end = u8[] constant(0)
  ROOT above = pred[] compare(i, end), direction=GT
}
body {
  state = (u8[], s32[]) parameter(0)
  i = u8[] get-tuple-element(state), index=0
  step = u8[] constant(255)
  next = u8[] add(i, step)
  x = s32[] get-tuple-element(state), index=1
  twice = s32[] add(x, x)
  ROOT both = (u8[], s32[]) tuple(next, twice)
}
ENTRY main {
  start = u8[] constant(4)
  x = s32[] constant(3)
  state = (u8[], s32[]) tuple(start, x)
  loop = (u8[], s32[]) while(state), condition=condition, body=body)",
                notes, "\n  ROOT y = s32[] get-tuple-element(loop), index=1\n}\n");
}

TEST(Step, WhatIsNotedOfALoopIsHeldAgainstIt) {
  const auto with = [](const std::string& trips, const std::string& step) {
    return Doubling(StrCat(R"(, backend_config={"known_trip_count":{"n":")", trips,
                           R"("},"known_init_step":{"init":"4","step":")", step, R"("}})"));
  };
  EXPECT_EQ(Validate(Doubling(""), with("4", "255")).kind, StepVerdict::kPassed);
  const StepVerdict trips = Validate(Doubling(""), with("1", "255"));
  EXPECT_EQ(trips.kind, StepVerdict::kFailed);
  EXPECT_EQ(trips.reason, "a loop is taken to run 1 time");
  EXPECT_EQ(Validate(with("1", "255"), with("1", "255")).kind, StepVerdict::kFailed)
      << "the note of the first state is as wrong";
  // Here nothing reads the counter.
  EXPECT_EQ(Validate(Doubling(""), with("4", "1")).kind, StepVerdict::kPassed);
  EXPECT_EQ(Validate(with("4", "255"), with("", "255")).kind, StepVerdict::kPassed);
}

Literal Floats(const std::vector<float>& values) {
  Literal literal(Shape::Array(ElementType::kF32, {static_cast<int64_t>(values.size())}));
  std::memcpy(literal.bytes().data(), values.data(), values.size() * sizeof(float));
  return literal;
}

TEST(Validate, RecordedRunsAreUsedAndJudged) {
  const std::string text =
      "HloModule jit_f\nENTRY main {\n  x = f32[3] parameter(0)\n  ROOT y = f32[3] add(x, x)\n}\n";
  for (const bool is_right : {true, false}) {
    const Folder folder;
    folder.Write("module_0001.jit_f.before_optimizations.txt", text);
    folder.Write("module_0001.jit_f.cpu_after_optimizations.txt", text);
    Snapshot snapshot;
    auto module = ReadModule(text);
    ASSERT_TRUE(module.ok());
    snapshot.module = *std::move(module);
    snapshot.arguments.push_back({Floats({1, 2, 3})});
    snapshot.result = Floats({2, 4, is_right ? 6.0F : 7.0F});
    const absl::StatusOr<std::string> bytes = WriteSnapshot(snapshot);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    folder.Write("module_0001.jit_f.execution_0000.hlo_snapshot.pb", *bytes);
    const auto dumps = FindDumps(folder.path());
    ASSERT_TRUE(dumps.ok()) << dumps.status();
    ASSERT_EQ(dumps->front().recorded.size(), 1u);
    const std::vector<Told> told = Follow(dumps->front(), DefaultOptions());
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0].verdict.kind, StepVerdict::kUnchanged);
    EXPECT_EQ(Name(told[1].verdict.kind),
              Name(is_right ? StepVerdict::kPassed : StepVerdict::kFailed));
  }
}

TEST(Diff, HasBothSidesInTheirOrder) {
  auto a = ReadModule(Deep());
  auto b = ReadModule(absl::StrReplaceAll(Deep(), {{"tanh(e6)", "sine(e6)"}}));
  ASSERT_TRUE(a.ok() && b.ok());
  const std::string diff = DiffOf(**a, **b, 10);
  EXPECT_NE(diff.find("- %x6 = f32[4,4] tanh("), std::string::npos) << diff;
  EXPECT_NE(diff.find("+ %x6 = f32[4,4] sine("), std::string::npos) << diff;
  EXPECT_NE(DiffOf(**a, **b, 1).find("... and 1 lines more"), std::string::npos);
  EXPECT_EQ(DiffOf(**a, **a, 10), "");
}

TEST(DumpFolder, StatesAreInOrderAndOtherFilesAreLeftOut) {
  const Folder folder;
  for (const char* name :
       {"module_0003.jit_f.before_optimizations.txt", "module_0003.jit_f.debug_options",
        "module_0003.jit_f.0010.simplification.after_algsimp.before_dce.txt",
        "module_0003.jit_f.0010.simplification.after_algsimp.before_dce.hlo.pb",
        "module_0003.jit_f.0002.HLO passes.after_pipeline-start.before_x.txt",
        "module_0003.jit_f.0011.copy-insertion.after_adding_copies.txt",
        "module_0003.jit_f.0012.tiling.before_rewriter.txt",
        "module_0003.jit_f.sm_9.0a_gpu_after_optimizations.txt",
        "module_0003.jit_f.cpu_after_optimizations-buffer-assignment.txt",
        "module_0007.jit_g.cpu_0.before_optimizations.txt", "unrelated.txt"}) {
    folder.Write(name, "text");
  }
  const auto dumps = FindDumps(folder.path());
  ASSERT_TRUE(dumps.ok()) << dumps.status();
  ASSERT_EQ(dumps->size(), 1u);  // jit_g has one state only
  EXPECT_EQ((*dumps)[0].name, "module_0003.jit_f");
  std::vector<std::string> titles;
  for (const DumpSnapshot& snapshot : (*dumps)[0].snapshots) titles.push_back(TitleOf(snapshot));
  EXPECT_EQ(titles, (std::vector<std::string>{
                        "before optimizations", "HLO passes after pipeline-start",
                        "simplification after algsimp", "copy-insertion after adding_copies",
                        "tiling before_rewriter", "after optimizations"}));
}

TEST(DumpFolder, AFolderWithoutStatesIsAnError) {
  const Folder folder;
  EXPECT_EQ(FindDumps(folder.path()).status().code(), absl::StatusCode::kNotFound);
  folder.Write("module_0001.f.before_optimizations.txt", "one state alone");
  EXPECT_EQ(FindDumps(folder.path()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FindDumps(folder.path() + "/none").status().code(), absl::StatusCode::kNotFound);
}

TEST(Validate, FilesThatAreNoProgramsAreSaid) {
  const Folder folder;
  folder.Write("module_0001.f.before_optimizations.txt", "no program");
  folder.Write("module_0001.f.cpu_after_optimizations.txt", "no program");
  const auto dumps = FindDumps(folder.path());
  ASSERT_TRUE(dumps.ok()) << dumps.status();
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  const absl::Status status =
      ValidateDump(dumps->front(), *oracle, DefaultOptions(), [](const DumpStep&) { FAIL(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
}

}  // namespace
}  // namespace assay
