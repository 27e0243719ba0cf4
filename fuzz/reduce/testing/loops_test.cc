// The reducer on loops: their state, their counters, and what they carry.
#include <set>

#include "absl/algorithm/container.h"
#include "fuzz/reduce/testing/reducing.h"
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
