#include <fstream>
#include <sstream>

#include "spec/base/strings.h"
#include "spec/ops/verifier.h"
#include "spec/proto/gzip.h"
#include "spec/proto/module_proto.h"
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
  std::string content = text.str();
  if (IsGzip(content)) {
    absl::StatusOr<std::string> unpacked = Gunzip(content);
    if (!unpacked.ok()) {
      return absl::Status(unpacked.status().code(),
                          StrCat(path, ": ", ToStd(unpacked.status().message())));
    }
    content = *std::move(unpacked);
  }
  ReadOptions options;
  options.file_name = path;
  const bool binary = LooksBinary(content);
  absl::StatusOr<std::unique_ptr<Module>> module =
      binary ? ReadModuleProto(content) : ReadModule(content, options);
  if (!module.ok()) {
    if (!binary) return module.status();
    return absl::Status(module.status().code(),
                        StrCat(path, ": ", ToStd(module.status().message())));
  }
  absl::Status valid = Verify(**module);
  if (!valid.ok()) {
    return absl::Status(valid.code(), StrCat(path, ": ", ToStd(valid.message())));
  }
  return module;
}

}  // namespace assay
