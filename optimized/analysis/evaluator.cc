// Evaluates constants op by op, in code of the compiler alone: the oracle must not share its
// mistakes.
#include "optimized/analysis/evaluator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "optimized/analysis/direction.h"
#include "spec/ops/op_table.h"
#include "spec/types/native.h"

namespace assay {
namespace {

template <typename T>
constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <typename T>
constexpr bool kIsFloat = !std::is_integral_v<T>;

// The type a float is computed in; one rounding back gives the correctly rounded result of + - * /.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <typename T>
T Round(Wide<T> value) {
  return T(value);
}

// ---- integers -------------------------------------------------------------------------------

template <typename T>
T DivideInteger(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(0 - static_cast<uint64_t>(a));
  }
  return static_cast<T>(a / b);
}

template <typename T>
T RemainderInteger(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

template <typename T>
T ShiftInteger(Opcode opcode, T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  using Signed = std::make_signed_t<T>;
  constexpr uint64_t kBits = sizeof(T) * 8;
  const uint64_t amount = static_cast<Unsigned>(b);
  if (opcode == Opcode::kShiftRightArithmetic) {
    return static_cast<T>(static_cast<Signed>(a) >> std::min(amount, kBits - 1));
  }
  if (amount >= kBits) return 0;
  if (opcode == Opcode::kShiftLeft) {
    return static_cast<T>(static_cast<uint64_t>(static_cast<Unsigned>(a)) << amount);
  }
  return static_cast<T>(static_cast<Unsigned>(a) >> amount);
}

template <typename T>
T BinaryInteger(Opcode opcode, T a, T b) {
  const uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);  // wraps when cut
  switch (opcode) {
    case Opcode::kAdd:
      return static_cast<T>(x + y);
    case Opcode::kSubtract:
      return static_cast<T>(x - y);
    case Opcode::kMultiply:
      return static_cast<T>(x * y);
    case Opcode::kDivide:
      return DivideInteger(a, b);
    case Opcode::kRemainder:
      return RemainderInteger(a, b);
    case Opcode::kMaximum:
      return std::max(a, b);
    case Opcode::kMinimum:
      return std::min(a, b);
    case Opcode::kAnd:
      return static_cast<T>(x & y);
    case Opcode::kOr:
      return static_cast<T>(x | y);
    case Opcode::kXor:
      return static_cast<T>(x ^ y);
    default:
      return ShiftInteger(opcode, a, b);
  }
}

bool BinaryPred(Opcode opcode, bool a, bool b) {
  switch (opcode) {
    case Opcode::kAnd:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
      return a && b;
    case Opcode::kXor:
      return a != b;
    default:
      return a || b;  // or, maximum, add
  }
}

// ---- floats ---------------------------------------------------------------------------------

template <typename F>
F MaximumFloat(F a, F b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<F>::quiet_NaN();
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <typename F>
F MinimumFloat(F a, F b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<F>::quiet_NaN();
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <typename F>
F BinaryFloat(Opcode opcode, F a, F b) {
  switch (opcode) {
    case Opcode::kAdd:
      return a + b;
    case Opcode::kSubtract:
      return a - b;
    case Opcode::kMultiply:
      return a * b;
    case Opcode::kDivide:
      return a / b;
    case Opcode::kMaximum:
      return MaximumFloat(a, b);
    default:
      return MinimumFloat(a, b);
  }
}

template <typename T>
T Binary(Opcode opcode, T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return BinaryPred(opcode, a, b);
  } else if constexpr (kIsInteger<T>) {
    return BinaryInteger(opcode, a, b);
  } else {
    return Round<T>(BinaryFloat<Wide<T>>(opcode, static_cast<Wide<T>>(a), static_cast<Wide<T>>(b)));
  }
}

template <typename T>
T Unary(Opcode opcode, T a) {
  if constexpr (std::is_same_v<T, bool>) {
    return !a;
  } else if constexpr (kIsInteger<T>) {
    const T negated = static_cast<T>(0 - static_cast<uint64_t>(a));
    if (opcode == Opcode::kNegate) return negated;
    if (opcode == Opcode::kNot) return static_cast<T>(~a);
    if constexpr (std::is_signed_v<T>) return a < 0 ? negated : a;
    return a;
  } else {
    const Wide<T> x = static_cast<Wide<T>>(a);
    return Round<T>(opcode == Opcode::kNegate ? -x : std::fabs(x));
  }
}

bool IsUnaryOp(Opcode opcode, ElementType type) {
  if (opcode == Opcode::kNot) return !IsFloat(type);
  return (opcode == Opcode::kNegate || opcode == Opcode::kAbs) && !IsPred(type);
}

bool IsBinaryOp(Opcode opcode, ElementType type) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return true;
    case Opcode::kSubtract:
    case Opcode::kDivide:
      return !IsPred(type);
    case Opcode::kRemainder:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      return IsInteger(type);
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return !IsFloat(type);
    default:
      return false;
  }
}

// Index i of an operand, or 0 where one scalar stands for all elements.
int64_t IndexOrZero(const Literal& literal, int64_t i) {
  return literal.element_count() == 1 ? 0 : i;
}

void EvaluateBinary(Opcode opcode, const Literal& a, const Literal& b, Literal& result) {
  DispatchComputed(result.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto x = a.data<T>(), y = b.data<T>();
    const auto out = result.data<T>();
    for (int64_t i = 0; i < result.element_count(); ++i) out[i] = Binary(opcode, x[i], y[i]);
  });
}

void EvaluateUnary(Opcode opcode, const Literal& operand, Literal& result) {
  DispatchComputed(result.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto x = operand.data<T>();
    const auto out = result.data<T>();
    for (int64_t i = 0; i < result.element_count(); ++i) out[i] = Unary(opcode, x[i]);
  });
}

void EvaluateCompare(const Instruction& inst, const Literal& a, const Literal& b, Literal& result) {
  const auto direction = static_cast<Direction>(inst.attributes().Integer(Attr::kDirection));
  DispatchComputed(a.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto x = a.data<T>(), y = b.data<T>();
    const auto out = result.data<bool>();
    for (int64_t i = 0; i < result.element_count(); ++i) {
      if constexpr (kIsFloat<T>) {
        out[i] = Holds(direction, static_cast<Wide<T>>(x[i]), static_cast<Wide<T>>(y[i]));
      } else {
        out[i] = Holds(direction, x[i], y[i]);
      }
    }
  });
}

void EvaluateClamp(const Literal& low, const Literal& operand, const Literal& high,
                   Literal& result) {
  DispatchComputed(result.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto out = result.data<T>();
    for (int64_t i = 0; i < result.element_count(); ++i) {
      const T raised =
          Binary(Opcode::kMaximum, operand.data<T>()[i], low.data<T>()[IndexOrZero(low, i)]);
      out[i] = Binary(Opcode::kMinimum, raised, high.data<T>()[IndexOrZero(high, i)]);
    }
  });
}

void CopyElement(const Literal& from, int64_t at, Literal& to, int64_t i) {
  const size_t width = StorageBytes(to.element_type());
  std::memcpy(to.bytes().data() + i * width, from.bytes().data() + at * width, width);
}

void EvaluateSelect(const Literal& predicate, const Literal& a, const Literal& b, Literal& result) {
  const auto chosen = predicate.data<bool>();
  for (int64_t i = 0; i < result.element_count(); ++i) {
    CopyElement(chosen[IndexOrZero(predicate, i)] ? a : b, i, result, i);
  }
}

// ---- converts -------------------------------------------------------------------------------

// Out of a float: NaN is 0, the rest is cut to an integer and saturates.
template <typename T>
T FloatToInteger(double value) {
  if (std::isnan(value)) return 0;
  const double cut = std::trunc(value);
  // 2^bits is a double whatever the type; the largest value itself may not be.
  const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (cut >= limit) return std::numeric_limits<T>::max();
  if (cut < static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  return static_cast<T>(cut);
}

template <typename T>
T FromCode(uint64_t code) {
  if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(static_cast<uint16_t>(code));
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(static_cast<uint32_t>(code));
  } else {
    return std::bit_cast<T>(code);
  }
}

template <typename From, typename To>
To ConvertElement(ElementType to, From value) {
  if constexpr (std::is_same_v<From, To>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    if constexpr (kIsFloat<From>)
      return !(static_cast<double>(value) == 0);
    else
      return value != 0;
  } else if constexpr (kIsFloat<To>) {
    if constexpr (kIsFloat<From>) {
      return To(static_cast<double>(value));
    } else {
      // Rounded once, from the exact integer.
      const bool negative = std::is_signed_v<From> && value < From{0};
      const uint64_t bits = static_cast<uint64_t>(value);
      const uint64_t code = EncodeInteger(Format(to), negative ? 0 - bits : bits, negative);
      return FromCode<To>(code);
    }
  } else if constexpr (kIsFloat<From>) {
    return FloatToInteger<To>(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

void EvaluateConvert(const Literal& operand, Literal& result) {
  const ElementType to = result.element_type();
  DispatchComputed(operand.element_type(), [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    DispatchComputed(to, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      const auto x = operand.data<From>();
      const auto out = result.data<To>();
      for (int64_t i = 0; i < result.element_count(); ++i) {
        out[i] = ConvertElement<From, To>(to, x[i]);
      }
    });
  });
}

// ---- data movement --------------------------------------------------------------------------

// Calls visit(linear index, index) for every element of `shape`, row-major.
template <typename Visit>
void ForEachIndex(const Shape& shape, Visit visit) {
  if (shape.ElementCount() == 0) return;
  std::vector<int64_t> index(shape.rank(), 0);
  int64_t linear = 0;
  do {
    visit(linear++, index);
  } while (NextIndex(shape.dimensions(), absl::MakeSpan(index)));
}

void EvaluateBroadcast(const Instruction& inst, const Literal& operand, Literal& result) {
  const absl::Span<const int64_t> dims = inst.attributes().Integers(Attr::kDimensions);
  const DimVector strides = RowMajorStrides(operand.shape().dimensions());
  ForEachIndex(result.shape(), [&](int64_t i, const std::vector<int64_t>& index) {
    int64_t from = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (operand.shape().dimension(d) != 1) from += index[dims[d]] * strides[d];
    }
    CopyElement(operand, from, result, i);
  });
}

void EvaluateTranspose(const Instruction& inst, const Literal& operand, Literal& result) {
  const absl::Span<const int64_t> permutation = inst.attributes().Integers(Attr::kDimensions);
  const DimVector strides = RowMajorStrides(operand.shape().dimensions());
  ForEachIndex(result.shape(), [&](int64_t i, const std::vector<int64_t>& index) {
    int64_t from = 0;
    for (size_t d = 0; d < permutation.size(); ++d) from += index[d] * strides[permutation[d]];
    CopyElement(operand, from, result, i);
  });
}

void EvaluateSlice(const Instruction& inst, const Literal& operand, Literal& result) {
  const absl::Span<const SliceRange> ranges = inst.attributes().SliceRanges(Attr::kSlice);
  const DimVector strides = RowMajorStrides(operand.shape().dimensions());
  ForEachIndex(result.shape(), [&](int64_t i, const std::vector<int64_t>& index) {
    int64_t from = 0;
    for (size_t d = 0; d < ranges.size(); ++d) {
      from += (ranges[d].start + index[d] * ranges[d].stride) * strides[d];
    }
    CopyElement(operand, from, result, i);
  });
}

void EvaluateReverse(const Instruction& inst, const Literal& operand, Literal& result) {
  const absl::Span<const int64_t> dims = inst.attributes().Integers(Attr::kDimensions);
  const DimVector strides = RowMajorStrides(operand.shape().dimensions());
  ForEachIndex(result.shape(), [&](int64_t i, const std::vector<int64_t>& index) {
    int64_t from = LinearIndex(strides, index);
    for (int64_t d : dims) {
      from += (operand.shape().dimension(d) - 1 - 2 * index[d]) * strides[d];
    }
    CopyElement(operand, from, result, i);
  });
}

void EvaluatePad(const Instruction& inst, const Literal& operand, const Literal& value,
                 Literal& result) {
  const absl::Span<const PaddingDim> padding = inst.attributes().Padding(Attr::kPadding);
  const DimVector strides = RowMajorStrides(operand.shape().dimensions());
  ForEachIndex(result.shape(), [&](int64_t i, const std::vector<int64_t>& index) {
    int64_t from = 0;
    bool inside = true;
    for (size_t d = 0; d < padding.size() && inside; ++d) {
      const int64_t at = index[d] - padding[d].low;
      const int64_t step = padding[d].interior + 1;
      inside = at >= 0 && at % step == 0 && at / step < operand.shape().dimension(d);
      from += at / step * strides[d];
    }
    if (inside) {
      CopyElement(operand, from, result, i);
    } else {
      CopyElement(value, 0, result, i);
    }
  });
}

void EvaluateConcatenate(const Instruction& inst, absl::Span<const Literal* const> parts,
                         Literal& result) {
  const int64_t dim = inst.attributes().Integers(Attr::kDimension)[0];
  ForEachIndex(result.shape(), [&](int64_t i, std::vector<int64_t> index) {
    for (const Literal* part : parts) {
      if (index[dim] < part->shape().dimension(dim)) {
        CopyElement(*part, LinearIndex(RowMajorStrides(part->shape().dimensions()), index), result,
                    i);
        return;
      }
      index[dim] -= part->shape().dimension(dim);
    }
  });
}

bool IsTotalOrder(const Instruction& compare) {
  return compare.attributes().Integer(Attr::kCompareType,
                                      static_cast<int64_t>(CompareType::kFloat)) ==
         static_cast<int64_t>(CompareType::kTotalOrder);
}

}  // namespace

bool CanEvaluate(const Instruction& inst) {
  if (!inst.shape().IsArray() || !IsComputed(inst.shape().element_type())) return false;
  for (const Instruction* operand : inst.operands()) {
    if (!operand->shape().IsArray() || !IsComputed(operand->shape().element_type())) return false;
  }
  const ElementType type = inst.shape().element_type();
  switch (inst.opcode()) {
    case Opcode::kCompare:
      return !IsFloat(inst.operand(0)->shape().element_type()) || !IsTotalOrder(inst);
    case Opcode::kBitcastConvert:
      return StorageBytes(type) == StorageBytes(inst.operand(0)->shape().element_type()) &&
             !IsPred(type) && !IsPred(inst.operand(0)->shape().element_type());
    case Opcode::kSelect:
    case Opcode::kClamp:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kPad:
    case Opcode::kConcatenate:
      return true;
    default:
      return IsUnaryOp(inst.opcode(), type) || IsBinaryOp(inst.opcode(), type);
  }
}

Literal Evaluate(const Instruction& inst, absl::Span<const Literal* const> operands,
                 const Shape& shape) {
  Literal result(shape);
  const Opcode opcode = inst.opcode();
  switch (opcode) {
    case Opcode::kCompare:
      EvaluateCompare(inst, *operands[0], *operands[1], result);
      break;
    case Opcode::kSelect:
      EvaluateSelect(*operands[0], *operands[1], *operands[2], result);
      break;
    case Opcode::kClamp:
      EvaluateClamp(*operands[0], *operands[1], *operands[2], result);
      break;
    case Opcode::kConvert:
      EvaluateConvert(*operands[0], result);
      break;
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kBitcastConvert:
      std::copy(operands[0]->bytes().begin(), operands[0]->bytes().end(), result.bytes().begin());
      break;
    case Opcode::kBroadcast:
      EvaluateBroadcast(inst, *operands[0], result);
      break;
    case Opcode::kTranspose:
      EvaluateTranspose(inst, *operands[0], result);
      break;
    case Opcode::kSlice:
      EvaluateSlice(inst, *operands[0], result);
      break;
    case Opcode::kReverse:
      EvaluateReverse(inst, *operands[0], result);
      break;
    case Opcode::kPad:
      EvaluatePad(inst, *operands[0], *operands[1], result);
      break;
    case Opcode::kConcatenate:
      EvaluateConcatenate(inst, operands, result);
      break;
    default:
      if (operands.size() == 1) {
        EvaluateUnary(opcode, *operands[0], result);
      } else {
        EvaluateBinary(opcode, *operands[0], *operands[1], result);
      }
  }
  return result;
}

}  // namespace assay
