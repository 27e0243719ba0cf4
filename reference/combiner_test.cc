// Which computations of two numbers are one op (spec/ir/reading/combiner.h), and that they are it.
#include "spec/ir/reading/combiner.h"

#include <cmath>

#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"
#include "spec/ops/combiners.h"
#include "spec/ops/op_table.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay::reference {
namespace {

// Computations that the bodies below call. T is the type, LEAST and MOST the ends of it.
constexpr char kCallees[] = R"(HloModule m
least { a = T[] parameter(0)  b = T[] parameter(1)  ROOT r = T[] minimum(a, b) }
sum { a = T[] parameter(0)  b = T[] parameter(1)  ROOT r = T[] add(a, b) }
before { a = T[] parameter(0)  b = T[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
branch { t = (T[], T[]) parameter(0)  a = T[] get-tuple-element(t), index=0
  b = T[] get-tuple-element(t), index=1  ROOT r = T[] call(a, b), to_apply=sum }
other { t = (T[], T[]) parameter(0)  ROOT a = T[] get-tuple-element(t), index=0 }
goes_on { s = (T[], T[], T[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=3
  n = s32[] constant(2)  ROOT r = pred[] compare(i, n), direction=LT }
forever { s = (T[], T[], T[], s32[]) parameter(0)  ROOT r = pred[] constant(true) }
trip { s = (T[], T[], T[], s32[]) parameter(0)  a = T[] get-tuple-element(s), index=0
  b = T[] get-tuple-element(s), index=1  c = T[] call(a, b), to_apply=least
  i = s32[] get-tuple-element(s), index=3  o = s32[] constant(1)  j = s32[] add(i, o)
  ROOT t = (T[], T[], T[], s32[]) tuple(a, b, c, j) }
)";

struct Body {
  const char* text;
  std::optional<Opcode> combiner;
};

constexpr char kLoop[] =
    "z = T[] constant(0) n = s32[] constant(0) s = (T[], T[], T[], s32[]) tuple(a, b, z, n) "
    "w = (T[], T[], T[], s32[]) while(s), condition=goes_on, body=trip "
    "ROOT r = T[] get-tuple-element(w), index=2";

const Body kBodies[] = {
    {"ROOT r = T[] xor(b, a)", Opcode::kXor},
    {"ROOT r = T[] call(b, a), to_apply=least", Opcode::kMinimum},
    {"o = T[] constant(1) p = T[] multiply(a, o) ROOT r = T[] multiply(p, b)", Opcode::kMultiply},
    {"m = T[] constant(MOST) p = T[] minimum(m, a) ROOT r = T[] minimum(p, b)", Opcode::kMinimum},
    {"m = T[] constant(LEAST) p = T[] maximum(b, m) ROOT r = T[] maximum(a, p)", Opcode::kMaximum},
    {"p = T[] and(a, b) ROOT r = T[] and(p, a)", Opcode::kAnd},
    {"p = T[] add(a, b) ROOT r = T[] add(p, a)", std::nullopt},
    {"o = T[] constant(1) p = T[] add(a, o) ROOT r = T[] add(p, b)", std::nullopt},
    {"p = T[] and(a, b) ROOT r = T[] or(p, a)", std::nullopt},
    {"p = T[] multiply(a, a) ROOT r = T[] multiply(p, b)", std::nullopt},
    {"ROOT r = T[] subtract(a, b)", std::nullopt},
    {"g = pred[] compare(a, b), direction=GT ROOT r = T[] select(g, a, b)", Opcode::kMaximum},
    {"g = pred[] compare(b, a), direction=GE ROOT r = T[] select(g, a, b)", Opcode::kMinimum},
    {"g = pred[] compare(a, b), direction=LE ROOT r = T[] select(g, b, a)", Opcode::kMaximum},
    {"g = pred[] compare(a, b), direction=LT ROOT r = T[] select(g, a, a)", std::nullopt},
    {"g = pred[] compare(a, b), direction=NE ROOT r = T[] select(g, a, b)", std::nullopt},
    {"t = (T[], T[]) tuple(a, b) g = pred[] compare(a, b), direction=LT "
     "ROOT r = T[] conditional(g, t, t), true_computation=branch, false_computation=branch",
     Opcode::kAdd},
    {"t = (T[], T[]) tuple(a, b) g = pred[] compare(a, b), direction=LT "
     "ROOT r = T[] conditional(g, t, t), true_computation=branch, false_computation=other",
     std::nullopt},
    {kLoop, Opcode::kMinimum},
    {"z = T[] constant(0) n = s32[] constant(0) s = (T[], T[], T[], s32[]) tuple(a, b, z, n) "
     "w = (T[], T[], T[], s32[]) while(s), condition=forever, body=trip "
     "ROOT r = T[] get-tuple-element(w), index=2",
     std::nullopt},
    {"p = T[] add(a, b) v = T[3] broadcast(p), dimensions={} m = T[] constant(MOST) "
     "ROOT r = T[] reduce(v, m), dimensions={0}, to_apply=least",
     Opcode::kAdd},
    {"p = T[] add(a, b) v = T[3] broadcast(p), dimensions={} m = T[] constant(0) "
     "ROOT r = T[] reduce(v, m), dimensions={0}, to_apply=sum",
     std::nullopt},
    {"p = T[] or(a, b) v = T[2] broadcast(p), dimensions={} "
     "s = T[2] sort(v), dimensions={0}, to_apply=before f = T[1] slice(s), slice={[0:1]} "
     "ROOT r = T[] reshape(f)",
     Opcode::kOr},
};

// The module whose entry combines all pairs of codes of an 8-bit type, in more words or plainly.
std::unique_ptr<Module> Combining(const std::string& type, const std::string& body) {
  const std::string text = absl::StrReplaceAll(
      StrCat(kCallees, "body { a = T[] parameter(0) b = T[] parameter(1) ", body, " }\n",
             "ENTRY e { x = T[65536] parameter(0) y = T[65536] parameter(1)\n",
             "ROOT r = T[65536] map(x, y), dimensions={0}, to_apply=body }"),
      {{"T[", type + "["},
       {"LEAST", type == "s8" ? "-128" : "0"},
       {"MOST", type == "s8"   ? "127"
                : type == "u8" ? "255"
                               : "inf"}});
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  EXPECT_TRUE(Verify(**module).ok()) << Verify(**module) << text;
  return *std::move(module);
}

TEST(ReadCombiner, IsWhatTheWordsMean) {
  for (const ElementType type : {ElementType::kS8, ElementType::kU8}) {
    Literal x(Shape::Array(type, {65536})), y(Shape::Array(type, {65536}));
    for (int64_t i = 0; i < 65536; ++i) {
      x.SetBits(i, static_cast<uint64_t>(i % 256));
      y.SetBits(i, static_cast<uint64_t>(i / 256));
    }
    const std::string name(Name(type));
    for (const Body& body : kBodies) {
      const std::unique_ptr<Module> module = Combining(name, body.text);
      const std::optional<Opcode> combiner = ReadCombiner(*module->entry()->root()->callee());
      EXPECT_EQ(combiner, body.combiner) << body.text;
      if (!combiner.has_value()) continue;
      const std::string op(Name(*combiner));
      const std::unique_ptr<Module> plain = Combining(name, "ROOT r = T[] " + op + "(a, b)");
      const Literal said = *MakeOracle()->Evaluate(*module, {&x, &y}, Limits{});
      const Literal meant = *MakeOracle()->Evaluate(*plain, {&x, &y}, Limits{});
      EXPECT_TRUE(std::equal(said.bytes().begin(), said.bytes().end(), meant.bytes().begin(),
                             meant.bytes().end()))
          << body.text;
    }
  }
}

// Wrapping a sum of floats up changes nothing, so it may be made in any order as before.
TEST(ReadCombiner, OfFloatsIsOneOpInMoreWords) {
  const Body kWrapped[] = {
      {"ROOT r = T[] call(b, a), to_apply=sum", Opcode::kAdd},
      {"p = T[] add(a, b) ROOT r = T[] broadcast(p), dimensions={}", Opcode::kAdd},
      {"t = (T[], T[]) tuple(a, b) g = pred[] compare(a, b), direction=LT "
       "ROOT r = T[] conditional(g, t, t), true_computation=branch, false_computation=branch",
       Opcode::kAdd},
      {kLoop, Opcode::kMinimum},
      {"p = T[] add(a, b) v = T[3] broadcast(p), dimensions={} m = T[] constant(MOST) "
       "ROOT r = T[] reduce(v, m), dimensions={0}, to_apply=least",
       Opcode::kAdd},
      {"p = T[] multiply(a, b) v = T[1] broadcast(p), dimensions={} "
       "s = T[1] sort(v), dimensions={0}, to_apply=before f = T[1] slice(s), slice={[0:1]} "
       "ROOT r = T[] reshape(f)",
       Opcode::kMultiply},
      {"o = T[] constant(1) p = T[] multiply(a, o) ROOT r = T[] multiply(p, b)", Opcode::kMultiply},
      {"m = T[] constant(MOST) p = T[] minimum(b, m) ROOT r = T[] minimum(a, p)", Opcode::kMinimum},
      {"p = T[] add(a, b) v = T[1] broadcast(p), dimensions={} z = T[] constant(0) "
       "ROOT r = T[] reduce(v, z), dimensions={0}, to_apply=sum",
       std::nullopt},
  };
  const ElementType type = ElementType::kF8E5M2;
  Literal x(Shape::Array(type, {65536})), y(Shape::Array(type, {65536}));
  for (int64_t i = 0; i < 65536; ++i) {
    x.SetBits(i, static_cast<uint64_t>(i % 256));
    y.SetBits(i, static_cast<uint64_t>(i / 256));
  }
  for (const Body& body : kWrapped) {
    const std::unique_ptr<Module> module = Combining("f8e5m2", body.text);
    const std::optional<Opcode> combiner = ReadCombiner(*module->entry()->root()->callee());
    EXPECT_EQ(combiner, body.combiner) << body.text;
    if (!combiner.has_value()) continue;
    const std::string op(Name(*combiner));
    const std::unique_ptr<Module> plain = Combining("f8e5m2", "ROOT r = T[] " + op + "(a, b)");
    const Literal said = *MakeOracle()->Evaluate(*module, {&x, &y}, Limits{});
    const Literal meant = *MakeOracle()->Evaluate(*plain, {&x, &y}, Limits{});
    for (int64_t i = 0; i < 65536; ++i) {
      const bool is_nan = std::isnan(said.GetDouble(i)) && std::isnan(meant.GetDouble(i));
      ASSERT_TRUE(is_nan || said.GetBits(i) == meant.GetBits(i)) << body.text << i;
    }
  }
}

// Rounding, NaN and the zeros make floats another matter.
TEST(ReadCombiner, OfFloatsIsOneOpAlone) {
  const char* const kWords[] = {
      "g = pred[] compare(a, b), direction=GT ROOT r = f32[] select(g, a, b)",
      "o = f32[] constant(2) p = f32[] multiply(a, o) ROOT r = f32[] multiply(p, b)",
      "p = f32[] maximum(a, b) ROOT r = f32[] maximum(p, a)",
  };
  for (const char* words : kWords) {
    const std::string text =
        StrCat("HloModule m\nbody { a = f32[] parameter(0) b = f32[] parameter(1) ", words,
               " }\nENTRY e { x = f32[2] parameter(0) ",
               "ROOT r = f32[2] map(x, x), dimensions={0}, to_apply=body }");
    absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << text;
    EXPECT_FALSE(ReadCombiner(*(*module)->entry()->root()->callee()).has_value()) << words;
  }
}

// A number of `type` that is not NaN, the i-th of 65,536: all of types of up to 16 bits.
void SetNumber(Literal& values, int64_t i) {
  const int width = BitWidth(values.element_type());
  const uint64_t code = static_cast<uint64_t>(i);
  const uint64_t spread = width > 16 ? code << (width - 16) | code : code;
  values.SetBits(i, IsPred(values.element_type()) ? code & 1 : spread);
  const bool is_float = IsFloat(values.element_type());
  if (is_float && std::isnan(values.GetDouble(i))) values.SetDouble(i, 1);
}

TEST(Combiners, IdentitiesChangeNothing) {
  for (const TypeInfo& info : AllTypes()) {
    if (!IsFloat(info.type) && !IsInteger(info.type) && !IsPred(info.type)) continue;
    Literal x(Shape::Array(info.type, {65536}));
    for (int64_t i = 0; i < 65536; ++i) SetNumber(x, i);
    for (const Opcode combiner : {Opcode::kAdd, Opcode::kMultiply, Opcode::kMaximum,
                                  Opcode::kMinimum, Opcode::kAnd, Opcode::kOr, Opcode::kXor}) {
      const std::string text = absl::StrReplaceAll(
          StrCat("HloModule m\nENTRY e { x = T[65536] parameter(0) i = T[] parameter(1) ",
                 "b = T[65536] broadcast(i), dimensions={} ROOT r = T[65536] ", Name(combiner),
                 "(b, x) }"),
          {{"T[", StrCat(Name(info.type), "[")}});
      absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
      ASSERT_TRUE(module.ok()) << module.status() << text;
      const bool has_zero = info.type != ElementType::kF8E8M0FNU;
      if (!Verify(**module).ok() || (combiner == Opcode::kAdd && !has_zero)) continue;
      const Literal identity = IdentityOf(combiner, info.type);
      EXPECT_TRUE(IsIdentity(identity, combiner)) << text;
      const Literal result = *MakeOracle()->Evaluate(**module, {&x, &identity}, Limits{});
      for (int64_t i = 0; i < 65536; ++i) {
        ASSERT_EQ(result.GetDouble(i), x.GetDouble(i)) << text << x.GetBits(i);
      }
    }
  }
}

}  // namespace
}  // namespace assay::reference
