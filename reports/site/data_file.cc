// Scripts that hold data.
#include "reports/site/data_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

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

absl::Status DataFiles::Begin() {
  namespace fs = std::filesystem;
  const fs::path data = fs::path(folder_) / "data";
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(data, error)) {
    std::error_code ignored;
    if (entry.path().extension() == ".js") fs::remove(entry.path(), ignored);
  }
  return MakeFolder(data.string());
}

absl::Status DataFiles::Give(const std::string& key, std::string_view json) {
  std::string script = "assay.give(";
  AppendJsonText(script, key);
  StrAppend(&script, ",", json, ");\n");
  ASSAY_RETURN_IF_ERROR(WriteFile(StrCat(folder_, "/data/", key, ".js"), script));
  ++files_;
  const auto size = static_cast<int64_t>(script.size());
  bytes_ += size;
  largest_ = std::max(largest_, size);
  return absl::OkStatus();
}

}  // namespace assay
