#include <fstream>
#include <sstream>

#include "spec/base/strings.h"
#include "spec/ops/verifier.h"
#include "spec/text/reader.h"

namespace assay {

absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(StrCat(path, ": cannot be opened; give the path of an HLO file"));
  }
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) return absl::DataLossError(StrCat(path, ": cannot be read to its end"));
  ReadOptions options;
  options.file_name = path;
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text.str(), options);
  if (!module.ok()) return module.status();
  absl::Status valid = Verify(**module);
  if (!valid.ok()) {
    return absl::Status(valid.code(), StrCat(path, ": ", ToStd(valid.message())));
  }
  return module;
}

}  // namespace assay
