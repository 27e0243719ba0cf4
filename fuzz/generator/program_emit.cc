// Program's emission helpers: one per op form, each solving the result shape.
#include <algorithm>

#include "fuzz/generator/program.h"

namespace assay {

Instruction* Program::Constant(Literal value) {
  Instruction* constant = scope_->computation->AddConstant(std::move(value));
  if (constant->shape().ElementCount() < 2) uniform_.insert(constant->id());
  scope_->values.push_back(constant);
  return constant;
}

Instruction* Program::ScalarConstant(ElementType type, int64_t value) {
  Literal literal(Shape::Scalar(type));
  if (IsComplex(type)) {
    Literal part(Shape::Scalar(ComponentType(type)));
    part.SetDouble(0, static_cast<double>(value));
    literal.SetComponentBits(0, part.GetBits(0));
  } else if (IsFloat(type)) {
    literal.SetDouble(0, static_cast<double>(value));
  } else {
    literal.SetInteger(0, value);
  }
  return Constant(std::move(literal));
}

Instruction* Program::BaitLike(const Instruction* like, Opcode opcode) {
  const Shape& shape = like->shape();
  Instruction* scalar = Constant(BaitScalarFor(opcode, shape.element_type(), choices_));
  return shape.rank() == 0 ? scalar : Splat(scalar, shape.dimensions());
}

Instruction* Program::Unary(Opcode opcode, Instruction* operand) {
  ElementType type = operand->shape().element_type();
  const bool takes_part =
      opcode == Opcode::kAbs || opcode == Opcode::kReal || opcode == Opcode::kImag;
  if (opcode == Opcode::kIsFinite) type = ElementType::kPred;
  if (takes_part && IsComplex(type)) type = ComponentType(type);
  return Emit(opcode, Shape::Array(type, operand->shape().dimensions()), {operand});
}

Instruction* Program::Binary(Opcode opcode, Instruction* a, Instruction* b) {
  return Emit(opcode, Shape::Array(a->shape().element_type(), a->shape().dimensions()), {a, b});
}

Instruction* Program::Compare(Direction direction, Instruction* a, Instruction* b) {
  // Complex numbers have no order.
  const bool is_equality = direction == Direction::kEq || direction == Direction::kNe;
  if (IsComplex(a->shape().element_type()) && !is_equality) direction = Direction::kNe;
  Attributes attributes;
  attributes.Set(Attr::kDirection, direction);
  return Emit(Opcode::kCompare, Shape::Array(ElementType::kPred, a->shape().dimensions()), {a, b},
              std::move(attributes));
}

Instruction* Program::CompareInSomeOrder(Direction direction, Instruction* a, Instruction* b) {
  Instruction* compare = Compare(direction, a, b);
  if (IsFloat(a->shape().element_type()) && choices().Percent(35))
    compare->mutable_attributes().Set(Attr::kCompareType, CompareType::kTotalOrder);
  return compare;
}

Instruction* Program::Select(Instruction* pred, Instruction* a, Instruction* b) {
  return Emit(Opcode::kSelect, Shape::Array(a->shape().element_type(), a->shape().dimensions()),
              {pred, a, b});
}

Instruction* Program::Convert(Instruction* operand, ElementType type) {
  return Emit(Opcode::kConvert, Shape::Array(type, operand->shape().dimensions()), {operand});
}

Instruction* Program::Broadcast(Instruction* operand, absl::Span<const int64_t> dimensions,
                                absl::Span<const int64_t> mapping) {
  Attributes attributes;
  attributes.Set(Attr::kDimensions, mapping);
  return Emit(Opcode::kBroadcast, Shape::Array(operand->shape().element_type(), dimensions),
              {operand}, std::move(attributes));
}

Instruction* Program::Splat(Instruction* scalar, absl::Span<const int64_t> dimensions) {
  return Broadcast(scalar, dimensions, {});
}

Instruction* Program::Reshape(Instruction* operand, absl::Span<const int64_t> dimensions) {
  return Emit(Opcode::kReshape, Shape::Array(operand->shape().element_type(), dimensions),
              {operand});
}

Instruction* Program::Transpose(Instruction* operand, absl::Span<const int64_t> permutation) {
  DimVector dimensions;
  for (int64_t from : permutation) dimensions.push_back(operand->shape().dimension(from));
  Attributes attributes;
  attributes.Set(Attr::kDimensions, permutation);
  return Emit(Opcode::kTranspose, Shape::Array(operand->shape().element_type(), dimensions),
              {operand}, std::move(attributes));
}

Instruction* Program::Reverse(Instruction* operand, absl::Span<const int64_t> dimensions) {
  Attributes attributes;
  attributes.Set(Attr::kDimensions, dimensions);
  return Emit(Opcode::kReverse,
              Shape::Array(operand->shape().element_type(), operand->shape().dimensions()),
              {operand}, std::move(attributes));
}

Instruction* Program::Slice(Instruction* operand, std::vector<SliceRange> ranges) {
  DimVector dimensions;
  for (const SliceRange& range : ranges) {
    dimensions.push_back((range.limit - range.start + range.stride - 1) / range.stride);
  }
  Attributes attributes;
  attributes.Set(Attr::kSlice, AttrValue(std::move(ranges)));
  return Emit(Opcode::kSlice, Shape::Array(operand->shape().element_type(), dimensions), {operand},
              std::move(attributes));
}

Instruction* Program::DynamicSlice(Instruction* operand, absl::Span<Instruction* const> starts,
                                   absl::Span<const int64_t> sizes) {
  std::vector<Instruction*> operands = {operand};
  operands.insert(operands.end(), starts.begin(), starts.end());
  Attributes attributes;
  attributes.Set(Attr::kDynamicSliceSizes, sizes);
  return Emit(Opcode::kDynamicSlice, Shape::Array(operand->shape().element_type(), sizes), operands,
              std::move(attributes));
}

Instruction* Program::DynamicUpdateSlice(Instruction* operand, Instruction* update,
                                         absl::Span<Instruction* const> starts) {
  std::vector<Instruction*> operands = {operand, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return Emit(Opcode::kDynamicUpdateSlice,
              Shape::Array(operand->shape().element_type(), operand->shape().dimensions()),
              operands);
}

Instruction* Program::Pad(Instruction* operand, Instruction* value,
                          std::vector<PaddingDim> padding) {
  DimVector dimensions;
  for (size_t i = 0; i < padding.size(); ++i) {
    int64_t size = operand->shape().dimension(static_cast<int64_t>(i));
    dimensions.push_back(padding[i].low + size +
                         std::max<int64_t>(size - 1, 0) * padding[i].interior + padding[i].high);
  }
  Attributes attributes;
  attributes.Set(Attr::kPadding, AttrValue(std::move(padding)));
  return Emit(Opcode::kPad, Shape::Array(operand->shape().element_type(), dimensions),
              {operand, value}, std::move(attributes));
}

Instruction* Program::Concatenate(const std::vector<Instruction*>& parts, int64_t dimension) {
  Shape shape = Shape::Array(parts[0]->shape().element_type(), parts[0]->shape().dimensions());
  int64_t total = 0;
  for (Instruction* part : parts) total += part->shape().dimension(dimension);
  shape.set_dimension(dimension, total);
  Attributes attributes;
  attributes.Set(Attr::kDimension, {dimension});
  return Emit(Opcode::kConcatenate, std::move(shape), parts, std::move(attributes));
}

Instruction* Program::Iota(const Shape& shape, int64_t dimension) {
  Attributes attributes;
  attributes.Set(Attr::kIotaDimension, AttrValue(dimension));
  return Emit(Opcode::kIota, Shape::Array(shape.element_type(), shape.dimensions()), {},
              std::move(attributes));
}

Instruction* Program::SomeIota(const Shape& shape) {
  absl::Span<const int64_t> sizes = shape.dimensions();
  int64_t longest = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  int64_t any = static_cast<int64_t>(choices_.Draw(sizes.size()));
  return Iota(shape, choices_.Percent(70) ? longest : any);
}

Instruction* Program::Reduce(Instruction* operand, Instruction* init,
                             absl::Span<const int64_t> dimensions, Computation* reducer) {
  DimVector kept;
  for (int64_t i = 0; i < operand->shape().rank(); ++i) {
    if (std::find(dimensions.begin(), dimensions.end(), i) == dimensions.end()) {
      kept.push_back(operand->shape().dimension(i));
    }
  }
  Attributes attributes;
  attributes.Set(Attr::kDimensions, dimensions);
  return Emit(Opcode::kReduce, Shape::Array(operand->shape().element_type(), kept), {operand, init},
              std::move(attributes), {reducer});
}

Instruction* Program::Tuple(const std::vector<Instruction*>& elements) {
  std::vector<Shape> shapes;
  for (Instruction* element : elements) shapes.push_back(element->shape());
  return Emit(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements);
}

Instruction* Program::GetTupleElement(Instruction* tuple, int64_t index) {
  Attributes attributes;
  attributes.Set(Attr::kIndex, AttrValue(index));
  return Emit(Opcode::kGetTupleElement, tuple->shape().elements()[index], {tuple},
              std::move(attributes));
}

}  // namespace assay
