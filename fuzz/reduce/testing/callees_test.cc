// The reducer on programs whose computations are called: branches, sorts, reductions, maps.
#include <algorithm>

#include "fuzz/portable.h"
#include "fuzz/reduce/reducer.h"
#include "fuzz/reduce/testing/reducing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay {
namespace {

// An op that gives a tuple may be the result as it is.
TEST(Reduce, ATupleIsAResultToo) {
  constexpr char kSort[] = R"(HloModule sorted
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT less = pred[] compare(a, b), direction=LT
}
ENTRY e {
  p = f32[5] parameter(0)
  q = s32[5] parameter(1)
  sorted = (f32[5], s32[5]) sort(p, q), dimensions={0}, to_apply=less
  first = f32[5] get-tuple-element(sorted), index=0
  ROOT negated = f32[5] negate(first)
}
)";
  ReducedText outcome = ReduceText(kSort, AnyOp([](const Instruction& at) {
                                     return at.opcode() == Opcode::kSort && at.shape().IsTuple();
                                   }));
  const Module& module = *outcome.result.reduced.module;
  EXPECT_EQ(module.entry()->root()->opcode(), Opcode::kSort) << outcome.text;
  EXPECT_LE(module.InstructionCount(), 8) << outcome.text;
}

bool HasSortWithABranch(const Module& module, const std::vector<Literal>&) {
  return AnyInstruction(module, [](const Instruction& at) {
    if (at.opcode() != Opcode::kSort) return false;
    const Computation& comparator = *at.callee();
    return std::any_of(comparator.begin(), comparator.end(), [](const Instruction* inner) {
      return inner->opcode() == Opcode::kConditional;
    });
  });
}

// A sort of three arrays, whose comparator hands all of its parameters to a branch, needs one
// array, and the branch needs none.
TEST(Reduce, OperandsThatNothingNeedsGo) {
  const ReducedText outcome = ReduceText(R"(HloModule sorted
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  e = f32[] parameter(4)
  f = f32[] parameter(5)
  l = pred[] compare(a, f), direction=LT
  m = pred[] compare(c, d), direction=LT
  ROOT o = pred[] or(l, m)
}
branch {
  t = (f32[], f32[], s32[], s32[], f32[], f32[]) parameter(0)
  a = f32[] get-tuple-element(t), index=0
  b = f32[] get-tuple-element(t), index=1
  c = s32[] get-tuple-element(t), index=2
  d = s32[] get-tuple-element(t), index=3
  e = f32[] get-tuple-element(t), index=4
  f = f32[] get-tuple-element(t), index=5
  ROOT r = pred[] call(a, b, c, d, e, f), to_apply=less
}
comparator {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  e = f32[] parameter(4)
  f = f32[] parameter(5)
  which = pred[] constant(true)
  t = (f32[], f32[], s32[], s32[], f32[], f32[]) tuple(a, b, c, d, e, f)
  ROOT r = pred[] conditional(which, t, t), true_computation=branch, false_computation=branch
}
ENTRY e {
  p = f32[5] parameter(0)
  q = s32[5] parameter(1)
  u = f32[5] negate(p)
  sorted = (f32[5], s32[5], f32[5]) sort(p, q, u), dimensions={0}, to_apply=comparator
  first = f32[5] get-tuple-element(sorted), index=0
  last = f32[5] get-tuple-element(sorted), index=2
  ROOT sum = f32[5] add(first, last)
}
)",
                                         HasSortWithABranch);
  const Module& module = *outcome.result.reduced.module;
  const Instruction* sort = module.entry()->root();
  ASSERT_EQ(sort->opcode(), Opcode::kSort) << outcome.text;
  EXPECT_EQ(sort->operand_count(), 1) << outcome.text;
  // Two of the sort, two parameters, the conditional with its selector, a branch of two each.
  EXPECT_LE(module.InstructionCount(), 8) << outcome.text;
}

// A sort by keys of another type becomes one by what it sorts.
TEST(Reduce, TheKeysOfASortGo) {
  const ReducedText outcome = ReduceText(R"(HloModule sorted
comparator {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT less = pred[] compare(d, c), direction=GT, type=TOTALORDER
}
ENTRY e {
  p = s32[5] parameter(0)
  k = f32[5] parameter(1)
  n = s32[5] negate(p)
  ROOT sorted = (s32[5], f32[5]) sort(n, k), dimensions={0}, to_apply=comparator
}
)",
                                         AnyOp([](const Instruction& at) {
                                           return at.opcode() == Opcode::kSort &&
                                                  at.operand(0)->opcode() == Opcode::kNegate &&
                                                  at.callee()->root()->opcode() == Opcode::kCompare;
                                         }));
  const Module& module = *outcome.result.reduced.module;
  EXPECT_EQ(module.entry()->root()->operand_count(), 1) << outcome.text;
  EXPECT_LE(module.InstructionCount(), 6) << outcome.text;
  EXPECT_THAT(outcome.text, testing::HasSubstr("direction=GT"));
}

// A reduction of two arrays, one of which is returned in the end, needs one array.
TEST(Reduce, OneOfTwoReductionsGoes) {
  const ReducedText outcome = ReduceText(
      R"(HloModule reduced
both {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  s = f32[] add(a, c)
  l = pred[] compare(a, c), direction=LT
  m = s32[] select(l, b, d)
  ROOT t = (f32[], s32[]) tuple(s, m)
}
ENTRY e {
  p = f32[5] parameter(0)
  q = s32[5] parameter(1)
  z = f32[] constant(0)
  y = s32[] constant(0)
  r = (f32[], s32[]) reduce(p, q, z, y), dimensions={0}, to_apply=both
  ROOT which = s32[] get-tuple-element(r), index=1
}
)",
      [](const Module& module, const std::vector<Literal>&) {
        return AnyInstruction(module, [&](const Instruction& at) {
          return at.opcode() == Opcode::kReduce &&
                 AnyInstruction(
                     module, [](const Instruction& in) { return in.opcode() == Opcode::kSelect; });
        });
      });
  const Module& module = *outcome.result.reduced.module;
  const Instruction* reduce = module.entry()->root();
  ASSERT_EQ(reduce->opcode(), Opcode::kReduce) << outcome.text;
  EXPECT_EQ(reduce->operand_count(), 2) << outcome.text;
  EXPECT_TRUE(reduce->shape().IsArray()) << outcome.text;
}

// Two reductions by equal computations need one of these; a computation with two callers goes where
// both take it in.
TEST(Reduce, ComputationsAreShared) {
  const auto reductions = [](const Module& module, const std::vector<Literal>&) {
    int64_t count = 0;
    AnyInstruction(module, [&count](const Instruction& at) {
      count += at.opcode() == Opcode::kReduce;
      return false;
    });
    return count == 2;
  };
  const ReducedText outcome = ReduceText(R"(HloModule reduced
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
product {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] multiply(a, b)
}
twice {
  a = f32[2] parameter(0)
  b = f32[2] negate(a)
  ROOT c = f32[2] exponential(b)
}
ENTRY e {
  x = f32[2,3] parameter(0)
  z = f32[] constant(0)
  y = f32[2] reduce(x, z), dimensions={1}, to_apply=sum
  u = f32[2] call(y), to_apply=twice
  v = f32[2] call(u), to_apply=twice
  ROOT w = f32[] reduce(v, z), dimensions={0}, to_apply=product
})",
                                         reductions);
  EXPECT_LE(outcome.result.reduced.module->computations().size(), 2u) << outcome.text;
  // An array, a start, two reductions and what they reduce by.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 6) << outcome.text;
}

// A computation that is called within another of its form does not become that one.
TEST(Reduce, NoComputationCallsItself) {
  const ReducedText outcome =
      ReduceText(R"(HloModule nested
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
branch {
  t = (f32[], f32[]) parameter(0)
  a = f32[] get-tuple-element(t), index=0
  b = f32[] get-tuple-element(t), index=1
  ROOT c = pred[] call(a, b), to_apply=less
}
comparator {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = pred[] compare(a, b), direction=LT
  t = (f32[], f32[]) tuple(a, b)
  ROOT d = pred[] conditional(c, t, t), true_computation=branch, false_computation=branch
}
ENTRY e {
  x = f32[3] parameter(0)
  ROOT s = f32[3] sort(x), dimensions={0}, to_apply=comparator
})",
                 HasAll({Opcode::kSort, Opcode::kConditional, Opcode::kCall}));
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 12) << outcome.text;
}

// A reduction and a map of one element are what their computations make of it.
TEST(Reduce, AnOpOnOneElementBecomesItsComputation) {
  const ReducedText outcome =
      ReduceText(R"(HloModule reduced
smaller {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] minimum(a, b)
}
rooted {
  a = f32[] parameter(0)
  ROOT r = f32[] sqrt(a)
}
larger {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] maximum(a, b)
  d = f32[1] broadcast(c), dimensions={}
  e = f32[] constant(inf)
  ROOT f = f32[] reduce(d, e), dimensions={0}, to_apply=smaller
}
ENTRY e {
  x = f32[2,3] parameter(0)
  z = f32[] constant(0)
  y = f32[] reduce(x, z), dimensions={0,1}, to_apply=larger
  ROOT w = f32[] map(y), dimensions={}, to_apply=rooted
})",
                 HasAll({Opcode::kReduce, Opcode::kMinimum, Opcode::kMaximum, Opcode::kSqrt}));
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 8) << outcome.text;
  EXPECT_FALSE(HasOpcode(*outcome.result.reduced.module, Opcode::kMap)) << outcome.text;
}

// A comparator that only needs some truth value gets it from the elements, if these are some.
TEST(Reduce, NumbersBecomeTruthValues) {
  const auto loop_compares = AnyOp([](const Instruction& at) {
    if (at.opcode() != Opcode::kSort) return false;
    const Instruction* loop = at.callee()->root();
    return loop->opcode() == Opcode::kWhile &&
           loop->callee(1)->root()->opcode() == Opcode::kConstant;
  });
  const ReducedText outcome = ReduceText(R"(HloModule compared
goes_on {
  p = pred[] parameter(0)
  n = pred[] not(p)
  ROOT r = pred[] not(n)
}
step {
  p = pred[] parameter(0)
  ROOT c = pred[] constant(false)
}
comparator {
  a = c64[] parameter(0)
  b = c64[] parameter(1)
  x = f32[] real(a)
  y = f32[] real(b)
  l = pred[] compare(x, y), direction=LT
  ROOT w = pred[] while(l), condition=goes_on, body=step
}
ENTRY e {
  x = c64[3] constant({(1, 2), (0, 1), (0, 0)})
  ROOT r = c64[3] sort(x), dimensions={0}, to_apply=comparator
})",
                                         loop_compares);
  // An array and its sort, two elements and the loop, its condition, and its body, which keeps its
  // constant.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 8) << outcome.text;
}

// A sort may find all equal: then one array of two is enough to see whether they stay in order.
TEST(Reduce, ComparatorsMayFindAllEqual) {
  const ReducedText outcome = ReduceText(
      R"(HloModule equal
comparator {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT l = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = s32[3] parameter(0)
  y = f32[3] parameter(1)
  ROOT r = (s32[3], f32[3]) sort(x, y), dimensions={0}, is_stable=true, to_apply=comparator
})",
      [](const Module& module, const std::vector<Literal>& inputs) {
        return HasOpcode(module, Opcode::kSort) && UnportableUses(module, inputs).Total() == 0;
      });
  // An array and the sort; two elements and what is said of them.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 5) << outcome.text;
}

// A wrong choice among numbers may be as wrong among truth values.
TEST(Reduce, SelectedNumbersBecomeTruthValues) {
  const ReducedText outcome =
      ReduceText(R"(HloModule selected
select {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LE
}
scatter {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[7,2] parameter(0)
  y = f32[6,3] parameter(1)
  z = f32[] constant(0)
  ROOT s = f32[7,2] select-and-scatter(x, y, z), window={size=3x2 pad=0_1x2_0}, select=select, scatter=scatter
})",
                 [](const Module& module, const std::vector<Literal>& inputs) {
                   return HasOpcode(module, Opcode::kSelectAndScatter) &&
                          UnportableUses(module, inputs).Total() == 0 &&
                          module.entry()->root()->shape().ElementCount() > 1;
                 });
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 7) << outcome.text;
}

// No truth values count up, so that an iota in the way becomes an array of one.
TEST(Reduce, AnIotaIsNoTruthValue) {
  const ReducedText outcome = ReduceText(R"(HloModule iota
select {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT n = pred[] constant(false)
}
scatter {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT m = s32[] maximum(a, b)
}
ENTRY e {
  x = s32[4] iota(), iota_dimension=0
  y = s32[0] constant({ })
  z = s32[] constant(0)
  ROOT s = s32[4] select-and-scatter(x, y, z), window={size=1 pad=0_-4}, select=select, scatter=scatter
})",
                                         [](const Module& module, const std::vector<Literal>&) {
                                           const Instruction* root = module.entry()->root();
                                           return root->opcode() == Opcode::kSelectAndScatter &&
                                                  root->shape().ElementCount() > 1 &&
                                                  root->operand(0)->opcode() != Opcode::kParameter;
                                         });
  // A scalar and the arrays of it and of none, the op, two elements.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 6) << outcome.text;
}

// A compiler may die of what nothing reads, which then may not go with the first step.
TEST(Reduce, WhatNothingReadsMayBeNeeded) {
  const ReducedText outcome =
      ReduceText(R"(HloModule unread
least {
  a = s8[] parameter(0)
  b = s8[] parameter(1)
  ROOT r = s8[] minimum(a, b)
}
copied {
  a = s8[4,3] parameter(0)
  ROOT r = s8[4,3] negate(a)
}
ENTRY e {
  x = s8[4,3] parameter(0)
  y = s8[] parameter(1)
  n = s8[4,3] negate(x)
  u = s8[4] reduce(n, y), dimensions={1}, to_apply=least
  v = s8[4] negate(u)
  w = s8[4,3] not(x)
  z = s8[4,3] add(w, n)
  started = ((s8[4,3]), s8[4,3], u32[]) async-start(w), calls=copied
  running = ((s8[4,3]), s8[4,3], u32[]) async-update(started)
  done = s8[4,3] async-done(running)
  ROOT t = (s8[4,3], s8[4,3]) tuple(z, n)
})",
                 AnyOp([](const Instruction& at) {
                   return at.opcode() == Opcode::kReduce && at.parent()->root() != &at &&
                          (at.users().empty() || at.users()[0]->users().empty()) &&
                          at.parent()->root()->opcode() != Opcode::kNegate;
                 }));
  // Something is the result; the reduction has an array, a start, and what it reduces by.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 5) << outcome.text;
}

}  // namespace
}  // namespace assay
