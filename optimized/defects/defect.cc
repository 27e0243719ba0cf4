// Reads defects from JSON, strictly, and checks guards.
#include "optimized/defects/defect.h"

#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "nlohmann/json.hpp"
#include "optimized/defects/operators.h"
#include "optimized/gates/rule_names.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxDefectBytes = 64 << 10;  // a defect is a dozen lines; more is not one

absl::Status BadDefect(std::string_view what) {
  return absl::InvalidArgumentError(StrCat("defect: ", what));
}

std::optional<DecisionKind> KindFromName(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(DecisionKind::kTask); ++i) {
    if (Name(static_cast<DecisionKind>(i)) == name) return static_cast<DecisionKind>(i);
  }
  return std::nullopt;
}

absl::Status ReadString(const Json& value, const std::string& field, std::string& out) {
  if (!value.is_string()) return BadDefect(StrCat("'", field, "' must be a string"));
  out = value.get<std::string>();
  return absl::OkStatus();
}

absl::Status ReadCount(const Json& value, const std::string& field, int64_t& out) {
  if (!value.is_number_integer() || value > std::numeric_limits<int64_t>::max() || value < 0) {
    return BadDefect(StrCat("guard '", field, "' must be an integer of at least 0"));
  }
  out = value.get<int64_t>();
  return absl::OkStatus();
}

absl::Status ReadParameters(const Json& value, Defect& defect) {
  if (!value.is_object()) return BadDefect("'parameters' must be an object");
  for (const auto& [key, item] : value.items()) {
    if (item.is_string()) {
      defect.parameters[key] = item.get<std::string>();
    } else if (item.is_number_integer()) {
      defect.parameters[key] = item.dump();
    } else {
      return BadDefect(StrCat("parameter '", key, "' must be a string or an integer"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadTypes(const Json& value, Defect& defect) {
  if (!value.is_array()) return BadDefect("guard 'types' must be a list of element type names");
  for (const Json& item : value) {
    std::optional<ElementType> type;
    if (item.is_string()) type = ElementTypeFromName(item.get<std::string>());
    if (!type) return BadDefect(StrCat("guard 'types': ", item.dump(), " is no element type"));
    defect.types.push_back(*type);
  }
  return absl::OkStatus();
}

absl::Status ReadGuard(const Json& value, Defect& defect) {
  if (!value.is_object()) return BadDefect("'guard' must be an object");
  for (const auto& [key, item] : value.items()) {
    if (key == "types") {
      ASSAY_RETURN_IF_ERROR(ReadTypes(item, defect));
    } else if (key == "min_rank") {
      ASSAY_RETURN_IF_ERROR(ReadCount(item, key, defect.min_rank));
    } else if (key == "min_elements") {
      ASSAY_RETURN_IF_ERROR(ReadCount(item, key, defect.min_elements));
    } else if (key == "max_elements") {
      ASSAY_RETURN_IF_ERROR(ReadCount(item, key, defect.max_elements));
    } else {
      return BadDefect(StrCat("guard has no field '", key,
                              "'; it has types, min_rank, min_elements, max_elements"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadField(const std::string& key, const Json& value, Defect& defect,
                       std::string& ignored) {
  if (key == "name") return ReadString(value, key, defect.name);
  if (key == "gate") return ReadString(value, key, defect.gate);
  if (key == "op") return ReadString(value, key, defect.op);
  if (key == "summary") return ReadString(value, key, ignored);  // for people
  if (key == "parameters") return ReadParameters(value, defect);
  if (key == "guard") return ReadGuard(value, defect);
  if (key == "kind") {
    std::string name;
    ASSAY_RETURN_IF_ERROR(ReadString(value, key, name));
    const std::optional<DecisionKind> kind = KindFromName(name);
    if (!kind) return BadDefect(StrCat("'", name, "' is no kind of decision"));
    defect.kind = *kind;
    return absl::OkStatus();
  }
  return BadDefect(StrCat("unknown field '", key,
                          "'; the fields are name, summary, gate, kind, op, parameters, guard"));
}

// A gate that no rule asks would never bite, and a campaign would count the defect as missed.
absl::Status CheckGate(const Defect& defect) {
  const DecisionRule* rule = FindRule(defect.gate);
  if (rule == nullptr) {
    return BadDefect(StrCat(defect.name, ": no rule is called '", defect.gate, "'; did you mean '",
                            NearestRule(defect.gate).name, "'?"));
  }
  if (rule->kind != defect.kind) {
    return BadDefect(StrCat(defect.name, ": the decisions of ", defect.gate, " are of kind ",
                            Name(rule->kind), ", not ", Name(defect.kind)));
  }
  return absl::OkStatus();
}

}  // namespace

std::string Defect::Text(const std::string& parameter, const std::string& absent) const {
  const auto found = parameters.find(parameter);
  return found == parameters.end() ? absent : found->second;
}

int64_t Defect::Integer(const std::string& parameter, int64_t absent) const {
  int64_t value = 0;
  return absl::SimpleAtoi(Text(parameter), &value) ? value : absent;
}

bool Defect::GuardHolds(const Instruction* at) const {
  if (at == nullptr) {
    return types.empty() && min_rank == 0 && min_elements == 0 && max_elements < 0;
  }
  const Shape& shape = at->shape();
  if (!types.empty() &&
      std::find(types.begin(), types.end(), shape.element_type()) == types.end()) {
    return false;
  }
  const int64_t elements = shape.IsArray() ? shape.ElementCount() : 0;
  return (shape.IsArray() ? shape.rank() : 0) >= min_rank && elements >= min_elements &&
         (max_elements < 0 || elements <= max_elements);
}

absl::StatusOr<Defect> ParseDefect(const std::string& json) {
  if (json.size() > kMaxDefectBytes) {
    return BadDefect(StrCat(json.size(), " bytes; at most ", kMaxDefectBytes, " are read"));
  }
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return BadDefect("expected a JSON object");
  Defect defect;
  std::string ignored;
  for (const auto& [key, value] : root.items()) {
    ASSAY_RETURN_IF_ERROR(ReadField(key, value, defect, ignored));
  }
  if (defect.name.empty()) return BadDefect("'name' is missing");
  if (defect.gate.empty()) return BadDefect(StrCat(defect.name, ": 'gate' is missing"));
  ASSAY_RETURN_IF_ERROR(CheckOperator(defect));
  ASSAY_RETURN_IF_ERROR(CheckGate(defect));
  return defect;
}

}  // namespace assay
