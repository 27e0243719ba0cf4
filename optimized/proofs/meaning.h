// The meaning of terms along one axis, over any domain of integers: numbers, or expressions of a
// solver. An index rule acts on each axis by itself, so one axis stands for every rank. Documents:
// operation semantics chapter 9 (Slice, Pad, Rev, Concatenate, DynamicSlice, DynamicUpdateSlice).
//
// A domain D has types Int and Bool, and functions Number, Add, Subtract, Multiply, FloorDivide and
// Modulo (by positive divisors), Less, Equal, And, Or, Not and Select.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "optimized/proofs/term.h"
#include "spec/base/check.h"

namespace assay {

template <typename D>
class Meaning {
 public:
  using Int = typename D::Int;
  using Bool = typename D::Bool;
  // The elements of an array of one dimension; `at` is asked within [0, size) alone.
  struct Array {
    Int size;
    std::function<Int(const Int&)> at;
  };

  explicit Meaning(D& domain) : d_(domain) {}
  void Bind(const std::string& name, Int value) { numbers_.insert_or_assign(name, value); }
  void Bind(const std::string& name, Array array) { arrays_.insert_or_assign(name, array); }
  const Array& ArrayNamed(const std::string& name) const { return arrays_.at(name); }

  Int Number(const Term& term) {
    if (term.IsNumber()) return d_.Number(term.number);
    if (term.operands.empty()) return numbers_.at(term.name);
    if (term.name == "size") return Of(term.operands[0]).size;
    std::vector<Int> x;
    for (const Term& operand : term.operands) x.push_back(Number(operand));
    if (term.name == "+") return d_.Add(x[0], x[1]);
    if (term.name == "-") return d_.Subtract(x[0], x[1]);
    if (term.name == "*") return d_.Multiply(x[0], x[1]);
    if (term.name == "max") return Max(x[0], x[1]);
    if (term.name == "min") return Min(x[0], x[1]);
    if (term.name == "ceil-div") return CeilDivide(x[0], x[1]);
    if (term.name == "clamp") return Clamp(x[0], x[1], x[2]);
    Unknown(term);
  }

  Bool Condition(const Term& term) {
    if (term.name == "or") return d_.Or(Condition(term.operands[0]), Condition(term.operands[1]));
    if (term.name == "and") return d_.And(Condition(term.operands[0]), Condition(term.operands[1]));
    const Int a = Number(term.operands[0]), b = Number(term.operands[1]);
    if (term.name == "<") return d_.Less(a, b);
    if (term.name == "<=") return d_.Not(d_.Less(b, a));
    if (term.name == "=") return d_.Equal(a, b);
    Unknown(term);
  }

  Array Of(const Term& term) {
    if (term.operands.empty()) return arrays_.at(term.name);
    if (term.name == "splat") return Splat(Number(term.operands[0]), Number(term.operands[1]));
    if (term.name == "concatenate") {
      Array joined = Of(term.operands[0]);
      for (size_t k = 1; k < term.operands.size(); ++k)
        joined = Joined(joined, Of(term.operands[k]));
      return joined;
    }
    const Array x = Of(term.operands[0]);
    const auto number = [&](size_t k) { return Number(term.operands[k]); };
    if (term.name == "slice") return Slice(x, number(1), number(2), number(3));
    if (term.name == "reverse") return Reverse(x);
    if (term.name == "pad") return Pad(x, number(1), {number(2), number(3), number(4)});
    if (term.name == "dynamic-slice") return DynamicSlice(x, number(1), number(2));
    if (term.name == "dynamic-update-slice") return Updated(x, Of(term.operands[1]), number(2));
    Unknown(term);
  }

 private:
  struct Padding {
    Int low, high, interior;
  };

  [[noreturn]] static void Unknown(const Term& term) {
    ASSAY_CHECK(false, ("no function of statements: " + term.name).c_str());
    __builtin_unreachable();
  }
  Int Max(const Int& a, const Int& b) { return d_.Select(d_.Less(a, b), b, a); }
  Int Min(const Int& a, const Int& b) { return d_.Select(d_.Less(b, a), b, a); }
  Int Clamp(const Int& low, const Int& value, const Int& high) {
    return Max(low, Min(value, high));
  }
  Int CeilDivide(const Int& a, const Int& b) {
    return d_.FloorDivide(d_.Add(a, d_.Subtract(b, d_.Number(1))), b);
  }

  Array Splat(Int value, Int size) {
    return {size, [value](const Int&) { return value; }};
  }
  Array Slice(Array x, Int start, Int limit, Int stride) {
    return {CeilDivide(d_.Subtract(limit, start), stride),
            [=, this](const Int& i) { return x.at(d_.Add(start, d_.Multiply(i, stride))); }};
  }
  Array Reverse(Array x) {
    return {x.size, [=, this](const Int& i) {
              return x.at(d_.Subtract(d_.Subtract(x.size, d_.Number(1)), i));
            }};
  }
  Array Pad(Array x, Int value, Padding by) {
    const Int step = d_.Add(by.interior, d_.Number(1)), zero = d_.Number(0);
    const Int holes = d_.Multiply(Max(d_.Subtract(x.size, d_.Number(1)), zero), by.interior);
    const Int size = d_.Add(d_.Add(d_.Add(by.low, by.high), x.size), holes);
    return {size, [=, this](const Int& i) {
              const Int from = d_.Subtract(i, by.low);
              const Int place = d_.FloorDivide(from, step);
              const Bool on_element = d_.Equal(d_.Modulo(from, step), zero);
              const Bool inside = d_.And(d_.Not(d_.Less(from, zero)), d_.Less(place, x.size));
              return d_.Select(d_.And(on_element, inside), x.at(place), value);
            }};
  }
  Array Joined(Array x, Array y) {
    return {d_.Add(x.size, y.size), [=, this](const Int& i) {
              return d_.Select(d_.Less(i, x.size), x.at(i), y.at(d_.Subtract(i, x.size)));
            }};
  }
  // Starts are clamped so that the part lies inside.
  Int StartOf(const Array& array, const Int& start, const Int& size) {
    return Clamp(d_.Number(0), start, d_.Subtract(array.size, size));
  }
  Array DynamicSlice(Array x, Int start, Int size) {
    const Int first = StartOf(x, start, size);
    return {size, [=, this](const Int& i) { return x.at(d_.Add(first, i)); }};
  }
  Array Updated(Array x, Array update, Int start) {
    const Int first = StartOf(x, start, update.size);
    return {x.size, [=, this](const Int& i) {
              const Int place = d_.Subtract(i, first);
              const Bool inside =
                  d_.And(d_.Not(d_.Less(place, d_.Number(0))), d_.Less(place, update.size));
              return d_.Select(inside, update.at(place), x.at(i));
            }};
  }

  D& d_;
  std::map<std::string, Int> numbers_;
  std::map<std::string, Array> arrays_;
};

// The integers themselves; they do not overflow at the sizes of tests.
struct NumberDomain {
  using Int = int64_t;
  using Bool = bool;
  static Int Number(int64_t x) { return x; }
  static Int Add(Int a, Int b) { return a + b; }
  static Int Subtract(Int a, Int b) { return a - b; }
  static Int Multiply(Int a, Int b) { return a * b; }
  // By other than positive divisors: any number, for no instance has one.
  static Int FloorDivide(Int a, Int b) {
    if (b <= 0) return 0;
    return a >= 0 ? a / b : -((-a + b - 1) / b);
  }
  static Int Modulo(Int a, Int b) { return a - b * FloorDivide(a, b); }
  static Bool Less(Int a, Int b) { return a < b; }
  static Bool Equal(Int a, Int b) { return a == b; }
  static Bool And(Bool a, Bool b) { return a && b; }
  static Bool Or(Bool a, Bool b) { return a || b; }
  static Bool Not(Bool a) { return !a; }
  static Int Select(Bool c, Int a, Int b) { return c ? a : b; }
};

}  // namespace assay
