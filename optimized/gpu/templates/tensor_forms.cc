// A function per family of types.
#include "optimized/gpu/templates/tensor_forms.h"

#include <algorithm>

#include "optimized/analysis/walks/contractions.h"
#include "spec/attributes/attribute_words.h"

namespace assay::gpu {
namespace {

// Sums of products of f8 are to be as good as those of f32.
constexpr int kBitsOfSums = 24;

bool IsF8OfTensorCores(ElementType type) {
  return type == ElementType::kF8E4M3FN || type == ElementType::kF8E5M2;
}

// Every number of these is one of f16.
bool IsWithinHalf(ElementType type) {
  return IsFloat(type) && BitWidth(type) <= 8 && type != ElementType::kF8E8M0FNU;
}

// The algorithm that the program names says what f32 operands become.
std::optional<TensorForm> OfSingles(const Instruction& dot) {
  const std::string_view algorithm =
      WordAt(Attr::kAlgorithm, dot.attributes().Integer(Attr::kAlgorithm));
  if (algorithm == "dot_tf32_tf32_f32") {
    return TensorForm{.types = {ElementType::kF32, ElementType::kF32},
                      .rounded_bits = 13,
                      .reason = "tf32, as the algorithm says"};
  }
  if (algorithm == "dot_bf16_bf16_f32") {
    return TensorForm{.types = {ElementType::kBF16, ElementType::kBF16},
                      .rounded_bits = 16,
                      .reason = "bf16, as the algorithm says"};
  }
  return std::nullopt;
}

}  // namespace

int64_t TensorDepth(const TensorForm& form) {
  constexpr int64_t kWords = 8;  // of 32 bits, or elements of f64
  return kWords * std::max(1, 32 / BitWidth(form.types[0]));
}

std::optional<TensorForm> TensorFormOf(const Instruction& dot, const Architecture& architecture) {
  const ElementType lhs = dot.operand(0)->shape().element_type();
  const ElementType rhs = dot.operand(1)->shape().element_type();
  const ElementType sum = DotAccumulator(dot);
  if (lhs == rhs && (lhs == ElementType::kS8 || lhs == ElementType::kU8)) {
    const bool is_whole = sum == ElementType::kS32 || sum == ElementType::kU32;
    if (!is_whole) return std::nullopt;
    return TensorForm{.types = {lhs, rhs}, .sum = sum, .reason = "bytes"};
  }
  if (lhs == ElementType::kF64 && rhs == lhs && architecture.has_fast_tensor_f64) {
    return TensorForm{.types = {lhs, rhs},
                      .sum = ElementType::kF64,
                      .is_whole_f64 = architecture.name != "sm_80",
                      .reason = "f64"};
  }
  if (sum != ElementType::kF32) return std::nullopt;
  if (lhs == rhs && (lhs == ElementType::kF16 || lhs == ElementType::kBF16)) {
    return TensorForm{.types = {lhs, rhs}, .reason = lhs == ElementType::kF16 ? "f16" : "bf16"};
  }
  if (lhs == ElementType::kF32 && rhs == lhs) return OfSingles(dot);
  if (!IsWithinHalf(lhs) || !IsWithinHalf(rhs)) return std::nullopt;
  if (IsF8OfTensorCores(lhs) && IsF8OfTensorCores(rhs) &&
      architecture.tensor_f8_fraction_bits >= kBitsOfSums) {
    return TensorForm{.types = {lhs, rhs}, .reason = "f8"};
  }
  return TensorForm{.reason = "f8 as f16, of which sums keep more bits here"};
}

}  // namespace assay::gpu
