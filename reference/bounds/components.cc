// Parts of complex arrays taken out and put back, with their bounds.
#include "reference/bounds/components.h"

#include "reference/bounds/elements.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

Shape ComponentsShape(const Shape& complex) {
  DimVector dimensions(complex.dimensions().begin(), complex.dimensions().end());
  dimensions.push_back(2);
  return Shape::Array(ComponentType(complex.element_type()), dimensions);
}

}  // namespace

Literal Components(const Literal& complex) {
  Literal parts(ComponentsShape(complex.shape()));
  if (!complex.bytes().empty())
    std::memcpy(parts.bytes().data(), complex.bytes().data(), parts.bytes().size());
  return parts;
}

Array Components(const Array& complex) {
  Array parts(Components(complex.literal));
  parts.facts().bounds = complex.facts().bounds;
  return parts;
}

Array PartOf(const Array& complex, Part part) {
  const Shape& shape = complex.literal.shape();
  Array values(Literal(Shape::Array(ComponentType(shape.element_type()), shape.dimensions())));
  const int64_t n = values.literal.element_count(), first = static_cast<int64_t>(part);
  const size_t width = StorageBytes(values.literal.element_type());
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(values.literal.bytes().data() + i * width,
                complex.literal.bytes().data() + (2 * i + first) * width, width);
  if (complex.facts().bounds.empty()) return values;
  MakeBounds(values);
  for (int64_t i = 0; i < n; ++i) values.facts().bounds[i] = complex.facts().bounds[2 * i + first];
  return values;
}

void SetPart(const Array& values, Part part, Array& result) {
  const int64_t n = values.literal.element_count(), first = static_cast<int64_t>(part);
  const size_t width = StorageBytes(values.literal.element_type());
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(result.literal.bytes().data() + (2 * i + first) * width,
                values.literal.bytes().data() + i * width, width);
  if (values.facts().bounds.empty() && result.facts().bounds.empty()) return;
  MakeBounds(result);
  for (int64_t i = 0; i < n; ++i) {
    result.facts().bounds[2 * i + first] = values.facts().BoundOf(i);
  }
}

void SetComponents(const Array& components, Array& result) {
  if (!result.literal.bytes().empty())
    std::memcpy(result.literal.bytes().data(), components.literal.bytes().data(),
                result.literal.bytes().size());
  result.facts().bounds = components.facts().bounds;
}

absl::StatusOr<Array> PartArithmetic::Apply(Opcode opcode, const Shape& shape,
                                            absl::Span<const Array* const> operands) const {
  const OpEvaluation& row = *FindEvaluation(opcode);
  std::vector<Value> values(operands.size());
  absl::InlinedVector<const Value*, 3> pointers;
  for (size_t k = 0; k < operands.size(); ++k) {
    values[k].array = std::shared_ptr<const Array>(std::shared_ptr<void>(), operands[k]);
    pointers.push_back(&values[k]);
  }
  const OpContext part = op_.On(shape, pointers);
  Array result{Literal(shape)};
  ASSAY_RETURN_IF_ERROR(row.evaluate(part, result.literal));
  if (!bounding_) return result;
  ASSAY_RETURN_IF_ERROR(row.bound(part, result));
  return result;
}

absl::Status ApplyByParts(const OpContext& op, Opcode opcode, bool bounding, Array& result) {
  std::vector<Array> parts;
  std::vector<const Array*> operands;
  for (size_t k = 0; k < op.operands.size(); ++k)
    parts.push_back(Components(op.array(static_cast<int64_t>(k))));
  for (const Array& part : parts) operands.push_back(&part);
  ASSAY_ASSIGN_OR_RETURN(
      Array components,
      PartArithmetic(op, bounding).Apply(opcode, ComponentsShape(op.shape), operands));
  SetComponents(components, result);
  return absl::OkStatus();
}

}  // namespace assay::reference
