// Folders that mkdtemp makes.
#include "spec/base/temporary_folder.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace assay {

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / (name + "-XXXXXX")).string();
  if (!error && mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace assay
