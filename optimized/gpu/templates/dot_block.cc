// Strips, sums and results of a block of a dot.
#include "optimized/gpu/templates/dot_block.h"

#include "optimized/codegen/loop_nest.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

using llvm::Value;

int64_t CeilOf(int64_t count, int64_t of) { return (count + of - 1) / of; }

}  // namespace

int64_t SquareBlocks(const Instruction& dot, int64_t side) {
  const DotSizes sizes = DotSizes::Of(dot);
  return sizes.batches * CeilOf(sizes.row_count, side) * CeilOf(sizes.column_count, side);
}

DotBlock::DotBlock(TemplateContext& context, const Form& form)
    : c_(context),
      e_(context.elements),
      ir_(context.ir()),
      block_(context.elements),
      dot_(*context.choice.subjects[0]),
      form_(form),
      sizes_(DotSizes::Of(dot_)) {
  const int64_t across = CeilOf(sizes_.column_count, form_.side);
  const int64_t down = CeilOf(sizes_.row_count, form_.side);
  Value* rest = Div(c_.block, across);
  first_column_ = ir_.CreateMul(Rem(c_.block, across), e_.Index(form_.side));
  first_row_ = ir_.CreateMul(Rem(rest, down), e_.Index(form_.side));
  batch_ = Div(rest, down);
}

absl::StatusOr<Value*> DotBlock::Element(int64_t operand, Value* line, Value* depth) {
  const bool is_left = operand == 0;
  const int64_t lines = is_left ? sizes_.row_count : sizes_.column_count;
  Value* exists = nullptr;
  if (lines % form_.side != 0) line = block_.AtMost(line, lines - 1);
  if (sizes_.depth_count % form_.depth != 0) {
    if (!Forgets(form_.claims.no_tail)) exists = block_.Below(depth, sizes_.depth_count);
    depth = block_.AtMost(depth, sizes_.depth_count - 1);
  }
  const OperandPlace place = PlaceOfOperand(e_, dot_, operand, batch_, line, depth);
  exists = And(e_, exists, place.exists);
  ElementIndex index;
  index.dims = place.dims;
  const Instruction* source = dot_.operand(operand);
  ASSAY_ASSIGN_OR_RETURN(Value * value, e_.EmitOne(c_.frame, source, index));
  value = e_.builder().Convert(source->shape().element_type(), form_.type, value);
  if (exists == nullptr) return value;
  return ir_.CreateSelect(exists, value, llvm::Constant::getNullValue(value->getType()));
}

absl::Status DotBlock::FillOnce(int64_t operand, Value* turn, Value* depth, Value* strip,
                                const PlaceInStrip& place) {
  const bool depth_first = DepthIsInnermost(dot_, operand);
  Value* at = ir_.CreateAdd(c_.thread, ir_.CreateMul(turn, e_.Index(c_.choice.block_size)));
  Value* line = depth_first ? Div(at, form_.depth) : Rem(at, form_.side);
  Value* inner = depth_first ? Rem(at, form_.depth) : Div(at, form_.side);
  Value* first = operand == 0 ? first_row_ : first_column_;
  ASSAY_ASSIGN_OR_RETURN(Value * value,
                         Element(operand, ir_.CreateAdd(first, line), ir_.CreateAdd(depth, inner)));
  e_.builder().Store(form_.type, value, e_.Address(form_.type, strip, place(line, inner)));
  return absl::OkStatus();
}

absl::StatusOr<ElementValues> DotBlock::SumStrips(
    const ElementValues& zeros, const std::function<absl::Status(Value* depth)>& fill,
    const std::function<absl::StatusOr<ElementValues>(const ElementValues& sums)>& add) {
  const auto strip = [&](Value* depth, const ElementValues& now) -> absl::StatusOr<ElementValues> {
    ASSAY_RETURN_IF_ERROR(fill(depth));
    if (!Forgets(form_.claims.no_first_barrier)) block_.Barrier();
    ASSAY_ASSIGN_OR_RETURN(ElementValues sums, add(now));
    if (!Forgets(form_.claims.no_second_barrier)) block_.Barrier();
    return sums;
  };
  return e_.Loop(e_.Index(0), e_.Index(sizes_.depth_count), form_.depth, zeros, strip);
}

absl::Status DotBlock::Store(Value* row, Value* column, Value* sum) {
  Value* inside =
      ir_.CreateAnd(block_.Below(row, Bent(form_.claims.rows, sizes_.row_count)),
                    block_.Below(column, Bent(form_.claims.columns, sizes_.column_count)));
  return block_.If(inside, [&] {
    ElementIndex index;
    index.dims = ResultPlace(e_, dot_, batch_, row, column);
    const ElementType type = dot_.shape().element_type();
    e_.Provide(c_.frame, &dot_, index, {e_.builder().Convert(form_.sum_type, type, sum)});
    return c_.store(index);
  });
}

}  // namespace assay::gpu
