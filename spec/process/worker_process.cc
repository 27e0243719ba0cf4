// Starts, feeds and ends the worker, and reads its frames.
#include "spec/process/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>

#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/error.h"
#include "spec/base/escape.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/cpu_time.h"
#include "spec/process/interrupt.h"
#include "spec/process/isolate.h"

namespace assay {
namespace {

constexpr size_t kMaxHeader = size_t{16} << 20;
constexpr uint64_t kMaxPayload = uint64_t{8} << 30;
constexpr size_t kStderrTail = 4096;
constexpr double kNurserySeconds = 60;  // until it has loaded everything
constexpr double kDeathSeconds = 5;     // of a worker that was killed
// A worker is late when it has used its time itself, all but what nobody gets, or when so many
// times as long is over.
constexpr double kShareOfTime = 0.95, kMostTimesAsLong = 12;
// A worker that neither computed nor waited for a core for this share of its time sleeps.
constexpr double kShareAwake = 0.2;
constexpr int kBusyMilliseconds = 50;  // between two looks at a worker beyond its time

// Resident bytes of a process; 0 if it cannot be told.
int64_t ResidentBytes(pid_t pid) {
  std::string path = StrCat("/proc/", static_cast<int64_t>(pid), "/statm");
  FILE* file = fopen(path.c_str(), "re");
  if (file == nullptr) return 0;
  long long total = 0, resident = 0;
  int fields = fscanf(file, "%lld %lld", &total, &resident);
  fclose(file);
  return fields == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

void AppendLittleEndian(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t LittleEndian(const char* bytes, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

ErrorClass ErrorClassFromName(std::string_view name) {
  for (ErrorClass c : {ErrorClass::kRejected, ErrorClass::kUnsupported, ErrorClass::kCompileCrash,
                       ErrorClass::kRunCrash, ErrorClass::kTimeout, ErrorClass::kOutOfMemory,
                       ErrorClass::kSickMachine}) {
    if (Name(c) == name) return c;
  }
  return ErrorClass::kSickMachine;
}

std::string StringField(const nlohmann::json& object, const char* field) {
  auto at = object.find(field);
  return at != object.end() && at->is_string() ? Printable(at->get<std::string>()) : std::string();
}

// "F1125 16:21:57.664492   28886 ir_array.cc:598] Check failed: ...": the letter and the date.
bool IsFatal(std::string_view line) {
  constexpr std::string_view kForm = "F0000 00:00:00.";
  if (line.size() <= kForm.size()) return false;
  return std::equal(kForm.begin(), kForm.end(), line.begin(), [](char form, char seen) {
    return form == '0' ? seen >= '0' && seen <= '9' : form == seen;
  });
}

// In the child: makes itself the worker, or tells through `report` which error number prevented it.
[[noreturn]] void BecomeWorker(char* const* argv, int channel, int error_output, int report,
                               pid_t parent) {
  // A group of its own, so that what the worker starts dies with it; and it dies with whoever
  // started it, also when that is killed in the middle of a request.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  dup2(channel, 0);
  dup2(channel, 1);
  if (error_output >= 0) dup2(error_output, 2);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvp(argv[0], argv);
  const int error = errno;
  const ssize_t ignored = write(report, &error, sizeof(error));
  _exit(ignored > 0 ? 127 : 126);
}

// The total that CpuSecondsOfWorkersElsewhere returns. A forked copy begins with nothing.
struct Elsewhere {
  pid_t of = -1;
  double ended = 0;
  std::set<pid_t> running;
};

Elsewhere& ElsewhereOfThisProcess() {
  static Elsewhere elsewhere;
  if (elsewhere.of != getpid()) elsewhere = {getpid(), 0, {}};
  return elsewhere;
}

std::mutex elsewhere_mutex;

}  // namespace

double CpuSecondsOfWorkersElsewhere() {
  const std::lock_guard<std::mutex> lock(elsewhere_mutex);
  const Elsewhere& elsewhere = ElsewhereOfThisProcess();
  double seconds = elsewhere.ended;
  for (const pid_t pid : elsewhere.running) seconds += CpuSecondsOf(pid);
  return seconds;
}

bool WorkerProcess::running() const { return pid_ > 0 && owner_ == getpid(); }

bool WorkerProcess::ForkFromNursery(int channel) {
  if (nursery_ == nullptr || !nursery_->Start(kNurserySeconds).ok()) return false;
  absl::StatusOr<WorkerNursery::Child> child = nursery_->Fork(channel, stderr_);
  if (!child.ok()) return false;
  pid_ = child->pid;
  lifeline_ = child->lifeline;
  report_ = child->report;
  if (!nursery_->IsOfThisProcess()) {
    const std::lock_guard<std::mutex> lock(elsewhere_mutex);
    ElsewhereOfThisProcess().running.insert(pid_);
  }
  return true;
}

absl::Status WorkerProcess::Spawn() {
  CloseDescriptors();  // those of the process that this one was forked from
  int pair[2], report[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return MakeError(ErrorClass::kSickMachine, StrCat("socketpair: ", strerror(errno)));
  }
  if (pipe2(report, O_CLOEXEC) != 0) {
    const int error = errno;
    close(pair[0]);
    close(pair[1]);
    return MakeError(ErrorClass::kSickMachine, StrCat("pipe: ", strerror(error)));
  }
  stderr_ = memfd_create("worker-stderr", MFD_CLOEXEC);
  stderr_begun_ = stderr_read_ = 0;
  channel_ = pair[0];
  if (ForkFromNursery(pair[1])) {
    for (int end : {pair[1], report[0], report[1]}) close(end);
    owner_ = getpid();
    ++generation_;
    return absl::OkStatus();
  }
  std::vector<char*> argv;
  for (std::string& word : argv_) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) BecomeWorker(argv.data(), pair[1], stderr_, report[1], parent);
  int error = pid_ < 0 ? errno : 0;
  close(pair[1]);
  close(report[1]);
  owner_ = parent;
  // Ends without a byte when the worker's program begins.
  if (error == 0 && read(report[0], &error, sizeof(error)) != sizeof(error)) error = 0;
  close(report[0]);
  if (error != 0) {
    Stop();
    return MakeError(ErrorClass::kSickMachine,
                     StrCat("cannot start '", argv_[0], "': ", strerror(error)));
  }
  setpgid(pid_, pid_);
  ++generation_;
  return absl::OkStatus();
}

absl::Status WorkerProcess::Start(double seconds) {
  if (running()) return absl::OkStatus();
  if (argv_.empty()) return MakeError(ErrorClass::kSickMachine, "no worker command was given");
  ASSAY_RETURN_IF_ERROR(Spawn());
  WorkerMessage hello;
  Patience patience{.deadline = Now() + seconds, .seconds = seconds};
  patience.starting.emplace(pid_);
  const Trouble heard = Receive(patience, hello);
  const std::string trouble = TroubleOfGreeting(heard, hello, patience);
  if (trouble.empty()) {
    greeting_ = std::move(hello.header);
    return absl::OkStatus();
  }
  std::string tail = StderrTail();
  Stop();
  return MakeError(ErrorClass::kSickMachine,
                   StrCat("worker '", argv_[0], "': ", trouble, tail.empty() ? "" : "\n", tail));
}

std::string WorkerProcess::TroubleOfGreeting(Trouble heard, const WorkerMessage& hello,
                                             const Patience& patience) {
  constexpr size_t kShown = 200;
  switch (heard) {
    case Trouble::kNone:
      break;
    case Trouble::kClosed:
      return StrCat("it ", HowItEnded(), " before it greeted");
    case Trouble::kLate:
      return StrCat("it did not greet within ", patience.seconds, " s of its own, beside ",
                    std::round(patience.starting->Waited()), " s that it waited for a processor");
    case Trouble::kInterrupted:
      return "interrupted before it greeted";
    default:
      return StrCat("its greeting is no message of the protocol: ", Garbage());
  }
  if (hello.header.value("protocol", nlohmann::json()) != nlohmann::json(1)) {
    return StrCat("it does not speak protocol 1: ",
                  Printable(hello.header.dump().substr(0, kShown)));
  }
  if (!hello.header.contains("error")) return "";
  const std::string said = StringField(hello.header, "message");
  return said.empty() ? "it greeted with an error and no message" : said;
}

void WorkerProcess::Stop() {
  // One that has ended already may have left its number to another process.
  if (running() && !AwaitEnd(0).has_value()) {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    AwaitEnd(kDeathSeconds);
  }
  CloseDescriptors();
}

void WorkerProcess::CloseDescriptors() {
  for (int* descriptor : {&channel_, &stderr_, &lifeline_, &report_}) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
  }
  pid_ = -1;
}

std::optional<int> WorkerProcess::AwaitEnd(double seconds) {
  const double until = Now() + seconds;
  do {
    int status = 0;
    if (report_ >= 0) {
      pollfd wait{report_, POLLIN, 0};
      if (poll(&wait, 1, 10) > 0) {
        const WorkerNursery::End end = WorkerNursery::ReadEnd(report_);
        const std::lock_guard<std::mutex> lock(elsewhere_mutex);
        Elsewhere& elsewhere = ElsewhereOfThisProcess();
        if (elsewhere.running.erase(pid_) > 0) elsewhere.ended += end.cpu_seconds;
        return end.status;
      }
    } else {
      if (waitpid(pid_, &status, WNOHANG) == pid_) return status;
      if (seconds > 0) usleep(2000);
    }
  } while (Now() < until);
  return std::nullopt;
}

std::string WorkerProcess::StderrTail() const {
  if (stderr_ < 0) return "";
  const off_t size = lseek(stderr_, 0, SEEK_END), words = size - stderr_begun_;
  if (words <= 0) return "";
  std::string tail(std::min<size_t>(words, kStderrTail), '\0');
  ssize_t got = pread(stderr_, tail.data(), tail.size(), size - static_cast<off_t>(tail.size()));
  tail.resize(std::max<ssize_t>(got, 0));
  return Printable(tail);
}

WorkerProcess::Trouble WorkerProcess::Write(std::string_view bytes, double deadline) {
  while (!bytes.empty()) {
    ssize_t sent = send(channel_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(sent);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Trouble::kClosed;
    if (InterruptRequested()) return Trouble::kInterrupted;
    double left = deadline - Now();
    if (left <= 0) return Trouble::kLate;
    pollfd wait{channel_, POLLOUT, 0};
    poll(&wait, 1, static_cast<int>(std::min(left, 0.1) * 1000) + 1);
  }
  return Trouble::kNone;
}

WorkerProcess::Trouble WorkerProcess::ReadExactly(char* into, size_t count, Patience& patience) {
  while (count > 0) {
    ssize_t got = recv(channel_, into, count, MSG_DONTWAIT);
    if (got > 0) {
      into += got;
      count -= got;
      continue;
    }
    if (got == 0) return Trouble::kClosed;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Trouble::kClosed;
    if (const Trouble trouble = Wait(patience); trouble != Trouble::kNone) return trouble;
  }
  return Trouble::kNone;
}

bool WorkerProcess::HasSaidWhyItDies() {
  struct stat file = {};
  if (stderr_ < 0 || fstat(stderr_, &file) != 0 || file.st_size <= stderr_read_) return false;
  std::string text(std::min<size_t>(file.st_size - stderr_read_, kStderrTail), '\0');
  const ssize_t got = pread(stderr_, text.data(), text.size(), stderr_read_);
  const size_t end = std::string_view(text.data(), std::max<ssize_t>(got, 0)).rfind('\n');
  if (end == std::string_view::npos) return false;
  stderr_read_ += static_cast<off_t>(end) + 1;
  text.resize(end);
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  return std::any_of(lines.begin(), lines.end(), IsFatal);
}

WorkerProcess::Trouble WorkerProcess::Wait(Patience& patience) {
  constexpr double kFirstLook = 0.05, kLook = 0.1, kLookAtWords = 0.01;
  if (InterruptRequested()) return Trouble::kInterrupted;
  const double begun = Now(), left = std::max(0.0, patience.deadline - begun);
  if (patience.next_look == 0) patience.next_look = begun + std::min(left / 4, kFirstLook);
  const double until = std::min(patience.next_look, patience.deadline);
  const double wake = patience.backtraces ? until : std::min(until, begun + kLookAtWords);
  pollfd wait{channel_, POLLIN, 0};
  poll(&wait, 1,
       left > 0 ? static_cast<int>(std::max(0.0, wake - begun) * 1000) + 1 : kBusyMilliseconds);
  // One that has closed its end may be gone, and its number be another's.
  if (!patience.backtraces && wait.revents == 0 && HasSaidWhyItDies()) {
    patience.backtraces = true;
    kill(pid_, SIGABRT);  // of which it would die itself
  }
  const double now = Now();
  if (now < until) return Trouble::kNone;
  if (!patience.is_measured) {
    patience.is_measured = true;
    patience.cpu_before = CpuSecondsOf(pid_);
    patience.waited_before = ThreadsWaitedForCpu(pid_);
  }
  patience.next_look = now + kLook;
  const bool is_limited = patience.memory_bytes > 0;
  if (is_limited && ResidentBytes(pid_) > patience.memory_bytes) return Trouble::kTooBig;
  return Lateness(patience);
}

WorkerProcess::Trouble WorkerProcess::Lateness(const Patience& patience) const {
  const double now = Now();
  if (now < patience.deadline) return Trouble::kNone;
  if (patience.starting.has_value()) {
    return patience.starting->Seconds() >= patience.seconds ? Trouble::kLate : Trouble::kNone;
  }
  const double used = CpuSecondsOf(pid_) - patience.cpu_before;
  if (used >= kShareOfTime * patience.seconds) return Trouble::kLate;
  const double waited = ThreadsWaitedForCpu(pid_) - patience.waited_before;
  const bool is_counted = WaitedForCpu(getpid()) > 0;
  if (is_counted && used + waited < kShareAwake * patience.seconds) return Trouble::kLate;
  if (now < patience.deadline + (kMostTimesAsLong - 1) * patience.seconds) return Trouble::kNone;
  // It slept, or it could not get at the processor: then nobody knows how long it takes.
  return waited >= used ? Trouble::kStarved : Trouble::kLate;
}

WorkerProcess::Trouble WorkerProcess::Receive(Patience& patience, WorkerMessage& message) {
  char sizes[12];
  Trouble trouble = ReadExactly(sizes, sizeof(sizes), patience);
  if (trouble != Trouble::kNone) return trouble;
  uint64_t header_size = LittleEndian(sizes, 4), payload_size = LittleEndian(sizes + 4, 8);
  if (header_size > kMaxHeader || payload_size > kMaxPayload) {
    garbage_.assign(sizes, sizeof(sizes));
    return Trouble::kBadSize;
  }
  std::string text(header_size, '\0');
  trouble = ReadExactly(text.data(), text.size(), patience);
  if (trouble != Trouble::kNone) return trouble;
  message.header = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!message.header.is_object()) {
    garbage_ = text;
    return Trouble::kBadHeader;
  }
  // Grown as it arrives: a lying size must not allocate.
  constexpr size_t kChunk = size_t{16} << 20;
  while (message.payload.size() < payload_size) {
    size_t at = message.payload.size();
    message.payload.resize(at + std::min<uint64_t>(kChunk, payload_size - at));
    trouble = ReadExactly(message.payload.data() + at, message.payload.size() - at, patience);
    if (trouble != Trouble::kNone) return trouble;
  }
  return Trouble::kNone;
}

std::string WorkerProcess::HowItEnded() {
  // A process that dies with a GPU in its hands closes this channel some seconds before its end.
  constexpr double kSecondsToDie = 5;
  const std::optional<int> status = AwaitEnd(kSecondsToDie);
  if (!status.has_value()) return "closed its output";
  pid_ = -1;
  return WIFSIGNALED(*status)
             ? StrCat("died of ", SignalName(WTERMSIG(*status)))
             : StrCat("exited with status ", static_cast<int64_t>(WEXITSTATUS(*status)));
}

std::string WorkerProcess::Garbage() const {
  constexpr size_t kShown = 60;
  const bool is_text = std::all_of(garbage_.begin(), garbage_.end(),
                                   [](char c) { return (c >= ' ' && c < 0x7F) || c == '\n'; });
  std::string shown;
  AppendQuoted(shown, std::string_view(garbage_).substr(0, kShown));
  return StrCat("it begins with ", shown,
                is_text ? "; what a worker prints belongs on standard error" : "");
}

// The channel is closed: says how the worker ended.
absl::Status WorkerProcess::Died(ErrorClass if_it_dies) {
  const std::string how = HowItEnded();
  std::string tail = StderrTail();
  Stop();
  return MakeError(if_it_dies, StrCat("the worker ", how, tail.empty() ? "" : "\n", tail));
}

// No answer came: the worker is killed, if it did not end by itself.
absl::Status WorkerProcess::Ended(Trouble trouble, const RequestLimits& limits,
                                  ErrorClass if_it_dies) {
  if (trouble == Trouble::kClosed) return Died(if_it_dies);
  const std::string words = StderrTail(), tail = words.empty() ? "" : "\n" + words;
  Stop();
  switch (trouble) {
    case Trouble::kLate:
      return MakeError(ErrorClass::kTimeout, StrCat("no answer within ", limits.seconds, " s"));
    case Trouble::kStarved:
      return MakeError(ErrorClass::kSickMachine,
                       StrCat("no answer within ", kMostTimesAsLong * limits.seconds,
                              " s, of which the worker had few: the machine is too busy"));
    case Trouble::kTooBig:
      return MakeError(ErrorClass::kOutOfMemory,
                       StrCat("the worker grew beyond ", limits.memory_bytes, " bytes"));
    case Trouble::kInterrupted:
      return MakeError(ErrorClass::kSickMachine, "interrupted before the worker answered");
    case Trouble::kBadSize:
      return MakeError(
          if_it_dies,
          StrCat("the worker answered with a message of impossible size: ", Garbage(), tail));
    default:
      return MakeError(
          if_it_dies,
          StrCat("the worker answered with a header that is no JSON object: ", Garbage(), tail));
  }
}

absl::StatusOr<WorkerMessage> WorkerProcess::Request(const nlohmann::json& header,
                                                     std::string_view payload,
                                                     const RequestLimits& limits,
                                                     ErrorClass if_it_dies) {
  if (!running()) return MakeError(ErrorClass::kSickMachine, "the worker is not running");
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string message;
  AppendLittleEndian(message, text.size(), 4);
  AppendLittleEndian(message, payload.size(), 8);
  message += text;
  Patience patience{.deadline = Now() + limits.seconds,
                    .memory_bytes = limits.memory_bytes,
                    .seconds = limits.seconds,
                    .backtraces = limits.backtraces};
  if (stderr_ >= 0) stderr_begun_ = stderr_read_ = lseek(stderr_, 0, SEEK_END);
  WorkerMessage answer;
  Trouble trouble = Write(message, patience.deadline);
  if (trouble == Trouble::kNone) trouble = Write(payload, patience.deadline);
  if (trouble == Trouble::kNone) trouble = Receive(patience, answer);
  if (trouble != Trouble::kNone) return Ended(trouble, limits, if_it_dies);
  if (!answer.header.contains("error")) return answer;
  return MakeError(ErrorClassFromName(StringField(answer.header, "error")),
                   StringField(answer.header, "message"));
}

}  // namespace assay
