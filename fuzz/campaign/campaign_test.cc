// Campaigns on scripted backends that fail in every way there is.
#include "fuzz/campaign/campaign.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "fuzz/backends/process_backend.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/campaign/scripted.h"
#include "nlohmann/json.hpp"
#include "spec/base/error.h"
#include "spec/files/load_module.h"

namespace assay {
namespace {

TEST(CampaignTest, IsSilentOnARightBackend) {
  CampaignSummary summary = Fuzz(Options(300), Script(Right));
  EXPECT_EQ(summary.programs, 300);
  // The oracle of these tests knows nothing of outfeeds, and few programs have them.
  EXPECT_LE(summary.unsupported, 2) << summary.ToJson().dump(1);
  EXPECT_EQ(summary.compared, 300 - summary.unsupported) << summary.ToJson().dump(1);
  EXPECT_EQ(summary.mistrusted, summary.compared) << "all outputs are zero";
  EXPECT_EQ(summary.findings, 0) << summary.found[0].text;
  EXPECT_EQ(summary.repeated, 3);
  EXPECT_GT(summary.stages.generate, 0);
}

TEST(CampaignTest, FindsWrongValues) {
  CampaignSummary summary = Fuzz(Options(100), Script([](const Module& module) {
                                   return Picked(module) ? Wrong(module) : Right(module);
                                 }));
  ExpectOnly(summary, Outcome::kWrong);
  EXPECT_EQ(summary.programs, 100);
  EXPECT_EQ(summary.suspects, summary.findings);
  EXPECT_NE(summary.found[0].second_check.find("3 of 3"), std::string::npos);
  EXPECT_EQ(summary.buckets.size(), 1u);
}

bool HasNan(const Literal& literal) {
  if (!IsFloat(literal.element_type())) return false;
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (std::isnan(literal.GetDouble(i))) return true;
  }
  return false;
}

// Wrong where an argument holds NaN, which the inputs of a program seldom do.
FakeBackend::Script FearsNan() {
  FakeBackend::Script script = Script(Right);
  script.run = [](const Module& module, const CompileOptions&,
                  const std::vector<std::vector<const Literal*>>& arguments) {
    const bool fails = std::any_of(arguments[0].begin(), arguments[0].end(),
                                   [](const Literal* argument) { return HasNan(*argument); });
    return fails ? Wrong(module) : Right(module);
  };
  return script;
}

TEST(CampaignTest, RunsSeveralSetsOfInputsPerCompilation) {
  CampaignOptions options = Options(100);
  options.input_sets = 1;
  const CampaignSummary one = Fuzz(options, FearsNan());
  options.input_sets = 8;
  const CampaignSummary eight = Fuzz(options, FearsNan());
  EXPECT_EQ(eight.programs, one.programs);
  EXPECT_GT(eight.findings, 2 * one.findings);
  EXPECT_GT(eight.findings, 0);
  EXPECT_EQ(eight.unconfirmed, 0) << "seed, program and number of the set reproduce it";
  EXPECT_TRUE(std::any_of(eight.found.begin(), eight.found.end(),
                          [](const CampaignFinding& finding) { return finding.set > 0; }));
}

// Grants every f32 a value beside zero, but not as the program is written.
class LicensingOracle : public ZeroOracle {
 public:
  absl::StatusOr<Expectation> Expect(const Module& module,
                                     const std::vector<const Literal*>& arguments,
                                     const Profile& profile, const Limits& limits) override {
    absl::StatusOr<Expectation> zeros = ZeroOracle::Expect(module, arguments, profile, limits);
    if (!zeros.ok() || &profile != &Profile::Xla()) return zeros;
    ElementBound bound{.radius = 1e-6};
    bound.set_magnitude(1, /*of_known_terms=*/true);
    for (ArrayExpectation& leaf : zeros->leaves) {
      if (leaf.plain.element_type() != ElementType::kF32) continue;
      leaf.bounds.assign(static_cast<size_t>(leaf.plain.component_count()), bound);
    }
    return zeros;
  }
};

bool IsLicensed(const Module& module) {
  const Shape& shape = module.entry()->root()->shape();
  return shape.IsArray() && shape.element_type() == ElementType::kF32;
}

TEST(CampaignTest, LooksForWhatIsLegalAndFarOffOnEverySetOfInputs) {
  FakeBackend::Script script = FearsNan();
  script.description.profile = &Profile::Xla();
  script.description.in_process = false;
  script.run = [with_nan = script.run](const Module& module, const CompileOptions& compile,
                                       const std::vector<std::vector<const Literal*>>& arguments) {
    return IsLicensed(module) ? with_nan(module, compile, arguments) : Right(module);
  };
  CampaignTools tools = ToolsFor(script);
  tools.make_oracle = [] { return std::make_unique<LicensingOracle>(); };
  CampaignOptions options = Options(400);
  const absl::StatusOr<CampaignSummary> summary = RunCampaign(options, tools);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_GT(summary->findings, 0);
  bool is_between = false;
  for (const CampaignFinding& finding : summary->found) {
    EXPECT_EQ(finding.notable, "legal, and of another class");
    is_between |= finding.set > 0 && finding.set + 1 < summary->input_sets;
  }
  EXPECT_TRUE(is_between) << "neither the first nor the last set alone shows all of them";

  options.notable = false;
  const absl::StatusOr<CampaignSummary> without = RunCampaign(options, tools);
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(without->suspects, 0);
}

TEST(CampaignTest, ReplacesWorkersAfterSoManyPrograms) {
  CampaignOptions options = Options(160);
  options.jobs = 1;
  options.cases_per_worker = 40;
  const std::string path = FreshFolder("workers");
  const CampaignSummary summary = Fuzz(options, Script([&](const Module& module) {
                                         std::ofstream(path, std::ios::app) << getpid() << "\n";
                                         return Right(module);
                                       }));
  EXPECT_EQ(summary.programs, 160);
  EXPECT_EQ(summary.workers_lost, 0);
  std::set<std::string> processes;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) processes.insert(line);
  std::filesystem::remove(path);
  // The first one makes the template warm; sixteen programs are handed out at once.
  EXPECT_GE(processes.size(), 5u) << "160 programs, and at most 40 and those in hand for each";
}

TEST(CampaignTest, CountsTheProcessorTimeOfItsWorkers) {
  const auto compute = [] {
    const auto until = std::clock() + CLOCKS_PER_SEC / 200;
    while (std::clock() < until) {
    }
  };
  const CampaignSummary summary = Fuzz(Options(60), Script([&](const Module& module) {
                                         compute();
                                         return Right(module);
                                       }));
  EXPECT_GT(summary.cpu_seconds, 0.2) << "sixty times 5 ms";
  EXPECT_GT(summary.CpuMillisecondsPerProgram(), 3);
  EXPECT_LE(summary.ShareOfCpu(), 1.2);
  EXPECT_EQ(summary.cpu_seconds_of_checks, 0);

  const CampaignSummary wrong = Fuzz(Options(60), Script([&](const Module& module) {
                                       compute();
                                       return Wrong(module);
                                     }));
  EXPECT_GT(wrong.cpu_seconds_of_checks, 0.1) << "three times 5 ms for each of many suspects";
  EXPECT_LT(wrong.cpu_seconds_of_checks, wrong.cpu_seconds);
}

TEST(CampaignTest, FindsACrashAtRunTimeAndWhileCompiling) {
  ExpectOnly(Fuzz(Options(60), Script([](const Module& module) {
                    if (Picked(module)) std::abort();
                    return Right(module);
                  })),
             Outcome::kRunCrash);

  FakeBackend::Script script = Script(Right);
  script.compile = [](const Module& module, const CompileOptions&) {
    if (Picked(module)) raise(SIGSEGV);
    return absl::OkStatus();
  };
  CampaignSummary summary = Fuzz(Options(60), script);
  ExpectOnly(summary, Outcome::kCompileCrash);
  EXPECT_NE(summary.found[0].text.find("SIGSEGV"), std::string::npos) << summary.found[0].text;
  EXPECT_EQ(summary.programs, 60) << "lost workers do not lose cases";
  EXPECT_GE(summary.workers_lost, 2 * summary.findings);
}

// One program in 16 goes each of the other ways; what is drawn differs from program to program.
TEST(CampaignTest, OurBackendIsTriedInItsOtherWays) {
  FakeBackend::Script script = Script(Right);
  script.description.name = "cpu";
  script.compile = [](const Module&, const CompileOptions& options) -> absl::Status {
    for (const auto& [name, value] : options.flags) {
      // The tally does not tell numbers apart, but words.
      std::string word = value;
      for (char& letter : word)
        if (letter >= '0' && letter <= '9') letter = static_cast<char>(letter - '0' + 'a');
      return MakeError(ErrorClass::kUnsupported, StrCat(name, "=", word));
    }
    return absl::OkStatus();
  };
  CampaignOptions options = Options(64);
  options.backends = {"cpu"};
  std::map<std::string, int64_t> ways, values;
  for (const auto& [way, count] : RefusedByBackend(Fuzz(options, script))) {
    ways[way.substr(0, way.find('='))] += count;
    ++values[way.substr(0, way.find('='))];
  }
  const std::map<std::string, int64_t> wanted = {{"direct", 4}, {"memory_limit", 4}, {"passes", 4},
                                                 {"prefix", 4}, {"refuse", 4},       {"verify", 4},
                                                 {"without", 4}};
  EXPECT_EQ(ways, wanted);
  EXPECT_GE(values["prefix"], 3);
  EXPECT_GE(values["without"], 3);
  EXPECT_EQ(values["refuse"], 1);
  script.description.name =
      "cpu:direct=on,memory_limit=9,passes=off,verify=off,without=cse,refuse=vectorize,prefix=3";
  EXPECT_TRUE(RefusedByBackend(Fuzz(options, script)).empty());
}

// A backend may keep threads in the template; deaths of workers are noticed all the same.
TEST(CampaignTest, FindsACrashBesideThreads) {
  CampaignTools tools = ToolsFor(Script(Right));
  tools.make_backend = [](const std::string&) -> absl::StatusOr<std::unique_ptr<Backend>> {
    std::thread([] {
      while (true) pause();
    }).detach();
    return std::make_unique<FakeBackend>(Script([](const Module& module) {
      if (Picked(module)) std::abort();
      return Right(module);
    }));
  };
  absl::StatusOr<CampaignSummary> summary = RunCampaign(Options(40), tools);
  ASSERT_TRUE(summary.ok()) << summary.status();
  ExpectOnly(*summary, Outcome::kRunCrash);
  EXPECT_EQ(summary->programs, 40);
}

TEST(CampaignTest, FindsAHang) {
  CampaignOptions options = Options(40);
  options.case_seconds = 0.3;
  ExpectOnly(Fuzz(options, Script([](const Module& module) {
                    while (Picked(module)) pause();
                    return Right(module);
                  })),
             Outcome::kTimeout);
}

TEST(CampaignTest, EveryProgramHasAClockOfItsOwn) {
  CampaignOptions options = Options(8);
  options.jobs = 1;
  options.case_seconds = 1;
  options.input_sets = 1;
  const CampaignSummary slow = Fuzz(options, Script([](const Module& module) {
                                      usleep(600000);
                                      return Right(module);
                                    }));
  EXPECT_EQ(slow.programs, 8);
  EXPECT_EQ(slow.workers_lost, 0) << "four of them take longer than one may";
  EXPECT_EQ(slow.suspects, 0);
}

// An oracle that takes too long has no opinion, and nobody is to blame for that.
TEST(CampaignTest, AHangOfTheOracleIsInconclusive) {
  class HangingOracle : public ZeroOracle {
   public:
    absl::StatusOr<Expectation> Expect(const Module& module,
                                       const std::vector<const Literal*>& arguments,
                                       const Profile& profile, const Limits& limits) override {
      while (Picked(module)) pause();
      return ZeroOracle::Expect(module, arguments, profile, limits);
    }
  };
  CampaignOptions options = Options(40);
  options.case_seconds = 0.3;
  CampaignTools tools = ToolsFor(Script(Right));
  tools.make_oracle = [] { return std::make_unique<HangingOracle>(); };
  absl::StatusOr<CampaignSummary> summary = RunCampaign(options, tools);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->programs, 40);
  EXPECT_GT(summary->inconclusive, 0);
  EXPECT_EQ(summary->suspects, 0) << summary->ToJson().dump(1);
  // Each is named, so that somebody can look at it.
  EXPECT_EQ(static_cast<int64_t>(summary->lost.size()), summary->workers_lost);
  for (const auto& [index, text] : summary->lost) {
    EXPECT_NE(text.find("oracle"), std::string::npos) << index << ": " << text;
  }
}

TEST(CampaignTest, FindsAMemoryBlowUp) {
#if defined(__SANITIZE_ADDRESS__)
  // The sanitizer reserves terabytes of addresses: no limit on them can be set that it would
  // survive.
  GTEST_SKIP()
      << "needs a limit on addresses, which AddressSanitizer excludes; the plain build runs it";
#endif
  CampaignOptions options = Options(40);
  options.worker_memory_bytes = 48 << 20;
  ExpectOnly(Fuzz(options, Script([](const Module& module) {
                    std::vector<std::vector<char>> hoard;
                    while (Picked(module)) hoard.emplace_back(16 << 20, 'x');
                    return Right(module);
                  })),
             Outcome::kOutOfMemory);
}

TEST(CampaignTest, ClassesErrorsOfTheBackend) {
  struct Row {
    ErrorClass error;
    Outcome::Kind kind;
  };
  for (const Row& row : {Row{ErrorClass::kRejected, Outcome::kRejected},
                         Row{ErrorClass::kCompileCrash, Outcome::kCompileCrash},
                         Row{ErrorClass::kTimeout, Outcome::kTimeout},
                         Row{ErrorClass::kOutOfMemory, Outcome::kOutOfMemory}}) {
    FakeBackend::Script script = Script(Right);
    script.compile = [&row](const Module& module, const CompileOptions&) {
      return Picked(module) ? MakeError(row.error, "scripted") : absl::OkStatus();
    };
    ExpectOnly(Fuzz(Options(40), script), row.kind);
  }
}

TEST(CampaignTest, CountsWhatIsUnsupportedWithItsReason) {
  FakeBackend::Script script = Script(Right);
  script.compile = [](const Module& module, const CompileOptions&) {
    return Picked(module) ? MakeError(ErrorClass::kUnsupported, "no op 17 here") : absl::OkStatus();
  };
  CampaignSummary summary = Fuzz(Options(80), script);
  EXPECT_EQ(summary.findings, 0);
  EXPECT_EQ(summary.compared + summary.unsupported, 80);
  const std::map<std::string, int64_t> refused = RefusedByBackend(summary);
  ASSERT_EQ(refused.size(), 1u) << summary.ToJson().dump(1);
  EXPECT_EQ(refused.begin()->first, "no op # here");
  EXPECT_GT(refused.begin()->second, 5);
}

TEST(CampaignTest, GivesTheSameForAnyNumberOfJobs) {
  FakeBackend::Script script =
      Script([](const Module& module) { return Picked(module) ? Wrong(module) : Right(module); });
  std::vector<std::string> indices;
  for (int jobs : {1, 3}) {
    CampaignOptions options = Options(80);
    options.jobs = jobs;
    CampaignSummary summary = Fuzz(options, script);
    std::string line;
    for (const CampaignFinding& finding : summary.found) {
      line += std::to_string(finding.index) + ":" + finding.text + ";";
    }
    indices.push_back(line);
  }
  EXPECT_EQ(indices[0], indices[1]);
  EXPECT_FALSE(indices[0].empty());
}

TEST(CampaignTest, WritesCasesThatReadBackAndAJournal) {
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("campaign" + std::to_string(getpid()));
  CampaignOptions options = Options(40);
  options.out_dir = folder.string();
  CampaignSummary summary = Fuzz(options, Script([](const Module& module) {
                                   return Picked(module) ? Wrong(module) : Right(module);
                                 }));
  ASSERT_GT(summary.findings, 0);
  std::string base = "cases/11-" + std::to_string(summary.found[0].index);
  absl::StatusOr<std::unique_ptr<Module>> module = LoadModule((folder / (base + ".hlo")).string());
  ASSERT_TRUE(module.ok()) << module.status();
  Case made = GenerateCase(11, static_cast<uint64_t>(summary.found[0].index));
  EXPECT_EQ((*module)->Hash(), made.module->Hash());
  EXPECT_TRUE(std::filesystem::exists(folder / (base + ".npz")));
  std::ifstream journal(folder / "results.jsonl");
  std::vector<std::string> types;
  for (std::string line; std::getline(journal, line);) {
    types.push_back(nlohmann::json::parse(line)["type"]);
  }
  ASSERT_GE(types.size(), 3u);
  EXPECT_EQ(types.front(), "begin");
  EXPECT_EQ(types.back(), "end");
  EXPECT_EQ(std::count(types.begin(), types.end(), "finding"), summary.findings);
  std::filesystem::remove_all(folder);
}

TEST(CampaignTest, HandsFindingsToTriageAndFoldsThem) {
  CampaignTools tools = ToolsFor(Script(Wrong));
  tools.triage = [](const Finding& finding, Oracle&, Backend&) -> absl::StatusOr<TriageResult> {
    if (finding.index % 2 == 1) std::abort();  // triage may die of what it looks at
    TriageResult result;
    result.confirmed = true;
    result.bucket = "the one bug";
    result.instructions = static_cast<int64_t>(finding.module_text.size());
    return result;
  };
  CampaignOptions options = Options(12);
  options.most_triaged = 6;
  absl::StatusOr<CampaignSummary> summary = RunCampaign(options, tools);
  ASSERT_TRUE(summary.ok()) << summary.status();
  int64_t triaged = 0, died = 0;
  for (const CampaignFinding& finding : summary->found) {
    triaged += finding.triaged ? 1 : 0;
    died += finding.triage_error.empty() ? 0 : 1;
  }
  EXPECT_EQ(triaged + died, 6);
  EXPECT_GT(triaged, 0);
  EXPECT_GT(died, 0);
  EXPECT_EQ(summary->buckets["the one bug"], triaged);
}

TEST(CampaignTest, PreparesOnceWhatTriageOfOtherProcessesShares) {
  for (const bool in_process : {true, false}) {
    FakeBackend::Script script = Script(Wrong);
    script.description.in_process = in_process;
    CampaignTools tools = ToolsFor(script);
    int prepared = 0;
    tools.prepare_triage = [&prepared] { ++prepared; };
    tools.triage = [&prepared](const Finding&, Oracle&, Backend&) -> absl::StatusOr<TriageResult> {
      TriageResult result;
      result.confirmed = true;
      result.bucket = StrCat("prepared ", prepared);
      return result;
    };
    CampaignOptions options = Options(12);
    options.most_triaged = 3;
    absl::StatusOr<CampaignSummary> summary = RunCampaign(options, tools);
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_EQ(summary->buckets[in_process ? "prepared 0" : "prepared 1"], 3);
  }
}

TEST(CampaignTest, EndsOnTimeAndOnAnInterrupt) {
  CampaignOptions options = Options(0);
  options.seconds = 0.5;
  CampaignSummary summary = Fuzz(options, Script(Right));
  EXPECT_GT(summary.programs, 0);
  EXPECT_LT(summary.seconds, 3);
  EXPECT_FALSE(summary.interrupted);

  options.seconds = 60;
  options.progress_seconds = 0.05;
  // Should the handler of the campaign be gone already, the test must not die of it.
  struct sigaction ignore{}, old{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &old);
  options.progress = [raised = false](const CampaignProgress& progress) mutable {
    if (progress.so_far.programs > 0 && !raised) {
      raised = true;
      raise(SIGINT);
    }
  };
  summary = Fuzz(options, Script(Right));
  sigaction(SIGINT, &old, nullptr);
  EXPECT_TRUE(summary.interrupted);
  EXPECT_GT(summary.programs, 0);
}

TEST(CampaignTest, CountsTheStartAsPartOfItsTime) {
  CampaignOptions options = Options(0);
  options.seconds = 2;
  CampaignTools tools = ToolsFor(Script(Right));
  tools.make_backend = [make = tools.make_backend](const std::string& name) {
    std::this_thread::sleep_for(std::chrono::milliseconds(900));
    return make(name);
  };
  const absl::StatusOr<CampaignSummary> summary = RunCampaign(options, tools);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_GT(summary->programs, 0);
  EXPECT_LT(summary->seconds, 1.8);
}

TEST(CampaignTest, PassesOnWhyABackendCannotBeMade) {
  CampaignTools tools = ToolsFor(Script(Right));
  tools.make_backend = [](const std::string&) -> absl::StatusOr<std::unique_ptr<Backend>> {
    return MakeError(ErrorClass::kSickMachine, "no python at /nowhere");
  };
  absl::StatusOr<CampaignSummary> summary = RunCampaign(Options(1), tools);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(ClassOf(summary.status()), ErrorClass::kSickMachine);
  EXPECT_NE(summary.status().message().find("/nowhere"), std::string::npos);

  CampaignOptions endless = Options(0);
  EXPECT_FALSE(RunCampaign(endless, ToolsFor(Script(Right))).ok());
}

}  // namespace
}  // namespace assay
