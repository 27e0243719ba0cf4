#include "optimized/cpu/missing_forms.h"

#include "optimized/codegen/complex.h"
#include "optimized/cpu/collective_plan.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

// The combiner's parameters have the operands' types: no code converts between them.
bool CombinesAsIs(const Instruction& i) {
  const Computation& combiner = *i.callees().back();
  const int64_t n = combiner.parameter_count() / 2;
  for (int64_t k = 0; k < combiner.parameter_count(); ++k) {
    if (combiner.parameter(k)->shape().element_type() != i.operand(k % n)->shape().element_type()) {
      return false;
    }
  }
  return true;
}

// A collective moves bytes: its results have the operands' types.
bool ConvertsBetweenTypes(const Instruction& collective) {
  const auto results = static_cast<int64_t>(LeafCount(collective.shape()));
  for (int64_t k = 0; k < results; ++k) {
    const Shape& result =
        collective.shape().IsTuple() ? collective.shape().elements()[k] : collective.shape();
    if (!result.IsArray() ||
        result.element_type() != collective.operand(k)->shape().element_type()) {
      return true;
    }
  }
  return false;
}

bool IsTotalOrder(const Instruction& compare) {
  return compare.attributes().Integer(Attr::kCompareType, 0) ==
         static_cast<int64_t>(CompareType::kTotalOrder);
}

bool LacksComplexCode(Opcode opcode) {
  return opcode == Opcode::kCholesky || opcode == Opcode::kTriangularSolve ||
         opcode == Opcode::kBitcastConvert ||
         (FindElementwise(opcode) != nullptr && FindComplexElementwise(opcode) == nullptr);
}

// What of the instruction's form has no code; empty when all has.
std::string MissingForm(const Instruction& i) {
  const bool of_array = i.operand_count() > 0 && i.operand(0)->shape().IsArray();
  const ElementType type = of_array ? i.operand(0)->shape().element_type() : ElementType::kPred;
  const bool tiny_float = IsFloat(type) && BitWidth(type) <= 8;
  if (InvolvesComplex(i) && LacksComplexCode(i.opcode())) return "this op on complex numbers";
  if (IsCollective(i.opcode())) {
    if (i.attributes().Has(Attr::kPermuteSliceSizes)) return "a collective-permute of slices";
    return ConvertsBetweenTypes(i) ? "a collective that converts between types" : "";
  }
  switch (i.opcode()) {
    case Opcode::kCholesky:
    case Opcode::kReducePrecision:
    case Opcode::kTopK:
    case Opcode::kTriangularSolve:
      return tiny_float ? StrCat("this op on ", Name(type)) : "";
    case Opcode::kCompare:
      return tiny_float && IsTotalOrder(i) ? StrCat("the total order of ", Name(type)) : "";
    case Opcode::kRngBitGenerator: {
      const ElementType bits = i.shape().elements()[1].element_type();
      return BitWidth(bits) < 8 && IsSigned(bits) ? StrCat("random bits of ", Name(bits)) : "";
    }
    case Opcode::kConvolution:
      return IsPlainConvolution(i.attributes()) ? "" : "a backward or sparse convolution";
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
      return CombinesAsIs(i) ? "" : "a combiner of another type than its operands";
    default:
      return "";
  }
}

}  // namespace

absl::Status CheckForm(const Instruction& instruction) {
  const std::string missing = MissingForm(instruction);
  if (missing.empty()) return absl::OkStatus();
  return MakeError(ErrorClass::kUnsupported,
                   StrCat("cpu: no code for ", missing, ": ", instruction.ToString()));
}

}  // namespace assay
