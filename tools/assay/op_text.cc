// The rows of the op table in words.
#include "tools/assay/op_text.h"

#include <array>

#include "spec/base/strings.h"

namespace assay {
namespace {

struct Words {
  ComparisonClass comparison;
  std::string_view name, meaning;
};
constexpr std::array<Words, 9> kWords = {{
    {ComparisonClass::kBits, "bits", "moves data: every bit, NaN payloads included"},
    {ComparisonClass::kExact, "exact", "one right answer; any NaN for a NaN"},
    {ComparisonClass::kUlp, "ulp", "within a number of ulps of the correctly rounded value"},
    {ComparisonClass::kOrder, "order", "a sum or product whose order is free"},
    {ComparisonClass::kBody, "body", "whatever the ops of the called computations say"},
    {ComparisonClass::kResidual, "residual", "judged by a defining property"},
    {ComparisonClass::kSet, "set", "one of a finite set of answers"},
    {ComparisonClass::kStatistical, "statistical", "random: judged by a statistical test"},
    {ComparisonClass::kUnspecified, "unspecified", "no promise"},
}};

const Words& Row(ComparisonClass comparison) { return kWords[static_cast<size_t>(comparison)]; }

}  // namespace

std::string TypesText(TypeMask mask) {
  constexpr std::pair<TypeMask, std::string_view> kNames[] = {
      {kP, "pred"}, {kS, "signed"}, {kU, "unsigned"}, {kF, "float"}, {kC, "complex"}};
  if (mask == kAnyArray) return "any array";
  std::string text;
  for (const auto& [bit, name] : kNames) {
    if ((mask & bit) != 0) StrAppend(&text, text.empty() ? "" : ", ", name);
  }
  return text;
}

std::string OperandsText(const OpInfo& op) {
  if (op.operands.max == kAnyNumber) return StrCat(op.operands.min, " or more");
  if (op.operands.IsFixed()) return StrCat(op.operands.min);
  return StrCat(op.operands.min, "..", op.operands.max);
}

std::string ChapterText(const OpInfo& op) {
  if (op.chapter.substr(0, 10) == "hlo-format") return std::string(op.chapter);
  return StrCat("operation semantics ", op.chapter);
}

bool IsCompiled(const Backend& cpu, const OpInfo& op) {
  return op.IsDefined() &&
         cpu.Describe().capability(op.opcode, ElementType::kF32) == Capability::kSupported;
}

std::string_view Name(ComparisonClass comparison) { return Row(comparison).name; }
std::string_view Meaning(ComparisonClass comparison) { return Row(comparison).meaning; }

}  // namespace assay
