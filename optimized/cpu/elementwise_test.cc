// Every element-wise op on every type it takes, vectors and their tails included, against goldens
// of the operation semantics.
#include <cmath>
#include <cstring>
#include <tuple>

#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/analysis/walks/lane_access.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/codegen/elementwise.h"
#include "optimized/codegen/functions/complex.h"
#include "optimized/cpu/testing.h"
#include "spec/base/strings.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

// `shape op(...)` on the arguments given as text.
std::string RunOp(Backend& backend, const std::string& result, const std::string& op,
                  const std::vector<std::pair<std::string, std::string>>& operands,
                  const std::string& attributes = "") {
  std::string text = "HloModule m\nENTRY e {\n", list;
  std::vector<Literal> arguments;
  for (size_t k = 0; k < operands.size(); ++k) {
    std::string name = StrCat("p", k);
    text += StrCat("  ", name, " = ", operands[k].first, " parameter(", k, ")\n");
    list += StrCat(k == 0 ? "" : ", ", name);
    arguments.push_back(MustReadLiteral(operands[k].first, operands[k].second));
  }
  text += StrCat("  ROOT r = ", result, " ", op, "(", list, ")", attributes, "\n}\n");
  return RunText(backend, text, arguments).ToString();
}

struct Golden {
  const char *result, *op, *attributes, *want;
  std::vector<std::pair<std::string, std::string>> operands;
};

// Operation semantics chapters 5 to 8 and 22.
const Golden kGoldens[] = {
    {"s32[5]",
     "divide",
     "",
     "{5, -5, -5, -1, -2147483648}",
     {{"s32[5]", "{17, -17, 17, 9, -2147483648}"}, {"s32[5]", "{3, 3, -3, 0, -1}"}}},
    {"u32[2]", "divide", "", "{5, 4294967295}", {{"u32[2]", "{17, 4}"}, {"u32[2]", "{3, 0}"}}},
    {"s32[5]",
     "remainder",
     "",
     "{2, -2, 2, 7, 0}",
     {{"s32[5]", "{17, -17, 17, 7, -2147483648}"}, {"s32[5]", "{3, 3, -3, 0, -1}"}}},
    {"f64[3]",
     "remainder",
     "",
     "{2.1000000000000014, -2.1000000000000014, -0}",
     {{"f64[3]", "{17.1, -17.1, -6}"}, {"f64[3]", "{-3, 3, 3}"}}},
    {"s64[7]",
     "power",
     "",
     "{-1, 1, 0, 1, -27, -1, 0}",
     {{"s64[7]", "{-1, -1, -3, 1, -3, -1, 0}"}, {"s64[7]", "{1, 0, -3, -3, 3, -3, -1}"}}},
    {"s32[3]",
     "power",
     "",
     "{-2147483648, 0, 2038349057}",
     {{"s32[3]", "{2, 2, 3}"}, {"s32[3]", "{31, 32, 64}"}}},
    {"u8[3]", "power", "", "{243, 171, 1}", {{"u8[3]", "{3, 3, 0}"}, {"u8[3]", "{5, 255, 0}"}}},
    {"s32[3]",
     "shift-left",
     "",
     "{-2147483648, 0, 0}",
     {{"s32[3]", "{1, 1, 1}"}, {"s32[3]", "{31, 32, -1}"}}},
    {"s32[3]",
     "shift-right-arithmetic",
     "",
     "{-1, 0, -1}",
     {{"s32[3]", "{-5, 5, -5}"}, {"s32[3]", "{40, 40, -1}"}}},
    {"u8[1]", "shift-right-arithmetic", "", "{192}", {{"u8[1]", "{128}"}, {"u8[1]", "{1}"}}},
    {"s32[2]",
     "shift-right-logical",
     "",
     "{2147483647, 0}",
     {{"s32[2]", "{-1, -1}"}, {"s32[2]", "{1, 32}"}}},
    {"s32[3]", "count-leading-zeros", "", "{32, 31, 0}", {{"s32[3]", "{0, 1, -1}"}}},
    {"u8[1]", "count-leading-zeros", "", "{7}", {{"u8[1]", "{1}"}}},
    {"s8[1]", "popcnt", "", "{8}", {{"s8[1]", "{-1}"}}},
    {"u16[1]", "popcnt", "", "{2}", {{"u16[1]", "{32769}"}}},
    {"s8[2]", "abs", "", "{-128, 5}", {{"s8[2]", "{-128, -5}"}}},
    {"s8[1]", "negate", "", "{-128}", {{"s8[1]", "{-128}"}}},
    {"s8[1]", "multiply", "", "{44}", {{"s8[1]", "{100}"}, {"s8[1]", "{3}"}}},
    {"f32[3]", "round-nearest-afz", "", "{-3, 1, 3}", {{"f32[3]", "{-2.5, 0.5, 2.5}"}}},
    {"f32[1]", "round-nearest-afz", "", "{0}", {{"f32[1]", "{0.49999997}"}}},
    {"f32[4]", "round-nearest-even", "", "{0, 2, 2, -0}", {{"f32[4]", "{0.5, 1.5, 2.5, -0.5}"}}},
    {"f16[4]", "ceil", "", "{-0, 2, -0, inf}", {{"f16[4]", "{-0.5, 1.5, -0, inf}"}}},
    {"f32[4]",
     "maximum",
     "",
     "{0, 0, nan, nan}",
     {{"f32[4]", "{-0, 0, nan, 1}"}, {"f32[4]", "{0, -0, 1, nan}"}}},
    {"f32[2]", "minimum", "", "{-0, -0}", {{"f32[2]", "{-0, 0}"}, {"f32[2]", "{0, -0}"}}},
    {"f32[3]", "clamp", "", "{1, 1, 1}", {{"f32[]", "3"}, {"f32[3]", "{0, 2, 9}"}, {"f32[]", "1"}}},
    {"f32[4]", "sign", "", "{-0, 1, -1, nan}", {{"f32[4]", "{-0, 5, -0.001, nan}"}}},
    {"f64[5]",
     "power",
     "",
     "{4, nan, 1, 1, 1}",
     {{"f64[5]", "{-2, -36, nan, 1, -1}"}, {"f64[5]", "{2, 1.1, 0, nan, inf}"}}},
    {"f32[7]",
     "power",
     "",
     "{4, nan, 1, 1, 1, -inf, inf}",
     {{"f32[7]", "{-2, -36, nan, 1, -1, -0, -inf}"}, {"f32[7]", "{2, 1.1, 0, nan, inf, -3, 0.5}"}}},
    {"s32[4]",
     "convert",
     "",
     "{2147483647, 0, -1, -2147483648}",
     {{"f32[4]", "{2147483648, nan, -1.9, -inf}"}}},
    {"u8[2]", "convert", "", "{0, 255}", {{"f32[2]", "{-1.5, 300.7}"}}},
    {"s8[2]", "convert", "", "{44, 127}", {{"s32[2]", "{300, 127}"}}},
    {"u32[1]", "convert", "", "{4294967295}", {{"s8[1]", "{-1}"}}},
    {"pred[3]", "convert", "", "{false, true, true}", {{"f32[3]", "{-0, nan, 0.5}"}}},
    {"pred[3]", "is-finite", "", "{true, false, false}", {{"bf16[3]", "{3, inf, nan}"}}},
    {"pred[4]",
     "compare",
     ", direction=LT",
     "{false, true, false, false}",
     {{"f32[4]", "{nan, -1, 0, 2}"}, {"f32[4]", "{1, 1, -0, 1}"}}},
    {"pred[4]",
     "compare",
     ", direction=LT, type=TOTALORDER",
     "{false, true, false, true}",
     {{"f32[4]", "{nan, -0, 0, -nan}"}, {"f32[4]", "{inf, 0, -0, -inf}"}}},
    {"pred[2]",
     "compare",
     ", direction=GT",
     "{true, false}",
     {{"u8[2]", "{200, 1}"}, {"u8[2]", "{100, 1}"}}},
    {"pred[2]",
     "compare",
     ", direction=GT",
     "{false, false}",
     {{"s8[2]", "{-56, 1}"}, {"s8[2]", "{100, 1}"}}},
    {"f64[6]",
     "reduce-precision",
     ", exponent_bits=5, mantissa_bits=10",
     "{inf, nan, 0, 0, 65504, inf}",
     {{"f64[6]", "{inf, nan, 4.9e-324, 0, 65505, 65520}"}}},
    {"f64[1]",
     "reduce-precision",
     ", exponent_bits=11, mantissa_bits=0",
     "{inf}",
     {{"f64[1]", "{nan}"}}},
    {"pred[4]",
     "add",
     "",
     "{false, true, true, true}",
     {{"pred[4]", "{false, true, false, true}"}, {"pred[4]", "{false, false, true, true}"}}},
    {"pred[4]",
     "multiply",
     "",
     "{false, false, false, true}",
     {{"pred[4]", "{false, true, false, true}"}, {"pred[4]", "{false, false, true, true}"}}},
};

// The ops that plans take for element-wise, without any code, are those that there is code for.
TEST(Elementwise, RowsOfOpsAndTheirCodeAgree) {
  for (const OpInfo& op : AllOps()) {
    const bool has_code =
        FindElementwise(op.opcode) != nullptr || FindComplexElementwise(op.opcode) != nullptr;
    EXPECT_EQ(IsElementwise(op.opcode), has_code) << op.name;
    EXPECT_TRUE(!HasLanes(op.opcode) || FindElementLowering(op.opcode) != nullptr) << op.name;
  }
}

TEST(Elementwise, Goldens) {
  for (const char* options : {"threads=1", "threads=1,isa=baseline", "threads=1,tier=full"}) {
    std::unique_ptr<Backend> backend = MakeCpu(options);
    for (const Golden& g : kGoldens) {
      std::string want = MustReadLiteral(g.result, g.want).ToString();
      std::string got = RunOp(*backend, g.result, g.op, g.operands, g.attributes);
      // The sign of a NaN is free.
      for (size_t at; (at = got.find("-nan")) != std::string::npos;) got.erase(at, 1);
      EXPECT_EQ(got, want) << g.op << " " << g.result << " " << options;
    }
  }
}

// One rounding only: a detour through f32 or f16 gets these wrong.
TEST(Elementwise, ConvertRoundsOnce) {
  std::unique_ptr<Backend> backend = MakeCpu();
  struct Case {
    ElementType from, to;
    uint64_t in, out;
  };
  auto bits = [](double d) {
    uint64_t b;
    std::memcpy(&b, &d, 8);
    return b;
  };
  const Case cases[] = {
      {ElementType::kF64, ElementType::kBF16, bits(1 + 0x1p-8 + 0x1p-30), 0x3F81},
      {ElementType::kF64, ElementType::kF16, bits(1 + 0x1p-11 + 0x1p-30), 0x3C01},
      {ElementType::kS64, ElementType::kBF16, (1ull << 40) + (1ull << 32) + 1, 0x5381},
  };
  for (const Case& c : cases) {
    Literal in(Shape::Array(c.from, {1}));
    in.SetBits(0, c.in);
    std::string text = StrCat("HloModule m\nENTRY e {\n  p = ", Name(c.from),
                              "[1] parameter(0)\n  ROOT r = ", Name(c.to), "[1] convert(p)\n}\n");
    Literal out = RunText(*backend, text, {in});
    ASSERT_EQ(out.element_count(), 1);
    EXPECT_EQ(out.GetBits(0), c.out) << Name(c.from) << " to " << Name(c.to);
  }
}

uint64_t Mix(uint64_t& state) {
  state += 0x9E3779B97F4A7C15ull;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

Literal RandomBits(ElementType type, int64_t n, uint64_t seed) {
  Literal result(Shape::Array(type, {n}));
  for (int64_t i = 0; i < n; ++i) {
    uint64_t bits = Mix(seed);
    if (IsPred(type)) {
      bits &= 1;
    } else if (BitWidth(type) < 64) {
      bits &= (uint64_t{1} << BitWidth(type)) - 1;
    }
    result.SetBits(i, bits);
  }
  return result;
}

bool SameValue(const Literal& a, const Literal& b, int64_t i) {
  if (!IsFloat(a.element_type())) return a.GetBits(i) == b.GetBits(i);
  const FloatFormat& format = Format(a.element_type());
  uint64_t x = a.GetBits(i), y = b.GetBits(i);
  return x == y || (IsNanCode(format, x) && IsNanCode(format, y));
}

// Vector code and the scalar tail agree bit for bit, for every length around the vector widths and
// every supported type.
TEST(Elementwise, VectorsAgreeWithScalars) {
  constexpr ElementType kTypes[] = {ElementType::kPred, ElementType::kS8,   ElementType::kS16,
                                    ElementType::kS32,  ElementType::kS64,  ElementType::kU8,
                                    ElementType::kU16,  ElementType::kU32,  ElementType::kU64,
                                    ElementType::kF16,  ElementType::kBF16, ElementType::kF32,
                                    ElementType::kF64};
  std::unique_ptr<Backend> backend = MakeCpu();
  int run = 0;
  for (int k = 0; k < kOpcodeCount; ++k) {
    Opcode opcode = static_cast<Opcode>(k);
    const OpInfo& op = Info(opcode);
    if (FindElementwise(opcode) == nullptr || !op.IsDefined() || opcode == Opcode::kSelect ||
        opcode == Opcode::kReducePrecision) {
      continue;
    }
    for (ElementType type : kTypes) {
      if (!Matches(op.types, type)) continue;
      std::string t(Name(type));
      std::string result = opcode == Opcode::kCompare || opcode == Opcode::kIsFinite ? "pred"
                           : opcode == Opcode::kConvert                              ? "f16"
                                                                                     : t;
      std::string extra = opcode == Opcode::kCompare ? ", direction=LE" : "";
      auto text = [&](int64_t n) {
        std::string list, out = "HloModule m\nENTRY e {\n";
        for (int p = 0; p < op.operands.min; ++p) {
          out += StrCat("  p", p, " = ", t, "[", n, "] parameter(", p, ")\n");
          list += StrCat(p == 0 ? "" : ", ", "p", p);
        }
        return StrCat(out, "  ROOT r = ", result, "[", n, "] ", op.name, "(", list, ")", extra,
                      "\n}\n");
      };
      absl::StatusOr<std::unique_ptr<Module>> one = ReadModule(text(1));
      if (!one.ok() || !Verify(**one).ok()) continue;  // not a type of this op
      const int64_t n = 70;
      std::vector<Literal> arguments;
      for (int p = 0; p < op.operands.min; ++p)
        arguments.push_back(RandomBits(type, n, 17 * k + p));
      Literal whole = RunText(*backend, text(n), arguments);
      ASSERT_EQ(whole.element_count(), n) << op.name << " " << t;
      ++run;
      // A scalar program for each of some elements is the plain meaning.
      std::vector<const Literal*> pointers;
      auto executable = backend->Compile(**one, {});
      ASSERT_TRUE(executable.ok()) << executable.status();
      for (int64_t i = 0; i < n; i += 3) {
        std::vector<Literal> scalars;
        for (const Literal& a : arguments) {
          Literal s(Shape::Array(type, {1}));
          s.SetBits(0, a.GetBits(i));
          scalars.push_back(std::move(s));
        }
        pointers.clear();
        for (const Literal& s : scalars) pointers.push_back(&s);
        absl::StatusOr<RunResult> r = (*executable)->Run({pointers});
        ASSERT_TRUE(r.ok()) << r.status();
        Literal element(whole.shape());
        element.SetBits(i, r->outputs[0].GetBits(0));
        EXPECT_TRUE(SameValue(whole, element, i))
            << op.name << " " << t << " element " << i << ": " << whole.GetBits(i) << " vs "
            << element.GetBits(i);
      }
    }
  }
  EXPECT_GT(run, 150);
}

TEST(Elementwise, EveryLengthHasItsTail) {
  std::unique_ptr<Backend> backend = MakeCpu();
  for (int64_t n = 0; n <= 70; ++n) {
    Literal a = RandomBits(ElementType::kS32, n, 5), b = RandomBits(ElementType::kS32, n, 6);
    Literal r =
        RunText(*backend,
                StrCat("HloModule m\nENTRY e {\n  a = s32[", n, "] parameter(0)\n  b = s32[", n,
                       "] parameter(1)\n  ROOT r = s32[", n, "] subtract(a, b)\n}\n"),
                {a, b});
    ASSERT_EQ(r.element_count(), n);
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(static_cast<uint32_t>(r.GetBits(i)),
                static_cast<uint32_t>(a.GetBits(i)) - static_cast<uint32_t>(b.GetBits(i)));
    }
  }
}

// Against the C library in a wider type, within the strict budgets of operation semantics 1.8.
TEST(Elementwise, RealFunctionsKeepTheirBudget) {
  struct Case {
    const char* op;
    long double (*truth)(long double);
    double f32_ulps;
  };
  const Case cases[] = {
      {"exponential", expl, 2},
      {"log", logl, 2},
      {"tanh", tanhl, 4},
      {"sqrt", sqrtl, 0.5},
      {"exponential-minus-one", expm1l, 4},
      {"log-plus-one", log1pl, 4},
      {"sine", sinl, 2},
      {"cosine", cosl, 2},
      {"tan", tanl, 4},
      {"cbrt", cbrtl, 3},
      {"erf", erfl, 4},
      {"rsqrt", [](long double x) { return 1 / sqrtl(x); }, 2},
      {"logistic", [](long double x) { return 1 / (1 + expl(-x)); }, 4},
  };
  std::unique_ptr<Backend> backend = MakeCpu();
  const int64_t n = 20000;
  for (const Case& c : cases) {
    Opcode opcode = *OpcodeFromName(c.op);
    if (!Info(opcode).IsDefined()) continue;
    for (ElementType type : {ElementType::kF32, ElementType::kF16, ElementType::kBF16}) {
      Literal x = RandomBits(type, n, 99);
      for (int64_t i = 0; i < n; i += 2) x.SetDouble(i, (static_cast<double>(i) - n / 2) / 500);
      std::string t(Name(type));
      Literal y = RunText(*backend,
                          StrCat("HloModule m\nENTRY e {\n  x = ", t, "[", n,
                                 "] parameter(0)\n  ROOT y = ", t, "[", n, "] ", c.op, "(x)\n}\n"),
                          {x});
      ASSERT_EQ(y.element_count(), n);
      const FloatFormat& format = Format(type);
      int64_t budget = type == ElementType::kF32 ? static_cast<int64_t>(std::ceil(c.f32_ulps)) : 1;
      for (int64_t i = 0; i < n; ++i) {
        double want = static_cast<double>(c.truth(x.GetDouble(i)));
        int64_t ulps = UlpDistance(format, y.GetBits(i), EncodeFloat(format, want));
        // Below 4 tiny, logistic may be zero.
        if (opcode == Opcode::kLogistic && y.GetDouble(i) == 0 && want < 4 * format.MinNormal())
          continue;
        ASSERT_LE(ulps, budget) << c.op << " " << t << " of " << x.GetDouble(i) << ": got "
                                << y.GetDouble(i) << ", want " << want;
      }
    }
  }
}

TEST(Elementwise, EveryPairOfNarrowFloatsInTotalOrder) {
  std::unique_ptr<Backend> backend = MakeCpu();
  int types = 0;
  for (int t = 0; t < kElementTypeCount; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (!IsFloat(type) || BitWidth(type) > 8) continue;
    ++types;
    const int64_t codes = int64_t{1} << BitWidth(type), n = codes * codes;
    Literal a(Shape::Array(type, {n})), b(Shape::Array(type, {n}));
    for (int64_t i = 0; i < n; ++i) {
      a.SetBits(i, static_cast<uint64_t>(i / codes));
      b.SetBits(i, static_cast<uint64_t>(i % codes));
    }
    const std::string name(Name(type));
    const std::string text =
        StrCat("HloModule m\nENTRY e {\n  a = ", name, "[", n, "] parameter(0)\n  b = ", name, "[",
               n, "] parameter(1)\n  ROOT r = pred[", n,
               "] compare(a, b), direction=LT, type=TOTALORDER\n}\n");
    const Literal less = RunText(*backend, text, {a, b});
    ASSERT_EQ(less.element_count(), n);
    const FloatFormat& format = Format(type);
    // Infinity of its sign for a NaN, then its code.
    const auto place = [&](uint64_t code) {
      const double value = DecodeFloat(format, code);
      const double sign = std::signbit(value) ? -1 : 1;
      const double payload = std::isnan(value) ? sign * (1 + static_cast<double>(code)) : 0;
      return std::tuple(std::isnan(value) ? sign * INFINITY : value, payload, sign);
    };
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t x = a.GetBits(i), y = b.GetBits(i);
      ASSERT_EQ(less.GetBits(i) != 0, place(x) < place(y)) << name << " " << x << " " << y;
    }
  }
  EXPECT_GE(types, 9);
}

}  // namespace
}  // namespace assay
