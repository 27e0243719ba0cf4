// Every code of every type of 16 bits or fewer: conversions to all types, arithmetic of 8-bit
// floats and integers below a byte. The truth is found by search in the list of a type's values,
// which are computed from the table of operation semantics 1.3.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay::reference {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

enum class Kind { kIeee, kFn, kFnuz, kFinite };
struct Table {
  const char* name;
  int exponent_bits, mantissa_bits, bias;
  Kind kind;
};
constexpr Table kFloats[] = {
    {"f16", 5, 10, 15, Kind::kIeee},      {"bf16", 8, 7, 127, Kind::kIeee},
    {"f8e5m2", 5, 2, 15, Kind::kIeee},    {"f8e5m2fnuz", 5, 2, 16, Kind::kFnuz},
    {"f8e4m3", 4, 3, 7, Kind::kIeee},     {"f8e4m3fn", 4, 3, 7, Kind::kFn},
    {"f8e4m3fnuz", 4, 3, 8, Kind::kFnuz}, {"f8e4m3b11fnuz", 4, 3, 11, Kind::kFnuz},
    {"f8e3m4", 3, 4, 3, Kind::kIeee},     {"f4e2m1fn", 2, 1, 1, Kind::kFinite},
    {"f6e2m3fn", 2, 3, 1, Kind::kFinite}, {"f6e3m2fn", 3, 2, 3, Kind::kFinite},
};
struct IntegerType {
  const char* name;
  int bits;
  bool is_signed;
};
constexpr IntegerType kIntegers[] = {
    {"s1", 1, true},   {"u1", 1, false},   {"s2", 2, true},   {"u2", 2, false},
    {"s4", 4, true},   {"u4", 4, false},   {"s8", 8, true},   {"u8", 8, false},
    {"s16", 16, true}, {"u16", 16, false}, {"s32", 32, true}, {"u32", 32, false},
    {"s64", 64, true}, {"u64", 64, false},
};

const Table* FindFloat(const std::string& name) {
  for (const Table& row : kFloats)
    if (row.name == name) return &row;
  return nullptr;
}
const IntegerType* FindInteger(const std::string& name) {
  for (const IntegerType& row : kIntegers)
    if (row.name == name) return &row;
  return nullptr;
}

// The values of a float type by the table.
class Values {
 public:
  explicit Values(const Table& table) : t_(table) {
    const uint64_t half = uint64_t{1} << (table.exponent_bits + table.mantissa_bits);
    for (uint64_t code = 0; code < half; ++code) {
      const double value = Magnitude(code);
      if (std::isfinite(value)) finite_.push_back(value);
    }
  }
  int bits() const { return 1 + t_.exponent_bits + t_.mantissa_bits; }
  double Decode(uint64_t code) const {
    const uint64_t half = uint64_t{1} << (t_.exponent_bits + t_.mantissa_bits);
    if (t_.kind == Kind::kFnuz && code == half) return kNaN;
    const double magnitude = Magnitude(code & (half - 1));
    return code >= half ? -magnitude : magnitude;
  }
  // The code of the nearest value, a tie to the even code; the first value beyond the largest is
  // one more step away.
  uint64_t Nearest(double x) const {
    const uint64_t sign = uint64_t{1} << (t_.exponent_bits + t_.mantissa_bits);
    if (std::isnan(x)) return Nan(false);
    const uint64_t s = std::signbit(x) ? sign : 0;
    const double m = std::fabs(x);
    const uint64_t last = finite_.size() - 1;
    const double step = finite_[last] - finite_[last - 1];
    if (m > finite_[last]) {
      const double half_way = finite_[last] + step / 2;
      const bool stays = m < half_way || (m == half_way && last % 2 == 0);
      return stays ? s | last : Overflow(s);
    }
    const uint64_t above = std::lower_bound(finite_.begin(), finite_.end(), m) - finite_.begin();
    uint64_t code = above;
    if (finite_[above] != m) {
      const double up = finite_[above] - m, down = m - finite_[above - 1];
      if (down < up || (down == up && above % 2 != 0)) code = above - 1;
    }
    if (code == 0 && t_.kind == Kind::kFnuz) return 0;
    return s | code;
  }
  bool IsNan(uint64_t code) const { return std::isnan(Decode(code)); }

 private:
  double Magnitude(uint64_t code) const {
    const int e = static_cast<int>(code >> t_.mantissa_bits);
    const uint64_t m = code & ((uint64_t{1} << t_.mantissa_bits) - 1);
    const uint64_t all = (uint64_t{1} << (t_.exponent_bits + t_.mantissa_bits)) - 1;
    if (t_.kind == Kind::kIeee && e == (1 << t_.exponent_bits) - 1) return m == 0 ? kInf : kNaN;
    if (t_.kind == Kind::kFn && code == all) return kNaN;
    const double significand = std::ldexp(static_cast<double>(m), -t_.mantissa_bits) + (e > 0);
    return std::ldexp(significand, std::max(e, 1) - t_.bias);
  }
  uint64_t Nan(bool) const {
    const uint64_t half = uint64_t{1} << (t_.exponent_bits + t_.mantissa_bits);
    return t_.kind == Kind::kFnuz ? half : half - 1;
  }
  uint64_t Overflow(uint64_t sign) const {
    if (t_.kind == Kind::kFinite) return sign | (finite_.size() - 1);
    if (t_.kind == Kind::kFnuz) return Nan(false);
    return sign | finite_.size();  // infinity, or the NaN beyond the largest number
  }
  Table t_;
  std::vector<double> finite_;
};

// One operand that holds every code of its type, or every pair.
Literal Codes(const std::string& type, int bits, int64_t n, int64_t divisor) {
  Literal literal(Shape::Array(*ElementTypeFromName(type), {n}));
  for (int64_t i = 0; i < n; ++i)
    literal.SetBits(i, static_cast<uint64_t>(i / divisor) & ((uint64_t{1} << bits) - 1));
  return literal;
}

// `is_open` names the elements that the documents leave open; all others have one right answer.
Literal Evaluated(
    const std::string& text, const std::vector<const Literal*>& arguments,
    const std::function<bool(int64_t)>& is_open = [](int64_t) { return false; }) {
  absl::StatusOr<std::unique_ptr<Module>> module =
      ReadModule(StrCat("HloModule m\nENTRY main {\n", text, "}\n"));
  EXPECT_TRUE(module.ok()) << module.status().message();
  absl::StatusOr<Literal> result = MakeOracle()->Evaluate(**module, arguments, Limits{});
  EXPECT_TRUE(result.ok()) << text << result.status();
  // The verdict on its own answer is part of every expectation.
  absl::StatusOr<Expectation> strict =
      MakeOracle()->Expect(**module, arguments, Profile::Strict(), Limits{});
  EXPECT_TRUE(strict.ok()) << strict.status();
  if (strict.ok() && !strict->leaves[0].AllForced()) {
    const std::vector<ElementBound>& bounds = strict->leaves[0].bounds;
    EXPECT_TRUE(strict->leaves[0].choices.empty()) << text;
    for (size_t i = 0; i < bounds.size(); ++i) {
      const uint32_t want = is_open(static_cast<int64_t>(i)) ? kUndecided : kForced;
      EXPECT_EQ(bounds[i].flags & (kForced | kUndecided), want) << text << "element " << i;
    }
  } else if (result.ok()) {
    for (int64_t i = 0; i < result->element_count(); ++i) EXPECT_FALSE(is_open(i)) << text << i;
  }
  absl::StatusOr<Expectation> xla =
      MakeOracle()->Expect(**module, arguments, Profile::Xla(), Limits{});
  EXPECT_TRUE(xla.ok()) << xla.status();
  return result.ok() ? *result : Literal();
}

int64_t Wrap(int64_t value, const IntegerType& type) {
  if (type.bits == 64) return value;
  const uint64_t low = static_cast<uint64_t>(value) & ((uint64_t{1} << type.bits) - 1);
  const bool negative = type.is_signed && (low >> (type.bits - 1)) != 0;
  return static_cast<int64_t>(negative ? low | ~uint64_t{0} << type.bits : low);
}

// float -> integer: NaN is 0, towards zero, saturating.
int64_t Saturate(double x, const IntegerType& type) {
  if (std::isnan(x)) return 0;
  const double high = std::ldexp(1.0, type.bits - (type.is_signed ? 1 : 0));
  const double low = type.is_signed ? -high : 0;
  if (std::trunc(x) >= high)
    return type.is_signed ? (type.bits == 64 ? std::numeric_limits<int64_t>::max()
                                             : (int64_t{1} << (type.bits - 1)) - 1)
                          : (type.bits == 64 ? -1 : (int64_t{1} << type.bits) - 1);
  if (std::trunc(x) <= low)
    return type.is_signed ? static_cast<int64_t>(~uint64_t{0} << (type.bits - 1)) : 0;
  if (!type.is_signed) return static_cast<int64_t>(static_cast<uint64_t>(x));
  return static_cast<int64_t>(x);
}

void CheckConverted(const std::string& to, const Literal& got, int64_t i, double value,
                    bool from_integer) {
  if (const IntegerType* type = FindInteger(to)) {
    const int64_t want =
        from_integer ? Wrap(static_cast<int64_t>(value), *type) : Saturate(value, *type);
    ASSERT_EQ(got.GetInteger(i), want) << to << " of " << value;
  } else if (const Table* table = FindFloat(to)) {
    static auto& cache = *new std::map<std::string, Values>();
    const Values& values = cache.try_emplace(to, *table).first->second;
    if (std::isnan(value) && table->kind == Kind::kFinite) return;  // unspecified
    if (std::isinf(value) && table->kind == Kind::kFinite) return;
    const uint64_t want = values.Nearest(value);
    if (values.IsNan(want)) {
      ASSERT_TRUE(values.IsNan(got.GetBits(i))) << to << " of " << value;
    } else {
      ASSERT_EQ(got.GetBits(i), want) << to << " of " << value;
    }
  } else if (to == "pred") {
    ASSERT_EQ(got.GetBits(i), value != 0 ? 1u : 0u) << "pred of " << value;
  } else {
    const double want = to == "f32" ? static_cast<double>(static_cast<float>(value)) : value;
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got.GetDouble(i)));
    } else {
      ASSERT_EQ(got.GetDouble(i), want) << to;
      ASSERT_EQ(std::signbit(got.GetDouble(i)), std::signbit(want)) << to;
    }
  }
}

std::vector<std::string> Targets() {
  std::vector<std::string> names = {"pred", "f32", "f64"};
  for (const Table& row : kFloats) names.push_back(row.name);
  for (const IntegerType& row : kIntegers) names.push_back(row.name);
  return names;
}

TEST(NarrowTypes, EveryFloatOf16BitsOrFewerConvertsToEveryType) {
  int64_t checked = 0;
  for (const Table& from : kFloats) {
    const Values values(from);
    const int64_t n = int64_t{1} << values.bits();
    const Literal codes = Codes(from.name, values.bits(), n, 1);
    for (const std::string& to : Targets()) {
      if (to == from.name) continue;
      const Table* table = FindFloat(to);
      const bool has_specials = table == nullptr || table->kind != Kind::kFinite;
      const Literal got = Evaluated(
          StrCat(" x = ", from.name, "[", n, "] parameter(0)\n ROOT r = ", to, "[", n,
                 "] convert(x)\n"),
          {&codes}, [&](int64_t i) {
            return !has_specials && !std::isfinite(values.Decode(static_cast<uint64_t>(i)));
          });
      for (int64_t i = 0; i < n; ++i) {
        CheckConverted(to, got, i, values.Decode(static_cast<uint64_t>(i)), false);
        if (HasFatalFailure()) FAIL() << from.name << " code " << i;
      }
      checked += n;
    }
  }
  std::printf("conversions from floats: %lld\n", static_cast<long long>(checked));
}

TEST(NarrowTypes, EveryIntegerOf16BitsOrFewerConvertsToEveryType) {
  for (const IntegerType& from : kIntegers) {
    if (from.bits > 16) continue;
    const int64_t n = int64_t{1} << from.bits;
    const Literal codes = Codes(from.name, from.bits, n, 1);
    for (const std::string& to : Targets()) {
      if (to == from.name) continue;
      const Literal got =
          Evaluated(StrCat(" x = ", from.name, "[", n, "] parameter(0)\n ROOT r = ", to, "[", n,
                           "] convert(x)\n"),
                    {&codes});
      for (int64_t i = 0; i < n; ++i) {
        CheckConverted(to, got, i, static_cast<double>(Wrap(i, from)), true);
        if (HasFatalFailure()) FAIL() << from.name << " code " << i;
      }
    }
  }
}

TEST(NarrowTypes, ExponentsAloneAreTheNearestPowersOfTwo) {
  Literal x(Shape::Array(ElementType::kF32, {9}));
  const double kIn[] = {1, 1.4, 1.5, 3, 6, 0, -1, kInf, 0x1p-127};
  const uint64_t kWant[] = {127, 127, 128, 128, 130, 255, 255, 255, 0};
  for (int64_t i = 0; i < 9; ++i) x.SetDouble(i, kIn[i]);
  const Literal got =
      Evaluated(" x = f32[9] parameter(0)\n ROOT r = f8e8m0fnu[9] convert(x)\n", {&x});
  for (int64_t i = 0; i < 9; ++i) EXPECT_EQ(got.GetBits(i), kWant[i]) << kIn[i];
}

// A NaN lies beyond the infinity of its sign, and the further the greater its payload; the one of a
// format without -0 is negative.
TEST(NarrowTypes, EveryPairOfNarrowFloatsInTotalOrder) {
  for (const Table& table : kFloats) {
    const Values values(table);
    if (values.bits() > 8) continue;
    const uint64_t codes = uint64_t{1} << values.bits();
    const auto n = static_cast<int64_t>(codes * codes);
    const Literal a = Codes(table.name, values.bits(), n, static_cast<int64_t>(codes));
    const Literal b = Codes(table.name, values.bits(), n, 1);
    const Literal got =
        Evaluated(StrCat(" x = ", table.name, "[", n, "] parameter(0)\n y = ", table.name, "[", n,
                         "] parameter(1)\n ROOT r = pred[", n,
                         "] compare(x, y), direction=LT, type=TOTALORDER\n"),
                  {&a, &b});
    // Infinity of its sign for a NaN, then its payload.
    const auto place = [&](uint64_t code) {
      const bool negative = code >= codes / 2;
      const double value = values.IsNan(code) ? kInf : std::fabs(values.Decode(code));
      const double payload = values.IsNan(code) ? 1 + static_cast<double>(code % (codes / 2)) : 0;
      const double sign = negative ? -1 : 1;
      return std::tuple(sign * value, sign * payload, sign);
    };
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t x = a.GetBits(i), y = b.GetBits(i);
      ASSERT_EQ(got.GetBits(i) != 0, place(x) < place(y)) << table.name << " " << x << " " << y;
    }
  }
}

// Products, sums and quotients of 8-bit floats are exact in double, or have so many more bits than
// the type that the second rounding does not matter.
TEST(NarrowTypes, EveryPairOfEightBitFloatsIsRoundedOnce) {
  struct Op {
    const char* name;
    double (*value)(double, double);
  };
  constexpr Op kOps[] = {{"add", [](double a, double b) { return a + b; }},
                         {"subtract", [](double a, double b) { return a - b; }},
                         {"multiply", [](double a, double b) { return a * b; }},
                         {"divide", [](double a, double b) { return a / b; }},
                         {"remainder", [](double a, double b) { return std::fmod(a, b); }}};
  for (const char* name : {"f8e5m2", "f8e4m3fn", "f8e4m3fnuz", "f8e3m4"}) {
    const Values values(*FindFloat(name));
    const int64_t n = 1 << 16;
    const Literal a = Codes(name, 8, n, 256), b = Codes(name, 8, n, 1);
    for (const Op& op : kOps) {
      const Literal got =
          Evaluated(StrCat(" x = ", name, "[", n, "] parameter(0)\n y = ", name, "[", n,
                           "] parameter(1)\n ROOT r = ", name, "[", n, "] ", op.name, "(x, y)\n"),
                    {&a, &b});
      for (int64_t i = 0; i < n; ++i) {
        const double want = op.value(values.Decode(i >> 8), values.Decode(i & 255));
        const uint64_t code = values.Nearest(want);
        if (values.IsNan(code)) {
          ASSERT_TRUE(values.IsNan(got.GetBits(i))) << name << " " << op.name << " " << i;
        } else {
          ASSERT_EQ(got.GetBits(i), code) << name << " " << op.name << " " << i;
        }
      }
    }
  }
}

bool IsUnary(std::string_view name) {
  return name == "popcnt" || name == "count-leading-zeros" || name == "not" || name == "negate" ||
         name == "abs";
}

TEST(NarrowTypes, IntegersBelowAByteWrap) {
  struct Op {
    const char* name;
    // They are functions of the values and, where they look at bits, of the codes and the width.
    int64_t (*value)(int64_t a, int64_t b, const IntegerType& type);
  };
  auto code = [](int64_t x, const IntegerType& type) {
    return static_cast<uint64_t>(x) & ((uint64_t{1} << type.bits) - 1);
  };
  static const auto kCode = code;
  constexpr Op kOps[] = {
      {"add", [](int64_t a, int64_t b, const IntegerType&) { return a + b; }},
      {"subtract", [](int64_t a, int64_t b, const IntegerType&) { return a - b; }},
      {"multiply", [](int64_t a, int64_t b, const IntegerType&) { return a * b; }},
      {"divide", [](int64_t a, int64_t b, const IntegerType&) { return b == 0 ? -1 : a / b; }},
      {"remainder", [](int64_t a, int64_t b, const IntegerType&) { return b == 0 ? a : a % b; }},
      {"maximum", [](int64_t a, int64_t b, const IntegerType&) { return std::max(a, b); }},
      {"xor", [](int64_t a, int64_t b, const IntegerType&) { return a ^ b; }},
      {"shift-left",
       [](int64_t a, int64_t b, const IntegerType& t) {
         return static_cast<int64_t>(kCode(b, t) >= static_cast<uint64_t>(t.bits)
                                         ? 0
                                         : static_cast<uint64_t>(a) << kCode(b, t));
       }},
      {"shift-right-logical",
       [](int64_t a, int64_t b, const IntegerType& t) {
         return static_cast<int64_t>(
             kCode(b, t) >= static_cast<uint64_t>(t.bits) ? 0 : kCode(a, t) >> kCode(b, t));
       }},
      {"shift-right-arithmetic",
       [](int64_t a, int64_t b, const IntegerType& t) {
         const bool top = (kCode(a, t) >> (t.bits - 1)) != 0;
         if (kCode(b, t) >= static_cast<uint64_t>(t.bits)) return int64_t{top ? -1 : 0};
         const int64_t bits = static_cast<int64_t>(kCode(a, t)) - (top ? int64_t{1} << t.bits : 0);
         return bits >> kCode(b, t);
       }},
      {"popcnt",
       [](int64_t a, int64_t, const IntegerType& t) {
         return static_cast<int64_t>(std::popcount(kCode(a, t)));
       }},
      {"count-leading-zeros",
       [](int64_t a, int64_t, const IntegerType& t) {
         int64_t zeros = 0;
         for (int bit = t.bits - 1; bit >= 0 && (kCode(a, t) >> bit & 1) == 0; --bit) ++zeros;
         return zeros;
       }},
      {"not", [](int64_t a, int64_t, const IntegerType&) { return ~a; }},
      {"negate", [](int64_t a, int64_t, const IntegerType&) { return -a; }},
      {"abs", [](int64_t a, int64_t, const IntegerType&) { return a < 0 ? -a : a; }},
  };
  for (const IntegerType& type : kIntegers) {
    if (type.bits >= 8) continue;
    const int64_t values = int64_t{1} << type.bits, n = values * values;
    const Literal a = Codes(type.name, type.bits, n, values), b = Codes(type.name, type.bits, n, 1);
    for (const Op& op : kOps) {
      const std::string name = op.name;
      const Literal got =
          Evaluated(StrCat(" x = ", type.name, "[", n, "] parameter(0)\n y = ", type.name, "[", n,
                           "] parameter(1)\n ROOT r = ", type.name, "[", n, "] ", name,
                           IsUnary(name) ? "(x)\n" : "(x, y)\n"),
                    {&a, &b});
      for (int64_t i = 0; i < n; ++i) {
        const int64_t want =
            Wrap(op.value(Wrap(i / values, type), Wrap(i % values, type), type), type);
        ASSERT_EQ(got.GetInteger(i), want) << type.name << " " << name << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace assay::reference
