// Turns the index vectors of gather and scatter into places in the operand.
#include "optimized/codegen/indexing.h"

#include "absl/algorithm/container.h"
#include "spec/base/status_macros.h"

namespace assay {

using llvm::Value;
using Frame = ElementEmitter::Frame;

absl::StatusOr<WindowStart> EmitWindowStart(ElementEmitter& emitter, const Frame* frame,
                                            const IndexNumbers& numbers, const Instruction& indices,
                                            int64_t operand_rank, const std::vector<Value*>& at) {
  const Shape& shape = indices.shape();
  // The index vectors' position: what remains of `at` without the window's dimensions, in order.
  ElementIndex vector;
  size_t next = 0;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d == numbers.index_vector_dim) {
      vector.dims.push_back(emitter.Index(0));
      continue;
    }
    while (absl::c_linear_search(numbers.window_dims, static_cast<int64_t>(next))) ++next;
    vector.dims.push_back(at[next++]);
  }
  WindowStart start;
  start.components.resize(operand_rank);
  start.batch.resize(operand_rank, nullptr);
  for (size_t k = 0; k < numbers.batching_dims.size(); ++k) {
    start.batch[numbers.batching_dims[k]] = vector.dims[numbers.indices_batching_dims[k]];
  }
  const bool is_signed = IsSigned(shape.element_type());
  for (size_t k = 0; k < numbers.index_map.size(); ++k) {
    if (numbers.index_vector_dim < shape.rank()) {
      vector.dims[numbers.index_vector_dim] = emitter.Index(static_cast<int64_t>(k));
    }
    ASSAY_ASSIGN_OR_RETURN(auto* component, emitter.EmitOne(frame, &indices, vector));
    llvm::IRBuilder<>& ir = emitter.builder().ir();
    start.components[numbers.index_map[k]] = {
        ir.CreateIntCast(component, ir.getInt64Ty(), is_signed), is_signed};
  }
  return start;
}

absl::StatusOr<ElementValues> EmitGather(ElementEmitter& emitter, const Frame* frame,
                                         const Instruction& instruction,
                                         const ElementIndex& index) {
  llvm::IRBuilder<>& ir = emitter.builder().ir();
  const Instruction& operand = *instruction.operand(0);
  const Shape& from = operand.shape();
  const IndexNumbers numbers = IndexNumbers::OfGather(instruction);
  absl::Span<const int64_t> sizes = instruction.attributes().Integers(Attr::kSliceSizes);
  std::vector<Value*> result_at = index.dims;
  result_at.resize(instruction.shape().rank(), emitter.Index(0));
  ASSAY_ASSIGN_OR_RETURN(
      WindowStart start,
      EmitWindowStart(emitter, frame, numbers, *instruction.operand(1), from.rank(), result_at));

  ElementIndex at;
  at.width = index.width;
  for (int64_t d = 0; d < from.rank(); ++d) {
    Value* first = start.batch[d] != nullptr ? start.batch[d] : emitter.Index(0);
    if (const IndexComponent& c = start.components[d]; c.value != nullptr) {
      const KernelBends& bends = emitter.builder().bends();
      Value* limit = emitter.Index(
          bends.Number("optimize-kernel/gather-limit", &instruction, from.dimension(d) - sizes[d]));
      const bool is_unsigned =
          bends.Holds("optimize-kernel/gather-start-unsigned", &instruction, !c.is_signed);
      first = ir.CreateBinaryIntrinsic(is_unsigned ? llvm::Intrinsic::umin : llvm::Intrinsic::smin,
                                       c.value, limit);
      if (c.is_signed)
        first = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, emitter.Index(0));
    }
    at.dims.push_back(first);
  }
  const std::vector<int64_t> inside = numbers.WindowDimOf(instruction.shape().rank(), from.rank());
  for (int64_t d = 0; d < instruction.shape().rank(); ++d) {
    if (inside[d] < 0) continue;
    at.dims[inside[d]] = emitter.IndexAdd(at.dims[inside[d]], result_at[d]);
    if (index.width > 1 && d == index.lane_dim) at.lane_dim = static_cast<int>(inside[d]);
  }
  if (at.lane_dim < 0) at.width = 1;
  ASSAY_ASSIGN_OR_RETURN(auto* value, emitter.EmitSpread(frame, &operand, at, index.width));
  return ElementValues{value};
}

}  // namespace assay
