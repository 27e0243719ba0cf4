// The flag that signal handlers set: they reach nothing but what is global.
#include "spec/process/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <ctime>
#include <initializer_list>

namespace assay {
namespace {

volatile sig_atomic_t interrupted = 0;
bool guard_ends_evaluations = false;
volatile sig_atomic_t first_second = 0;  // on a clock that never goes back
struct sigaction old_int, old_term;

sig_atomic_t Seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<sig_atomic_t>(now.tv_sec);
}

void OnInterrupt(int signal, siginfo_t* info, void*) {
  const sig_atomic_t now = Seconds();
  if (interrupted == 0) {
    first_second = now;
    interrupted = 1;
    return;
  }
  // timeout(1) sends the signal to its child, and to the group that its child is in. A terminal's
  // comes from the kernel.
  constexpr sig_atomic_t kSecondsOfOneRequest = 1;
  if (info->si_code == SI_USER && now - first_second <= kSecondsOfOneRequest) return;
  sigaction(signal, signal == SIGINT ? &old_int : &old_term, nullptr);
  raise(signal);
}

}  // namespace

InterruptGuard::InterruptGuard(bool ends_evaluations) {
  interrupted = 0;
  guard_ends_evaluations = ends_evaluations;
  struct sigaction action{};
  action.sa_sigaction = OnInterrupt;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGINT, &action, &old_int);
  sigaction(SIGTERM, &action, &old_term);
}

InterruptGuard::~InterruptGuard() {
  guard_ends_evaluations = false;
  sigaction(SIGINT, &old_int, nullptr);
  sigaction(SIGTERM, &old_term, nullptr);
}

bool InterruptRequested() { return interrupted != 0; }

bool EvaluationsShouldEnd() { return guard_ends_evaluations && InterruptRequested(); }

namespace {

volatile sig_atomic_t exit_status = 1;

void OnExit(int) {
  constexpr char kText[] = "error: interrupted\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof(kText) - 1);
  _exit(exit_status);
}

}  // namespace

void ExitOnInterrupt(int status) {
  exit_status = status;
  struct sigaction action{};
  action.sa_handler = OnExit;
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction old{};
    if (sigaction(signal, nullptr, &old) != 0 || old.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace assay
