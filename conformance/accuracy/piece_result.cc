// Lines of files of results.
#include "conformance/accuracy/sweep.h"
#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::accuracy {
namespace {

constexpr std::string_view kKinds[] = {"real", "complex", "bits"};

}  // namespace

std::string PieceResult::Key() const {
  return StrCat(backend, "|", version, "|", kKinds[static_cast<size_t>(kind)], "|", name, "|",
                argument, "|", result, "|", stride, "|", samples, "|", piece, "/", pieces);
}

nlohmann::json ToJson(const PieceResult& result) {
  return {{"type", "accuracy"},
          {"backend", result.backend},
          {"version", result.version},
          {"kind", kKinds[static_cast<size_t>(result.kind)]},
          {"name", result.name},
          {"argument", result.argument},
          {"result", result.result},
          {"piece", result.piece},
          {"pieces", result.pieces},
          {"stride", result.stride},
          {"samples", result.samples},
          {"flushes", result.flushes},
          {"seconds", result.seconds},
          {"refusal", result.refusal},
          {"errors", ToJson(result.errors)}};
}

absl::StatusOr<PieceResult> PieceFromJson(const nlohmann::json& json) {
  PieceResult result;
  const auto bad = [](std::string_view field) {
    return absl::InvalidArgumentError(
        StrCat("a line of results of accuracy has no good '", field, "'; measure again"));
  };
  if (!json.is_object() || json.value("type", "") != "accuracy") return bad("type");
  const std::pair<const char*, std::string*> texts[] = {
      {"backend", &result.backend},   {"version", &result.version}, {"name", &result.name},
      {"argument", &result.argument}, {"result", &result.result},   {"refusal", &result.refusal}};
  for (const auto& [name, text] : texts) {
    if (!json.contains(name) || !json[name].is_string()) return bad(name);
    *text = json[name].get<std::string>();
  }
  const std::pair<const char*, int64_t*> numbers[] = {{"piece", &result.piece},
                                                      {"pieces", &result.pieces},
                                                      {"stride", &result.stride},
                                                      {"samples", &result.samples}};
  for (const auto& [name, number] : numbers) {
    if (!json.contains(name) || !json[name].is_number_integer()) return bad(name);
    *number = json[name].get<int64_t>();
  }
  if (!json.contains("seconds") || !json["seconds"].is_number()) return bad("seconds");
  result.seconds = json["seconds"].get<double>();
  if (!json.contains("flushes") || !json["flushes"].is_boolean()) return bad("flushes");
  result.flushes = json["flushes"].get<bool>();
  const auto* kind = std::find(std::begin(kKinds), std::end(kKinds), json.value("kind", ""));
  if (kind == std::end(kKinds)) return bad("kind");
  result.kind = static_cast<SubjectKind>(kind - std::begin(kKinds));
  if (!json.contains("errors")) return bad("errors");
  ASSAY_ASSIGN_OR_RETURN(result.errors, ErrorsFromJson(json["errors"]));
  return result;
}

}  // namespace assay::accuracy
