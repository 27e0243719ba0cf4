// The worker of a plug-in as a program of its own, for tests. The stand-in plug-in finds in it what
// it runs programs with: a library with a copy of that would register the messages of HLO twice.
#include <cstdlib>

#include "fuzz/backends/pjrt/worker.h"
#include "reference/interpreter/interpreter.h"

namespace assay {
[[gnu::used]] void (*const kWhatThePluginNeeds)(BackendRegistry&) = RegisterReference;
}  // namespace assay

int main(int argc, char** argv) {
  return argc == 4 ? assay::pjrt::Serve(argv[2], std::atoi(argv[3])) : 2;
}
