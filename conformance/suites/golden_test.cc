// The goldens parse and name their ops; comparisons; how a run of a golden ends.
#include "conformance/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "spec/backend/fake_backend.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::vector<GoldenCase> Documents() {
  absl::StatusOr<std::vector<GoldenCase>> cases = DocumentGoldens();
  EXPECT_TRUE(cases.ok()) << cases.status();
  return cases.ok() ? *std::move(cases) : std::vector<GoldenCase>();
}

TEST(Goldens, OfTheDocumentsParse) { EXPECT_GE(Documents().size(), 80u); }

TEST(Goldens, EveryDefinedOpHasOne) {
  std::set<std::string> covered;
  for (const GoldenCase& golden : Documents()) covered.insert(golden.ops.begin(), golden.ops.end());
  for (const OpInfo& op : AllOps()) {
    if (!op.IsDefined()) continue;
    EXPECT_EQ(covered.count(std::string(op.name)), 1u)
        << "no golden in conformance/goldens is about the op " << op.name;
  }
}

TEST(Goldens, HoldTheOpsTheyAreAbout) {
  for (const GoldenCase& golden : Documents()) {
    std::set<std::string> held;
    for (const Computation* computation : golden.module->computations()) {
      for (const Instruction* instruction : *computation) {
        held.insert(std::string(Name(instruction->opcode())));
      }
    }
    for (const std::string& op : golden.ops) {
      EXPECT_EQ(held.count(op), 1u) << golden.name << " does not use " << op;
    }
  }
}

TEST(Goldens, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const GoldenCase& golden : Documents()) {
    EXPECT_TRUE(names.insert(golden.name).second) << golden.name;
  }
}

constexpr char kOne[] = R"(
== one
op: add
cite: nowhere
compare: ulp 2
ENTRY main {
  x = f32[3] parameter(0)
  ROOT r = f32[3] add(x, x)
}
in: {1, 2, nan}
out: {1, 2, nan}
)";

GoldenCase One(const std::string& comparison) {
  std::string text = kOne;
  text.replace(text.find("ulp 2"), 5, comparison);
  absl::StatusOr<std::vector<GoldenCase>> cases = ParseGoldens("test", text);
  EXPECT_TRUE(cases.ok()) << cases.status();
  return cases->front();
}

Literal Floats(std::initializer_list<uint32_t> codes) {
  Literal literal(Shape::Array(ElementType::kF32, {static_cast<int64_t>(codes.size())}));
  int64_t i = 0;
  for (uint32_t code : codes) literal.SetBits(i++, code);
  return literal;
}

constexpr uint32_t kOneBits = 0x3F800000, kTwoBits = 0x40000000, kNan = 0x7FC00000;

TEST(CompareGolden, UlpsCountAndStop) {
  GoldenCase golden = One("ulp 2");
  EXPECT_EQ(CompareGolden(golden, golden.rows[0], Floats({kOneBits + 2, kTwoBits - 2, kNan})), "");
  EXPECT_THAT(CompareGolden(golden, golden.rows[0], Floats({kOneBits, kTwoBits + 3, kNan})),
              HasSubstr("element 1"));
  EXPECT_THAT(CompareGolden(golden, golden.rows[0], Floats({kOneBits, kTwoBits, kTwoBits})),
              HasSubstr("element 2"));
}

TEST(CompareGolden, ExactLetsAnyNanStandForANan) {
  GoldenCase golden = One("exact");
  EXPECT_EQ(CompareGolden(golden, golden.rows[0], Floats({kOneBits, kTwoBits, 0xFFC00001})), "");
  EXPECT_THAT(CompareGolden(golden, golden.rows[0], Floats({kOneBits + 1, kTwoBits, kNan})),
              HasSubstr("element 0"));
}

TEST(CompareGolden, BitsAreBits) {
  GoldenCase golden = One("bits");
  EXPECT_EQ(CompareGolden(golden, golden.rows[0], Floats({kOneBits, kTwoBits, kNan})), "");
  EXPECT_THAT(CompareGolden(golden, golden.rows[0], Floats({kOneBits, kTwoBits, kNan + 1})),
              HasSubstr("element 2"));
}

TEST(CompareGolden, WrongShapesDiffer) {
  GoldenCase golden = One("bits");
  EXPECT_THAT(CompareGolden(golden, golden.rows[0], Floats({kOneBits})), HasSubstr("f32[1]"));
}

TEST(RunGolden, ReportsHowABackendEnds) {
  GoldenCase golden = One("exact");
  auto run_with = [&](absl::StatusOr<RunResult> answer) {
    FakeBackend::Script script;
    script.run = [answer](const Module&, const CompileOptions&,
                          const std::vector<std::vector<const Literal*>>&) { return answer; };
    FakeBackend backend(script);
    return RunGolden(golden, backend, {}).outcome;
  };
  RunResult right;
  right.outputs.push_back(Floats({kOneBits, kTwoBits, kNan}));
  RunResult wrong;
  wrong.outputs.push_back(Floats({kTwoBits, kTwoBits, kNan}));
  auto status_with = [&](absl::StatusOr<RunResult> answer) {
    return StatusWord(run_with(std::move(answer)).kind);
  };
  EXPECT_EQ(status_with(right), "passed");
  EXPECT_EQ(status_with(wrong), "failed");
  EXPECT_THAT(run_with(wrong).reason, HasSubstr("nowhere"));
  EXPECT_EQ(status_with(MakeError(ErrorClass::kUnsupported, "no")), "unsupported");
  EXPECT_EQ(status_with(MakeError(ErrorClass::kRunCrash, "boom")), "crashed");
  EXPECT_EQ(status_with(MakeError(ErrorClass::kRejected, "bad")), "failed");
}

struct BadSuite {
  const char* what;
  const char* from;
  const char* to;
  const char* message;
};

TEST(ParseGoldens, NamesTheLineOfWhatIsWrong) {
  constexpr BadSuite kRows[] = {
      {"unknown op", "op: add", "op: plus", "test:3: no op is called 'plus'"},
      {"unknown comparison", "ulp 2", "about", "test:5: expected bits, exact or ulp K"},
      {"no ulps", "ulp 2", "ulp x", "test:5: expected a number of ulps"},
      {"no citation", "cite: nowhere", "# nothing", "cites no document"},
      {"too many inputs", "in: {1, 2, nan}", "in: {1, 2, nan}\nin: {1}", "more inputs than the 1"},
      {"value of another shape", "out: {1, 2, nan}", "out: {1, 2}", "f32[3]"},
      {"no output", "out: {1, 2, nan}", "", "has no out:"},
      {"bad module", "add(x, x)", "add(x)", "one"},
  };
  for (const BadSuite& row : kRows) {
    std::string text = kOne;
    text.replace(text.find(row.from), std::string(row.from).size(), row.to);
    absl::StatusOr<std::vector<GoldenCase>> cases = ParseGoldens("test", text);
    if (std::string_view(row.what) == "no output") {
      ASSERT_FALSE(cases.ok());
      continue;
    }
    ASSERT_FALSE(cases.ok()) << row.what;
    EXPECT_THAT(std::string(cases.status().message()), HasSubstr(row.message)) << row.what;
  }
}

}  // namespace
}  // namespace assay
