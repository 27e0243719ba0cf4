// Identities of arithmetic, logic, select, compare and convert: each with what must not be touched.
#include "optimized/passes/pass_testing.h"
#include "optimized/passes/rules/algebraic_simplifier.h"

namespace assay {
namespace {

// One op on `type`: op(x, splat of c) or, with `c` empty, op(x).
std::string Program(const std::string& op, const std::string& type, const std::string& c) {
  const std::string array = type + "[3]";
  std::string text = "x = " + array + " parameter(0)\n";
  if (c.empty()) return text + "ROOT r = " + array + " " + op + "(x)";
  text += "c = " + type + "[] constant(" + c + ")\n";
  text += "b = " + array + " broadcast(c), dimensions={}\n";
  return text + "ROOT r = " + array + " " + op + "(x, b)";
}

bool Fires(const std::string& text, const Profile& profile = Profile::Strict()) {
  std::unique_ptr<Module> module = ReadForTest(text);
  return module != nullptr && RunForTest<AlgebraicSimplifier>(*module, profile);
}
bool Fires(const std::string& op, const std::string& type, const std::string& c,
           const Profile& profile = Profile::Strict()) {
  return Fires(Program(op, type, c), profile);
}

TEST(ArithmeticRules, ZeroOfFloatsHasASign) {
  EXPECT_TRUE(Fires("add", "s32", "0"));
  EXPECT_FALSE(Fires("add", "f32", "0"));
  EXPECT_TRUE(Fires("add", "f32", "-0"));
  EXPECT_TRUE(Fires("subtract", "f32", "0"));
  EXPECT_FALSE(Fires("subtract", "f32", "-0"));
  EXPECT_TRUE(Fires("multiply", "s32", "0"));
  EXPECT_FALSE(Fires("multiply", "f32", "0"));
}

TEST(ArithmeticRules, One) {
  for (const char* type : {"s8", "u64", "bf16", "f64"}) {
    EXPECT_TRUE(Fires("multiply", type, "1")) << type;
    EXPECT_TRUE(Fires("divide", type, "1")) << type;
    EXPECT_FALSE(Fires("add", type, "1")) << type;
  }
  EXPECT_TRUE(Fires("multiply", "f32", "-1"));
  EXPECT_FALSE(Fires("multiply", "u32", "4294967295"));
}

TEST(ArithmeticRules, DivisionByPowersOfTwo) {
  ExpectRewrite<AlgebraicSimplifier>(Program("divide", "f32", "-4"),
                                     Program("multiply", "f32", "-0.25"));
  EXPECT_FALSE(Fires("divide", "f32", "3"));
  EXPECT_FALSE(Fires("divide", "f32", "1.7014118e38"));  // the reciprocal is subnormal
  EXPECT_FALSE(Fires("divide", "f32", "0"));
  EXPECT_FALSE(Fires("divide", "f32", "inf"));
  ExpectRewrite<AlgebraicSimplifier>(Program("divide", "u8", "128"),
                                     Program("shift-right-logical", "u8", "7"));
  EXPECT_FALSE(Fires("divide", "s8", "64"));  // rounds towards zero
  ExpectRewrite<AlgebraicSimplifier>(Program("remainder", "u64", "9223372036854775808"),
                                     Program("and", "u64", "9223372036854775807"));
}

TEST(ArithmeticRules, ReciprocalDivisionNeedsItsClause) {
  EXPECT_FALSE(Fires("divide", "f32", "3", Profile::Strict()));
  EXPECT_TRUE(Fires("divide", "f32", "3", Profile::Xla()));
  EXPECT_FALSE(Fires("divide", "s32", "3", Profile::Xla()));
}

TEST(ArithmeticRules, MaximumKeepsNan) {
  EXPECT_TRUE(Fires("maximum", "f32", "-inf"));
  EXPECT_FALSE(Fires("maximum", "f32", "inf"));
  EXPECT_TRUE(Fires("maximum", "s8", "127"));
  EXPECT_TRUE(Fires("minimum", "u64", "18446744073709551615"));
  EXPECT_FALSE(Fires("minimum", "u64", "9223372036854775807"));
}

TEST(LogicRules, BitsAndShifts) {
  EXPECT_TRUE(Fires("and", "u8", "255"));
  EXPECT_FALSE(Fires("and", "u8", "127"));
  EXPECT_TRUE(Fires("or", "s8", "-1"));
  EXPECT_TRUE(Fires("xor", "pred", "true"));
  EXPECT_TRUE(Fires("shift-left", "s32", "32"));
  EXPECT_TRUE(Fires("shift-right-logical", "s8", "-1"));
  EXPECT_FALSE(Fires("shift-right-arithmetic", "s32", "32"));  // all sign bits
  EXPECT_FALSE(Fires("shift-left", "s32", "31"));
}

std::string Self(const std::string& op, const std::string& type, const std::string& result,
                 const std::string& attributes = "") {
  return "x = " + type + "[3] parameter(0)\nROOT r = " + result + "[3] " + op + "(x, x)" +
         attributes;
}

TEST(ArithmeticRules, WithItself) {
  EXPECT_TRUE(Fires(Self("subtract", "s32", "s32")));
  EXPECT_FALSE(Fires(Self("subtract", "f32", "f32")));  // NaN, infinity
  EXPECT_FALSE(Fires(Self("divide", "s32", "s32")));    // 0 / 0
  EXPECT_TRUE(Fires(Self("minimum", "f32", "f32")));
  EXPECT_TRUE(Fires(Self("compare", "s32", "pred", ", direction=LE")));
  EXPECT_FALSE(Fires(Self("compare", "f32", "pred", ", direction=LE")));
  EXPECT_TRUE(Fires(Self("compare", "f32", "pred", ", direction=LT")));
  EXPECT_TRUE(Fires(Self("compare", "f32", "pred", ", direction=EQ, type=TOTALORDER")));
}

std::string Chain(const std::string& a, const std::string& b, const std::string& c) {
  return "x = " + a + "[3] parameter(0)\ny = " + b + "[3] convert(x)\nROOT z = " + c +
         "[3] convert(y)";
}

TEST(ConvertRules, ChainsMergeOnlyWhenExact) {
  EXPECT_TRUE(Fires(Chain("s8", "s32", "f32")));
  EXPECT_TRUE(Fires(Chain("f16", "f32", "bf16")));
  EXPECT_TRUE(Fires(Chain("f32", "f64", "f32")));
  EXPECT_TRUE(Fires(Chain("s32", "u16", "s8")));  // low bits of low bits
  EXPECT_TRUE(Fires(Chain("pred", "s32", "f32")));
  EXPECT_FALSE(Fires(Chain("f32", "bf16", "f32")));  // rounds
  EXPECT_FALSE(Fires(Chain("s32", "s8", "s32")));    // wraps
  EXPECT_FALSE(Fires(Chain("s16", "f32", "s8")));    // saturates, not wraps
  EXPECT_FALSE(Fires(Chain("s8", "u8", "s32")));     // loses the sign
  EXPECT_FALSE(Fires(Chain("s32", "f32", "f64")));   // rounds above 2^24
  EXPECT_FALSE(Fires(Chain("u16", "f16", "f32")));   // 65535 rounds up to infinity
  EXPECT_FALSE(Fires(Chain("s32", "pred", "s32")));
}

TEST(SelectRules, ArmsAndPredicates) {
  EXPECT_TRUE(Fires(R"(
    p = pred[3] parameter(0)
    x = f32[3] parameter(1)
    ROOT r = f32[3] select(p, x, x))"));
  EXPECT_FALSE(Fires(R"(
    p = pred[3] parameter(0)
    x = f32[3] parameter(1)
    y = f32[3] parameter(2)
    ROOT r = f32[3] select(p, x, y))"));
  ExpectRewrite<AlgebraicSimplifier>(R"(
    p = pred[3] parameter(0)
    x = f32[3] parameter(1)
    y = f32[3] parameter(2)
    n = pred[3] not(p)
    s = f32[3] select(p, y, x)
    ROOT r = f32[3] select(n, x, s))",
                                     R"(
    p = pred[3] parameter(0)
    x = f32[3] parameter(1)
    y = f32[3] parameter(2)
    ROOT r = f32[3] select(p, y, x))");
}

TEST(SelectRules, NotOfCompareKnowsNan) {
  const std::string less = R"(
    x = TYPE[3] parameter(0)
    y = TYPE[3] parameter(1)
    c = pred[3] compare(x, y), direction=LT
    ROOT r = pred[3] not(c))";
  const auto with = [&](const std::string& type) {
    std::string text = less;
    for (size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, type);
    return text;
  };
  EXPECT_TRUE(Fires(with("u32")));
  EXPECT_FALSE(Fires(with("f32")));
}

TEST(Engine, LeavesReducersAlone) {
  EXPECT_FALSE(Fires(R"(HloModule m
  c { a = f16[] parameter(0)
      b = f16[] parameter(1)
      n = f16[] negate(b)
      nn = f16[] negate(n)
      ROOT r = f16[] add(a, nn) }
  ENTRY main {
    x = f16[4] parameter(0)
    z = f16[] parameter(1)
    ROOT r = f16[] reduce(x, z), dimensions={0}, to_apply=c })"));
}

}  // namespace
}  // namespace assay
