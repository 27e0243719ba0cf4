// Measures the processor time that a process and everything that it started have used.
#pragma once

#include <sys/types.h>

namespace assay {

// User and system seconds of `root`, of its descendants that are alive, and of those that have
// ended and been waited for. The time of a descendant that its parent left behind is not counted.
double CpuSecondsOfTree(pid_t root);

// The CPU time of one process alone, with all its threads; 0 if there is no such process.
double CpuSecondsOf(pid_t pid);

// Seconds that the main thread of a process could have computed and did not, because others had
// the cores; 0 where the kernel does not count them.
double WaitedForCpu(pid_t pid);

// The time that the process's live threads have waited for a CPU, together.
double ThreadsWaitedForCpu(pid_t pid);

// Measures the time that a process has had: on a machine where others have the cores it passes more
// slowly than the clock on the wall, and it never stands still.
class TimeOfProcess {
 public:
  explicit TimeOfProcess(pid_t pid);
  // Since this object was made, without what it waited for a core.
  double Seconds() const;
  double Waited() const { return WaitedForCpu(pid_) - waited_before_; }

 private:
  pid_t pid_;
  double begun_, waited_before_;
};

}  // namespace assay
