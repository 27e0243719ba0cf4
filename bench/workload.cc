// Modules with inputs drawn by the rules of a manifest.
#include "bench/workload.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "absl/strings/str_join.h"
#include "conformance/case_files.h"
#include "conformance/inputs/random_literal.h"
#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// The row of a module in the manifest of its folder; nullopt when there is none.
absl::StatusOr<std::optional<Json>> ManifestRow(const fs::path& folder, const std::string& name) {
  for (const char* file_name : {"manifest.json", "MANIFEST.json"}) {
    fs::path path = folder / file_name;
    const absl::StatusOr<std::string> text = ReadFile(path.string());
    if (absl::IsNotFound(text.status())) continue;
    ASSAY_RETURN_IF_ERROR(text.status());
    Json json = Json::parse(*text, nullptr, false);
    if (!json.is_object() || !json.contains("programs") || !json["programs"].is_object()) {
      return absl::InvalidArgumentError(
          StrCat(path.string(), ": expected an object with the member 'programs'"));
    }
    auto row = json["programs"].find(name);
    if (row != json["programs"].end() && row->is_object() && row->contains("inputs")) {
      return std::optional<Json>(*row);
    }
  }
  return std::optional<Json>();
}

double NumberOr(const Json& json, const char* key, double otherwise) {
  auto at = json.find(key);
  return at != json.end() && at->is_number() ? at->get<double>() : otherwise;
}

bool IsSet(const Json& json, const char* key) {
  auto at = json.find(key);
  return at != json.end() && at->is_boolean() && at->get<bool>();
}

absl::StatusOr<Literal> DrawByRule(const Json& rule, const Shape& shape, uint64_t seed,
                                   uint64_t stream) {
  ValueRule values = ValueRule::Default(shape);
  values.lo = NumberOr(rule, "lo", values.lo);
  values.hi = NumberOr(rule, "hi", values.hi);
  values.skew = NumberOr(rule, "skew", 1);
  values.sorted = IsSet(rule, "sorted");
  values.symmetric = IsSet(rule, "spd");
  values.diagonal = NumberOr(rule, "diag", 0);
  static constexpr const char* kKnown[] = {"dtype",  "shape", "lo",  "hi",
                                           "sorted", "skew",  "spd", "diag"};
  for (const auto& [key, value] : rule.items()) {
    if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown)) {
      return absl::InvalidArgumentError(StrCat("no rule for values is called '", key,
                                               "'; there are ", absl::StrJoin(kKnown, ", ")));
    }
  }
  return RandomLiteral(shape, values, seed, stream);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindWorkloads(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<CaseFile> files, FindCases(path));
  std::vector<std::string> paths;
  // A module is a case for each of its recorded runs.
  for (const CaseFile& file : files)
    if (paths.empty() || paths.back() != file.module_path) paths.push_back(file.module_path);
  return paths;
}

std::string NameOfWorkload(const std::string& module_path) {
  return fs::path(module_path).stem().string();
}

absl::StatusOr<Workload> LoadWorkload(const std::string& module_path, uint64_t seed) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<CaseFile> files, FindCases(module_path));
  const CaseFile& file = files.front();
  Workload workload;
  workload.name = file.name;
  ASSAY_ASSIGN_OR_RETURN(workload.module, LoadCaseModule(file));
  workload.cost = CostOf(*workload.module);
  ASSAY_ASSIGN_OR_RETURN(std::optional<Json> row,
                         ManifestRow(fs::path(module_path).parent_path(), file.name));
  if (!row.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(CaseArrays arrays, LoadArrays(*workload.module, file.arrays_path, seed));
    workload.inputs = std::move(arrays.arguments);
    return workload;
  }
  auto work_class = row->find("class");
  if (work_class != row->end() && work_class->is_string()) {
    workload.work_class = work_class->get<std::string>();
  }
  workload.cost.flops = NumberOr(*row, "flops", workload.cost.flops);
  workload.cost.transcendentals = NumberOr(*row, "transcendentals", workload.cost.transcendentals);
  workload.cost.bytes = NumberOr(*row, "bytes", workload.cost.bytes);
  const Json& rules = (*row)["inputs"];
  const Computation& entry = *workload.module->entry();
  if (!rules.is_array() || static_cast<int64_t>(rules.size()) != entry.parameter_count()) {
    return absl::InvalidArgumentError(StrCat("the manifest's row ", file.name, " must have ",
                                             entry.parameter_count(), " inputs"));
  }
  for (int64_t i = 0; i < entry.parameter_count(); ++i) {
    absl::StatusOr<Literal> input = DrawByRule(
        rules[static_cast<size_t>(i)], entry.parameter(i)->shape(), seed, static_cast<uint64_t>(i));
    if (!input.ok()) {
      return absl::Status(input.status().code(),
                          StrCat(file.name, " input ", i, ": ", ToStd(input.status().message())));
    }
    workload.inputs.push_back(*std::move(input));
  }
  return workload;
}

}  // namespace assay
