// Reads the planted defects that are built into the program.
#include "fuzz/defects/defects.h"

#include <algorithm>

#include "fuzz/embedded.h"
#include "nlohmann/json.hpp"
#include "spec/base/nearest_word.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr std::string_view kExtension = ".json";

std::string Text(const nlohmann::json& object, const char* field) {
  const auto at = object.is_object() ? object.find(field) : object.end();
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

// A guard on an attribute or a constant, on the number that is bent, or on the element.
bool IsGuarded(const nlohmann::json& defect) {
  const nlohmann::json none = nlohmann::json::object();
  const nlohmann::json guard = defect.value("guard", none);
  const nlohmann::json parameters = defect.value("parameters", none);
  const std::string when = Text(parameters, "when");
  return guard.contains("attribute") || guard.contains("constant") ||
         parameters.contains("least") || parameters.contains("most") ||
         (!when.empty() && when != "always");
}

PlantedDefect ReadOne(nlohmann::json object, const std::string& of_class) {
  PlantedDefect defect;
  defect.passes = Text(object, "passes");
  object.erase("passes");
  defect.of_class = of_class;
  defect.json = object.dump();
  defect.name = Text(object, "name");
  defect.summary = Text(object, "summary");
  defect.gate = Text(object, "gate");
  defect.kind = Text(object, "kind");
  defect.op = Text(object, "op");
  defect.guarded = IsGuarded(object);
  return defect;
}

// Calls `use` with the content of every file of defects.
template <typename Use>
void ForEachFile(Use use) {
  for (const Embedded& file : EmbeddedFiles()) {
    const bool json = file.name.size() > kExtension.size() &&
                      file.name.substr(file.name.size() - kExtension.size()) == kExtension;
    if (!json) continue;
    const nlohmann::json root =
        nlohmann::json::parse(file.content, nullptr, /*allow_exceptions=*/false);
    if (root.is_object()) use(root);
  }
}

// The defects of all files, by name.
std::vector<PlantedDefect> ReadAll() {
  std::vector<PlantedDefect> defects;
  ForEachFile([&](const nlohmann::json& root) {
    for (const nlohmann::json& defect : root.value("defects", nlohmann::json::array())) {
      if (defect.is_object()) defects.push_back(ReadOne(defect, Text(root, "class")));
    }
  });
  std::sort(defects.begin(), defects.end(),
            [](const PlantedDefect& a, const PlantedDefect& b) { return a.name < b.name; });
  return defects;
}

std::map<std::string, Survivor> ReadSurvivors() {
  std::map<std::string, Survivor> survivors;
  ForEachFile([&](const nlohmann::json& root) {
    const nlohmann::json list = root.value("survivors", nlohmann::json::object());
    for (const auto& [name, what] : list.items()) {
      survivors[name] = {Text(what, "reason"), Text(what, "text")};
    }
  });
  return survivors;
}

}  // namespace

const std::vector<PlantedDefect>& PlantedDefects() {
  static const auto* defects = new std::vector<PlantedDefect>(ReadAll());
  return *defects;
}

const std::map<std::string, Survivor>& Survivors() {
  static const auto* survivors = new std::map<std::string, Survivor>(ReadSurvivors());
  return *survivors;
}

absl::StatusOr<PlantedDefect> FindDefect(std::string_view name) {
  std::vector<std::string> names;
  for (const PlantedDefect& defect : PlantedDefects()) {
    if (defect.name == name) return defect;
    names.push_back(defect.name);
  }
  return absl::NotFoundError(StrCat("no planted defect is called '", name, "'",
                                    DidYouMean(name, names), "; 'assay defects' lists all ",
                                    names.size()));
}

}  // namespace assay
