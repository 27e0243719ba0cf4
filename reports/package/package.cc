// Writes and reads the three files.
#include "reports/package/package.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "nlohmann/json.hpp"
#include "reports/package/sha256.h"
#include "spec/backend/outcome.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int64_t kFormat = 2;
constexpr char kManifest[] = "manifest.json", kResults[] = "results.jsonl",
               kWaivers[] = "waivers.json";
struct TextMember {
  const char* name;
  std::string RunRow::* text;
};
constexpr TextMember kRunTexts[] = {
    {"backend", &RunRow::backend}, {"backend_version", &RunRow::backend_version},
    {"command", &RunRow::command}, {"machine", &RunRow::machine},
    {"cpu", &RunRow::cpu},         {"assay", &RunRow::version},
    {"commit", &RunRow::commit},
};
struct SelectionMember {
  const char* name;
  std::string SuiteSelection::* text;
};
constexpr SelectionMember kSelectionTexts[] = {
    {"suite", &SuiteSelection::suite},    {"tier", &SuiteSelection::tier},
    {"filter", &SuiteSelection::filter},  {"shard", &SuiteSelection::shard},
    {"level", &SuiteSelection::level},    {"profile", &SuiteSelection::profile},
    {"suite_hash", &SuiteSelection::hash}};

absl::Status WriteText(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.flush();
  if (file) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("cannot write ", path));
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(StrCat(path, ": a package has this file"));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

absl::Status Changed(const std::string& path, std::string_view what) {
  return absl::InvalidArgumentError(StrCat(path, ": ", what, "; the package was changed"));
}

std::string Dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json CountsOf(const std::vector<CaseRow>& cases) {
  std::map<std::string, int64_t> counts;
  for (const CaseRow& row : cases) ++counts[row.status];
  return counts;
}

absl::StatusOr<std::vector<CaseRow>> ReadCases(const std::string& path, const std::string& text) {
  std::vector<CaseRow> cases;
  std::set<std::string> names;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    const bool is_good = json.is_object() && json.size() == 3 && json.contains("name") &&
                         json["name"].is_string() && json.contains("status") &&
                         json["status"].is_string() && json.contains("detail") &&
                         json["detail"].is_string();
    if (!is_good) return Changed(path, StrCat("line ", cases.size() + 1, " is no result"));
    CaseRow row;
    row.name = json["name"].get<std::string>();
    row.status = json["status"].get<std::string>();
    row.detail = json["detail"].get<std::string>();
    if (!IsCaseResult(row.status)) return Changed(path, StrCat("there is no result ", row.status));
    if (!names.insert(row.name).second) return Changed(path, StrCat(row.name, " is there twice"));
    cases.push_back(std::move(row));
  }
  return cases;
}

absl::Status CheckFolder(const std::string& folder) {
  std::error_code error;
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    found.insert(entry.path().filename().string());
  if (error) return absl::NotFoundError(StrCat(folder, ": ", error.message()));
  for (const std::string& name : found)
    if (name != kManifest && name != kResults && name != kWaivers)
      return Changed(StrCat(folder, "/", name), "a package has no such file");
  return absl::OkStatus();
}

// Members of the manifest, which has these and no others.
absl::Status ReadManifest(const std::string& path, nlohmann::json json, Package& package) {
  const auto take = [&](const char* name, auto is_right) -> absl::StatusOr<nlohmann::json> {
    const auto at = json.find(name);
    if (at == json.end() || !is_right(*at))
      return Changed(path, StrCat("'", name, "' is not there or of another kind"));
    nlohmann::json value = *at;
    json.erase(at);
    return value;
  };
  const auto is_text = [](const nlohmann::json& value) { return value.is_string(); };
  const auto is_number = [](const nlohmann::json& value) { return value.is_number(); };
  for (const TextMember& member : kRunTexts) {
    ASSAY_ASSIGN_OR_RETURN(const nlohmann::json value, take(member.name, is_text));
    package.run.*member.text = value.get<std::string>();
  }
  for (const SelectionMember& member : kSelectionTexts) {
    ASSAY_ASSIGN_OR_RETURN(const nlohmann::json value, take(member.name, is_text));
    package.selection.*member.text = value.get<std::string>();
  }
  ASSAY_ASSIGN_OR_RETURN(const nlohmann::json cores, take("cores", is_number));
  ASSAY_ASSIGN_OR_RETURN(const nlohmann::json started, take("started_ms", is_number));
  ASSAY_ASSIGN_OR_RETURN(const nlohmann::json seconds, take("seconds", is_number));
  package.run.cores = cores.get<int64_t>();
  package.run.started_ms = started.get<int64_t>();
  package.run.seconds = seconds.get<double>();
  package.run.verb = "conform";
  if (json.empty()) return absl::OkStatus();
  return Changed(path, StrCat("there is no member '", json.begin().key(), "'"));
}

}  // namespace

bool IsCaseResult(std::string_view status) {
  const absl::Span<const std::string_view> words = StatusWords();
  return status == "waived" || std::find(words.begin(), words.end(), status) != words.end();
}

absl::Status WritePackage(const std::string& folder, const RunRow& run,
                          const SuiteSelection& selection, const std::string& waivers) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_empty(folder, error) || error) {
    return absl::InvalidArgumentError(
        StrCat(folder, ": a package goes into a folder that is empty"));
  }
  const std::set<std::string> known(selection.names.begin(), selection.names.end());
  std::string results;
  for (const CaseRow& row : run.cases) {
    if (!known.contains(row.name) || !IsCaseResult(row.status))
      return absl::InternalError(StrCat(row.name, " ", row.status, ": no case of the suite"));
    results += Dump({{"name", row.name}, {"status", row.status}, {"detail", row.detail}}) + "\n";
  }
  nlohmann::json manifest = {{"format", kFormat},
                             {"cores", run.cores},
                             {"started_ms", run.started_ms},
                             {"seconds", run.seconds},
                             {"counts", CountsOf(run.cases)},
                             {"results_sha256", Sha256(results)},
                             {"waivers_sha256", waivers.empty() ? "" : Sha256(waivers)}};
  for (const TextMember& member : kRunTexts) manifest[member.name] = run.*member.text;
  for (const SelectionMember& member : kSelectionTexts)
    manifest[member.name] = selection.*member.text;
  // Text that is not UTF-8 reads back as what was hashed.
  manifest = nlohmann::json::parse(Dump(manifest));
  manifest["seal"] = Sha256(Dump(manifest));
  ASSAY_RETURN_IF_ERROR(WriteText(StrCat(folder, "/", kResults), results));
  if (!waivers.empty()) ASSAY_RETURN_IF_ERROR(WriteText(StrCat(folder, "/", kWaivers), waivers));
  return WriteText(StrCat(folder, "/", kManifest), manifest.dump(2) + "\n");
}

absl::StatusOr<Package> ReadPackage(const std::string& folder) {
  ASSAY_RETURN_IF_ERROR(CheckFolder(folder));
  const std::string path = StrCat(folder, "/", kManifest);
  const std::string results_path = StrCat(folder, "/", kResults);
  ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadText(path));
  nlohmann::json manifest = nlohmann::json::parse(text, nullptr, false);
  if (!manifest.is_object()) return Changed(path, "not a JSON object");
  const auto value = [&manifest](const char* name) {
    const auto at = manifest.find(name);
    return at == manifest.end() ? nlohmann::json() : *at;
  };
  if (value("format") != kFormat) return Changed(path, StrCat("not of format ", kFormat));
  const nlohmann::json seal = value("seal");
  manifest.erase("seal");
  if (seal != Sha256(Dump(manifest))) return Changed(path, "the seal is not that of its members");
  // A parser forgives members that are there twice, which nobody wrote.
  nlohmann::json whole = manifest;
  whole["seal"] = seal;
  if (whole.dump(2) + "\n" != text) return Changed(path, "it is not as it was written");
  Package package;
  ASSAY_ASSIGN_OR_RETURN(const std::string results, ReadText(results_path));
  if (value("results_sha256") != Sha256(results))
    return Changed(results_path, "its hash is not that of the manifest");
  ASSAY_ASSIGN_OR_RETURN(package.run.cases, ReadCases(results_path, results));
  if (value("counts") != CountsOf(package.run.cases))
    return Changed(path, "the counts are not those of the results");
  const nlohmann::json waivers = value("waivers_sha256");
  const std::string waivers_path = StrCat(folder, "/", kWaivers);
  if (waivers == "") {
    if (std::filesystem::exists(waivers_path)) return Changed(waivers_path, "no waivers were used");
  } else {
    ASSAY_ASSIGN_OR_RETURN(package.waivers, ReadText(waivers_path));
    if (waivers != Sha256(package.waivers))
      return Changed(waivers_path, "its hash is not that of the manifest");
  }
  for (const char* name : {"format", "counts", "results_sha256", "waivers_sha256"})
    manifest.erase(name);
  ASSAY_RETURN_IF_ERROR(ReadManifest(path, std::move(manifest), package));
  return package;
}

absl::Status CheckAgainstSuite(const Package& package, const SuiteSelection& selection) {
  if (package.selection.hash != selection.hash) {
    return absl::InvalidArgumentError(StrCat("the suite has other programs than this version's (",
                                             package.selection.hash, ", ", selection.hash,
                                             "): verify with version ", package.run.version));
  }
  std::set<std::string> missing(selection.names.begin(), selection.names.end());
  for (const CaseRow& row : package.run.cases) {
    if (missing.erase(row.name) == 0)
      return absl::InvalidArgumentError(StrCat(row.name, ": the suite has no such case"));
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat(missing.size(), " cases have no result, the first is ", *missing.begin()));
}

}  // namespace assay
