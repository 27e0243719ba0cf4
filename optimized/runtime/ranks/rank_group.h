// Devices as processes: each device of a run is a process forked from this one, a rank. This
// process keeps the meetings and carries the operands of collectives from rank to rank; a thread of
// it speaks for each rank. A rank that dies, or is late, ends the run on all others, and nothing is
// left behind: ranks are killed when the run ends before its time, and die with this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "optimized/runtime/rendezvous.h"

namespace assay {

// The devices of a run are threads or processes.
enum class RankKind : uint8_t {
  kThreads,    // of this process
  kProcesses,  // forked from it
  kMpi,        // started by mpirun, of which this is one
};
// By its word: "threads", "processes", "mpi".
std::optional<RankKind> FindRankKind(std::string_view word);
inline constexpr std::string_view kRankKinds = "threads, processes or mpi";

struct RankGroup {
  std::vector<const Meeting*> meetings;
  std::vector<std::string> names;  // of the devices
  std::string backend;             // begins the messages
  std::chrono::steady_clock::time_point deadline;
  RankKind kind = RankKind::kProcesses;
};

// The work of one rank, in its process, with one thread; collectives go through `rendezvous`.
// Returns what the caller shall know of it.
using RankWork = std::function<absl::StatusOr<std::string>(int64_t rank, Rendezvous& rendezvous)>;

// The answers of all ranks, in every process that takes part. The caller should have no other
// thread that holds a lock while ranks begin: in a rank there is but one thread.
absl::StatusOr<std::vector<std::string>> RunRanks(RankGroup group, const RankWork& work);

}  // namespace assay
