// Clamps and adds start indices, at compile time where they are constants.
#include "optimized/passes/util/dynamic_index.h"

#include <algorithm>
#include <limits>

#include "optimized/passes/util/rule_util.h"

namespace assay {

absl::Span<Instruction* const> StartIndices(const Instruction* dynamic) {
  return dynamic->operands().subspan(dynamic->opcode() == Opcode::kDynamicSlice ? 1 : 2);
}

int64_t ClampStart(ElementType type, int64_t value, int64_t bound) {
  if (IsUnsigned(type) && value < 0) return bound;  // u64 above INT64_MAX
  return std::clamp<int64_t>(value, 0, bound);
}

std::optional<std::vector<int64_t>> ConstantStarts(const Instruction* dynamic) {
  const Shape& operand = dynamic->operand(0)->shape();
  const Shape& window =
      dynamic->opcode() == Opcode::kDynamicSlice ? dynamic->shape() : dynamic->operand(1)->shape();
  const absl::Span<Instruction* const> indices = StartIndices(dynamic);
  if (static_cast<int64_t>(indices.size()) != operand.rank()) return std::nullopt;
  std::vector<int64_t> starts;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const int64_t bound = operand.dimension(d) - window.dimension(d);
    const std::optional<int64_t> value = SplatInteger(indices[d]);
    if (!value && bound != 0) return std::nullopt;
    starts.push_back(bound == 0 ? 0
                                : ClampStart(indices[d]->shape().element_type(), *value, bound));
  }
  return starts;
}

DynamicIndex::DynamicIndex(Instruction* slice)
    : slice_(slice), computation_(slice->parent()), parts_(slice->shape().rank()) {
  const Shape& operand = slice->operand(0)->shape();
  sizes_.assign(operand.dimensions().begin(), operand.dimensions().end());
  for (int64_t d = 0; d < operand.rank(); ++d) {
    AddIndex(d, StartIndices(slice)[d], slice->shape().dimension(d));
  }
}

void DynamicIndex::AddOffset(int64_t d, int64_t offset, int64_t size) {
  if (offset != 0) parts_[d].push_back(Part{nullptr, offset, offset});
  sizes_[d] = size;
}

void DynamicIndex::AddIndex(int64_t d, Instruction* index, int64_t size) {
  const int64_t bound = sizes_[d] - size;
  sizes_[d] = size;
  if (bound == 0) return;  // clamped to 0
  if (const std::optional<int64_t> value = SplatInteger(index)) {
    const int64_t start = ClampStart(index->shape().element_type(), *value, bound);
    if (start != 0) parts_[d].push_back(Part{nullptr, start, start});
    return;
  }
  parts_[d].push_back(Part{index, 0, bound});
}

// One type for all dimensions that holds every sum: the indices' own if they agree, else s32 or
// s64.
ElementType DynamicIndex::SumType() const {
  int64_t largest = 0;
  std::optional<ElementType> common;
  bool agree = true;
  for (const auto& parts : parts_) {
    int64_t sum = 0;
    for (const Part& part : parts) {
      sum += part.bound;
      if (part.index == nullptr) continue;
      const ElementType type = part.index->shape().element_type();
      agree &= !common || *common == type;
      common = type;
    }
    largest = std::max(largest, sum);
  }
  if (common && agree && largest <= MaxInteger(*common)) return *common;
  return largest <= std::numeric_limits<int32_t>::max() ? ElementType::kS32 : ElementType::kS64;
}

Instruction* DynamicIndex::BuildPart(const Part& part, ElementType type) const {
  if (part.index == nullptr) return AddScalarInteger(computation_, type, part.constant);
  const ElementType own = part.index->shape().element_type();
  Instruction* zero = AddScalarInteger(computation_, own, 0);
  Instruction* result;
  if (part.bound > MaxInteger(own)) {
    // The type cannot pass the bound, nor spell it.
    result = computation_->Add(Opcode::kMaximum, part.index->shape(), {part.index, zero});
  } else {
    Instruction* bound = AddScalarInteger(computation_, own, part.bound);
    result = computation_->Add(Opcode::kClamp, part.index->shape(), {zero, part.index, bound});
  }
  if (own == type) return result;
  return computation_->Add(Opcode::kConvert, Shape::Scalar(type), {result});
}

Instruction* DynamicIndex::BuildSlice(const Shape& shape) const {
  const ElementType type = SumType();
  std::vector<Instruction*> operands = {slice_->operand(0)};
  for (const auto& parts : parts_) {
    Instruction* sum = nullptr;
    for (const Part& part : parts) {
      Instruction* next = BuildPart(part, type);
      sum =
          sum == nullptr ? next : computation_->Add(Opcode::kAdd, Shape::Scalar(type), {sum, next});
    }
    operands.push_back(sum == nullptr ? AddScalarInteger(computation_, type, 0) : sum);
  }
  return computation_->Add(Opcode::kDynamicSlice, shape, operands,
                           Attributes().Set(Attr::kDynamicSliceSizes, shape.dimensions()));
}

}  // namespace assay
