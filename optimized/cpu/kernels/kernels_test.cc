// Kernels beside their dull alternatives, which a decision limit of zero leaves, and functions
// beside the C library.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "optimized/cpu/testing.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

Literal Numbers(const std::string& shape, uint32_t seed, double scale = 1) {
  absl::StatusOr<Shape> parsed = ReadShape(shape);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  Literal literal(*parsed);
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    seed = seed * 1664525 + 1013904223;
    // Small whole numbers: sums are the same in every order.
    const double value = static_cast<int32_t>(seed >> 20) % 5 * scale;
    if (IsFloat(literal.element_type())) {
      literal.SetDouble(i, value);
    } else {
      literal.SetInteger(i, static_cast<int64_t>(value));
    }
  }
  return literal;
}

std::vector<Literal> RunAll(const std::string& options, const Module& module,
                            const std::vector<Literal>& arguments, int64_t decision_limit) {
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  CompileOptions compile;
  compile.decision_limit = decision_limit;
  absl::StatusOr<RunResult> result = CompileAndRun(*MakeCpu(options), module, pointers, compile);
  EXPECT_TRUE(result.ok()) << options << ": " << result.status();
  return result.ok() ? std::move(result->outputs) : std::vector<Literal>();
}

// Expects the same bits whether no decision is taken or all of them, on one thread and on three,
// and in narrower vectors.
void ExpectTheSame(const std::string& text, const std::vector<Literal>& arguments) {
  std::unique_ptr<Module> module = MustRead(text);
  ASSERT_NE(module, nullptr) << text;
  const std::vector<Literal> plain = RunAll("threads=1", *module, arguments, 0);
  ASSERT_FALSE(plain.empty());
  for (const char* options : {"threads=1", "threads=3", "threads=1,isa=baseline,tier=full",
                              "threads=1,isa=avx2,tier=full"}) {
    const std::vector<Literal> all = RunAll(options, *module, arguments, -1);
    ASSERT_EQ(all.size(), plain.size());
    for (size_t k = 0; k < all.size(); ++k) {
      EXPECT_TRUE(all[k].BitwiseEqual(plain[k])) << options << ", output " << k << "\n" << text;
    }
  }
}

bool Decides(const std::string& text, const std::string& rule) {
  std::unique_ptr<Module> module = MustRead(text);
  if (module == nullptr) return false;
  auto executable = MakeCpu()->Compile(*module, {});
  EXPECT_TRUE(executable.ok()) << executable.status();
  if (!executable.ok()) return false;
  for (const Decision& decision : (*executable)->decisions()) {
    if (decision.rule == rule) return true;
  }
  return false;
}

std::string Windowed(const std::string& type, const std::string& dims, const std::string& op,
                     const std::string& window) {
  return StrCat("HloModule m\n\nf {\n  a = ", type, "[] parameter(0)\n  b = ", type,
                "[] parameter(1)\n  ROOT r = ", type, "[] ", op,
                "(a, b)\n}\n\nENTRY main {\n  x = ", type, dims, " parameter(0)\n  i = ", type,
                "[] constant(1)\n  ROOT r = ", type, dims, " reduce-window(x, i), window={", window,
                "}, to_apply=f\n}\n");
}

// Dots that read their operands and write their result through other ops.
TEST(Kernels, ContractionsReadThroughWhatMovesElements) {
  const std::string head =
      "HloModule m\nENTRY main {\n x = f32[4,24,48] parameter(0)\n "
      "y = bf16[96,48] parameter(1)\n ";
  const std::vector<std::string> tails = {
      // Transposes of all three, with dimensions that are joined and split.
      "t = f32[24,4,48] transpose(x), dimensions={1,0,2}\n j = f32[96,48] reshape(t)\n "
      "c = f32[96,48] convert(y)\n d = f32[96,96] dot(j, c), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={1}\n s = f32[96,4,24] reshape(d)\n "
      "ROOT r = f32[4,96,24] transpose(s), dimensions={1,0,2} }",
      // Slices with strides, and a result that is rounded.
      "a = f32[4,12,48] slice(x), slice={[0:4], [1:24:2], [0:48]}\n "
      "b = bf16[60,48] slice(y), slice={[3:63], [0:48]}\n c = f32[60,48] convert(b)\n "
      "d = f32[4,12,60] dot(a, c), lhs_contracting_dims={2}, rhs_contracting_dims={1}\n "
      "ROOT r = bf16[4,12,60] convert(d) }",
      // A batch that is repeated.
      "c = f32[96,48] convert(y)\n b = f32[4,96,48] broadcast(c), dimensions={1,2}\n "
      "d = f32[4,24,96] dot(x, b), lhs_batch_dims={0}, rhs_batch_dims={0}, "
      "lhs_contracting_dims={2}, rhs_contracting_dims={2}\n "
      "ROOT r = f32[24,4,96] transpose(d), dimensions={1,0,2} }",
      // Sums along two dimensions that were one.
      "j = f32[96,48] reshape(x)\n t = f32[48,96] transpose(j), dimensions={1,0}\n "
      "s = f32[48,4,24] reshape(t)\n c = f32[96,48] convert(y)\n "
      "u = f32[4,24,48] reshape(c)\n d = f32[48,48] dot(s, u), lhs_contracting_dims={1,2}, "
      "rhs_contracting_dims={0,1}\n ROOT r = f32[48,48] transpose(d), dimensions={1,0} }",
      // One array on both sides, and a row that is one element wide.
      "t = f32[24,4,48] transpose(x), dimensions={1,0,2}\n j = f32[96,48] reshape(t)\n "
      "ROOT d = f32[4,24,96] dot(x, j), lhs_contracting_dims={2}, rhs_contracting_dims={1} }",
  };
  const std::vector<Literal> arguments = {Numbers("f32[4,24,48]", 1), Numbers("bf16[96,48]", 2)};
  for (const std::string& tail : tails) {
    ExpectTheSame(head + tail, arguments);
    EXPECT_TRUE(Decides(head + tail, "fuse-contraction")) << tail;
  }
}

TEST(CumulativeWindow, IsARunningValue) {
  struct Case {
    const char *type, *dims, *op, *window;
  };
  for (const Case& c : {Case{"f32", "[70]", "add", "size=70 pad=69_0"},
                        Case{"f32", "[5,33]", "add", "size=1x33 pad=0_0x32_0"},
                        Case{"f32", "[33,200]", "add", "size=33x1 pad=32_0x0_0"},
                        Case{"f32", "[3,17,9]", "maximum", "size=1x17x1 pad=0_0x0_16x0_0"},
                        Case{"s32", "[4,40]", "multiply", "size=1x40 pad=0_0x0_39"},
                        Case{"bf16", "[40,70]", "add", "size=40x1 pad=39_0x0_0"},
                        Case{"s8", "[300]", "subtract", "size=300 pad=299_0"},
                        Case{"u8", "[1000,3]", "minimum", "size=1000x1 pad=0_999x0_0"}}) {
    const std::string text = Windowed(c.type, c.dims, c.op, c.window);
    EXPECT_TRUE(Decides(text, "cumulative-window")) << text;
    ExpectTheSame(text, {Numbers(StrCat(c.type, c.dims), 3)});
  }
}

TEST(CumulativeWindow, IsRecognisedOnlyWhereItIsOne) {
  for (const char* window : {"size=1x33 pad=0_0x31_1", "size=1x32 pad=0_0x31_0",
                             "size=2x33 pad=1_0x32_0", "size=1x17 pad=0_0x32_0 rhs_dilate=1x2"}) {
    EXPECT_FALSE(Decides(Windowed("f32", "[5,33]", "add", window), "cumulative-window")) << window;
  }
  // From the end the order matters, unless the combiner is known to have none.
  EXPECT_FALSE(Decides(Windowed("f32", "[5,33]", "subtract", "size=1x33 pad=0_0x0_32"),
                       "cumulative-window"));
}

TEST(Windows, RunInLanes) {
  ExpectTheSame(Windowed("f32", "[2,9,9,37]", "maximum", "size=1x3x3x1 pad=0_0x1_1x1_1x0_0"),
                {Numbers("f32[2,9,9,37]", 5)});
  ExpectTheSame(Windowed("s16", "[7,130]", "add", "size=3x1 pad=1_1x0_0"),
                {Numbers("s16[7,130]", 5)});
}

TEST(Reduce, OfColumnsWalksRows) {
  for (const char* columns : {"64", "256", "1100", "100"}) {
    ExpectTheSame(StrCat("HloModule m\n\nf {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
                         "  ROOT r = f32[] add(a, b)\n}\n\nENTRY main {\n  x = f32[37,",
                         columns, "] parameter(0)\n  i = f32[] constant(2)\n  ROOT r = f32[",
                         columns, "] reduce(x, i), dimensions={0}, to_apply=f\n}\n"),
                  {Numbers(StrCat("f32[37,", columns, "]"), 7)});
  }
}

std::string Sorted(const std::string& type, const std::string& direction, const std::string& kind) {
  return StrCat("HloModule m\n\nf {\n  a = ", type, "[] parameter(0)\n  b = ", type,
                "[] parameter(1)\n  c = s32[] parameter(2)\n  d = s32[] parameter(3)\n"
                "  ROOT r = pred[] compare(a, b), direction=",
                direction, kind, "\n}\n\nENTRY main {\n  x = ", type,
                "[3,700] parameter(0)\n  y = s32[3,700] iota(), iota_dimension=1\n  ROOT r = (",
                type,
                "[3,700], s32[3,700]) sort(x, y), dimensions={1}, is_stable=true, to_apply=f\n}\n");
}

TEST(Sort, ByKeysIsTheSortByComparisons) {
  for (const char* type : {"f32", "s32", "u8", "f64", "bf16", "s64"}) {
    for (const char* direction : {"LT", "GT"}) {
      const std::string text = Sorted(type, direction, "");
      EXPECT_TRUE(Decides(text, "sort-by-key")) << text;
      Literal values = Numbers(StrCat(type, "[3,700]"), 11, type[0] == 'u' ? 1 : -1);
      if (IsFloat(values.element_type())) {
        values.SetDouble(3, -0.0);
        values.SetDouble(9, std::numeric_limits<double>::infinity());
        values.SetDouble(700, -std::numeric_limits<double>::infinity());
      }
      ExpectTheSame(text, {values});
    }
  }
  ExpectTheSame(Sorted("f32", "LT", ", type=TOTALORDER"), {Numbers("f32[3,700]", 12)});
  EXPECT_FALSE(Decides(Sorted("f32", "LE", ""), "sort-by-key"));
}

std::string Scattered(const std::string& combiner, const std::string& dims,
                      const std::string& updates, const std::string& attributes) {
  return StrCat("HloModule m\n\nf {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ",
                combiner, "\n}\n\nENTRY main {\n  x = f32", dims,
                " parameter(0)\n  i = ", "s32[9,2] parameter(1)\n  u = f32", updates,
                " parameter(2)\n  ROOT r = f32", dims,
                " scatter(x, i, u), index_vector_dim=1, to_apply=f, ", attributes, "\n}\n");
}

TEST(Scatter, GoesRowByRow) {
  // Inside, repeated, half outside at either end, and far away.
  const Literal places = MustReadLiteral(
      "s32[9,2]",
      "{{1,0}, {4,3}, {1,0}, {-1,0}, {10,2}, {0,-3}, {5,9}, {2147483647,0}, {-2147483648,5}}");
  const std::string windows =
      "update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}";
  for (const char* combiner :
       {"ROOT r = f32[] add(a, b)", "ROOT r = f32[] maximum(a, b)", "ROOT r = f32[] copy(b)"}) {
    const std::string text = Scattered(combiner, "[11,75]", "[9,2,67]", windows);
    ExpectTheSame(text, {Numbers("f32[11,75]", 3), places, Numbers("f32[9,2,67]", 4)});
  }
  EXPECT_TRUE(Decides(Scattered("ROOT r = f32[] add(a, b)", "[11,75]", "[9,2,67]", windows),
                      "scatter-rows"));
  // The window's dimension comes first: no rows.
  const std::string turned =
      "update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}";
  const std::string text = Scattered("ROOT r = f32[] add(a, b)", "[11,75]", "[2,67,9]", turned);
  EXPECT_FALSE(Decides(text, "scatter-rows"));
  ExpectTheSame(text, {Numbers("f32[11,75]", 3), places, Numbers("f32[2,67,9]", 4)});
}

TEST(Scatter, UpdatesInPlaceWhatIsReadNoMore) {
  const auto text = [](const char* operand) {
    return StrCat("HloModule m\n\nf {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n",
                  "  ROOT r = f32[] add(a, b)\n}\n\nENTRY main {\n  x = f32[40] parameter(0)\n",
                  "  i = s32[9,1] parameter(1)\n  u = f32[9] parameter(2)\n",
                  "  y = f32[40] reverse(x), dimensions={0}\n  s = f32[40] scatter(", operand,
                  ", i, u), index_vector_dim=1, to_apply=f, update_window_dims={}, ",
                  "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}\n",
                  "  z = f32[40] reverse(s), dimensions={0}\n  ROOT t = (f32[40], f32[40]) ",
                  "tuple(z, ", operand, ")\n}\n");
  };
  const Literal places = MustReadLiteral("s32[9,1]", "{{3},{3},{0},{39},{40},{-1},{7},{3},{8}}");
  for (const char* operand : {"x", "y"}) {
    ExpectTheSame(text(operand), {Numbers("f32[40]", 3), places, Numbers("f32[9]", 4)});
  }
}

TEST(Transpose, GoesInSquares) {
  struct Case {
    const char *from, *to, *dims;
  };
  for (const Case& c :
       {Case{"f32[67,130]", "f32[130,67]", "1,0"},
        Case{"f32[2,9,17,40]", "f32[2,40,9,17]", "0,3,1,2"},
        Case{"s8[3,100,65]", "s8[65,100,3]", "2,1,0"},
        Case{"f64[33,1,50]", "f64[50,33,1]", "2,0,1"}, Case{"c64[40,40]", "c64[40,40]", "1,0"},
        Case{"bf16[7,5,3,200]", "bf16[200,3,5,7]", "3,2,1,0"}}) {
    const std::string text =
        StrCat("HloModule m\n\nENTRY main {\n  x = ", c.from, " parameter(0)\n  ROOT t = ", c.to,
               " transpose(x), dimensions={", c.dims, "}\n}\n");
    EXPECT_TRUE(Decides(text, "tile-transpose")) << text;
    ExpectTheSame(text, {Numbers(c.from, 9)});
  }
  // Written layouts change nothing.
  ExpectTheSame(
      "HloModule m\n\nENTRY main {\n  x = f32[67,130]{1,0} parameter(0)\n"
      "  y = f32[130,67]{0,1} parameter(1)\n  t = f32[130,67]{0,1} transpose(x), "
      "dimensions={1,0}\n  ROOT s = f32[130,67]{0,1} add(t, y)\n}\n",
      {Numbers("f32[67,130]", 9), Numbers("f32[130,67]", 10)});
}

TEST(Fusion, StoresSeveralResultsTogether) {
  const std::string text =
      "HloModule m\n\nENTRY main {\n  x = f32[3,333] parameter(0)\n  y = f32[3,333] parameter(1)\n"
      "  s = f32[3,333] add(x, y)\n  a = f32[3,333] maximum(s, x)\n  p = pred[3,333] compare(s, "
      "y), "
      "direction=LT\n  b = f32[3,333] subtract(a, s)\n  m = f32[3,333] reverse(a), dimensions={1}\n"
      "  n = f32[3,333] select(p, m, b)\n"
      "  ROOT t = (f32[3,333], f32[3,333], f32[3,333], f32[3,333]) tuple(b, m, n, s)\n}\n";
  EXPECT_TRUE(Decides(text, "store-together"));
  ExpectTheSame(text, {Numbers("f32[3,333]", 5), Numbers("f32[3,333]", 6)});
  // In a loop, over its state: both results lie where the operands were.
  const std::string loop =
      "HloModule m\n\nc {\n  s = (s32[], s32[200], s32[200]) parameter(0)\n"
      "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(7)\n"
      "  ROOT r = pred[] compare(i, n), direction=LT\n}\n\nb {\n"
      "  s = (s32[], s32[200], s32[200]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
      "  x = s32[200] get-tuple-element(s), index=1\n  y = s32[200] get-tuple-element(s), index=2\n"
      "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  p = s32[200] add(x, y)\n"
      "  q = s32[200] xor(p, y)\n  ROOT r = (s32[], s32[200], s32[200]) tuple(j, p, q)\n}\n\n"
      "ENTRY main {\n  x = s32[200] parameter(0)\n  y = s32[200] parameter(1)\n"
      "  z = s32[] constant(0)\n  t = (s32[], s32[200], s32[200]) tuple(z, x, y)\n"
      "  ROOT w = (s32[], s32[200], s32[200]) while(t), condition=c, body=b\n}\n";
  ExpectTheSame(loop, {Numbers("s32[200]", 5), Numbers("s32[200]", 6)});
}

int64_t UlpsApart(float got, double want) {
  const auto rounded = static_cast<float>(want);
  if (std::isnan(rounded) || std::isnan(got))
    return std::isnan(rounded) == std::isnan(got) ? 0 : 1000;
  auto ordered = [](float x) {
    int32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? int64_t{INT32_MIN} - bits : int64_t{bits};
  };
  return std::llabs(ordered(got) - ordered(rounded));
}

TEST(FloatFunctions, AreWithinTheirUlps) {
  struct Function {
    const char* op;
    double (*exact)(double);
    int64_t ulps;  // between the result and the rounded truth
  };
  constexpr Function kFunctions[] = {
      {"exponential", std::exp, 2},
      {"exponential-minus-one", std::expm1, 2},
      {"log", std::log, 2},
      {"log-plus-one", std::log1p, 2},
      {"tanh", std::tanh, 3},
      {"logistic", [](double x) { return 1 / (1 + std::exp(-x)); }, 3},
      {"erf", std::erf, 3},
      {"sine", std::sin, 2},
      {"cosine", std::cos, 2},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1},
  };
  // Every exponent and sign with many significands, and what is special.
  constexpr int64_t kCount = 1 << 19;
  Literal x(Shape::Array(ElementType::kF32, {kCount}));
  for (int64_t i = 0; i < kCount; ++i) {
    x.SetBits(i, static_cast<uint32_t>(i * 8191 + i / 7));
  }
  for (const Function& f : kFunctions) {
    for (const char* isa : {"isa=host,threads=2", "isa=baseline"}) {
      const std::string text =
          StrCat("HloModule m\n\nENTRY main {\n  x = f32[", kCount,
                 "] parameter(0)\n  ROOT r = f32[", kCount, "] ", f.op, "(x)\n}\n");
      const Literal got = RunText(*MakeCpu(isa), text, {x});
      ASSERT_EQ(got.element_count(), kCount) << text;
      int64_t worst = 0, at = 0;
      for (int64_t i = 0; i < kCount; ++i) {
        const float argument = x.data<float>()[i];
        const int64_t apart = UlpsApart(got.data<float>()[i], f.exact(argument));
        if (apart > worst) {
          worst = apart;
          at = i;
        }
      }
      EXPECT_LE(worst, f.ulps) << f.op << " " << isa << " at " << x.data<float>()[at] << ": "
                               << got.data<float>()[at];
    }
  }
}

TEST(FloatFunctions, KeepTheSignOfZero) {
  const Literal zero = MustReadLiteral("f32[2]", "{-0, 0}");
  for (const char* op : {"tanh", "sine", "exponential-minus-one", "log-plus-one", "erf"}) {
    const Literal got =
        RunText(*MakeCpu(),
                StrCat("HloModule m\n\nENTRY main {\n  x = f32[2] parameter(0)\n  ROOT r = f32[2] ",
                       op, "(x)\n}\n"),
                {zero});
    EXPECT_TRUE(got.BitwiseEqual(zero)) << op;
  }
}

}  // namespace
}  // namespace assay
