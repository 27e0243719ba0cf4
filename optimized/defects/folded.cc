// Tests elements by kind, and puts others in their place.
#include "optimized/defects/folded.h"

#include <cmath>
#include <limits>
#include <string>

#include "optimized/gates/claim_names.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

bool IsFloatOfKind(ElementType type, double value, const std::string& when, double number) {
  const double size = std::fabs(value);
  if (when == "nan") return std::isnan(value);
  if (when == "infinite") return std::isinf(value);
  if (when == "zero") return value == 0 && !std::signbit(value);
  if (when == "negative-zero") return value == 0 && std::signbit(value);
  if (when == "negative") return value < 0;
  if (when == "subnormal") return size > 0 && size < Format(type).MinNormal();
  if (when == "halfway") return size - std::floor(size) == 0.5;
  if (when == "at-least") return value >= number;
  return when == "equals" && value == number;
}

bool IsIntegerOfKind(ElementType type, int64_t value, const std::string& when, int64_t number) {
  const int bits = IsPred(type) ? 1 : BitWidth(type);
  const int64_t least = IsSigned(type) ? -(int64_t{1} << (bits - 2)) * 2 : 0;
  if (when == "zero") return value == 0;
  if (when == "negative") return IsSigned(type) && value < 0;
  if (when == "odd") return (value & 1) != 0;
  if (when == "smallest") return value == least;
  if (when == "largest") return IsSigned(type) && value == -(least + 1);
  if (when == "at-least") return value >= number;
  return when == "equals" && value == number;
}

bool IsOfKind(const Literal& literal, int64_t i, const Defect& defect) {
  const std::string when = defect.Text("when", "always");
  const ElementType type = literal.element_type();
  if (when == "always") return true;
  if (IsComplex(type)) return false;
  const int64_t number = defect.Integer("number", 0);
  return IsFloat(type)
             ? IsFloatOfKind(type, literal.GetDouble(i), when, static_cast<double>(number))
             : IsIntegerOfKind(type, literal.GetInteger(i), when, number);
}

// True if `operand` has an element for element i of `value`; that is `at`.
bool HasElement(const Literal& operand, const Literal& value, int64_t i, int64_t& at) {
  if (!operand.shape().IsArray()) return false;
  at = operand.element_count() == 1 ? 0 : i;
  return operand.element_count() == 1 || operand.element_count() == value.element_count();
}

void BendElement(const Defect& defect, absl::Span<const Literal* const> operands, Literal& value,
                 int64_t i) {
  const std::string becomes = defect.Text("becomes", "next");
  const ElementType type = value.element_type();
  if (becomes == "operand") {
    const int64_t from = defect.Integer("from", 0);
    int64_t at = 0;
    if (from < static_cast<int64_t>(operands.size()) && operands[from]->element_type() == type &&
        HasElement(*operands[from], value, i, at)) {
      value.SetBits(i, operands[from]->GetBits(at));
    }
    return;
  }
  if (becomes == "zero") value.SetInteger(i, 0);
  if (becomes == "one" && IsFloat(type)) value.SetDouble(i, 1);
  if (becomes == "one" && !IsFloat(type)) value.SetInteger(i, 1);
  if (becomes == "next") value.SetBits(i, value.GetBits(i) + 1);
  if (becomes == "nan" && IsFloat(type)) {
    value.SetDouble(i, std::numeric_limits<double>::quiet_NaN());
  }
  if (becomes == "negate" && IsFloat(type)) value.SetDouble(i, -value.GetDouble(i));
  if (becomes == "negate" && !IsFloat(type)) {
    value.SetInteger(i, static_cast<int64_t>(-static_cast<uint64_t>(value.GetInteger(i))));
  }
}

}  // namespace

void BendFolded(const Defect& defect, const Instruction& at,
                absl::Span<const Literal* const> operands, Literal& value) {
  if (defect.op != "folded-value" || RuleOf(defect.gate) != "constant-folding" ||
      ClaimOf(defect.gate) != Name(at.opcode()) || !defect.GuardHolds(&at) ||
      !value.shape().IsArray() || IsComplex(value.element_type())) {
    return;
  }
  const int64_t tested = defect.Integer("operand", 0);
  if (tested >= static_cast<int64_t>(operands.size())) return;
  for (int64_t i = 0; i < value.element_count(); ++i) {
    int64_t element = 0;
    if (HasElement(*operands[tested], value, i, element) &&
        IsOfKind(*operands[tested], element, defect)) {
      BendElement(defect, operands, value, i);
    }
  }
}

}  // namespace assay
