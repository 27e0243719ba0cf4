// Devices as processes that mpirun started, all with one command: `mpirun -n 8 assay run ...` gives
// eight processes that do the same up to a run of compiled code, and there share its devices: the
// process of rank r runs devices r, r + n, r + 2n, ... Rank 0 keeps the meetings. Ranks find each
// other by what mpirun tells each in its environment (OpenMPI's names, or those of PMI, which MPICH
// and Slurm have); the library of MPI is not needed. All must be on one machine: they speak by
// local sockets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "optimized/runtime/ranks/rank_group.h"

namespace assay {

// The place of this process among those that mpirun started.
struct MpiPlace {
  int rank = 0, size = 1;
  std::string job;  // the same in all of them, and in no others of this machine
};
// Nothing where it was started otherwise.
std::optional<MpiPlace> FindMpiPlace();

// The answers of all ranks, in every process; one error in every process that still runs. A rank
// that dies or is late ends the run on all others.
absl::StatusOr<std::vector<std::string>> RunMpiRanks(const RankGroup& group, const RankWork& work);

}  // namespace assay
