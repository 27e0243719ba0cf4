// The data of the site as scripts: `assay.give("KEY", VALUE);` in data/KEY.js, because a page that
// was opened from disk may load scripts but not read files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "absl/status/status.h"

namespace assay {

// Appends a string as JSON. What is not UTF-8 is replaced.
void AppendJsonText(std::string& out, std::string_view text);

class DataFiles {
 public:
  explicit DataFiles(std::string folder) : folder_(std::move(folder)) {}

  // Makes FOLDER/data.
  absl::Status Begin();
  // Removes scripts of FOLDER/data that were not given: those of earlier calls, which a reader may
  // have used until now.
  void Finish() const;
  // `json` is the text of a value. Errors: of files.
  absl::Status Give(const std::string& key, std::string_view json);

  int64_t files() const { return files_; }
  int64_t bytes() const { return bytes_; }
  int64_t largest() const { return largest_; }

 private:
  std::string folder_;
  std::unordered_set<std::string> given_;
  int64_t files_ = 0, bytes_ = 0, largest_ = 0;
};

}  // namespace assay
