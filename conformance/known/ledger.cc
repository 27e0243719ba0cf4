// Reads and writes the ledger of causes.
#include "conformance/known/ledger.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
// Fields stay in the order in which a person reads them.
using Json = nlohmann::ordered_json;

constexpr int64_t kMostBytes = int64_t{1} << 20;
constexpr std::string_view kSeverities[kSeverityCount] = {"wrong value", "memory", "lost NaN",
                                                          "abort",       "error",  "parser"};
constexpr std::string_view kStatuses[kCauseStatusCount] = {"live", "fixed", "refuted", "licensed",
                                                           "not rerun"};

struct TextField {
  const char* name;
  std::string Cause::* member;
};
constexpr TextField kTexts[] = {{"title", &Cause::title},       {"component", &Cause::component},
                                {"sentence", &Cause::sentence}, {"reason", &Cause::reason},
                                {"found_by", &Cause::found_by}, {"profile", &Cause::profile}};

struct MeasuredField {
  const char* name;
  std::string MeasuredCause::* member;
};
constexpr MeasuredField kMeasured[] = {{"kind", &MeasuredCause::kind},
                                       {"seen_on", &MeasuredCause::seen_on},
                                       {"bucket", &MeasuredCause::bucket},
                                       {"pass", &MeasuredCause::pass},
                                       {"verdict", &MeasuredCause::verdict},
                                       {"expected", &MeasuredCause::expected},
                                       {"got", &MeasuredCause::got},
                                       {"message", &MeasuredCause::message},
                                       {"numpy", &MeasuredCause::numpy},
                                       {"first_bad", &MeasuredCause::first_bad},
                                       {"last_asked", &MeasuredCause::last_asked},
                                       {"releases", &MeasuredCause::releases}};

struct ListField {
  const char* name;
  std::vector<std::string> MeasuredCause::* member;
};
constexpr ListField kLists[] = {{"inputs", &MeasuredCause::inputs},
                                {"fails", &MeasuredCause::fails},
                                {"passes", &MeasuredCause::passes}};

absl::Status Wrong(const std::string& path, std::string_view what) {
  return absl::InvalidArgumentError(StrCat(path, ": ", what));
}

absl::StatusOr<std::string> TextOf(const Json& value, const std::string& name) {
  if (value.is_string()) return value.get<std::string>();
  return absl::InvalidArgumentError(StrCat(name, " is no text; write \"", name, "\": \"...\""));
}

// The place of a word in a closed list.
absl::StatusOr<int> WordIn(absl::Span<const std::string_view> words, const Json& value,
                           const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, TextOf(value, name));
  const auto at = std::find(words.begin(), words.end(), text);
  if (at != words.end()) return static_cast<int>(at - words.begin());
  std::string known;
  for (const std::string_view word : words) StrAppend(&known, known.empty() ? "" : ", ", word);
  return absl::InvalidArgumentError(StrCat(name, " is \"", text, "\"; write one of: ", known));
}

absl::Status ReadMeasured(const Json& json, MeasuredCause& measured) {
  if (!json.is_object()) return absl::InvalidArgumentError("measured is no object");
  for (const auto& [key, value] : json.items()) {
    bool is_known = false;
    for (const MeasuredField& field : kMeasured) {
      if (key != field.name) continue;
      ASSAY_ASSIGN_OR_RETURN(measured.*field.member, TextOf(value, key));
      is_known = true;
    }
    for (const ListField& field : kLists) {
      if (key != field.name) continue;
      if (!value.is_array()) return absl::InvalidArgumentError(StrCat(key, " is no list of texts"));
      for (const Json& one : value) {
        ASSAY_ASSIGN_OR_RETURN(std::string text, TextOf(one, key));
        (measured.*field.member).push_back(std::move(text));
      }
      is_known = true;
    }
    if (key == "flags") {
      if (!value.is_object()) return absl::InvalidArgumentError("flags is no object of texts");
      for (const auto& [flag, state] : value.items()) {
        ASSAY_ASSIGN_OR_RETURN(measured.flags[flag], TextOf(state, flag));
      }
      is_known = true;
    }
    if (key == "has_jax") {
      if (!value.is_boolean())
        return absl::InvalidArgumentError("has_jax is neither true nor false");
      measured.has_jax = value.get<bool>();
      is_known = true;
    }
    if (!is_known) {
      return absl::InvalidArgumentError(StrCat("measured has an unknown field ", key,
                                               "; assay known --refresh writes them anew"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadField(const std::string& key, const Json& value, Cause& cause) {
  for (const TextField& field : kTexts) {
    if (key != field.name) continue;
    ASSAY_ASSIGN_OR_RETURN(cause.*field.member, TextOf(value, key));
    return absl::OkStatus();
  }
  if (key == "severity") {
    ASSAY_ASSIGN_OR_RETURN(const int word, WordIn(kSeverities, value, key));
    cause.severity = static_cast<Severity>(word);
    return absl::OkStatus();
  }
  if (key == "status") {
    ASSAY_ASSIGN_OR_RETURN(const int word, WordIn(kStatuses, value, key));
    cause.status = static_cast<CauseStatus>(word);
    return absl::OkStatus();
  }
  if (key == "measured") return ReadMeasured(value, cause.measured);
  return absl::InvalidArgumentError(
      StrCat("unknown field ", key,
             "; known: title, severity, component, sentence, status, reason, "
             "found_by, profile, measured"));
}

// Says what is missing for a reader to believe the cause.
absl::Status CheckWhole(const Cause& cause) {
  for (const TextField& field : {kTexts[0], kTexts[1], kTexts[2], kTexts[4]}) {
    if ((cause.*field.member).empty()) {
      return absl::InvalidArgumentError(StrCat("it has no ", field.name, "; add one"));
    }
  }
  if (cause.status != CauseStatus::kLive && cause.reason.empty()) {
    return absl::InvalidArgumentError(
        StrCat("its status is \"", Name(cause.status), "\" without a reason; add one"));
  }
  const auto is_there = [&](const char* file) {
    std::error_code error;
    return fs::exists(fs::path(cause.folder) / file, error);
  };
  // A folder that was never measured has no script yet, and one that is not run again needs none.
  const bool is_run = cause.status == CauseStatus::kLive || cause.status == CauseStatus::kFixed;
  const bool has_script = is_run && !cause.measured.kind.empty();
  for (const char* file : {"program.hlo", "repro.py"}) {
    if (is_there(file) || (!has_script && std::string_view(file) == "repro.py")) continue;
    return absl::InvalidArgumentError(
        StrCat(file, " is missing beside it; assay known --add makes a whole folder"));
  }
  if (cause.measured.has_jax && !is_there("jax.py")) {
    return absl::InvalidArgumentError(
        "it has_jax, and jax.py is missing beside it; assay known --refresh writes it");
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view Name(Severity severity) { return kSeverities[static_cast<int>(severity)]; }
std::string_view Name(CauseStatus status) { return kStatuses[static_cast<int>(status)]; }

CaseFile Cause::Case() const {
  const fs::path root(folder);
  const std::string arrays = (root / "program.npz").string();
  std::error_code error;
  return {name, (root / "program.hlo").string(), fs::exists(arrays, error) ? arrays : ""};
}

absl::StatusOr<Cause> ReadCause(const std::string& folder) {
  const std::string path = (fs::path(folder) / "cause.json").string();
  ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Wrong(path, "it is no JSON object; see docs/json.md, known");
  Cause cause;
  cause.folder = folder;
  cause.name = fs::path(folder).filename().string();
  for (const auto& [key, value] : json.items()) {
    const absl::Status read = ReadField(key, value, cause);
    if (!read.ok()) return Wrong(path, ToStd(read.message()));
  }
  const absl::Status whole = CheckWhole(cause);
  if (!whole.ok()) return Wrong(path, ToStd(whole.message()));
  return cause;
}

absl::StatusOr<std::vector<Cause>> ReadLedger(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) names.push_back(entry.path().string());
  }
  if (names.empty()) {
    return absl::NotFoundError(StrCat(folder,
                                      " has no folder of a cause; assay known --add FILE.hlo "
                                      "makes one, and conformance/known/xla-cpu has many"));
  }
  std::sort(names.begin(), names.end());
  std::vector<Cause> causes;
  for (const std::string& name : names) {
    ASSAY_ASSIGN_OR_RETURN(Cause cause, ReadCause(name));
    causes.push_back(std::move(cause));
  }
  return causes;
}

namespace {

Json ToJson(const Cause& cause) {
  Json json;
  json["title"] = cause.title;
  json["severity"] = Name(cause.severity);
  json["component"] = cause.component;
  json["sentence"] = cause.sentence;
  json["status"] = Name(cause.status);
  if (!cause.reason.empty()) json["reason"] = cause.reason;
  json["found_by"] = cause.found_by;
  json["profile"] = cause.profile;
  Json& measured = json["measured"];
  for (const MeasuredField& field : kMeasured) {
    const std::string& text = cause.measured.*field.member;
    if (!text.empty()) measured[field.name] = text;
  }
  for (const ListField& field : kLists) {
    if (!(cause.measured.*field.member).empty())
      measured[field.name] = cause.measured.*field.member;
  }
  for (const auto& [flag, state] : cause.measured.flags) measured["flags"][flag] = state;
  if (cause.measured.has_jax) measured["has_jax"] = true;
  return json;
}

// A cell of a Markdown table holds one line, in which '|' would end it.
std::string Cell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}});
}

// "0.4.13 to 0.10.2": the first release that was seen to fail, and the last that was asked.
std::string ReleasesCell(const Cause& cause) {
  if (cause.measured.first_bad.empty()) return cause.measured.seen_on;
  return StrCat(cause.measured.first_bad, " to ", cause.measured.last_asked);
}

std::string StatusCell(const Cause& cause) {
  return cause.reason.empty() ? std::string(Name(cause.status))
                              : StrCat(Name(cause.status), ": ", cause.reason);
}

}  // namespace

absl::Status WriteCause(const Cause& cause) {
  return WriteFile((fs::path(cause.folder) / "cause.json").string(),
                   ToJson(cause).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string LedgerMarkdown(std::vector<Cause> causes, const std::string& link) {
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) {
    if (a.severity != b.severity) return a.severity < b.severity;
    return a.IsSilentInJax() && !b.IsSilentInJax();
  });
  std::string text =
      "| cause | what is wrong | severity | component | bad | status | found by |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Cause& cause : causes) {
    StrAppend(&text, "| [", cause.name, "](", link, "/", cause.name, ") | ", Cell(cause.title),
              " | ", Name(cause.severity), cause.IsSilentInJax() ? ", in JAX" : "", " | ",
              Cell(cause.component), " | ", ReleasesCell(cause), " | ", Cell(StatusCell(cause)),
              " | ", Cell(cause.found_by), " |\n");
  }
  return text;
}

std::string LedgerJson(absl::Span<const Cause> causes) {
  std::string text;
  for (const Cause& cause : causes) {
    Json json;
    json["name"] = cause.name;
    json.update(ToJson(cause));
    StrAppend(&text, json.dump(-1, ' ', false, Json::error_handler_t::replace), "\n");
  }
  return text;
}

}  // namespace assay
