// Ops on narrow types in wider ones, and the rows of those whose result depends on the width.
#include "reference/interpreter/widening.h"

#include <bit>

#include "reference/bounds/elements.h"
#include "reference/bounds/elementwise/narrow.h"
#include "reference/bounds/magnitudes.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/values/narrow_types.h"
#include "spec/base/status_macros.h"
#include "spec/ops/op_table.h"
#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

int Width(const OpContext& op) { return BitWidth(op.type()); }

template <typename F>
absl::Status MapCodes(const OpContext& op, Literal& result, F f) {
  const uint64_t mask = (uint64_t{1} << Width(op)) - 1;
  for (int64_t i = 0; i < op.count(); ++i) result.SetBits(i, f(i) & mask);
  return absl::OkStatus();
}

absl::Status EvaluatePopulationCount(const OpContext& op, Literal& result) {
  return MapCodes(op, result, [&](int64_t i) {
    return static_cast<uint64_t>(std::popcount(op.literal(0).GetBits(i)));
  });
}

absl::Status EvaluateCountLeadingZeros(const OpContext& op, Literal& result) {
  return MapCodes(op, result, [&](int64_t i) {
    return static_cast<uint64_t>(Width(op) - std::bit_width(op.literal(0).GetBits(i)));
  });
}

// Amounts from the width on shift everything out.
absl::Status EvaluateShiftRightLogical(const OpContext& op, Literal& result) {
  return MapCodes(op, result, [&](int64_t i) {
    const uint64_t amount = op.literal(1).GetBits(i);
    return amount >= static_cast<uint64_t>(Width(op)) ? 0 : op.literal(0).GetBits(i) >> amount;
  });
}

// The upper half of the product in twice the width.
absl::Status EvaluateMultiplyHigh(const OpContext& op, Literal& result) {
  return MapCodes(op, result, [&](int64_t i) {
    const int64_t product = op.literal(0).GetInteger(i) * op.literal(1).GetInteger(i);
    return static_cast<uint64_t>(product >> Width(op));
  });
}

// Fills with the top bit, for unsigned types too.
absl::Status EvaluateShiftRightArithmetic(const OpContext& op, Literal& result) {
  return MapCodes(op, result, [&](int64_t i) {
    const uint64_t code = op.literal(0).GetBits(i);
    const uint64_t sign = code >> (Width(op) - 1) != 0 ? ~uint64_t{0} << Width(op) : 0;
    const auto amount = std::min<uint64_t>(op.literal(1).GetBits(i), 63);
    return static_cast<uint64_t>(static_cast<int64_t>(code | sign) >> amount);
  });
}

// NaNs of `from`, an 8-bit float type, with their sign and payload: the total order looks at both.
void KeepNans(const Literal& from, Literal& wide) {
  const FloatFormat& format = Format(from.element_type());
  const FloatFormat& to = Format(wide.element_type());
  if (format.special != SpecialValues::kIeee) return;  // one payload
  const int shift = to.mantissa_bits - format.mantissa_bits;
  const uint64_t sign = uint64_t{1} << (format.bits() - 1);
  for (int64_t i = 0; i < from.element_count(); ++i) {
    const uint64_t code = from.GetBits(i);
    if (!IsNanCode(format, code)) continue;
    const uint64_t payload = code & ((uint64_t{1} << format.mantissa_bits) - 1);
    const uint64_t infinity = ((uint64_t{1} << to.exponent_bits) - 1) << to.mantissa_bits;
    const uint64_t wide_sign = (code & sign) != 0 ? uint64_t{1} << (to.bits() - 1) : 0;
    wide.SetBits(i, wide_sign | infinity | (payload << shift));
  }
}

}  // namespace

absl::StatusOr<Array> ConvertArray(const OpContext& op, const Array& array, ElementType type,
                                   bool bounding) {
  const OpEvaluation& convert = *FindEvaluation(Opcode::kConvert);
  Value operand;
  operand.array = std::shared_ptr<const Array>(std::shared_ptr<void>(), &array);
  const Value* operands[] = {&operand};
  const Shape shape = Shape::Array(type, array.literal.shape().dimensions());
  const OpContext context = op.On(shape, operands);
  Array result{Literal(shape)};
  ASSAY_RETURN_IF_ERROR(convert.evaluate(context, result.literal));
  const ElementType from = array.literal.element_type();
  if (IsFloat(from) && IsNarrowType(from) && IsFloat(type)) KeepNans(array.literal, result.literal);
  if (!bounding) return result;
  ASSAY_RETURN_IF_ERROR(convert.bound(context, result));
  return result;
}

absl::Status ApplyWidened(const OpContext& op, const OpEvaluation& row, bool bounding,
                          Array& result) {
  std::vector<Value> values;
  absl::InlinedVector<const Value*, 3> operands;
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const Array& operand = op.array(static_cast<int64_t>(k));
    const ElementType type = operand.literal.element_type();
    if (!IsNarrowType(type)) {
      values.push_back(*op.operands[k]);
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(Array wide, ConvertArray(op, operand, ComputedType(type), bounding));
    values.push_back({std::make_shared<const Array>(std::move(wide)), {}});
  }
  for (const Value& value : values) operands.push_back(&value);
  const Shape shape = Shape::Array(ComputedType(op.type()), op.shape.dimensions());
  const OpContext wide_op = op.On(shape, operands);
  Array wide{Literal(shape)};
  ASSAY_RETURN_IF_ERROR(row.evaluate(wide_op, wide.literal));
  const bool is_function =
      Info(op.instruction.opcode()).numeric.comparison == ComparisonClass::kUlp;
  if (bounding) {
    ASSAY_RETURN_IF_ERROR(row.bound(wide_op, wide));
    const bool may_be_half = op.clauses.Has(ClauseId::kExcessPrecision) && IsFloat(op.type()) &&
                             BitWidth(op.type()) == 8 && op.type() != ElementType::kF8E8M0FNU;
    // A function has an ulp of the narrow type, which is more.
    if (may_be_half && !is_function) GrantRoundingToHalf(wide_op, wide);
  }
  ASSAY_ASSIGN_OR_RETURN(Array narrow, ConvertArray(op, wide, op.type(), bounding));
  result = std::move(narrow);
  TakeMagnitudes(wide, result);
  if (bounding && is_function && IsFloat(op.type())) GrantOneUlp(op, wide, result);
  return absl::OkStatus();
}

absl::Span<const OpEvaluation> NarrowIntegerEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kPopcnt, EvaluatePopulationCount, BoundNonFloat<EvaluatePopulationCount>},
      {Opcode::kClz, EvaluateCountLeadingZeros, BoundNonFloat<EvaluateCountLeadingZeros>},
      {Opcode::kMulhi, EvaluateMultiplyHigh, BoundNonFloat<EvaluateMultiplyHigh>},
      {Opcode::kShiftRightLogical, EvaluateShiftRightLogical,
       BoundNonFloat<EvaluateShiftRightLogical>},
      {Opcode::kShiftRightArithmetic, EvaluateShiftRightArithmetic,
       BoundNonFloat<EvaluateShiftRightArithmetic>},
  };
  return kRows;
}

}  // namespace assay::reference
