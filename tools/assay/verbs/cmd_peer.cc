// assay peer: releases of compilers that are there for blame by versions.
#include <memory>

#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/json_line.h"
#include "tools/assay/peers.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string what, name, python;
  bool json = false;
};

absl::StatusOr<int> Run(const Options& options) {
  if (options.what == "add") {
    ASSAY_RETURN_IF_ERROR(AddPeer(options.name, options.python));
    Print(StrCat(options.name, " is there"));
    return kExitOk;
  }
  const std::vector<InstalledPeer> peers = ListPeers();
  for (const InstalledPeer& peer : peers) {
    if (options.json) {
      PrintJson({{"version", peer.version}, {"python", peer.python}});
    } else {
      Print(StrCat("xla@", peer.version, "  ", peer.python));
    }
  }
  if (peers.empty() && !options.json) {
    Print(StrCat("no peers in ", PeersFolder(), "; assay peer add xla@0.4.31 makes one"));
  }
  return kExitOk;
}

}  // namespace

void DeclarePeer(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("WHAT", options->what, "add or list").OneOf({"add", "list"}).Required();
  line.Add("NAME", options->name, "The release to add, as xla@0.4.31");
  line.Add("--python", options->python,
           "An interpreter that has it already (default: a new environment, by pip)");
  line.AddFlag("--json", options->json, "A JSON object per peer");
  action = [options] { return Run(*options); };
}

}  // namespace assay
