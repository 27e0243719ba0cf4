// Data movement, reductions, dots, control flow and buffers: small programs with known results,
// under every option and under every limit of the decision sequence.
#include <cmath>

#include "optimized/cpu/testing.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

struct Program {
  const char* name;
  const char* text;
  std::vector<std::pair<std::string, std::string>> arguments;
  std::vector<std::pair<std::string, std::string>> results;  // leaves
};

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

// Operation semantics chapters 4, 9, 10, 11, 14, 22.3.
const Program kPrograms[] = {
    {"pad",
     R"(HloModule m
ENTRY e {
  p = s32[3] parameter(0)
  z = s32[] constant(9)
  a = s32[6] pad(p, z), padding=1_2
  b = s32[5] pad(p, z), padding=0_0_1
  c = s32[2] pad(p, z), padding=-1_0
  d = s32[5] pad(p, z), padding=-1_-1_2
  e = s32[4] pad(p, z), padding=2_-3_1
  f = s32[8] pad(p, z), padding=1_0_2
  ROOT r = (s32[6], s32[5], s32[2], s32[5], s32[4], s32[8]) tuple(a, b, c, d, e, f)
})",
     {{"s32[3]", "{1, 2, 3}"}},
     {{"s32[6]", "{9, 1, 2, 3, 9, 9}"},
      {"s32[5]", "{1, 9, 2, 9, 3}"},
      {"s32[2]", "{2, 3}"},
      {"s32[5]", "{9, 9, 2, 9, 9}"},
      {"s32[4]", "{9, 9, 1, 9}"},
      {"s32[8]", "{9, 1, 9, 9, 2, 9, 9, 3}"}}},
    {"slice-of-reverse-of-transpose",
     R"(HloModule m
ENTRY e {
  p = f32[2,3] parameter(0)
  t = f32[3,2] transpose(p), dimensions={1,0}
  v = f32[3,2] reverse(t), dimensions={0}
  ROOT s = f32[2,2] slice(v), slice={[0:3:2], [0:2]}
})",
     {{"f32[2,3]", "{{1, 2, 3}, {4, 5, 6}}"}},
     {{"f32[2,2]", "{{3, 6}, {1, 4}}"}}},
    {"reshape-and-concatenate",
     R"(HloModule m
ENTRY e {
  p = s16[2,6] parameter(0)
  q = s16[4,3] reshape(p)
  i = s16[4,2] iota(), iota_dimension=0
  c = s16[4,5] concatenate(q, i), dimensions={1}
  ROOT t = s16[5,4] transpose(c), dimensions={1,0}
})",
     {{"s16[2,6]", "{{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}}"}},
     {{"s16[5,4]", "{{1, 4, 7, 10}, {2, 5, 8, 11}, {3, 6, 9, 12}, {0, 1, 2, 3}, {0, 1, 2, 3}}"}}},
    {"dynamic-slice-clamps-and-unsigned",
     R"(HloModule m
ENTRY e {
  p = s32[5] parameter(0)
  i = s32[] parameter(1)
  u = u64[] parameter(2)
  b = u8[] parameter(3)
  x = s32[2] dynamic-slice(p, i), dynamic_slice_sizes={2}
  y = s32[2] dynamic-slice(p, u), dynamic_slice_sizes={2}
  z = s32[2] dynamic-slice(p, b), dynamic_slice_sizes={2}
  ROOT r = (s32[2], s32[2], s32[2]) tuple(x, y, z)
})",
     {{"s32[5]", "{1, 2, 3, 4, 5}"},
      {"s32[]", "-7"},
      {"u64[]", "18446744073709551615"},
      {"u8[]", "200"}},
     {{"s32[2]", "{1, 2}"}, {"s32[2]", "{4, 5}"}, {"s32[2]", "{4, 5}"}}},
    {"update-reads-the-old-value",
     R"(HloModule m
ENTRY e {
  p = s32[5] parameter(0)
  i = s32[] parameter(1)
  one = s32[] constant(1)
  ones = s32[5] broadcast(one), dimensions={}
  a = s32[5] add(p, ones)
  u = s32[2] slice(a), slice={[0:2]}
  d = s32[5] dynamic-update-slice(a, u, i)
  ROOT r = (s32[5], s32[5]) tuple(d, a)
})",
     {{"s32[5]", "{1, 2, 3, 4, 5}"}, {"s32[]", "9"}},
     {{"s32[5]", "{2, 3, 4, 2, 3}"}, {"s32[5]", "{2, 3, 4, 5, 6}"}}},
    {"chain-of-updates",
     R"(HloModule m
ENTRY e {
  p = s32[2,2] parameter(0)
  z = s32[] constant(0)
  o = s32[] constant(1)
  u = s32[1,1] reshape(o)
  q = s32[2,2] add(p, p)
  a = s32[2,2] dynamic-update-slice(q, u, z, o)
  b = s32[2,2] dynamic-update-slice(a, u, o, z)
  ROOT c = s32[2,2] add(b, a)
})",
     {{"s32[2,2]", "{{1, 2}, {3, 4}}"}},
     {{"s32[2,2]", "{{4, 2}, {7, 16}}"}}},
    {"bitcast-permutes-by-layout",
     R"(HloModule m
ENTRY e {
  p = s32[2,3]{0,1} parameter(0)
  ROOT b = s32[3,2]{1,0} bitcast(p)
})",
     {{"s32[2,3]", "{{1, 2, 3}, {4, 5, 6}}"}},
     {{"s32[3,2]", "{{1, 4}, {2, 5}, {3, 6}}"}}},
    {"bitcast-convert-widths",
     R"(HloModule m
ENTRY e {
  p = s32[1] parameter(0)
  a = s8[1,4] bitcast-convert(p)
  b = s32[1] bitcast-convert(a)
  c = f32[1] bitcast-convert(b)
  ROOT r = (s8[1,4], s32[1], f32[1]) tuple(a, b, c)
})",
     {{"s32[1]", "{67305985}"}},
     {{"s8[1,4]", "{{1, 2, 3, 4}}"}, {"s32[1]", "{67305985}"}, {"f32[1]", "{1.53998961e-36}"}}},
    {"reduce-every-way",
     R"(HloModule m
add { x = s32[] parameter(0)
  y = s32[] parameter(1)
  ROOT r = s32[] add(x, y) }
ENTRY e {
  p = s32[3,4] parameter(0)
  z = s32[] constant(100)
  rows = s32[3] reduce(p, z), dimensions={1}, to_apply=add
  cols = s32[4] reduce(p, z), dimensions={0}, to_apply=add
  all = s32[] reduce(p, z), dimensions={0,1}, to_apply=add
  none = s32[3,4] reduce(p, z), dimensions={}, to_apply=add
  ROOT r = (s32[3], s32[4], s32[], s32[3,4]) tuple(rows, cols, all, none)
})",
     {{"s32[3,4]", "{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}"}},
     {{"s32[3]", "{110, 126, 142}"},
      {"s32[4]", "{115, 118, 121, 124}"},
      {"s32[]", "178"},
      {"s32[3,4]", "{{101, 102, 103, 104}, {105, 106, 107, 108}, {109, 110, 111, 112}}"}}},
    {"variadic-reduce-argmax",
     R"(HloModule m
argmax { v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  g = pred[] compare(w, v), direction=GT
  a = f32[] select(g, w, v)
  b = s32[] select(g, j, i)
  ROOT r = (f32[], s32[]) tuple(a, b) }
ENTRY e {
  p = f32[2,5] parameter(0)
  i = s32[2,5] iota(), iota_dimension=1
  m = f32[] constant(-inf)
  z = s32[] constant(-1)
  ROOT r = (f32[2], s32[2]) reduce(p, i, m, z), dimensions={1}, to_apply=argmax
})",
     {{"f32[2,5]", "{{1, 7, 3, 7, 5}, {-5, -4, -3, -2, -1}}"}},
     {{"f32[2]", "{7, -1}"}, {"s32[2]", "{1, 4}"}}},
    {"fused-array-constant",
     R"(HloModule m
f {
  p = s32[3,2] parameter(0)
  c = s32[3,2] constant({{10, 20}, {30, 40}, {50, 60}})
  s = s32[3,2] add(p, c)
  ROOT t = s32[2,3] transpose(s), dimensions={1,0} }
ENTRY e {
  p = s32[3,2] parameter(0)
  ROOT r = s32[2,3] fusion(p), kind=kLoop, calls=f
})",
     {{"s32[3,2]", "{{1, 2}, {3, 4}, {5, 6}}"}},
     {{"s32[2,3]", "{{11, 33, 55}, {22, 44, 66}}"}}},
    {"fused-constant-alone",
     R"(HloModule m
f {
  c = pred[19] constant({1,0,1,1,0,0,0,1,1,1,1,0,0,0,0,0,1,1,0})
  ROOT t = pred[19] not(c) }
ENTRY e {
  ROOT r = pred[19] fusion(), kind=kLoop, calls=f
})",
     {},
     {{"pred[19]", "{0,1,0,0,1,1,1,0,0,0,0,1,1,1,1,1,0,0,1}"}}},
    {"reduce-of-nothing",
     R"(HloModule m
add { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] add(x, y) }
ENTRY e {
  p = f32[3,0] parameter(0)
  z = f32[] constant(2)
  ROOT r = f32[3] reduce(p, z), dimensions={1}, to_apply=add
})",
     {{"f32[3,0]", "{ { }, { }, { } }"}},
     {{"f32[3]", "{2, 2, 2}"}}},
    {"dot-general",
     R"(HloModule m
ENTRY e {
  a = s8[2,2,3] parameter(0)
  b = s8[2,3,2] parameter(1)
  c = s8[2,2,2] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  d = s32[2,2,2] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  ROOT r = (s8[2,2,2], s32[2,2,2]) tuple(c, d)
})",
     {{"s8[2,2,3]", "{{{100, 100, 0}, {1, 2, 3}}, {{1, 0, 0}, {0, 1, 0}}}"},
      {"s8[2,3,2]", "{{{2, 1}, {2, 1}, {0, 1}}, {{1, 2}, {3, 4}, {5, 6}}}"}},
     {{"s8[2,2,2]", "{{{-112, -56}, {6, 6}}, {{1, 2}, {3, 4}}}"},
      {"s32[2,2,2]", "{{{400, 200}, {6, 6}}, {{1, 2}, {3, 4}}}"}}},
    {"dot-of-nothing",
     R"(HloModule m
ENTRY e {
  a = f32[2,0] parameter(0)
  b = f32[0,2] parameter(1)
  ROOT c = f32[2,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
     {{"f32[2,0]", "{ { }, { } }"}, {"f32[0,2]", "{ }"}},
     {{"f32[2,2]", "{{0, 0}, {0, 0}}"}}},
    {"while-swaps-its-state",
     R"(HloModule m
cond { s = (s32[], s32[2], s32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT }
body { s = (s32[], s32[2], s32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = s32[2] get-tuple-element(s), index=1
  b = s32[2] get-tuple-element(s), index=2
  o = s32[] constant(1)
  j = s32[] add(i, o)
  ROOT r = (s32[], s32[2], s32[2]) tuple(j, b, a) }
ENTRY e {
  a = s32[2] parameter(0)
  b = s32[2] parameter(1)
  z = s32[] constant(0)
  t = (s32[], s32[2], s32[2]) tuple(z, a, b)
  ROOT w = (s32[], s32[2], s32[2]) while(t), condition=cond, body=body
})",
     {{"s32[2]", "{1, 2}"}, {"s32[2]", "{3, 4}"}},
     {{"s32[]", "3"}, {"s32[2]", "{3, 4}"}, {"s32[2]", "{1, 2}"}}},
    {"while-updates-in-place",
     R"(HloModule m
cond { s = (s32[], s32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(6)
  ROOT l = pred[] compare(i, n), direction=LT }
body { s = (s32[], s32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = s32[6] get-tuple-element(s), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  sq = s32[] multiply(i, i)
  u = s32[1] reshape(sq)
  b = s32[6] dynamic-update-slice(a, u, i)
  ROOT r = (s32[], s32[6]) tuple(j, b) }
ENTRY e {
  a = s32[6] parameter(0)
  z = s32[] constant(1)
  t = (s32[], s32[6]) tuple(z, a)
  w = (s32[], s32[6]) while(t), condition=cond, body=body
  b = s32[6] get-tuple-element(w), index=1
  ROOT c = s32[6] add(b, a)
})",
     {{"s32[6]", "{7, 7, 7, 7, 7, 7}"}},
     {{"s32[6]", "{14, 8, 11, 16, 23, 32}"}}},
    {"nested-while-and-shared-bodies",
     R"(HloModule m
cond { s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT l = pred[] compare(i, n), direction=LT }
inner { s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = s32[] get-tuple-element(s), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  b = s32[] add(a, i)
  ROOT r = (s32[], s32[]) tuple(j, b) }
outer { s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = s32[] get-tuple-element(s), index=1
  z = s32[] constant(0)
  t = (s32[], s32[]) tuple(z, a)
  w = (s32[], s32[]) while(t), condition=cond, body=inner
  b = s32[] get-tuple-element(w), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  ROOT r = (s32[], s32[]) tuple(j, b) }
ENTRY e {
  z = s32[] constant(0)
  p = s32[] parameter(0)
  t = (s32[], s32[]) tuple(z, p)
  w = (s32[], s32[]) while(t), condition=cond, body=outer
  v = (s32[], s32[]) while(t), condition=cond, body=inner
  ROOT r = ((s32[], s32[]), (s32[], s32[])) tuple(w, v)
})",
     {{"s32[]", "1000"}},
     {{"s32[]", "4"}, {"s32[]", "1024"}, {"s32[]", "4"}, {"s32[]", "1006"}}},
    {"conditional-out-of-range",
     R"(HloModule m
b0 { p = f32[2] parameter(0)
  ROOT r = f32[2] negate(p) }
b1 { p = f32[2] parameter(0)
  ROOT r = f32[2] add(p, p) }
b2 { ROOT p = f32[2] parameter(0) }
ENTRY e {
  p = f32[2] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  k = pred[] parameter(3)
  x = f32[2] conditional(i, p, p, p), branch_computations={b0, b1, b2}
  y = f32[2] conditional(j, p, p, p), branch_computations={b0, b1, b2}
  z = f32[2] conditional(k, p, p), true_computation=b0, false_computation=b1
  ROOT r = (f32[2], f32[2], f32[2]) tuple(x, y, z)
})",
     {{"f32[2]", "{1, 2}"}, {"s32[]", "-1"}, {"s32[]", "1"}, {"pred[]", "true"}},
     {{"f32[2]", "{1, 2}"}, {"f32[2]", "{2, 4}"}, {"f32[2]", "{-1, -2}"}}},
    {"call-twice",
     R"(HloModule m
f { x = s32[3] parameter(0)
  y = s32[3] parameter(1)
  a = s32[3] add(x, y)
  ROOT r = s32[3] multiply(a, y) }
ENTRY e {
  p = s32[3] parameter(0)
  a = s32[3] call(p, p), to_apply=f
  ROOT b = s32[3] call(a, p), to_apply=f
})",
     {{"s32[3]", "{1, 2, 3}"}},
     {{"s32[3]", "{3, 20, 63}"}}},
    {"fusion-with-several-results",
     R"(HloModule m
fused { x = f32[3] parameter(0)
  y = f32[] parameter(1)
  b = f32[3] broadcast(y), dimensions={}
  a = f32[3] add(x, b)
  c = pred[3] compare(a, b), direction=GT
  ROOT r = (f32[3], pred[3]) tuple(a, c) }
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[] parameter(1)
  ROOT f = (f32[3], pred[3]) fusion(x, y), kind=kLoop, calls=fused
})",
     {{"f32[3]", "{1, -2, 0}"}, {"f32[]", "0.5"}},
     {{"f32[3]", "{1.5, -1.5, 0.5}"}, {"pred[3]", "{true, false, false}"}}},
    {"tuple-in-a-tuple-within-a-fusion",
     R"(HloModule m
fused { x = s32[2,3] parameter(0)
  y = s32[3] parameter(1)
  b = s32[2,3] broadcast(y), dimensions={1}
  inner = (s32[2,3], s32[3]) tuple(x, y)
  outer = ((s32[2,3], s32[3]), s32[2,3]) tuple(inner, b)
  again = (s32[2,3], s32[3]) get-tuple-element(outer), index=0
  v = s32[3] get-tuple-element(again), index=1
  w = s32[2,3] broadcast(v), dimensions={1}
  u = s32[2,3] get-tuple-element(again), index=0
  ROOT r = s32[2,3] subtract(u, w) }
ENTRY e {
  x = s32[2,3] parameter(0)
  y = s32[3] parameter(1)
  ROOT f = s32[2,3] fusion(x, y), kind=kLoop, calls=fused
})",
     {{"s32[2,3]", "{{1, 2, 3}, {40, 50, 60}}"}, {"s32[3]", "{1, 2, 4}"}},
     {{"s32[2,3]", "{{0, 0, -1}, {39, 48, 56}}"}}},
    {"the-same-result-three-times",
     R"(HloModule m
ENTRY e {
  x = s32[2] parameter(0)
  c = s32[2] constant({5, 6})
  y = s32[2] add(x, c)
  ROOT r = (s32[2], s32[2], s32[2], s32[2]) tuple(y, y, x, c)
})",
     {{"s32[2]", "{1, 2}"}},
     {{"s32[2]", "{6, 8}"}, {"s32[2]", "{6, 8}"}, {"s32[2]", "{1, 2}"}, {"s32[2]", "{5, 6}"}}},
};

void Flatten(const Literal& value, std::vector<const Literal*>& leaves) {
  if (!value.shape().IsTuple()) {
    leaves.push_back(&value);
    return;
  }
  for (const Literal& element : value.elements()) Flatten(element, leaves);
}

void ExpectResults(const Program& program, const Literal& result, const std::string& where) {
  std::vector<const Literal*> leaves;
  Flatten(result, leaves);
  ASSERT_EQ(leaves.size(), program.results.size()) << program.name << " " << where;
  for (size_t k = 0; k < leaves.size(); ++k) {
    Literal want = MustReadLiteral(program.results[k].first, program.results[k].second);
    EXPECT_EQ(leaves[k]->ToString(), want.ToString())
        << program.name << " result " << k << " " << where;
  }
}

std::vector<Literal> Arguments(const Program& program) {
  std::vector<Literal> arguments;
  for (const auto& [shape, text] : program.arguments)
    arguments.push_back(MustReadLiteral(shape, text));
  return arguments;
}

class CpuProgram : public testing::TestWithParam<Program> {};

TEST_P(CpuProgram, GivesItsResultUnderEveryOption) {
  std::unique_ptr<Module> module = MustRead(GetParam().text);
  ASSERT_NE(module, nullptr);
  for (const char* options :
       {"threads=1", "threads=2", "threads=1,passes=off", "threads=1,tier=full",
        "threads=1,isa=baseline", "threads=1,isa=baseline,tier=full,passes=off"}) {
    std::unique_ptr<Backend> backend = MakeCpu(options);
    ExpectResults(GetParam(), RunModule(*backend, *module, Arguments(GetParam())), options);
  }
}

// Blame relies on it: refusing any suffix of the decisions gives another right program.
TEST_P(CpuProgram, GivesItsResultUnderEveryLimit) {
  std::unique_ptr<Module> module = MustRead(GetParam().text);
  ASSERT_NE(module, nullptr);
  std::unique_ptr<Backend> backend = MakeCpu("threads=2");
  auto executable = backend->Compile(*module, {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  int64_t count = static_cast<int64_t>((*executable)->decisions().size());
  for (int64_t limit = 0; limit <= count; ++limit) {
    CompileOptions options;
    options.decision_limit = limit;
    ExpectResults(GetParam(), RunModule(*backend, *module, Arguments(GetParam()), options),
                  StrCat("limit ", limit));
  }
}

INSTANTIATE_TEST_SUITE_P(All, CpuProgram, testing::ValuesIn(kPrograms), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(CpuThreads, ResultsDoNotDependOnTheirNumber) {
  const char* text = R"(HloModule m
add { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] add(x, y) }
ENTRY e {
  a = f32[301,517] parameter(0)
  b = f32[517,203] parameter(1)
  z = f32[] constant(0)
  d = f32[301,203] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[301,517] tanh(a)
  s = f32[301] reduce(t, z), dimensions={1}, to_apply=add
  c = f32[517] reduce(t, z), dimensions={0}, to_apply=add
  ROOT r = (f32[301,203], f32[301,517], f32[301], f32[517]) tuple(d, t, s, c)
})";
  std::unique_ptr<Module> module = MustRead(text);
  ASSERT_NE(module, nullptr);
  std::vector<Literal> arguments = {Literal(Shape::Array(ElementType::kF32, {301, 517})),
                                    Literal(Shape::Array(ElementType::kF32, {517, 203}))};
  for (Literal& a : arguments) {
    for (int64_t i = 0; i < a.element_count(); ++i) a.SetDouble(i, ((i * 7919) % 1009) / 503.0 - 1);
  }
  std::unique_ptr<Backend> one = MakeCpu("threads=1");
  Literal want = RunModule(*one, *module, arguments);
  for (int threads : {2, 3, 5}) {
    std::unique_ptr<Backend> many = MakeCpu(StrCat("threads=", threads));
    Literal got = RunModule(*many, *module, arguments);
    EXPECT_TRUE(got.BitwiseEqual(want)) << threads << " threads";
  }
}

// Tiles, their edges and every way to contract, against the plain sum: small integers make every
// order exact.
TEST(CpuDot, BlockedNestsAgreeWithThePlainSum) {
  struct Case {
    const char *lhs, *rhs, *result, *dims;
  };
  const Case cases[] = {
      {"f32[37,53]", "f32[53,71]", "f32[37,71]",
       "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      {"f32[37,53]", "f32[71,53]", "f32[37,71]",
       "lhs_contracting_dims={1}, rhs_contracting_dims={1}"},
      {"f32[53,37]", "f32[53,71]", "f32[37,71]",
       "lhs_contracting_dims={0}, rhs_contracting_dims={0}"},
      {"s32[37,53]", "s32[53,71]", "s32[37,71]",
       "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      {"bf16[37,53]", "bf16[53,71]", "f32[37,71]",
       "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      {"f64[3,19,23]", "f64[3,23,31]", "f64[3,19,31]",
       "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
       "rhs_contracting_dims={1}"},
      {"f32[19,5,23]", "f32[5,23,31]", "f32[19,31]",
       "lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}"},
      {"f32[1,400]", "f32[400,90]", "f32[1,90]",
       "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      {"f32[150]", "f32[150,211]", "f32[211]",
       "lhs_contracting_dims={0}, rhs_contracting_dims={0}"},
      {"f32[300,97]", "f32[97]", "f32[300]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
  };
  for (const Case& c : cases) {
    std::string text =
        StrCat("HloModule m\nENTRY e {\n  a = ", c.lhs, " parameter(0)\n  b = ", c.rhs,
               " parameter(1)\n  ROOT d = ", c.result, " dot(a, b), ", c.dims, "\n}\n");
    std::unique_ptr<Module> module = MustRead(text);
    ASSERT_NE(module, nullptr);
    std::vector<Literal> arguments;
    for (const Instruction* p : module->entry()->parameters()) {
      Literal& a = arguments.emplace_back(p->shape());
      for (int64_t i = 0; i < a.element_count(); ++i) a.SetDouble(i, (i * 31) % 7 - 3);
    }
    std::unique_ptr<Backend> plain = MakeCpu("threads=1");
    CompileOptions nothing;
    nothing.decision_limit = 0;
    Literal want = RunModule(*plain, *module, arguments, nothing);
    for (const char* options :
         {"threads=1", "threads=3", "threads=1,isa=baseline", "threads=2,tier=full"}) {
      std::unique_ptr<Backend> backend = MakeCpu(options);
      Literal got = RunModule(*backend, *module, arguments);
      EXPECT_TRUE(got.BitwiseEqual(want)) << text << options;
    }
  }
}

// Each operator of kernel defects changes what a program computes, and says at which decision.
TEST(CpuDefects, KernelOperatorsBite) {
  std::unique_ptr<Module> module = MustRead(R"(HloModule m
ENTRY e {
  a = s32[40] parameter(0)
  b = s32[40] parameter(1)
  l = pred[40] compare(a, b), direction=LE
  s = s32[40] add(a, b)
  ROOT r = s32[40] select(l, s, a)
})");
  ASSERT_NE(module, nullptr);
  std::vector<Literal> arguments(2, Literal(Shape::Array(ElementType::kS32, {40})));
  for (int64_t i = 0; i < 40; ++i) {
    arguments[0].SetInteger(i, i + 1);
    arguments[1].SetInteger(i, i % 2 == 0 ? i + 1 : 7);
  }
  std::unique_ptr<Backend> backend = MakeCpu("threads=1");
  Literal want = RunModule(*backend, *module, arguments);
  for (const char* operation :
       {R"("op": "lane-mask", "parameters": {})",
        R"("op": "address-offset", "parameters": {"by": 1})",
        R"("op": "compare-predicate", "parameters": {"from": "LE", "to": "LT"})",
        R"("op": "loop-bound-offset", "parameters": {"loop": "vector", "by": -1})"}) {
    CompileOptions options;
    options.defect =
        StrCat(R"({"name": "d", "gate": "vectorize", "kind": "kernel", )", operation, "}");
    Literal got = RunModule(*backend, *module, arguments, options);
    EXPECT_FALSE(got.BitwiseEqual(want)) << operation;
    options.decision_limit = 0;  // refused, it does not bite
    EXPECT_TRUE(RunModule(*backend, *module, arguments, options).BitwiseEqual(want)) << operation;
  }
}

TEST(CpuErrors, NameTheInstruction) {
  std::unique_ptr<Backend> backend = MakeCpu();
  std::unique_ptr<Module> module = MustRead(R"(HloModule m
ENTRY e {
  p = f32[2,2] parameter(0)
  ROOT culprit = f32[2,2] custom-call(p), custom_call_target="nobody"
})");
  ASSERT_NE(module, nullptr);
  auto executable = backend->Compile(*module, {});
  ASSERT_FALSE(executable.ok());
  EXPECT_NE(executable.status().message().find("culprit"), absl::string_view::npos)
      << executable.status();
}

// Lanes meet in another order than the elements of a line.
TEST(CpuReduce, ArgmaxTakesTheFirstOfSeveralNan) {
  const std::unique_ptr<Module> module = MustRead(R"(HloModule m
pick {
  x = f32[] parameter(0)
  i = s32[] parameter(1)
  y = f32[] parameter(2)
  j = s32[] parameter(3)
  above = pred[] compare(x, y), direction=GT
  nan = pred[] compare(x, x), direction=NE
  left = pred[] or(above, nan)
  equal = pred[] compare(x, y), direction=EQ
  before = pred[] compare(i, j), direction=LT
  tie = pred[] and(equal, before)
  first = pred[] or(left, tie)
  v = f32[] select(left, x, y)
  k = s32[] select(first, i, j)
  ROOT r = (f32[], s32[]) tuple(v, k)
}
ENTRY e {
  x = f32[70] parameter(0)
  i = s32[70] iota(), iota_dimension=0
  least = f32[] constant(-inf)
  zero = s32[] constant(0)
  w = (f32[], s32[]) reduce(x, i, least, zero), dimensions={0}, to_apply=pick
  ROOT r = s32[] get-tuple-element(w), index=1
})");
  Literal x(Shape::Array(ElementType::kF32, {70}));
  for (int64_t k : {20, 35, 49}) x.SetDouble(k, std::nan(""));
  for (const char* options : {"threads=1", "threads=1,tier=full", "isa=baseline"}) {
    const std::unique_ptr<Backend> cpu = MakeCpu(options);
    EXPECT_EQ(RunModule(*cpu, *module, {x}).GetInteger(0), 20) << options;
  }
}

// Also where every trip of an outer loop ends an inner one.
TEST(CpuErrors, LoopsWithoutAnEndEndInTime) {
  const std::unique_ptr<Module> module = MustRead(R"(HloModule m
always { x = s32[] parameter(0) ROOT p = pred[] constant(true) }
below { x = s32[] parameter(0) n = s32[] constant(3) ROOT p = pred[] compare(x, n), direction=LT }
one_more { x = s32[] parameter(0) o = s32[] constant(1) ROOT y = s32[] add(x, o) }
again {
  x = s32[] parameter(0)
  z = s32[] constant(0)
  ROOT y = s32[] while(z), condition=below, body=one_more
}
ENTRY e { x = s32[] parameter(0) ROOT r = s32[] while(x), condition=always, body=again })");
  for (const char* options : {"threads=1", "threads=2,tier=full", "passes=off"}) {
    const std::unique_ptr<Backend> cpu = MakeCpu(options);
    CompileOptions compile;
    compile.limits.seconds = 0.2;
    const Literal start = MustReadLiteral("s32[]", "7");
    const absl::StatusOr<RunResult> run = CompileAndRun(*cpu, *module, {&start}, compile);
    ASSERT_FALSE(run.ok()) << options;
    EXPECT_EQ(ClassOf(run.status()), ErrorClass::kTimeout) << run.status();
  }
}

TEST(CpuErrors, RejectsWrongArguments) {
  std::unique_ptr<Backend> backend = MakeCpu();
  std::unique_ptr<Module> module =
      MustRead("HloModule m\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n");
  auto executable = backend->Compile(*module, {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  Literal wrong(Shape::Array(ElementType::kF32, {3}));
  EXPECT_FALSE((*executable)->Run({{&wrong}}).ok());
  EXPECT_FALSE((*executable)->Run({{}}).ok());
  EXPECT_FALSE((*executable)->Run({{nullptr}}).ok());
}

}  // namespace
}  // namespace assay
