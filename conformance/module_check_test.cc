// Whole checks of modules on disk: several devices, nothing to compare, backends that die.
#include "conformance/module_check.h"

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "conformance/testing/bent_oracle.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/fake_backend.h"
#include "spec/types/npz.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kNegate[] = R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT r = f32[2] negate(x)
}
)";

// Eigenvectors, which are judged by what they have in common.
constexpr char kEigenvectors[] = R"(HloModule m, replica_count=2
ENTRY e {
  a = f64[2,2] parameter(0)
  c = (f64[2,2], f64[2], s32[]) custom-call(a), custom_call_target="lapack_dsyevd_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={mode = 86 : ui8, uplo = 76 : ui8}
  ROOT v = f64[2,2] get-tuple-element(c), index=0
}
)";

Literal Square(std::vector<double> values) {
  Literal literal(Shape::Array(ElementType::kF64, {2, 2}));
  for (int64_t i = 0; i < 4; ++i) literal.SetDouble(i, values[static_cast<size_t>(i)]);
  return literal;
}

class ModuleCheck : public testing::Test {
 protected:
  ModuleCheck() : folder_(fs::path(testing::TempDir()) / "assay_module_check_test") {
    fs::create_directories(folder_);
    options_.profile = &Profile::Xla();
    options_.compile.limits.seconds = 10;
  }
  ~ModuleCheck() override { fs::remove_all(folder_); }

  // A module with the arrays that are stored beside it.
  CaseFile Write(const std::string& text,
                 const std::vector<std::pair<std::string, const Literal*>>& arrays = {}) {
    CaseFile file;
    file.name = "case";
    file.module_path = (folder_ / "case.hlo").string();
    std::ofstream(file.module_path) << text;
    if (arrays.empty()) return file;
    file.arrays_path = (folder_ / "case.npz").string();
    EXPECT_TRUE(WriteNpz(file.arrays_path, arrays).ok());
    return file;
  }

  ModuleResult CheckStored(const CaseFile& file) {
    return CheckModule(file, *oracle_, nullptr, options_);
  }

  static std::unique_ptr<Backend> TheOracle() {
    BackendRegistry registry;
    RegisterReference(registry);
    return *registry.Create("reference");
  }

  fs::path folder_;
  CheckOptions options_;
  std::unique_ptr<Oracle> oracle_ = MakeOracle();
};

TEST_F(ModuleCheck, AsksEveryDeviceForTheProperty) {
  const Literal matrix = Square({2, 1, 1, 2});
  const double s = std::sqrt(0.5);
  const Literal right = Square({-s, s, s, s}), wrong = Square({77, 77, 77, 77});
  struct Row {
    const Literal& first;
    const Literal& second;
    Outcome::Kind kind;
  };
  for (const Row& row : {Row{right, right, Outcome::kPassed}, Row{right, wrong, Outcome::kWrong},
                         Row{wrong, right, Outcome::kWrong}}) {
    const CaseFile file = Write(kEigenvectors, {{"in0_d0", &matrix},
                                                {"in0_d1", &matrix},
                                                {"out0_d0", &row.first},
                                                {"out0_d1", &row.second}});
    const ModuleResult result = CheckStored(file);
    ASSERT_EQ(result.subjects.size(), 1u) << result.outcome.Describe();
    EXPECT_EQ(Name(result.subjects[0].outcome.kind), Name(row.kind))
        << result.subjects[0].outcome.Describe();
    EXPECT_EQ(result.subjects[0].outcome.judgement.elements, 8);
    EXPECT_EQ(result.outcome.kind, row.kind);
  }
}

TEST_F(ModuleCheck, DoesNotPassWhereNothingIsCompared) {
  const ModuleResult alone = CheckStored(Write(kNegate));
  EXPECT_EQ(Name(alone.outcome.kind), "nothing to judge");
  EXPECT_EQ(ToJson(alone)["status"], "nothing to judge");

  const Literal none(Shape::Array(ElementType::kF32, {0}));
  const ModuleResult empty = CheckStored(
      Write("HloModule m\nENTRY e {\n  x = f32[0] parameter(0)\n  ROOT r = f32[0] negate(x)\n}\n",
            {{"in0", &none}, {"out0", &none}}));
  ASSERT_EQ(empty.subjects.size(), 1u);
  EXPECT_EQ(Name(empty.outcome.kind), "nothing to judge");
}

TEST_F(ModuleCheck, SaysWhatCannotBeRead) {
  const ModuleResult result = CheckStored(Write("HloModule"));
  EXPECT_EQ(StatusWord(result.outcome.kind), "unreadable");
  EXPECT_EQ(result.outcome.phase, Phase::kRead);
}

// A product and a dot, and so many roundings behind it that one more of a few percent would not
// show.
constexpr char kManyRoundings[] = R"(HloModule m
ENTRY e {
  x = bf16[4,8] parameter(0)
  w = bf16[8,4] parameter(1)
  scale = bf16[] constant(1.5)
  scales = bf16[4,8] broadcast(scale), dimensions={}
  scaled = bf16[4,8] multiply(x, scales)
  product = bf16[4,4] dot(scaled, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = bf16[] constant(1.0859375)
  cs = bf16[4,4] broadcast(c), dimensions={}
  a = bf16[4,4] multiply(product, cs)
  b = bf16[4,4] multiply(a, cs)
  d = bf16[4,4] multiply(b, cs)
  e = bf16[4,4] multiply(d, cs)
  f = bf16[4,4] multiply(e, cs)
  ROOT r = bf16[4,4] multiply(f, cs)
}
)";

class BluntCheck : public ModuleCheck {
 protected:
  // Checks a backend in which the constant `scale` has this value.
  SubjectResult CheckWithScale(double scale) {
    const std::unique_ptr<Backend> backend =
        BentOracle(*oracle_, [scale](Module& module, const CompileOptions&) {
          for (Instruction* each : *module.entry()) {
            if (each->name() != "scale") continue;
            Literal value = *each->literal();
            value.SetDouble(0, scale);
            each->set_literal(std::make_shared<const Literal>(std::move(value)));
          }
        });
    return CheckModule(Write(kManyRoundings), *oracle_, backend.get(), options_).subjects.at(0);
  }
};

TEST_F(BluntCheck, APassWithRoomForMistakesIsCut) {
  EXPECT_TRUE(CheckWithScale(1.5).outcome.IsPass());
  const SubjectResult wrong = CheckWithScale(1.53125);
  EXPECT_EQ(wrong.outcome.kind, Outcome::kWrong) << wrong.outcome.Describe();
  EXPECT_EQ(wrong.cuts["everywhere"], true);
  options_.cut = CutMode::kOff;
  EXPECT_TRUE(CheckWithScale(1.53125).outcome.IsPass());
}

TEST_F(BluntCheck, SaysWhereAnAnswerIsWrong) {
  const SubjectResult wrong = CheckWithScale(3);
  EXPECT_EQ(wrong.outcome.kind, Outcome::kWrong);
  EXPECT_THAT(wrong.outcome.Describe(), HasSubstr("lie outside their bound"));
  EXPECT_THAT(wrong.outcome.Describe(), HasSubstr("smallest failing part: broadcast scales"));
}

TEST_F(ModuleCheck, OutlivesWhatDies) {
  const CaseFile file = Write(kNegate);
  auto dies = []() -> absl::StatusOr<std::unique_ptr<Backend>> {
    FakeBackend::Script script;
    script.compile = [](const Module&, const CompileOptions&) {
      std::raise(SIGSEGV);
      return absl::OkStatus();
    };
    return std::make_unique<FakeBackend>(std::move(script));
  };
  const ModuleResult died = CheckModuleIsolated(file, *oracle_, dies, options_);
  EXPECT_EQ(StatusWord(died.outcome.kind), "crashed");
  EXPECT_THAT(died.outcome.Describe(), HasSubstr("while compiling: died of SIGSEGV"));

  auto hangs = []() -> absl::StatusOr<std::unique_ptr<Backend>> {
    FakeBackend::Script script;
    script.run = [](const Module&, const CompileOptions&,
                    const std::vector<std::vector<const Literal*>>&) -> absl::StatusOr<RunResult> {
      while (true) {
      }
    };
    return std::make_unique<FakeBackend>(std::move(script));
  };
  options_.compile.limits.seconds = 0.2;
  const ModuleResult hung = CheckModuleIsolated(file, *oracle_, hangs, options_);
  EXPECT_EQ(Name(hung.outcome.kind), "timeout");
  EXPECT_THAT(hung.outcome.Describe(), HasSubstr("--timeout raises the limit"));
}

// HLO's documents ask for an identity there: XLA takes a reduction of one element for the element.
TEST_F(ModuleCheck, AnotherCompilerMayDropTheInitialValueOfOneElement) {
  Literal x(Shape::Array(ElementType::kF32, {2, 1}));
  x.SetDouble(0, 3);
  x.SetDouble(1, 4);
  const CaseFile file = Write(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[2,1] parameter(0)
  five = f32[] constant(5)
  ROOT r = f32[2] reduce(x, five), dimensions={1}, to_apply=add
}
)",
                              {{"in0", &x}});
  const auto answers = [&](double first, bool in_process) {
    FakeBackend::Script script;
    script.description.in_process = in_process;
    script.run = [first](const Module&, const CompileOptions&,
                         const std::vector<std::vector<const Literal*>>&) {
      Literal sums(Shape::Array(ElementType::kF32, {2}));
      sums.SetDouble(0, first);
      sums.SetDouble(1, first + 1);
      RunResult result;
      result.outputs.push_back(std::move(sums));
      return absl::StatusOr<RunResult>(std::move(result));
    };
    FakeBackend backend(std::move(script));
    return CheckModule(file, *oracle_, &backend, options_).outcome.kind;
  };
  EXPECT_EQ(answers(8, /*in_process=*/false), Outcome::kPassed);
  EXPECT_EQ(answers(3, /*in_process=*/false), Outcome::kInconclusive);
  EXPECT_EQ(answers(13, /*in_process=*/false), Outcome::kWrong);
  EXPECT_EQ(answers(3, /*in_process=*/true), Outcome::kWrong);
}

TEST_F(ModuleCheck, GivesTheSameInAChild) {
  const CaseFile file = Write(kNegate);
  auto fails = []() -> absl::StatusOr<std::unique_ptr<Backend>> {
    FakeBackend::Script script;
    script.description.name = "fake";
    script.run =
        [](const Module&, const CompileOptions&,
           const std::vector<std::vector<const Literal*>>& arguments) -> absl::StatusOr<RunResult> {
      RunResult result;
      result.outputs.push_back(*arguments[0][0]);  // not negated
      return result;
    };
    return std::make_unique<FakeBackend>(std::move(script));
  };
  const std::unique_ptr<Backend> backend = *fails();
  nlohmann::json here = ToJson(CheckModule(file, *oracle_, backend.get(), options_));
  nlohmann::json child = ToJson(CheckModuleIsolated(file, *oracle_, fails, options_));
  for (nlohmann::json* json : {&here, &child}) {
    json->erase("oracle_seconds");
    (*json)["subjects"][0].erase("compile_seconds");
  }
  EXPECT_EQ(here, child);
  EXPECT_EQ(here["status"], "failed");
}

TEST_F(ModuleCheck, WhatTheOracleRefusesIsNotJudged) {
  const CaseFile file = Write(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[4] parameter(0)
  ROOT r = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add
}
)");
  const std::unique_ptr<Backend> backend = TheOracle();
  const ModuleResult alone = CheckModule(file, *oracle_, backend.get(), options_);
  EXPECT_EQ(StatusOfCheck(alone.outcome), "not judged");
  EXPECT_THAT(alone.outcome.reason, HasSubstr("--replicas"));
  options_.devices = DeviceAssignment{2, 1, {}};
  EXPECT_EQ(StatusOfCheck(CheckModule(file, *oracle_, backend.get(), options_).outcome), "passed");
}

TEST_F(ModuleCheck, WhatIsRefusedIsNoWrongAnswer) {
  const absl::Status why = MakeError(ErrorClass::kRejected, "two replicas are named");
  EXPECT_EQ(StatusOfCheck(OutcomeOfOracle(why)), "not judged");
  EXPECT_EQ(StatusOfCheck(OutcomeOf(why, Phase::kCompile)), "rejected");
  EXPECT_EQ(StatusOfCheck(MakeOutcome(Outcome::kWrong, Phase::kJudge)), "failed");
}

TEST_F(ModuleCheck, InfeedsAreGivenInAFile) {
  const CaseFile file = Write(R"(HloModule m
ENTRY e {
  t = token[] after-all()
  i = (f32[2], token[]) infeed(t)
  x = f32[2] get-tuple-element(i), index=0
  ROOT n = f32[2] negate(x)
}
)");
  const std::unique_ptr<Backend> backend = TheOracle();
  EXPECT_THAT(CheckModule(file, *oracle_, backend.get(), options_).outcome.reason,
              HasSubstr("--infeed"));
  const Literal item(Shape::Array(ElementType::kF32, {2}));
  options_.infeed = file.module_path + ".npz";
  ASSERT_TRUE(WriteNpz(options_.infeed, {{"item0", &item}}).ok());
  EXPECT_EQ(StatusOfCheck(CheckModule(file, *oracle_, backend.get(), options_).outcome), "passed");
}

TEST_F(ModuleCheck, WhatDoesNotFitIsRefusedBeforeItIsMade) {
  const CaseFile file = Write(
      "HloModule m\nENTRY e {\n  x = f32[] parameter(0)\n"
      "  ROOT b = f32[100000,1000000] broadcast(x), dimensions={}\n}\n");
  const std::unique_ptr<Backend> backend = TheOracle();
  const ModuleResult result = CheckModule(file, *oracle_, backend.get(), options_);
  EXPECT_EQ(StatusOfCheck(result.outcome), "unsupported");
  EXPECT_THAT(result.outcome.Describe(),
              HasSubstr("out of memory: arguments and results hold 401 GB"));
}

}  // namespace
}  // namespace assay
