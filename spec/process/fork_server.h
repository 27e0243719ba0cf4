// A fork server: a template process that has loaded and warmed everything once, and forks a worker
// from that state in a few milliseconds whenever it is asked. The campaign itself stays small and
// single-threaded and never runs what is tested.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay {

class ForkServer {
 public:
  // Runs once in the template. An error ends the template and is what Start returns.
  using Warm = std::function<absl::Status()>;
  // Runs in each worker; the worker ends when it returns. `fd` is connected to the campaign.
  using Serve = std::function<void(int fd)>;

  struct Worker {
    pid_t pid = -1;
    int fd = -1;  // to the worker; the caller closes it
  };
  struct Exit {
    pid_t pid = -1;
    int status = 0;           // of waitpid
    std::string stderr_tail;  // what it wrote last
  };

  // An interrupt (interrupt.h) ends the wait for `warm`, with an error.
  static absl::StatusOr<std::unique_ptr<ForkServer>> Start(const Warm& warm, const Serve& serve);
  ~ForkServer();  // ends the template and, with it, every worker
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  // Blocks until the worker exists.
  absl::StatusOr<Worker> Spawn();
  // Becomes readable when a worker has ended or the template has died.
  int fd() const { return control_; }
  // Takes what arrived on fd(); an error when the template is gone.
  absl::Status Poll();
  std::optional<Exit> NextExit();

 private:
  ForkServer(int control, pid_t pid) : control_(control), pid_(pid) {}

  int control_;
  pid_t pid_;
  std::vector<Exit> exits_;  // oldest first
};

}  // namespace assay
