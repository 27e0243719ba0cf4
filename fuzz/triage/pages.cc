// Reads and counts in finding.json.
#include "fuzz/triage/pages.h"

#include <cctype>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_format.h"
#include "fuzz/culprit.h"
#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/strings.h"
#include "spec/ir/hash.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// An object, or nothing of use.
nlohmann::json FindingJsonOf(const fs::path& folder) {
  constexpr int64_t kMostBytes = int64_t{64} << 20;
  const absl::StatusOr<std::string> text = ReadFile((folder / "finding.json").string(), kMostBytes);
  return nlohmann::json::parse(text.ok() ? *text : "", nullptr, /*allow_exceptions=*/false);
}

int64_t NumberIn(const nlohmann::json& object, const char* field, int64_t absent) {
  const auto at = object.find(field);
  return at != object.end() && at->is_number_integer() ? at->get<int64_t>() : absent;
}

std::string TextIn(const nlohmann::json& object, const char* field) {
  const auto at = object.find(field);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

}  // namespace

std::string PageFolder(const std::string& pages, const std::string& bucket,
                       const PageOwner& owner) {
  std::string name = bucket;
  for (char& c : name) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '+';
    if (!is_plain) c = '_';
  }
  // Buckets that begin alike, as crashes with a long message do, have folders of their own.
  constexpr size_t kMaxName = 100;
  if (name.size() > kMaxName) {
    StableHash hash;
    hash.Add(name);
    name = StrCat(name.substr(0, kMaxName), "-", absl::StrFormat("%08x", hash.Finish() >> 32));
  }
  const fs::path folder = fs::path(pages) / name;
  const nlohmann::json there = FindingJsonOf(folder);
  if (!there.is_object()) return folder.string();
  const PageOwner first = {TextIn(there, "backend"), TextIn(there, "backend_version"),
                           TextIn(there, "defect")};
  if (first == owner) return folder.string();
  StableHash hash;
  for (const std::string& part : {owner.backend, owner.version, owner.defect}) hash.Add(part);
  return StrCat(folder.string(), "-", absl::StrFormat("%08x", hash.Finish() >> 32));
}

ExistingPage ReadExistingPage(const std::string& folder) {
  const nlohmann::json object = FindingJsonOf(folder);
  if (!object.is_object()) return {};
  const auto variant = object.find("variant");
  const bool has_variant = variant != object.end() && variant->is_string();
  return {has_variant ? variant->get<std::string>() : "", NumberIn(object, "instructions", -1),
          NumberIn(object, "duplicates", 0)};
}

std::string PageSlot(const std::string& pages, const std::string& bucket,
                     const std::string& variant, const PageOwner& owner) {
  const auto is_for = [&](const ExistingPage& page) {
    return page.instructions < 0 || page.variant.empty() || page.variant == variant;
  };
  const std::string first = PageFolder(pages, bucket, owner),
                    second = PageFolder(pages, bucket + "/other", owner);
  return !is_for(ReadExistingPage(first)) && is_for(ReadExistingPage(second)) ? second : first;
}

absl::Status CountDuplicates(const std::string& folder, int64_t duplicates) {
  nlohmann::json object = FindingJsonOf(folder);
  if (!object.is_object()) return absl::OkStatus();
  object["duplicates"] = duplicates;
  return WriteFile((fs::path(folder) / "finding.json").string(),
                   object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

bool HasPageOfOps(const std::string& pages, const std::set<std::string>& ops,
                  int64_t most_instructions) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(pages, error)) {
    const nlohmann::json object = FindingJsonOf(entry.path());
    if (!object.is_object()) continue;
    const int64_t instructions = NumberIn(object, "instructions", -1);
    const auto culprit = object.find("culprit");
    if (culprit != object.end() && instructions >= 0 && instructions <= most_instructions &&
        CulpritFromJson(*culprit).ops == ops) {
      return true;
    }
  }
  return false;
}

}  // namespace assay
