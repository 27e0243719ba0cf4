// Attributes of instructions: which one, presence, callees. Their values: parse_values.cc.
// Document: hlo-format chapters 3.4, 3.8, 3.9.
#include <algorithm>
#include <array>

#include "spec/base/strings.h"
#include "spec/ops/attribute_defaults.h"
#include "spec/text/parser/parser.h"

namespace assay::text_internal {
namespace {

constexpr std::array kCommonAttributes = {
    Attr::kSharding, Attr::kFrontendAttributes, Attr::kStatistics,   Attr::kResultAccuracy,
    Attr::kOrigin,   Attr::kMetadata,           Attr::kBackendConfig};

// Attributes of text written by older XLA that meant nothing or mean nothing any more (chapter 8):
// read over.
struct LegacyAttribute {
  Opcode opcode;
  std::string_view name;
};
constexpr std::array kLegacyAttributes = {
    LegacyAttribute{Opcode::kCopyStart, "is_cross_program_prefetch"},
    LegacyAttribute{Opcode::kAsyncStart, "async_group_id"},
    LegacyAttribute{Opcode::kAsyncUpdate, "async_group_id"},
    LegacyAttribute{Opcode::kAsyncDone, "async_group_id"},
    LegacyAttribute{Opcode::kAsyncUpdate, "async_execution_thread"},
    LegacyAttribute{Opcode::kAsyncDone, "async_execution_thread"},
    LegacyAttribute{Opcode::kAsyncUpdate, "calls"},
    LegacyAttribute{Opcode::kAsyncDone, "calls"},
    LegacyAttribute{Opcode::kAllReduce, "mode"},
    LegacyAttribute{Opcode::kReduceScatter, "mode"},
};

constexpr std::array<std::string_view, 10> kCalleeAttributes = {"to_apply",
                                                                "calls",
                                                                "condition",
                                                                "body",
                                                                "select",
                                                                "scatter",
                                                                "true_computation",
                                                                "false_computation",
                                                                "branch_computations",
                                                                "called_computations"};

// Names under which callees of this form may be written.
std::vector<std::string_view> CalleeNames(CalleeForm form) {
  switch (form) {
    case CalleeForm::kNone:
      return {};
    case CalleeForm::kToApply:
      return {"to_apply"};
    case CalleeForm::kCalls:
      return {"calls"};
    case CalleeForm::kConditionBody:
      return {"condition", "body"};
    case CalleeForm::kSelectScatter:
      return {"select", "scatter"};
    case CalleeForm::kBranches:
      return {"true_computation", "false_computation", "branch_computations"};
    case CalleeForm::kCalledComputations:
      return {"called_computations", "to_apply"};
  }
  return {};
}

bool IsCalleeName(CalleeForm form, std::string_view name) {
  // Most attributes are none; avoid building the list for them.
  if (std::find(kCalleeAttributes.begin(), kCalleeAttributes.end(), name) ==
      kCalleeAttributes.end()) {
    return false;
  }
  std::vector<std::string_view> names = CalleeNames(form);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string LegalNames(const OpInfo& info) {
  std::string names;
  auto add = [&names](std::string_view name) {
    if (!names.empty()) names += ", ";
    names += name;
  };
  for (const AttrSpec& spec : info.attributes) add(Info(spec.attr).name);
  for (std::string_view name : CalleeNames(info.callees)) add(name);
  for (Attr attr : kCommonAttributes) add(Info(attr).name);
  add("control-predecessors");
  return StrCat("one of ", names);
}

}  // namespace

bool Parser::ParseAttributes(const OpInfo& info, BodyScope* scope, AttributeState* state) {
  while (lexer_.Accept(',')) {
    if (!ParseOneAttribute(info, scope, state)) return false;
  }
  return true;
}

bool Parser::ParseOneAttribute(const OpInfo& info, BodyScope* scope, AttributeState* state) {
  size_t position = lexer_.Skip();
  std::string_view name = lexer_.Word();
  if (name.empty()) return Unexpected("the name of an attribute");
  if (!lexer_.Accept('=')) return Unexpected(StrCat("'=' after attribute ", name));
  auto twice = [&] { return Fail(position, StrCat("attribute ", name, " is given twice")); };
  for (size_t i = 0; i < info.attributes.size(); ++i) {
    const AttrSpec& spec = info.attributes[i];
    if (Info(spec.attr).name != name) continue;
    if (state->row_seen >> i & 1) return twice();
    state->row_seen |= uint64_t{1} << i;
    AttrValue value;
    if (!ParseAttributeValue(spec.attr, &value)) return false;
    bool dropped =
        spec.presence == AttrSpec::kOptional && IsDefaultValue(spec, Info(spec.attr).kind, value);
    if (!dropped) state->attributes.Set(spec.attr, std::move(value));
    return true;
  }
  for (Attr attr : {Attr::kAsyncExecutionThread, Attr::kOutputToOperandAliasing}) {
    if (!state->async || Info(attr).name != name) continue;
    if (state->async_attributes.Has(attr)) return twice();
    AttrValue value;
    if (!ParseAttributeValue(attr, &value)) return false;
    state->async_attributes.Set(attr, std::move(value));
    return true;
  }
  for (size_t i = 0; i < kCommonAttributes.size(); ++i) {
    Attr attr = kCommonAttributes[i];
    if (Info(attr).name != name) continue;
    if (state->common_seen >> i & 1) return twice();
    state->common_seen |= uint64_t{1} << i;
    AttrValue value;
    if (!ParseAttributeValue(attr, &value)) return false;
    const auto* text = std::get_if<std::string>(&value);
    const auto* map = std::get_if<StringMap>(&value);
    const bool empty = text != nullptr ? text->empty() : map != nullptr && map->empty();
    if (!empty) state->attributes.Set(attr, std::move(value));
    return true;
  }
  if (IsCalleeName(info.callees, name)) {
    for (const auto& [seen, callees] : state->callees) {
      if (seen == name) return twice();
    }
    return ParseCalleeAttribute(name, state);
  }
  if (name == "control-predecessors") {
    if (state->has_control_predecessors) return twice();
    return ParseControlPredecessors(scope, state);
  }
  for (const LegacyAttribute& legacy : kLegacyAttributes) {
    if (legacy.opcode != info.opcode || legacy.name != name) continue;
    std::string unused;
    lexer_.Accept('%');
    return ParseVerbatimValue(/*blank_continues=*/false, &unused);
  }
  return Fail(position, StrCat(info.name, " has no attribute ", name), LegalNames(info));
}

bool Parser::FinishAttributes(const OpInfo& info, const OperandVector& operands,
                              AttributeState* state, size_t position) {
  for (size_t i = 0; i < info.attributes.size(); ++i) {
    const AttrSpec& spec = info.attributes[i];
    if ((state->row_seen >> i & 1) != 0 || spec.presence == AttrSpec::kOptional) continue;
    const AttrInfo& attribute = Info(spec.attr);
    bool scalar_padding = attribute.kind == AttrKind::kPadding && !operands.empty() &&
                          operands[0]->shape().rank() == 0;
    if (spec.presence == AttrSpec::kRequired && !scalar_padding) {
      return Fail(position, StrCat(info.name, " needs the attribute ", attribute.name));
    }
    state->attributes.Set(spec.attr, DefaultValue(spec, attribute.kind));
  }
  // The one default that depends on an operand.
  if (info.opcode == Opcode::kCompare && !operands.empty()) {
    CompareType usual = DefaultCompareType(operands[0]->shape().element_type());
    if (state->attributes.Integer(Attr::kCompareType, -1) == static_cast<int64_t>(usual)) {
      state->attributes.Remove(Attr::kCompareType);
    }
  }
  return true;
}

bool Parser::ParseComputationReference(Computation** computation) {
  if (lexer_.Peek() == '{') return ParseInlineComputation(computation);
  size_t position = lexer_.Skip();
  std::string_view name = lexer_.Name();
  if (name.empty()) return Unexpected("the name of a computation");
  auto at = computations_.find(name);
  if (at == computations_.end()) {
    return Fail(position, StrCat("computation ", name, " is not defined before its use"));
  }
  *computation = at->second;
  return true;
}

bool Parser::ParseCalleeAttribute(std::string_view name, AttributeState* state) {
  std::vector<Computation*> callees;
  if (name != "branch_computations" && name != "called_computations") {
    Computation* callee = nullptr;
    if (!ParseComputationReference(&callee)) return false;
    callees.push_back(callee);
  } else {
    if (!Expect('{', StrCat(name, "="))) return false;
    while (!lexer_.Accept('}')) {
      if (!callees.empty() && !Expect(',', "a computation of a list")) return false;
      if (!ParseComputationReference(&callees.emplace_back())) return false;
    }
  }
  state->callees.emplace_back(name, std::move(callees));
  return true;
}

bool Parser::FinishCallees(const OpInfo& info, const OperandVector& operands, AttributeState* state,
                           size_t position, absl::InlinedVector<Computation*, 1>* callees) {
  std::vector<std::string_view> names = CalleeNames(info.callees);
  bool optional = info.callees == CalleeForm::kCalledComputations;
  if (info.callees == CalleeForm::kBranches) {
    bool by_pred = !operands.empty() && IsPred(operands[0]->shape().element_type());
    names = by_pred ? std::vector<std::string_view>{"true_computation", "false_computation"}
                    : std::vector<std::string_view>{"branch_computations"};
  }
  if (optional && state->callees.size() > 1) {
    return Fail(position, "called_computations and to_apply exclude each other");
  }
  size_t used = 0;
  for (std::string_view name : names) {
    auto at = std::find_if(state->callees.begin(), state->callees.end(),
                           [name](const auto& entry) { return entry.first == name; });
    if (at == state->callees.end()) {
      if (optional) continue;
      return Fail(position, StrCat(info.name, " needs the attribute ", name));
    }
    ++used;
    callees->insert(callees->end(), at->second.begin(), at->second.end());
  }
  if (used != state->callees.size()) {
    return Fail(position, StrCat("a conditional with this predicate is written with ",
                                 names.size() == 2 ? "true_computation and false_computation"
                                                   : "branch_computations"));
  }
  return true;
}

bool Parser::ParseControlPredecessors(BodyScope* scope, AttributeState* state) {
  state->has_control_predecessors = true;
  if (!Expect('{', "control-predecessors=")) return false;
  bool ok = true;
  bool first = true;
  while (!lexer_.Accept('}')) {
    if (!first && !Expect(',', "a control predecessor")) return false;
    first = false;
    size_t position = lexer_.Skip();
    std::string_view name = lexer_.Name();
    if (name.empty()) return Unexpected("the name of an instruction");
    auto at = scope->names.find(name);
    if (at == scope->names.end()) {
      Fail(position, StrCat("control predecessor ", name, " is not defined before its use"));
      ok = false;
    } else if (at->second == nullptr) {
      ok = false;  // reported at its definition
    } else {
      state->control_predecessors.push_back(at->second);
    }
  }
  return ok;
}

}  // namespace assay::text_internal
