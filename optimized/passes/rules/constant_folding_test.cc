#include "optimized/passes/rules/constant_folding.h"

#include "optimized/passes/pass_testing.h"

namespace assay {
namespace {

// The value of the root after folding, as HLO text; "" if it is no constant.
std::string Folded(const std::string& text) {
  std::unique_ptr<Module> module = ReadForTest(text);
  if (module == nullptr) return "";
  RunForTest<ConstantFolding>(*module);
  const Instruction* root = module->entry()->root();
  return root->opcode() == Opcode::kConstant ? root->literal()->ToString() : "";
}

std::string Binary(const std::string& op, const std::string& type, const std::string& a,
                   const std::string& b) {
  return Folded("a = " + type + "[] constant(" + a + ")\nb = " + type + "[] constant(" + b +
                ")\nROOT r = " + type + "[] " + op + "(a, b)");
}

std::string Convert(const std::string& from, const std::string& value, const std::string& to) {
  return Folded("a = " + from + "[] constant(" + value + ")\nROOT r = " + to + "[] convert(a)");
}

TEST(ConstantFolding, IntegersWrapAndDivideAsDefined) {
  EXPECT_EQ(Binary("add", "s8", "100", "100"), "-56");
  EXPECT_EQ(Binary("multiply", "u16", "65535", "65535"), "1");
  EXPECT_EQ(Binary("divide", "s32", "-7", "2"), "-3");
  EXPECT_EQ(Binary("divide", "s32", "7", "0"), "-1");
  EXPECT_EQ(Binary("divide", "u8", "7", "0"), "255");
  EXPECT_EQ(Binary("divide", "s64", "-9223372036854775808", "-1"), "-9223372036854775808");
  EXPECT_EQ(Binary("remainder", "s32", "-7", "3"), "-1");
  EXPECT_EQ(Binary("remainder", "s32", "7", "0"), "7");
  EXPECT_EQ(Binary("shift-left", "s32", "1", "32"), "0");
  EXPECT_EQ(Binary("shift-right-arithmetic", "s8", "-128", "-1"), "-1");
  EXPECT_EQ(Binary("shift-right-logical", "s8", "-128", "7"), "1");
}

TEST(ConstantFolding, FloatsRoundOnceAndKeepNanAndZeros) {
  EXPECT_EQ(Binary("maximum", "f32", "nan", "1"), "nan");
  EXPECT_EQ(Binary("maximum", "f32", "-0", "0"), "0");
  EXPECT_EQ(Binary("minimum", "f32", "0", "-0"), "-0");
  EXPECT_EQ(Binary("add", "bf16", "256", "1"), "256");
  EXPECT_EQ(Binary("add", "f16", "65504", "16"), "inf");
}

TEST(ConstantFolding, Converts) {
  EXPECT_EQ(Convert("f32", "-1.5", "u8"), "0");
  EXPECT_EQ(Convert("f32", "300.7", "s8"), "127");
  EXPECT_EQ(Convert("f32", "nan", "s32"), "0");
  EXPECT_EQ(Convert("f32", "2147483648", "s32"), "2147483647");
  EXPECT_EQ(Convert("f32", "nan", "pred"), "true");
  EXPECT_EQ(Convert("f32", "-0", "pred"), "false");
  EXPECT_EQ(Convert("s32", "300", "s8"), "44");
  EXPECT_EQ(Convert("s8", "-1", "u32"), "4294967295");
  // One rounding: 2^40 + 2^32 + 1 is above the midpoint.
  EXPECT_EQ(Convert("s64", "1103806595073", "bf16"), Convert("f64", "1108101562368", "bf16"));
}

TEST(ConstantFolding, MovesData) {
  EXPECT_EQ(Folded(R"(
    a = s32[2,3] constant({ { 1, 2, 3 }, { 4, 5, 6 } })
    t = s32[3,2] transpose(a), dimensions={1,0}
    s = s32[2,2] slice(t), slice={[0:3:2], [0:2]}
    r = s32[2,2] reverse(s), dimensions={1}
    z = s32[] constant(9)
    p = s32[2,3] pad(r, z), padding=0_0x-1_1_1
    b = s32[1,3] broadcast(z), dimensions={}
    ROOT c = s32[3,3] concatenate(p, b), dimensions={0})"),
            Folded("ROOT c = s32[3,3] constant({ { 9, 1, 9 }, { 9, 3, 9 }, { 9, 9, 9 } })"));
}

TEST(ConstantFolding, SplatsStaySmall) {
  ExpectRewrite<ConstantFolding>(R"(
    a = s32[] constant(3)
    b = s32[100000] broadcast(a), dimensions={}
    ROOT n = s32[100000] multiply(b, b))",
                                 R"(
    a = s32[] constant(9)
    ROOT b = s32[100000] broadcast(a), dimensions={})");
}

TEST(ConstantFolding, LeavesFunctionsToRunTime) {
  ExpectUntouched<ConstantFolding>(R"(
    a = f32[] constant(3)
    ROOT n = f32[] exponential(a))");
  ExpectUntouched<ConstantFolding>(R"(
    a = s32[] parameter(0)
    b = s32[] constant(3)
    ROOT n = s32[] add(a, b))");
}

}  // namespace
}  // namespace assay
