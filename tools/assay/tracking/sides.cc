// Who is compared with whom, from the words of the command line.
#include "tools/assay/tracking/sides.h"

#include "bench/workload.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/peers.h"

namespace assay {

absl::StatusOr<Side> OneSide(const std::string& name, const TrackingSetting& setting) {
  const Side usual{name, ThisProgram(), setting.backend, setting.python};
  if (name.rfind("xla@", 0) != 0) return SideNamed(name, usual, setting.db + ".frozen");
  ASSAY_ASSIGN_OR_RETURN(const std::vector<InstalledPeer> peers, PeersIn(name.substr(4)));
  if (peers.size() != 1) {
    return absl::NotFoundError(
        StrCat(name, " is not one installed release; assay peer add ", name, " makes it"));
  }
  Side side = usual;
  side.backend = "xla";
  side.python = peers[0].python;
  return side;
}

absl::StatusOr<TwoSides> SidesOf(const TrackingSetting& setting) {
  if (setting.paths.size() < 3) {
    return absl::InvalidArgumentError(
        "two sides and at least one module or folder are needed: assay bench --ab A B PATH");
  }
  TwoSides sides;
  ASSAY_ASSIGN_OR_RETURN(sides.a, OneSide(setting.paths[0], setting));
  ASSAY_ASSIGN_OR_RETURN(sides.b, OneSide(setting.paths[1], setting));
  for (size_t i = 2; i < setting.paths.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<std::string> found, FindWorkloads(setting.paths[i]));
    sides.workloads.insert(sides.workloads.end(), found.begin(), found.end());
  }
  return sides;
}

ChangeCause ExplainSides(const Side& a, const Side& b, const std::string& path,
                         const SampleOptions& sampling) {
  return Explain(MadeBy(a, path, sampling.timeout), MadeBy(b, path, sampling.timeout));
}

}  // namespace assay
