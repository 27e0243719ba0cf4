// Documents: operation semantics chapter 4, hlo-format 4.0.3.
#include <utility>

#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

int64_t NodeCount(const Shape& shape) {
  int64_t nodes = 0;
  std::vector<const Shape*> pending = {&shape};
  while (!pending.empty()) {
    const Shape* at = pending.back();
    pending.pop_back();
    ++nodes;
    for (const Shape& element : at->elements()) pending.push_back(&element);
  }
  return nodes;
}

// Bits that one element takes in a buffer of this shape.
int64_t BufferBits(const Shape& shape) {
  const LayoutExtras* extras = shape.layout().extras();
  if (extras != nullptr && extras->element_size_in_bits != 0) return extras->element_size_in_bits;
  return int64_t{8} * StorageBytes(shape.element_type());
}

bool IsTiled(const Shape& shape) {
  const LayoutExtras* extras = shape.layout().extras();
  return extras != nullptr && !extras->tiles.empty();
}

}  // namespace

absl::StatusOr<Shape> InferAsWritten(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  if (site.written == nullptr) return SiteError(site, "the result shape must be written");
  return CheckedResult(site, *site.written);
}

absl::StatusOr<Shape> InferTuple(const OpSite& site) {
  // Tuples of tuples double at each step: the size is known before anything is copied.
  int64_t nodes = 1;
  for (const Shape* operand : site.operands) nodes += NodeCount(*operand);
  if (nodes > kMaxShapeNodes) {
    return SiteError(site, "the result has ", nodes, " elements, more than ", kMaxShapeNodes);
  }
  std::vector<Shape> elements;
  elements.reserve(site.operands.size());
  for (const Shape* operand : site.operands) elements.push_back(*operand);
  return CheckedResult(site, Shape::Tuple(std::move(elements)));
}

absl::StatusOr<Shape> InferGetTupleElement(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kIndex));
  const Shape& tuple = *site.operands[0];
  if (!tuple.IsTuple()) return SiteError(site, DescribeOperand(site, 0), " is not a tuple");
  const int64_t index = site.attributes.Integer(Attr::kIndex);
  const int64_t arity = static_cast<int64_t>(tuple.elements().size());
  if (index < 0 || index >= arity) {
    return SiteError(site, "index ", index, " is not in [0, ", arity, ") of ",
                     DescribeOperand(site, 0));
  }
  return tuple.elements()[index];
}

absl::StatusOr<Shape> InferIdentity(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  if (site.operands[0]->IsOpaque())
    return SiteError(site, "operand 0 is opaque: it has no values to copy");
  return *site.operands[0];
}

absl::StatusOr<Shape> InferBitcast(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  ASSAY_ASSIGN_OR_RETURN(Shape written, WrittenArray(site));
  const Shape& operand = *site.operands[0];
  // Tiles pad: the buffer size then depends on more than the element count, and only a compiler's
  // own layouts have them.
  if (IsTiled(operand) || IsTiled(written)) return written;
  const __int128 from = __int128{operand.ElementCount()} * BufferBits(operand);
  const __int128 to = __int128{written.ElementCount()} * BufferBits(written);
  if (from != to) {
    return SiteError(site, DescribeOperand(site, 0), " has ", operand.ElementCount(),
                     " elements of ", BufferBits(operand), " bits, the result ", written.ToString(),
                     " has ", written.ElementCount(), " of ", BufferBits(written),
                     ": the buffers differ in size");
  }
  return written;
}

absl::StatusOr<Shape> InferIota(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kIotaDimension));
  ASSAY_ASSIGN_OR_RETURN(Shape written, WrittenArray(site));
  const int64_t dimension = site.attributes.Integer(Attr::kIotaDimension);
  if (dimension < 0 || dimension >= written.rank()) {
    return SiteError(site, "iota_dimension ", dimension, " is not in [0, ", written.rank(),
                     ") of the result ", written.ToString());
  }
  return written;
}

}  // namespace assay
