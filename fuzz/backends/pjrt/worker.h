// The process that has a plug-in loaded: a worker of the process protocol (worker_protocol.py says
// what that is), so that a plug-in that dies, hangs or takes all memory is a verdict.
#pragma once

#include <string>

namespace assay::pjrt {

// Serves standard input until it is closed. Returns the exit code of the process.
int Serve(const std::string& plugin, int devices);

// The first argument by which the program assay becomes such a worker; FILE.so and DEVICES follow.
inline constexpr char kWorkerWord[] = "pjrt-worker";

}  // namespace assay::pjrt
