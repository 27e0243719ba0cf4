// Campaigns that are killed, go on, run out of disk, or lose the folder or the peer they work with.
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
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "spec/base/error.h"
#include "spec/files/load_module.h"

namespace assay {
namespace {

FakeBackend::Script NowAndThenWrong() {
  return Script(
      [](const Module& module) { return Picked(module) ? Wrong(module) : Right(module); });
}

// A campaign in a process group of its own.
pid_t StartCampaign(const CampaignOptions& options, const std::function<void()>& prepare) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  setpgid(0, 0);
  prepare();
  const absl::StatusOr<CampaignSummary> summary = RunCampaign(options, ToolsFor(NowAndThenWrong()));
  if (!summary.ok()) _exit(8);
  if (summary->error.ok()) _exit(0);
  // The work that was done until the error is not lost.
  const bool is_told = ClassOf(summary->error) == ErrorClass::kSickMachine &&
                       summary->programs > 0 && summary->findings > 0 && !summary->found.empty();
  _exit(is_told ? 7 : 8);
}

// True once the condition holds, which it may take half a minute to do.
bool Comes(const std::function<bool()>& condition) {
  for (int i = 0; i < 600; ++i) {
    if (condition()) return true;
    usleep(50000);
  }
  return false;
}

// Every finding of the journal is one of the resumed campaign, once.
void ExpectGoesOn(CampaignOptions options) {
  const absl::StatusOr<EarlierCampaign> earlier = ReadJournal(options.out_dir);
  ASSERT_TRUE(earlier.ok()) << earlier.status();
  ASSERT_FALSE(earlier->findings.empty());
  options.resume = true;
  options.count = earlier->next + 20;
  const CampaignSummary summary = Fuzz(options, NowAndThenWrong());
  EXPECT_EQ(summary.earlier, earlier->programs);
  EXPECT_EQ(summary.programs, 20) << "and none twice";
  for (const CampaignFinding& finding : earlier->findings) {
    EXPECT_EQ(std::count_if(summary.found.begin(), summary.found.end(),
                            [&](const CampaignFinding& one) { return one.index == finding.index; }),
              1)
        << finding.index;
  }
}

TEST(CampaignEndings, GoesOnAfterItWasKilledAndLeavesNoProcess) {
  CampaignOptions options = Options(1000000);
  options.out_dir = FreshFolder("killed");
  options.most_checked = 5;
  const pid_t pid = StartCampaign(options, [] {});
  EXPECT_TRUE(Comes([&] {
    const absl::StatusOr<EarlierCampaign> so_far = ReadJournal(options.out_dir);
    return so_far.ok() && so_far->next > 0 && !so_far->findings.empty();
  }));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_TRUE(Comes([&] { return kill(-pid, 0) != 0; })) << "a process of it is still there";
  ExpectGoesOn(options);
  std::filesystem::remove_all(options.out_dir);
}

// timeout(1) sends its signal to the campaign, and at once to all of its group.
TEST(CampaignEndings, EndsInOrderUnderTimeout) {
  for (const int signal : {SIGTERM, SIGINT}) {
    CampaignOptions options = Options(1000000);
    options.out_dir = FreshFolder("timeout");
    options.most_checked = 5;
    options.progress_seconds = 0.05;
    options.progress = [signal, is_told = false](const CampaignProgress& progress) mutable {
      if (is_told || progress.so_far.programs == 0) return;
      is_told = true;
      raise(signal);
      kill(0, signal);
    };
    const pid_t pid = StartCampaign(options, [] {});
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << signal << ": " << status;
    std::filesystem::remove_all(options.out_dir);
  }
}

TEST(CampaignEndings, GoesOnAfterTheDiskWasFull) {
  CampaignOptions options = Options(1000000);
  options.out_dir = FreshFolder("full");
  const pid_t pid = StartCampaign(options, [] { signal(SIGXFSZ, SIG_IGN); });
  EXPECT_TRUE(Comes([&] {
    const absl::StatusOr<EarlierCampaign> so_far = ReadJournal(options.out_dir);
    return so_far.ok() && !so_far->findings.empty();
  }));
  // From here on the journal takes a few bytes more, so that it ends within a line.
  const rlim_t most = std::filesystem::file_size(options.out_dir + "/results.jsonl") + 37;
  const rlimit few_bytes = {most, most};
  EXPECT_EQ(prlimit(pid, RLIMIT_FSIZE, &few_bytes, nullptr), 0);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7)
      << "it says that the machine is sick, and what it did before";
  options.most_checked = 5;
  ExpectGoesOn(options);
  std::filesystem::remove_all(options.out_dir);
}

// Onto another compiler, release, defect or profile, it would tell of the findings of the first.
TEST(CampaignEndings, GoesOnOnlyWithTheSameCampaign) {
  CampaignOptions options = Options(10);
  options.out_dir = FreshFolder("same");
  options.resume = true;
  EXPECT_FALSE(RunCampaign(options, ToolsFor(Script(Right))).ok()) << "there is none";
  options.resume = false;
  Fuzz(options, Script(Right));
  options.resume = true;
  options.count = 12;
  EXPECT_TRUE(RunCampaign(options, ToolsFor(Script(Right))).ok());
  const auto why_not = [&](const std::function<void(CampaignOptions&)>& change,
                           const std::string& version = "1") {
    CampaignOptions other = options;
    change(other);
    FakeBackend::Script script = Script(Right);
    script.description.version = version;
    const absl::Status status = RunCampaign(other, ToolsFor(script)).status();
    return std::string(status.message());
  };
  using testing::HasSubstr;
  EXPECT_THAT(why_not([](CampaignOptions& other) { other.seed = 12; }),
              HasSubstr("seed 11, not 12"));
  EXPECT_THAT(why_not([](CampaignOptions& other) { other.backends = {"cpu"}; }),
              HasSubstr("backend fake, not cpu"));
  EXPECT_THAT(why_not([](CampaignOptions& other) { other.compile.defect = "{}"; }),
              HasSubstr("defect none, not {}"));
  EXPECT_THAT(why_not([](CampaignOptions& other) { other.profile = "xla"; }),
              HasSubstr("profile none, not xla"));
  EXPECT_THAT(why_not([](CampaignOptions& other) { other.compile.flags["isa"] = "avx2"; }),
              HasSubstr("flags none, not isa=avx2"));
  EXPECT_THAT(why_not([](CampaignOptions& other) { other.portable = true; }),
              HasSubstr("kind of programs all, not foreign"));
  EXPECT_THAT(why_not([](CampaignOptions& other) { other.first = 5; }),
              HasSubstr("began with program 0, not 5"));
  EXPECT_THAT(why_not([](CampaignOptions&) {}, "2"), HasSubstr("version 1, not 2"));
  // One that begins anew leaves the earlier lines, which are not its own.
  options.resume = false;
  options.seed = 13;
  Fuzz(options, Script(Right));
  options.resume = true;
  EXPECT_TRUE(RunCampaign(options, ToolsFor(Script(Right))).ok());
  std::filesystem::remove_all(options.out_dir);
}

TEST(CampaignEndings, TwoDoNotShareAFolder) {
  CampaignOptions options = Options(1000000);
  options.out_dir = FreshFolder("shared");
  const pid_t pid = StartCampaign(options, [] {});
  EXPECT_TRUE(Comes([&] { return ReadJournal(options.out_dir).ok(); }));
  CampaignOptions other = options;
  other.count = 1;
  for (const bool resume : {false, true}) {
    other.resume = resume;
    const absl::Status status = RunCampaign(other, ToolsFor(Script(Right))).status();
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("another campaign writes to"));
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  other.resume = false;
  EXPECT_TRUE(RunCampaign(other, ToolsFor(Script(Right))).ok()) << "its lock went with it";
  std::filesystem::remove_all(options.out_dir);
}

TEST(CampaignEndings, EndsWhereItsFolderIsTakenAway) {
  CampaignOptions options = Options(1000000);
  options.out_dir = FreshFolder("taken");
  options.progress_seconds = 0.05;
  options.progress = [&options](const CampaignProgress& progress) {
    if (progress.so_far.programs > 0) std::filesystem::remove_all(options.out_dir);
  };
  const CampaignSummary summary = Fuzz(options, Script(Right));
  EXPECT_EQ(ClassOf(summary.error), ErrorClass::kSickMachine);
  EXPECT_THAT(std::string(summary.error.message()), testing::HasSubstr("was taken away"));
  std::filesystem::remove_all(options.out_dir);
}

// Kills the process that workers are forked from, if this process has exactly one child; never
// anything else.
bool KillTemplate() {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "status");
    pid_t parent = -1;
    for (std::string word; parent < 0 && file >> word;) {
      if (word == "PPid:") file >> parent;
    }
    const int pid = std::atoi(entry.path().filename().c_str());
    if (parent == getpid() && pid > 1) children.push_back(pid);
  }
  return children.size() == 1 && kill(children[0], SIGKILL) == 0;
}

TEST(CampaignEndings, GoesOnAfterItsTemplateWasKilled) {
  CampaignOptions options = Options(400);
  options.progress_seconds = 0.01;
  int kills = 0;
  options.progress = [&kills](const CampaignProgress& progress) {
    if (kills >= 2 || progress.so_far.programs < 50 * (kills + 1)) return;
    if (KillTemplate()) ++kills;
  };
  const CampaignSummary summary = Fuzz(options, NowAndThenWrong());
  EXPECT_EQ(kills, 2);
  EXPECT_TRUE(summary.error.ok()) << summary.error;
  EXPECT_EQ(summary.programs, 400) << "each once";
  EXPECT_GT(summary.findings, 0);
  // One that dies at once, whatever is done, ends the campaign.
  options.progress = [](const CampaignProgress&) { KillTemplate(); };
  EXPECT_EQ(ClassOf(Fuzz(options, Script(Right)).error), ErrorClass::kSickMachine);
}

// True if some process has this word among its arguments.
bool RunsAnywhere(const std::string& word) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string line((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    if (line.find(word) != std::string::npos) return true;
  }
  return false;
}

TEST(CampaignEndings, OutlivesAPeerThatDiesHangsOrWritesGarbage) {
  for (const std::string what : {"die", "hang", "garbage"}) {
    const std::string mark = what + "-of-" + std::to_string(getpid());
    CampaignTools tools = ToolsFor(Script(Right));
    tools.make_backend = [&](const std::string&) {
      ProcessBackendOptions options;
      options.name = "fake";
      options.argv = {"python3", std::string(ASSAY_SOURCE_DIR) + "/fuzz/testdata/dying_worker.py",
                      what, mark};
      return MakeProcessBackend(std::move(options));
    };
    CampaignOptions options = Options(4);
    options.case_seconds = 1;
    options.jobs = 1;
    options.compile.limits.seconds = 1;
    const absl::StatusOr<CampaignSummary> summary = RunCampaign(options, tools);
    ASSERT_TRUE(summary.ok()) << what << ": " << summary.status();
    EXPECT_EQ(summary->programs, 4) << what;
    EXPECT_GT(summary->suspects, 0) << what;
    EXPECT_TRUE(Comes([&] { return !RunsAnywhere(mark); })) << what << " is still there";
  }
}

}  // namespace
}  // namespace assay
