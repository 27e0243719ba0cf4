// A process that loads what its workers need once and forks one from that state whenever it is
// asked: a worker that has to import a large library starts in the time of a fork.
//
// The program is started with the further argument "--fork-server" and a socket as its standard
// input. It sends the word "ready" when it has loaded everything. Each message that it receives
// carries four descriptors: the channel and the standard error of a new worker, a pipe whose other
// end is closed when the worker shall die, and a pipe that receives the worker's process id as an
// i32 and, when it has ended, its wait status as an i32 and the processor time that it used, in
// seconds, as an f64.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay {

class WorkerNursery {
 public:
  struct Child {
    pid_t pid = -1;
    int lifeline = -1;  // the worker is killed when its last copy is closed; the caller's
    int report = -1;    // gives an End; the caller's
  };
  struct End {
    int32_t status = 0;
    double cpu_seconds = 0;
  };

  // Nothing is started yet.
  explicit WorkerNursery(std::vector<std::string> argv);
  ~WorkerNursery();
  WorkerNursery(const WorkerNursery&) = delete;
  WorkerNursery& operator=(const WorkerNursery&) = delete;

  // Starts the process without waiting for it; its forked copies will use the same one. What goes
  // wrong is what Start returns later.
  void Launch();
  // Launches the process if that has not been done, and waits until it is ready. An error, of class
  // sick machine, is remembered: later calls return it without another try. Forked copies of this
  // object use the same process.
  absl::Status Start(double seconds);
  // A new worker that talks over `channel` and complains on `errors`; both stay the caller's.
  absl::StatusOr<Child> Fork(int channel, int errors);
  // Reads the report of a worker, once there is something to read. A nursery that died took its
  // workers along.
  static End ReadEnd(int report);
  // True if this process has started it, and not one that it was forked from.
  bool IsOfThisProcess() const;

 private:
  absl::Status Spawn();
  absl::Status AwaitReady(double seconds) const;

  std::vector<std::string> argv_;
  pid_t pid_ = -1;
  pid_t owner_ = -1;  // who started it: a forked copy of this object must not end it
  int control_ = -1;
  bool launched_ = false, awaited_ = false;
  absl::Status started_;
};

}  // namespace assay
