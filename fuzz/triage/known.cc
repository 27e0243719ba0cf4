// Reads lists of known bugs and matches them.
#include "fuzz/triage/known.h"

#include <cctype>
#include <ctime>
#include <optional>
#include <set>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "fuzz/reduce/wrong_instruction.h"
#include "fuzz/triage/bucket.h"
#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;
using Version = std::vector<int64_t>;

constexpr int64_t kMostBytes = int64_t{16} << 20;

// "0.10.2" -> 0, 10, 2.
std::optional<Version> VersionOf(const std::string& text) {
  Version version;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, '.'))) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(part, &number)) return std::nullopt;
    version.push_back(number);
  }
  return version;
}

// The last word that is a version with a dot in it.
std::optional<Version> VersionIn(const std::string& description) {
  std::optional<Version> found;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(description, ' '))) {
    if (word.find('.') == std::string::npos) continue;
    if (std::optional<Version> version = VersionOf(word)) found = version;
  }
  return found;
}

bool IsDay(const std::string& text) {
  if (text.size() != 10) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : std::isdigit(static_cast<unsigned char>(text[i])) == 0)
      return false;
  }
  return true;
}

absl::StatusOr<KnownBug> ReadOne(const Json& entry) {
  if (!entry.is_object()) return absl::InvalidArgumentError("it is no object");
  KnownBug bug;
  std::string versions;
  const std::pair<const char*, std::string*> fields[] = {
      {"case", &bug.case_name},      {"owner", &bug.owner},    {"bucket", &bug.bucket},
      {"signature", &bug.signature}, {"versions", &versions},  {"reason", &bug.reason},
      {"expires", &bug.expires},     {"backend", &bug.backend}};
  for (const auto& [key, value] : entry.items()) {
    bool taken = false;
    for (const auto& [name, to] : fields) {
      if (key != name) continue;
      if (!value.is_string()) return absl::InvalidArgumentError(StrCat(key, " is no text"));
      *to = value.get<std::string>();
      taken = true;
    }
    if (!taken) return absl::InvalidArgumentError(StrCat("unknown field ", key));
  }
  if (bug.bucket.empty() && bug.signature.empty() && bug.case_name.empty()) {
    return absl::InvalidArgumentError("it has neither case nor bucket nor signature");
  }
  if (bug.reason.empty()) return absl::InvalidArgumentError("it has no reason");
  if (!bug.expires.empty() && !IsDay(bug.expires)) {
    return absl::InvalidArgumentError("expires is no day like 2027-06-30");
  }
  if (!bug.case_name.empty() && (bug.owner.empty() || bug.expires.empty())) {
    return absl::InvalidArgumentError("of a case there must be an owner and expires");
  }
  if (versions.empty()) return bug;
  const size_t dots = versions.find("..");
  bug.oldest = versions.substr(0, dots);
  bug.newest = dots == std::string::npos ? bug.oldest : versions.substr(dots + 2);
  for (const std::string& end : {bug.oldest, bug.newest}) {
    if (!end.empty() && !VersionOf(end).has_value()) {
      return absl::InvalidArgumentError("versions is no range like 0.4.13..0.10.2");
    }
  }
  return bug;
}

using Opcodes = std::set<Opcode>;

// "pad+slice", or "pad+sl*", of which the last name is left out; empty where there are others.
Opcodes OpcodesIn(std::string_view text) {
  Opcodes opcodes;
  for (const absl::string_view name : absl::StrSplit(ToAbsl(text), '+')) {
    const std::optional<Opcode> opcode = OpcodeFromName(ToStd(name));
    if (opcode.has_value()) {
      opcodes.insert(*opcode);
    } else if (name.empty() || name.back() != '*') {
      return {};
    }
  }
  return opcodes;
}

// Takes the opcodes away that the instruction and what it is computed from have.
void RemoveThoseOf(const Instruction* at, int depth, Opcodes& opcodes) {
  opcodes.erase(at->opcode());
  for (const Instruction* operand : at->operands()) {
    if (depth > 0 && !opcodes.empty()) RemoveThoseOf(operand, depth - 1, opcodes);
  }
}

bool IsMadeOf(const Instruction* at, Opcodes opcodes) {
  constexpr int kDepth = 3;
  if (!opcodes.contains(at->opcode())) return false;
  RemoveThoseOf(at, kDepth, opcodes);
  return opcodes.empty();
}

// The part of a signature behind the word: "log(exponential) f" after " at ".
std::string After(const std::string& text, const std::string& word) {
  const size_t at = text.rfind(word);
  return at == std::string::npos ? "" : text.substr(at + word.size());
}

// If code generation, an import or the folding of constants is to blame, a signature that names no
// operands means whatever they are (SignatureOf).
bool MeansAnyOperands(const std::string& signature) {
  const auto has = [&signature](const char* guilty) {
    return signature.find(guilty) != std::string::npos;
  };
  return has(": code ") || has(": import ") || has(": constant_folding at ");
}

// " f" at its end says what kind of numbers the place has.
bool IsPlace(const Instruction& at, std::string place, bool means_any_operands) {
  const bool has_class = place.size() > 2 && place[place.size() - 2] == ' ';
  if (has_class) {
    const Shape& shape = at.shape();
    if (!shape.IsArray() || ClassLetter(shape.element_type()) != place.back()) return false;
    place.resize(place.size() - 2);
  }
  return MatchesPattern(place, PlaceOf(at)) || (means_any_operands && place == Name(at.opcode()));
}

bool IsInRange(const KnownBug& bug, const std::string& backend_version) {
  const std::optional<Version> version = VersionIn(backend_version);
  if (!version.has_value()) return true;
  const std::optional<Version> oldest = VersionOf(bug.oldest), newest = VersionOf(bug.newest);
  return (!oldest.has_value() || *oldest <= *version) &&
         (!newest.has_value() || *version <= *newest);
}

}  // namespace

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  if (pattern.empty() || text.empty()) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(ToAbsl(pattern), '*');
  if (parts.size() == 1) return pattern == text;
  const std::string_view first = ToStd(parts.front()), last = ToStd(parts.back());
  if (text.size() < first.size() + last.size()) return false;
  if (!text.starts_with(first) || !text.ends_with(last)) return false;
  text = text.substr(first.size(), text.size() - first.size() - last.size());
  for (size_t i = 1; i + 1 < parts.size(); ++i) {
    const size_t at = text.find(ToStd(parts[i]));
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + parts[i].size());
  }
  return true;
}

absl::StatusOr<std::vector<KnownBug>> ReadKnownBugs(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  const Json list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) {
    return absl::InvalidArgumentError(StrCat(path, ": a list of known bugs is a JSON array"));
  }
  std::vector<KnownBug> known;
  for (const Json& entry : list) {
    absl::StatusOr<KnownBug> bug = ReadOne(entry);
    if (!bug.ok()) {
      return absl::InvalidArgumentError(
          StrCat(path, ": known bug ", known.size() + 1, ": ", ToStd(bug.status().message())));
    }
    known.push_back(*std::move(bug));
  }
  return known;
}

const KnownBug* FindKnownBug(const std::vector<KnownBug>& known, const std::string& bucket,
                             const std::string& signature, const std::string& backend_version) {
  for (const KnownBug& bug : known) {
    const bool is_named =
        MatchesPattern(bug.bucket, bucket) || MatchesPattern(bug.signature, signature);
    if (is_named && IsInRange(bug, backend_version)) return &bug;
  }
  return nullptr;
}

bool IsOfVersion(const KnownBug& bug, const std::string& backend_version) {
  if (!bug.backend.empty() && !MatchesPattern(bug.backend, backend_version)) return false;
  return IsInRange(bug, backend_version);
}

bool MayShow(const KnownBug& bug, const Module& module) {
  const std::string place = After(bug.signature, " at ");
  const bool is_any = MeansAnyOperands(bug.signature);
  Opcodes opcodes;
  if (place.empty()) opcodes = OpcodesIn(After(bug.signature, " of "));
  const std::vector<std::string> parts = absl::StrSplit(bug.bucket, '/');
  for (size_t i = parts.size(); i-- > 2 && place.empty() && opcodes.empty();) {
    opcodes = OpcodesIn(parts[i]);
  }
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      if (place.empty() ? IsMadeOf(at, opcodes) : IsPlace(*at, place, is_any)) return true;
    }
  }
  return false;
}

std::vector<KnownBug> RemoveExpired(std::vector<KnownBug>& known, const std::string& today) {
  std::vector<KnownBug> kept, expired;
  for (KnownBug& bug : known) {
    const bool is_over = !bug.expires.empty() && today >= bug.expires;
    (is_over ? expired : kept).push_back(std::move(bug));
  }
  known = std::move(kept);
  return expired;
}

std::string TodayUtc() {
  const time_t now = time(nullptr);
  struct tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  return std::string(text, strftime(text, sizeof(text), "%Y-%m-%d", &parts));
}

}  // namespace assay
