// Literals: values on the host. Logical row-major order whatever the shape's layout; element types
// below a byte take one byte each. Document: operation semantics chapters 1.1 and 2.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/types/native.h"
#include "spec/types/shape.h"
#include "spec/types/storage.h"

namespace assay {

// Largest literal that is ever allocated on behalf of something parsed, in bytes, unless a caller
// passes its own limit.
inline constexpr int64_t kDefaultLiteralLimit = int64_t{4} << 30;

class Literal {
 public:
  Literal() = default;
  // Zero-filled. The shape must be static and its size known to be acceptable; use Create for
  // anything that was parsed.
  explicit Literal(Shape shape);
  // A zero-filled literal, or an error (resource exhausted) instead of an allocation above
  // `byte_limit`.
  static absl::StatusOr<Literal> Create(Shape shape, int64_t byte_limit = kDefaultLiteralLimit);
  // Like Create, but leaves the bytes of arrays undefined, for a caller who writes all of them.
  static absl::StatusOr<Literal> CreateUndefined(Shape shape,
                                                 int64_t byte_limit = kDefaultLiteralLimit);
  static Literal Tuple(std::vector<Literal> elements);

  template <typename T>
  static Literal Scalar(ElementType type, T value) {
    Literal result(Shape::Scalar(type));
    std::memcpy(result.bytes().data(), &value, sizeof(T));
    return result;
  }

  Literal(const Literal& other);
  Literal& operator=(const Literal& other);
  Literal(Literal&& other) noexcept;
  Literal& operator=(Literal&& other) noexcept;
  ~Literal();

  const Shape& shape() const { return shape_; }
  void set_layout(Layout layout) { shape_.set_layout(std::move(layout)); }
  ElementType element_type() const { return shape_.element_type(); }
  int64_t element_count() const { return count_; }

  // Raw storage of an array, StorageBytes(element_type()) per element.
  // Never a null pointer, so that memcpy may be given the bytes of an empty array.
  absl::Span<uint8_t> bytes() {
    return {storage_.empty() ? &nothing_ : storage_.data(), storage_.size()};
  }
  absl::Span<const uint8_t> bytes() const {
    return {storage_.empty() ? &nothing_ : storage_.data(), storage_.size()};
  }
  // Typed view; T must be the Native type (or an unsigned integer of the same width).
  template <typename T>
  absl::Span<T> data() {
    return absl::Span<T>(reinterpret_cast<T*>(storage_.data()), static_cast<size_t>(count_));
  }
  template <typename T>
  absl::Span<const T> data() const {
    // Not braces: Span<const bool> would take them for a list of two predicates.
    return absl::Span<const T>(reinterpret_cast<const T*>(storage_.data()),
                               static_cast<size_t>(count_));
  }

  // Untyped access to element i of an array, slow: for printing, reducing, judging.
  uint64_t GetBits(int64_t i) const;  // the code, zero-extended; up to 64 bits (not c128)
  void SetBits(int64_t i, uint64_t bits);
  double GetDouble(
      int64_t i) const;  // value of a real element (pred: 0 or 1; 64-bit integers rounded)
  int64_t GetInteger(
      int64_t i) const;  // value of an integer or pred element; u64 as its bit pattern
  // Stores `value` wrapped to the type (integers, pred: != 0) or correctly rounded (floats).
  void SetInteger(int64_t i, int64_t value);
  void SetDouble(int64_t i, double value);

  // Access to the real numbers in an array: complex element i has its real part at 2i and its
  // imaginary part at 2i + 1; any other element is its own component.
  int64_t component_count() const;
  uint64_t GetComponentBits(int64_t k) const;
  void SetComponentBits(int64_t k, uint64_t bits);
  double GetComponent(int64_t k) const;

  // Tuples.
  const std::vector<Literal>& elements() const { return elements_; }
  std::vector<Literal>& mutable_elements() { return elements_; }

  // Bitwise equality of values; layouts ignored, NaN payloads and zero signs compared.
  bool BitwiseEqual(const Literal& other) const;
  // HLO text of the value, e.g. "{ { 1, 2 }, { 3, 4 } }".
  std::string ToString() const;

 private:
  enum class Content : uint8_t { kZeros, kUndefined };
  Literal(Shape shape, Content content);

  Shape shape_;
  static inline uint8_t nothing_ = 0;
  int64_t count_ = 0;
  Storage storage_;
  std::vector<Literal> elements_;
};

}  // namespace assay
