// Reads defects from JSON, strictly, and checks guards.
#include "optimized/defects/defect.h"

#include <functional>
#include <limits>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "nlohmann/json.hpp"
#include "optimized/defects/operators.h"
#include "optimized/gates/claim_names.h"
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

absl::Status ReadBound(const Json& item, const std::string& field, int64_t& out) {
  if (!item.is_number_integer() || item > std::numeric_limits<int64_t>::max()) {
    return BadDefect(StrCat("guard '", field, "' must be an integer"));
  }
  out = item.get<int64_t>();
  return absl::OkStatus();
}

// {"name": ..., "field": ..., "operand": ..., "min": ..., "max": ...}; a constant has no name.
absl::Status ReadNumbers(const Json& value, const std::string& what, Defect& defect) {
  if (!value.is_object()) return BadDefect(StrCat("guard '", what, "' must be an object"));
  NumberGuard guard;
  guard.min = std::numeric_limits<int64_t>::min();
  guard.max = std::numeric_limits<int64_t>::max();
  for (const auto& [key, item] : value.items()) {
    if (key == "operand") {
      ASSAY_RETURN_IF_ERROR(ReadCount(item, key, guard.operand));
    } else if (key == "min") {
      ASSAY_RETURN_IF_ERROR(ReadBound(item, key, guard.min));
    } else if (key == "max") {
      ASSAY_RETURN_IF_ERROR(ReadBound(item, key, guard.max));
    } else if (key == "name" && what == "attribute") {
      ASSAY_RETURN_IF_ERROR(ReadString(item, key, guard.attribute));
    } else if (key == "field" && what == "attribute") {
      ASSAY_RETURN_IF_ERROR(ReadString(item, key, guard.field));
    } else {
      return BadDefect(StrCat("guard '", what, "' has no field '", key, "'"));
    }
  }
  if ((what == "attribute") == guard.attribute.empty() ||
      (what == "constant" && guard.operand < 0)) {
    return BadDefect(StrCat("guard '", what, "' must say which"));
  }
  defect.numbers.push_back(std::move(guard));
  return absl::OkStatus();
}

absl::Status ReadOpcodes(const Json& value, Defect& defect) {
  if (!value.is_array()) return BadDefect("guard 'opcodes' must be a list of opcodes");
  for (const Json& item : value) {
    std::string opcode;
    ASSAY_RETURN_IF_ERROR(ReadString(item, "opcodes", opcode));
    if (!OpcodeFromName(opcode)) {
      return BadDefect(StrCat("guard 'opcodes': ", item.dump(), " is no opcode"));
    }
    defect.opcodes.push_back(std::move(opcode));
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
    } else if (key == "min_operands") {
      ASSAY_RETURN_IF_ERROR(ReadCount(item, key, defect.min_operands));
    } else if (key == "opcodes") {
      ASSAY_RETURN_IF_ERROR(ReadOpcodes(item, defect));
    } else if (key == "attribute" || key == "constant") {
      // A list of them: all hold.
      for (const Json& one : item.is_array() ? item : Json::array({item}))
        ASSAY_RETURN_IF_ERROR(ReadNumbers(one, key, defect));
    } else {
      return BadDefect(StrCat("guard has no field '", key,
                              "'; it has types, min_rank, min_elements, max_elements, "
                              "min_operands, opcodes, attribute, constant"));
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

bool ServesClaim(ClaimKind claim, const std::string& op) {
  switch (claim) {
    case ClaimKind::kCondition:
      return op == "claim-true";
    case ClaimKind::kNumber:
      return op == "integer-offset";
    case ClaimKind::kFolded:
      return op == "folded-value";
    case ClaimKind::kElement:
      return op == "element-value" || op == "element-index";
    case ClaimKind::kCode:
      return op == "mutate-kernel";
  }
  return false;
}

// A gate that no rule asks would never bite, and a campaign would count the defect as missed.
absl::Status CheckGate(const Defect& defect) {
  const DecisionRule* rule = FindRule(RuleOf(defect.gate));
  if (!ClaimOf(defect.gate).empty()) {
    const std::optional<ClaimKind> claim = FindClaim(defect.gate);
    if (!claim) {
      return BadDefect(StrCat(defect.name, ": no rule asks the claim '", defect.gate,
                              "'; did you mean '", NearestClaim(defect.gate), "'?"));
    }
    if (!ServesClaim(*claim, defect.op)) {
      return BadDefect(StrCat(defect.name, ": operator ", defect.op, " does not work on the claim ",
                              defect.gate));
    }
  }
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

namespace {

// Calls `use(field, number)` for the numbers of an attribute.
struct NumbersOf {
  const std::function<void(std::string_view, int64_t)>& use;

  void operator()(bool value) const { use("", value ? 1 : 0); }
  void operator()(int64_t value) const { use("", value); }
  void operator()(const Int64List& list) const {
    for (int64_t value : list) use("", value);
  }
  void operator()(const std::vector<SliceRange>& ranges) const {
    for (const SliceRange& range : ranges) {
      use("start", range.start);
      use("limit", range.limit);
      use("stride", range.stride);
    }
  }
  void operator()(const std::vector<PaddingDim>& padding) const {
    for (const PaddingDim& pad : padding) {
      use("low", pad.low);
      use("high", pad.high);
      use("interior", pad.interior);
    }
  }
  void operator()(const std::vector<WindowDim>& window) const {
    for (const WindowDim& dim : window) {
      use("size", dim.size);
      use("stride", dim.stride);
      use("low", dim.low);
      use("high", dim.high);
      use("base_dilation", dim.base_dilation);
      use("window_dilation", dim.window_dilation);
      use("reversal", dim.reversal ? 1 : 0);
    }
  }
  template <typename T>
  void operator()(const T&) const {}
};

bool SomeElementWithin(const Instruction* constant, const NumberGuard& guard) {
  while (constant->opcode() == Opcode::kBroadcast) constant = constant->operand(0);
  const Literal* literal = constant->literal();
  if (constant->opcode() != Opcode::kConstant || literal == nullptr ||
      !literal->shape().IsArray() || IsComplex(literal->element_type())) {
    return false;
  }
  const auto least = static_cast<double>(guard.min), most = static_cast<double>(guard.max);
  for (int64_t i = 0; i < literal->element_count(); ++i) {
    const double value = literal->GetDouble(i);
    if (value >= least && value <= most) return true;
  }
  return false;
}

bool NumberHolds(const Instruction* at, const NumberGuard& guard) {
  if (guard.operand >= at->operand_count()) return false;
  const Instruction* of = guard.operand < 0 ? at : at->operand(guard.operand);
  if (guard.attribute.empty()) return SomeElementWithin(of, guard);
  bool found = false;
  const std::function<void(std::string_view, int64_t)> use = [&](std::string_view field,
                                                                 int64_t value) {
    const bool is_meant = guard.field.empty() || guard.field == field;
    found |= is_meant && value >= guard.min && value <= guard.max;
  };
  for (const Attributes::Entry& entry : of->attributes().entries()) {
    if (Info(entry.first).name == guard.attribute) std::visit(NumbersOf{use}, entry.second);
  }
  return found;
}

}  // namespace

bool Defect::GuardHolds(const Instruction* at) const {
  if (at == nullptr) {
    return types.empty() && min_rank == 0 && min_elements == 0 && max_elements < 0 &&
           min_operands == 0 && opcodes.empty() && numbers.empty();
  }
  const Shape& shape = at->shape();
  if (!types.empty() && !absl::c_linear_search(types, shape.element_type())) return false;
  if (!opcodes.empty() && !absl::c_linear_search(opcodes, Name(at->opcode()))) return false;
  const int64_t elements = shape.IsArray() ? shape.ElementCount() : 0;
  return (shape.IsArray() ? shape.rank() : 0) >= min_rank && elements >= min_elements &&
         (max_elements < 0 || elements <= max_elements) && at->operand_count() >= min_operands &&
         absl::c_all_of(numbers, [&](const NumberGuard& guard) { return NumberHolds(at, guard); });
}

bool ForgetsClaim(const Defect& defect, std::string_view claim, const Instruction* at) {
  return defect.gate == claim && defect.op == "claim-true" && defect.GuardHolds(at);
}

int64_t BendNumber(const Defect& defect, std::string_view claim, const Instruction* at,
                   int64_t known) {
  return defect.gate == claim && defect.GuardHolds(at) ? BendKnown(defect, known) : known;
}

int64_t BendKnown(const Defect& defect, int64_t known) {
  int64_t bent = 0;
  if (defect.op != "integer-offset" ||
      __builtin_add_overflow(known, defect.Integer("by", 1), &bent)) {
    return known;
  }
  const bool within = bent >= defect.Integer("least", std::numeric_limits<int64_t>::min()) &&
                      bent <= defect.Integer("most", std::numeric_limits<int64_t>::max());
  return within ? bent : known;
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
