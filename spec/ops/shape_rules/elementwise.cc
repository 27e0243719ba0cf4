// Documents: operation semantics chapters 5 to 8 (types, "must reject"), hlo-format 4.0.1
// and 4.0.2. Implicit broadcasting is a matter of builders: here operands have the result's
// dimensions, but for the scalars that clamp and select allow.
#include <algorithm>
#include <utility>

#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

// Dimension i is dynamic where any operand's is (operands of the same dimensions).
Shape WithDynamicBits(const OpSite& site, Shape result) {
  for (const Shape* operand : site.operands) {
    if (operand->rank() != result.rank()) continue;
    for (int64_t d = 0; d < result.rank(); ++d) {
      if (operand->is_dynamic(d)) result.set_dynamic(d, true);
    }
  }
  return result;
}

// The shape of operand i, its layout included, with another element type.
Shape LikeOperand(const OpSite& site, int64_t i, ElementType type) {
  Shape result = *site.operands[i];
  result.set_element_type(type);
  return WithDynamicBits(site, std::move(result));
}

absl::Status CheckUnary(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  return CheckArray(site, 0, Info(site.opcode).types);
}

absl::Status CheckBinary(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0, Info(site.opcode).types));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 1, Info(site.opcode).types));
  ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 1));
  return CheckSameDimensions(site, 0, 1);
}

}  // namespace

absl::StatusOr<Shape> InferUnary(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckUnary(site));
  return LikeOperand(site, 0, site.operands[0]->element_type());
}

absl::StatusOr<Shape> InferComponentUnary(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckUnary(site));
  return LikeOperand(site, 0, ComponentType(site.operands[0]->element_type()));
}

absl::StatusOr<Shape> InferPredicateUnary(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckUnary(site));
  return LikeOperand(site, 0, ElementType::kPred);
}

absl::StatusOr<Shape> InferBinary(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckBinary(site));
  return LikeOperand(site, 0, site.operands[0]->element_type());
}

absl::StatusOr<Shape> InferComplex(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckBinary(site));
  const ElementType part = site.operands[0]->element_type();
  if (part != ElementType::kF32 && part != ElementType::kF64) {
    return SiteError(site, "element type ", Name(part),
                     " is no part of a complex type; only f32 and f64 are");
  }
  return LikeOperand(site, 0, part == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128);
}

absl::StatusOr<Shape> InferCompare(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckBinary(site));
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kDirection));
  const ElementType type = site.operands[0]->element_type();
  const int64_t default_type = static_cast<int64_t>(DefaultCompareType(type));
  const int64_t compare_type = site.attributes.Integer(Attr::kCompareType, default_type);
  const bool total_order = compare_type == static_cast<int64_t>(CompareType::kTotalOrder);
  if (compare_type != default_type && !(total_order && IsFloat(type))) {
    return SiteError(site, "type ", WordAt(Attr::kCompareType, compare_type),
                     " does not fit element type ", Name(type), "; its default is ",
                     WordAt(Attr::kCompareType, default_type));
  }
  const int64_t direction = site.attributes.Integer(Attr::kDirection);
  if (IsComplex(type) && direction != static_cast<int64_t>(Direction::kEq) &&
      direction != static_cast<int64_t>(Direction::kNe)) {
    return SiteError(site, "direction ", WordAt(Attr::kDirection, direction),
                     " has no meaning for complex operands; only EQ and NE do");
  }
  return LikeOperand(site, 0, ElementType::kPred);
}

absl::StatusOr<Shape> InferSelect(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0, kP));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 1));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 2));
  ASSAY_RETURN_IF_ERROR(CheckSameType(site, 1, 2));
  ASSAY_RETURN_IF_ERROR(CheckSameDimensions(site, 1, 2));
  if (!site.operands[0]->IsScalar()) ASSAY_RETURN_IF_ERROR(CheckSameDimensions(site, 0, 1));
  return LikeOperand(site, 1, site.operands[1]->element_type());
}

absl::StatusOr<Shape> InferClamp(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  for (int64_t i = 0; i < 3; ++i)
    ASSAY_RETURN_IF_ERROR(CheckArray(site, i, Info(site.opcode).types));
  for (int64_t bound : {0, 2}) {
    ASSAY_RETURN_IF_ERROR(CheckSameType(site, bound, 1));
    if (!site.operands[bound]->IsScalar())
      ASSAY_RETURN_IF_ERROR(CheckSameDimensions(site, bound, 1));
  }
  return LikeOperand(site, 1, site.operands[1]->element_type());
}

absl::StatusOr<Shape> InferReducePrecision(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckUnary(site));
  const int64_t exponent_bits = site.attributes.Integer(Attr::kExponentBits);
  const int64_t mantissa_bits = site.attributes.Integer(Attr::kMantissaBits);
  if (exponent_bits < 1) {
    return SiteError(site, "exponent_bits is ", exponent_bits, "; a format needs at least 1");
  }
  if (mantissa_bits < 0) return SiteError(site, "mantissa_bits is ", mantissa_bits);
  return LikeOperand(site, 0, site.operands[0]->element_type());
}

absl::StatusOr<Shape> InferConvert(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckUnary(site));
  ASSAY_ASSIGN_OR_RETURN(const Shape written, WrittenArray(site));
  const Shape& operand = *site.operands[0];
  if (operand.rank() != written.rank()) {
    return SiteError(site, DescribeOperand(site, 0), " has rank ", operand.rank(), ", the result ",
                     written.ToString(), " has ", written.rank());
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (operand.dimension(d) == written.dimension(d)) continue;
    return SiteError(site, "dimension ", d, " has size ", operand.dimension(d), " in ",
                     DescribeOperand(site, 0), " and ", written.dimension(d), " in the result");
  }
  return LikeOperand(site, 0, written.element_type());
}

absl::StatusOr<Shape> InferBitcastConvert(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckUnary(site));
  ASSAY_ASSIGN_OR_RETURN(const Shape written, WrittenArray(site));
  const Shape& operand = *site.operands[0];
  const ElementType from = operand.element_type(), to = written.element_type();
  if (IsComplex(from) != IsComplex(to)) {
    return SiteError(site, "cannot turn ", Name(from), " into ", Name(to),
                     ": both must be complex or neither");
  }
  const int64_t from_bits = BitWidth(from), to_bits = BitWidth(to);
  if (from_bits == to_bits) return LikeOperand(site, 0, to);
  if (std::max(from_bits, to_bits) % std::min(from_bits, to_bits) != 0) {
    return SiteError(site, "the width of ", Name(from), " (", from_bits, " bits) and that of ",
                     Name(to), " (", to_bits, " bits) are no multiples of each other");
  }
  DimVector dimensions(operand.dimensions().begin(), operand.dimensions().end());
  if (from_bits > to_bits) {
    dimensions.push_back(from_bits / to_bits);
    return CheckedResult(site, Shape::Array(to, dimensions));
  }
  const int64_t ratio = to_bits / from_bits;
  if (dimensions.empty() || dimensions.back() != ratio) {
    return SiteError(site, "the last dimension of ", DescribeOperand(site, 0), " must have size ",
                     ratio, " (", to_bits, " / ", from_bits, " bits)");
  }
  dimensions.pop_back();
  return CheckedResult(site, Shape::Array(to, dimensions));
}

}  // namespace assay
