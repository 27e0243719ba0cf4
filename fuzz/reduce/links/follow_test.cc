// The reducer on ops whose sizes and attributes hang together: windows, convolutions, gathers,
// scatters, transforms, collectives.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "fuzz/generator/generate.h"
#include "fuzz/reduce/testing/reducing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The elements of the largest array.
int64_t MostElements(const Module& module) {
  int64_t most = 0;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      ForEachLeaf(at->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
        if (leaf.IsArray()) most = std::max(most, leaf.ElementCount());
      });
    }
  }
  return most;
}

// The smallest program with this op whose result has elements and whose arrays have so many.
ReducedText ReduceOp(const std::string& text, Opcode opcode, int64_t least) {
  return ReduceText(text, [=](const Module& module, const std::vector<Literal>&) {
    const Shape& result = module.entry()->root()->shape();
    const bool has_elements = !result.IsArray() || result.ElementCount() > 0;
    return has_elements && HasOpcode(module, opcode) && MostElements(module) >= least;
  });
}

TEST(Follow, AConvolutionShrinksToOneElement) {
  const ReducedText outcome = ReduceOp(R"(HloModule m
ENTRY e {
  x = f32[4,9,7,6] parameter(0)
  k = f32[3,2,3,8] parameter(1)
  ROOT y = f32[4,5,3,8] convolution(x, k), window={size=3x2 stride=2x1 pad=1_1x-1_0 rhs_dilate=1x3 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, feature_group_count=2
})",
                                       Opcode::kConvolution, 1);
  EXPECT_EQ(MostElements(*outcome.result.reduced.module), 1) << outcome.text;
  for (const char* gone : {"pad=", "stride=", "dilate=", "reversal=", "group_count="})
    EXPECT_THAT(outcome.text, Not(HasSubstr(gone)));
}

TEST(Follow, WindowsShrinkWithTheirArrays) {
  const ReducedText outcome = ReduceOp(R"(HloModule m
most { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
ENTRY e {
  x = f32[12,64,5] parameter(0)
  i = f32[] constant(-inf)
  ROOT y = f32[13,31,5] reduce-window(x, i), window={size=2x3x1 stride=1x2x1 pad=1_1x0_0x0_0}, to_apply=most
})",
                                       Opcode::kReduceWindow, 1);
  EXPECT_LE(MostElements(*outcome.result.reduced.module), 6) << outcome.text;
  EXPECT_THAT(outcome.text, Not(HasSubstr("stride=")));
}

// A stride of one would make so many places that what is added to them had 8 GB.
TEST(Follow, NothingGrowsWithoutEnd) {
  const ReducedText outcome =
      ReduceText(R"(HloModule m
most { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
ENTRY e {
  x = f32[3] parameter(0)
  z = f32[3] parameter(1)
  i = f32[] constant(-inf)
  y = f32[3] reduce-window(x, i), window={size=1 stride=1000000000 lhs_dilate=1000000000}, to_apply=most
  ROOT w = f32[3] add(y, z)
})",
                 [](const Module& module, const std::vector<Literal>&) {
                   return module.entry()->root()->opcode() == Opcode::kAdd &&
                          HasOpcode(module, Opcode::kReduceWindow);
                 });
  EXPECT_EQ(MostElements(*outcome.result.reduced.module), 1) << outcome.text;
}

// However many ops stand one behind the other.
TEST(Follow, AChainOfWindowsShrinks) {
  std::string text = R"(HloModule m
most { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
ENTRY e {
  i = f32[] constant(-inf)
  x0 = f32[500] parameter(0)
)";
  constexpr int kWindows = 40;
  for (int k = 1; k <= kWindows; ++k) {
    text += StrCat("  ", k == kWindows ? "ROOT " : "", "x", k, " = f32[", 500 - k,
                   "] reduce-window(x", k - 1, ", i), window={size=2}, to_apply=most\n");
  }
  const ReducedText outcome =
      ReduceText(text + "}", [](const Module& module, const std::vector<Literal>&) {
        const Shape& result = module.entry()->root()->shape();
        const int64_t count = std::count_if(
            module.entry()->begin(), module.entry()->end(),
            [](const Instruction* at) { return at->opcode() == Opcode::kReduceWindow; });
        return count == kWindows && result.ElementCount() > 0;
      });
  EXPECT_LE(MostElements(*outcome.result.reduced.module), kWindows + 1) << outcome.text;
}

// Half of them at once: one by one that is as many programs as there are parts.
TEST(Follow, ConcatenationsOfManyPartsShrink) {
  constexpr int kParts = 300;
  std::string text =
      "HloModule m\nENTRY e {\n  x = s32[2] parameter(0)\n  ROOT c = s32[600] concatenate(";
  for (int k = 0; k < kParts; ++k) text += k == 0 ? "x" : ", x";
  const ReducedText outcome = ReduceOp(text + "), dimensions={0}\n}", Opcode::kConcatenate, 1);
  EXPECT_EQ(MostElements(*outcome.result.reduced.module), 1) << outcome.text;
  EXPECT_LT(outcome.result.progress.probes, 40);
}

TEST(Follow, SelectionsShrinkWithTheirUpdates) {
  const ReducedText outcome = ReduceOp(R"(HloModule m
above { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = pred[] compare(a, b), direction=GE }
sum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
ENTRY e {
  x = s32[12,64] parameter(0)
  u = s32[6,32] parameter(1)
  i = s32[] constant(0)
  ROOT y = s32[12,64] select-and-scatter(x, u, i), window={size=2x2 stride=2x2}, select=above, scatter=sum
})",
                                       Opcode::kSelectAndScatter, 1);
  EXPECT_LE(MostElements(*outcome.result.reduced.module), 4) << outcome.text;
}

TEST(Follow, GathersAndScattersShrink) {
  const ReducedText gather = ReduceOp(R"(HloModule m
ENTRY e {
  x = f32[40,30] parameter(0)
  i = s32[20,1] parameter(1)
  ROOT y = f32[20,30] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,30}
})",
                                      Opcode::kGather, 1);
  EXPECT_EQ(MostElements(*gather.result.reduced.module), 1) << gather.text;
  const ReducedText scatter = ReduceOp(R"(HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[40,30] parameter(0)
  i = s32[20,1] parameter(1)
  u = f32[20,30] parameter(2)
  ROOT y = f32[40,30] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, indices_are_sorted=true, unique_indices=true, to_apply=sum
})",
                                       Opcode::kScatter, 1);
  EXPECT_EQ(MostElements(*scatter.result.reduced.module), 1) << scatter.text;
  EXPECT_THAT(scatter.text, Not(HasSubstr("=true"))) << "promises may be left out";
}

TEST(Follow, TransformsAndSelectionsOfTheFirstShrink) {
  const ReducedText fft = ReduceOp(R"(HloModule m
ENTRY e {
  x = c64[6,33] parameter(0)
  ROOT y = f32[6,64] fft(x), fft_type=IRFFT, fft_length={64}
})",
                                   Opcode::kFft, 4);
  EXPECT_LE(MostElements(*fft.result.reduced.module), 6) << fft.text;
  const ReducedText topk = ReduceOp(R"(HloModule m
ENTRY e {
  x = f32[8,500] parameter(0)
  t = (f32[8,400], s32[8,400]) topk(x), k=400, largest=true
  ROOT y = f32[8,400] get-tuple-element(t), index=0
})",
                                    Opcode::kTopK, 1);
  EXPECT_EQ(MostElements(*topk.result.reduced.module), 1) << topk.text;
}

// Two programs in one: of other sizes, the one's array is what the other makes.
TEST(Follow, AnArrayOfAnotherSizeTakesThePlaceOfAnInput) {
  const ReducedText outcome =
      ReduceText(R"(HloModule m
step {
  a = s32[4] parameter(0)
  c = s32[4] parameter(1)
  s = s32[4] add(a, c)
  ROOT t = (s32[4], s32[4]) tuple(s, s)
}
ENTRY e {
  x = s32[4,9] parameter(0)
  i = s32[4] parameter(1)
  y = s32[2,6] parameter(2)
  p = (s32[2,5], s32[2,5]) topk(y), k=5, largest=true
  v = s32[2,5] get-tuple-element(p), index=0
  r = (s32[4,9], s32[4]) scan(x, i), dimensions={1}, num_carries=1, is_associative=true, to_apply=step
  w = s32[4,9] get-tuple-element(r), index=0
  ROOT z = (s32[2,5], s32[4,9]) tuple(v, w)
})",
                 [](const Module& module, const std::vector<Literal>&) {
                   return HasOpcode(module, Opcode::kTopK) && HasOpcode(module, Opcode::kScan);
                 });
  // The input, the topk, its array, the start and the scan; what goes in, what comes out.
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 8) << outcome.text;
  EXPECT_EQ(MostElements(*outcome.result.reduced.module), 1) << outcome.text;
}

// If two results cannot be one, the one that is a tuple is kept as a whole.
TEST(Follow, ATupleIsAResultAsAWhole) {
  const ReducedText outcome = ReduceText(
      R"(HloModule m
ENTRY e {
  x = s32[17] parameter(0)
  y = f32[3,4] parameter(1)
  n = s32[17] popcnt(x)
  p = (f32[3,4], s32[3,4]) topk(y), k=4, largest=true
  v = f32[3,4] get-tuple-element(p), index=0
  ROOT z = (s32[17], f32[3,4]) tuple(n, v)
})",
      [](const Module& module, const std::vector<Literal>&) {
        const auto topk = absl::c_find_if(
            *module.entry(), [](const Instruction* at) { return at->opcode() == Opcode::kTopK; });
        return HasOpcode(module, Opcode::kPopcnt) && topk != module.entry()->end() &&
               IsFloat((*topk)->operand(0)->shape().element_type());
      });
  EXPECT_LE(outcome.result.reduced.module->InstructionCount(), 5) << outcome.text;
}

TEST(Follow, LinearAlgebraAndNormsShrink) {
  const ReducedText solve = ReduceOp(R"(HloModule m
ENTRY e {
  a = f32[3,8,8] parameter(0)
  b = f32[3,8,5] parameter(1)
  l = f32[3,8,8] cholesky(a), lower=true
  ROOT x = f32[3,8,5] triangular-solve(l, b), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE
})",
                                     Opcode::kTriangularSolve, 1);
  EXPECT_EQ(MostElements(*solve.result.reduced.module), 1) << solve.text;
  const ReducedText norm = ReduceOp(R"(HloModule m
ENTRY e {
  x = f32[16,5,4] parameter(0)
  s = f32[5] parameter(1)
  o = f32[5] parameter(2)
  t = (f32[16,5,4], f32[5], f32[5]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=1
  ROOT y = f32[5] get-tuple-element(t), index=1
})",
                                    Opcode::kBatchNormTraining, 1);
  EXPECT_EQ(MostElements(*norm.result.reduced.module), 1) << norm.text;
}

// Several arrays of a collective, of high rank and of a type that few people read.
TEST(Follow, CollectivesShrink) {
  const ReducedText outcome = ReduceOp(R"(HloModule m
sum { a = u16[] parameter(0) b = u16[] parameter(1) ROOT c = u16[] add(a, b) }
ENTRY e {
  x = u16[1,700,3] parameter(0)
  g = u16[1,700,3] all-gather(x), replica_groups={{0}}, dimensions={1}
  p = u16[1,700,3] collective-permute(g), source_target_pairs={{0,0}}
  r = (u16[1,700,3], u16[1,700,3]) all-reduce(p, g), replica_groups={{0}}, to_apply=sum
  ROOT y = u16[1,700,3] get-tuple-element(r), index=1
})",
                                       Opcode::kAllReduce, 1);
  EXPECT_EQ(MostElements(*outcome.result.reduced.module), 1) << outcome.text;
  EXPECT_THAT(outcome.text, Not(HasSubstr("u16")));
  EXPECT_THAT(outcome.text, Not(HasSubstr("[1,"))) << "a gather has a dimension";
}

// If one op of a random program is needed, with a result that has elements, the rest and all that
// is large go, whatever the op.
TEST(Follow, OpsOfRandomProgramsShrink) {
  constexpr uint64_t kPrograms = 1000;
  std::map<std::string, int64_t> large;
  for (uint64_t i = 0; i < kPrograms; ++i) {
    const Case made = GenerateCase(77, i);
    std::vector<Opcode> opcodes;
    for (const Instruction* at : *made.module->entry()) {
      if (at->operand_count() > 0 && at->opcode() != Opcode::kTuple)
        opcodes.push_back(at->opcode());
    }
    if (opcodes.empty()) continue;
    const Opcode wanted = opcodes[i % opcodes.size()];
    const auto needs = [wanted](const Module& module, const std::vector<Literal>&) {
      return AnyInstruction(module, [wanted](const Instruction& at) {
        return at.opcode() == wanted && (!at.shape().IsArray() || at.shape().ElementCount() > 0);
      });
    };
    const absl::StatusOr<ReduceResult> result =
        Reduce(*made.module, made.inputs, needs, ReduceOptions());
    if (!result.ok()) continue;  // it has the op, but no elements
    EXPECT_TRUE(result->complete) << i;
    const Module& small = *result->reduced.module;
    EXPECT_TRUE(Verify(small).ok()) << i << Verify(small);
    const int64_t most = wanted == Opcode::kBitcastConvert ? 64 : 8;  // bits of one number
    if (MostElements(small) > most || small.InstructionCount() > 10)
      ++large[std::string(Info(wanted).name)];
  }
  EXPECT_THAT(large, testing::IsEmpty());
}

}  // namespace
}  // namespace assay
