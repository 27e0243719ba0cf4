// Compares two elements by class, sign, bits and size, and two arrays by place.
#include "spec/numerics/difference.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_format.h"
#include "spec/base/strings.h"
#include "spec/types/element_type.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

// Describes the difference of two real numbers, or of the parts of two complex ones.
std::string OfNumbers(double right, double answer, ElementType type) {
  if (std::isnan(right)) return std::isnan(answer) ? "" : "a NaN is lost";
  if (std::isnan(answer)) return "a NaN appears";
  if (right == answer) return "the sign of a zero is wrong";
  if (std::isinf(right)) return std::isinf(answer) ? "the sign is wrong" : "an infinity is lost";
  if (std::isinf(answer)) return "an infinity appears";
  if (answer == -right) return "the sign is wrong";
  if (answer == 0) return "it vanishes";
  if (right == 0) return "it is not zero";
  const FloatFormat& format = Format(type);
  const int64_t ulps = UlpDistance(format, EncodeFloat(format, right), EncodeFloat(format, answer));
  return absl::StrFormat("it is off by %.3g ulp", static_cast<double>(ulps));
}

int64_t LowBits(int64_t value, int bits) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1));
}

std::string OfIntegers(int64_t right, int64_t answer, ElementType type) {
  const int width = BitWidth(type);
  const uint64_t all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const auto code = static_cast<uint64_t>(answer) & all;
  const uint64_t top = uint64_t{1} << (width - 1);
  if (IsSigned(type) && right != 0 && answer == -right) return "the sign is wrong";
  if (IsSigned(type) ? code == top || code == top - 1 : code == all) return "it saturates";
  for (const int bits : {32, 16, 8, 4, 2}) {
    if (bits < width && LowBits(right, bits) == LowBits(answer, bits))
      return StrCat("only the low ", bits, " bits are right");
  }
  return answer == 0 ? "it is zero" : "";
}

bool IsEqual(const Literal& a, int64_t i, const Literal& b, int64_t j) {
  const int64_t parts = IsComplex(a.element_type()) ? 2 : 1;
  for (int64_t k = 0; k < parts; ++k) {
    if (a.GetComponentBits(parts * i + k) != b.GetComponentBits(parts * j + k)) return false;
  }
  return true;
}

}  // namespace

std::string DifferenceInWords(const Literal& right, const Literal& answer, int64_t element) {
  const ElementType type = right.element_type();
  if (type != answer.element_type() || element < 0 || element >= right.element_count() ||
      element >= answer.element_count()) {
    return "";
  }
  if (IsFloat(type))
    return OfNumbers(right.GetComponent(element), answer.GetComponent(element), type);
  if (IsComplex(type)) {
    for (int64_t part = 0; part < 2; ++part) {
      const int64_t k = 2 * element + part;
      if (right.GetComponentBits(k) == answer.GetComponentBits(k)) continue;
      const std::string words =
          OfNumbers(right.GetComponent(k), answer.GetComponent(k), ComponentType(type));
      if (words.empty()) continue;
      return StrCat("of the ", part == 0 ? "real" : "imaginary", " part, ", words);
    }
    return "";
  }
  if (!IsInteger(type)) return "";
  return OfIntegers(right.GetInteger(element), answer.GetInteger(element), type);
}

std::string MoveInWords(const Literal& right, const Literal& answer) {
  constexpr int64_t kMostElements = 1 << 20, kFarthest = 64, kFewestValues = 4;
  const int64_t count = right.element_count();
  const bool is_comparable = right.shape().rank() == 1 && count <= kMostElements &&
                             answer.element_count() == count &&
                             right.element_type() == answer.element_type();
  if (!is_comparable) return "";
  for (int64_t by = -kFarthest; by <= kFarthest; ++by) {
    const int64_t begin = std::max<int64_t>(0, -by), end = std::min(count, count - by);
    if (by == 0 || end - begin < count / 2 || end - begin < kFewestValues) continue;
    std::set<uint64_t> values;
    int64_t i = begin;
    while (i < end && IsEqual(answer, i, right, i + by)) {
      if (static_cast<int64_t>(values.size()) < kFewestValues)
        values.insert(right.GetComponentBits(IsComplex(right.element_type()) ? 2 * i : i));
      ++i;
    }
    if (i < end || static_cast<int64_t>(values.size()) < kFewestValues) continue;
    return StrCat("the answer is the right one moved by ", -by, " (element i is that of i ",
                  by > 0 ? "+ " : "- ", std::abs(by), ")");
  }
  return "";
}

}  // namespace assay
