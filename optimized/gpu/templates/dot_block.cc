// Strips, sums and results of a block of a dot.
#include "optimized/gpu/templates/dot_block.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"
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

Value* DotBlock::Rounded(Value* single) {
  Value* bits = ir_.CreateBitCast(single, ir_.getInt32Ty());
  const uint32_t kept = ~uint32_t{0} << form_.rounded_bits;
  Value* cut = ir_.CreateAnd(bits, kept);
  Value* nearest = ir_.CreateAnd(ir_.CreateAdd(bits, ir_.getInt32(~kept / 2 + 1)), kept);
  constexpr uint32_t kInfinity = 0x7f800000, kQuiet = 0x00400000;
  Value* overflows =
      ir_.CreateICmpUGE(ir_.CreateAnd(nearest, ir_.getInt32(0x7fffffff)), ir_.getInt32(kInfinity));
  Value* number = ir_.CreateSelect(overflows, cut, nearest);
  Value* is_nan = ir_.CreateFCmpUNO(single, single);
  number = ir_.CreateSelect(is_nan, ir_.CreateOr(cut, ir_.getInt32(kQuiet)), number);
  return ir_.CreateBitCast(number, single->getType());
}

ElementIndex DotBlock::IndexOf(int64_t operand, Value* line, Value* depth, Value*& exists) {
  const bool is_left = operand == 0;
  const int64_t lines = is_left ? sizes_.row_count : sizes_.column_count;
  if (lines % form_.side != 0) line = block_.AtMost(line, lines - 1);
  // The last strip is copied ahead of nothing.
  if (sizes_.depth_count % form_.depth != 0 || CopiesAhead()) {
    if (!Forgets(form_.claims.no_tail)) exists = block_.Below(depth, sizes_.depth_count);
    depth = block_.AtMost(depth, sizes_.depth_count - Lanes(operand));
  }
  const OperandPlace place = PlaceOfOperand(e_, dot_, operand, batch_, line, depth);
  exists = And(e_, exists, place.exists);
  ElementIndex index;
  index.dims = place.dims;
  index.width = static_cast<int>(Lanes(operand));
  if (index.width > 1) index.lane_dim = static_cast<int>(index.dims.size()) - 1;
  return index;
}

absl::StatusOr<Value*> DotBlock::Elements(int64_t operand, const ElementIndex& index,
                                          Value* exists) {
  const Instruction* source = dot_.operand(operand);
  ASSAY_ASSIGN_OR_RETURN(Value * value, e_.EmitOne(c_.frame, source, index));
  if (form_.rounded_bits > 0) value = Rounded(value);
  value = e_.builder().Convert(source->shape().element_type(), form_.types[operand], value);
  if (exists == nullptr) return value;
  return ir_.CreateSelect(exists, value, llvm::Constant::getNullValue(value->getType()));
}

// The code of a load tells where the elements are.
absl::StatusOr<bool> DotBlock::CopyElements(int64_t operand, const ElementIndex& index,
                                            Value* exists, Value* to) {
  const int64_t bytes = StorageBytes(form_.types[operand]) * index.width;
  Value* from = nullptr;
  ASSAY_RETURN_IF_ERROR(e_.Scoped([&]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(Value * value, e_.EmitOne(c_.frame, dot_.operand(operand), index));
    auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
    if (load == nullptr || !load->use_empty()) return absl::OkStatus();
    const llvm::DataLayout& layout = load->getModule()->getDataLayout();
    const llvm::Align known = llvm::getKnownAlignment(load->getPointerOperand(), layout, load);
    const bool is_enough = known.value() >= static_cast<uint64_t>(bytes) || index.width == 1;
    if (!is_enough || load->getPointerAddressSpace() != 1) return absl::OkStatus();
    from = load->getPointerOperand();
    load->eraseFromParent();
    return absl::OkStatus();
  }));
  if (from == nullptr) return false;
  const llvm::Intrinsic::ID id = bytes == 16  ? llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s
                                 : bytes == 8 ? llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8_s
                                              : llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4_s;
  Value* size = ir_.getInt32(static_cast<uint32_t>(bytes));
  if (exists != nullptr) size = ir_.CreateSelect(exists, size, ir_.getInt32(0));
  ir_.CreateIntrinsic(ir_.getVoidTy(), id, {to, from, size});
  return true;
}

absl::Status DotBlock::FillOnce(int64_t operand, Value* turn, Value* depth, Value* strip,
                                const PlaceInStrip& place) {
  const bool depth_first = DepthIsInnermost(dot_, operand);
  const int64_t lanes = Lanes(operand), groups = form_.depth / lanes;
  Value* at = ir_.CreateAdd(c_.thread, ir_.CreateMul(turn, e_.Index(c_.choice.block_size)));
  Value* line = depth_first ? Div(at, groups) : Rem(at, form_.side);
  Value* inner = depth_first ? e_.IndexMul(Rem(at, groups), lanes) : Div(at, form_.side);
  Value* first = operand == 0 ? first_row_ : first_column_;
  Value* exists = nullptr;
  const ElementIndex index =
      IndexOf(operand, ir_.CreateAdd(first, line), ir_.CreateAdd(depth, inner), exists);
  const ElementType type = form_.types[operand];
  Value* to = e_.Address(type, strip, place(line, inner));
  if (CopiesAhead()) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_copied, CopyElements(operand, index, exists, to));
    if (is_copied) return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(Value * value, Elements(operand, index, exists));
  e_.builder().Store(type, value, to);
  return absl::OkStatus();
}

void DotBlock::MakeStrips(int64_t elements) {
  strip_elements_ = elements;
  const int64_t buffers = CopiesAhead() ? 2 : 1;
  strips_ = {block_.SharedArray(form_.types[0], buffers * elements, "lhs"),
             block_.SharedArray(form_.types[1], buffers * elements, "rhs")};
}

Value* DotBlock::Strip(int64_t operand, Value* buffer) {
  Value* strip = strips_[static_cast<size_t>(operand)];
  if (!CopiesAhead()) return strip;
  return e_.Address(form_.types[operand], strip, e_.IndexMul(buffer, strip_elements_));
}

absl::StatusOr<ElementValues> DotBlock::SumStrips(
    const ElementValues& zeros,
    const std::function<absl::Status(Value* depth, Value* buffer)>& fill,
    const std::function<absl::StatusOr<ElementValues>(const ElementValues& sums, Value* buffer)>&
        add) {
  const auto call = [&](llvm::Intrinsic::ID id, llvm::ArrayRef<Value*> arguments) {
    ir_.CreateIntrinsic(ir_.getVoidTy(), id, arguments);
  };
  const auto strip = [&](Value* depth, const ElementValues& now) -> absl::StatusOr<ElementValues> {
    Value* buffer = e_.Index(0);
    if (CopiesAhead()) {
      const int64_t buffers = Bent(form_.claims.buffers, 2);
      buffer = Rem(Div(depth, form_.depth), buffers);
      Value* next = Rem(Plus(Div(depth, form_.depth), 1), buffers);
      ASSAY_RETURN_IF_ERROR(fill(Plus(depth, form_.depth), next));
      call(llvm::Intrinsic::nvvm_cp_async_commit_group, {});
      // All but the last group, of the strip after this one, must have arrived.
      const auto open = static_cast<uint32_t>(Bent(form_.claims.open_groups, 1));
      call(llvm::Intrinsic::nvvm_cp_async_wait_group, {ir_.getInt32(open)});
    } else {
      ASSAY_RETURN_IF_ERROR(fill(depth, buffer));
    }
    if (!Forgets(form_.claims.no_first_barrier)) block_.Barrier();
    ASSAY_ASSIGN_OR_RETURN(ElementValues sums, add(now, buffer));
    if (!Forgets(form_.claims.no_second_barrier)) block_.Barrier();
    return sums;
  };
  if (CopiesAhead()) {
    ASSAY_RETURN_IF_ERROR(fill(e_.Index(0), e_.Index(0)));
    call(llvm::Intrinsic::nvvm_cp_async_commit_group, {});
  }
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
