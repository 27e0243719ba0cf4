// Ops in a row.
#include "optimized/passes/library/op_writer.h"

#include <utility>

#include "optimized/passes/util/rule_util.h"

namespace assay {

Shape WithType(const Shape& shape, ElementType type) {
  return Shape::Array(type, shape.dimensions());
}

Instruction* OpWriter::Unary(Opcode opcode, Instruction* value) const {
  return into_->Add(opcode, WithType(value->shape(), value->shape().element_type()), {value});
}

Instruction* OpWriter::Binary(Opcode opcode, Instruction* x, Instruction* y) const {
  return into_->Add(opcode, WithType(x->shape(), x->shape().element_type()), {x, y});
}

Instruction* OpWriter::Compare(Direction direction, Instruction* x, Instruction* y) const {
  return into_->Add(Opcode::kCompare, WithType(x->shape(), ElementType::kPred), {x, y},
                    Attributes().Set(Attr::kDirection, direction));
}

Instruction* OpWriter::Select(Instruction* which, Instruction* x, Instruction* y) const {
  return into_->Add(Opcode::kSelect, WithType(x->shape(), x->shape().element_type()),
                    {which, x, y});
}

Instruction* OpWriter::InType(Instruction* value, ElementType type) const {
  if (value->shape().element_type() == type) return value;
  return into_->Add(Opcode::kConvert, WithType(value->shape(), type), {value});
}

Instruction* OpWriter::Splat(const Shape& shape, double value) const {
  Literal scalar(Shape::Scalar(shape.element_type()));
  scalar.SetDouble(0, value);
  return AddSplat(into_, WithType(shape, shape.element_type()),
                  into_->AddConstant(std::move(scalar)));
}

Instruction* OpWriter::Spread(Instruction* value, const Shape& over,
                              absl::Span<const int64_t> dims) const {
  return into_->Add(Opcode::kBroadcast, WithType(over, value->shape().element_type()), {value},
                    DimensionsAttr(dims));
}

Instruction* OpWriter::Reshape(Instruction* value, absl::Span<const int64_t> sizes) const {
  return into_->Add(Opcode::kReshape, Shape::Array(value->shape().element_type(), sizes), {value});
}

Instruction* OpWriter::Transpose(Instruction* value, absl::Span<const int64_t> order) const {
  DimVector sizes;
  for (int64_t d : order) sizes.push_back(value->shape().dimension(d));
  return into_->Add(Opcode::kTranspose, Shape::Array(value->shape().element_type(), sizes), {value},
                    DimensionsAttr(order));
}

Instruction* OpWriter::Element(Instruction* tuple, int64_t k) const {
  return into_->Add(Opcode::kGetTupleElement, tuple->shape().elements()[k], {tuple},
                    Attributes().Set(Attr::kIndex, AttrValue(k)));
}

Instruction* OpWriter::Tuple(absl::Span<Instruction* const> elements) const {
  std::vector<Shape> shapes;
  for (const Instruction* element : elements) shapes.push_back(element->shape());
  return into_->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements);
}

Instruction* OpWriter::PadWithZeros(Instruction* value, absl::Span<const int64_t> low,
                                    absl::Span<const int64_t> high) const {
  std::vector<PaddingDim> padding;
  DimVector sizes;
  for (int64_t d = 0; d < value->shape().rank(); ++d) {
    padding.push_back({low[d], high[d], 0});
    sizes.push_back(value->shape().dimension(d) + low[d] + high[d]);
  }
  const ElementType type = value->shape().element_type();
  Instruction* zero = Splat(Shape::Scalar(type), 0);
  return into_->Add(Opcode::kPad, Shape::Array(type, sizes), {value, zero},
                    Attributes().Set(Attr::kPadding, AttrValue(std::move(padding))));
}

Instruction* OpWriter::FirstPart(Instruction* value, absl::Span<const int64_t> sizes) const {
  std::vector<SliceRange> ranges;
  for (int64_t size : sizes) ranges.push_back({0, size, 1});
  return into_->Add(Opcode::kSlice, Shape::Array(value->shape().element_type(), sizes), {value},
                    SliceAttr(std::move(ranges)));
}

Instruction* OpWriter::SumToFeature(Instruction* value, int64_t kept) const {
  const Shape scalar = Shape::Scalar(ElementType::kF32);
  Computation* sum = into_->parent()->AddComputation("sum");
  Instruction* a = sum->AddParameter(0, scalar);
  Instruction* b = sum->AddParameter(1, scalar);
  sum->IndexParameters();
  sum->set_root(sum->Add(Opcode::kAdd, scalar, {a, b}));
  Int64List dims;
  for (int64_t d = 0; d < value->shape().rank(); ++d)
    if (d != kept) dims.push_back(d);
  Computation* const callees[] = {sum};
  return into_->Add(Opcode::kReduce,
                    Shape::Array(value->shape().element_type(), {value->shape().dimension(kept)}),
                    {value, Splat(scalar, 0)}, DimensionsAttr(dims), callees);
}

}  // namespace assay
