// Measures the processor time that a process and everything that it started have used.
#pragma once

#include <sys/types.h>

namespace assay {

// User and system seconds of `root`, of its descendants that are alive, and of those that have
// ended and been waited for. The time of a descendant that its parent left behind is not counted.
double CpuSecondsOfTree(pid_t root);

// The same of one process alone, with all its threads; 0 if there is no such process.
double CpuSecondsOf(pid_t pid);

}  // namespace assay
