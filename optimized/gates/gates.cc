#include "optimized/gates/gates.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "nlohmann/json.hpp"
#include "optimized/defects/plant.h"
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
    absl::Status status;
    if (key == "types") {
      status = ReadTypes(item, defect);
    } else if (key == "min_rank") {
      status = ReadCount(item, key, defect.min_rank);
    } else if (key == "min_elements") {
      status = ReadCount(item, key, defect.min_elements);
    } else if (key == "max_elements") {
      status = ReadCount(item, key, defect.max_elements);
    } else {
      status = BadDefect(StrCat("guard has no field '", key,
                                "'; it has types, min_rank, min_elements, max_elements"));
    }
    if (!status.ok()) return status;
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
    if (absl::Status status = ReadString(value, key, name); !status.ok()) return status;
    const std::optional<DecisionKind> kind = KindFromName(name);
    if (!kind) return BadDefect(StrCat("'", name, "' is no kind of decision"));
    defect.kind = *kind;
    return absl::OkStatus();
  }
  return BadDefect(StrCat("unknown field '", key,
                          "'; the fields are name, summary, gate, kind, op, parameters, guard"));
}

bool GuardHolds(const Defect& defect, const Instruction* at) {
  if (at == nullptr) {
    return defect.types.empty() && defect.min_rank == 0 && defect.min_elements == 0 &&
           defect.max_elements < 0;
  }
  const Shape& shape = at->shape();
  if (!defect.types.empty() && std::find(defect.types.begin(), defect.types.end(),
                                         shape.element_type()) == defect.types.end()) {
    return false;
  }
  const int64_t elements = shape.IsArray() ? shape.ElementCount() : 0;
  return (shape.IsArray() ? shape.rank() : 0) >= defect.min_rank &&
         elements >= defect.min_elements &&
         (defect.max_elements < 0 || elements <= defect.max_elements);
}

bool Bites(const std::optional<Defect>& defect, DecisionKind kind, std::string_view rule,
           const Instruction* at) {
  return defect && defect->kind == kind && defect->gate == rule && GuardHolds(*defect, at);
}

int64_t IntegerParameter(const Defect& defect, const std::string& name, int64_t absent) {
  const auto found = defect.parameters.find(name);
  int64_t value = 0;
  if (found == defect.parameters.end() || !absl::SimpleAtoi(found->second, &value)) return absent;
  return value;
}

std::string Place(const Instruction* at) {
  if (at == nullptr) return "";
  return StrCat(at->parent() != nullptr ? at->parent()->name() : "", "/", at->name());
}

}  // namespace

absl::StatusOr<Defect> ParseDefect(const std::string& json) {
  if (json.size() > kMaxDefectBytes) {
    return BadDefect(StrCat(json.size(), " bytes; at most ", kMaxDefectBytes, " are read"));
  }
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return BadDefect("expected a JSON object");
  Defect defect;
  std::string ignored;
  for (const auto& [key, value] : root.items()) {
    if (absl::Status status = ReadField(key, value, defect, ignored); !status.ok()) return status;
  }
  if (defect.name.empty()) return BadDefect("'name' is missing");
  if (defect.gate.empty()) return BadDefect(StrCat(defect.name, ": 'gate' is missing"));
  if (absl::Status status = CheckOperator(defect); !status.ok()) return status;
  return defect;
}

Gates::Gates(int64_t limit, std::optional<Defect> defect)
    : limit_(limit), defect_(std::move(defect)) {}

bool Gates::Allow(DecisionKind kind, std::string_view rule, const Instruction* at) {
  const int64_t number = count() + 1;
  const bool taken = limit_ < 0 || number <= limit_;
  decisions_.push_back(Decision{number, kind, std::string(rule), Place(at), taken});
  return taken;
}

void Gates::Require(DecisionKind kind, std::string_view rule, const Instruction* at) {
  decisions_.push_back(Decision{count() + 1, kind, std::string(rule), Place(at), true});
}

std::optional<int64_t> Gates::IntegerFact(std::string_view rule, const Instruction* at,
                                          std::optional<int64_t> known) {
  if (!known || !Allow(DecisionKind::kFact, rule, at)) return std::nullopt;
  if (!Bites(defect_, DecisionKind::kFact, rule, at) || defect_->op != "integer-offset") {
    return known;
  }
  int64_t bent = 0;
  if (__builtin_add_overflow(*known, IntegerParameter(*defect_, "by", 1), &bent)) return known;
  const int64_t least = IntegerParameter(*defect_, "least", std::numeric_limits<int64_t>::min());
  return bent < least ? known : bent;
}

bool Gates::Claim(DecisionKind kind, std::string_view rule, const Instruction* at, bool holds) {
  // A claim that is false and stays false decides nothing and takes no number.
  const bool bent = Bites(defect_, kind, rule, at) && defect_->op == "claim-true";
  if (!holds && !bent) return false;
  return Allow(kind, rule, at);
}

const Defect* Gates::Planted(DecisionKind kind, std::string_view rule,
                             const Instruction* at) const {
  if (decisions_.empty()) return nullptr;
  const Decision& latest = decisions_.back();
  if (!latest.taken || latest.kind != kind || latest.rule != rule) return nullptr;
  return Bites(defect_, kind, rule, at) ? &*defect_ : nullptr;
}

std::map<std::string, int64_t> Gates::Counts() const {
  std::map<std::string, int64_t> counts;
  for (const Decision& decision : decisions_) counts[decision.rule] += decision.taken ? 1 : 0;
  return counts;
}

Rewrite::Rewrite(Gates& gates, std::string_view rule, Instruction* target, bool required)
    : target_(target) {
  const DecisionKind kind = required ? DecisionKind::kRequired : DecisionKind::kRewrite;
  allowed_ = true;
  if (required) {
    gates.Require(kind, rule, target);
  } else {
    allowed_ = gates.Allow(kind, rule, target);
  }
  planted_ = gates.Planted(kind, rule, target);
  first_new_id_ = target->parent()->parent()->next_id();
}

bool Rewrite::Replace(Instruction* with) {
  if (planted_ != nullptr) with = PlantInRewrite(*planted_, first_new_id_, with);
  target_->ReplaceAllUsesWith(with);
  target_->parent()->RemoveWithDeadOperands(target_);
  return true;
}

}  // namespace assay
