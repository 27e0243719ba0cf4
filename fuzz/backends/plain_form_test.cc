// Programs in plain form mean what they meant, and hold none of the ops that StableHLO has not.
#include "fuzz/backends/plain_form.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::Not;

std::unique_ptr<Module> Read(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : nullptr;
}

// 1, 2, 3, ... in every array.
Literal Counting(const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements()) elements.push_back(Counting(element));
    return Literal::Tuple(std::move(elements));
  }
  Literal literal(shape);
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (IsFloat(shape.element_type())) {
      literal.SetDouble(i, static_cast<double>(i + 1));
    } else {
      literal.SetInteger(i, i + 1);
    }
  }
  return literal;
}

std::string Result(const Module& module, const std::vector<const Literal*>& arguments) {
  const auto result = MakeOracle()->Evaluate(module, arguments, Limits{});
  EXPECT_TRUE(result.ok()) << result.status() << "\n" << WriteModule(module);
  return result.ok() ? result->ToString() : "";
}

constexpr const char* kPrograms[] = {
    // Layouts are what a bitcast means, also within a fusion.
    R"(HloModule m, entry_computation_layout={(f32[3,4]{0,1})->f32[4,3]{1,0}}
f {
  p = f32[3,4]{0,1} parameter(0)
  ROOT b = f32[4,3]{1,0} bitcast(p)
}
ENTRY e {
  p = f32[3,4]{0,1} parameter(0)
  ROOT r = f32[4,3]{1,0} fusion(p), kind=kLoop, calls=f
}
)",
    R"(HloModule m
ENTRY e {
  p = f32[2,3,4]{0,2,1} parameter(0)
  a = f32[6,4]{0,1} bitcast(p)
  b = f32[24]{0} bitcast(a)
  c = s32[3,8]{0,1} bitcast(b)
  d = s32[2,2,6]{1,2,0} bitcast(c)
  ROOT r = f32[4,1,6]{2,0,1} bitcast(d)
}
)",
    // A schedule, fusions in fusions, and what they call.
    R"(HloModule m, is_scheduled=true
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
inner {
  p = f32[4,8] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[4] reduce(p, z), dimensions={1}, to_apply=add
}
outer {
  p = f32[4,8] parameter(0)
  i = f32[4] fusion(p), kind=kInput, calls=inner
  n = f32[4] negate(i)
  ROOT t = (f32[4], f32[4]) tuple(n, i)
}
ENTRY e {
  p = f32[4,8] parameter(0)
  o = (f32[4], f32[4]) fusion(p), kind=kCustom, calls=outer
  x = f32[4] get-tuple-element(o), index=0
  y = f32[4] get-tuple-element(o), index=1
  ROOT m = f32[4] multiply(x, y)
}
)",
    // Asynchronous work.
    R"(HloModule m
w {
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  ROOT s = f32[3] subtract(a, b)
}
ENTRY e {
  p = f32[3] parameter(0)
  c = (f32[3]{0:S(5)}, f32[3]{0}, u32[]) copy-start(p)
  q = f32[3] negate(p)
  d = f32[3]{0:S(5)} copy-done(c)
  s = ((f32[3], f32[3]), f32[3], s32[]) async-start(q, d), calls=w
  u = ((f32[3], f32[3]), f32[3], s32[]) async-update(s)
  ROOT r = f32[3] async-done(u)
}
)",
};

TEST(PlainForm, MeansTheSame) {
  for (const char* text : kPrograms) {
    const auto module = Read(text);
    ASSERT_NE(module, nullptr);
    EXPECT_TRUE(IsBeyondStableHlo(*module));
    const auto plain = module->Clone("");
    MakePlain(*plain);
    EXPECT_FALSE(IsBeyondStableHlo(*plain)) << WriteModule(*plain);
    EXPECT_TRUE(Verify(*plain).ok()) << Verify(*plain) << "\n" << WriteModule(*plain);
    const Literal argument = Counting(module->entry()->parameter(0)->shape());
    // A worker is given text without layouts.
    WriteOptions options;
    options.layouts = false;
    const auto again = Read(WriteModule(*plain, options));
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(Result(*again, {&argument}), Result(*module, {&argument})) << text;
  }
}

// The oracle has no bitcast between widths: these are the numbers that lie in memory.
TEST(PlainForm, BitcastsBetweenWidths) {
  const auto module = Read(R"(HloModule m
ENTRY e {
  p = s32[2,2]{0,1} parameter(0)
  n = u16[8]{0} bitcast(p)
  w = u64[2,1]{0,1} bitcast(n)
  ROOT r = (u16[8]{0}, u64[2,1]{0,1}) tuple(n, w)
}
)");
  ASSERT_NE(module, nullptr);
  MakePlain(*module);
  const Literal argument = Counting(module->entry()->parameter(0)->shape());
  EXPECT_EQ(Result(*module, {&argument}),
            "( {1, 0, 3, 0, 2, 0, 4, 0}, { {12884901889}, {17179869186} } )");
}

TEST(DropTokens, LeavesTheArraysOfTheResult) {
  const auto module = Read(R"(HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  t = token[] after-all()
  n = f32[2] negate(p)
  i = (token[], f32[2]) tuple(t, n)
  ROOT r = (f32[2], (token[], f32[2])) tuple(p, i)
}
)");
  ASSERT_NE(module, nullptr);
  EXPECT_TRUE(HasTokenResult(*module));
  DropTokens(*module);
  EXPECT_FALSE(HasTokenResult(*module));
  EXPECT_TRUE(Verify(*module).ok()) << Verify(*module);
  const Literal argument = Counting(module->entry()->parameter(0)->shape());
  EXPECT_EQ(Result(*module, {&argument}), "( {1, 2}, {-1, -2} )");
}

TEST(PlainForm, WhatLiesInTilesStaysAsItIs) {
  const auto module = Read(R"(HloModule m
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  ROOT b = f32[1024]{0:T(1024)} bitcast(p)
}
)");
  ASSERT_NE(module, nullptr);
  MakePlain(*module);
  EXPECT_TRUE(IsBeyondStableHlo(*module));
}

TEST(FlattenParameters, GivesEveryArrayAParameterOfItsOwn) {
  const auto module = Read(R"(HloModule m
ENTRY e {
  p = (f32[3], (token[], s32[3])) parameter(1)
  q = f32[3] parameter(0)
  x = f32[3] get-tuple-element(p), index=0
  y = (token[], s32[3]) get-tuple-element(p), index=1
  t = token[] get-tuple-element(y), index=0
  z = s32[3] get-tuple-element(y), index=1
  c = f32[3] convert(z)
  d = f32[3] add-dependency(c, t)
  m = f32[3] multiply(x, q)
  ROOT r = f32[3] subtract(m, d)
}
)");
  ASSERT_NE(module, nullptr);
  const auto flat = module->Clone("");
  EXPECT_TRUE(HasTupleOrTokenParameter(*flat));
  ASSERT_TRUE(FlattenParameters(*flat).ok());
  EXPECT_FALSE(HasTupleOrTokenParameter(*flat));
  ASSERT_EQ(flat->entry()->parameter_count(), 3);
  EXPECT_TRUE(Verify(*flat).ok()) << Verify(*flat) << "\n" << WriteModule(*flat);
  const Literal q = Counting(Shape::Array(ElementType::kF32, {3})),
                p = Counting(module->entry()->parameter(1)->shape());
  EXPECT_EQ(Result(*flat, {&q, &p.elements()[0], &p.elements()[1].elements()[1]}),
            Result(*module, {&q, &p}));
}

TEST(FlattenParameters, AResultMayBeAParameter) {
  const auto module = Read("HloModule m\nENTRY e {\n  ROOT p = (f32[3], s32[2]) parameter(0)\n}\n");
  ASSERT_NE(module, nullptr);
  ASSERT_TRUE(FlattenParameters(*module).ok());
  EXPECT_TRUE(Verify(*module).ok()) << Verify(*module) << "\n" << WriteModule(*module);
  EXPECT_THAT(WriteModule(*module), Not(HasSubstr("(f32[3], s32[2]) parameter")));
}

}  // namespace
}  // namespace assay
