// Devices as processes: they give what threads give, and whatever becomes of one, the run ends with
// an error that says so, in time, and leaves no process behind.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "optimized/cpu/testing.h"
#include "optimized/gpu/gpu_sim_backend.h"
#include "optimized/runtime/ranks/rank_channel.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/process/wire.h"

namespace assay {
namespace {

constexpr char kAdd[] =
    "HloModule m\nadd { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }\n";

// Sums and shifts values among devices `trips` times; for ever if that is negative.
std::string Loop(int trips) {
  return StrCat(kAdd,
                "cond { p = (s32[], s32[40]) parameter(0) i = s32[] get-tuple-element(p), index=0 "
                "n = s32[] constant(",
                trips,
                ") ROOT r = pred[] compare(i, n), direction=NE }\n"
                "body { p = (s32[], s32[40]) parameter(0) i = s32[] get-tuple-element(p), index=0 "
                "x = s32[40] get-tuple-element(p), index=1 o = s32[] constant(1) j = s32[] add(i, "
                "o) y = s32[40] all-reduce(x), to_apply=add z = s32[40] collective-permute(y), "
                "source_target_pairs={{0,1},{1,2},{2,0}} ROOT r = (s32[], s32[40]) tuple(j, z) }\n"
                "ENTRY e { k = u32[] replica-id() c = s32[] convert(k) b = s32[40] broadcast(c), "
                "dimensions={} i = s32[40] iota(), iota_dimension=0 x = s32[40] add(b, i) z = "
                "s32[] constant(0) t = (s32[], s32[40]) tuple(z, x) ROOT w = (s32[], s32[40]) "
                "while(t), condition=cond, body=body }\n");
}

std::unique_ptr<Backend> Make(const std::string& name) {
  BackendRegistry registry;
  RegisterCpu(registry);
  RegisterGpuSim(registry);
  auto backend = registry.Create(name);
  EXPECT_TRUE(backend.ok()) << backend.status();
  return backend.ok() ? *std::move(backend) : nullptr;
}

absl::StatusOr<RunResult> RunReplicas(const std::string& backend, const std::string& text,
                                      int64_t replicas, double seconds) {
  const std::unique_ptr<Module> module = MustRead(text);
  CompileOptions options;
  options.devices.replicas = replicas;
  options.limits.seconds = seconds;
  auto compiled = Make(backend)->Compile(*module, options);
  if (!compiled.ok()) return compiled.status();
  return (*compiled)->Run(std::vector<std::vector<const Literal*>>(static_cast<size_t>(replicas)));
}

// The processes that a process has forked and that still run.
std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& thread :
       std::filesystem::directory_iterator(StrCat("/proc/", parent, "/task"), error)) {
    std::ifstream in(thread.path() / "children");
    for (pid_t child = 0; in >> child;) children.push_back(child);
  }
  return children;
}

bool IsGone(pid_t process) {
  std::ifstream in(StrCat("/proc/", process, "/stat"));
  std::string number, name, state;
  return !(in >> number >> name >> state) || state == "Z";
}

void Sleep(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

class Ranks : public testing::TestWithParam<const char*> {};

TEST_P(Ranks, GiveWhatThreadsGive) {
  const auto threads = RunReplicas(GetParam(), Loop(20), 8, 60);
  const auto processes = RunReplicas(StrCat(GetParam(), ",ranks=processes"), Loop(20), 8, 60);
  ASSERT_TRUE(threads.ok()) << threads.status();
  ASSERT_TRUE(processes.ok()) << processes.status();
  for (size_t d = 0; d < 8; ++d) {
    EXPECT_EQ(processes->outputs[d].ToString(), threads->outputs[d].ToString()) << d;
  }
  EXPECT_TRUE(ChildrenOf(getpid()).empty());
}

// At 25 moments, from the first on.
TEST_P(Ranks, OneThatIsKilledEndsTheRun) {
  const std::string backend = StrCat(GetParam(), ",ranks=processes");
  for (int moment = 0; moment < 25; ++moment) {
    SCOPED_TRACE(StrCat("moment ", moment));
    std::atomic<bool> was_killed{false};
    std::thread killer([&] {
      for (int k = 0; k < 20000 && !was_killed; ++k) {
        const std::vector<pid_t> children = ChildrenOf(getpid());
        if (!children.empty()) {
          Sleep(moment);
          was_killed = kill(children[static_cast<size_t>(moment) % children.size()], SIGKILL) == 0;
        }
        Sleep(1);
      }
    });
    const auto start = std::chrono::steady_clock::now();
    const auto run = RunReplicas(backend, Loop(-1), 4, 60);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    killer.join();
    ASSERT_FALSE(run.ok());
    EXPECT_EQ(ClassOf(run.status()), ErrorClass::kRunCrash) << run.status();
    EXPECT_NE(run.status().message().find("was ended by SIGKILL"), std::string::npos)
        << run.status();
    EXPECT_LT(seconds, 30);
    EXPECT_TRUE(ChildrenOf(getpid()).empty());
  }
}

TEST_P(Ranks, OneThatIsLateEndsTheRun) {
  // Replica 0 counts for ever, the others wait for it.
  const std::string text = StrCat(
      kAdd,
      "cond { p = s32[] parameter(0) n = s32[] constant(-1) ROOT r = pred[] compare(p, n), "
      "direction=NE }\nbody { p = s32[] parameter(0) n = s32[] constant(2) ROOT r = s32[] add(p, "
      "n) }\n"
      "ENTRY e { k = u32[] replica-id() c = s32[] convert(k) m = s32[] constant(-1) z = s32[] "
      "constant(0) f = pred[] compare(c, z), direction=EQ s = s32[] select(f, z, m) w = s32[] "
      "while(s), condition=cond, body=body ROOT r = s32[] all-reduce(w), to_apply=add }\n");
  const auto run = RunReplicas(StrCat(GetParam(), ",ranks=processes"), text, 3, 1);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(ClassOf(run.status()), ErrorClass::kTimeout) << run.status();
  EXPECT_NE(run.status().message().find("replica 0 still computes"), std::string::npos)
      << run.status();
  EXPECT_TRUE(ChildrenOf(getpid()).empty());
}

TEST_P(Ranks, DieWithTheirParent) {
  const pid_t parent = fork();
  if (parent == 0) {
    (void)RunReplicas(StrCat(GetParam(), ",ranks=processes"), Loop(-1), 4, 60);
    _exit(0);
  }
  std::vector<pid_t> ranks;
  for (int k = 0; k < 20000 && ranks.size() < 4; ++k) {
    Sleep(1);
    ranks = ChildrenOf(parent);
  }
  ASSERT_EQ(ranks.size(), 4u);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  for (pid_t rank : ranks) {
    for (int k = 0; k < 10000 && !IsGone(rank); ++k) Sleep(1);
    EXPECT_TRUE(IsGone(rank));
  }
}

// ---- what a rank says whose memory was written over ----

class HeardRendezvous : public KeptRendezvous {
 public:
  using KeptRendezvous::KeptRendezvous;

 protected:
  absl::Status HowItEnded(int64_t) const override {
    return MakeError(ErrorClass::kRunCrash, "it ended");
  }
};

TEST(RankChannel, NonsenseEndsTheRun) {
  const Meeting meeting{"sum", {{0}}, {{0}}, {8}};
  RankGroup group;
  group.meetings = {&meeting};
  group.names = {"device 0"};
  group.backend = "cpu";
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const std::string eight(8, 'x');
  const std::pair<std::string, std::string> cases[] = {
      {RankMessage('A', 1) + eight, "nonsense"},
      {RankMessage('A', -1) + eight, "nonsense"},
      {RankMessage('A', 0) + "short", "nonsense"},
      {RankMessage('A', 0) + eight + "x", "nonsense"},
      {"A", "nonsense"},
      {RankMessage('F', int64_t{1} << 40) + "why", "why"},
      {RankMessage('Z', 77) + "odd", "odd"},
      {"F", ""}};
  for (const auto& [message, text] : cases) {
    SCOPED_TRACE(message);
    const auto [kept, given] = SocketPair();
    HeardRendezvous rendezvous(group);
    RankPeer peer{kept, -1, ""};
    std::thread server([&] { rendezvous.Serve(0, peer); });
    EXPECT_TRUE(SendMessage(given, message));
    const absl::Status status = rendezvous.WaitForAll(until);
    server.join();
    EXPECT_EQ(ClassOf(status), message == "F" ? ErrorClass::kRejected : ErrorClass::kRunCrash);
    EXPECT_NE(std::string(status.message()).find(text), std::string::npos) << status;
    close(kept);
    close(given);
  }
}

// ---- under mpirun, or what says of itself that it is ----

// So many processes that do the same, each as a rank of one job.
class Job {
 public:
  Job(int size, const std::function<int(int rank)>& work) {
    static int number = 0;
    const std::string name = StrCat("job-", getpid(), "-", number++);
    for (int rank = 0; rank < size; ++rank) {
      const pid_t process = fork();
      if (process == 0) {
        setenv("OMPI_COMM_WORLD_RANK", StrCat(rank).c_str(), 1);
        setenv("OMPI_COMM_WORLD_SIZE", StrCat(size).c_str(), 1);
        setenv("PMIX_NAMESPACE", name.c_str(), 1);
        _exit(work(rank));
      }
      processes_.push_back(process);
    }
  }
  pid_t process(int rank) const { return processes_[static_cast<size_t>(rank)]; }
  // Gives the exit status of each, within so many seconds; -1: a signal ended it, -2: nothing did.
  std::vector<int> Ends(double seconds) {
    std::vector<int> ends(processes_.size(), -2);
    for (int k = 0; k < static_cast<int>(seconds * 1000); ++k) {
      bool all = true;
      for (size_t rank = 0; rank < ends.size(); ++rank) {
        int status = 0;
        if (ends[rank] == -2 && waitpid(processes_[rank], &status, WNOHANG) > 0) {
          ends[rank] = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        }
        all = all && ends[rank] != -2;
      }
      if (all) break;
      Sleep(1);
    }
    for (size_t rank = 0; rank < ends.size(); ++rank) {
      if (ends[rank] != -2) continue;
      kill(processes_[rank], SIGKILL);
      waitpid(processes_[rank], nullptr, 0);
    }
    return ends;
  }

 private:
  std::vector<pid_t> processes_;
};

// There are as many processes as devices, fewer, and more.
TEST_P(Ranks, GiveInEveryProcessOfMpirunWhatThreadsGive) {
  const auto threads = RunReplicas(GetParam(), Loop(20), 8, 60);
  ASSERT_TRUE(threads.ok()) << threads.status();
  for (const int size : {8, 3, 10, 1}) {
    Job job(size, [&](int) {
      for (int twice = 0; twice < 2; ++twice) {
        const auto run = RunReplicas(StrCat(GetParam(), ",ranks=mpi"), Loop(20), 8, 60);
        if (!run.ok()) return 1;
        for (size_t d = 0; d < 8; ++d) {
          if (run->outputs[d].ToString() != threads->outputs[d].ToString()) return 2;
        }
      }
      return 0;
    });
    EXPECT_EQ(job.Ends(60), std::vector<int>(static_cast<size_t>(size), 0)) << size;
  }
}

// At 25 moments, from the first on; with both backends at 50. Rank 0, which keeps the meetings, is
// one of them.
TEST_P(Ranks, OneOfMpirunThatIsKilledEndsTheRunOfAll) {
  for (int moment = 0; moment < 25; ++moment) {
    SCOPED_TRACE(StrCat("moment ", moment));
    Job job(4, [&](int) {
      const auto run = RunReplicas(StrCat(GetParam(), ",ranks=mpi"), Loop(-1), 4, 2);
      return run.ok() ? 1 : 10 + static_cast<int>(ClassOf(run.status()));
    });
    Sleep(moment < 2 ? moment : 40 + 4 * moment);
    const int victim = moment % 4;
    EXPECT_EQ(kill(job.process(victim), SIGKILL), 0);
    const std::vector<int> ends = job.Ends(60);
    for (int rank = 0; rank < 4; ++rank) {
      if (rank == victim) continue;
      // One that dies before it came is late.
      EXPECT_THAT(ends[static_cast<size_t>(rank)],
                  testing::AnyOf(10 + static_cast<int>(ErrorClass::kRunCrash),
                                 10 + static_cast<int>(ErrorClass::kTimeout)))
          << "rank " << rank;
    }
  }
}

TEST_P(Ranks, ThatRunOtherProgramsDoNotMeet) {
  Job job(2, [&](int rank) {
    const std::string text = rank == 0 ? Loop(3)
                                       : StrCat(kAdd,
                                                "ENTRY e { k = u32[] replica-id() "
                                                "c = s32[] convert(k) ROOT r = "
                                                "s32[] all-reduce(c), "
                                                "to_apply=add }\n");
    const auto run = RunReplicas(StrCat(GetParam(), ",ranks=mpi"), text, 3, 20);
    return run.ok() ? 1 : 10 + static_cast<int>(ClassOf(run.status()));
  });
  EXPECT_EQ(job.Ends(60), std::vector<int>(2, 10 + static_cast<int>(ErrorClass::kRejected)));
}

TEST_P(Ranks, OfMpirunNeedIt) {
  if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr) GTEST_SKIP() << "this runs under mpirun";
  const auto run = RunReplicas(StrCat(GetParam(), ",ranks=mpi"), Loop(2), 3, 20);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.status().message().find("mpirun -n 3"), std::string::npos) << run.status();
}

INSTANTIATE_TEST_SUITE_P(Backends, Ranks, testing::Values("cpu:passes=on", "gpu-sim:checks=on"),
                         [](const auto& which) {
                           return std::string(which.param)[0] == 'c' ? "cpu" : "gpu_sim";
                         });

}  // namespace
}  // namespace assay
