// Shapes: what an instruction produces. Document: hlo-format chapter 2.6; operation semantics
// chapter 2.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "spec/types/element_type.h"

namespace assay {

using DimVector = absl::InlinedVector<int64_t, 4>;

// Rarely present parts of a layout; all default to "absent".
struct LayoutExtras {
  struct Tile {
    std::vector<int64_t> dims;  // kCombine: merge with the next more-minor dimension
    static constexpr int64_t kCombine = std::numeric_limits<int64_t>::min();  // written '*'
    bool operator==(const Tile&) const = default;
  };
  struct SplitConfig {
    int64_t dimension = 0;
    std::vector<int64_t> split_indices;
    bool operator==(const SplitConfig&) const = default;
  };
  std::vector<Tile> tiles;
  int64_t tail_padding_alignment = 1;  // in elements
  ElementType index_type = ElementType::kInvalid;
  ElementType pointer_type = ElementType::kInvalid;
  int64_t element_size_in_bits = 0;  // 0: the type's own width
  int64_t memory_space = 0;
  std::vector<SplitConfig> split_configs;
  int64_t dynamic_shape_metadata_prefix_bytes = 0;
  bool operator==(const LayoutExtras&) const = default;
};

// Order of an array's dimensions in memory, fastest-varying first. Never changes the meaning of an
// op except bitcast.
class Layout {
 public:
  Layout() = default;
  explicit Layout(absl::Span<const int64_t> minor_to_major)
      : minor_to_major_(minor_to_major.begin(), minor_to_major.end()) {}
  // {rank-1, ..., 1, 0}
  static Layout RowMajor(int64_t rank);

  absl::Span<const int64_t> minor_to_major() const { return minor_to_major_; }
  bool IsRowMajor() const;  // order only; extras do not count
  // nullptr when all extras are at their defaults.
  const LayoutExtras* extras() const { return extras_.get(); }
  void set_extras(LayoutExtras extras);

  bool operator==(const Layout& other) const;

 private:
  DimVector minor_to_major_;
  std::shared_ptr<const LayoutExtras> extras_;
};

class Shape {
 public:
  static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::min();

  Shape() = default;  // invalid
  // Out of line: copies of shapes are all over the programs, and dear only to compile.
  Shape(const Shape& other);
  Shape& operator=(const Shape& other);
  Shape(Shape&& other) noexcept;
  Shape& operator=(Shape&& other) noexcept;
  ~Shape();
  // An array with row-major layout.
  static Shape Array(ElementType type, absl::Span<const int64_t> dimensions);
  static Shape Array(ElementType type, std::initializer_list<int64_t> dimensions) {
    return Array(type, absl::MakeConstSpan(dimensions.begin(), dimensions.size()));
  }
  static Shape Scalar(ElementType type) { return Array(type, absl::Span<const int64_t>()); }
  static Shape Tuple(std::vector<Shape> elements);
  static Shape Token();
  static Shape Opaque();
  static Shape Buffer(Shape array);

  ElementType element_type() const { return element_type_; }
  void set_element_type(ElementType type) { element_type_ = type; }
  bool IsValid() const { return element_type_ != ElementType::kInvalid; }
  bool IsArray() const { return IsArrayType(element_type_); }
  bool IsTuple() const { return element_type_ == ElementType::kTuple; }
  bool IsToken() const { return element_type_ == ElementType::kToken; }
  bool IsOpaque() const { return element_type_ == ElementType::kOpaque; }
  bool IsBuffer() const { return element_type_ == ElementType::kBuffer; }
  bool IsScalar() const { return IsArray() && dimensions_.empty(); }

  // Arrays. Sizes are elements; a bounded dynamic dimension holds its bound, an unbounded one
  // kUnbounded.
  int64_t rank() const { return static_cast<int64_t>(dimensions_.size()); }
  absl::Span<const int64_t> dimensions() const { return dimensions_; }
  int64_t dimension(int64_t i) const { return dimensions_[i]; }
  void set_dimension(int64_t i, int64_t size) { dimensions_[i] = size; }
  bool is_dynamic(int64_t i) const { return !dynamic_.empty() && dynamic_[i]; }
  void set_dynamic(int64_t i, bool dynamic);
  bool HasDynamicDimension() const;
  // Product of the sizes (bounds). Saturates at INT64_MAX, which no verified module reaches.
  int64_t ElementCount() const;
  // Bytes of a row-major host copy, one storage unit per element; tuples: the sum. Saturates
  // likewise.
  int64_t ByteSize() const;

  const Layout& layout() const { return layout_; }
  void set_layout(Layout layout) { layout_ = std::move(layout); }
  bool has_layout() const { return has_layout_; }
  void clear_layout();  // back to row-major, "not written"
  void mark_layout_written(bool written) { has_layout_ = written; }

  // Tuples and buffers (a buffer holds one array).
  const std::vector<Shape>& elements() const { return elements_; }
  std::vector<Shape>& mutable_elements() { return elements_; }

  // Same tree, types, dimensions, dynamic bits and layouts.
  bool operator==(const Shape& other) const;

  // HLO text. With layouts as instructions print them, without as computation signatures do.
  std::string ToString(bool with_layout = false) const;
  void AppendTo(std::string& out, bool with_layout) const;

 private:
  ElementType element_type_ = ElementType::kInvalid;
  bool has_layout_ = true;
  DimVector dimensions_;
  absl::InlinedVector<bool, 8> dynamic_;  // empty: all static
  Layout layout_;
  std::vector<Shape> elements_;
};

// True for shapes that differ at most in layouts and dynamic bits; an unbounded dimension matches
// any size.
bool Compatible(const Shape& a, const Shape& b);
// Like Compatible, but all real float types count as one type.
bool CompatibleIgnoringFpPrecision(const Shape& a, const Shape& b);
bool CompatibleIgnoringElementType(const Shape& a, const Shape& b);
bool SameDimensions(const Shape& a, const Shape& b);

// The leaf arrays (and tokens) of a shape in depth-first order.
void ForEachLeaf(
    const Shape& shape,
    const std::function<void(const Shape& leaf, absl::Span<const int64_t> index)>& visit);
int64_t LeafCount(const Shape& shape);

// Row-major strides, in elements, of the logical dimensions.
DimVector RowMajorStrides(absl::Span<const int64_t> dimensions);
// Strides, in elements, of each logical dimension under an untiled layout.
DimVector LayoutStrides(const Shape& shape);

// Advances a multi-index in row-major order; false after the last one.
bool NextIndex(absl::Span<const int64_t> dimensions, absl::Span<int64_t> index);
int64_t LinearIndex(absl::Span<const int64_t> strides, absl::Span<const int64_t> index);

}  // namespace assay
