// Instructions of one run, by the processor's counters where the kernel lets us, else by valgrind.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bench/tracking/side.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// A counter of user-space instructions of the processes that this thread starts from now on; -1:
// there is none.
int OpenCounter() {
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof(attributes));
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::vector<std::string> CountedWords(const Side& side, const std::string& path, int runs,
                                      uint64_t seed) {
  std::string backend = side.backend;
  // Threads that wait for work spin for a while that the clock decides.
  if (backend.rfind("cpu", 0) == 0 && backend.find("threads=") == std::string::npos) {
    backend += backend.find(':') == std::string::npos ? ":threads=1" : ",threads=1";
  }
  std::vector<std::string> words = {side.program, "bench",      path,         "--backend",
                                    backend,      "--no-roof",  "--unjudged", "--no-db",
                                    "--json",     "--compiles", "1",          "--seed",
                                    StrCat(seed), "--rounds",   StrCat(runs)};
  if (!side.python.empty()) words.insert(words.end(), {"--python", side.python});
  return words;
}

// The number that callgrind tells: "Collected : 123456".
double CollectedOf(const std::string& said) {
  const size_t at = said.find("Collected :");
  return at == std::string::npos ? 0 : std::strtod(said.c_str() + at + 11, nullptr);
}

absl::StatusOr<double> CountOnce(const Side& side, const std::string& path, int runs,
                                 const SampleOptions& options, bool by_perf) {
  std::vector<std::string> words = CountedWords(side, path, runs, options.seed);
  const int counter = by_perf ? OpenCounter() : -1;
  if (!by_perf) {
    words.insert(words.begin(), {"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"});
  }
  const absl::StatusOr<Ran> ran = RunCommand(words, options.timeout, true);
  int64_t count = 0;
  if (counter >= 0) {
    if (read(counter, &count, sizeof(count)) != sizeof(count)) count = 0;
    close(counter);
  }
  ASSAY_RETURN_IF_ERROR(ran.status());
  const double counted = by_perf ? static_cast<double>(count) : CollectedOf(ran->err);
  if (ran->status != 0 || counted <= 0) {
    return absl::UnavailableError(StrCat(side.label, ": instructions cannot be counted (status ",
                                         ran->status, "): ", ran->err.substr(0, 300)));
  }
  return counted;
}

}  // namespace

absl::StatusOr<Instructions> CountInstructions(const Side& side, const std::string& path,
                                               const SampleOptions& options) {
  const int probe = OpenCounter();
  int64_t seen = 0;
  const bool by_perf = probe >= 0 && read(probe, &seen, sizeof(seen)) == sizeof(seen) && seen > 0;
  if (probe >= 0) close(probe);
  // Each round runs the program twice: once as itself and once beside itself.
  constexpr int kFew = 1, kMany = 4;
  ASSAY_ASSIGN_OR_RETURN(const double few, CountOnce(side, path, kFew, options, by_perf));
  ASSAY_ASSIGN_OR_RETURN(const double many, CountOnce(side, path, kMany, options, by_perf));
  Instructions result;
  result.per_run = (many - few) / (2 * (kMany - kFew));
  result.how = by_perf ? "perf events" : "valgrind";
  return result;
}

}  // namespace assay
