// Loops over the dimensions of a result, vector loops and stores.
#include "optimized/cpu/nest_emitter.h"

#include "llvm/IR/Constants.h"
#include "spec/base/status_macros.h"

namespace assay {

using llvm::Value;

const Shape& WrittenShape(const KernelOutput& output) {
  const Shape& whole = output.instruction->shape();
  return whole.IsTuple() ? whole.elements()[0] : whole;
}

LoopPart NestEmitter::Range(bool is_outermost, int64_t extent) {
  if (is_outermost && part_.begin != nullptr) return part_;
  return {elements_.Index(0), elements_.Index(extent)};
}

void NestEmitter::StoreLanes(ElementType type, Value* value, Value* pointer) {
  ValueBuilder& builder = elements_.builder();
  const int width = ValueBuilder::WidthOf(value);
  if (const std::optional<int64_t> stale = builder.bends().stale_lane; stale && width > 1) {
    const int64_t lane = *stale == KernelBends::kLastLane ? width - 1 : *stale;
    if (lane >= 0 && lane < width) {
      Value* neighbour = builder.ir().CreateExtractElement(value, lane == 0 ? 1 : lane - 1);
      value = builder.ir().CreateInsertElement(value, neighbour, lane);
    }
  }
  builder.Store(type, value, pointer);
}

absl::Status NestEmitter::StoreAt(const KernelOutput& output, const ElementIndex& index) {
  ASSAY_ASSIGN_OR_RETURN(const ElementValues element,
                         elements_.Emit(output.frame, output.instruction, index));
  for (size_t k = 0; k < output.leaves.size(); ++k) {
    const int leaf = output.leaves[k];
    const Shape& shape = results_.shapes[leaf];
    if (!shape.IsArray()) continue;
    ElementIndex at = index;
    for (size_t d = 0; d < output.starts.size(); ++d) {
      at.dims[d] = elements_.IndexAdd(at.dims[d], output.starts[d]);
    }
    Value* linear = elements_.LinearOf(shape.dimensions(), at);
    StoreLanes(shape.element_type(), element[k],
               elements_.Address(shape.element_type(), results_.pointers[leaf], linear));
  }
  return absl::OkStatus();
}

absl::Status NestEmitter::EmitLaneLoop(const KernelOutput& output, int width, LoopPart range,
                                       const IndexAt& index_at) {
  llvm::IRBuilder<>& ir = elements_.builder().ir();
  const KernelBends& bends = elements_.builder().bends();
  const auto loop = [&](Value* from, Value* to, int step) {
    const auto store = [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
      ASSAY_RETURN_IF_ERROR(StoreAt(output, index_at(i, step)));
      return ElementValues{};
    };
    return elements_.Loop(from, to, step, {}, store).status();
  };
  Value* offset = bends.loop_bound_offset ? elements_.Index(*bends.loop_bound_offset) : nullptr;
  if (offset != nullptr && !bends.only_vector_loop) range.end = ir.CreateAdd(range.end, offset);
  if (width == 1) return loop(range.begin, range.end, 1);
  Value* length = ir.CreateSub(range.end, range.begin);
  Value* whole = ir.CreateAdd(range.begin, ir.CreateAnd(length, elements_.Index(-int64_t{width})));
  Value* vectors_end = whole;
  if (offset != nullptr && bends.only_vector_loop) {
    vectors_end = ir.CreateAdd(whole, ir.CreateMul(offset, elements_.Index(width)));
  }
  ASSAY_RETURN_IF_ERROR(loop(range.begin, vectors_end, width));
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(length);
  if (constant != nullptr && constant->getSExtValue() % width == 0) return absl::OkStatus();
  return loop(whole, range.end, 1);
}

absl::Status NestEmitter::EmitDimension(const KernelOutput& output, const WalkPlan& walk,
                                        const Shape& shape, ElementIndex index) {
  const auto dim = static_cast<int64_t>(index.dims.size());
  if (dim == shape.rank()) return StoreAt(output, index);
  if (shape.dimension(dim) == 1) {
    index.dims.push_back(elements_.Index(0));
    return EmitDimension(output, walk, shape, std::move(index));
  }
  const LoopPart range = Range(dim == OutermostDim(shape), shape.dimension(dim));
  bool innermost = true;
  for (int64_t d = dim + 1; d < shape.rank(); ++d) innermost = innermost && shape.dimension(d) == 1;
  if (innermost) {
    return EmitLaneLoop(output, walk.width, range, [&](Value* i, int width) {
      ElementIndex at = index;
      at.dims.push_back(i);
      at.dims.resize(shape.rank(), elements_.Index(0));
      at.width = width;
      at.lane_dim = width > 1 ? walk.lane_dim : -1;
      return at;
    });
  }
  const auto body = [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
    ElementIndex inner = index;
    inner.dims.push_back(i);
    ASSAY_RETURN_IF_ERROR(EmitDimension(output, walk, shape, std::move(inner)));
    return ElementValues{};
  };
  return elements_.Loop(range.begin, range.end, 1, {}, body).status();
}

absl::Status NestEmitter::Emit(const KernelOutput& output, const WalkPlan& walk) {
  const Shape& shape = WrittenShape(output);
  if (walk.kind != WalkPlan::kLinear) return EmitDimension(output, walk, shape, ElementIndex());
  if (shape.ElementCount() == 1) {
    ElementIndex index;
    index.linear = elements_.Index(0);
    return StoreAt(output, index);
  }
  const LoopPart range = Range(/*is_outermost=*/true, shape.ElementCount());
  return EmitLaneLoop(output, walk.width, range, [](Value* i, int width) {
    ElementIndex at;
    at.linear = i;
    at.width = width;
    return at;
  });
}

}  // namespace assay
