// Describes the answers that a correct implementation may give, element by element, and the verdict
// on a given answer. The oracle produces expectations; suites, campaigns and the reducer judge with
// them. Design: "Tolerances are derived, not guessed". Nothing here computes a value: it compares.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "spec/types/literal.h"

namespace assay {

// Beside the interval, what else the element may be. `kForced` excludes all others.
enum BoundFlag : uint32_t {
  kForced = 1u << 0,  // exactly the bits of the plain value (for a NaN see `nan_bits`)
  kMayBeNan = 1u << 1,
  kMayBePosInf = 1u << 2,
  kMayBeNegInf = 1u << 3,
  kZeroSignFree = 1u << 4,  // if zero is in the set, either zero is
  kMayFlush = 1u << 5,      // a zero is accepted where the set holds a subnormal value
  kUndecided = 1u << 6,     // no answer can be called wrong
  kNotFinite = 1u << 7,     // the interval is empty: only what the flags above name is allowed
  kMayBeZero = 1u << 8,   // a zero is allowed beside the interval: an operand may have been flushed
  kByProperty = 1u << 9,  // judged by a PropertyExpectation, together with others
  kNoPositiveZero = 1u << 10,  // what underflows here is negative: of the zeros only -0
  kNoNegativeZero = 1u << 11,  // what underflows here is positive: of the zeros only +0
};
inline constexpr uint32_t kZeroSigns = kNoPositiveZero | kNoNegativeZero;

// The allowed set of one float element: the values of the type in [centre - radius, centre +
// radius], and what the flags add. The radius includes the last rounding.
struct ElementBound {
  double centre = 0;  // leading part of the real value
  double centre_low =
      0;  // trailing part; centre + centre_low is the value, |centre_low| <= ulp(centre) / 2
  double radius = 0;
  uint32_t flags = 0;
  // The upper half of a double, so that a bound stays this small; the bit of the sign says whether
  // the terms were known.
  uint32_t magnitude_bits = 0;

  // The real value; a zero keeps its sign, which adding a zero to it would lose.
  template <typename W>
  W Value() const {
    return centre_low == 0 ? static_cast<W>(centre)
                           : static_cast<W>(centre) + static_cast<W>(centre_low);
  }

  // The size of the numbers that were added up for this element, 0 if nobody noted it: the
  // cancellation among them is the program's, and no reason to call a bound wide.
  double magnitude() const {
    return std::bit_cast<double>(static_cast<uint64_t>(magnitude_bits & ~kKnownTerms) << 32);
  }
  // True if these numbers were known up to a rounding or two: theirs is the only cancellation. A
  // magnitude counts in full then, else up to a small multiple of what the output's elements are.
  bool has_known_terms() const { return (magnitude_bits & kKnownTerms) != 0; }
  // Keeps 20 bits of a magnitude; what is no finite number is none.
  void set_magnitude(double magnitude, bool of_known_terms = false) {
    const bool is_number = magnitude <= std::numeric_limits<double>::max();
    const uint64_t bits = is_number ? std::bit_cast<uint64_t>(std::fabs(magnitude)) : 0;
    magnitude_bits = static_cast<uint32_t>(bits >> 32) | (of_known_terms ? kKnownTerms : 0);
  }

 private:
  static constexpr uint32_t kKnownTerms = 1u << 31;
};

// The number of bounds that describe one element: one of a float, two (real, imaginary) of a
// complex number, none of any other type, which has choices instead.
int64_t BoundsPerElement(ElementType type);

// The allowed set of one output array.
struct ArrayExpectation {
  Literal plain;  // what the oracle itself returns; lies inside its own bound (checked)
  // Floats: one per element; complex types: two, the bounds of element i at 2i (real part) and 2i +
  // 1 (imaginary part). Empty when every element is forced.
  std::vector<ElementBound> bounds;
  // Integers and predicates, and float elements that are one of a few codes (a select or a slice of
  // a tie): the allowed codes of an element whose value is not unique. An empty list means
  // undecided. Elements not listed are forced (or, for floats, bounded).
  absl::flat_hash_map<int64_t, std::vector<uint64_t>> choices;
  // Used for floats: the bits of the narrowest significand that a value was rounded to on its way
  // here, if that is not the type's own; what f32 computed has the precision of f32 in an f64
  // array, too. A bound is useful if it convicts what is wrong at that precision.
  int significand = kOwnSignificand;
  static constexpr int kOwnSignificand = 1000;
  // True if forced NaNs are compared by all of their bits: moves alone brought them here. Otherwise
  // any NaN serves for a NaN.
  bool nan_bits = false;

  bool AllForced() const { return bounds.empty() && choices.empty(); }
};

// A property that output elements have together where no single one of them is unique, like the
// signs of eigenvectors. Class RESID of operation semantics 0.3. The elements may be anywhere in
// the outputs: programs move them about after the op that made them. Elements that are not marked
// kByProperty have allowed sets of their own, too, and the property says which combinations are
// right: the ties of a sort, or copies that several devices got.
struct PropertyExpectation {
  std::string what;  // "a v = v w and vᴴ v = 1"
  // The arrays that the property is about, with the oracle's own values.
  std::vector<Literal> parts;
  // Element `index` of array `part` is element `element` of output `leaf`. A part has all of its
  // elements here or none, and then the property is asked of the others alone. Where the outputs
  // are those of one device, a place behind them is on a device that follows: the property is asked
  // once Append has put these together.
  struct Place {
    int64_t leaf, element, part, index;
  };
  std::vector<Place> places;
  std::vector<bool> present;  // which parts are there
  // Tells what is wrong with the parts that are present; empty if they have the property.
  std::function<std::string(absl::Span<const Literal> parts, const std::vector<bool>& present)>
      violation;
};

// All outputs, leaves of the result tuple in depth-first order.
struct Expectation {
  std::vector<ArrayExpectation> leaves;
  std::vector<PropertyExpectation> properties;
  // Not empty: an undecided loop condition or the like ended the analysis; every element is
  // inconclusive.
  std::string inconclusive;

  // Adds the outputs of `other` behind these: those of the next device, say.
  void Append(Expectation other);
};

// A complex element passes when both parts do; its modulus is what makes a bound useful.
// An element outside its bound fails, however wide the bound; one inside passes if the bound is
// useful (radius up to 2^(-p/3) of the larger of |centre| and the element's magnitude, p the bits
// of the significand, ArrayExpectation::significand), else it is inconclusive, as is one that is
// undecided and one that is judged by a property which is not there.
enum class Verdict : uint8_t { kPass, kFail, kInconclusive };
std::string_view Name(Verdict verdict);

struct ElementFailure {
  int64_t leaf = 0;
  int64_t element = 0;  // linear, row-major
  double ulps = 0;  // distance from the allowed set in ulps of the type; 0 when it has no meaning
};

struct Judgement {
  Verdict verdict =
      Verdict::kPass;  // fail if any element fails, else inconclusive if any is, else pass
  int64_t elements = 0, passed = 0, failed = 0, inconclusive = 0, forced = 0;
  std::string reason;  // one line: why not pass
  ElementFailure first, worst;
  double max_ulps_used =
      0;  // largest |got - centre| / radius over bounded elements: how much of the bound was used
};

// Judges `results` (leaves flattened in depth-first order, or one tuple) against the expectation.
// Wrong shapes are a failure.
Judgement Judge(const Expectation& expectation, const Literal& result);
Judgement JudgeLeaves(const Expectation& expectation, absl::Span<const Literal* const> results);

// For people: output, element with index, allowed set, got, ulps; several lines.
std::string DescribeFailure(const Expectation& expectation, const Literal& result,
                            const Judgement& judgement);
// The allowed set of one element: "exactly 3", "[1.9999, 2.0001] (centre 2 +- 3 ulp), or NaN", "one
// of {1, 4}".
std::string DescribeAllowed(const ArrayExpectation& expectation, int64_t element);

// One element of an array as it is written there; floats with their code.
std::string DescribeElement(const Literal& literal, int64_t element);

// The literals at the leaves of a (nested) tuple, depth first.
std::vector<const Literal*> Leaves(const Literal& value);

}  // namespace assay
