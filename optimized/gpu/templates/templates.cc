// The table of templates, and the one that needs no more than wide accesses.
#include "optimized/gpu/templates/templates.h"

#include <cstdlib>

#include "optimized/gpu/templates/block_builder.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

constexpr TemplateCode kTemplates[] = {
    {KernelTemplate::kVectors, VectorBlocks, EmitVectors},
    {KernelTemplate::kRows, RowBlocks, EmitRows},
    {KernelTemplate::kRowFusion, RowFusionBlocks, EmitRowFusion},
    {KernelTemplate::kAttention, AttentionBlocks, EmitAttention},
    {KernelTemplate::kColumns, ColumnBlocks, EmitColumns},
    {KernelTemplate::kTransposed, TransposedBlocks, EmitTransposed},
    {KernelTemplate::kDotTiles, DotBlocks, EmitDotTiles},
    {KernelTemplate::kTensorTiles, TensorBlocks, EmitTensorTiles},
};

// Elements before a line along which threads take neighbours, and along it.
struct Lines {
  int64_t count = 1, length = 1;
};
Lines LinesOf(const NestPlan& nest) {
  const Shape& shape = WrittenShape(*nest.outputs[0].instruction);
  if (nest.walk.kind == WalkPlan::kLinear) return {1, shape.ElementCount()};
  const int64_t length = shape.dimension(nest.walk.lane_dim);
  return {shape.ElementCount() / length, length};
}

}  // namespace

const TemplateCode& CodeOf(KernelTemplate kind) {
  for (const TemplateCode& each : kTemplates) {
    if (each.kind == kind) return each;
  }
  std::abort();  // a kind without a row
}

int64_t VectorBlocks(const NestPlan& nest, const TemplateChoice& choice) {
  const Lines lines = LinesOf(nest);
  const int64_t threads =
      lines.count * ((lines.length + choice.read_width - 1) / choice.read_width);
  return (threads + choice.block_size - 1) / choice.block_size;
}

absl::Status EmitVectors(TemplateContext& context) {
  ElementEmitter& e = context.elements;
  BlockBuilder block(e);
  const int width = context.choice.read_width;
  const Instruction* root = context.plan.instruction;
  const Lines lines = LinesOf(context.nest);
  const int64_t per_line = (lines.length + width - 1) / width;
  const int64_t length = lines.length + context.bends().loop_bound_offset.value_or(0);
  // Elements that whole vectors cover; a thread of each line takes what is left, one by one.
  const int64_t whole = context.bends().Number("vectorize/whole", root, length / width) * width;
  llvm::Value* thread =
      e.IndexAdd(e.IndexMul(context.block, context.choice.block_size), context.thread);
  return block.If(block.Below(thread, lines.count * per_line), [&]() -> absl::Status {
    const bool linear = context.nest.walk.kind == WalkPlan::kLinear;
    llvm::Value* line = e.Index(0);
    llvm::Value* place = thread;
    if (lines.count > 1) {
      line = e.IndexBinary(llvm::Instruction::UDiv, thread, e.Index(per_line));
      place = e.IndexBinary(llvm::Instruction::URem, thread, e.Index(per_line));
    }
    llvm::Value* first = e.IndexMul(place, width);
    const auto at = [&](llvm::Value* element, int lanes) {
      ElementIndex index;
      index.width = lanes;
      if (linear) {
        index.linear = element;
        return index;
      }
      const int lane_dim = context.nest.walk.lane_dim;
      DimVector others(context.written().dimensions().begin(),
                       context.written().dimensions().end());
      others[lane_dim] = 1;
      index.dims = e.Delinearize(others, line);
      index.dims[lane_dim] = element;
      if (lanes > 1) index.lane_dim = lane_dim;
      return index;
    };
    if (whole == length && length == lines.length) return context.store(at(first, width));
    ASSAY_RETURN_IF_ERROR(
        block.If(block.Below(first, whole), [&] { return context.store(at(first, width)); }));
    return block.If(context.ir().CreateNot(block.Below(first, whole)), [&] {
      return e
          .Loop(first, e.Index(length), 1, {},
                [&](llvm::Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
                  ASSAY_RETURN_IF_ERROR(context.store(at(i, 1)));
                  return ElementValues{};
                })
          .status();
    });
  });
}

}  // namespace assay::gpu
