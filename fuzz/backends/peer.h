// The knowledge about another compiler: its flags, what its passes do, causes of its bugs and what
// makes two findings probably the same. All of it is data, a file NAME.peer.json for each family of
// backends in fuzz/backends/peers: another compiler needs another file. The rows of `causes` are
// told in fuzz/triage/causes.h, those of `same` in fuzz/campaign/doubles.h.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"

#include "spec/backend/backend.h"

namespace assay {

using Flags = std::map<std::string, std::string>;

struct PeerFlag {
  std::string name, value;
  bool lists_passes = false;  // several values are one list

  // Besides what is set there already.
  void AddTo(Flags& flags) const;
};

struct Peer {
  std::string pass_flag;             // names the passes to leave out
  Flags no_passes, no_optimization;  // leave out all of them; what code generators optimize
  // Under one of these a failure is often gone: the most telling first.
  std::vector<PeerFlag> telling;
  // These bring back how it worked before a default became another: a program that is fast under
  // one of them became slow by that.
  std::vector<PeerFlag> former;
  // JAX sends these with every compilation, where the compiler's own defaults are others: they are
  // what users get. (CompileOptions of jaxlib 0.10.2.)
  Flags users;
  // Under these it compiles in a fifth of the time, and shows most of its bugs.
  Flags cheap;
  // With `dump_folder` naming a folder and these it writes there its module after each pass;
  // releases that refuse those of `dump_newer` leave arrays of more than ten numbers out.
  std::string dump_folder;
  Flags dump, dump_newer;
  // Words by which it refuses a program that it calls wrong, or not found, instead.
  std::vector<std::string> refusals;
  // Words of lines that it writes on the way and does not die of.
  std::vector<std::string> alarms;
  // Passes that do arithmetic as on real numbers: they may change the order and number of
  // roundings.
  std::set<std::string> passes_of_real_arithmetic;
  nlohmann::json causes;  // rows (fuzz/triage/causes.h)
  nlohmann::json same;    // rows (fuzz/campaign/doubles.h), with the words and twins that they use
  std::map<std::string, std::set<std::string>> words;
  std::map<std::string, std::string> twins;

  // The flag that leaves out a pass.
  PeerFlag Without(const std::string& pass) const { return {pass_flag, pass, true}; }
  // The list of that name where the word is "@NAME", else the word.
  std::set<std::string> Expand(const std::string& word) const;
};

// "cpu:threads=1" -> "cpu"
std::string BackendFamily(const std::string& name);

// The peer of the backend's family; where there is none, XLA for what has its flags, and else an
// empty one.
const Peer& PeerOf(const BackendDescription& backend);
const Peer& PeerOfFamily(const std::string& family);

// True of a line that a peer, whichever it is, writes on the way and does not die of.
bool IsAlarmOfPeers(std::string_view line);

}  // namespace assay
