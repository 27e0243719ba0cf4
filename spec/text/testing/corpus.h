// The HLO files that tests of the text room run over.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <algorithm>

namespace assay {

struct CorpusFile {
  std::string name;
  std::string text;
};

inline std::string ReadWholeFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::filesystem::path ConformanceCorpus() {
  return std::filesystem::path(ASSAY_SOURCE_DIR) / "conformance" / "corpus";
}

// Every .hlo below `folder`, sorted; none when there is no such folder.
inline std::vector<std::filesystem::path> HloFilesBelow(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  if (!std::filesystem::is_directory(folder)) return paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".hlo") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// This room's test data, the repository's conformance/corpus and, if set, the folder of the
// environment variable ASSAY_CORPUS.
inline std::vector<CorpusFile> CorpusFiles() {
  std::vector<std::filesystem::path> folders = {
      std::filesystem::path(ASSAY_SOURCE_DIR) / "spec" / "text" / "testdata", ConformanceCorpus()};
  if (const char* more = std::getenv("ASSAY_CORPUS")) folders.emplace_back(more);
  std::vector<CorpusFile> files;
  for (const auto& folder : folders) {
    for (const auto& path : HloFilesBelow(folder)) {
      files.push_back({path.filename().string(), ReadWholeFile(path)});
    }
  }
  return files;
}

}  // namespace assay
