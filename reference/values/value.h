// Run-time values of the interpreter: shared arrays and tuples of them. In bound mode an array also
// says which of its elements are not unique.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "spec/numerics/expectation.h"
#include "spec/types/literal.h"

namespace assay::reference {

// Counts the bytes that the live values of one run hold, against the limit of the run.
class MemoryMeter {
 public:
  explicit MemoryMeter(int64_t limit) : limit_(limit) {}
  // Fails with "out of memory" if `bytes` more would pass the limit.
  absl::Status Check(int64_t bytes) const;
  void Add(int64_t bytes);
  void Release(int64_t bytes) { live_ -= bytes; }
  int64_t peak() const { return peak_; }

 private:
  int64_t limit_;
  int64_t live_ = 0;
  int64_t peak_ = 0;
};

// Internal flags beside BoundFlag: the element is forced as an output, yet some consumers may
// see the real value before rounding, [centre - radius, centre + radius].
enum ViewFlag : uint32_t {
  kSumView = 1u << 16,  // additions may: contraction of a product into them
  kAnyView = 1u << 17,  // every arithmetic op may: excess precision of narrow types
};

using ChoiceMap = absl::flat_hash_map<int64_t, std::vector<uint64_t>>;

// A property that elements have together where they are not unique one by one. It is judged where
// all of an array's elements, or those of several, come out of the program unchanged.
struct Property {
  std::string what;
  std::vector<Shape> parts;
  std::function<std::string(absl::Span<const Literal>, const std::vector<bool>&)> violation;
  // It is asked of captured values alone, not of results.
  bool only_seen = false;
};
// The place of an undecided element in the arrays of a property.
struct Origin {
  enum Piece : uint8_t { kWhole, kReal, kImaginary };
  std::shared_ptr<const Property> property;
  int64_t part, index;
  Piece piece = kWhole;  // of a complex element of the property
};

// Terms of an error, c1 e1 + c2 e2 + ..., by rising number of the e's
// (reference/bounds/error_forms.h).
struct ErrorTerms {
  std::vector<int32_t> errors;
  std::vector<double> coefficients;
  double magnitude = 0;  // the sum of |c|
};
// The error of one element; no terms: nothing is known beside its bound.
struct ErrorForm {
  std::shared_ptr<const ErrorTerms> terms;
  double scale = 1, loose = 0;

  double Radius() const;
};

// The facts about the elements of an array beside their plain values. Floats are described by
// `bounds`, one per element; complex numbers by two, the real part at 2i and the imaginary part at
// 2i + 1 (BoundsPerElement); all other types by `choices`. Both empty means that every element is
// exactly what the array holds.
struct Facts {
  std::vector<ElementBound> bounds;
  ChoiceMap choices;
  std::vector<ErrorForm> forms;                  // of real floats: empty, or one beside each bound
  absl::flat_hash_map<int64_t, Origin> origins;  // of elements that moves alone brought here
  // Bits of the narrowest significand the array was rounded to; kOwnSignificand if it never was.
  int significand = ArrayExpectation::kOwnSignificand;
  // True if the bits of NaNs are known: moves alone brought them here.
  bool nan_bits = false;

  // The bound of a slot, whether stored or implied.
  ElementBound BoundOf(int64_t slot) const {
    return bounds.empty() ? ElementBound{0, 0, 0, kForced} : bounds[static_cast<size_t>(slot)];
  }
  // True if the slot has no one answer.
  bool IsOpen(int64_t slot) const {
    return !bounds.empty() && (bounds[static_cast<size_t>(slot)].flags & kForced) == 0;
  }
};

// One array, with a place for facts once there are any.
class Array {
 public:
  explicit Array(Literal value);
  Array(const Array& other);
  Array& operator=(const Array& other);
  Array(Array&& other) noexcept;
  Array& operator=(Array&& other) noexcept;
  ~Array();

  const Facts& facts() const { return facts_ != nullptr ? *facts_ : kNoFacts; }
  Facts& facts() {
    if (facts_ == nullptr) facts_ = std::make_unique<Facts>();
    return *facts_;
  }
  // True if every element is exactly what `literal` holds.
  bool Certain() const {
    return facts_ == nullptr || (facts_->bounds.empty() && facts_->choices.empty());
  }

  Literal literal;

 private:
  static inline const Facts kNoFacts;
  std::unique_ptr<Facts> facts_;
};

struct Pending;
struct ScatteredSum;

// An array or a tuple. Cheap to copy: the copies share the array, which does not change.
struct Value {
  std::shared_ptr<const Array> array;
  std::vector<Value> elements;
  // Set for asynchronous starts: it will give the value (reference/interpreter/mesh/exchange.h).
  std::shared_ptr<const Pending> pending = nullptr;
  // The scatter that made it, where what is added to it may have been added before
  // (reference/interpreter/sums/scattered_sum.h).
  std::shared_ptr<const ScatteredSum> scattered = nullptr;

  bool IsTuple() const { return array == nullptr; }
  // Takes the array out if this value is its only holder and MakeValue made it; the value is an
  // empty tuple then.
  std::optional<Array> Release();
  static Value Tuple(std::vector<Value> elements) { return {nullptr, std::move(elements)}; }
};

// Takes ownership of `array`; its bytes count on `meter` until the last copy is gone. The meter
// must outlive the value.
Value MakeValue(Array array, MemoryMeter& meter);
// A value of the (possibly nested tuple) literal.
Value MakeValue(const Literal& literal, MemoryMeter& meter);
// A value of an argument or a constant, of which the bits of NaNs are known (Facts::nan_bits).
Value MakeGivenValue(const Literal& literal, MemoryMeter& meter);
Literal ToLiteral(const Value& value);

}  // namespace assay::reference
