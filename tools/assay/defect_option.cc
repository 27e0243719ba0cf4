// Finds a planted defect by name or file.
#include "tools/assay/defect_option.h"

#include "fuzz/defects/defects.h"
#include "optimized/defects/defect.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"

namespace assay {

absl::StatusOr<std::string> DefectJson(const std::string& name_or_path) {
  std::string text;
  // Names of defects have no dot, those of files do.
  if (name_or_path.find('.') != std::string::npos) {
    ASSAY_ASSIGN_OR_RETURN(text, ReadFile(name_or_path));
  } else {
    ASSAY_ASSIGN_OR_RETURN(PlantedDefect planted, FindDefect(name_or_path));
    text = planted.json;
  }
  ASSAY_ASSIGN_OR_RETURN(Defect parsed, ParseDefect(text));
  return text;
}

}  // namespace assay
