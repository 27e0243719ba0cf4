// Reads dimension numbers and types.
#include "optimized/analysis/walks/contractions.h"

#include "absl/algorithm/container.h"

namespace assay {

ElementType DotAccumulator(const Instruction& dot) {
  ElementType result = dot.shape().element_type();
  if (!IsFloat(result)) return result;
  for (const Instruction* operand : dot.operands()) {
    if (operand->shape().element_type() == ElementType::kF64) return ElementType::kF64;
  }
  return result == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32;
}

DotDims DotDims::Of(const Instruction& dot) {
  const Attributes& a = dot.attributes();
  absl::Span<const int64_t> lhs_batch = a.Integers(Attr::kLhsBatchDims);
  absl::Span<const int64_t> rhs_batch = a.Integers(Attr::kRhsBatchDims);
  absl::Span<const int64_t> lhs_sum = a.Integers(Attr::kLhsContractingDims);
  absl::Span<const int64_t> rhs_sum = a.Integers(Attr::kRhsContractingDims);
  int64_t next = static_cast<int64_t>(lhs_batch.size());
  auto map = [&](const Shape& shape, absl::Span<const int64_t> batch,
                 absl::Span<const int64_t> sum) {
    std::vector<int64_t> result(shape.rank(), 0);
    for (int64_t d = 0; d < shape.rank(); ++d) {
      auto b = absl::c_find(batch, d);
      auto s = absl::c_find(sum, d);
      if (b != batch.end()) {
        result[d] = b - batch.begin();
      } else if (s != sum.end()) {
        result[d] = -1 - (s - sum.begin());
      } else {
        result[d] = next++;
      }
    }
    return result;
  };
  DotDims dims;
  dims.lhs = map(dot.operand(0)->shape(), lhs_batch, lhs_sum);
  dims.rhs = map(dot.operand(1)->shape(), rhs_batch, rhs_sum);
  return dims;
}

}  // namespace assay
