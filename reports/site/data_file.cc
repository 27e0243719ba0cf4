// Scripts that hold data.
#include "reports/site/data_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

void AppendJsonText(std::string& out, std::string_view text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
  });
  if (is_plain) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

absl::Status DataFiles::Begin() { return MakeFolder(folder_ + "/data"); }

void DataFiles::Finish() const {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> stale;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ + "/data", error)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".js" && given_.count(path.stem().string()) == 0) stale.push_back(path);
  }
  for (const fs::path& path : stale) fs::remove(path, error);
}

absl::Status DataFiles::Give(const std::string& key, std::string_view json) {
  std::string script = "assay.give(";
  AppendJsonText(script, key);
  StrAppend(&script, ",", json, ");\n");
  ASSAY_RETURN_IF_ERROR(WriteFile(StrCat(folder_, "/data/", key, ".js"), script));
  given_.insert(key);
  ++files_;
  const auto size = static_cast<int64_t>(script.size());
  bytes_ += size;
  largest_ = std::max(largest_, size);
  return absl::OkStatus();
}

}  // namespace assay
