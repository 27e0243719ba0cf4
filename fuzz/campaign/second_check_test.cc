// Tests what becomes of a suspect that is looked at again: alone, whole or cheaply.
#include <filesystem>
#include <fstream>
#include <set>

#include "fuzz/campaign/case_runner.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/campaign/scripted.h"
#include "spec/base/error.h"
#include "spec/files/load_module.h"

namespace assay {
namespace {

// A worker has several programs in hand, and each has the time of one.
TEST(CampaignTest, AHangOfAnotherCompilerIsCheckedOnce) {
  FakeBackend::Script script = Script([](const Module&) -> absl::StatusOr<RunResult> {
    return MakeError(ErrorClass::kTimeout, "no answer within 10 s");
  });
  script.description.in_process = false;
  const CampaignSummary summary = Fuzz(Options(8), script);
  ASSERT_FALSE(summary.found.empty());
  for (const CampaignFinding& finding : summary.found) {
    EXPECT_EQ(finding.kind, Outcome::kTimeout);
    EXPECT_EQ(finding.second_check, "failed again in 1 of 1 runs of a fresh process");
  }
}

TEST(CampaignTest, FindsNondeterminism) {
  // Wrong once in three runs, whatever the program: the count is the process's own.
  CampaignOptions options = Options(60);
  options.repeat_every = 1;
  auto runs = std::make_shared<int>(0);
  ExpectOnly(Fuzz(options, Script([runs](const Module& module) {
                    return ++*runs % 3 == 0 && OutputElements(module) > 0 ? Wrong(module)
                                                                          : Right(module);
                  })),
             Outcome::kNondeterministic);
}

// Goes wrong at some inputs, in the last output, by one of two decisions.
FakeBackend::Script WrongAtSomeInputs() {
  FakeBackend::Script script = Script(Right);
  script.description.has_decisions = true;
  script.decisions = [](const Module&, const CompileOptions& options) {
    std::vector<Decision> decisions;
    for (const int64_t number : {1, 2}) {
      const bool taken = options.decision_limit < 0 || number <= options.decision_limit;
      const char* rule = number == 1 ? "innocent" : "guilty";
      decisions.push_back({number, DecisionKind::kRewrite, rule, "e/c", taken});
    }
    return decisions;
  };
  script.run =
      [plain = script.run](
          const Module& module, const CompileOptions& options,
          const std::vector<std::vector<const Literal*>>& arguments) -> absl::StatusOr<RunResult> {
    uint64_t digest = 7;
    for (const Literal* argument : arguments[0]) {
      for (const Literal* leaf : Leaves(*argument)) {
        for (const uint8_t byte : leaf->bytes()) digest = digest * 31 + byte;
      }
    }
    absl::StatusOr<RunResult> result = plain(module, options, arguments);
    const bool has_limit = options.decision_limit >= 0 && options.decision_limit < 2;
    if (arguments.size() != 1 || digest % 3 != 0 || has_limit) return result;
    Literal& answer = result->outputs[0];
    Literal& last = answer.shape().IsTuple() && !answer.elements().empty()
                        ? answer.mutable_elements().back()
                        : answer;
    last = Answer(last.shape(), true);
    return result;
  };
  return script;
}

// The second check has the inputs of the set that failed and all outputs, so it repeats what it
// saw and says which decision is to blame.
TEST(CampaignTest, ASuspectOfOurOwnIsCheckedWithTheInputsOfItsSet) {
  CampaignOptions options = Options(150);
  options.input_sets = 6;
  const CampaignSummary summary = Fuzz(options, WrongAtSomeInputs());
  EXPECT_GT(summary.findings, 50);
  EXPECT_EQ(summary.unconfirmed, 0);
  const std::map<std::string, int64_t> all = {{"wrong value: guilty", summary.findings}};
  EXPECT_EQ(summary.signatures, all);
  EXPECT_TRUE(std::any_of(summary.found.begin(), summary.found.end(),
                          [](const CampaignFinding& finding) { return finding.set > 1; }));
}

// Some programs spoil the process for those that come after them, and are right themselves.
TEST(CampaignTest, WhatFailsOnlyAfterOthersIsUnconfirmed) {
  CampaignOptions options = Options(60);
  options.jobs = 1;
  options.repeat_every = 0;
  options.input_sets = 1;
  const CampaignSummary summary = Fuzz(options, Script([](const Module& module) {
                                         constexpr int kWrongAfterwards = 3;
                                         static int left = 0;
                                         if (module.Hash() % 7 == 3) {
                                           left = kWrongAfterwards;
                                         } else if (left > 0) {
                                           --left;
                                           return Wrong(module);
                                         }
                                         return Right(module);
                                       }));
  EXPECT_EQ(summary.findings, 0) << summary.ToJson().dump(1);
  EXPECT_GT(summary.unconfirmed, 3);
}

// A compiler elsewhere, which has cheap flags and takes several programs as one.
FakeBackend::Script Elsewhere(
    const std::function<bool(const Module&, const CompileOptions&)>& is_wrong) {
  FakeBackend::Script script = Script(Right);
  script.description.in_process = false;
  script.description.dumps_passes = true;
  script.run = [is_wrong](const Module& module, const CompileOptions& compile,
                          const std::vector<std::vector<const Literal*>>&) {
    return is_wrong(module, compile) ? Wrong(module) : Right(module);
  };
  return script;
}

TEST(CampaignTest, WhatFailsOnlyWhereItIsCompiledCheaplyIsCounted) {
  CampaignOptions options = Options(40);
  options.jobs = 1;
  const auto is_cheap = [](const Module&, const CompileOptions& compile) {
    return compile.flags.count("xla_backend_optimization_level") > 0;
  };
  options.out_dir = testing::TempDir() + "/cheaply";
  std::filesystem::remove_all(options.out_dir);
  const CampaignSummary summary = Fuzz(options, Elsewhere(is_cheap));
  EXPECT_GT(summary.suspects, 10);
  EXPECT_EQ(summary.screened_only, summary.suspects);
  EXPECT_EQ(summary.findings, 0);
  EXPECT_EQ(summary.unconfirmed, 0);
  std::ifstream journal(options.out_dir + "/results.jsonl");
  int64_t written = 0, by_itself = 0;
  for (std::string line; std::getline(journal, line);) {
    const nlohmann::json record = nlohmann::json::parse(line);
    if (record.at("type") != "screened only") continue;
    ++written;
    by_itself += record.contains("output");
  }
  EXPECT_EQ(written, summary.suspects);
  EXPECT_GT(by_itself, 5) << "the whole program is not asked where one output tells";
}

TEST(CampaignTest, WhatFailsLikeManyBeforeItIsOnlyCounted) {
  struct Row {
    bool is_as_users_do;       // it is wrong there, too
    int64_t screened_percent;  // of the programs
  };
  for (const auto& [is_as_users_do, percent] : {Row{true, 70}, Row{false, 70}, Row{true, 5}}) {
    CampaignOptions options = Options(600);
    options.jobs = 1;
    options.input_sets = 1;
    options.screened_percent = percent;
    options.out_dir = testing::TempDir() + "/alike";
    std::filesystem::remove_all(options.out_dir);
    const auto is_wrong = [is_as_users_do = is_as_users_do](const Module&,
                                                            const CompileOptions& compile) {
      return compile.flags.count("xla_backend_optimization_level") > 0 || is_as_users_do;
    };
    const CampaignSummary summary = Fuzz(options, Elsewhere(is_wrong));
    const int64_t alike = CampaignSummary::SumOf(summary.alike);
    // These are of all programs, not of those alone that are compiled cheaply at first.
    EXPECT_GT(alike, 50) << percent << "\n" << summary.ToJson().dump(1);
    EXPECT_LT(alike, summary.suspects / 2);
    if (!is_as_users_do) {
      EXPECT_EQ(alike, summary.alike.at("")) << "none of them may be taken for a finding";
      EXPECT_EQ(alike + summary.screened_only, summary.suspects);
    }
    std::ifstream journal(options.out_dir + "/results.jsonl");
    int64_t written = 0;
    for (std::string line; std::getline(journal, line);) {
      written += nlohmann::json::parse(line).at("type") == "alike";
    }
    EXPECT_EQ(written, alike);
  }
}

TEST(CampaignTest, SomeProgramsAreCompiledAsUsersDoAtFirst) {
  struct Row {
    int64_t percent, least, most;  // that are screened, and of 200 that are not
  };
  for (const Row& row : {Row{95, 3, 20}, Row{70, 40, 80}, Row{100, 0, 0}, Row{0, 150, 200}}) {
    CampaignOptions options = Options(200);
    options.jobs = 1;
    options.screened_percent = row.percent;
    const auto is_wrong = [](const Module&, const CompileOptions& compile) {
      return compile.flags.count("xla_backend_optimization_level") == 0;
    };
    options.out_dir = testing::TempDir() + "/as_users_do";
    std::filesystem::remove_all(options.out_dir);
    const CampaignSummary summary = Fuzz(options, Elsewhere(is_wrong));
    EXPECT_GE(summary.suspects, row.least);
    EXPECT_LE(summary.suspects, row.most);
    if (row.percent != 70) continue;
    GeneratorOptions generator;
    generator.portable = true;
    int64_t all = 0, small = 0;
    std::set<int64_t> last_digits;  // the generator goes by them, too
    for (const CampaignFinding& finding : summary.found) {
      const Case made = GenerateCase(options.seed, static_cast<uint64_t>(finding.index), generator);
      ++all;
      small += made.module->InstructionCount() <= 8;
      last_digits.insert(finding.index % 10);
    }
    EXPECT_GT(small * 10, all * 7) << small << " of " << all;
    EXPECT_GE(last_digits.size(), 8);
  }
}

TEST(CampaignTest, FindsTheOutputThatIsWrongByItselfOrTheWholeProgram) {
  for (const bool by_itself : {true, false}) {
    CampaignOptions options = Options(40);
    options.jobs = 1;
    const auto is_wrong = [by_itself](const Module& module, const CompileOptions&) {
      return by_itself || module.entry()->root()->opcode() == Opcode::kTuple;
    };
    options.out_dir = testing::TempDir() + "/outputs";
    std::filesystem::remove_all(options.out_dir);
    const CampaignSummary summary = Fuzz(options, Elsewhere(is_wrong));
    EXPECT_EQ(summary.unconfirmed, 0);
    EXPECT_EQ(summary.screened_only, 0);
    int several = 0;
    for (const CampaignFinding& finding : summary.found) {
      const auto made =
          LoadModule(StrCat(options.out_dir, "/cases/", options.seed, "-", finding.index, ".hlo"));
      ASSERT_TRUE(made.ok()) << made.status();
      const Instruction& root = *(*made)->entry()->root();
      const bool has_several = root.opcode() == Opcode::kTuple && root.operand_count() > 1;
      several += has_several;
      EXPECT_EQ(finding.output >= 0, by_itself && has_several) << finding.index;
      if (finding.output >= 0) {
        EXPECT_LT(finding.instructions, (*made)->InstructionCount());
      }
    }
    EXPECT_GT(several, 5) << summary.ToJson().dump(1);
  }
}

// Zeros, of the wrong sign where the type is a wide float, which is only notable; else with a wrong
// element.
Literal SignsAndMistakes(const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements()) elements.push_back(SignsAndMistakes(element));
    return Literal::Tuple(std::move(elements));
  }
  const ElementType type = shape.element_type();
  if (!IsFloat(type) || BitWidth(type) < 16) return Answer(shape, true);
  Literal literal = Answer(shape, false);
  if (literal.element_count() > 0) literal.SetDouble(0, -0.0);
  return literal;
}

TEST(CampaignTest, WhatIsWrongBehindANotableOutputIsFound) {
  CampaignOptions options = Options(120);
  options.jobs = 1;
  options.out_dir = testing::TempDir() + "/signs";
  std::filesystem::remove_all(options.out_dir);
  FakeBackend::Script script = Elsewhere({});
  script.run = [](const Module& module, const CompileOptions&,
                  const std::vector<std::vector<const Literal*>>&) -> absl::StatusOr<RunResult> {
    RunResult result;
    result.outputs.push_back(SignsAndMistakes(module.entry()->root()->shape()));
    return result;
  };
  int behind = 0;
  for (const CampaignFinding& finding : Fuzz(options, script).found) {
    if (!finding.notable.empty() || finding.output < 0) continue;
    const auto made =
        LoadModule(StrCat(options.out_dir, "/cases/", options.seed, "-", finding.index, ".hlo"));
    ASSERT_TRUE(made.ok()) << made.status();
    const Shape& shape = (*made)->entry()->root()->shape();
    const ElementType type = shape.elements()[static_cast<size_t>(finding.output)].element_type();
    EXPECT_TRUE(!IsFloat(type) || BitWidth(type) < 16) << finding.index;
    behind += finding.output > 0;
  }
  EXPECT_GT(behind, 3);
}

TEST(CampaignTest, WhatFailsOnlyBesideOthersIsAFindingWithThem) {
  CampaignOptions options = Options(20);
  options.jobs = 1;
  options.out_dir = testing::TempDir() + "/assay-campaign-joined";
  for (const bool is_cheap : {false, true}) {
    const auto is_joined = [is_cheap](const Module& module, const CompileOptions& compile) {
      return module.name() == "joined" && (!is_cheap || !compile.flags.empty());
    };
    const CampaignSummary summary = Fuzz(options, Elsewhere(is_joined));
    if (is_cheap) {
      EXPECT_EQ(summary.findings, 0) << "no user compiles so";
      EXPECT_GT(summary.unconfirmed, 3);
      continue;
    }
    EXPECT_GT(summary.findings, 3) << summary.ToJson().dump(1);
    EXPECT_EQ(summary.unconfirmed, 0);
    for (const CampaignFinding& finding : summary.found) {
      ASSERT_EQ(finding.with.size(), 1u) << "one is enough: " << finding.second_check;
      EXPECT_NE(finding.with[0], finding.index);
      const std::string file = StrCat(options.out_dir, "/cases/", options.seed, "-", finding.index,
                                      "+", finding.with[0], ".hlo");
      EXPECT_TRUE(std::filesystem::exists(file)) << file;
    }
  }
}

}  // namespace
}  // namespace assay
