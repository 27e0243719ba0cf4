// The process backend against workers in Python that misbehave in every way.
#include "fuzz/backends/process_backend.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/base/clock.h"
#include "spec/base/file.h"
#include "spec/base/strings.h"
#include "spec/process/cpu_time.h"
#include "spec/process/worker_process.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

using testing::HasSubstr;

std::unique_ptr<Backend> Worker() {
  BackendRegistry registry;
  RegisterProcess(registry);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create(
      StrCat("process:python3 ", ASSAY_SOURCE_DIR, "/fuzz/testdata/misbehaving_worker.py"));
  EXPECT_TRUE(backend.ok()) << backend.status();
  return backend.ok() ? *std::move(backend) : nullptr;
}

std::unique_ptr<Module> ModuleNamed(const std::string& name) {
  absl::StatusOr<std::unique_ptr<Module>> module =
      ReadModule(StrCat("HloModule ", name,
                        "\nENTRY e {\n  p = s32[3] parameter(0)\n  q = f32[] parameter(1)\n"
                        "  ROOT t = (s32[3], (f32[])) parameter(2)\n}\n"));
  EXPECT_TRUE(module.ok()) << module.status();
  // The root only gives the result its shape; the worker returns its inputs.
  Computation* entry = (*module)->entry();
  Instruction *p = entry->parameter(0), *q = entry->parameter(1), *old = entry->root();
  Instruction* inner = entry->Add(Opcode::kTuple, Shape::Tuple({q->shape()}), {q});
  entry->set_root(
      entry->Add(Opcode::kTuple, Shape::Tuple({p->shape(), inner->shape()}), {p, inner}));
  (void)old;
  entry->RemoveParameter(2);
  return *std::move(module);
}

struct Arguments {
  Literal array{Shape::Array(ElementType::kS32, {3})};
  Literal scalar{Shape::Scalar(ElementType::kF32)};
  Arguments() {
    for (int i = 0; i < 3; ++i) array.SetInteger(i, 7 + i);
    scalar.SetDouble(0, 0.5);
  }
  std::vector<const Literal*> pointers() const { return {&array, &scalar}; }
};

absl::StatusOr<RunResult> RunNamed(Backend& backend, const std::string& name, double seconds = 20) {
  CompileOptions options;
  options.limits.seconds = seconds;
  options.limits.memory_bytes = int64_t{256} << 20;
  Arguments arguments;
  return CompileAndRun(backend, *ModuleNamed(name), arguments.pointers(), options);
}

TEST(ProcessBackend, RoundTripsArraysAndRebuildsTheTuple) {
  std::unique_ptr<Backend> backend = Worker();
  EXPECT_EQ(backend->Describe().version, "1");
  EXPECT_FALSE(backend->Describe().in_process);
  absl::StatusOr<RunResult> run = RunNamed(*backend, "echo");
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->seconds, 0.5);
  Arguments arguments;
  const Literal& output = run->outputs[0];
  ASSERT_EQ(output.elements().size(), 2u);
  EXPECT_TRUE(output.elements()[0].BitwiseEqual(arguments.array));
  EXPECT_TRUE(output.elements()[1].elements()[0].BitwiseEqual(arguments.scalar));
}

TEST(ProcessBackend, ClassesEveryWayToFailAndGoesOn) {
  std::unique_ptr<Backend> backend = Worker();
  struct Row {
    const char* name;
    ErrorClass error_class;
    const char* message;
  };
  for (const Row& row : std::vector<Row>{
           {"crash_compile", ErrorClass::kCompileCrash, "assertion failed: the test says so"},
           {"crash_run", ErrorClass::kRunCrash, "SIGSEGV"},
           {"garbage", ErrorClass::kRunCrash, "impossible size"},
           {"reject", ErrorClass::kRejected, "the test says so"},
           {"short_answer", ErrorClass::kRunCrash, "makes no sense"},
           {"grow", ErrorClass::kOutOfMemory, "grew beyond"}}) {
    absl::StatusOr<RunResult> run = RunNamed(*backend, row.name);
    ASSERT_FALSE(run.ok()) << row.name;
    EXPECT_EQ(ClassOf(run.status()), row.error_class) << row.name << ": " << run.status();
    EXPECT_THAT(std::string(run.status().message()), HasSubstr(row.message)) << row.name;
    EXPECT_TRUE(RunNamed(*backend, "echo").ok()) << "after " << row.name;
  }
}

// Each way not to greet is told apart, by status, signal, last words or first bytes, in words that
// a terminal may be shown.
TEST(ProcessBackend, SaysHowAGreetingWentWrong) {
  struct Row {
    const char* way;
    std::vector<const char*> words;
  };
  BackendRegistry registry;
  RegisterProcess(registry, /*start_seconds=*/1);
  const std::string worker =
      StrCat("process:python3 ", ASSAY_SOURCE_DIR, "/fuzz/testdata/greeting_worker.py ");
  for (const Row& row : std::vector<Row>{
           {"exits", {"exited with status 3", "no device here\\u001b[31m\\u0000"}},
           {"dies", {"died of SIGABRT", "out of luck"}},
           {"mute", {"did not greet within 1 s"}},
           {"prints", {"no message of the protocol", "Loading", "belongs on standard error"}},
           {"binary", {"no message of the protocol", "\\377"}},
           {"list", {"no message of the protocol", "[]"}},
           {"other", {"does not speak protocol 1", "u001b"}},
           {"error", {"no licence\\u001b[2J"}}}) {
    const absl::Status status = registry.Create(worker + row.way).status();
    EXPECT_EQ(ClassOf(status), ErrorClass::kSickMachine) << row.way;
    for (const char* word : row.words) {
      EXPECT_THAT(std::string(status.message()), HasSubstr(word)) << row.way;
    }
    EXPECT_EQ(std::string(status.message()).find('\033'), std::string::npos) << row.way;
  }
  const absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create(worker + "escapes");
  ASSERT_TRUE(backend.ok()) << backend.status();
  EXPECT_EQ((*backend)->Describe().version, "v\\u001b[2J\\u0000");
}

// Who lives and says that it does not do this has not crashed.
TEST(ProcessBackend, ARefusalIsNoCrash) {
  std::unique_ptr<Backend> backend = Worker();
  for (const char* name : {"refuse_not_found", "refuse_unimplemented", "refuse_not_supported"}) {
    const absl::StatusOr<RunResult> run = RunNamed(*backend, name);
    EXPECT_EQ(ClassOf(run.status()), ErrorClass::kUnsupported) << run.status();
  }
  EXPECT_EQ(ClassOf(RunNamed(*backend, "refuse_by_check").status()), ErrorClass::kCompileCrash);
}

// A worker dies of what it does now, whatever it said of the program before.
TEST(ProcessBackend, DeathIsNotPutInEarlierWords) {
  std::unique_ptr<Backend> backend = Worker();
  EXPECT_TRUE(RunNamed(*backend, "complain").ok());
  const absl::StatusOr<RunResult> run = RunNamed(*backend, "crash_run");
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(std::string(run.status().message()),
              testing::Not(HasSubstr("it is not what it was")));
  EXPECT_THAT(std::string(run.status().message()), HasSubstr("SIGSEGV"));
}

TEST(ProcessBackend, KillsWhatHangs) {
  std::unique_ptr<Backend> backend = Worker();
  absl::StatusOr<RunResult> run = RunNamed(*backend, "hang", 0.5);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(ClassOf(run.status()), ErrorClass::kTimeout);
}

TEST(ProcessBackend, ItsPythonIsTheOneThatItsNameHas) {
  EXPECT_EQ(PythonOf("xla:pages=reused,python=/p/bin/python", "other"), "/p/bin/python");
  EXPECT_EQ(PythonOf("xla:pages=reused", "other"), "other");
  EXPECT_EQ(PythonOf("xla", "other"), "other");
}

TEST(ProcessBackend, WhatSleepsHasNoMoreTimeThanItsLimit) {
  if (WaitedForCpu(getpid()) == 0) GTEST_SKIP() << "this kernel does not tell sleep from waiting";
  std::unique_ptr<Backend> backend = Worker();
  const double start = Now();
  EXPECT_EQ(ClassOf(RunNamed(*backend, "hang", 2).status()), ErrorClass::kTimeout);
  EXPECT_LT(Now() - start, 5) << "six seconds are for those that wait for a core";
}

TEST(ProcessBackend, AnExecutableOutlivesItsWorker) {
  std::unique_ptr<Backend> backend = Worker();
  absl::StatusOr<std::unique_ptr<Executable>> executable =
      backend->Compile(*ModuleNamed("echo"), {});
  ASSERT_TRUE(executable.ok());
  EXPECT_FALSE(RunNamed(*backend, "crash_run").ok());
  Arguments arguments;
  EXPECT_TRUE((*executable)->Run({arguments.pointers()}).ok());
}

// The process numbers that the worker for the program "parent" reports.
struct Family {
  int64_t parent = 0, own = 0;
};
Family FamilyOf(Backend& backend) {
  absl::StatusOr<RunResult> run = RunNamed(backend, "parent");
  EXPECT_TRUE(run.ok()) << run.status();
  if (!run.ok()) return {};
  const Literal& numbers = run->outputs[0].elements()[0];
  return {numbers.GetInteger(0), numbers.GetInteger(1)};
}

std::unique_ptr<Backend> ForkingWorker(const std::string& python = "python3",
                                       std::shared_ptr<WorkerNursery> nursery = nullptr) {
  ProcessBackendOptions options;
  options.argv = {python, StrCat(ASSAY_SOURCE_DIR, "/fuzz/testdata/misbehaving_worker.py")};
  options.forks = true;
  options.nursery = std::move(nursery);
  absl::StatusOr<std::unique_ptr<Backend>> backend = MakeProcessBackend(std::move(options));
  EXPECT_TRUE(backend.ok()) << backend.status();
  return backend.ok() ? *std::move(backend) : nullptr;
}

TEST(ProcessBackend, ForksWorkersFromOneThatIsLoaded) {
  std::unique_ptr<Backend> backend = ForkingWorker();
  const Family first = FamilyOf(*backend);
  EXPECT_NE(first.parent, getpid()) << "it was started, not forked";
  absl::StatusOr<RunResult> crash = RunNamed(*backend, "crash_run");
  EXPECT_THAT(std::string(crash.status().message()), HasSubstr("SIGSEGV"));
  EXPECT_EQ(ClassOf(RunNamed(*backend, "hang", 0.5).status()), ErrorClass::kTimeout);
  const Family second = FamilyOf(*backend);
  EXPECT_EQ(second.parent, first.parent);
  EXPECT_NE(second.own, first.own);
}

// The interpreter itself: a script of that name may be before it, whose shell blocks no signals.
std::string PythonItself() {
  std::string path(4096, 0);
  FILE* pipe = popen("python3 -c 'import sys; print(sys.executable, end=str())'", "r");
  path.resize(pipe == nullptr ? 0 : fread(path.data(), 1, path.size(), pipe));
  if (pipe != nullptr) pclose(pipe);
  return path;
}

// The process that forks a campaign's workers blocks their signal.
TEST(ProcessBackend, SeesForkedWorkersEndWhereTheirSignalIsBlocked) {
  const std::string python = PythonItself();
  ASSERT_FALSE(python.empty());
  sigset_t child, before;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  ASSERT_EQ(sigprocmask(SIG_BLOCK, &child, &before), 0);
  std::unique_ptr<Backend> backend = ForkingWorker(python);
  absl::StatusOr<RunResult> crash = RunNamed(*backend, "crash_run");
  EXPECT_THAT(std::string(crash.status().message()), HasSubstr("SIGSEGV"));
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

bool IsGone(int64_t pid) {
  for (int i = 0; i < 500; ++i) {
    if (kill(static_cast<pid_t>(pid), 0) != 0) return true;
    usleep(10000);
  }
  return false;
}

TEST(ProcessBackend, AForkedCopyHasAWorkerOfItsOwnThatDiesWithIt) {
  std::unique_ptr<Backend> backend = ForkingWorker();
  const Family mine = FamilyOf(*backend);
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const int64_t own = FamilyOf(*backend).own;
    if (write(channel[1], &own, sizeof(own)) < 0) _exit(1);
    RunNamed(*backend, "hang", 100).status().IgnoreError();
    _exit(0);
  }
  int64_t theirs = 0;
  ASSERT_EQ(read(channel[0], &theirs, sizeof(theirs)), static_cast<ssize_t>(sizeof(theirs)));
  EXPECT_NE(theirs, mine.own);
  usleep(100000);  // it hangs by now
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_TRUE(IsGone(theirs)) << "the worker outlived a killed owner";
  EXPECT_EQ(FamilyOf(*backend).own, mine.own) << "the first worker lives on";
}

// Triage asks other releases in this way, each time in a process that was forked before they were
// loaded.
TEST(ProcessBackend, WhoWasForkedSharesWhatWasLaunchedBefore) {
  const auto nursery = std::make_shared<WorkerNursery>(std::vector<std::string>{
      "python3", StrCat(ASSAY_SOURCE_DIR, "/fuzz/testdata/misbehaving_worker.py")});
  nursery->Launch();
  const auto parent_seen_by_child = [&nursery] {
    int channel[2];
    if (pipe(channel) != 0) return int64_t{-1};
    const pid_t pid = fork();
    if (pid == 0) {
      const int64_t parent = FamilyOf(*ForkingWorker("python3", nursery)).parent;
      _exit(write(channel[1], &parent, sizeof(parent)) == sizeof(parent) ? 0 : 1);
    }
    close(channel[1]);
    int64_t parent = -1;
    if (read(channel[0], &parent, sizeof(parent)) != sizeof(parent)) parent = -1;
    close(channel[0]);
    waitpid(pid, nullptr, 0);
    return parent;
  };
  const int64_t first = parent_seen_by_child();
  EXPECT_GT(first, 0);
  EXPECT_EQ(parent_seen_by_child(), first);
  EXPECT_EQ(FamilyOf(*ForkingWorker("python3", nursery)).parent, first);
}

// The reducer ends the processes that still ask in this way when it knows enough.
TEST(ProcessBackend, WhoIsKilledWhileItAsksForAWorkerHarmsNobody) {
  const auto nursery = std::make_shared<WorkerNursery>(std::vector<std::string>{
      "python3", StrCat(ASSAY_SOURCE_DIR, "/fuzz/testdata/misbehaving_worker.py")});
  const int64_t first = FamilyOf(*ForkingWorker("python3", nursery)).parent;
  ASSERT_GT(first, 0);
  kill(static_cast<pid_t>(first), SIGSTOP);
  const pid_t pid = fork();
  if (pid == 0) {
    FamilyOf(*ForkingWorker("python3", nursery));
    _exit(0);
  }
  usleep(300000);  // it waits for an answer by now
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  kill(static_cast<pid_t>(first), SIGCONT);
  EXPECT_EQ(FamilyOf(*ForkingWorker("python3", nursery)).parent, first);
}

TEST(ProcessBackend, AForkedCopyKnowsTheTimeOfItsWorkers) {
  std::unique_ptr<Backend> backend = ForkingWorker();
  EXPECT_TRUE(RunNamed(*backend, "busy").ok());
  EXPECT_EQ(CpuSecondsOfWorkersElsewhere(), 0) << "they are descendants of this process";
  const pid_t pid = fork();
  if (pid == 0) {
    const bool runs = RunNamed(*backend, "busy").ok() && CpuSecondsOfWorkersElsewhere() > 0.15;
    const bool dies = !RunNamed(*backend, "crash_run").ok();
    const double ended = CpuSecondsOfWorkersElsewhere();
    _exit(runs && dies && ended > 0.15 && ended < 10 ? 0 : 1);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(CpuSecondsOfWorkersElsewhere(), 0);
}

TEST(ProcessBackend, ReadsTheOptimizedModule) {
  std::unique_ptr<Backend> backend = Worker();
  std::unique_ptr<Module> module = ModuleNamed("echo");
  absl::StatusOr<std::unique_ptr<Executable>> executable = backend->Compile(*module, {});
  ASSERT_TRUE(executable.ok());
  absl::StatusOr<std::unique_ptr<Module>> optimized = (*executable)->OptimizedModule();
  ASSERT_TRUE(optimized.ok()) << optimized.status();
  EXPECT_EQ((*optimized)->Hash(), module->Hash());
}

TEST(ProcessBackend, SaysWhatIsMissing) {
  BackendRegistry registry;
  RegisterProcess(registry);
  RegisterXla(registry);
  for (const char* name : {"process:no-such-program-anywhere", "process:true"}) {
    absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create(name);
    ASSERT_FALSE(backend.ok()) << name;
    EXPECT_EQ(ClassOf(backend.status()), ErrorClass::kSickMachine) << backend.status();
  }
  for (const char* name :
       {"xla:colour=red", "xla:devices=2", "jax:devices=0", "jax:devices=many"}) {
    EXPECT_EQ(registry.Create(name).status().code(), absl::StatusCode::kInvalidArgument) << name;
  }
  EXPECT_FALSE(registry.Create("process:").ok());
}

// Whoever is killed in the middle of a request leaves no worker behind.
TEST(ProcessBackend, TheWorkerDiesWithWhoStartedIt) {
  const std::string note = testing::TempDir() + "/worker_pid";
  std::remove(note.c_str());
  const pid_t parent = fork();
  if (parent == 0) {
    ProcessBackendOptions options;
    options.argv = {"sh", "-c",
                    StrCat("echo $$ > '", note, ".part' && mv '", note, ".part' '", note,
                           "' && exec sleep 100")};
    MakeProcessBackend(std::move(options)).status().IgnoreError();
    _exit(0);
  }
  absl::StatusOr<std::string> pid = ReadFile(note);
  for (int i = 0; i < 500 && !pid.ok(); ++i) {
    usleep(10000);
    pid = ReadFile(note);
  }
  ASSERT_TRUE(pid.ok()) << pid.status();
  const pid_t worker = std::atoi(pid->c_str());
  ASSERT_EQ(kill(worker, 0), 0);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  // Nobody may wait for a dead child of another process: a zombie counts as dead.
  const auto is_alive = [worker] {
    std::ifstream status(StrCat("/proc/", static_cast<int64_t>(worker), "/stat"));
    std::string number, name, state;
    return static_cast<bool>(status >> number >> name >> state) && state != "Z" && state != "X";
  };
  for (int i = 0; i < 500 && is_alive(); ++i) usleep(10000);
  EXPECT_FALSE(is_alive());
}

TEST(ProcessBackend, ADeviceTooManyIsUnsupported) {
  std::unique_ptr<Backend> backend = Worker();
  EXPECT_EQ(backend->Describe().devices, std::vector<std::string>({"cpu:0"}));
  CompileOptions options;
  options.devices.replicas = 2;
  EXPECT_EQ(ClassOf(backend->Compile(*ModuleNamed("echo"), options).status()),
            ErrorClass::kUnsupported);
}

TEST(ProcessBackend, SpellsNegativeZeros) {
  EXPECT_EQ(SpellNegativeZeros("a = f32[3] constant({-0, 1, -0}), b-0 = f32[] constant(-0)"),
            "a = f32[3] constant({-0.0, 1, -0.0}), b-0 = f32[] constant(-0.0)");
  EXPECT_EQ(SpellNegativeZeros("padding=-0_1 {-0.5, -05}"), "padding=-0_1 {-0.5, -05}");
}

TEST(ProcessBackend, HasNoGatesForDefects) {
  std::unique_ptr<Backend> backend = Worker();
  CompileOptions options;
  options.defect = "{}";
  EXPECT_EQ(ClassOf(backend->Compile(*ModuleNamed("echo"), options).status()),
            ErrorClass::kRejected);
}

// There is always something to read of it, and never enough.
TEST(ProcessBackend, AWorkerThatSendsAByteNowAndThenIsLate) {
  const std::unique_ptr<Backend> backend = Worker();
  const double begun = Now();
  EXPECT_EQ(ClassOf(RunNamed(*backend, "drip", 0.5).status()), ErrorClass::kTimeout);
  EXPECT_LT(Now() - begun, 20);
}

TEST(ProcessBackend, AWorkerThatHasSaidWhyItDiesNeedNotSayWhere) {
  const std::unique_ptr<Backend> backend = Worker();
  CompileOptions options;
  const std::unique_ptr<Module> module = ModuleNamed("fatal");
  const absl::Status full = backend->Compile(*module, options).status();
  const std::string traced(full.message());
  EXPECT_THAT(traced, HasSubstr("died of SIGABRT\nE1125"));
  EXPECT_THAT(traced, HasSubstr("Check failed: x > 0\n    @  0x7f2679e40634  somewhere()"));

  options.limits.backtraces = false;
  const absl::Status brief = backend->Compile(*module, options).status();
  EXPECT_EQ(ClassOf(brief), ErrorClass::kCompileCrash);
  EXPECT_EQ(brief.message(), traced.substr(0, traced.find("    @")));
  // Output that an earlier request caused is not held against a later one.
  EXPECT_TRUE(RunNamed(*backend, "echo").ok());
}

// A short campaign may have ended before the process that forks its workers is loaded.
TEST(ProcessBackend, WhoeverIsLoadedForNobodyEndsWithoutAWord) {
  const std::string command = StrCat(
      "python3 -c 'import socket, subprocess, sys\n"
      "ours, theirs = socket.socketpair()\n"
      "worker = subprocess.Popen([sys.executable, sys.argv[1], \"--fork-server\"], stdin=theirs, "
      "stderr=subprocess.PIPE)\n"
      "ours.close()\n"
      "sys.exit(worker.communicate()[1] != bytes())' ",
      ASSAY_SOURCE_DIR, "/fuzz/testdata/misbehaving_worker.py");
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(JaxBackendOptions, PlatformsOfGpusHaveTheirProfile) {
  for (const char* options : {"platform=cuda", "platform=gpu", "platform=rocm"}) {
    const absl::StatusOr<ProcessBackendOptions> made = JaxOptions(options, "");
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_EQ(made->profile, &Profile::XlaGpu()) << options;
  }
  for (const char* options : {"", "platform=cpu,devices=2", "platform=./cuda.so"}) {
    const absl::StatusOr<ProcessBackendOptions> made = JaxOptions(options, "");
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_EQ(made->profile, &Profile::Xla()) << options;
  }
}

TEST(JaxWorker, FillsFreshMemoryWhileAProgramRuns) {
  const std::string fuzz = StrCat(ASSAY_SOURCE_DIR, "/fuzz");
  const std::string command =
      StrCat("python3 ", fuzz, "/testdata/fresh_memory.py ", fuzz, "/backends/jax_worker.py");
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace assay
