#include "tools/assay/defect_option.h"

#include <fstream>
#include <iterator>

#include "fuzz/defects/defects.h"
#include "optimized/defects/defect.h"

namespace assay {

absl::StatusOr<std::string> DefectJson(const std::string& name_or_path) {
  std::string text;
  std::ifstream file(name_or_path, std::ios::binary);
  if (name_or_path.find('.') != std::string::npos && file) {
    text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  } else {
    absl::StatusOr<PlantedDefect> planted = FindDefect(name_or_path);
    if (!planted.ok()) return planted.status();
    text = planted->json;
  }
  absl::StatusOr<Defect> parsed = ParseDefect(text);
  if (!parsed.ok()) return parsed.status();
  return text;
}

}  // namespace assay
