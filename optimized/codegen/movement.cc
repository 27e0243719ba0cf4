// Data movement: which element of which operand an element of the result is. Document: operation
// semantics chapter 9.
#include "optimized/codegen/movement.h"

#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/analysis/walks/lane_access.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

using llvm::Value;
using Frame = ElementEmitter::Frame;

namespace {

absl::StatusOr<ElementValues> Single(absl::StatusOr<Value*> value) {
  ASSAY_ASSIGN_OR_RETURN(auto* single, std::move(value));
  return ElementValues{single};
}

// The index of an operand that keeps the lanes of the result's.
ElementIndex WithDims(const ElementIndex& index, std::vector<Value*> dims, int lane_dim) {
  ElementIndex result;
  result.dims = std::move(dims);
  result.lane_dim = lane_dim;
  result.width = lane_dim < 0 ? 1 : index.width;
  return result;
}

std::vector<Value*> Zeros(ElementEmitter& emitter, const Shape& shape) {
  return std::vector<Value*>(shape.rank(), emitter.Index(0));
}

// An operand read through the lane rule of its op.
absl::StatusOr<ElementValues> EmitMapped(ElementEmitter& emitter, const Frame* frame,
                                         const Instruction& operand, const ElementIndex& index,
                                         std::vector<Value*> dims, int lane_dim) {
  if (index.width == 1) lane_dim = -1;
  return Single(
      emitter.EmitSpread(frame, &operand, WithDims(index, std::move(dims), lane_dim), index.width));
}

int LaneDimOf(LaneAccess access) {
  return access.kind == LaneAccess::kLanes ? access.lane_dim : -1;
}

// In range as unsigned: catches negative values too.
Value* InRange(ElementEmitter& emitter, Value* index, int64_t size) {
  return emitter.builder().ir().CreateICmpULT(index, emitter.Index(size));
}

}  // namespace

absl::StatusOr<ElementValues> EmitCopy(ElementEmitter& emitter, const Frame* frame,
                                       const Instruction& instruction, const ElementIndex& index) {
  return emitter.Emit(frame, instruction.operand(0), index);
}

// ---- broadcast

absl::StatusOr<ElementValues> EmitBroadcast(ElementEmitter& emitter, const Frame* frame,
                                            const Instruction& instruction,
                                            const ElementIndex& index) {
  const Instruction& operand = *instruction.operand(0);
  std::vector<Value*> dims = Zeros(emitter, operand.shape());
  if (index.linear != nullptr) {
    if (operand.shape().ElementCount() == instruction.shape().ElementCount()) {
      return emitter.Emit(frame, &operand, index);
    }
    return EmitMapped(emitter, frame, operand, index, dims, -1);
  }
  absl::Span<const int64_t> map = instruction.attributes().Integers(Attr::kDimensions);
  for (size_t k = 0; k < map.size(); ++k) {
    if (operand.shape().dimension(k) != 1) dims[k] = index.dims[map[k]];
  }
  int lane = index.width > 1 ? LaneDimOf(LanesOf(instruction, 0, index.lane_dim)) : -1;
  return EmitMapped(emitter, frame, operand, index, std::move(dims), lane);
}

// ---- reshape, bitcast

absl::StatusOr<ElementValues> EmitReshape(ElementEmitter& emitter, const Frame* frame,
                                          const Instruction& instruction,
                                          const ElementIndex& index) {
  const Instruction& operand = *instruction.operand(0);
  if (index.linear != nullptr) return emitter.Emit(frame, &operand, index);
  const Shape& from = operand.shape();
  const Shape& to = instruction.shape();
  std::vector<int64_t> from_dims = RealDims(from), to_dims = RealDims(to);
  // Dimensions that agree from the fastest on keep their index; the rest goes through one number.
  std::vector<Value*> dims = Zeros(emitter, from);
  size_t same = 0;
  while (same < from_dims.size() && same < to_dims.size()) {
    int64_t f = from_dims[from_dims.size() - 1 - same], t = to_dims[to_dims.size() - 1 - same];
    if (from.dimension(f) != to.dimension(t)) break;
    dims[f] = index.dims[t];
    ++same;
  }
  if (same < from_dims.size()) {
    std::vector<int64_t> major_to, major_from;
    ElementIndex major;
    for (size_t k = 0; k + same < to_dims.size(); ++k) {
      major_to.push_back(to.dimension(to_dims[k]));
      major.dims.push_back(index.dims[to_dims[k]]);
    }
    for (size_t k = 0; k + same < from_dims.size(); ++k) {
      major_from.push_back(from.dimension(from_dims[k]));
    }
    std::vector<Value*> digits = emitter.Delinearize(major_from, emitter.LinearOf(major_to, major));
    for (size_t k = 0; k < digits.size(); ++k) dims[from_dims[k]] = digits[k];
  }
  int lane = index.width > 1 ? LaneDimOf(LanesOf(instruction, 0, index.lane_dim)) : -1;
  return EmitMapped(emitter, frame, operand, index, std::move(dims), lane);
}

absl::StatusOr<ElementValues> EmitBitcast(ElementEmitter& emitter, const Frame* frame,
                                          const Instruction& instruction,
                                          const ElementIndex& index) {
  const Instruction& operand = *instruction.operand(0);
  const Shape& from = operand.shape();
  const Shape& to = instruction.shape();
  ValueBuilder& builder = emitter.builder();
  absl::StatusOr<ElementValues> moved;
  if (builder.bends().Holds("optimize-kernel/bitcast-keeps-order", &instruction,
                            BitcastKeepsOrder(instruction))) {
    moved = EmitReshape(emitter, frame, instruction, index);
  } else {
    // Physical position in the result's layout, read back in the operand's.
    DimVector strides = LayoutStrides(to);
    Value* position = emitter.Index(0);
    for (int64_t d = 0; d < to.rank(); ++d) {
      if (to.dimension(d) != 1)
        position = emitter.IndexAdd(position, emitter.IndexMul(index.dims[d], strides[d]));
    }
    absl::Span<const int64_t> order = from.layout().minor_to_major();
    std::vector<int64_t> physical(order.rbegin(), order.rend());
    std::vector<int64_t> sizes;
    for (int64_t d : physical) sizes.push_back(from.dimension(d));
    std::vector<Value*> digits = emitter.Delinearize(sizes, position);
    std::vector<Value*> dims = Zeros(emitter, from);
    for (size_t k = 0; k < physical.size(); ++k) dims[physical[k]] = digits[k];
    moved = EmitMapped(emitter, frame, operand, index, std::move(dims), -1);
  }
  if (!moved.ok() || from.element_type() == to.element_type()) return moved;
  return ElementValues{
      builder.FromBits(to.element_type(), builder.ToBits(from.element_type(), moved->front()))};
}

// ---- transpose, reverse, slice

absl::StatusOr<ElementValues> EmitTranspose(ElementEmitter& emitter, const Frame* frame,
                                            const Instruction& instruction,
                                            const ElementIndex& index) {
  absl::Span<const int64_t> permutation = instruction.attributes().Integers(Attr::kDimensions);
  std::vector<Value*> dims = Zeros(emitter, instruction.operand(0)->shape());
  for (size_t d = 0; d < permutation.size(); ++d) dims[permutation[d]] = index.dims[d];
  int lane = index.width > 1 ? static_cast<int>(permutation[index.lane_dim]) : -1;
  return EmitMapped(emitter, frame, *instruction.operand(0), index, std::move(dims), lane);
}

absl::StatusOr<ElementValues> EmitReverse(ElementEmitter& emitter, const Frame* frame,
                                          const Instruction& instruction,
                                          const ElementIndex& index) {
  std::vector<Value*> dims = index.dims;
  bool turns_lanes = false;
  for (int64_t d : instruction.attributes().Integers(Attr::kDimensions)) {
    const bool lanes = index.width > 1 && d == index.lane_dim;
    turns_lanes = turns_lanes || lanes;
    // The last lane of the result is the first in memory.
    const int64_t last = instruction.shape().dimension(d) - (lanes ? index.width : 1);
    dims[d] = emitter.IndexBinary(llvm::Instruction::Sub, emitter.Index(last), dims[d]);
  }
  ASSAY_ASSIGN_OR_RETURN(ElementValues value, EmitMapped(emitter, frame, *instruction.operand(0),
                                                         index, std::move(dims), index.lane_dim));
  if (turns_lanes) {
    value.front() = emitter.builder().ir().CreateVectorReverse(value.front());
  }
  return value;
}

absl::StatusOr<ElementValues> EmitSlice(ElementEmitter& emitter, const Frame* frame,
                                        const Instruction& instruction, const ElementIndex& index) {
  absl::Span<const SliceRange> ranges = instruction.attributes().SliceRanges(Attr::kSlice);
  std::vector<Value*> dims = index.dims;
  for (size_t d = 0; d < ranges.size(); ++d) {
    const KernelBends& bends = emitter.builder().bends();
    dims[d] = emitter.IndexAdd(
        emitter.IndexMul(
            dims[d], bends.Number("optimize-kernel/slice-stride", &instruction, ranges[d].stride)),
        emitter.Index(bends.Number("optimize-kernel/slice-start", &instruction, ranges[d].start)));
  }
  return EmitMapped(emitter, frame, *instruction.operand(0), index, std::move(dims),
                    index.lane_dim);
}

// ---- dynamic slice and update

absl::StatusOr<ElementValues> EmitDynamicSlice(ElementEmitter& emitter, const Frame* frame,
                                               const Instruction& instruction,
                                               const ElementIndex& index) {
  const Shape& from = instruction.operand(0)->shape();
  std::vector<Value*> dims = index.dims;
  for (int64_t d = 0; d < from.rank(); ++d) {
    ASSAY_ASSIGN_OR_RETURN(
        Value * start, emitter.ClampedStart(frame, instruction.operand(1 + d),
                                            from.dimension(d) - instruction.shape().dimension(d)));
    dims[d] = emitter.IndexAdd(dims[d], start);
  }
  return EmitMapped(emitter, frame, *instruction.operand(0), index, std::move(dims),
                    index.lane_dim);
}

absl::StatusOr<ElementValues> EmitDynamicUpdateSlice(ElementEmitter& emitter, const Frame* frame,
                                                     const Instruction& instruction,
                                                     const ElementIndex& index) {
  llvm::IRBuilder<>& ir = emitter.builder().ir();
  const Shape& whole = instruction.shape();
  const Shape& part = instruction.operand(1)->shape();
  absl::StatusOr<ElementValues> old =
      EmitMapped(emitter, frame, *instruction.operand(0), index, index.dims, index.lane_dim);
  if (!old.ok() || part.ElementCount() == 0) return old;
  std::vector<Value*> dims = index.dims;
  Value* inside = ir.getTrue();
  for (int64_t d = 0; d < whole.rank(); ++d) {
    ASSAY_ASSIGN_OR_RETURN(auto* start,
                           emitter.ClampedStart(frame, instruction.operand(2 + d),
                                                whole.dimension(d) - part.dimension(d)));
    if (part.dimension(d) == whole.dimension(d)) continue;
    Value* relative = emitter.IndexBinary(llvm::Instruction::Sub, dims[d], start);
    Value* in_range = InRange(emitter, relative,
                              emitter.builder().bends().Number("optimize-kernel/update-extent",
                                                               &instruction, part.dimension(d)));
    inside = ir.CreateAnd(inside, in_range);
    dims[d] = ir.CreateSelect(in_range, relative, emitter.Index(0));
  }
  ASSAY_ASSIGN_OR_RETURN(ElementValues update, EmitMapped(emitter, frame, *instruction.operand(1),
                                                          index, std::move(dims), index.lane_dim));
  return ElementValues{ir.CreateSelect(inside, update.front(), old->front())};
}

// ---- pad, concatenate

absl::StatusOr<ElementValues> EmitPad(ElementEmitter& emitter, const Frame* frame,
                                      const Instruction& instruction, const ElementIndex& index) {
  llvm::IRBuilder<>& ir = emitter.builder().ir();
  const Shape& from = instruction.operand(0)->shape();
  ASSAY_ASSIGN_OR_RETURN(auto* padding, emitter.EmitSpread(frame, instruction.operand(1),
                                                           ElementIndex(), index.width));
  if (from.ElementCount() == 0) return ElementValues{padding};
  absl::Span<const PaddingDim> config = instruction.attributes().Padding(Attr::kPadding);
  std::vector<Value*> dims = index.dims;
  Value* inside = ir.getTrue();
  for (int64_t d = 0; d < from.rank(); ++d) {
    const PaddingDim& p = config[d];
    if (p.low == 0 && p.high == 0 && p.interior == 0) continue;
    const KernelBends& bends = emitter.builder().bends();
    Value* at = emitter.IndexAdd(
        dims[d], emitter.Index(-bends.Number("optimize-kernel/pad-low", &instruction, p.low)));
    Value* hit = ir.getTrue();
    if (p.interior > 0) {
      // Negative positions have been cut off by the range check below, whatever the unsigned
      // quotient says.
      Value* step =
          emitter.Index(bends.Number("optimize-kernel/pad-step", &instruction, p.interior + 1));
      hit = ir.CreateAnd(ir.CreateICmpSGE(at, emitter.Index(0)),
                         ir.CreateICmpEQ(ir.CreateURem(at, step), emitter.Index(0)));
      at = ir.CreateUDiv(at, step);
    }
    Value* in_range = ir.CreateAnd(hit, InRange(emitter, at, from.dimension(d)));
    inside = ir.CreateAnd(inside, in_range);
    dims[d] = ir.CreateSelect(in_range, at, emitter.Index(0));
  }
  ASSAY_ASSIGN_OR_RETURN(ElementValues value, EmitMapped(emitter, frame, *instruction.operand(0),
                                                         index, std::move(dims), index.lane_dim));
  return ElementValues{ir.CreateSelect(inside, value.front(), padding)};
}

absl::StatusOr<ElementValues> EmitConcatenate(ElementEmitter& emitter, const Frame* frame,
                                              const Instruction& instruction,
                                              const ElementIndex& index) {
  llvm::IRBuilder<>& ir = emitter.builder().ir();
  int64_t along = instruction.attributes().Integers(Attr::kDimension)[0];
  Value* result = nullptr;
  int64_t offset = 0;
  for (const Instruction* operand : instruction.operands()) {
    int64_t size = operand->shape().dimension(along);
    if (size == 0) continue;
    std::vector<Value*> dims = index.dims;
    Value* relative = emitter.IndexAdd(dims[along], emitter.Index(-offset));
    Value* in_range = InRange(emitter, relative, size);
    dims[along] = ir.CreateSelect(in_range, relative, emitter.Index(0));
    ASSAY_ASSIGN_OR_RETURN(ElementValues value, EmitMapped(emitter, frame, *operand, index,
                                                           std::move(dims), index.lane_dim));
    result = result == nullptr ? value.front() : ir.CreateSelect(in_range, value.front(), result);
    offset += emitter.builder().bends().Number("optimize-kernel/part-size", &instruction, size);
  }
  if (result == nullptr) {
    result = llvm::Constant::getNullValue(
        emitter.builder().RegisterType(instruction.shape().element_type(), index.width));
  }
  return ElementValues{result};
}

// ---- iota, bitcast-convert

absl::StatusOr<ElementValues> EmitIota(ElementEmitter& emitter, const Frame*,
                                       const Instruction& instruction, const ElementIndex& index) {
  ValueBuilder& builder = emitter.builder();
  llvm::IRBuilder<>& ir = builder.ir();
  int64_t along = instruction.attributes().Integer(Attr::kIotaDimension);
  // The narrow integer, where it holds every index, converts with cheaper instructions.
  bool small = instruction.shape().dimension(along) <= (int64_t{1} << 31) - 1;
  ElementType type = small ? ElementType::kS32 : ElementType::kS64;
  Value* at = ir.CreateTrunc(index.dims[along], builder.RegisterType(type));
  at = builder.Splat(at, index.width);
  if (index.width > 1 && index.lane_dim == along) {
    std::vector<llvm::Constant*> steps;
    for (int lane = 0; lane < index.width; ++lane) {
      steps.push_back(builder.Int(builder.RegisterType(type), lane));
    }
    at = ir.CreateAdd(at, llvm::ConstantVector::get(steps));
  }
  return ElementValues{builder.Convert(type, instruction.shape().element_type(), at)};
}

// The bits of an element; of a complex one the real part's are the lower half.
Value* BitsOf(ValueBuilder& builder, const Instruction& instruction, Value* value) {
  const ElementType type = instruction.operand(0)->shape().element_type();
  if (!IsComplex(type)) return builder.ToBits(type, value);
  llvm::IRBuilder<>& ir = builder.ir();
  const ElementType part = ComponentType(type);
  llvm::Type* whole = ir.getIntNTy(BitWidth(type));
  Value* real = builder.ToBits(part, ir.CreateExtractValue(value, 0));
  Value* imaginary = builder.ToBits(part, ir.CreateExtractValue(value, 1));
  const int64_t half =
      builder.bends().Number("optimize-kernel/imaginary-bits", &instruction, BitWidth(part));
  return ir.CreateOr(ir.CreateZExt(real, whole),
                     ir.CreateShl(ir.CreateZExt(imaginary, whole), builder.Int(whole, half)));
}
Value* OfBits(ValueBuilder& builder, ElementType type, Value* bits) {
  if (!IsComplex(type)) return builder.FromBits(type, bits);
  llvm::IRBuilder<>& ir = builder.ir();
  const ElementType part = ComponentType(type);
  llvm::Type* half = ir.getIntNTy(BitWidth(part));
  Value* high = ir.CreateLShr(bits, builder.Int(bits->getType(), BitWidth(part)));
  Value* real = builder.FromBits(part, ir.CreateTrunc(bits, half));
  Value* imaginary = builder.FromBits(part, ir.CreateTrunc(high, half));
  Value* pair = llvm::PoisonValue::get(
      llvm::StructType::get(builder.context(), {real->getType(), imaginary->getType()}));
  return ir.CreateInsertValue(ir.CreateInsertValue(pair, real, 0), imaginary, 1);
}

absl::StatusOr<ElementValues> EmitBitcastConvert(ElementEmitter& emitter, const Frame* frame,
                                                 const Instruction& instruction,
                                                 const ElementIndex& index) {
  ValueBuilder& builder = emitter.builder();
  llvm::IRBuilder<>& ir = builder.ir();
  const Instruction& operand = *instruction.operand(0);
  ElementType from = operand.shape().element_type(), to = instruction.shape().element_type();
  int from_bits = BitWidth(from), to_bits = BitWidth(to);
  if (from_bits == to_bits) {
    ASSAY_ASSIGN_OR_RETURN(auto* value, emitter.EmitOne(frame, &operand, index));
    return ElementValues{OfBits(builder, to, BitsOf(builder, instruction, value))};
  }
  if (from_bits > to_bits) {  // element k of the new last dimension: bits [k w, (k + 1) w)
    std::vector<Value*> dims = index.dims;
    Value* k = dims.back();
    dims.pop_back();
    ASSAY_ASSIGN_OR_RETURN(auto* value,
                           emitter.EmitOne(frame, &operand, WithDims(index, dims, -1)));
    Value* bits = BitsOf(builder, instruction, value);
    Value* shift = ir.CreateMul(
        ir.CreateZExtOrTrunc(k, bits->getType()),
        builder.Int(bits->getType(),
                    builder.bends().Number("optimize-kernel/part-bits", &instruction, to_bits)));
    return ElementValues{
        OfBits(builder, to, ir.CreateTrunc(ir.CreateLShr(bits, shift), ir.getIntNTy(to_bits)))};
  }
  llvm::Type* wide = ir.getIntNTy(to_bits);
  Value* assembled = builder.Int(wide, 0);
  for (int k = 0; k < to_bits / from_bits; ++k) {
    std::vector<Value*> dims = index.dims;
    dims.push_back(emitter.Index(k));
    ASSAY_ASSIGN_OR_RETURN(auto* value,
                           emitter.EmitOne(frame, &operand, WithDims(index, dims, -1)));
    Value* part = ir.CreateZExt(BitsOf(builder, instruction, value), wide);
    assembled =
        ir.CreateOr(assembled, ir.CreateShl(part, builder.Int(wide, uint64_t(k) * from_bits)));
  }
  return ElementValues{OfBits(builder, to, assembled)};
}

}  // namespace assay
