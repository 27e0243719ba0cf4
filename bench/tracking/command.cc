// Other programs, run with a limit of time and with all that they say.
#include <fcntl.h>
#include <poll.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "bench/tracking/side.h"
#include "spec/base/clock.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"

namespace assay {
namespace {

[[noreturn]] void Become(const std::vector<std::string>& arguments, int out, int err,
                         bool fixed_places) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
  dup2(out, 1);
  dup2(err, 2);
  if (fixed_places) personality(ADDR_NO_RANDOMIZE);
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

// Reads both pipes until the program closed them. False: the time is up, or the user wants to stop.
bool ReadBoth(int out, int err, double deadline, Ran& ran) {
  std::array<pollfd, 2> waits = {{{out, POLLIN, 0}, {err, POLLIN, 0}}};
  std::array<std::string*, 2> texts = {&ran.out, &ran.err};
  int open_ends = 2;
  while (open_ends > 0) {
    if (Now() > deadline || InterruptRequested()) return false;
    if (poll(waits.data(), waits.size(), 200) < 0 && errno != EINTR) return true;
    for (size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].fd < 0 || waits[i].revents == 0) continue;
      std::array<char, 65536> bytes;
      const ssize_t count = read(waits[i].fd, bytes.data(), bytes.size());
      if (count > 0) {
        texts[i]->append(bytes.data(), static_cast<size_t>(count));
        if (i == 1 && texts[i]->size() > 8192) texts[i]->erase(0, texts[i]->size() - 4096);
      } else {
        waits[i].fd = -1;
        --open_ends;
      }
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<Ran> RunCommand(const std::vector<std::string>& arguments, double seconds,
                               bool fixed_places) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0) return absl::UnavailableError("no pipe is left");
  if (pipe2(err, O_CLOEXEC) != 0) {
    close(out[0]);
    close(out[1]);
    return absl::UnavailableError("no pipe is left");
  }
  const pid_t child = fork();
  if (child == 0) Become(arguments, out[1], err[1], fixed_places);
  close(out[1]);
  close(err[1]);
  Ran ran;
  const bool in_time = child > 0 && ReadBoth(out[0], err[0], Now() + seconds, ran);
  close(out[0]);
  close(err[0]);
  if (child < 0) return absl::UnavailableError("no process can be started");
  if (!in_time) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (InterruptRequested()) return absl::CancelledError("interrupted");
  if (!in_time) {
    return absl::DeadlineExceededError(StrCat(arguments[0], " did not end within ", seconds, " s"));
  }
  ran.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return ran;
}

}  // namespace assay
