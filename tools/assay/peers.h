// Releases of compilers that this user has: environments of Python with a pinned jaxlib, each in a
// folder of the user's cache.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fuzz/backends/releases.h"

namespace assay {

struct InstalledPeer {
  std::string version;  // of jaxlib
  std::string python;   // its interpreter
};

// $ASSAY_PEERS, or assay/peers in $XDG_CACHE_HOME, or in ~/.cache.
std::string PeersFolder();
// All peers that are there, oldest release first.
std::vector<InstalledPeer> ListPeers();
// The peers of a range "0.4.13..0.10.2" (either end may be missing), of one version, or for "all"
// every one. Errors: it is no range.
absl::StatusOr<std::vector<InstalledPeer>> PeersIn(const std::string& range);
// The versions between two releases, both included, oldest first: those that pip could install
// here, and those that are installed. Errors: an end is no version, or none of them is to be had.
absl::StatusOr<std::vector<std::string>> ReleasesBetween(const std::string& oldest,
                                                         const std::string& newest);
// Adds "xla@0.4.31": with `python` an interpreter that has that jaxlib, otherwise a new environment
// with what pip finds. Errors say what failed; nothing is left then.
absl::Status AddPeer(const std::string& name, const std::string& python);
// Turns peers into backends "xla:python=...".
std::vector<Release> ReleasesOf(const std::vector<InstalledPeer>& peers);

}  // namespace assay
