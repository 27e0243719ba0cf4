// A folder of this process alone that goes away with the object.
#pragma once

#include <string>

namespace assay {

class TemporaryFolder {
 public:
  // The system's temporary folder holds it; `name` is the beginning of its own name.
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  bool ok() const { return !path_.empty(); }
  // "" where none could be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace assay
