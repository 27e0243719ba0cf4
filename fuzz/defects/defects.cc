// Reads the planted defects that are built into the program.
#include "fuzz/defects/defects.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
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

PlantedDefect ReadOne(nlohmann::json object, const nlohmann::json& file) {
  PlantedDefect defect;
  defect.passes = Text(object, "passes");
  object.erase("passes");
  defect.of_class = Text(file, "class");
  defect.backend = Text(object.contains("backend") ? object : file, "backend");
  object.erase("backend");
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

// Mistakes in the templates of kernels for GPUs are a table whose fields are parted by tabs: name,
// gate, operator, by how much, and where the compiler's tests plant them.
void ReadTemplateDefects(std::vector<PlantedDefect>& defects) {
  const std::string table(EmbeddedFile("template_defects.txt"));
  const std::vector<std::string> lines = absl::StrSplit(table, '\n');
  for (const std::string& line : lines) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    if (line.empty() || line.front() == '#' || fields.size() != 5) continue;
    nlohmann::json defect = {
        {"name", "gpu-" + fields[0]},
        {"summary", StrCat("Kernels of GPUs: ", absl::StrReplaceAll(fields[0], {{"-", " "}}), ".")},
        {"gate", fields[1]},
        {"kind", "kernel"},
        {"op", fields[2]}};
    int64_t by = 0;
    if (absl::SimpleAtoi(fields[3], &by)) defect["parameters"] = {{"by", by}};
    defects.push_back(ReadOne(defect, {{"class", "gpu-templates"}, {"backend", "gpu-sim"}}));
  }
}

// The defects of all files, by name.
std::vector<PlantedDefect> ReadAll() {
  std::vector<PlantedDefect> defects;
  ForEachFile([&](const nlohmann::json& root) {
    for (const nlohmann::json& defect : root.value("defects", nlohmann::json::array())) {
      if (defect.is_object()) defects.push_back(ReadOne(defect, root));
    }
  });
  ReadTemplateDefects(defects);
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

bool IsFor(const PlantedDefect& defect, std::string_view backend) {
  if (defect.backend.empty()) return true;
  const auto words = [](std::string_view name) {
    return std::vector<std::string>(
        absl::StrSplit(absl::string_view(name.data(), name.size()), absl::ByAnyChar(":,")));
  };
  const std::vector<std::string> has = words(backend), wanted = words(defect.backend);
  return has[0] == wanted[0] && std::all_of(wanted.begin(), wanted.end(), [&](const auto& word) {
           return std::find(has.begin(), has.end(), word) != has.end();
         });
}

std::string BackendFor(const PlantedDefect& defect, std::string_view backend) {
  if (defect.passes.empty()) return std::string(backend);
  return StrCat(backend, backend.find(':') == backend.npos ? ":" : ",", "passes=", defect.passes);
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
