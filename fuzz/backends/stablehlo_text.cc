// One walk over the entry and what it calls.
#include "fuzz/backends/stablehlo_text.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "fuzz/backends/stablehlo_ops.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

absl::Status Refused(std::string_view what) {
  return MakeError(ErrorClass::kUnsupported, StrCat("no StableHLO: ", what));
}

// An array in the text: its name and its type.
struct Value {
  std::string name, type;
};
using Values = std::vector<Value>;  // the leaves of an HLO value

class Writer {
 public:
  absl::StatusOr<std::string> Write(const Module& module) {
    const Computation& entry = *module.entry();
    std::string parameters;
    Scope scope;
    int64_t number = 0;
    for (int64_t i = 0; i < entry.parameter_count(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(Values values, Fresh(entry.parameter(i)->shape(), "%arg", number));
      for (size_t leaf = 0; leaf < values.size(); ++leaf) {
        StrAppend(&parameters, parameters.empty() ? "" : ", ", values[leaf].name, ": ",
                  values[leaf].type, AliasOf(module, i, leaf, values.size()));
      }
      scope[entry.parameter(i)] = std::move(values);
    }
    ASSAY_ASSIGN_OR_RETURN(const Values results, Body(entry, scope));
    return StrCat("module @assay {\n  func.func public @main(", parameters, ") -> (",
                  TypesOf(results), ") {\n", text_, "    ",
                  results.empty()
                      ? "func.return"
                      : StrCat("func.return ", NamesOf(results), " : ", TypesOf(results)),
                  "\n  }\n}\n");
  }

 private:
  using Scope = std::map<const Instruction*, Values>;

  static std::string NamesOf(const Values& values) {
    return absl::StrJoin(values, ", ",
                         [](std::string* out, const Value& value) { out->append(value.name); });
  }
  static std::string TypesOf(const Values& values) {
    return absl::StrJoin(values, ", ",
                         [](std::string* out, const Value& value) { out->append(value.type); });
  }

  static std::string AliasOf(const Module& module, int64_t parameter, size_t leaf, size_t leaves) {
    for (const InputOutputAlias& alias : module.config().input_output_alias) {
      if (alias.parameter != parameter || leaves != 1 || leaf != 0) continue;
      if (alias.output_index.size() > 1) continue;
      return StrCat(" {tf.aliasing_output = ",
                    alias.output_index.empty() ? 0 : alias.output_index[0], " : i32}");
    }
    return "";
  }

  absl::StatusOr<Values> Fresh(const Shape& shape, std::string_view prefix, int64_t& number) {
    Values values;
    if (shape.IsTuple()) {
      for (const Shape& element : shape.elements()) {
        ASSAY_ASSIGN_OR_RETURN(Values more, Fresh(element, prefix, number));
        values.insert(values.end(), more.begin(), more.end());
      }
      return values;
    }
    ASSAY_ASSIGN_OR_RETURN(std::string type, StableHloType(shape));
    values.push_back({StrCat(prefix, number++), std::move(type)});
    return values;
  }

  absl::StatusOr<Values> Body(const Computation& computation, Scope& scope) {
    for (const Instruction* at : computation.PostOrder()) {
      if (scope.contains(at)) continue;
      if (++count_ > kMostOps) return Refused("a program of too many operations");
      ASSAY_ASSIGN_OR_RETURN(scope[at], One(*at, scope));
    }
    return scope.at(computation.root());
  }

  // A computation whose parameters are these values, written in place.
  absl::StatusOr<Values> InPlace(const Computation& computation,
                                 const std::vector<Values>& values) {
    Scope scope;
    for (int64_t i = 0; i < computation.parameter_count(); ++i)
      scope[computation.parameter(i)] = values[static_cast<size_t>(i)];
    return Body(computation, scope);
  }

  absl::StatusOr<Values> One(const Instruction& at, const Scope& scope) {
    std::vector<Values> groups;
    Values operands;
    for (const Instruction* operand : at.operands()) {
      groups.push_back(scope.at(operand));
      operands.insert(operands.end(), groups.back().begin(), groups.back().end());
    }
    switch (at.opcode()) {
      case Opcode::kTuple:
      case Opcode::kOptBarrier:
      case Opcode::kCopy:
        return operands;
      case Opcode::kGetTupleElement:
        return Element(at, operands);
      case Opcode::kCall:
      case Opcode::kFusion:
        return InPlace(*at.callee(), groups);
      case Opcode::kWhile:
        return While(at, operands);
      case Opcode::kConditional:
        return Conditional(at, groups);
      default:
        return Plain(at, operands);
    }
  }

  static absl::StatusOr<Values> Element(const Instruction& at, const Values& operands) {
    const Shape& tuple = at.operand(0)->shape();
    size_t first = 0;
    for (int64_t i = 0; i < at.tuple_index(); ++i)
      first += LeafCount(tuple.elements()[static_cast<size_t>(i)]);
    const auto begin = operands.begin() + static_cast<std::ptrdiff_t>(first);
    return Values(begin, begin + static_cast<std::ptrdiff_t>(LeafCount(at.shape())));
  }
  static size_t LeafCount(const Shape& shape) {
    if (!shape.IsTuple()) return 1;
    size_t count = 0;
    for (const Shape& element : shape.elements()) count += LeafCount(element);
    return count;
  }

  // Writes the op and gives its results.
  absl::StatusOr<Values> Op(const Shape& shape, std::string_view name, const Values& operands,
                            std::string_view attributes, std::string_view regions = "") {
    ASSAY_ASSIGN_OR_RETURN(Values results, Fresh(shape, "%v", next_));
    const std::string line = StrCat(
        "    ", NamesOf(results), results.empty() ? "" : " = ", "\"", name, "\"(",
        NamesOf(operands), ")", regions, attributes.empty() ? "" : " {", attributes,
        attributes.empty() ? "" : "}", " : (", TypesOf(operands), ") -> ",
        results.size() == 1 ? "" : "(", TypesOf(results), results.size() == 1 ? "" : ")", "\n");
    // Several results have one name and numbers.
    if (results.size() > 1) {
      const std::string base = StrCat("%t", next_++);
      const std::string names = NamesOf(results);
      for (size_t i = 0; i < results.size(); ++i) results[i].name = StrCat(base, "#", i);
      text_ += StrCat("    ", base, ":", results.size(), line.substr(4 + names.size()));
    } else {
      text_ += line;
    }
    return results;
  }

  // A region whose block takes arrays of the computation's parameters.
  absl::StatusOr<std::string> Region(const Computation& computation) {
    std::vector<Values> groups;
    Values all;
    for (const Instruction* parameter : computation.parameters()) {
      ASSAY_ASSIGN_OR_RETURN(Values values, Fresh(parameter->shape(), "%b", next_));
      all.insert(all.end(), values.begin(), values.end());
      groups.push_back(std::move(values));
    }
    std::string outside = std::exchange(text_, "");
    absl::StatusOr<Values> results = InPlace(computation, groups);
    std::string inside = std::exchange(text_, std::move(outside));
    ASSAY_RETURN_IF_ERROR(results.status());
    std::string head;
    for (const Value& value : all)
      StrAppend(&head, head.empty() ? "" : ", ", value.name, ": ", value.type);
    return StrCat("{\n    ^bb0", head.empty() ? "" : "(", head, head.empty() ? "" : ")", ":\n",
                  inside, ReturnOf(*results), "    }");
  }
  static std::string ReturnOf(const Values& results) {
    return StrCat("    \"stablehlo.return\"(", NamesOf(results), ") : (", TypesOf(results),
                  ") -> ()\n");
  }

  absl::StatusOr<Values> While(const Instruction& at, const Values& operands) {
    ASSAY_ASSIGN_OR_RETURN(const std::string condition, Region(*at.callee(0)));
    ASSAY_ASSIGN_OR_RETURN(const std::string body, Region(*at.callee(1)));
    return Op(at.shape(), "stablehlo.while", operands, "",
              StrCat(" (", condition, ", ", body, ")"));
  }

  // Branches take no parameters: what they are given stands outside.
  absl::StatusOr<Values> Conditional(const Instruction& at, const std::vector<Values>& groups) {
    std::string regions;
    for (size_t i = 0; i < at.callees().size(); ++i) {
      std::string outside = std::exchange(text_, "");
      absl::StatusOr<Values> results =
          InPlace(*at.callee(static_cast<int64_t>(i)), {groups.at(i + 1)});
      std::string inside = std::exchange(text_, std::move(outside));
      ASSAY_RETURN_IF_ERROR(results.status());
      StrAppend(&regions, regions.empty() ? "" : ", ", "{\n", inside, ReturnOf(*results), "    }");
    }
    const bool is_if = at.operand(0)->shape().element_type() == ElementType::kPred;
    return Op(at.shape(), is_if ? "stablehlo.if" : "stablehlo.case", groups[0], "",
              StrCat(" (", regions, ")"));
  }

  absl::StatusOr<Values> Plain(const Instruction& at, const Values& operands) {
    ASSAY_ASSIGN_OR_RETURN(const StableHloOp op, StableHloOpOf(at));
    std::string regions;
    for (const Computation* callee : at.callees()) {
      ASSAY_ASSIGN_OR_RETURN(const std::string region, Region(*callee));
      StrAppend(&regions, regions.empty() ? "" : ", ", region);
    }
    return Op(at.shape(), op.name, operands, op.attributes,
              regions.empty() ? "" : StrCat(" (", regions, ")"));
  }

  static constexpr int64_t kMostOps = 200000;

  std::string text_;
  int64_t next_ = 0, count_ = 0;
};

}  // namespace

absl::StatusOr<std::string> WriteStableHlo(const Module& module) {
  // The words of an op are found by places that only a valid module is sure to have.
  if (const absl::Status valid = Verify(module); !valid.ok())
    return Refused(StrCat("the module is invalid: ", ToStd(valid.message())));
  return Writer().Write(module);
}

}  // namespace assay
