// One pipe for each child, on which it writes a byte per answer.
#include "fuzz/reduce/forks.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "spec/process/interrupt.h"
#include "spec/process/isolate.h"

namespace assay {
namespace {

struct Child {
  pid_t pid = -1;
  int answers = -1;  // where it writes
  int64_t next = 0;  // the question that it answers next
};

[[noreturn]] void AnswerAndExit(int to, int64_t first, int64_t step, int64_t count,
                                const std::function<bool(int64_t)>& question) {
  ConfineThisProcess(0);
  for (int64_t i = first; i < count && !InterruptRequested(); i += step) {
    const char answer = question(i) ? 'y' : 'n';
    if (write(to, &answer, 1) != 1) break;
  }
  _exit(0);
}

// Reads what there is; false when the child has closed its end.
bool Take(Child& child, int64_t step, std::vector<std::optional<bool>>& answers) {
  char bytes[256];
  const ssize_t n = read(child.answers, bytes, sizeof(bytes));
  if (n < 0) return errno == EINTR;
  for (ssize_t k = 0; k < n && child.next < static_cast<int64_t>(answers.size()); ++k) {
    answers[static_cast<size_t>(child.next)] = bytes[k] == 'y';
    child.next += step;
  }
  if (n > 0) return true;
  if (child.next < static_cast<int64_t>(answers.size())) {
    answers[static_cast<size_t>(child.next)] = false;
  }
  return false;
}

// One is true, and none before it is open.
bool IsEnough(const std::vector<std::optional<bool>>& answers) {
  for (const std::optional<bool>& answer : answers) {
    if (!answer.has_value()) return false;
    if (*answer) return true;
  }
  return true;
}

}  // namespace

std::vector<std::optional<bool>> AskInForks(int64_t count, int jobs,
                                            const std::function<bool(int64_t)>& question) {
  std::vector<std::optional<bool>> answers(static_cast<size_t>(count));
  const int64_t step = std::min<int64_t>(std::max(jobs, 1), count);
  std::vector<Child> children;
  for (int64_t j = 0; j < step; ++j) {
    int ends[2];
    if (pipe(ends) != 0) break;
    const pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      for (const Child& other : children) close(other.answers);
      AnswerAndExit(ends[1], j, step, count, question);
    }
    close(ends[1]);
    if (pid > 0) {
      children.push_back({pid, ends[0], j});
    } else {
      close(ends[0]);
    }
  }
  size_t open = children.size();
  while (open > 0 && !IsEnough(answers) && !InterruptRequested()) {
    std::vector<pollfd> waiting;
    for (const Child& child : children) waiting.push_back({child.answers, POLLIN, 0});
    constexpr int kMilliseconds = 200;  // then it is asked for interrupts
    if (poll(waiting.data(), waiting.size(), kMilliseconds) <= 0) continue;
    for (size_t i = 0; i < children.size(); ++i) {
      const bool is_ready = waiting[i].revents != 0 && children[i].answers >= 0;
      if (!is_ready || Take(children[i], step, answers)) continue;
      close(children[i].answers);
      children[i].answers = -1;  // poll passes over it
      --open;
    }
  }
  for (Child& child : children) {
    if (child.answers >= 0) {
      kill(child.pid, SIGKILL);
      close(child.answers);
    }
    while (waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return answers;
}

}  // namespace assay
