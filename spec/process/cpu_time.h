// Measures the processor time that a process and everything that it started have used.
#pragma once

#include <sys/types.h>

namespace assay {

// User and system seconds of `root`, of its descendants that are alive, and of those that have
// ended and been waited for. The time of a descendant that its parent left behind is not counted.
double CpuSecondsOfTree(pid_t root);

// The same of one process alone, with all its threads; 0 if there is no such process.
double CpuSecondsOf(pid_t pid);

// Seconds that the main thread of a process could have computed and did not, because others had
// the cores; 0 where the kernel does not count them.
double WaitedForCpu(pid_t pid);

}  // namespace assay
