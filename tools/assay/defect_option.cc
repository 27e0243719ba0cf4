// Finds a planted defect by name or file.
#include "tools/assay/defect_option.h"

#include <fstream>
#include <iterator>

#include "fuzz/defects/defects.h"
#include "optimized/defects/defect.h"
#include "spec/base/status_macros.h"

namespace assay {

absl::StatusOr<std::string> DefectJson(const std::string& name_or_path) {
  std::string text;
  std::ifstream file(name_or_path, std::ios::binary);
  if (name_or_path.find('.') != std::string::npos && file) {
    text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  } else {
    ASSAY_ASSIGN_OR_RETURN(PlantedDefect planted, FindDefect(name_or_path));
    text = planted.json;
  }
  ASSAY_ASSIGN_OR_RETURN(Defect parsed, ParseDefect(text));
  return text;
}

}  // namespace assay
