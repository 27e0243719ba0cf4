// Reads the embedded files about peers, each once.
#include "fuzz/backends/peer.h"

#include <algorithm>

#include "fuzz/embedded.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;

Peer ReadPeer(std::string_view text) {
  Peer peer;
  const Json json = Json::parse(text);
  const Json& flags = json.at("flags");
  peer.pass_flag = flags.at("passes");
  peer.no_passes = flags.at("no_passes").get<Flags>();
  peer.no_optimization = flags.at("no_optimization").get<Flags>();
  peer.users = flags.at("users").get<Flags>();
  peer.cheap = flags.at("cheap").get<Flags>();
  const Json& dump = flags.at("dump");
  peer.dump_folder = dump.at("folder");
  peer.dump = dump.at("with").get<Flags>();
  peer.dump_newer = dump.at("newer").get<Flags>();
  peer.refusals = json.at("refusals").get<std::vector<std::string>>();
  peer.alarms = json.at("alarms").get<std::vector<std::string>>();
  for (const auto& [key, list] : {std::pair("telling", &peer.telling), {"former", &peer.former}}) {
    for (const Json& flag : flags.at(key)) {
      for (const auto& [name, value] : flag.items())
        list->push_back({name, value.get<std::string>(), name == peer.pass_flag});
    }
  }
  peer.passes_of_real_arithmetic =
      json.at("passes_of_real_arithmetic").get<std::set<std::string>>();
  peer.causes = json.at("causes");
  peer.same = json.at("same");
  peer.words = json.at("words").get<std::map<std::string, std::set<std::string>>>();
  peer.twins = json.at("twins").get<std::map<std::string, std::string>>();
  return peer;
}

std::map<std::string, Peer> ReadPeers() {
  constexpr std::string_view kExtension = ".peer.json";
  std::map<std::string, Peer> peers;
  for (const Embedded& file : EmbeddedFiles()) {
    const size_t at = file.name.rfind(kExtension);
    if (at == file.name.npos || at + kExtension.size() != file.name.size()) continue;
    peers.emplace(file.name.substr(0, at), ReadPeer(file.content));
  }
  return peers;
}

const std::map<std::string, Peer>& Peers() {
  static const std::map<std::string, Peer> peers = ReadPeers();
  return peers;
}

}  // namespace

void PeerFlag::AddTo(Flags& flags) const {
  std::string& flag = flags[name];
  flag = lists_passes && !flag.empty() ? StrCat(flag, ",", value) : value;
}

std::set<std::string> Peer::Expand(const std::string& word) const {
  if (word.rfind('@', 0) != 0) return {word};
  const auto found = words.find(word.substr(1));
  return found == words.end() ? std::set<std::string>() : found->second;
}

std::string BackendFamily(const std::string& name) { return name.substr(0, name.find(':')); }

const Peer& PeerOfFamily(const std::string& family) {
  static const Peer nothing;
  const auto found = Peers().find(family);
  return found == Peers().end() ? nothing : found->second;
}

const Peer& PeerOf(const BackendDescription& backend) {
  const Peer& peer = PeerOfFamily(BackendFamily(backend.name));
  const bool is_another_xla = backend.dumps_passes && peer.pass_flag.empty();
  return is_another_xla ? PeerOfFamily("xla") : peer;
}

bool IsAlarmOfPeers(std::string_view line) {
  return std::any_of(Peers().begin(), Peers().end(), [line](const auto& named) {
    const std::vector<std::string>& alarms = named.second.alarms;
    return std::any_of(alarms.begin(), alarms.end(),
                       [line](const std::string& words) { return line.find(words) != line.npos; });
  });
}

}  // namespace assay
