// Runs a function in a forked child under limits of time and memory, so that a crash, a hang or a
// memory blow-up of what is tested is an answer and not the end of the caller.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace assay {

struct IsolateLimits {
  double seconds = 10;       // wall clock
  int64_t memory_bytes = 0;  // of address space beyond what the caller has already; 0: no limit
  // The child is killed, as if its time was over, once InterruptRequested (interrupt.h).
  bool ends_on_interrupt = false;
};

struct Isolated {
  enum class End : uint8_t {
    kReturned,     // `bytes` is what the function returned
    kExited,       // the child left by exit(code) before it returned
    kSignalled,    // it died of `signal`
    kTimeout,      // killed after limits.seconds
    kOutOfMemory,  // an allocation beyond limits.memory_bytes
    kSickMachine,  // fork or pipe failed: no verdict about the function
  };
  End end = End::kSickMachine;
  std::string bytes;
  int code = 0;    // of kExited
  int signal = 0;  // of kSignalled
  std::string
      stderr_tail;  // last 4 KiB that the child wrote to stderr: assertion and abort messages
  double seconds = 0;

  bool ok() const { return end == End::kReturned; }
  // "died of signal 6 (Aborted): <first line of stderr>", for reports.
  std::string Describe() const;
};

// The caller should be single-threaded: only the forking thread exists in the child. The child
// shares nothing that it writes with the caller except files. Children of the child die with it
// only if they ask for that themselves.
Isolated RunIsolated(const std::function<std::string()>& function, const IsolateLimits& limits);

// Called in a process that is about to run something untrusted: no core files, the memory limit
// above, death with the parent, and exit with kOutOfMemoryExit instead of std::bad_alloc.
inline constexpr int kOutOfMemoryExit = 86;
void ConfineThisProcess(int64_t memory_bytes);

// The end of what was written to the file `fd`: 4 KiB at most.
std::string ReadTail(int fd);

// Describes the end of a process that gave no answer, from its wait status, the text it left on
// stderr and whether the caller killed it for its time.
Isolated EndOfProcess(int wait_status, std::string stderr_tail, bool timed_out);

// "SIGSEGV"-like short name of a signal number.
std::string SignalName(int signal);

}  // namespace assay
