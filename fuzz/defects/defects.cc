// Reads the planted defects that are built into the program.
#include "fuzz/defects/defects.h"

#include <algorithm>

#include "fuzz/embedded.h"
#include "nlohmann/json.hpp"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr std::string_view kExtension = ".json";

PlantedDefect ReadOne(const Embedded& file) {
  PlantedDefect defect;
  defect.name = file.name.substr(0, file.name.size() - kExtension.size());
  defect.json = file.content;
  nlohmann::json object = nlohmann::json::parse(file.content, nullptr, /*allow_exceptions=*/false);
  auto text = [&object](const char* field) {
    auto at = object.is_object() ? object.find(field) : object.end();
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  defect.summary = text("summary");
  defect.gate = text("gate");
  defect.kind = text("kind");
  defect.op = text("op");
  return defect;
}

std::vector<PlantedDefect> ReadAll() {
  std::vector<PlantedDefect> defects;
  for (const Embedded& file : EmbeddedFiles()) {
    bool json = file.name.size() > kExtension.size() &&
                file.name.substr(file.name.size() - kExtension.size()) == kExtension;
    if (json) defects.push_back(ReadOne(file));
  }
  std::sort(defects.begin(), defects.end(),
            [](const PlantedDefect& a, const PlantedDefect& b) { return a.name < b.name; });
  return defects;
}

}  // namespace

const std::vector<PlantedDefect>& PlantedDefects() {
  static const auto* defects = new std::vector<PlantedDefect>(ReadAll());
  return *defects;
}

absl::StatusOr<PlantedDefect> FindDefect(std::string_view name) {
  std::string names;
  for (const PlantedDefect& defect : PlantedDefects()) {
    if (defect.name == name) return defect;
    StrAppend(&names, names.empty() ? "" : ", ", defect.name);
  }
  return absl::NotFoundError(StrCat("no planted defect is called '", name, "'; there are ", names));
}

}  // namespace assay
