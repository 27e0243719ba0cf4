// Values, element-wise ops, data movement.
#include <algorithm>
#include <numeric>

#include "spec/base/status_macros.h"
#include "spec/builder/builder_internal.h"
#include "spec/ops/shape_checks.h"
#include "spec/verifier/broadcasting.h"

namespace assay {
namespace {

absl::Status CheckRank(const Shape& shape, size_t entries, std::string_view what) {
  if (!shape.IsArray()) {
    return absl::InvalidArgumentError(StrCat("operand 0 (", shape.ToString(), ") is no array"));
  }
  if (static_cast<int64_t>(entries) == shape.rank()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(what, " has ", entries, " entries, operand 0 (",
                                           shape.ToString(), ") has rank ", shape.rank()));
}

absl::StatusOr<Shape> CheckedArray(ElementType type, absl::Span<const int64_t> dimensions) {
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] >= 0) continue;
    return absl::InvalidArgumentError(StrCat("dimension ", i, " has size ", dimensions[i]));
  }
  const Shape shape = Shape::Array(type, dimensions);
  ASSAY_RETURN_IF_ERROR(CheckShape(shape));
  return shape;
}

}  // namespace

XlaOp XlaBuilder::Parameter(int64_t number, const Shape& shape, const std::string& name) {
  return Record("parameter", [&]() -> Result {
    ASSAY_RETURN_IF_ERROR(CheckShape(shape));
    if (number < 0) {
      return absl::InvalidArgumentError(StrCat("number ", number, " is negative"));
    }
    for (Instruction* other : *entry_) {
      if (other->opcode() == Opcode::kParameter && other->parameter_number() == number) {
        return absl::InvalidArgumentError(
            StrCat("number ", number, " is that of ", other->name(), " already"));
      }
    }
    Instruction* parameter = entry_->AddParameter(number, shape, name);
    entry_->IndexParameters();
    return parameter;
  });
}

XlaOp XlaBuilder::ConstantLiteral(const Literal& literal) {
  return Record("constant", [&]() -> Result { return entry_->AddConstant(literal); });
}

XlaOp XlaBuilder::Iota(const Shape& shape, int64_t iota_dimension) {
  return Simple(Opcode::kIota, {},
                Attributes().Set(Attr::kIotaDimension, AttrValue(iota_dimension)), {}, &shape);
}

XlaOp XlaBuilder::Tuple(Ops elements) { return Simple(Opcode::kTuple, elements); }

XlaOp XlaBuilder::GetTupleElement(XlaOp tuple, int64_t index) {
  return Simple(Opcode::kGetTupleElement, {tuple},
                Attributes().Set(Attr::kIndex, AttrValue(index)));
}

XlaOp XlaBuilder::Unary(Opcode opcode, XlaOp operand) { return Simple(opcode, {operand}); }

XlaOp XlaBuilder::Binary(Opcode opcode, XlaOp lhs, XlaOp rhs, List broadcast_dimensions) {
  return Record(assay::Name(opcode), [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({lhs, rhs}));
    return AddBinary(*entry_, opcode, operands[0], operands[1], broadcast_dimensions);
  });
}

XlaOp XlaBuilder::Compare(Direction direction, XlaOp lhs, XlaOp rhs, List broadcast_dimensions,
                          std::optional<CompareType> type) {
  return Record("compare", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({lhs, rhs}));
    Attributes attributes;
    attributes.Set(Attr::kDirection, direction);
    if (type.has_value() && *type != DefaultCompareType(operands[0]->shape().element_type())) {
      attributes.Set(Attr::kCompareType, *type);
    }
    return AddBinary(*entry_, Opcode::kCompare, operands[0], operands[1], broadcast_dimensions,
                     std::move(attributes));
  });
}

// HLO has no select of tuples: one predicate chooses element by element.
XlaOp XlaBuilder::Select(XlaOp predicate, XlaOp on_true, XlaOp on_false) {
  const absl::StatusOr<Shape> type = GetShape(predicate), shape = GetShape(on_true),
                              other = GetShape(on_false);
  if (!shape.ok() || !shape->IsTuple()) {
    return Simple(Opcode::kSelect, {predicate, on_true, on_false});
  }
  if (!type.ok() || *type != Shape::Scalar(ElementType::kPred) || !other.ok() || *other != *shape) {
    return Record("select", [&]() -> Result {
      ASSAY_RETURN_IF_ERROR(Resolve({predicate, on_true, on_false}).status());
      return absl::InvalidArgumentError(StrCat("between tuples, ", shape->ToString(), " and ",
                                               other->ToString(), " by ", type->ToString(),
                                               ": want equal shapes and a scalar predicate"));
    });
  }
  std::vector<XlaOp> elements;
  for (int64_t i = 0; i < static_cast<int64_t>(shape->elements().size()); ++i) {
    elements.push_back(
        Select(predicate, GetTupleElement(on_true, i), GetTupleElement(on_false, i)));
  }
  return Tuple(elements);
}

XlaOp XlaBuilder::Clamp(XlaOp min, XlaOp operand, XlaOp max) {
  return Simple(Opcode::kClamp, {min, operand, max});
}

XlaOp XlaBuilder::ConvertElementType(XlaOp operand, ElementType type) {
  return Record("convert", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    Shape shape = operands[0]->shape();
    if (!shape.IsArray()) {
      return absl::InvalidArgumentError(StrCat("operand 0 (", shape.ToString(), ") is no array"));
    }
    shape.set_element_type(type);
    return AddOp(Opcode::kConvert, operands, {}, {}, &shape);
  });
}

XlaOp XlaBuilder::BitcastConvertType(XlaOp operand, ElementType type) {
  return Record("bitcast-convert", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    const Shape& from = operands[0]->shape();
    if (!from.IsArray() || !IsArrayType(type)) {
      return absl::InvalidArgumentError(StrCat("operand 0 (", from.ToString(), ") to ",
                                               assay::Name(type), " is between no arrays"));
    }
    // Between widths the last dimension splits or goes.
    DimVector dimensions(from.dimensions().begin(), from.dimensions().end());
    const int old_bits = BitWidth(from.element_type()), new_bits = BitWidth(type);
    if (old_bits > new_bits) {
      dimensions.push_back(old_bits / new_bits);
    } else if (old_bits < new_bits) {
      if (dimensions.empty() || dimensions.back() * old_bits != new_bits) {
        return absl::InvalidArgumentError(
            StrCat("operand 0 (", from.ToString(), ") has no last dimension of size ",
                   new_bits / old_bits, " to make ", assay::Name(type), " of"));
      }
      dimensions.pop_back();
    }
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, CheckedArray(type, dimensions));
    return AddOp(Opcode::kBitcastConvert, operands, {}, {}, &shape);
  });
}

XlaOp XlaBuilder::ReducePrecision(XlaOp operand, int64_t exponent_bits, int64_t mantissa_bits) {
  return Simple(Opcode::kReducePrecision, {operand},
                Attributes()
                    .Set(Attr::kExponentBits, AttrValue(exponent_bits))
                    .Set(Attr::kMantissaBits, AttrValue(mantissa_bits)));
}

XlaOp XlaBuilder::Broadcast(XlaOp operand, List broadcast_sizes) {
  return Record("broadcast", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    const Shape& from = operands[0]->shape();
    ASSAY_RETURN_IF_ERROR(CheckRank(from, static_cast<size_t>(from.rank()), "broadcast"));
    DimVector dimensions(broadcast_sizes.begin(), broadcast_sizes.end());
    Int64List mapping(from.rank());
    std::iota(mapping.begin(), mapping.end(), static_cast<int64_t>(dimensions.size()));
    dimensions.insert(dimensions.end(), from.dimensions().begin(), from.dimensions().end());
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, CheckedArray(from.element_type(), dimensions));
    return AddOp(Opcode::kBroadcast, operands,
                 Attributes().Set(Attr::kDimensions, absl::MakeConstSpan(mapping)), {}, &shape);
  });
}

XlaOp XlaBuilder::BroadcastInDim(XlaOp operand, List out_dimensions, List broadcast_dimensions) {
  return Record("broadcast", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    ASSAY_RETURN_IF_ERROR(
        CheckedArray(operands[0]->shape().element_type(), out_dimensions).status());
    return assay::BroadcastInDim(*entry_, operands[0], out_dimensions, broadcast_dimensions);
  });
}

XlaOp XlaBuilder::Reshape(XlaOp operand, List new_sizes) {
  return Record("reshape", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    ASSAY_ASSIGN_OR_RETURN(const Shape shape,
                           CheckedArray(operands[0]->shape().element_type(), new_sizes));
    return AddOp(Opcode::kReshape, operands, {}, {}, &shape);
  });
}

XlaOp XlaBuilder::Reshape(XlaOp operand, List dimensions, List new_sizes) {
  return Reshape(Transpose(operand, dimensions), new_sizes);
}

XlaOp XlaBuilder::Collapse(XlaOp operand, List dimensions) {
  return Record("collapse", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    const Shape& from = operands[0]->shape();
    DimVector sizes;
    for (size_t i = 0; i < dimensions.size(); ++i) {
      if (dimensions[i] < 0 || dimensions[i] >= from.rank()) {
        return absl::InvalidArgumentError(StrCat("dimension ", dimensions[i], " is not in [0, ",
                                                 from.rank(), ") of operand 0 (", from.ToString(),
                                                 ")"));
      }
      if (i > 0 && dimensions[i] != dimensions[i - 1] + 1) {
        return absl::InvalidArgumentError(StrCat("dimensions ", dimensions[i - 1], " and ",
                                                 dimensions[i], " are not consecutive"));
      }
    }
    if (dimensions.size() <= 1) return operands[0];
    for (int64_t d = 0; d < from.rank(); ++d) {
      if (d > dimensions.front() && d <= dimensions.back()) {
        sizes.back() *= from.dimension(d);
      } else {
        sizes.push_back(from.dimension(d));
      }
    }
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, CheckedArray(from.element_type(), sizes));
    return AddOp(Opcode::kReshape, operands, {}, {}, &shape);
  });
}

XlaOp XlaBuilder::Transpose(XlaOp operand, List permutation) {
  return Simple(Opcode::kTranspose, {operand}, Attributes().Set(Attr::kDimensions, permutation));
}

XlaOp XlaBuilder::Rev(XlaOp operand, List dimensions) {
  return Simple(Opcode::kReverse, {operand}, Attributes().Set(Attr::kDimensions, dimensions));
}

XlaOp XlaBuilder::Slice(XlaOp operand, List start_indices, List limit_indices, List strides) {
  return Record("slice", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector operands, Resolve({operand}));
    const Shape& from = operands[0]->shape();
    ASSAY_RETURN_IF_ERROR(CheckRank(from, start_indices.size(), "start_indices"));
    ASSAY_RETURN_IF_ERROR(CheckRank(from, limit_indices.size(), "limit_indices"));
    if (!strides.empty()) ASSAY_RETURN_IF_ERROR(CheckRank(from, strides.size(), "strides"));
    std::vector<SliceRange> ranges;
    for (int64_t d = 0; d < from.rank(); ++d) {
      ranges.push_back({start_indices[d], limit_indices[d], strides.empty() ? 1 : strides[d]});
    }
    return AddOp(Opcode::kSlice, operands, Attributes().Set(Attr::kSlice, AttrValue(ranges)));
  });
}

absl::StatusOr<std::vector<Instruction*>> XlaBuilder::SplitStarts(Instruction* vector) {
  const Shape& shape = vector->shape();
  if (!shape.IsArray() || shape.rank() != 1) {
    return absl::InvalidArgumentError(
        StrCat("start_indices (", shape.ToString(), ") is no vector"));
  }
  std::vector<Instruction*> starts;
  const Shape scalar = Shape::Scalar(shape.element_type());
  for (int64_t i = 0; i < shape.dimension(0); ++i) {
    const std::vector<SliceRange> range = {{i, i + 1, 1}};
    ASSAY_ASSIGN_OR_RETURN(
        Instruction * one,
        AddOp(Opcode::kSlice, {&vector, 1}, Attributes().Set(Attr::kSlice, AttrValue(range))));
    ASSAY_ASSIGN_OR_RETURN(starts.emplace_back(),
                           AddOp(Opcode::kReshape, {&one, 1}, {}, {}, &scalar));
  }
  return starts;
}

XlaOp XlaBuilder::DynamicSlice(XlaOp operand, Ops start_indices, List slice_sizes) {
  std::vector<XlaOp> operands = {operand};
  operands.insert(operands.end(), start_indices.begin(), start_indices.end());
  return Simple(Opcode::kDynamicSlice, operands,
                Attributes().Set(Attr::kDynamicSliceSizes, slice_sizes));
}

XlaOp XlaBuilder::DynamicSlice(XlaOp operand, XlaOp start_indices, List slice_sizes) {
  return Record("dynamic-slice", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector given, Resolve({operand, start_indices}));
    ASSAY_ASSIGN_OR_RETURN(std::vector<Instruction*> operands, SplitStarts(given[1]));
    operands.insert(operands.begin(), given[0]);
    return AddOp(Opcode::kDynamicSlice, operands,
                 Attributes().Set(Attr::kDynamicSliceSizes, slice_sizes));
  });
}

XlaOp XlaBuilder::DynamicUpdateSlice(XlaOp operand, XlaOp update, Ops start_indices) {
  std::vector<XlaOp> operands = {operand, update};
  operands.insert(operands.end(), start_indices.begin(), start_indices.end());
  return Simple(Opcode::kDynamicUpdateSlice, operands);
}

XlaOp XlaBuilder::DynamicUpdateSlice(XlaOp operand, XlaOp update, XlaOp start_indices) {
  return Record("dynamic-update-slice", [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector given, Resolve({operand, update, start_indices}));
    ASSAY_ASSIGN_OR_RETURN(std::vector<Instruction*> operands, SplitStarts(given[2]));
    operands.insert(operands.begin(), {given[0], given[1]});
    return AddOp(Opcode::kDynamicUpdateSlice, operands);
  });
}

XlaOp XlaBuilder::Pad(XlaOp operand, XlaOp padding_value,
                      const std::vector<PaddingDim>& padding_config) {
  return Simple(Opcode::kPad, {operand, padding_value},
                Attributes().Set(Attr::kPadding, AttrValue(padding_config)));
}

XlaOp XlaBuilder::ConcatInDim(Ops operands, int64_t dimension) {
  return Simple(Opcode::kConcatenate, operands, Attributes().Set(Attr::kDimension, {dimension}));
}

XlaOp XlaBuilder::Gather(XlaOp operand, XlaOp start_indices, const Attributes& dimension_numbers,
                         List slice_sizes, bool indices_are_sorted, bool /*unique_indices*/) {
  Attributes attributes = dimension_numbers;
  attributes.Set(Attr::kSliceSizes, slice_sizes);
  if (indices_are_sorted) attributes.Set(Attr::kIndicesAreSorted, AttrValue(true));
  return Simple(Opcode::kGather, {operand, start_indices}, std::move(attributes));
}

XlaOp XlaBuilder::Scatter(Ops operands, XlaOp scatter_indices, Ops updates,
                          const XlaComputation& update_computation,
                          const Attributes& dimension_numbers, bool indices_are_sorted,
                          bool unique_indices) {
  std::vector<XlaOp> all(operands.begin(), operands.end());
  all.push_back(scatter_indices);
  all.insert(all.end(), updates.begin(), updates.end());
  Attributes attributes = dimension_numbers;
  if (indices_are_sorted) attributes.Set(Attr::kIndicesAreSorted, AttrValue(true));
  if (unique_indices) attributes.Set(Attr::kUniqueIndices, AttrValue(true));
  return Simple(Opcode::kScatter, all, std::move(attributes), {&update_computation});
}

XlaOp XlaBuilder::GetDimensionSize(XlaOp operand, int64_t dimension) {
  return Simple(Opcode::kGetDimensionSize, {operand},
                Attributes().Set(Attr::kDimension, {dimension}));
}

XlaOp XlaBuilder::SetDimensionSize(XlaOp operand, XlaOp size, int64_t dimension) {
  return Simple(Opcode::kSetDimensionSize, {operand, size},
                Attributes().Set(Attr::kDimension, {dimension}));
}

}  // namespace assay
