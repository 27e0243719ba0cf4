// Tests of one element, in Python.
#include "fuzz/triage/wrong_element.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// A number as Python has it.
std::string PythonNumber(double value) {
  if (std::isnan(value)) return "float('nan')";
  if (std::isinf(value)) return value > 0 ? "float('inf')" : "-float('inf')";
  return absl::StrFormat("%.17g", value);
}

// Python: True of the number called `name` that the bound allows.
std::string AllowedByBound(const ElementBound& bound, double plain, const std::string& name) {
  std::string test;
  const auto add = [&](const std::string& one) {
    StrAppend(&test, test.empty() ? "" : " or ", one);
  };
  if ((bound.flags & kUndecided) != 0) return "True";
  if ((bound.flags & kForced) != 0) {
    return std::isnan(plain) ? StrCat(name, " != ", name)
                             : StrCat(name, " == ", PythonNumber(plain));
  }
  if ((bound.flags & kNotFinite) == 0) {
    const double infinity = std::numeric_limits<double>::infinity();
    add(StrCat(PythonNumber(std::nextafter(bound.centre - bound.radius, -infinity)), " <= ", name,
               " <= ", PythonNumber(std::nextafter(bound.centre + bound.radius, infinity))));
  }
  if ((bound.flags & (kMayBeZero | kMayFlush | kZeroSignFree)) != 0) add(name + " == 0");
  if ((bound.flags & kMayBeNan) != 0) add(StrCat(name, " != ", name));
  if ((bound.flags & kMayBePosInf) != 0) add(name + " == float('inf')");
  if ((bound.flags & kMayBeNegInf) != 0) add(name + " == -float('inf')");
  return test.empty() ? "False" : StrCat("(", test, ")");
}

// Python: True of numpy's scalar `got` that may stand there.
std::string AllowedInPython(const ArrayExpectation& right, int64_t element) {
  const Literal& plain = right.plain;
  const ElementType type = plain.element_type();
  const auto choices = right.choices.find(element);
  const int64_t parts = BoundsPerElement(type);
  if (choices == right.choices.end() && parts == 2 && !right.bounds.empty()) {
    const auto first = static_cast<size_t>(2 * element);
    return StrCat(
        AllowedByBound(right.bounds[first], plain.GetComponent(2 * element), "float(got.real)"),
        " and ",
        AllowedByBound(right.bounds[first + 1], plain.GetComponent(2 * element + 1),
                       "float(got.imag)"));
  }
  if (choices == right.choices.end() && parts == 1) {
    ElementBound bound;
    bound.flags = kForced;
    if (!right.bounds.empty()) bound = right.bounds[static_cast<size_t>(element)];
    return AllowedByBound(bound, plain.GetDouble(element), "float(got)");
  }
  if (parts == 2) {
    const double real = plain.GetComponent(2 * element), imag = plain.GetComponent(2 * element + 1);
    if (std::isnan(real) || std::isnan(imag)) return "got != got";
    return StrCat("got == complex(", PythonNumber(real), ", ", PythonNumber(imag), ")");
  }
  std::vector<uint64_t> codes = {plain.GetBits(element)};
  if (choices != right.choices.end()) codes = choices->second;
  if (codes.empty()) return "True";
  std::string set;
  for (const uint64_t code : codes) StrAppend(&set, set.empty() ? "" : ", ", code);
  const int bits = BitWidth(type);
  const bool is_number = parts == 0 && !IsPred(type);
  const std::string value = is_number ? "int(got)" : "int.from_bytes(got.tobytes(), 'little')";
  const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return StrCat(value, " & ", mask, " in {", set, "}");
}

// Python: True of the element, by its bits; a number of few bits has them in a byte of which numpy
// fills the rest as it likes.
std::string SeenInPython(const Literal& leaf, int64_t element) {
  const ElementType type = leaf.element_type();
  if (IsInteger(type) && BitWidth(type) < 8) {
    return StrCat("int(got) == ", leaf.GetInteger(element));
  }
  const absl::Span<const uint8_t> bytes = leaf.bytes();
  const size_t size = bytes.size() / static_cast<size_t>(leaf.element_count());
  const absl::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string hex =
      absl::BytesToHexString(all.substr(static_cast<size_t>(element) * size, size));
  return StrCat("got.tobytes().hex() == \"", hex, "\"");
}

}  // namespace

WrongElement ElementOf(const Literal& answer, const ElementFailure& at, const Expectation* right) {
  const std::vector<const Literal*> leaves = Leaves(answer);
  if (at.leaf < 0 || at.leaf >= static_cast<int64_t>(leaves.size())) return {};
  const auto number = static_cast<size_t>(at.leaf);
  const Literal& leaf = *leaves[number];
  if (at.element < 0 || at.element >= leaf.element_count()) return {};
  WrongElement wrong{at.leaf, at.element, SeenInPython(leaf, at.element)};
  if (right != nullptr && number < right->leaves.size())
    wrong.allowed = AllowedInPython(right->leaves[number], at.element);
  return wrong;
}

}  // namespace assay
