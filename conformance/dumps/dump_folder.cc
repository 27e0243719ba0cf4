// Names of dump files: MODULE.before_optimizations.txt,
// MODULE.NNNN.PIPELINE.after_PASS.before_NEXT.txt and MODULE.PLATFORM_after_optimizations.txt,
// where MODULE is module_NUMBER.NAME and maybe the device.
#include "conformance/dumps/dump_folder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "conformance/inputs/dump_names.h"
#include "spec/base/file.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirst = ".before_optimizations", kLast = "after_optimizations";
constexpr std::string_view kAfter = ".after_", kBefore = ".before_";
// Forms of a state, the ones that are preferred first.
constexpr std::string_view kEndings[] = {".txt", ".hlo", ".hlo.pb", ".hlo.pb.gz"};

// A snapshot, the module that it belongs to, and its place among that module's snapshots.
struct Named {
  std::string module;
  int64_t place = 0;
  size_t ending = 0;  // which of kEndings
  DumpSnapshot snapshot;
};

std::optional<Named> NameOf(const fs::path& path) {
  std::string name = path.filename().string();
  size_t ending = 0;
  while (ending < std::size(kEndings) && !name.ends_with(kEndings[ending])) ++ending;
  if (ending == std::size(kEndings) || !name.starts_with("module_")) return std::nullopt;
  name.resize(name.size() - kEndings[ending].size());
  DumpSnapshot snapshot{path.string(), "", ""};
  if (name.ends_with(kFirst)) {
    name.resize(name.size() - kFirst.size());
    return Named{WithoutDevice(name), -1, ending, std::move(snapshot)};
  }
  if (name.ends_with(kLast)) {
    const size_t dot = name.rfind('.');
    snapshot.pass = "optimizations";
    return Named{WithoutDevice(name.substr(0, dot)), int64_t{1} << 40, ending, std::move(snapshot)};
  }
  const size_t number = FindStateNumber(name);
  if (number == std::string::npos) return std::nullopt;
  const size_t pipeline = name.find('.', number + 1) + 1;
  // Some passes write states of their own: "copy-insertion.after_adding_copies",
  // "tiling.before_rewriting".
  size_t after = name.find(kAfter, pipeline);
  const bool is_before = after == std::string::npos;
  if (is_before) after = name.find(kBefore, pipeline);
  if (after == std::string::npos) return std::nullopt;
  snapshot.pipeline = name.substr(pipeline, after - pipeline);
  snapshot.pass = is_before ? name.substr(after + 1) : name.substr(after + kAfter.size());
  const size_t before = snapshot.pass.find(kBefore);
  if (before != std::string::npos) snapshot.pass.resize(before);
  return Named{WithoutDevice(name.substr(0, number)), std::stoll(name.substr(number + 1)), ending,
               std::move(snapshot)};
}

}  // namespace

std::string TitleOf(const DumpSnapshot& snapshot) {
  if (snapshot.pass.empty()) return "before optimizations";
  if (snapshot.pipeline.empty()) return StrCat("after ", snapshot.pass);
  const bool is_before = snapshot.pass.starts_with(kBefore.substr(1));
  return StrCat(snapshot.pipeline, is_before ? " " : " after ", snapshot.pass);
}

absl::StatusOr<std::vector<DumpedModule>> FindDumps(const std::string& folder) {
  std::error_code error;
  std::map<std::string, std::vector<Named>> found;
  std::vector<std::string> others;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (std::optional<Named> named = NameOf(at->path())) {
      found[named->module].push_back(*std::move(named));
    } else {
      others.push_back(at->path().filename().string());
    }
  }
  if (error) return FileError(folder, "cannot be listed", error.value());
  std::map<std::string, DumpedModule> modules;
  for (auto& [name, files] : found) {
    std::sort(files.begin(), files.end(), [](const Named& a, const Named& b) {
      return std::tuple(a.place, a.ending, a.snapshot.path) <
             std::tuple(b.place, b.ending, b.snapshot.path);
    });
    DumpedModule dumped;
    dumped.name = name;
    int64_t place = -2;
    for (Named& file : files) {
      // This file holds the same state in another form.
      if (file.place == place) continue;
      place = file.place;
      dumped.snapshots.push_back(std::move(file.snapshot));
    }
    if (dumped.snapshots.size() > 1) modules.emplace(name, std::move(dumped));
  }
  std::sort(others.begin(), others.end());
  std::set<std::string> names;
  for (const auto& [name, dumped] : modules) names.insert(name);
  for (const std::string& name : others) {
    const std::string owner = IsRunName(name) ? OwnerOfRun(name, names) : "";
    if (!owner.empty()) modules[owner].recorded.push_back((fs::path(folder) / name).string());
  }
  std::vector<DumpedModule> result;
  for (auto& [name, dumped] : modules) result.push_back(std::move(dumped));
  if (result.empty()) {
    return absl::NotFoundError(
        StrCat(folder,
               ": holds no two states of a module; XLA writes them with "
               "--xla_dump_to=FOLDER --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"));
  }
  return result;
}

}  // namespace assay
