// Modules as StableHLO: the words of a whole program, and what is refused by name.
#include "fuzz/backends/stablehlo_text.h"

#include "fuzz/matrix/invalid.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Written(const std::string& text) {
  const auto module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<std::string> written = WriteStableHlo(**module);
  return written.ok() ? *written : StrCat("error: ", ToStd(written.status().message()));
}

TEST(StableHloText, AWholeProgram) {
  const std::string text = Written(
      "HloModule m, input_output_alias={ {0}: (1, {}, may-alias) }\n"
      "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
      "ENTRY e { p = f32[2,3] parameter(0) q = f32[2,3] parameter(1)\n"
      "t = f32[3,2] transpose(q), dimensions={1,0}\n"
      "d = f32[2,2] dot(p, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "z = f32[] constant(0) r = f32[2] reduce(d, z), dimensions={1}, to_apply=sum\n"
      "ROOT w = (f32[2,3], f32[2]) tuple(q, r) }\n");
  EXPECT_THAT(text, HasSubstr("@main(%arg0: tensor<2x3xf32>, "
                              "%arg1: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}) -> "
                              "(tensor<2x3xf32>, tensor<2xf32>)"));
  EXPECT_THAT(text, HasSubstr("\"stablehlo.transpose\"(%arg1) {permutation = array<i64: 1, 0>} : "
                              "(tensor<2x3xf32>) -> tensor<3x2xf32>"));
  EXPECT_THAT(text, HasSubstr("lhs_contracting_dimensions = [1]"));
  EXPECT_THAT(text, HasSubstr("dense<\"0x00000000\"> : tensor<f32>"));
  EXPECT_THAT(text, HasSubstr("\"stablehlo.reduce\"("));
  EXPECT_THAT(text, HasSubstr("^bb0(%b"));
}

TEST(StableHloText, TuplesAreTakenApart) {
  const std::string text = Written(
      "HloModule m\n"
      "body { s = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0\n"
      "x = f32[4] get-tuple-element(s), index=1 o = s32[] constant(1) n = s32[] add(i, o)\n"
      "m = f32[4] negate(x) ROOT t = (s32[], f32[4]) tuple(n, m) }\n"
      "condition { s = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0\n"
      "l = s32[] constant(3) ROOT c = pred[] compare(i, l), direction=LT }\n"
      "ENTRY e { p = f32[4] parameter(0) z = s32[] constant(0)\n"
      "t = (s32[], f32[4]) tuple(z, p)\n"
      "w = (s32[], f32[4]) while(t), condition=condition, body=body\n"
      "ROOT r = f32[4] get-tuple-element(w), index=1 }\n");
  EXPECT_THAT(text, Not(HasSubstr("tuple")));
  EXPECT_THAT(text, HasSubstr(":2 = \"stablehlo.while\"("));
  EXPECT_THAT(text, HasSubstr("#1 : tensor<4xf32>"));
  EXPECT_THAT(text, HasSubstr("comparison_direction LT"));
  EXPECT_THAT(text, HasSubstr("comparison_type SIGNED"));
}

TEST(StableHloText, WhatHasNoWordIsRefusedByName) {
  EXPECT_EQ(Written("HloModule m\nENTRY e { p = f32[2] parameter(0) ROOT r = f32[2] erf(p) }\n"),
            "error: no StableHLO: the op erf");
  EXPECT_EQ(Written("HloModule m\nENTRY e { ROOT p = f32[<=2] parameter(0) }\n"),
            "error: no StableHLO: bounded sizes, f32[<=2]");
  EXPECT_EQ(Written("HloModule m\nENTRY e { ROOT p = token[] parameter(0) }\n"),
            "error: no StableHLO: the type token[]");
}

TEST(StableHloText, InvalidModulesAreRefused) {
  int64_t count = 0;
  for (const InvalidModule& invalid : DerivedInvalidModules()) {
    const absl::Status status = WriteStableHlo(*invalid.module).status();
    EXPECT_EQ(ClassOf(status), ErrorClass::kUnsupported) << invalid.name << ": " << status;
    ++count;
  }
  EXPECT_GT(count, 1000);
}

}  // namespace
}  // namespace assay
