// Waivers from JSON, and the one that is about a given module.
#include "conformance/waivers.h"

#include <fstream>
#include <sstream>

#include "absl/strings/str_format.h"
#include "conformance/golden_files.h"
#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using nlohmann::json;

// Takes the members of one JSON object and notes what is missing or left over.
class Members {
 public:
  Members(const json& object, std::string where) : object_(object), where_(std::move(where)) {}

  void Take(const char* name, std::string* text) {
    const json* member = Find(name);
    if (member == nullptr) return;
    if (!member->is_string() || member->get<std::string>().empty()) return Note(name, "a text");
    *text = member->get<std::string>();
  }
  void Take(const char* name, int64_t* number) {
    const json* member = Find(name);
    if (member == nullptr) return;
    if (!member->is_number_unsigned()) return Note(name, "a number from 0");
    *number = member->get<int64_t>();
  }
  const json* TakeList(const char* name) {
    const json* member = Find(name);
    if (member == nullptr || (member->is_array() && !member->empty())) return member;
    Note(name, "a list");
    return nullptr;
  }

  absl::Status Finish() {
    if (error_.empty() && object_.size() != taken_) error_ = "there is a member of another name";
    return error_.empty() ? absl::OkStatus()
                          : absl::InvalidArgumentError(StrCat(where_, ": ", error_));
  }

 private:
  void Note(const char* name, std::string_view expected) {
    if (error_.empty()) error_ = StrCat("\"", name, "\" should be ", expected);
  }
  const json* Find(const char* name) {
    ++taken_;
    const auto at = object_.find(name);
    if (at != object_.end()) return &*at;
    if (error_.empty()) error_ = StrCat("there is no \"", name, "\"");
    return nullptr;
  }

  const json& object_;
  std::string where_, error_;
  size_t taken_ = 0;
};

bool IsDate(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  if (text.size() != kForm.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !is_digit : text[i] != kForm[i]) return false;
  }
  return true;
}

absl::StatusOr<Waiver> WaiverFromJson(const json& object, const std::string& where) {
  if (!object.is_object()) return absl::InvalidArgumentError(StrCat(where, ": no object"));
  Waiver waiver;
  Members members(object, where);
  members.Take("module", &waiver.module);
  members.Take("module_hash", &waiver.module_hash);
  members.Take("arrays_hash", &waiver.arrays_hash);
  members.Take("backend", &waiver.backend);
  members.Take("versions", &waiver.versions);
  members.Take("issue", &waiver.issue);
  members.Take("since", &waiver.since);
  members.Take("expires", &waiver.expires);
  members.Take("proof", &waiver.proof);
  const json* elements = members.TakeList("elements");
  ASSAY_RETURN_IF_ERROR(members.Finish());
  for (const json& row : *elements) {
    if (!row.is_object()) return absl::InvalidArgumentError(StrCat(where, ": elements: no object"));
    WaivedElement& element = waiver.elements.emplace_back();
    Members of_element(row, StrCat(where, ": elements"));
    of_element.Take("device", &element.device);
    of_element.Take("output", &element.output);
    of_element.Take("element", &element.element);
    of_element.Take("value", &element.value);
    ASSAY_RETURN_IF_ERROR(of_element.Finish());
  }
  if (!IsDate(waiver.since) || !IsDate(waiver.expires)) {
    return absl::InvalidArgumentError(StrCat(where, ": dates are written YYYY-MM-DD"));
  }
  return waiver;
}

// "" for a file that cannot be read: it has no waiver.
std::string HashOfFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in.good()) return "";
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return ContentHash(bytes.str());
}

}  // namespace

absl::StatusOr<std::vector<Waiver>> ParseWaivers(std::string_view text) {
  const json rows = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!rows.is_array()) return absl::InvalidArgumentError("waivers: expected a JSON array");
  std::vector<Waiver> waivers;
  for (const json& row : rows) {
    ASSAY_ASSIGN_OR_RETURN(Waiver waiver,
                           WaiverFromJson(row, StrCat("waiver ", waivers.size() + 1)));
    waivers.push_back(std::move(waiver));
  }
  return waivers;
}

absl::StatusOr<std::vector<Waiver>> BuiltInWaivers() {
  return ParseWaivers(WaiverFiles()[0].content);
}

std::string ContentHash(std::string_view bytes) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char byte : bytes) {
    hash ^= static_cast<uint8_t>(byte);
    hash *= 0x100000001B3u;
  }
  return absl::StrFormat("%016x", hash);
}

std::string WaiverOf(const CaseFile& file) {
  const absl::StatusOr<std::vector<Waiver>> waivers = BuiltInWaivers();
  if (!waivers.ok()) return "";  // a test of the rows says why
  for (const Waiver& waiver : *waivers) {
    if (waiver.module == file.name && waiver.module_hash == HashOfFile(file.module_path) &&
        waiver.arrays_hash == HashOfFile(file.arrays_path))
      return waiver.proof;
  }
  return "";
}

}  // namespace assay
