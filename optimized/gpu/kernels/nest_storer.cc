// The element itself is left to the emitter that all targets share.
#include "optimized/gpu/kernels/nest_storer.h"

#include <utility>

#include "optimized/gpu/kernels/gpu_target.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {

using llvm::Value;

NestStorer::NestStorer(llvm::IRBuilder<>& ir, const KernelPlan& plan, const KernelBends& bends)
    : plan_(plan), bends_(bends), values_(ir, bends_), elements_(values_) {
  elements_.set_target(&GpuTarget());
  elements_.set_use_fma(true);
  values_.set_use_fma(true);
}

void NestStorer::Bind(std::vector<std::vector<Value*>> operands, std::vector<Value*> results) {
  operands_ = std::move(operands);
  results_ = std::move(results);
  const Instruction& root = *plan_.instruction;
  for (int64_t k = 0; k < root.operand_count(); ++k) {
    elements_.AddSource(nullptr, root.operand(k), operands_[static_cast<size_t>(k)]);
  }
  ForEachLeaf(root.shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    result_shapes_.push_back(leaf);
  });
  if (root.opcode() == Opcode::kFusion) frame_ = elements_.CalleeFrame(nullptr, &root);
}

absl::StatusOr<std::vector<Value*>> NestStorer::StartsOf(const NestOutput& output) {
  std::vector<Value*> starts;
  const Instruction& top = plan_.top();
  for (size_t d = 0; d < output.starts.size(); ++d) {
    Value* start = elements_.Index(output.starts[d]);
    if (output.starts[d] == NestOutput::kClampedOperand) {
      const int64_t room = top.shape().dimension(d) - output.instruction->shape().dimension(d);
      ASSAY_ASSIGN_OR_RETURN(
          start, elements_.ClampedStart(frame_, top.operand(2 + static_cast<int64_t>(d)), room));
    }
    starts.push_back(start);
  }
  return starts;
}

void NestStorer::StoreLeaf(int leaf, ElementIndex at, const std::vector<Value*>& starts,
                           Value* value) {
  const Shape& shape = result_shapes_[leaf];
  if (!shape.IsArray()) return;
  for (size_t d = 0; d < starts.size(); ++d) {
    at.dims[d] = elements_.IndexAdd(at.dims[d], starts[d]);
  }
  Value* linear = elements_.LinearOf(shape.dimensions(), at);
  values_.Store(shape.element_type(), value,
                elements_.Address(shape.element_type(), results_[leaf], linear));
}

absl::Status NestStorer::StoreElement(const NestPlan& nest, Value* number) {
  ElementIndex index;
  if (nest.walk.kind == WalkPlan::kLinear) {
    index.linear = number;
  } else {
    index.dims =
        elements_.Delinearize(WrittenShape(*nest.outputs[0].instruction).dimensions(), number);
  }
  return StoreAt(nest, index);
}

absl::Status NestStorer::StoreAt(const NestPlan& nest, const ElementIndex& index) {
  std::vector<ElementValues> elements;
  std::vector<std::vector<Value*>> starts;
  for (const NestOutput& output : nest.outputs) {
    ASSAY_ASSIGN_OR_RETURN(starts.emplace_back(), StartsOf(output));
    ASSAY_ASSIGN_OR_RETURN(elements.emplace_back(),
                           elements_.Emit(frame_, output.instruction, index));
  }
  const Instruction* around = elements_.watched();
  for (size_t o = 0; o < nest.outputs.size(); ++o) {
    elements_.Watch(nest.outputs[o].instruction);
    const std::vector<int>& leaves = nest.outputs[o].leaves;
    for (size_t k = 0; k < leaves.size(); ++k) {
      StoreLeaf(leaves[k], index, starts[o], elements[o][k]);
    }
  }
  elements_.Watch(around);
  return absl::OkStatus();
}

}  // namespace assay::gpu
