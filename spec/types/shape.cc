// Shapes: sizes, text, comparison, strides and indices.
#include "spec/types/shape.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? kMax : product;
}

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? kMax : sum;
}

// Compares two shape trees; `leaf` decides on a pair of leaves.
template <typename LeafEqual>
bool SameTree(const Shape& a, const Shape& b, const LeafEqual& leaf) {
  bool composite = a.IsTuple() || a.IsBuffer();
  if (!composite) return leaf(a, b);
  if (a.element_type() != b.element_type() || a.elements().size() != b.elements().size())
    return false;
  for (size_t i = 0; i < a.elements().size(); ++i) {
    if (!SameTree(a.elements()[i], b.elements()[i], leaf)) return false;
  }
  return true;
}

void AppendTiles(std::string& out, const LayoutExtras& extras) {
  if (extras.tiles.empty()) return;
  out += 'T';
  for (const auto& tile : extras.tiles) {
    out += '(';
    for (size_t i = 0; i < tile.dims.size(); ++i) {
      if (i > 0) out += ',';
      if (tile.dims[i] == LayoutExtras::Tile::kCombine) {
        out += '*';
      } else {
        StrAppend(&out, tile.dims[i]);
      }
    }
    out += ')';
  }
}

void AppendLayout(std::string& out, const Shape& shape) {
  const LayoutExtras* extras = shape.layout().extras();
  if (!shape.has_layout() || (shape.rank() == 0 && extras == nullptr)) return;
  out += '{';
  StrAppend(&out, absl::StrJoin(shape.layout().minor_to_major(), ","));
  if (extras != nullptr) {
    out += ':';
    AppendTiles(out, *extras);
    if (extras->tail_padding_alignment != 1)
      StrAppend(&out, "L(", extras->tail_padding_alignment, ")");
    if (extras->index_type != ElementType::kInvalid)
      StrAppend(&out, "#(", Name(extras->index_type), ")");
    if (extras->pointer_type != ElementType::kInvalid)
      StrAppend(&out, "*(", Name(extras->pointer_type), ")");
    if (extras->element_size_in_bits != 0) StrAppend(&out, "E(", extras->element_size_in_bits, ")");
    if (extras->memory_space != 0) StrAppend(&out, "S(", extras->memory_space, ")");
    if (!extras->split_configs.empty()) {
      out += "SC";
      for (const auto& split : extras->split_configs) {
        StrAppend(&out, "(", split.dimension, ":", absl::StrJoin(split.split_indices, ","), ")");
      }
    }
    if (extras->dynamic_shape_metadata_prefix_bytes != 0) {
      StrAppend(&out, "M(", extras->dynamic_shape_metadata_prefix_bytes, ")");
    }
  }
  out += '}';
}

}  // namespace

Layout Layout::RowMajor(int64_t rank) {
  Layout layout;
  layout.minor_to_major_.resize(rank);
  for (int64_t i = 0; i < rank; ++i) layout.minor_to_major_[i] = rank - 1 - i;
  return layout;
}

bool Layout::IsRowMajor() const {
  int64_t rank = static_cast<int64_t>(minor_to_major_.size());
  for (int64_t i = 0; i < rank; ++i) {
    if (minor_to_major_[i] != rank - 1 - i) return false;
  }
  return true;
}

void Layout::set_extras(LayoutExtras extras) {
  if (extras == LayoutExtras{}) {
    extras_ = nullptr;
  } else {
    extras_ = std::make_shared<const LayoutExtras>(std::move(extras));
  }
}

bool Layout::operator==(const Layout& other) const {
  if (minor_to_major_ != other.minor_to_major_) return false;
  if (extras_ == other.extras_) return true;
  return extras_ != nullptr && other.extras_ != nullptr && *extras_ == *other.extras_;
}

Shape::Shape(const Shape& other) = default;
Shape& Shape::operator=(const Shape& other) = default;
Shape::Shape(Shape&& other) noexcept = default;
Shape& Shape::operator=(Shape&& other) noexcept = default;
Shape::~Shape() = default;

Shape Shape::Array(ElementType type, absl::Span<const int64_t> dimensions) {
  Shape shape;
  shape.element_type_ = type;
  shape.dimensions_.assign(dimensions.begin(), dimensions.end());
  shape.layout_ = Layout::RowMajor(shape.rank());
  return shape;
}

Shape Shape::Tuple(std::vector<Shape> elements) {
  Shape shape;
  shape.element_type_ = ElementType::kTuple;
  shape.elements_ = std::move(elements);
  return shape;
}

Shape Shape::Token() {
  Shape shape;
  shape.element_type_ = ElementType::kToken;
  return shape;
}

Shape Shape::Opaque() {
  Shape shape;
  shape.element_type_ = ElementType::kOpaque;
  return shape;
}

Shape Shape::Buffer(Shape array) {
  Shape shape;
  shape.element_type_ = ElementType::kBuffer;
  shape.elements_.push_back(std::move(array));
  return shape;
}

void Shape::set_dynamic(int64_t i, bool dynamic) {
  if (dynamic_.empty()) {
    if (!dynamic) return;
    dynamic_.resize(dimensions_.size());
  }
  dynamic_[i] = dynamic;
  if (!dynamic && std::find(dynamic_.begin(), dynamic_.end(), true) == dynamic_.end())
    dynamic_.clear();
}

bool Shape::HasDynamicDimension() const {
  if (!dynamic_.empty()) return true;
  return std::any_of(elements_.begin(), elements_.end(),
                     [](const Shape& s) { return s.HasDynamicDimension(); });
}

int64_t Shape::ElementCount() const {
  // A zero anywhere wins over overflow elsewhere.
  int64_t count = 1;
  for (int64_t size : dimensions_) {
    if (size == 0) return 0;
    count = SaturatingMultiply(count, size == kUnbounded ? kMax : size);
  }
  return count;
}

int64_t Shape::ByteSize() const {
  if (IsTuple() || IsBuffer()) {
    int64_t total = 0;
    for (const Shape& element : elements_) total = SaturatingAdd(total, element.ByteSize());
    return total;
  }
  return IsArray() ? SaturatingMultiply(ElementCount(), StorageBytes(element_type_)) : 0;
}

void Shape::clear_layout() {
  if (IsArray()) layout_ = Layout::RowMajor(rank());
  has_layout_ = true;
  for (Shape& element : elements_) element.clear_layout();
}

bool Shape::operator==(const Shape& other) const {
  return element_type_ == other.element_type_ && dimensions_ == other.dimensions_ &&
         dynamic_ == other.dynamic_ && layout_ == other.layout_ && elements_ == other.elements_;
}

void Shape::AppendTo(std::string& out, bool with_layout) const {
  if (IsTuple()) {
    out += '(';
    for (size_t i = 0; i < elements_.size(); ++i) {
      if (i > 0) out += ", ";
      if (i > 0 && i % 5 == 0) StrAppend(&out, "/*index=", i, "*/");
      elements_[i].AppendTo(out, with_layout);
    }
    out += ')';
    return;
  }
  if (IsBuffer()) {
    out += "b(";
    elements_[0].AppendTo(out, with_layout);
    out += ')';
    return;
  }
  out += Name(element_type_);
  out += '[';
  for (int64_t i = 0; i < rank(); ++i) {
    if (i > 0) out += ',';
    if (dimensions_[i] == kUnbounded) {
      out += '?';
    } else {
      if (is_dynamic(i)) out += "<=";
      StrAppend(&out, dimensions_[i]);
    }
  }
  out += ']';
  if (with_layout && IsArray()) AppendLayout(out, *this);
}

std::string Shape::ToString(bool with_layout) const {
  std::string out;
  AppendTo(out, with_layout);
  return out;
}

bool SameDimensions(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int64_t i = 0; i < a.rank(); ++i) {
    int64_t x = a.dimension(i), y = b.dimension(i);
    if (x != y && x != Shape::kUnbounded && y != Shape::kUnbounded) return false;
  }
  return true;
}

bool Compatible(const Shape& a, const Shape& b) {
  return SameTree(a, b, [](const Shape& x, const Shape& y) {
    return x.element_type() == y.element_type() && SameDimensions(x, y);
  });
}

bool CompatibleIgnoringFpPrecision(const Shape& a, const Shape& b) {
  return SameTree(a, b, [](const Shape& x, const Shape& y) {
    bool same_type = x.element_type() == y.element_type() ||
                     (IsFloat(x.element_type()) && IsFloat(y.element_type()));
    return same_type && SameDimensions(x, y);
  });
}

bool CompatibleIgnoringElementType(const Shape& a, const Shape& b) {
  return SameTree(a, b, [](const Shape& x, const Shape& y) {
    return x.IsArray() == y.IsArray() && SameDimensions(x, y);
  });
}

namespace {

void VisitLeaves(const Shape& shape, std::vector<int64_t>& index,
                 const std::function<void(const Shape&, absl::Span<const int64_t>)>& visit) {
  if (!shape.IsTuple()) {
    visit(shape, index);
    return;
  }
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    index.push_back(static_cast<int64_t>(i));
    VisitLeaves(shape.elements()[i], index, visit);
    index.pop_back();
  }
}

}  // namespace

void ForEachLeaf(const Shape& shape,
                 const std::function<void(const Shape&, absl::Span<const int64_t>)>& visit) {
  std::vector<int64_t> index;
  VisitLeaves(shape, index, visit);
}

int64_t LeafCount(const Shape& shape) {
  if (!shape.IsTuple()) return 1;
  int64_t count = 0;
  for (const Shape& element : shape.elements()) count += LeafCount(element);
  return count;
}

DimVector RowMajorStrides(absl::Span<const int64_t> dimensions) {
  DimVector strides(dimensions.size(), 1);
  int64_t stride = 1;
  for (int64_t i = static_cast<int64_t>(dimensions.size()) - 1; i >= 0; --i) {
    strides[i] = stride;
    stride = SaturatingMultiply(stride, dimensions[i]);
  }
  return strides;
}

DimVector LayoutStrides(const Shape& shape) {
  DimVector strides(shape.rank(), 1);
  int64_t stride = 1;
  for (int64_t dimension : shape.layout().minor_to_major()) {
    strides[dimension] = stride;
    stride = SaturatingMultiply(stride, shape.dimension(dimension));
  }
  return strides;
}

bool NextIndex(absl::Span<const int64_t> dimensions, absl::Span<int64_t> index) {
  for (int64_t i = static_cast<int64_t>(dimensions.size()) - 1; i >= 0; --i) {
    if (++index[i] < dimensions[i]) return true;
    index[i] = 0;
  }
  return false;
}

int64_t LinearIndex(absl::Span<const int64_t> strides, absl::Span<const int64_t> index) {
  int64_t linear = 0;
  for (size_t i = 0; i < strides.size(); ++i) linear += strides[i] * index[i];
  return linear;
}

}  // namespace assay
