// Triage of a compiler with one known wrong rewrite.
#include "fuzz/triage/triage.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "absl/algorithm/container.h"
#include "absl/strings/str_replace.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/testing/negates_nothing.h"
#include "fuzz/reduce/testing/slice_of_slice.h"
#include "fuzz/reduce/wrong_instruction.h"
#include "fuzz/triage/bucket.h"
#include "fuzz/triage/bug_page.h"
#include "fuzz/triage/pages.h"
#include "fuzz/triage/reduce_failure.h"
#include "fuzz/triage/signature.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/fake_backend.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/base/temporary_folder.h"
#include "spec/numerics/profile.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const Instruction* NestedSlice(const Module& module) {
  for (const Instruction* at : *module.entry()) {
    if (at->opcode() == Opcode::kDynamicSlice &&
        at->operand(0)->opcode() == Opcode::kDynamicSlice) {
      return at;
    }
  }
  return nullptr;
}

// A compiler with three decisions per module. The second merges dynamic slices of dynamic slices,
// and then every s32 it returns is one too large.
struct FaultyCompiler {
  FaultyCompiler() : oracle(MakeOracle()) {
    FakeBackend::Script script;
    script.description.name = "fake:option=1";
    script.description.version = "fake 1.0";
    script.description.has_decisions = true;
    script.compile = [](const Module&, const CompileOptions&) { return absl::OkStatus(); };
    script.decisions = [](const Module& module, const CompileOptions& options) {
      std::vector<Decision> decisions;
      auto add = [&](std::string rule) {
        int64_t number = static_cast<int64_t>(decisions.size()) + 1;
        bool taken = options.decision_limit < 0 || number <= options.decision_limit;
        decisions.push_back({number, DecisionKind::kRewrite, rule, "e/x", taken});
      };
      add("harmless");
      if (NestedSlice(module) != nullptr) add("ds-of-ds");
      add("harmless");
      return decisions;
    };
    script.run = [this](const Module& module, const CompileOptions& options,
                        const std::vector<std::vector<const Literal*>>& arguments)
        -> absl::StatusOr<RunResult> {
      absl::StatusOr<Literal> value = oracle->Evaluate(module, arguments[0], {});
      if (!value.ok()) return value.status();
      bool merged = options.decision_limit < 0 || options.decision_limit >= 2;
      if (NestedSlice(module) != nullptr && merged) Spoil(*value);
      RunResult result;
      result.outputs.push_back(*std::move(value));
      return result;
    };
    backend = std::make_unique<FakeBackend>(std::move(script));
  }
  static void Spoil(Literal& value) {
    for (Literal& element : value.mutable_elements()) Spoil(element);
    if (!value.shape().IsArray() || !IsInteger(value.element_type())) return;
    for (int64_t i = 0; i < value.element_count(); ++i) {
      value.SetInteger(i, value.GetInteger(i) + 1);
    }
  }
  std::unique_ptr<Oracle> oracle;
  std::unique_ptr<FakeBackend> backend;
};

Finding MakeFinding() {
  Finding finding;
  finding.kind = Outcome::kWrong;
  finding.backend = "fake:option=1";
  finding.profile = "strict";
  finding.seed = 7;
  finding.index = 42;
  finding.module_text = kSliceOfSlice;
  finding.inputs = InputsOfSliceOfSlice();
  return finding;
}

std::string FileText(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class TriageTest : public testing::Test {
 protected:
  TriageTest() : folder_(fs::path(testing::TempDir()) / "assay_triage_test") {
    fs::remove_all(folder_);
  }
  ~TriageTest() override { fs::remove_all(folder_); }
  TriageOptions Options() const {
    TriageOptions options;
    options.pages = folder_.string();
    return options;
  }
  fs::path folder_;
};

TEST_F(TriageTest, ConfirmsBlamesReducesAndWritesThePage) {
  FaultyCompiler compiler;
  absl::StatusOr<TriageReport> report =
      Triage(MakeFinding(), *compiler.oracle, *compiler.backend, Options());
  ASSERT_TRUE(report.ok()) << report.status();
  const TriageResult& result = report->result;
  EXPECT_TRUE(result.confirmed);
  EXPECT_EQ(result.blamed_rule, "ds-of-ds");
  EXPECT_EQ(result.bucket, "fake/wrong value/ds-of-ds");
  EXPECT_LE(result.instructions, 4) << report->page.finding.module_text;
  EXPECT_THAT(result.title, HasSubstr("dynamic-slice(dynamic-slice("));
  for (const char* name : {"repro.hlo", "repro.npz", "original.hlo", "README.md", "repro.sh",
                           "bug.html", "finding.json"}) {
    EXPECT_TRUE(fs::exists(fs::path(result.page) / name)) << name;
  }
  std::string readme = FileText(fs::path(result.page) / "README.md");
  for (const char* part : {"ds-of-ds", "Expected", "Got", "fake 1.0", "program 42"}) {
    EXPECT_THAT(readme, HasSubstr(part));
  }
}

TEST_F(TriageTest, ThePageRepeats) {
  FaultyCompiler compiler;
  absl::StatusOr<TriageReport> first =
      Triage(MakeFinding(), *compiler.oracle, *compiler.backend, Options());
  ASSERT_TRUE(first.ok());
  absl::StatusOr<Finding> loaded = LoadFinding(first->result.page);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->kind, Outcome::kWrong);
  EXPECT_EQ(loaded->index, 42);
  absl::StatusOr<TriageReport> again =
      Triage(*loaded, *compiler.oracle, *compiler.backend, Options());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->result.confirmed);
  EXPECT_EQ(again->result.bucket, first->result.bucket);
  EXPECT_EQ(again->page.duplicates, 1);
  EXPECT_THAT(FileText(fs::path(first->result.page) / "finding.json"),
              HasSubstr("\"duplicates\": 1"));
}

// The page of one release is not that of another, nor of one with a planted defect.
TEST_F(TriageTest, EachReleaseHasPagesOfItsOwn) {
  FaultyCompiler compiler;
  absl::StatusOr<TriageReport> first =
      Triage(MakeFinding(), *compiler.oracle, *compiler.backend, Options());
  ASSERT_TRUE(first.ok());
  const std::string pages = fs::path(first->result.page).parent_path().string();
  const std::string backend = MakeFinding().backend;
  const PageOwner owner = {backend, compiler.backend->Describe().version, ""};
  const std::string& bucket = first->result.bucket;
  EXPECT_EQ(PageFolder(pages, bucket, owner), first->result.page);
  const std::string of_next = PageFolder(pages, bucket, {backend, "fake 2.0", ""});
  EXPECT_NE(of_next, first->result.page);
  EXPECT_EQ(PageFolder(pages, bucket, {backend, "fake 2.0", ""}), of_next);
  EXPECT_NE(PageFolder(pages, bucket, {backend, owner.version, "{}"}), of_next);
}

// The script exits with 1 for this bug alone; a stub of jax stands for what a user may have there.
TEST_F(TriageTest, TheScriptTellsItsBugFromOtherTrouble) {
  fs::create_directories(folder_);
  BugPage page;
  page.is_jax = true;
  page.finding.backend = "xla";
  page.finding.module_text = "HloModule m\nENTRY e { ROOT p = s32[2] parameter(0) }\n";
  page.finding.inputs.emplace_back(Shape::Array(ElementType::kS32, {2}));
  const auto status_with = [&](const std::string& jax) {
    const std::string root = (folder_ / "script").string();
    EXPECT_TRUE(WriteBugPage(page, root).ok());
    std::ofstream(root + "/jax.py") << jax;
    const int status =
        std::system(("PYTHONPATH='" + root + "' python3 '" + root + "/repro.py' 2>&1").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const std::string dies =
      "import os, sys\nsys.stderr.write('F0101 a.cc:1] Check failed: x > 0\\n')\n"
      "sys.stderr.flush()\nos.abort()\n";
  page.finding.kind = Outcome::kWrong;
  EXPECT_EQ(status_with("raise ImportError('no jax here')\n"), 2);
  EXPECT_EQ(status_with(dies), 2) << "it was a wrong value that was seen";
  page.finding.kind = Outcome::kCompileCrash;
  page.finding.judgement =
      "while compiling: died of SIGABRT:\nF0101 00:00:00.1 1 a.cc:1] Check failed: x > 0\n";
  EXPECT_EQ(status_with(dies), 1);
  EXPECT_EQ(status_with("raise ImportError('no jax here')\n"), 2);
  EXPECT_EQ(status_with("import os\nos.abort()\n"), 2) << "it died in other words";
  page.finding.judgement = "while running: died of SIGSEGV";
  EXPECT_EQ(status_with("import os\nos.kill(os.getpid(), 11)\n"), 1);
  EXPECT_EQ(status_with(dies), 2);
}

TEST_F(TriageTest, SaysWhenItDoesNotRepeat) {
  FaultyCompiler compiler;
  Finding finding = MakeFinding();
  finding.kind = Outcome::kRunCrash;
  finding.module_text = "HloModule m\nENTRY e { ROOT p = s32[2] parameter(0) }\n";
  finding.inputs.clear();
  finding.inputs.emplace_back(Shape::Array(ElementType::kS32, {2}));
  absl::StatusOr<TriageReport> report =
      Triage(finding, *compiler.oracle, *compiler.backend, Options());
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->result.confirmed);
  EXPECT_FALSE(fs::exists(folder_));
}

bool Reverses(const Module& module) {
  for (const Instruction* at : *module.entry()) {
    if (at->opcode() == Opcode::kReverse) return true;
  }
  return false;
}

// An oracle that fails on programs that reverse, or dies of them.
class BadOracle : public Oracle {
 public:
  explicit BadOracle(bool dies) : dies_(dies) {}
  absl::StatusOr<Literal> Evaluate(const Module& module,
                                   const std::vector<const Literal*>& arguments,
                                   const Limits& limits) override {
    if (dies_ && Reverses(module)) std::abort();
    return oracle_->Evaluate(module, arguments, limits);
  }
  absl::StatusOr<Expectation> Expect(const Module& module,
                                     const std::vector<const Literal*>& arguments,
                                     const Profile& profile, const Limits& limits) override {
    if (dies_ && Reverses(module)) std::abort();
    if (Reverses(module)) return absl::InternalError("its own value lies outside its bound");
    return oracle_->Expect(module, arguments, profile, limits);
  }

 private:
  bool dies_;
  std::unique_ptr<Oracle> oracle_ = MakeOracle();
};

TEST_F(TriageTest, ReducesWhatIsTheHarnessesOwnFault) {
  for (const bool dies : {false, true}) {
    FaultyCompiler compiler;
    BadOracle oracle(dies);
    Finding finding = MakeFinding();
    finding.kind = Outcome::kOurFault;
    absl::StatusOr<TriageReport> report = Triage(finding, oracle, *compiler.backend, Options());
    ASSERT_TRUE(report.ok()) << report.status();
    const TriageResult& result = report->result;
    EXPECT_TRUE(result.confirmed);
    EXPECT_EQ(result.blamed_rule, "") << "the compiler's own mistake has nothing to do with it";
    EXPECT_THAT(result.bucket, HasSubstr("assay/"));
    EXPECT_THAT(result.bucket, HasSubstr(dies ? "died of SIGABRT" : "lies outside its bound"));
    EXPECT_THAT(result.bucket, HasSubstr("/reverse"));
    EXPECT_THAT(result.title, HasSubstr("assay: "));
    EXPECT_LE(result.instructions, 2) << report->page.finding.module_text;
    EXPECT_THAT(FileText(fs::path(result.page) / "README.md"), HasSubstr("Nobody but Assay"));
  }
}

// A write to the wrong place is now a crash, now a wrong value.
TEST_F(TriageTest, ExplainsWhatShowsNow) {
  FaultyCompiler compiler;
  Finding finding = MakeFinding();
  finding.kind = Outcome::kRunCrash;
  absl::StatusOr<TriageReport> report =
      Triage(finding, *compiler.oracle, *compiler.backend, Options());
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->result.confirmed);
  EXPECT_EQ(report->result.bucket, "fake/wrong value/ds-of-ds");
}

TEST_F(TriageTest, MakesAFindingOfAnyFailingModule) {
  FaultyCompiler compiler;
  Finding known = MakeFinding();
  absl::StatusOr<ReduceCase> c = CaseOf(known);
  ASSERT_TRUE(c.ok()) << c.status();
  const CheckSubject subject{
      *compiler.oracle, *compiler.backend, Profile::Strict(), {}, kTriageLimits};
  absl::StatusOr<Finding> found = FindingOf(subject, *c->module, c->inputs);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->kind, Outcome::kWrong);
  known.inputs.pop_back();
  EXPECT_FALSE(CaseOf(known).ok());
}

// A failure of that compiler, of which the negate alone is to blame.
Finding NegatedSum() {
  Finding finding = MakeFinding();
  finding.backend = "fake";
  finding.module_text = R"(HloModule m
ENTRY e {
  p = s16[9,7]{1,0} parameter(0)
  i = u8[] parameter(1)
  a = s16[9,7]{1,0} add(p, p)
  n = s16[9,7]{1,0} negate(a)
  ROOT s = s16[4,3]{1,0} dynamic-slice(n, i, i), dynamic_slice_sizes={4,3}
}
)";
  return finding;
}

// A bucket keeps a page for programs of another index type or class of numbers beside its first.
TEST(PageSlot, ASecondVariantHasAPageOfItsOwn) {
  const TemporaryFolder pages("assay-slots");
  ASSERT_TRUE(pages.ok());
  const auto slot = [&](const char* variant) {
    return PageSlot(pages.path(), "cpu/wrong value/ds-of-ds", variant, PageOwner{});
  };
  const auto write = [](const std::string& folder, const char* variant) {
    fs::create_directories(folder);
    std::ofstream(fs::path(folder) / "finding.json")
        << R"({"instructions": 3, "variant": ")" << variant << "\"}";
  };
  const std::string first = slot("i by s32");
  write(first, "i by s32");
  EXPECT_EQ(slot("i by s32"), first);
  const std::string second = slot("f by s8");
  EXPECT_NE(second, first);
  write(second, "f by s8");
  EXPECT_EQ(slot("f by s8"), second);
  EXPECT_EQ(slot("p by u8"), first) << "there are two slots";
  write(first, "");
  EXPECT_EQ(slot("f by s8"), first) << "of an old page it is not known";
}

// The bug of a bucket that has a small program already is not made small once more; one that has a
// larger program is.
TEST_F(TriageTest, WhatHasItsPageIsNotReducedToTheEnd) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend backend(NegatesNothing(*oracle));
  const Finding finding = NegatedSum();
  const absl::StatusOr<TriageReport> first = Triage(finding, *oracle, backend, Options());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(first->result.is_smallest);
  EXPECT_EQ(first->result.instructions, 2) << first->page.finding.module_text;

  const absl::StatusOr<TriageReport> second = Triage(finding, *oracle, backend, Options());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->result.bucket, first->result.bucket);
  EXPECT_EQ(second->result.page, first->result.page);
  EXPECT_EQ(second->result.culprit.ops, std::set<std::string>{"negate"});
  EXPECT_TRUE(second->result.is_smallest) << "as for its ops, by which buckets are merged";
  EXPECT_THAT(second->page.steps, testing::Contains(HasSubstr("its bucket has a page")));
  EXPECT_EQ(second->page.duplicates, 1);

  const fs::path json = fs::path(first->result.page) / "finding.json";
  std::string text = FileText(json);
  const std::string field = "\"instructions\": 2";
  ASSERT_NE(text.find(field), text.npos);
  text.replace(text.find(field), field.size(), "\"instructions\": 9");
  std::ofstream(json) << text;
  const absl::StatusOr<TriageReport> third = Triage(finding, *oracle, backend, Options());
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_TRUE(third->result.is_smallest);
  EXPECT_THAT(FileText(json), HasSubstr(field)) << "the smaller program has the page";
}

// Passes that are to blame for such a loop have one bug in common, so buckets are told of it.
TEST_F(TriageTest, ALoopOverAnUnsignedCounterIsSaidToBeOne) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend::Script script;
  script.description.name = "xla";  // whose data knows of such loops
  script.description.profile = &Profile::Strict();
  script.compile = [](const Module&, const CompileOptions&) { return absl::OkStatus(); };
  ElementType counted = ElementType::kU8;
  script.run =
      [&](const Module& module, const CompileOptions&,
          const std::vector<std::vector<const Literal*>>& arguments) -> absl::StatusOr<RunResult> {
    absl::StatusOr<Literal> value = oracle->Evaluate(module, arguments[0], {});
    if (!value.ok()) return value.status();
    const Instruction* root = module.entry()->root();
    const Instruction* goes_on = root->callees().empty() ? root : root->callee(0)->root();
    const bool is_counted = root->opcode() == Opcode::kWhile &&
                            goes_on->opcode() == Opcode::kCompare &&
                            goes_on->operand(0)->shape().element_type() == counted;
    if (is_counted) FaultyCompiler::Spoil(*value);
    RunResult result;
    result.outputs.push_back(*std::move(value));
    return result;
  };
  FakeBackend backend(std::move(script));
  for (const bool is_unsigned : {true, false}) {
    Finding finding;
    finding.kind = Outcome::kWrong;
    finding.backend = "fake";
    finding.profile = "strict";
    finding.module_text = absl::StrReplaceAll(R"(HloModule m
goes_on {
  state = (T[]) parameter(0)
  at = T[] get-tuple-element(state), index=0
  least = T[] constant(1)
  ROOT go = pred[] compare(at, least), direction=GE
}
body {
  state = (T[]) parameter(0)
  at = T[] get-tuple-element(state), index=0
  one = T[] constant(1)
  next = T[] subtract(at, one)
  ROOT t = (T[]) tuple(next)
}
ENTRY e {
  p = T[] parameter(0)
  init = (T[]) tuple(p)
  ROOT loop = (T[]) while(init), condition=goes_on, body=body
}
)",
                                              {{"T[]", is_unsigned ? "u8[]" : "s8[]"}});
    counted = is_unsigned ? ElementType::kU8 : ElementType::kS8;
    Literal p(Shape::Scalar(counted));
    p.SetInteger(0, 3);
    finding.inputs = {std::move(p)};
    const absl::StatusOr<TriageReport> report = Triage(finding, *oracle, backend, Options());
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_TRUE(report->result.confirmed);
    EXPECT_TRUE(report->result.culprit.ops.contains("while"));
    EXPECT_EQ(report->result.culprit.causes.contains("unsigned-loop"), is_unsigned);
  }
}

// A write to the wrong place is now a wrong value, now a crash.
TEST_F(TriageTest, AJudgementOfAnotherRunSaysSo) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend::Script script = NegatesNothing(*oracle);
  auto seen = std::make_shared<std::map<uint64_t, int>>();
  script.run =
      [seen, wrong = script.run](
          const Module& module, const CompileOptions& options,
          const std::vector<std::vector<const Literal*>>& arguments) -> absl::StatusOr<RunResult> {
    const bool is_reduced = module.InstructionCount() <= 2;
    if (is_reduced && ++(*seen)[module.Hash()] > 1)
      return MakeError(ErrorClass::kRunCrash, "the worker died of SIGABRT\ncorrupted");
    return wrong(module, options, arguments);
  };
  FakeBackend backend(std::move(script));
  const Finding finding = NegatedSum();
  const absl::StatusOr<TriageReport> report = Triage(finding, *oracle, backend, Options());
  ASSERT_TRUE(report.ok()) << report.status();
  const std::string& judgement = report->page.finding.judgement;
  EXPECT_THAT(judgement, HasSubstr("elements lie outside their bound, when it failed last\n"));
  EXPECT_THAT(judgement, HasSubstr("run again: run crash: the worker died of SIGABRT\n"));
}

TEST_F(TriageTest, WhatDiesOnceAndIsWrongEverAfterIsReducedAsThat) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend::Script script = NegatesNothing(*oracle);
  auto runs = std::make_shared<int>(0);
  script.run =
      [runs, wrong = script.run](
          const Module& module, const CompileOptions& options,
          const std::vector<std::vector<const Literal*>>& arguments) -> absl::StatusOr<RunResult> {
    if ((*runs)++ == 0) return MakeError(ErrorClass::kRunCrash, "the run wrote over its arguments");
    return wrong(module, options, arguments);
  };
  FakeBackend backend(std::move(script));
  Finding finding = NegatedSum();
  finding.kind = Outcome::kRunCrash;
  const absl::StatusOr<TriageReport> report = Triage(finding, *oracle, backend, Options());
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->page.finding.kind, Outcome::kWrong);
  EXPECT_LE(report->result.instructions, 2) << report->page.finding.module_text;
}

// A busy machine kept the first answer back.
TEST_F(TriageTest, WhatHasNoAnswerIsAskedOnceMore) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  for (const bool ever : {true, false}) {
    FakeBackend::Script script = NegatesNothing(*oracle);
    auto runs = std::make_shared<int>(0);
    script.run = [runs, ever, wrong = script.run](
                     const Module& module, const CompileOptions& options,
                     const std::vector<std::vector<const Literal*>>& arguments)
        -> absl::StatusOr<RunResult> {
      if ((*runs)++ == 0 || !ever) return MakeError(ErrorClass::kTimeout, "no answer within 4 s");
      return wrong(module, options, arguments);
    };
    FakeBackend backend(std::move(script));
    const absl::StatusOr<TriageReport> report = Triage(NegatedSum(), *oracle, backend, Options());
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->page.finding.kind, ever ? Outcome::kWrong : Outcome::kTimeout);
    EXPECT_EQ(report->page.finding.judgement.find("when it failed last"), std::string::npos);
  }
}

bool HasOp(const Module& module, Opcode opcode) {
  for (const Instruction* at : *module.entry()) {
    if (at->opcode() == opcode) return true;
  }
  return false;
}

// Under cheap flags the compiler dies in another way, as it does of a smaller program without them:
// that way is not where the reduction may lead.
TEST_F(TriageTest, ACrashUnderCheapFlagsHasToBeTheSame) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend::Script script = NegatesNothing(*oracle);
  script.description.dumps_passes = true;
  script.compile = [](const Module& module, const CompileOptions& options) -> absl::Status {
    if (!HasOp(module, Opcode::kDynamicSlice)) return absl::OkStatus();
    const bool is_first = options.flags.empty() && HasOp(module, Opcode::kAdd);
    return MakeError(ErrorClass::kCompileCrash, is_first ? "first.cc: bad sum" : "second.cc: gone");
  };
  FakeBackend backend(std::move(script));
  ASSERT_FALSE(CheapFlags(backend).empty());
  Finding finding = MakeFinding();
  finding.backend = "fake";
  finding.kind = Outcome::kCompileCrash;
  TriageOptions options = Options();
  options.blame = false;
  const absl::StatusOr<TriageReport> report = Triage(finding, *oracle, backend, options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->result.bucket, HasSubstr("first.cc: bad sum"));
  EXPECT_LE(report->result.instructions, 3) << report->page.finding.module_text;
}

// A compiler that dies of one program in two ways, in turn.
TEST_F(TriageTest, ACrashInTwoWaysIsReducedAllTheSame) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  const std::string compiled = testing::TempDir() + "/compiled_in_turn";  // once per byte
  std::filesystem::remove(compiled);
  FakeBackend::Script script = NegatesNothing(*oracle);
  script.compile = [&](const Module& module, const CompileOptions&) -> absl::Status {
    if (!HasOp(module, Opcode::kDynamicSlice)) return absl::OkStatus();
    std::ofstream(compiled, std::ios::app) << '.';
    const bool is_even = std::filesystem::file_size(compiled) % 2 == 0;
    return MakeError(ErrorClass::kCompileCrash, is_even ? "first.cc: bad" : "second.cc: gone");
  };
  FakeBackend backend(std::move(script));
  Finding finding = MakeFinding();
  finding.backend = "fake";
  finding.kind = Outcome::kCompileCrash;
  TriageOptions options = Options();
  options.blame = false;
  const absl::StatusOr<TriageReport> report = Triage(finding, *oracle, backend, options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_LE(report->result.instructions, 3) << report->page.finding.module_text;
}

// An oracle that remembers how long it was allowed to work.
class PatientOracle : public Oracle {
 public:
  absl::StatusOr<Literal> Evaluate(const Module& module,
                                   const std::vector<const Literal*>& arguments,
                                   const Limits& limits) override {
    most_steps = std::max(most_steps, limits.steps);
    return oracle_->Evaluate(module, arguments, limits);
  }
  absl::StatusOr<Expectation> Expect(const Module& module,
                                     const std::vector<const Literal*>& arguments,
                                     const Profile& profile, const Limits& limits) override {
    most_steps = std::max(most_steps, limits.steps);
    return oracle_->Expect(module, arguments, profile, limits);
  }
  int64_t most_steps = 0;

 private:
  std::unique_ptr<Oracle> oracle_ = MakeOracle();
};

// Parts of a loop loop for ever as often as not: of a small program no candidate is followed for
// long, under cheap flags as little as without them.
TEST_F(TriageTest, CandidatesOfASmallProgramHaveFewSteps) {
  PatientOracle oracle;
  const std::unique_ptr<Oracle> other = MakeOracle();  // inside the backend, without limits
  FakeBackend::Script script = NegatesNothing(*other);
  script.description.dumps_passes = true;
  script.compile = [](const Module& module, const CompileOptions&) -> absl::Status {
    if (!HasOp(module, Opcode::kDynamicSlice)) return absl::OkStatus();
    return MakeError(ErrorClass::kCompileCrash, "slice.cc: gone");
  };
  FakeBackend backend(std::move(script));
  const Finding finding = MakeFinding();
  absl::StatusOr<ReduceCase> whole = CaseOf(finding);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const CheckSubject subject{oracle, backend, Profile::Strict(), {}, Limits()};
  const absl::StatusOr<ReduceResult> reduced =
      ReduceFailure(subject, *whole, Outcome::kCompileCrash, "", Options());
  ASSERT_TRUE(reduced.ok()) << reduced.status();
  EXPECT_LE(reduced->reduced.module->InstructionCount(), 3);
  EXPECT_GT(oracle.most_steps, 0);
  EXPECT_LE(oracle.most_steps, int64_t{1} << 16);
}

// A program that writes to the wrong place dies of it, or gives a wrong value, by chance: this
// backend dies of each program when it runs it for the first time.
TEST_F(TriageTest, WhatFailsInOneWayOrAnotherIsReduced) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend::Script script = NegatesNothing(*oracle);
  script.description.dumps_passes = true;
  std::set<std::string> seen;
  const auto wrong = script.run;
  script.run =
      [&seen, wrong](
          const Module& module, const CompileOptions& options,
          const std::vector<std::vector<const Literal*>>& arguments) -> absl::StatusOr<RunResult> {
    const bool is_new = seen.insert(WriteModule(module, WriteOptions::Short())).second;
    if (is_new && HasOp(module, Opcode::kNegate))
      return MakeError(ErrorClass::kRunCrash, "free(): invalid size");
    return wrong(module, options, arguments);
  };
  FakeBackend backend(std::move(script));
  const Finding finding = NegatedSum();
  const absl::StatusOr<ReduceCase> whole = CaseOf(finding);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const CheckSubject subject{*oracle, backend, Profile::Strict(), {}, Limits()};
  const absl::StatusOr<ReduceResult> reduced =
      ReduceFailure(subject, *whole, Outcome::kWrong, "", Options());
  ASSERT_TRUE(reduced.ok()) << reduced.status();
  EXPECT_EQ(reduced->reduced.module->InstructionCount(), 2);
  seen.clear();
  EXPECT_EQ(
      StatesUnderFlags(subject, *reduced->reduced.module, reduced->reduced.inputs, Outcome::kWrong),
      std::vector<FlagState>(5, FlagState::kByChance));
}

// A process that has run a program with a slice may die of the next one, whatever that is.
TEST_F(TriageTest, WhoDiesOfThoseBeforeHimIsNoSmallerProgram) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend::Script script = NegatesNothing(*oracle);
  script.description.dumps_passes = true;
  bool is_corrupted = false;
  const auto right = script.run;
  script.run =
      [&is_corrupted, right](
          const Module& module, const CompileOptions& options,
          const std::vector<std::vector<const Literal*>>& arguments) -> absl::StatusOr<RunResult> {
    const bool writes = HasOp(module, Opcode::kDynamicSlice);
    const bool dies = writes || is_corrupted;
    is_corrupted = writes;  // a new process comes after a death, but what it gets next is as bad
    if (dies) return MakeError(ErrorClass::kRunCrash, "free(): invalid size");
    return right(module, options, arguments);
  };
  FakeBackend backend(std::move(script));
  const absl::StatusOr<ReduceCase> whole = CaseOf(MakeFinding());
  ASSERT_TRUE(whole.ok()) << whole.status();
  const CheckSubject subject{*oracle, backend, Profile::Strict(), {}, Limits()};
  const absl::StatusOr<ReduceResult> reduced =
      ReduceFailure(subject, *whole, Outcome::kRunCrash, "", Options());
  ASSERT_TRUE(reduced.ok()) << reduced.status();
  EXPECT_TRUE(HasOp(*reduced->reduced.module, Opcode::kDynamicSlice));
  EXPECT_LE(reduced->reduced.module->InstructionCount(), 3);
}

// Answers that differ from run to run are compared with those of others, too.
TEST_F(TriageTest, OthersAreAskedAboutAnswersThatChange) {
  FaultyCompiler compiler;
  FakeBackend::Script script;
  script.description.name = "fake";
  script.description.in_process = false;
  int64_t runs = 0;
  script.run =
      [&](const Module& module, const CompileOptions&,
          const std::vector<std::vector<const Literal*>>& arguments) -> absl::StatusOr<RunResult> {
    absl::StatusOr<Literal> value = compiler.oracle->Evaluate(module, arguments[0], {});
    if (!value.ok()) return value.status();
    if (++runs % 2 == 0) FaultyCompiler::Spoil(*value);
    RunResult result;
    result.outputs.push_back(*std::move(value));
    return result;
  };
  FakeBackend backend(std::move(script));
  Finding finding = MakeFinding();
  finding.kind = Outcome::kNondeterministic;
  TriageOptions options = Options();
  fs::create_directories(folder_);
  const fs::path other = folder_ / "other";
  std::ofstream(other) << "#!/bin/sh\necho '{\"declined\": \"it has no such op\"}'\n";
  fs::permissions(other, fs::perms::owner_all);
  options.python = other.string();
  const absl::StatusOr<TriageReport> report = Triage(finding, *compiler.oracle, backend, options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->result.confirmed);
  EXPECT_EQ(report->result.second_opinion, "declined");
  EXPECT_THAT(FileText(fs::path(report->result.page) / "README.md"),
              HasSubstr("it has no such op"));
}

// A sort by a comparator that is no order may die in any compiler: a smaller program that dies
// keeps its order, where the compiler dies of sorts in which not all are equal.
TEST_F(TriageTest, ASortThatDiesKeepsItsOrder) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend::Script script = NegatesNothing(*oracle);
  script.run = [](const Module& module, const CompileOptions&,
                  const std::vector<std::vector<const Literal*>>&) -> absl::StatusOr<RunResult> {
    const bool sorts = absl::c_any_of(*module.entry(), [](const Instruction* at) {
      if (at->opcode() != Opcode::kSort) return false;
      const Literal* says = at->callee()->root()->literal();
      return says == nullptr || says->GetInteger(0) != 0;
    });
    if (!sorts) return MakeError(ErrorClass::kUnsupported, "no sort");
    return MakeError(ErrorClass::kRunCrash, "free(): invalid size");
  };
  FakeBackend backend(std::move(script));
  absl::StatusOr<std::unique_ptr<Module>> sort = ReadModule(R"(HloModule m
      before { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2)
        d = s32[] parameter(3) ROOT r = pred[] compare(c, d), direction=LT }
      ENTRY e { x = s32[3] parameter(0) y = s32[3] parameter(1)
        ROOT r = (s32[3], s32[3]) sort(x, y), dimensions={0}, to_apply=before })");
  ASSERT_TRUE(sort.ok()) << sort.status();
  ReduceCase whole;
  whole.module = *std::move(sort);
  for (int64_t k = 0; k < 2; ++k) {
    whole.inputs.emplace_back(Shape::Array(ElementType::kS32, {3}));
    for (int64_t i = 0; i < 3; ++i) whole.inputs.back().SetInteger(i, (i + k) % 3);
  }
  const CheckSubject subject{*oracle, backend, Profile::Strict(), {}, Limits()};
  const absl::StatusOr<ReduceResult> reduced =
      ReduceFailure(subject, whole, Outcome::kRunCrash, "", Options());
  ASSERT_TRUE(reduced.ok()) << reduced.status();
  const Module& small = *reduced->reduced.module;
  EXPECT_THAT(WriteModule(small, WriteOptions::Short()), HasSubstr("compare("));
  EXPECT_LE(small.InstructionCount(), 5) << WriteModule(small, WriteOptions::Short());
}

// To say where it died costs a compiler more than to die: it is asked for the page, and for no
// program on the way to it.
TEST_F(TriageTest, OnlyThePageAsksWhereACompilerDied) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend::Script script = NegatesNothing(*oracle);
  script.description.dumps_passes = true;
  int64_t brief = 0, full = 0;
  script.compile = [&](const Module& module, const CompileOptions& options) -> absl::Status {
    if (!HasOp(module, Opcode::kDynamicSlice)) return absl::OkStatus();
    ++(options.limits.backtraces ? full : brief);
    return MakeError(ErrorClass::kCompileCrash,
                     StrCat("the worker died of SIGABRT\nF1125 16:21:57.664492 9 a.cc:1] no slice",
                            options.limits.backtraces ? "\n    @ 0x7f26 Slicer::Slice()" : ""));
  };
  FakeBackend backend(std::move(script));
  Finding finding = MakeFinding();
  finding.backend = "fake";
  finding.kind = Outcome::kCompileCrash;
  const absl::StatusOr<TriageReport> report = Triage(finding, *oracle, backend, Options());
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->page.finding.judgement, HasSubstr("Slicer::Slice()"));
  EXPECT_LE(report->result.instructions, 2) << report->page.finding.module_text;
  EXPECT_THAT(FileText(fs::path(report->result.page) / "README.md"),
              HasSubstr("it dies: no slice"));
  EXPECT_EQ(full, 1);
  EXPECT_GT(brief, 3);
}

TEST(LoadFinding, RefusesGarbage) { EXPECT_FALSE(LoadFinding("/no/such/folder").ok()); }

TEST(DiffLines, ShowsWhatChanged) {
  EXPECT_EQ(DiffLines("a\nb\nc", "a\nx\nc"), (std::vector<std::string>{" a", "-b", "+x", " c"}));
}

}  // namespace
}  // namespace assay
