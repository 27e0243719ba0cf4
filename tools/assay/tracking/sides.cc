// Who is compared with whom, from the words of the command line.
#include "tools/assay/tracking/sides.h"

#include <cstdio>

#include "bench/workload.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/peers.h"

namespace assay {

namespace {

// Standard output may be read by a program.
void Tell(const std::string& text) { std::fputs(StrCat(text, "\n").c_str(), stderr); }

}  // namespace

CommitBuilds BuildsBeside(const TrackingOptions& options, const TrackingSetting& setting) {
  return {setting.db + ".frozen", options.build, Tell};
}

namespace {

absl::StatusOr<InstalledPeer> PeerNamed(const std::string& name) {
  for (bool is_installed : {false, true}) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<InstalledPeer> peers, PeersIn(name.substr(4)));
    if (peers.size() == 1) return std::move(peers[0]);
    if (peers.size() > 1 || is_installed) break;
    Tell(StrCat("installing ", name));
    ASSAY_RETURN_IF_ERROR(AddPeer(name, ""));
  }
  return absl::NotFoundError(StrCat(name, " is not one release, as xla@0.4.31 is"));
}

}  // namespace

absl::StatusOr<Side> OneSide(const std::string& name, const TrackingOptions& options,
                             const TrackingSetting& setting) {
  const Side usual{name, ThisProgram(), setting.backend, setting.python};
  if (name.rfind("xla@", 0) != 0) return SideNamed(name, usual, BuildsBeside(options, setting));
  ASSAY_ASSIGN_OR_RETURN(const InstalledPeer peer, PeerNamed(name));
  Side side = usual;
  side.backend = "xla";
  side.python = peer.python;
  return side;
}

absl::StatusOr<TwoSides> SidesOf(const TrackingOptions& options, const TrackingSetting& setting) {
  if (setting.paths.size() < 3) {
    return absl::InvalidArgumentError(
        "two sides and at least one module or folder are needed: assay bench --ab A B PATH");
  }
  TwoSides sides;
  ASSAY_ASSIGN_OR_RETURN(sides.a, OneSide(setting.paths[0], options, setting));
  ASSAY_ASSIGN_OR_RETURN(sides.b, OneSide(setting.paths[1], options, setting));
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
