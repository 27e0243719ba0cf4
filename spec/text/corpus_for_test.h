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

// Every .hlo below this room's test data, the repository's conformance/corpus and, if set, the
// folder of the environment variable ASSAY_CORPUS; sorted by path.
inline std::vector<CorpusFile> CorpusFiles() {
  std::filesystem::path root(ASSAY_SOURCE_DIR);
  std::vector<std::filesystem::path> folders = {root / "spec" / "text" / "testdata",
                                                root / "conformance" / "corpus"};
  if (const char* more = std::getenv("ASSAY_CORPUS")) folders.emplace_back(more);
  std::vector<std::filesystem::path> paths;
  for (const auto& folder : folders) {
    if (!std::filesystem::is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".hlo") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<CorpusFile> files;
  for (const auto& path : paths) files.push_back({path.filename().string(), ReadWholeFile(path)});
  return files;
}

}  // namespace assay
