// Cases in compact form.
#include "reports/site/dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "reports/case_name.h"
#include "reports/latest.h"
#include "reports/run_summary.h"
#include "reports/site/site.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Well below the limit of a file, so that the last case and the table of strings fit, too.
constexpr size_t kPartBytes = kMostSiteBytes / 2;
constexpr size_t kMostDetail = 4000;  // bytes of a reason; a crash may have written a megabyte
constexpr int kBins = 20;             // of the share of a bound that was used

int StatusNumber(const std::string& status) {
  const std::vector<std::string>& all = SiteStatuses();
  const auto at = std::find(all.begin(), all.end(), status);
  return static_cast<int>(at == all.end() ? all.size() - 1 : at - all.begin());
}

uint64_t Mixed(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash * 0x100000001b3u;
}

struct SiteFamily {
  std::map<std::string, std::map<int, int64_t>> columns;  // column -> status -> cases
  std::array<int64_t, kBins + 1> bound_used = {};         // the last: beyond the bound
  int64_t elements = 0, forced = 0;
  double worst = 0;
  std::string worst_case;
  uint64_t digest = 0xcbf29ce484222325u;  // of names and verdicts, to find what differs
  std::vector<int64_t> parts;
  std::vector<const CaseRow*> cases;
};

// Strings of a part, each once; the empty one is the first.
class StringTable {
 public:
  StringTable() { Of(""); }
  int64_t Of(std::string_view text) {
    const auto [at, is_new] = places_.emplace(std::string(text), size_);
    if (is_new) {
      if (size_++ > 0) json_ += ',';
      AppendJsonText(json_, text);
    }
    return at->second;
  }
  size_t bytes() const { return json_.size(); }
  const std::string& json() const { return json_; }

 private:
  std::unordered_map<std::string, int64_t> places_;
  int64_t size_ = 0;
  std::string json_;
};

// The families of a run beyond this number stand together, so that a summary fits into its file.
constexpr size_t kMostFamilies = 4000;
constexpr std::string_view kOthers = "(others)";

std::string_view RestIn(const std::string& family, std::string_view name) {
  return family == kOthers ? name : RestOfCase(name);
}

class PartWriter {
 public:
  PartWriter(std::string id, DataFiles& files) : id_(std::move(id)), files_(files) {}

  absl::Status Add(const std::string& name, SiteFamily& family, bool is_matrix) {
    BeginFamily(name, family);
    for (const CaseRow* row : family.cases) {
      if (families_.size() + strings_.bytes() > kPartBytes) {
        EndFamily();
        ASSAY_RETURN_IF_ERROR(Flush());
        BeginFamily(name, family);
      }
      if (!is_first_) families_ += ',';
      is_first_ = false;
      AppendCase(*row, RestIn(name, row->name), is_matrix);
    }
    EndFamily();
    return absl::OkStatus();
  }

  absl::Status Flush() {
    if (families_.empty()) return absl::OkStatus();
    const std::string json = StrCat("{\"s\":[", strings_.json(), "],\"f\":{", families_, "}}");
    families_.clear();
    strings_ = StringTable();
    return files_.Give(StrCat(id_, "-", next_++), json);
  }

 private:
  void BeginFamily(const std::string& name, SiteFamily& family) {
    if (!families_.empty()) families_ += ',';
    AppendJsonText(families_, name);
    families_ += ":[";
    is_first_ = true;
    family.parts.push_back(next_);
  }
  void EndFamily() { families_ += ']'; }

  // [name, status, column, detail, elements, failed, inconclusive, bound used, compile, run,
  // source, inputs, forced]; texts but the name are places in the table; zeros at the end are left
  // out.
  void AppendCase(const CaseRow& row, std::string_view name, bool is_matrix);

  std::string id_;
  DataFiles& files_;
  int64_t next_ = 0;
  std::string families_;
  bool is_first_ = true;
  StringTable strings_;
};

// "dot__dot-general/bf16/small/ordinary/loop": bf16.
std::string ColumnOf(const CaseRow& row, bool is_matrix) {
  if (!is_matrix) return row.subject;
  const std::string_view rest = RestOfCase(row.name);
  const size_t first = rest.find('/');
  if (first == std::string_view::npos) return row.subject;
  return std::string(rest.substr(first + 1, rest.find('/', first + 1) - first - 1));
}

void PartWriter::AppendCase(const CaseRow& row, std::string_view name, bool is_matrix) {
  families_ += '[';
  AppendJsonText(families_, name);
  std::vector<std::string> cells = {StrCat(StatusNumber(row.status)),
                                    StrCat(strings_.Of(ColumnOf(row, is_matrix)))};
  const std::string_view detail = row.detail;
  cells.push_back(StrCat(strings_.Of(row.status == "passed" ? "" : detail.substr(0, kMostDetail))));
  for (const int64_t count : {row.elements, row.failed, row.inconclusive})
    cells.push_back(StrCat(count));
  for (const double value : {row.bound_used, row.compile_seconds, row.run_seconds}) {
    cells.push_back(value == 0 || !std::isfinite(value) ? "0" : absl::StrFormat("%.4g", value));
  }
  for (const std::string& text : {row.source, row.inputs})
    cells.push_back(text.empty() ? "0" : StrCat(strings_.Of(text)));
  cells.push_back(StrCat(row.forced));
  while (!cells.empty() && cells.back() == "0") cells.pop_back();
  for (const std::string& cell : cells) StrAppend(&families_, ",", cell);
  families_ += ']';
}

std::map<std::string, SiteFamily> FamiliesOf(const RunRow& run, bool is_matrix) {
  std::map<std::string, SiteFamily> families;
  for (const CaseRow& row : run.cases) {
    std::string name(FamilyOfCase(row.name));
    if (families.size() >= kMostFamilies && families.count(name) == 0) name = kOthers;
    SiteFamily& family = families[name];
    family.cases.push_back(&row);
    ++family.columns[ColumnOf(row, is_matrix)][StatusNumber(row.status)];
    if (row.subject == "stored") continue;
    family.elements += row.elements;
    family.forced += row.forced;
    if (row.elements == row.forced || row.elements == 0) continue;
    const double used = std::isfinite(row.bound_used) ? row.bound_used : 2;
    const double bin = std::clamp(used * kBins, 0.0, static_cast<double>(kBins));
    ++family.bound_used[static_cast<size_t>(used > 1 ? kBins : std::min(bin, kBins - 1.0))];
    if (used <= family.worst) continue;
    family.worst = used;
    family.worst_case = RestIn(name, row.name);
  }
  for (auto& [name, family] : families) {
    std::sort(family.cases.begin(), family.cases.end(), [](const CaseRow* x, const CaseRow* y) {
      return std::tie(x->name, x->subject, x->inputs) < std::tie(y->name, y->subject, y->inputs);
    });
    for (const CaseRow* row : family.cases) {
      family.digest = Mixed(Mixed(Mixed(family.digest, row->name), row->subject), row->status);
    }
  }
  return families;
}

std::string FamilyJson(const std::string& name, const SiteFamily& family) {
  nlohmann::json json = {{"n", name},
                         {"d", absl::StrFormat("%016x", family.digest)},
                         {"p", family.parts},
                         {"e", family.elements},
                         {"o", family.forced}};
  for (const auto& [column, statuses] : family.columns) {
    nlohmann::json& counts = json["c"][column];
    for (const auto& [status, count] : statuses) counts[StrCat(status)] = count;
  }
  if (family.worst > 0) {
    json["h"] = family.bound_used;
    json["w"] = family.worst;
    json["wc"] = family.worst_case;
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

const std::vector<std::string>& SiteStatuses() {
  static const std::vector<std::string> kAll = {
      "passed", "failed",     "crashed",    "timed out",        "rejected",    "inconclusive",
      "waived", "unreadable", "not judged", "nothing to judge", "unsupported", "other"};
  return kAll;
}

absl::Status WriteDataset(const std::string& id, const RunRow& run, DataFiles& files) {
  const bool is_matrix = Word(SummaryOf(run), "suite") == "matrix";
  std::map<std::string, SiteFamily> families = FamiliesOf(run, is_matrix);
  PartWriter parts(id, files);
  for (auto& [name, family] : families) {
    ASSAY_RETURN_IF_ERROR(parts.Add(name, family, is_matrix));
  }
  ASSAY_RETURN_IF_ERROR(parts.Flush());
  std::string json = StrCat("{\"matrix\":", is_matrix ? "true" : "false", ",\"families\":[");
  bool is_first = true;
  for (const auto& [name, family] : families) {
    if (!is_first) json += ',';
    is_first = false;
    json += FamilyJson(name, family);
  }
  return files.Give(id, json + "]}");
}

}  // namespace assay
