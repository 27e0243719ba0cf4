// The reducer on programs whose computations are called: loops, branches, sorts, reductions.
#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "fuzz/portable.h"
#include "fuzz/reduce/reducer.h"
#include "fuzz/reduce/testing/reducing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"

namespace assay {
namespace {

constexpr char kLoop[] = R"(HloModule loop

cond {
  s = (s32[], f32[4]{0}, s32[], f32[4]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  limit = s32[] constant(17)
  ROOT less = pred[] compare(i, limit), direction=LT
}

body {
  s = (s32[], f32[4]{0}, s32[], f32[4]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4]{0} get-tuple-element(s), index=1
  step = s32[] get-tuple-element(s), index=2
  w = f32[4]{0} get-tuple-element(s), index=3
  next = s32[] add(i, step)
  y = f32[4]{0} multiply(x, w)
  z = f32[4]{0} sqrt(y)
  ROOT t = (s32[], f32[4]{0}, s32[], f32[4]{0}) tuple(next, z, step, w)
}

inner {
  v = f32[4]{0} parameter(0)
  ROOT n = f32[4]{0} negate(v)
}

ENTRY e {
  x = f32[4]{0} parameter(0)
  w = f32[4]{0} parameter(1)
  c = f32[4]{0} call(x), to_apply=inner
  zero = s32[] constant(0)
  one = s32[] constant(2)
  init = (s32[], f32[4]{0}, s32[], f32[4]{0}) tuple(zero, c, one, w)
  loop = (s32[], f32[4]{0}, s32[], f32[4]{0}) while(init), condition=cond, body=body
  r = f32[4]{0} get-tuple-element(loop), index=1
  u = f32[4]{0} get-tuple-element(loop), index=3
  ROOT sum = f32[4]{0} add(r, u)
}
)";

TEST(Reduce, TakesLoopsApart) {
  Outcome outcome = ReduceText(kLoop, [](const Module& module, const std::vector<Literal>&) {
    return HasOpcode(module, Opcode::kSqrt);
  });
  EXPECT_EQ(outcome.result.reduced.module->InstructionCount(), 2) << outcome.text;
}

TEST(Reduce, PrunesTheStateOfLoopsThatStay) {
  Outcome outcome = ReduceText(kLoop, [](const Module& module, const std::vector<Literal>&) {
    return AnyInstruction(module, [](const Instruction& at) {
      return at.opcode() == Opcode::kWhile &&
             AnyInstruction(*at.parent()->parent(), [](const Instruction& in) {
               return in.opcode() == Opcode::kSqrt && in.parent() != in.parent()->parent()->entry();
             });
    });
  });
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 16) << outcome.text;
}

// A step that stands in the state of a loop is as good in its body.
TEST(Reduce, WhatALoopDoesNotChangeLeavesItsState) {
  constexpr char kCounting[] = R"(HloModule counting
less {
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  end = s32[] constant(9)
  ROOT more = pred[] compare(i, end), direction=LT
}
next {
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  by = s32[] get-tuple-element(s), index=1
  n = s32[] add(i, by)
  ROOT t = (s32[], s32[]) tuple(n, by)
}
ENTRY e {
  zero = s32[] constant(0)
  three = s32[] constant(3)
  init = (s32[], s32[]) tuple(zero, three)
  loop = (s32[], s32[]) while(init), condition=less, body=next
  ROOT last = s32[] get-tuple-element(loop), index=0
}
)";
  // A loop that adds three, which stands in its body or in its state.
  Outcome outcome = ReduceText(kCounting, [](const Module& module, const std::vector<Literal>&) {
    const auto is_three = [&module](const Instruction* at) {
      if (at->opcode() == Opcode::kGetTupleElement) {
        const std::vector<Instruction*> loops = module.Callers(at->parent());
        if (loops.size() != 1 || loops[0]->operand(0)->opcode() != Opcode::kTuple) return false;
        at = loops[0]->operand(0)->operand(at->tuple_index());
      }
      return at->opcode() == Opcode::kConstant && IsInteger(at->shape().element_type()) &&
             at->literal()->GetInteger(0) == 3;
    };
    return AnyInstruction(module, [&](const Instruction& at) {
      return at.opcode() == Opcode::kAdd && at.parent() != module.entry() &&
             (is_three(at.operand(0)) || is_three(at.operand(1)));
    });
  });
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 8) << outcome.text;
}

// Where the failure is in an op with a tuple for its result, no element has to be taken out.
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
  Outcome outcome = ReduceText(kSort, [](const Module& module, const std::vector<Literal>&) {
    return AnyInstruction(module, [](const Instruction& at) {
      return at.opcode() == Opcode::kSort && at.shape().IsTuple();
    });
  });
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

// Of a sort of three arrays whose comparator hands all of its parameters to a branch one array is
// enough, and the branch needs none.
TEST(Reduce, OperandsThatNothingNeedsGo) {
  const Outcome outcome = ReduceText(R"(HloModule sorted
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

bool GivesTwoElementsOfALoop(const Module& module, const std::vector<Literal>&) {
  const Instruction* root = module.entry()->root();
  if (root->opcode() == Opcode::kWhile) return root->shape().elements().size() > 1;
  std::set<int64_t> elements;
  for (const Instruction* output : root->operands()) {
    const bool is_element = output->opcode() == Opcode::kGetTupleElement &&
                            output->operand(0)->opcode() == Opcode::kWhile;
    if (is_element) elements.insert(output->tuple_index());
  }
  return elements.size() > 1;
}

// What is wrong may need several elements of a loop's state, and then the loop is the result: with
// it go the elements and the tuple that were taken out and made, and what the state has besides.
TEST(Reduce, AllElementsOfATupleAreTheTuple) {
  const Outcome outcome = ReduceText(
      R"(HloModule looped
condition {
  t = (s32[], s32[2], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], s32[2], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  a = s32[2] get-tuple-element(t), index=1
  k = s32[] get-tuple-element(t), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  m = s32[] multiply(k, k)
  ROOT s = (s32[], s32[2], s32[]) tuple(j, a, m)
}
ENTRY e {
  zero = s32[] constant(0)
  p = s32[2] parameter(0)
  q = s32[] parameter(1)
  t = (s32[], s32[2], s32[]) tuple(zero, p, q)
  w = (s32[], s32[2], s32[]) while(t), condition=condition, body=body
  a = s32[2] get-tuple-element(w), index=1
  i = s32[] get-tuple-element(w), index=0
  ROOT r = (s32[2], s32[]) tuple(a, i)
}
)",
      GivesTwoElementsOfALoop);
  const Module& module = *outcome.result.reduced.module;
  EXPECT_EQ(module.entry()->root()->opcode(), Opcode::kWhile) << outcome.text;
  EXPECT_LE(module.InstructionCount(), 8) << outcome.text;
}

// A sort by keys of another type becomes one by what it sorts.
TEST(Reduce, TheKeysOfASortGo) {
  const Outcome outcome = ReduceText(R"(HloModule sorted
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
                                     [](const Module& module, const std::vector<Literal>&) {
                                       return AnyInstruction(module, [](const Instruction& at) {
                                         return at.opcode() == Opcode::kSort &&
                                                at.operand(0)->opcode() == Opcode::kNegate &&
                                                at.callee()->root()->opcode() == Opcode::kCompare;
                                       });
                                     });
  const Module& module = *outcome.result.reduced.module;
  EXPECT_EQ(module.entry()->root()->operand_count(), 1) << outcome.text;
  EXPECT_LE(module.InstructionCount(), 6) << outcome.text;
  EXPECT_THAT(outcome.text, testing::HasSubstr("direction=GT"));
}

// The same of a reduction of two arrays, whose computation returns one of them in the end.
TEST(Reduce, OneOfTwoReductionsGoes) {
  const Outcome outcome = ReduceText(R"(HloModule reduced
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
                                                AnyInstruction(module, [](const Instruction& in) {
                                                  return in.opcode() == Opcode::kSelect;
                                                });
                                       });
                                     });
  const Module& module = *outcome.result.reduced.module;
  const Instruction* reduce = module.entry()->root();
  ASSERT_EQ(reduce->opcode(), Opcode::kReduce) << outcome.text;
  EXPECT_EQ(reduce->operand_count(), 2) << outcome.text;
  EXPECT_TRUE(reduce->shape().IsArray()) << outcome.text;
}

// Of loops that run in a comparator one element of the state is enough, and that may be what the
// condition reads.
TEST(Reduce, ALoopCarriesOneElement) {
  const Outcome outcome = ReduceText(R"(HloModule sorted
condition {
  s = (f32[], pred[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=2
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
trip {
  s = (f32[], pred[], s32[]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  l = pred[] compare(x, x), direction=LT
  i = s32[] get-tuple-element(s), index=2
  o = s32[] constant(1)
  a = s32[] add(i, o)
  ROOT t = (f32[], pred[], s32[]) tuple(x, l, a)
}
comparator {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  f = pred[] constant(false)
  z = s32[] constant(0)
  s = (f32[], pred[], s32[]) tuple(a, f, z)
  w = (f32[], pred[], s32[]) while(s), condition=condition, body=trip
  ROOT r = pred[] get-tuple-element(w), index=1
}
ENTRY e {
  x = f32[2] parameter(0)
  ROOT s = f32[2] sort(x), dimensions={0}, to_apply=comparator
})",
                                     [](const Module& module, const std::vector<Literal>&) {
                                       return AnyInstruction(module, [&](const Instruction& at) {
                                         return at.opcode() == Opcode::kWhile &&
                                                at.parent() != module.entry() &&
                                                HasOpcode(module, Opcode::kSort);
                                       });
                                     });
  // The sort and its array; its two numbers, a state and the loop; a state; a state.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 8) << outcome.text;
}

TEST(Reduce, ALoopThatIsTheResultLosesElements) {
  const Outcome outcome = ReduceText(R"(HloModule loop
condition {
  s = (f32[4], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
trip {
  s = (f32[4], s32[]) parameter(0)
  x = f32[4] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  o = s32[] constant(1)
  a = s32[] add(i, o)
  ROOT t = (f32[4], s32[]) tuple(x, a)
}
ENTRY e {
  x = f32[4] parameter(0)
  i = s32[] parameter(1)
  s = (f32[4], s32[]) tuple(x, i)
  ROOT w = (f32[4], s32[]) while(s), condition=condition, body=trip
})",
                                     [](const Module& module, const std::vector<Literal>&) {
                                       return module.entry()->root()->opcode() == Opcode::kWhile &&
                                              HasOpcode(module, Opcode::kAdd) &&
                                              HasOpcode(module, Opcode::kCompare);
                                     });
  // No element has to be taken out of a result that is the state itself.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 6) << outcome.text;
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
  const Outcome outcome = ReduceText(R"(HloModule reduced
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

// The program has a loop, and one of its numbers becomes itself twice, and not more often.
bool RunsOnce(const Module& module, const std::vector<Literal>& inputs) {
  if (!HasOpcode(module, Opcode::kWhile) || inputs.size() != 1) return false;
  if (!inputs[0].shape().IsArray() || inputs[0].element_type() != ElementType::kF32) return false;
  Limits limits;
  limits.steps = 1000;
  const absl::StatusOr<Literal> value = MakeOracle()->Evaluate(module, {&inputs[0]}, limits);
  if (!value.ok()) return false;
  const double before = inputs[0].GetDouble(0);
  const auto is_twice = [before](const Literal& after) {
    return after.shape().IsArray() && IsFloat(after.element_type()) &&
           after.GetDouble(0) == 2 * before;
  };
  return before != 0 && (is_twice(*value) || absl::c_any_of(value->elements(), is_twice));
}

// A body that must run once needs no counter: what it computes ends the loop.
TEST(Reduce, ALoopNeedsNoCounter) {
  const Outcome outcome = ReduceText(R"(HloModule reduced
few {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(1)
  ROOT c = pred[] compare(i, n), direction=LT
}
trip {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[] get-tuple-element(s), index=1
  y = f32[] add(x, x)
  ROOT t = (s32[], f32[]) tuple(next, y)
}
ENTRY e {
  x = f32[] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[]) tuple(zero, x)
  ROOT loop = (s32[], f32[]) while(init), condition=few, body=trip
})",
                                     RunsOnce);
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 7) << outcome.text;
}

// A reduction and a map of one element are what their computations make of it.
TEST(Reduce, AnOpOnOneElementBecomesItsComputation) {
  const Outcome outcome = ReduceText(R"(HloModule reduced
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
                                     [](const Module& module, const std::vector<Literal>&) {
                                       return HasOpcode(module, Opcode::kReduce) &&
                                              HasOpcode(module, Opcode::kMinimum) &&
                                              HasOpcode(module, Opcode::kMaximum) &&
                                              HasOpcode(module, Opcode::kSqrt);
                                     });
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 8) << outcome.text;
  EXPECT_FALSE(HasOpcode(*outcome.result.reduced.module, Opcode::kMap)) << outcome.text;
}

// A comparator that only needs some truth value gets it from the elements, if these are some.
TEST(Reduce, NumbersBecomeTruthValues) {
  const auto loop_compares = [](const Module& module, const std::vector<Literal>&) {
    return AnyInstruction(module, [](const Instruction& at) {
      if (at.opcode() != Opcode::kSort) return false;
      const Instruction* loop = at.callee()->root();
      return loop->opcode() == Opcode::kWhile &&
             loop->callee(1)->root()->opcode() == Opcode::kConstant;
    });
  };
  const Outcome outcome = ReduceText(R"(HloModule compared
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
  // What is sorted and the sort, two elements and the loop, what it asks, and what it does, which
  // keeps its constant.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 8) << outcome.text;
}

// A sort may find all equal: then one array of two is enough to see whether they stay in order.
TEST(Reduce, ComparatorsMayFindAllEqual) {
  const Outcome outcome = ReduceText(R"(HloModule equal
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
                                       return HasOpcode(module, Opcode::kSort) &&
                                              UnportableUses(module, inputs).Total() == 0;
                                     });
  // An array and the sort; two elements and what is said of them.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 5) << outcome.text;
}

// What is wrong with a choice may be so with one of truth values, which need one computation.
TEST(Reduce, SelectedNumbersBecomeTruthValues) {
  const Outcome outcome = ReduceText(R"(HloModule selected
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
  const Outcome outcome = ReduceText(R"(HloModule iota
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

// Each of the two calls alone would make the program longer.
TEST(Reduce, SharedCalleesAreTakenInTogether) {
  const Outcome outcome = ReduceText(R"(HloModule shared
callee {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  c = f32[2] multiply(a, b)
  ROOT d = f32[2] atan2(c, b)
}
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] call(x, x), to_apply=callee
  ROOT z = f32[2] call(y, x), to_apply=callee
})",
                                     [](const Module& module, const std::vector<Literal>&) {
                                       int64_t weight = 0;
                                       for (const Instruction* at : module.entry()->PostOrder()) {
                                         const bool calls = at->opcode() == Opcode::kCall;
                                         const Computation* in = calls ? at->callee() : nullptr;
                                         weight += at->opcode() == Opcode::kAtan2;
                                         if (in == nullptr) continue;
                                         for (const Instruction* inner : *in)
                                           weight += inner->opcode() == Opcode::kAtan2;
                                       }
                                       return weight >= 2;
                                     });
  EXPECT_FALSE(HasOpcode(*outcome.result.reduced.module, Opcode::kCall)) << outcome.text;
}

// A compiler may die of what nothing reads, which then may not go with the first step.
TEST(Reduce, WhatNothingReadsMayBeNeeded) {
  const Outcome outcome =
      ReduceText(R"(HloModule unread
least {
  a = s8[] parameter(0)
  b = s8[] parameter(1)
  ROOT r = s8[] minimum(a, b)
}
ENTRY e {
  x = s8[4,3] parameter(0)
  y = s8[] parameter(1)
  n = s8[4,3] negate(x)
  u = s8[4] reduce(n, y), dimensions={1}, to_apply=least
  v = s8[4] negate(u)
  w = s8[4,3] not(x)
  z = s8[4,3] add(w, n)
  ROOT t = (s8[4,3], s8[4,3]) tuple(z, n)
})",
                 [](const Module& module, const std::vector<Literal>&) {
                   return AnyInstruction(module, [](const Instruction& at) {
                     return at.opcode() == Opcode::kReduce && at.parent()->root() != &at &&
                            (at.users().empty() || at.users()[0]->users().empty()) &&
                            at.parent()->root()->opcode() != Opcode::kNegate;
                   });
                 });
  // Something is the result; the reduction has an array, a start, and what it reduces by.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 5) << outcome.text;
}

// An element of a loop's state that has to be there may be another one once more.
TEST(Reduce, LoopStateIsRepeated) {
  const Outcome outcome = ReduceText(R"(HloModule repeated
condition {
  s = (u32[], s32[]) parameter(0)
  i = u32[] get-tuple-element(s), index=0
  n = u32[] constant(0)
  ROOT r = pred[] compare(i, n), direction=GT
}
trip {
  s = (u32[], s32[]) parameter(0)
  i = u32[] get-tuple-element(s), index=0
  n = u32[] constant(1)
  j = u32[] subtract(i, n)
  c = s32[] constant(7)
  ROOT t = (u32[], s32[]) tuple(j, c)
}
ENTRY e {
  i = u32[] constant(12)
  c = s32[] constant(3)
  s = (u32[], s32[]) tuple(i, c)
  ROOT w = (u32[], s32[]) while(s), condition=condition, body=trip
})",
                                     [](const Module& module, const std::vector<Literal>&) {
                                       const Instruction* loop = module.entry()->root();
                                       return loop->opcode() == Opcode::kWhile &&
                                              loop->shape().IsTuple() &&
                                              loop->shape().elements().size() == 2 &&
                                              HasOpcode(module, Opcode::kCompare) &&
                                              HasOpcode(module, Opcode::kSubtract);
                                     });
  // The condition, the trip, and a start, its tuple and the loop.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 12) << outcome.text;
}

// What nothing reads within a loop leaves it.
TEST(Reduce, WhatNothingReadsLeavesALoop) {
  const Outcome outcome =
      ReduceText(R"(HloModule dead
condition {
  s = (f32[4], s32[]) parameter(0)
  ROOT r = pred[] constant(false)
}
trip {
  s = (f32[4], s32[]) parameter(0)
  x = f32[4] get-tuple-element(s), index=0
  l = f32[4] log(x)
  i = s32[] constant(1)
  ROOT t = (f32[4], s32[]) tuple(x, i)
}
ENTRY e {
  x = f32[4] parameter(0)
  i = s32[] parameter(1)
  s = (f32[4], s32[]) tuple(x, i)
  w = (f32[4], s32[]) while(s), condition=condition, body=trip
  y = f32[4] get-tuple-element(w), index=0
  ROOT n = f32[4] negate(x)
})",
                 [](const Module& module, const std::vector<Literal>&) {
                   return HasOpcode(module, Opcode::kLog) && HasOpcode(module, Opcode::kNegate);
                 });
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 3) << outcome.text;
}

}  // namespace
}  // namespace assay
