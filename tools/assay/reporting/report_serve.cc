// The server is that of Python's library: it is kept well, and this program opens no port itself.
#include "tools/assay/reporting/report_serve.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>

#include "spec/base/clock.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

extern char** environ;

namespace assay {
namespace {

// A child process that is ended with its owner.
class Server {
 public:
  ~Server() {
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  absl::Status Start(const ServeRequest& request) {
    const std::string port = StrCat(request.port);
    std::vector<std::string> words = {
        request.python, "-m",        "http.server", port,
        "--bind",       "127.0.0.1", "--directory", request.site.folder};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int error =
        posix_spawnp(&pid_, words[0].c_str(), &quiet, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&quiet);
    if (error == 0) return absl::OkStatus();
    pid_ = -1;
    return absl::NotFoundError(StrCat("cannot start ", request.python, ": ",
                                      std::generic_category().message(error),
                                      "; name a Python 3 with --python"));
  }
  bool IsRunning() {
    if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return pid_ > 0;
  }

 private:
  pid_t pid_ = -1;
};

// When the store or a journal was written last.
std::filesystem::file_time_type Newest(const ServeRequest& request) {
  std::filesystem::file_time_type newest{};
  std::vector<std::string> paths = {request.db, request.db + "-wal"};
  for (const std::string& folder : request.site.campaigns)
    paths.push_back(folder + "/results.jsonl");
  for (const std::string& path : paths) {
    std::error_code error;
    const auto time = std::filesystem::last_write_time(path, error);
    if (!error) newest = std::max(newest, time);
  }
  return newest;
}

}  // namespace

absl::StatusOr<int> ReportServe(const ServeRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::Open(request.db));
  auto written = Newest(request);
  ASSAY_RETURN_IF_ERROR(WriteSiteOf(*store, request.site).status());
  const InterruptGuard guard;
  Server server;
  ASSAY_RETURN_IF_ERROR(server.Start(request));
  Print(StrCat("http://127.0.0.1:", request.port, "/ (Ctrl-C ends)"));
  double next = Now() + request.every_seconds;
  while (!InterruptRequested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (!server.IsRunning()) {
      return absl::UnavailableError(
          StrCat("the server ended: is port ", request.port, " taken? name another with --port"));
    }
    if (Now() < next) continue;
    next = Now() + request.every_seconds;
    const auto newest = Newest(request);
    if (newest == written) continue;
    written = newest;
    ASSAY_RETURN_IF_ERROR(WriteSiteOf(*store, request.site).status());
  }
  return kExitOk;
}

}  // namespace assay
