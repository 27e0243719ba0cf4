// The reducer on loops: their state, their counters, and what they carry.
#include <set>

#include "fuzz/reduce/testing/reducing.h"
#include "gtest/gtest.h"

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
  ReducedText outcome = ReduceText(kLoop, HasAll({Opcode::kSqrt}));
  EXPECT_EQ(outcome.result.reduced.module->InstructionCount(), 2) << outcome.text;
}

TEST(Reduce, PrunesTheStateOfLoopsThatStay) {
  ReducedText outcome =
      ReduceText(kLoop, AnyOp([](const Instruction& at) {
                   return at.opcode() == Opcode::kWhile &&
                          AnyInstruction(*at.parent()->parent(), [](const Instruction& in) {
                            return in.opcode() == Opcode::kSqrt &&
                                   in.parent() != in.parent()->parent()->entry();
                          });
                 }));
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 16) << outcome.text;
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

// A failure may need several elements of a loop's state. Then the loop becomes the result, without
// reads of its elements, a tuple of them, or the elements that nothing needs.
TEST(Reduce, AllElementsOfATupleAreTheTuple) {
  const ReducedText outcome = ReduceText(
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

// A loop that runs in a comparator needs one element of its state, which may be the one that the
// condition reads.
TEST(Reduce, ALoopCarriesOneElement) {
  const ReducedText outcome =
      ReduceText(R"(HloModule sorted
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
                     return at.opcode() == Opcode::kWhile && at.parent() != module.entry() &&
                            HasOpcode(module, Opcode::kSort);
                   });
                 });
  // The sort and its array; its two numbers, a state and the loop; a state; a state.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 8) << outcome.text;
}

TEST(Reduce, ALoopThatIsTheResultLosesElements) {
  const ReducedText outcome =
      ReduceText(R"(HloModule loop
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
                          HasOpcode(module, Opcode::kAdd) && HasOpcode(module, Opcode::kCompare);
                 });
  // No element has to be taken out of a result that is the state itself.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 6) << outcome.text;
}

// Instructions that nothing reads leave a loop.
TEST(Reduce, WhatNothingReadsLeavesALoop) {
  const ReducedText outcome = ReduceText(R"(HloModule dead
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
                                         HasAll({Opcode::kLog, Opcode::kNegate}));
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 3) << outcome.text;
}

}  // namespace
}  // namespace assay
