// The reducer on programs whose smallest form is known.
#include "fuzz/reduce/reducer.h"

#include <algorithm>
#include <csignal>

#include "fuzz/generator/generate.h"
#include "fuzz/reduce/command_predicate.h"
#include "fuzz/reduce/testing/reducing.h"
#include "gtest/gtest.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr char kNestedSlices[] =
    R"(HloModule nested, entry_computation_layout={(s16[9,7,5]{2,1,0}, u8[], s16[9,7,5]{2,1,0}, u8[])->(s16[10,3]{1,0}, s16[4,3,2]{2,1,0}, f32[9,7,5]{2,1,0})}

add {
  a = s16[] parameter(0)
  b = s16[] parameter(1)
  ROOT s = s16[] add(a, b)
}

ENTRY e {
  p = s16[9,7,5]{2,1,0} parameter(0)
  i = u8[] parameter(1)
  q = s16[9,7,5]{2,1,0} parameter(2)
  j = u8[] parameter(3)
  sum = s16[9,7,5]{2,1,0} add(p, q)
  reversed = s16[9,7,5]{2,1,0} reverse(sum), dimensions={0,2}
  one = u8[] constant(1)
  k = u8[] add(j, one)
  outer = s16[7,6,4]{2,1,0} dynamic-slice(reversed, i, k, one), dynamic_slice_sizes={7,6,4}
  inner = s16[4,3,2]{2,1,0} dynamic-slice(outer, j, i, k), dynamic_slice_sizes={4,3,2}
  zero = s16[] constant(0)
  padded = s16[5,3,2]{2,1,0} pad(inner, zero), padding=1_0x0_0x0_0
  total = s16[5,3]{1,0} reduce(padded, zero), dimensions={2}, to_apply=add
  twice = s16[10,3]{1,0} concatenate(total, total), dimensions={0}
  float = f32[9,7,5]{2,1,0} convert(p)
  ROOT t = (s16[10,3]{1,0}, s16[4,3,2]{2,1,0}, f32[9,7,5]{2,1,0}) tuple(twice, inner, float)
}
)";

bool HasNestedDynamicSlices(const Module& module, const std::vector<Literal>&) {
  return AnyInstruction(module, [](const Instruction& at) {
    return at.opcode() == Opcode::kDynamicSlice && at.operand(0)->opcode() == Opcode::kDynamicSlice;
  });
}

// Another compiler gives back an array that has the size of the bound.
TEST(Reduce, AnArrayOfRunTimeSizeDoesNotBecomeTheResult) {
  const ReducedText outcome = ReduceText(
      R"(HloModule sized
add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b)
}
ENTRY main {
  x = s32[6,2] parameter(0)
  n = s32[] constant(3)
  z = s32[] constant(0)
  y = s32[6,2] negate(x)
  sized = s32[<=6,2] set-dimension-size(y, n), dimensions={0}
  ROOT sum = s32[2] reduce(sized, z), dimensions={0}, to_apply=add
})",
      AnyOp([](const Instruction& at) { return at.opcode() == Opcode::kSetDimensionSize; }));
  const Module& reduced = *outcome.result.reduced.module;
  EXPECT_FALSE(reduced.entry()->root()->shape().HasDynamicDimension()) << outcome.text;
  EXPECT_FALSE(AnyInstruction(reduced, [](const Instruction& at) {
    return at.opcode() == Opcode::kNegate;
  })) << outcome.text;
}

// A reduction of what has constant sizes of run time, each of which is its whole dimension.
bool ReducesWhatHasASizeOfRunTime(const Module& module, const std::vector<Literal>&) {
  return AnyInstruction(module, [](const Instruction& at) {
    if (at.opcode() != Opcode::kReduce) return false;
    const Instruction& sized = *at.operand(0);
    if (sized.opcode() != Opcode::kDynamicReshape || !sized.shape().HasDynamicDimension())
      return false;
    for (int64_t d = 0; d < sized.shape().rank(); ++d) {
      const Instruction& size = *sized.operand(d + 1);
      if (size.opcode() != Opcode::kConstant ||
          size.literal()->GetInteger(0) != sized.shape().dimension(d))
        return false;
    }
    return true;
  });
}

// Each size is an operand, which goes with its dimension.
TEST(Reduce, SizesOfRunTimeGoWithTheirDimensions) {
  const ReducedText outcome = ReduceText(R"(HloModule sized
add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b)
}
ENTRY main {
  x = s32[10,7,6,3] parameter(0)
  one = s32[] constant(1)
  ten = s32[] constant(10)
  seven = s32[] constant(7)
  six = s32[] constant(6)
  three = s32[] constant(3)
  z = s32[] constant(0)
  sized = s32[1,10,7,<=6,3] dynamic-reshape(x, one, ten, seven, six, three)
  ROOT sum = s32[1,10,7,3] reduce(sized, z), dimensions={3}, to_apply=add
})",
                                         ReducesWhatHasASizeOfRunTime);
  const Module& reduced = *outcome.result.reduced.module;
  EXPECT_LE(reduced.InstructionCount(), 7) << outcome.text;
  EXPECT_EQ(reduced.entry()->root()->operand(0)->shape().rank(), 1) << outcome.text;
  EXPECT_TRUE(ReducesWhatHasASizeOfRunTime(reduced, {})) << outcome.text;
}

TEST(Reduce, NestedDynamicSlicesToFourInstructions) {
  ReducedText outcome = ReduceText(kNestedSlices, HasNestedDynamicSlices);
  const Module& module = *outcome.result.reduced.module;
  EXPECT_LE(module.InstructionCount(), 4) << outcome.text;
  EXPECT_LE(outcome.result.progress.elements, 6) << outcome.text;
  EXPECT_EQ(module.entry()->root()->shape().element_type(), ElementType::kS32) << outcome.text;
}

// A candidate that a process dies of does not show the failure.
TEST(Reduce, OnSeveralCoresAlike) {
  const auto predicate = [](const Module& module, const std::vector<Literal>& inputs) {
    if (module.InstructionCount() == 7) raise(SIGKILL);
    return HasNestedDynamicSlices(module, inputs);
  };
  const std::unique_ptr<Module> module = Parse(kNestedSlices);
  ReduceOptions options;
  options.jobs = 3;
  int64_t told = 0;
  options.best = [&told](const ReduceCase&) { ++told; };
  const absl::StatusOr<ReduceResult> result = Reduce(*module, Inputs(*module), predicate, options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->complete);
  EXPECT_EQ(told, result->progress.accepted);
  EXPECT_LE(result->reduced.module->InstructionCount(), 4);
  EXPECT_TRUE(HasNestedDynamicSlices(*result->reduced.module, result->reduced.inputs));
}

// The first candidate in order that will do is taken, however many are tried at once.
TEST(Reduce, SeveralCoresFindTheSame) {
  for (uint64_t i = 0; i < 24; ++i) {
    const Case made = GenerateCase(78, i);
    const Opcode wanted = (*made.module->entry()->begin())->opcode();
    int64_t fewest = 1 + static_cast<int64_t>(i % 3);  // of them, so that some steps are refused
    const auto needs = [wanted, fewest](const Module& module, const std::vector<Literal>&) {
      int64_t count = 0;
      AnyInstruction(module, [&](const Instruction& at) {
        count += at.opcode() == wanted || at.operand_count() > 1;
        return false;
      });
      return count >= fewest;
    };
    std::vector<std::string> texts;
    for (int jobs : {1, 2}) {
      ReduceOptions options;
      options.jobs = jobs;
      const absl::StatusOr<ReduceResult> result = Reduce(*made.module, made.inputs, needs, options);
      texts.emplace_back(result.ok() ? WriteModule(*result->reduced.module, WriteOptions::Short())
                                     : std::string(result.status().message()));
    }
    EXPECT_EQ(texts[0], texts[1]) << i;
  }
}

// A long program is cut in halves, not tried from its beginning on.
TEST(Reduce, LongProgramsLoseHalves) {
  constexpr int64_t kLength = 3000;
  std::string text = "HloModule long\nENTRY e {\n  x0 = f32[2] parameter(0)\n";
  for (int64_t i = 1; i <= kLength; ++i) {
    StrAppend(&text, "  x", i, " = f32[2] ", i == 1000 ? "sqrt" : "negate", "(x", i - 1, ")\n");
  }
  StrAppend(&text, "  ROOT y = f32[2] exponential(x", kLength, ")\n}\n");
  const ReducedText outcome = ReduceText(text, HasAll({Opcode::kSqrt}));
  EXPECT_EQ(outcome.result.reduced.module->InstructionCount(), 2) << outcome.text;
  EXPECT_LE(outcome.result.progress.probes, 60) << outcome.text;
}

// A command is asked about files that read back, and one that hangs says no.
TEST(Reduce, AnotherProgramDecides) {
  const std::unique_ptr<Module> module = Parse(kNestedSlices);
  const std::vector<Literal> inputs = Inputs(*module);
  EXPECT_TRUE(MakeCommandPredicate("grep -q 'dynamic-slice(' {}", 20)(*module, inputs));
  EXPECT_TRUE(MakeCommandPredicate("grep -q ENTRY", 20)(*module, inputs)) << "the last argument";
  EXPECT_TRUE(
      MakeCommandPredicate("test -s \"$(echo {} | sed 's/hlo$/npz/')\"", 20)(*module, inputs));
  EXPECT_FALSE(MakeCommandPredicate("grep -q nowhere {}", 20)(*module, inputs));
  EXPECT_FALSE(MakeCommandPredicate("sleep 60 # {}", 0.2)(*module, inputs));
  const ReducedText outcome =
      ReduceText(kNestedSlices, MakeCommandPredicate("grep -q 'dynamic-slice(' {}", 20));
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 3) << outcome.text;
}

TEST(Reduce, KeepsTheSizesThatMatter) {
  // The inner slice must be able to start late: more than one place for it.
  auto predicate = AnyOp([](const Instruction& at) {
    return at.opcode() == Opcode::kDynamicSlice &&
           at.operand(0)->opcode() == Opcode::kDynamicSlice && at.shape().rank() > 0 &&
           at.operand(0)->shape().dimension(0) > at.shape().dimension(0) &&
           at.operand(0)->operand(0)->shape().dimension(0) > at.operand(0)->shape().dimension(0);
  });
  ReducedText outcome = ReduceText(kNestedSlices, predicate);
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 4) << outcome.text;
  EXPECT_EQ(outcome.result.reduced.module->entry()->root()->shape().rank(), 1) << outcome.text;
  int64_t largest = 0;
  for (const Literal& input : outcome.result.reduced.inputs) {
    largest = std::max(largest, input.element_count());
  }
  EXPECT_EQ(largest, 3) << outcome.text;
}

// A bug that needs a size is found by halving: each program that is tried is compiled.
TEST(Reduce, FindsTheLeastSizeInFewPrograms) {
  constexpr char kLong[] = R"(HloModule long

ENTRY e {
  x = s32[48351] parameter(0)
  y = s32[48351] parameter(1)
  ROOT a = s32[48351] add(x, y)
})";
  auto predicate = AnyOp([](const Instruction& at) {
    return at.opcode() == Opcode::kAdd && at.shape().ElementCount() >= 13717;
  });
  const ReducedText outcome = ReduceText(kLong, predicate);
  EXPECT_EQ(outcome.result.reduced.module->entry()->root()->shape().dimension(0), 13717);
  EXPECT_LE(outcome.result.progress.probes, 200) << outcome.text;
}

TEST(Reduce, DropsDrawsAndCollectivesThatNothingReads) {
  constexpr char kText[] = R"(HloModule unread

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

callee {
  p = f32[4] parameter(0)
  zero = f32[] constant(0)
  drawn = f32[4] rng(zero, zero), distribution=rng_uniform
  ROOT n = f32[4] negate(p)
}

ENTRY e {
  p = f32[4] parameter(0)
  zero = f32[] constant(0)
  one = f32[] constant(1)
  drawn = f32[8] rng(zero, one), distribution=rng_uniform
  all = f32[4] all-reduce(p), replica_groups={}, to_apply=add
  n = f32[4] call(p), to_apply=callee
  ROOT c = f32[4] cosine(n)
}
)";
  // Somebody needs the call to stay.
  const auto predicate = AnyOp([](const Instruction& at) {
    return at.opcode() == Opcode::kCosine && at.operand(0)->opcode() == Opcode::kCall;
  });
  ReducedText outcome = ReduceText(kText, predicate);
  const Module& module = *outcome.result.reduced.module;
  const auto is_effect = [](const Instruction& at) {
    return at.opcode() == Opcode::kRng || at.opcode() == Opcode::kAllReduce;
  };
  EXPECT_FALSE(AnyInstruction(module, is_effect)) << outcome.text;
}

TEST(Reduce, KeepsTheDevicesThatMeet) {
  constexpr char kText[] =
      R"(HloModule met, is_scheduled=true, replica_count=2, num_partitions=3

ENTRY e {
  p = f32[4] parameter(0)
  n = f32[4] negate(p)
  ROOT c = f32[4] collective-permute(n), source_target_pairs={{0,1}}
}
)";
  const auto predicate = [](const Module& module, const std::vector<Literal>&) {
    return module.config().replica_count == 2 && module.config().num_partitions == 3;
  };
  ReducedText outcome = ReduceText(kText, predicate);
  EXPECT_FALSE(outcome.result.reduced.module->config().is_scheduled) << outcome.text;
}

TEST(Reduce, IsDeterministic) {
  EXPECT_EQ(ReduceText(kNestedSlices, HasNestedDynamicSlices).text,
            ReduceText(kNestedSlices, HasNestedDynamicSlices).text);
}

TEST(Reduce, SimplifiesInputValues) {
  auto predicate = [](const Module& module, const std::vector<Literal>& inputs) {
    bool pads = AnyInstruction(
        module, [](const Instruction& at) { return at.opcode() == Opcode::kNegate; });
    if (!pads || inputs.empty() || !inputs[0].shape().IsArray()) return false;
    for (int64_t i = 0; i < inputs[0].element_count(); ++i) {
      if (inputs[0].GetDouble(i) >= 4) return true;
    }
    return false;
  };
  ReducedText outcome = ReduceText(R"(HloModule values
ENTRY e {
  p = f64[5,6]{1,0} parameter(0)
  e = f64[5,6]{1,0} exponential(p)
  n = f64[5,6]{1,0} negate(e)
  ROOT s = f64[2,3]{1,0} slice(n), slice={[1:4:2], [0:6:2]}
}
)",
                                   predicate);
  EXPECT_EQ(outcome.result.reduced.module->InstructionCount(), 2) << outcome.text;
  ASSERT_EQ(outcome.result.reduced.inputs.size(), 1u);
  EXPECT_EQ(outcome.result.reduced.inputs[0].element_count(), 1) << outcome.text;
  EXPECT_LE(outcome.result.reduced.inputs[0].GetDouble(0), 8) << outcome.text;
}

// A compiler may read a constant wrongly: then nothing else is needed.
TEST(Reduce, AConstantIsAResultToo) {
  const auto fails = [](const Module& module, const std::vector<Literal>&) {
    const Instruction* root = module.entry()->root();
    const bool shows = root->opcode() == Opcode::kConstant ||
                       (root->opcode() == Opcode::kScatter && root->shape().dimension(0) == 3);
    return shows && AnyInstruction(module, [](const Instruction& at) {
             return at.opcode() == Opcode::kConstant &&
                    at.shape().element_type() == ElementType::kC128;
           });
  };
  const ReducedText outcome = ReduceText(R"(HloModule written
second {
  a = c128[] parameter(0)
  ROOT b = c128[] parameter(1)
}
ENTRY e {
  x = c128[3,2] parameter(0)
  i = s32[1,1] constant({{0}})
  u = c128[1,2] constant({{(1, -3.25), (1, 2)}})
  ROOT r = c128[3,2] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second
})",
                                         fails);
  EXPECT_EQ(outcome.result.reduced.module->InstructionCount(), 1) << outcome.text;
}

// The constant is what is needed: the parameter before it, which anything will do for, becomes it.
TEST(Reduce, AParameterBecomesTheConstant) {
  const auto fails = [](const Module& module, const std::vector<Literal>&) {
    const Instruction* root = module.entry()->root();
    return root->opcode() == Opcode::kDynamicSlice && root->operand_count() == 2 &&
           root->operand(0)->opcode() == Opcode::kPad &&
           root->operand(1)->opcode() == Opcode::kConstant;
  };
  const ReducedText outcome = ReduceText(R"(HloModule apart
ENTRY e {
  x = s32[] parameter(0)
  y = s32[4] parameter(1)
  p = s32[5] pad(y, x), padding=1_0
  i = s32[] constant(2)
  ROOT d = s32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}
})",
                                         fails);
  EXPECT_EQ(outcome.result.reduced.module->InstructionCount(), 4) << outcome.text;
}

// The structure of a failure is known before types and values get small.
TEST(Reduce, EndsWhereItIsEnough) {
  const std::unique_ptr<Module> module = Parse(kNestedSlices);
  for (const bool enough : {true, false}) {
    ReduceOptions options;
    int64_t asked = 0, instructions = 0;
    options.is_enough = [&](const ReduceCase& small) {
      ++asked;
      instructions = small.module->InstructionCount();
      return enough;
    };
    const absl::StatusOr<ReduceResult> result =
        Reduce(*module, Inputs(*module), HasNestedDynamicSlices, options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(asked, 1);
    EXPECT_LE(instructions, 5) << "the structure is small by then";
    EXPECT_EQ(result->was_enough, enough);
    EXPECT_EQ(result->complete, !enough);
    const ElementType type = result->reduced.module->entry()->root()->shape().element_type();
    EXPECT_EQ(type, enough ? ElementType::kS16 : ElementType::kS32);
  }
}

TEST(Reduce, RefusesWhatDoesNotFail) {
  std::unique_ptr<Module> module = Parse(kNestedSlices);
  absl::StatusOr<ReduceResult> result = Reduce(
      *module, Inputs(*module), [](const Module&, const std::vector<Literal>&) { return false; });
  EXPECT_EQ(result.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Reduce, KeepsTheBestWhenProbesRunOut) {
  std::unique_ptr<Module> module = Parse(kNestedSlices);
  ReduceOptions options;
  options.max_probes = 5;
  absl::StatusOr<ReduceResult> result =
      Reduce(*module, Inputs(*module), HasNestedDynamicSlices, options);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->complete);
  EXPECT_LE(result->progress.probes, 5);
  EXPECT_TRUE(HasNestedDynamicSlices(*result->reduced.module, result->reduced.inputs));
}

}  // namespace
}  // namespace assay
