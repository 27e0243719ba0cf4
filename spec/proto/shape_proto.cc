// Shapes and layouts in the binary form.
#include "spec/proto/shape_proto.h"

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::proto {
namespace {

void LayoutToProto(const Layout& layout, LayoutProto* proto) {
  FromList(layout.minor_to_major(), proto->mutable_minor_to_major());
  proto->set_tail_padding_alignment_in_elements(1);
  const LayoutExtras* extras = layout.extras();
  if (extras == nullptr) return;
  for (const LayoutExtras::Tile& tile : extras->tiles) {
    FromList(tile.dims, proto->add_tiles()->mutable_dimensions());
  }
  proto->set_tail_padding_alignment_in_elements(extras->tail_padding_alignment);
  proto->set_index_primitive_type(static_cast<int>(extras->index_type));
  proto->set_pointer_primitive_type(static_cast<int>(extras->pointer_type));
  proto->set_element_size_in_bits(extras->element_size_in_bits);
  proto->set_memory_space(extras->memory_space);
  for (const LayoutExtras::SplitConfig& split : extras->split_configs) {
    SplitConfigProto* one = proto->add_split_configs();
    one->set_dimension(split.dimension);
    FromList(split.split_indices, one->mutable_split_indices());
  }
  proto->set_dynamic_shape_metadata_prefix_bytes(extras->dynamic_shape_metadata_prefix_bytes);
}

absl::StatusOr<ElementType> TypeFromNumber(int64_t number) {
  if (number < 0 || number >= kElementTypeCount) {
    return absl::InvalidArgumentError(StrCat("no element type has the number ", number));
  }
  return static_cast<ElementType>(number);
}

absl::StatusOr<Layout> LayoutFromProto(const LayoutProto& proto, int64_t rank) {
  if (proto.minor_to_major_size() != rank) {
    return absl::InvalidArgumentError(
        StrCat("a layout has ", proto.minor_to_major_size(), " dimensions, its shape has ", rank));
  }
  Int64List order = ToList(proto.minor_to_major());
  std::vector<bool> seen(rank, false);
  for (int64_t dimension : order) {
    if (dimension < 0 || dimension >= rank || seen[dimension]) {
      return absl::InvalidArgumentError("a layout is not a permutation of the dimensions");
    }
    seen[dimension] = true;
  }
  Layout layout(order);
  LayoutExtras extras;
  for (const TileProto& tile : proto.tiles()) extras.tiles.push_back({ToList(tile.dimensions())});
  if (proto.tail_padding_alignment_in_elements() > 1) {
    extras.tail_padding_alignment = proto.tail_padding_alignment_in_elements();
  }
  ASSAY_ASSIGN_OR_RETURN(extras.index_type, TypeFromNumber(proto.index_primitive_type()));
  ASSAY_ASSIGN_OR_RETURN(extras.pointer_type, TypeFromNumber(proto.pointer_primitive_type()));
  extras.element_size_in_bits = proto.element_size_in_bits();
  extras.memory_space = proto.memory_space();
  for (const SplitConfigProto& split : proto.split_configs()) {
    extras.split_configs.push_back({split.dimension(), ToList(split.split_indices())});
  }
  extras.dynamic_shape_metadata_prefix_bytes = proto.dynamic_shape_metadata_prefix_bytes();
  layout.set_extras(std::move(extras));
  return layout;
}

}  // namespace

void ShapeToProto(const Shape& shape, ShapeProto* proto) {
  proto->set_element_type(static_cast<int>(shape.element_type()));
  for (const Shape& element : shape.elements()) ShapeToProto(element, proto->add_tuple_shapes());
  if (!shape.IsArray()) return;
  FromList(shape.dimensions(), proto->mutable_dimensions());
  for (int64_t i = 0; i < shape.rank(); ++i) proto->add_is_dynamic_dimension(shape.is_dynamic(i));
  if (shape.has_layout()) LayoutToProto(shape.layout(), proto->mutable_layout());
}

absl::StatusOr<Shape> ShapeFromProto(const ShapeProto& proto) {
  ASSAY_ASSIGN_OR_RETURN(const ElementType type, TypeFromNumber(proto.element_type()));
  const bool composite = type == ElementType::kTuple || type == ElementType::kBuffer;
  if (!composite && proto.tuple_shapes_size() > 0) {
    return absl::InvalidArgumentError(StrCat("a shape of type ", Name(type), " has elements"));
  }
  if (!IsArrayType(type) && proto.dimensions_size() > 0) {
    return absl::InvalidArgumentError(StrCat("a shape of type ", Name(type), " has dimensions"));
  }
  if (composite) {
    std::vector<Shape> elements;
    for (const ShapeProto& element : proto.tuple_shapes()) {
      ASSAY_ASSIGN_OR_RETURN(elements.emplace_back(), ShapeFromProto(element));
    }
    if (type == ElementType::kTuple) return Shape::Tuple(std::move(elements));
    if (elements.size() != 1 || !elements[0].IsArray()) {
      return absl::InvalidArgumentError("a buffer holds one array");
    }
    return Shape::Buffer(std::move(elements[0]));
  }
  if (type == ElementType::kToken) return Shape::Token();
  if (type == ElementType::kOpaque) return Shape::Opaque();
  if (!IsArrayType(type)) return absl::InvalidArgumentError("a shape has no element type");

  Shape shape = Shape::Array(type, ToList(proto.dimensions()));
  const int dynamic = proto.is_dynamic_dimension_size();
  if (dynamic != 0 && dynamic != shape.rank()) {
    return absl::InvalidArgumentError(StrCat("a shape of rank ", shape.rank(), " says of ", dynamic,
                                             " dimensions whether they are dynamic"));
  }
  for (int i = 0; i < dynamic; ++i) {
    if (proto.is_dynamic_dimension(i)) shape.set_dynamic(i, true);
  }
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const bool unbounded = shape.dimension(i) == Shape::kUnbounded && shape.is_dynamic(i);
    if (shape.dimension(i) < 0 && !unbounded) {
      return absl::InvalidArgumentError(
          StrCat("dimension ", i, " of a shape has the size ", shape.dimension(i)));
    }
  }
  if (!proto.has_layout()) {
    shape.mark_layout_written(false);
    return shape;
  }
  ASSAY_ASSIGN_OR_RETURN(Layout layout, LayoutFromProto(proto.layout(), shape.rank()));
  shape.set_layout(std::move(layout));
  shape.mark_layout_written(true);
  return shape;
}

}  // namespace assay::proto
