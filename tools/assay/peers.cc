// Finds, makes and opens environments of other releases.
#include "tools/assay/peers.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "bench/tracking/side.h"
#include "fuzz/backends/process_backend.h"
#include "fuzz/peers/refusals.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/environment.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using Version = std::vector<int64_t>;

constexpr char kPrefix[] = "xla@";

std::optional<Version> VersionOf(const std::string& text) {
  Version version;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, '.'))) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(part, &number) || number < 0) return std::nullopt;
    version.push_back(number);
  }
  return version;
}

std::string Quoted(const std::string& word) {
  return StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

// True if the command ends with 0; what it prints goes to standard error.
bool Runs(const std::string& command) { return std::system(command.c_str()) == 0; }

// In an environment of the user's own, the file with the path of its interpreter.
constexpr char kPythonFile[] = "python";

std::optional<std::string> PythonIn(const fs::path& folder) {
  absl::StatusOr<std::string> noted = ReadFile((folder / kPythonFile).string(), 4096);
  if (noted.ok()) return std::string(absl::StripAsciiWhitespace(*noted));
  std::error_code error;
  const fs::path made = folder / "bin" / "python";
  if (fs::exists(made, error)) return made.string();
  return std::nullopt;
}

}  // namespace

std::string PeersFolder() {
  if (const char* named = std::getenv("ASSAY_PEERS")) return named;
  return (fs::path(UserCacheFolder()) / "peers").string();
}

std::vector<InstalledPeer> ListPeers() {
  std::vector<InstalledPeer> peers;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(PeersFolder(), error)) {
    const std::string name = entry.path().filename().string();
    if (!absl::StartsWith(name, kPrefix)) continue;
    const std::string version = name.substr(sizeof(kPrefix) - 1);
    const std::optional<std::string> python = PythonIn(entry.path());
    if (VersionOf(version).has_value() && python.has_value()) peers.push_back({version, *python});
  }
  std::sort(peers.begin(), peers.end(), [](const InstalledPeer& a, const InstalledPeer& b) {
    return *VersionOf(a.version) < *VersionOf(b.version);
  });
  return peers;
}

absl::StatusOr<std::vector<InstalledPeer>> PeersIn(const std::string& range) {
  std::vector<InstalledPeer> peers = ListPeers();
  if (range == "all") return peers;
  const size_t dots = range.find("..");
  const std::string oldest = range.substr(0, dots);
  const std::string newest = dots == std::string::npos ? oldest : range.substr(dots + 2);
  for (const std::string& end : {oldest, newest}) {
    if (!end.empty() && !VersionOf(end).has_value()) {
      return absl::InvalidArgumentError(
          StrCat(range, " is no range of releases like 0.4.13..0.10.2"));
    }
  }
  std::vector<InstalledPeer> kept;
  for (InstalledPeer& peer : peers) {
    const Version version = *VersionOf(peer.version);
    const bool is_in = (oldest.empty() || *VersionOf(oldest) <= version) &&
                       (newest.empty() || version <= *VersionOf(newest));
    if (is_in) kept.push_back(std::move(peer));
  }
  return kept;
}

namespace {

// Asks "pip index versions"; empty where there is no pip or no network.
std::vector<std::string> VersionsOfPip() {
  const absl::StatusOr<Ran> ran = RunCommand(
      {"python3", "-m", "pip", "index", "versions", "--disable-pip-version-check", "jaxlib"}, 120);
  constexpr char kMark[] = "Available versions: ";
  const size_t at = ran.ok() ? ran->out.find(kMark) : std::string::npos;
  if (at == std::string::npos) return {};
  const std::string line =
      ran->out.substr(at + sizeof(kMark) - 1, ran->out.find('\n', at) - at - sizeof(kMark) + 1);
  return absl::StrSplit(line, ", ", absl::SkipWhitespace());
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReleasesBetween(const std::string& oldest,
                                                         const std::string& newest) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<InstalledPeer> installed,
                         PeersIn(StrCat(oldest, "..", newest)));
  const std::optional<Version> from = VersionOf(oldest), to = VersionOf(newest);
  if (!from.has_value() || !to.has_value()) {
    return absl::InvalidArgumentError(
        StrCat("xla@", oldest, "..", newest, " is no range of releases like xla@0.4.31..0.10.2"));
  }
  std::map<Version, std::string> versions = {{*from, oldest}, {*to, newest}};
  for (const InstalledPeer& peer : installed) versions[*VersionOf(peer.version)] = peer.version;
  for (const std::string& word : VersionsOfPip()) {
    const std::optional<Version> version = VersionOf(word);
    if (version.has_value() && *from <= *version && *version <= *to) versions[*version] = word;
  }
  std::vector<std::string> names;
  for (const auto& [version, name] : versions) names.push_back(name);
  return names;
}

namespace {

// Old releases ask for any numpy, and do not work with those that came after them.
std::string PinsOf(const std::string& version) {
  const Version works_with_numpy_2 = *VersionOf("0.4.26");
  return *VersionOf(version) < works_with_numpy_2 ? " 'numpy<2' 'scipy<1.13' 'ml_dtypes<0.5'" : "";
}

}  // namespace

absl::Status AddPeer(const std::string& name, const std::string& python) {
  const bool is_named = absl::StartsWith(name, kPrefix);
  const std::string version = is_named ? name.substr(sizeof(kPrefix) - 1) : "";
  if (!VersionOf(version).has_value()) {
    return absl::InvalidArgumentError(StrCat(name, ": a peer is named like xla@0.4.31"));
  }
  const fs::path folder = fs::path(PeersFolder()) / name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return absl::UnavailableError(StrCat("cannot make ", folder.string()));
  const std::string used = python.empty() ? (folder / "bin" / "python").string() : python;
  const bool is_made =
      !python.empty() || (Runs(StrCat("python3 -m venv ", Quoted(folder.string()), " >&2")) &&
                          Runs(StrCat(Quoted(used), " -m pip install --quiet jax==", version,
                                      " jaxlib==", version, PinsOf(version), " >&2")));
  // Packages that were built for other releases of numpy fail when jax is imported or first used.
  const std::string test = StrCat("import jax, jaxlib; jax.numpy.zeros(1); ",
                                  "assert jaxlib.__version__ == \"", version, "\"");
  if (is_made && Runs(StrCat(Quoted(used), " -c ", Quoted(test), " >&2"))) {
    return python.empty() ? absl::OkStatus()
                          : WriteFile((folder / kPythonFile).string(), python + "\n");
  }
  fs::remove_all(folder, error);
  return absl::UnavailableError(
      python.empty() ? StrCat("jaxlib ", version,
                              " could not be installed; without a network name an interpreter that "
                              "has it by --python")
                     : StrCat(python, " does not have jaxlib ", version));
}

std::vector<Release> ReleasesOf(const std::vector<InstalledPeer>& peers) {
  std::vector<Release> releases;
  for (const InstalledPeer& peer : peers)
    releases.push_back(ReleaseOfXla(peer.version, peer.python));
  return releases;
}

}  // namespace assay
