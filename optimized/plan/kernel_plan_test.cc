// Tests what kernels are made of, on a target of the test's own: no code is generated.
#include "optimized/plan/kernel_plan.h"

#include "gtest/gtest.h"
#include "optimized/analysis/walks/lane_access.h"
#include "optimized/plan/support.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

std::string SortCall(const Instruction&, bool is_better) { return is_better ? "radix" : "merge"; }
bool IsOfIntegers(const Instruction& sort, const Target&) {
  return !IsFloat(sort.operand(0)->shape().element_type());
}
std::optional<ContractionCode> LargeDot(const Instruction& instruction, const Target&) {
  if (instruction.opcode() != Opcode::kDot || instruction.shape().ElementCount() < 1024) {
    return std::nullopt;
  }
  return ContractionCode{"gemm", -1};
}

// Eight threads, vectors of 256 bits, a library with two sorts and a product of matrices.
const Target& TestTarget() {
  static const auto& ops = *[] {
    auto* table = new OpSupportTable();
    for (int k = 0; k < kOpcodeCount; ++k) {
      if (HasLanes(static_cast<Opcode>(k))) (*table)[k].code = OpSupport::kElements;
    }
    OpSupport& sort = (*table)[static_cast<int>(Opcode::kSort)];
    sort.code = OpSupport::kNative;
    sort.better_rule = "sort-by-key";
    sort.has_better = IsOfIntegers;
    sort.library_call = SortCall;
    return table;
  }();
  static const auto& target = *new Target{.name = "test",
                                          .vector_bits = 256,
                                          .levels = {{kThreads, 8}},
                                          .has_type = IsFloat,
                                          .ops = &ops,
                                          .contraction = LargeDot};
  return target;
}

// Plans the root of the entry of a module, given as its text after the header.
std::string Planned(const std::string& text, int64_t limit = -1, bool update_in_place = false) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule("HloModule m\n" + text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  Gates gates(limit);
  const Instruction& root = *(*module)->entry()->root();
  KernelBuffers buffers;
  int entry = BufferTable::kFirstParameter;
  for (const Instruction* operand : root.operands()) {
    std::vector<BufferSlice>& leaves = buffers.operands.emplace_back();
    for (int64_t k = 0; k < LeafCount(operand->shape()); ++k) leaves.push_back({entry++, 0});
  }
  for (int64_t k = 0; k < LeafCount(root.shape()); ++k) buffers.results.push_back({entry++, 0});
  buffers.update_in_place = update_in_place;
  absl::StatusOr<KernelPlan> plan = PlanKernel(root, TestTarget(), gates, buffers);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return "";
  std::string decisions;
  for (const Decision& decision : gates.decisions()) {
    decisions += " " + decision.rule + (decision.taken ? "" : "?");
  }
  return ToString(*plan) + " |" + decisions;
}

TEST(PlanKernel, OneNestWalksLinearly) {
  EXPECT_EQ(Planned("ENTRY e { x = f32[4,16] parameter(0)\n ROOT r = f32[4,16] negate(x) }"),
            "nests: linear by 8 | optimize-kernel vectorize");
  EXPECT_EQ(Planned("ENTRY e { x = f32[4,16] parameter(0)\n ROOT r = f32[4,16] negate(x) }", 1),
            "nests: linear | optimize-kernel vectorize?");
}

TEST(PlanKernel, LargeOnesAreCutForThreads) {
  EXPECT_EQ(
      Planned("ENTRY e { x = f32[4096,256] parameter(0)\n ROOT r = f32[4096,256] negate(x), "
              "backend_config={\"outer_dimension_partitions\":[\"17\"]} }"),
      "nests: linear by 8; 1048576 in parts of 61696 | optimize-kernel split-kernel vectorize");
}

TEST(PlanKernel, ResultsOfOneSizeShareANest) {
  const std::string text = R"(f { x = f32[8,64] parameter(0)
  y = f32[64] parameter(1)
  b = f32[8,64] broadcast(y), dimensions={1}
  s = f32[8,64] add(x, b)
  n = f32[8,64] negate(x)
  ROOT t = (f32[8,64], f32[8,64]) tuple(s, n) }
ENTRY e { x = f32[8,64] parameter(0)
  y = f32[64] parameter(1)
  ROOT r = (f32[8,64], f32[8,64]) fusion(x, y), kind=kLoop, calls=f })";
  EXPECT_EQ(Planned(text),
            "nests: lanes of dimension 1 by 8 of 2 results | "
            "optimize-kernel store-together vectorize");
  EXPECT_EQ(Planned(text, 1),
            "nests: one by one; linear | optimize-kernel store-together? vectorize?");
}

TEST(PlanKernel, TransposesGoThroughTiles) {
  EXPECT_EQ(Planned("ENTRY e { x = f32[64,32] parameter(0)\n "
                    "ROOT r = f32[32,64] transpose(x), dimensions={1,0} }"),
            "nests: tiles of 16 along dimension 0, turned by 8 | "
            "optimize-kernel tile-transpose vectorize");
}

TEST(PlanKernel, PartsOfAResultAreWrittenInPlace) {
  const std::string update = R"(ENTRY e { x = f32[8,64] parameter(0)
  u = f32[1,64] parameter(1)
  i = s32[] parameter(2)
  ROOT r = f32[8,64] dynamic-update-slice(x, u, i, i) })";
  EXPECT_EQ(Planned(update, -1, true),
            "update-in-place: lanes of dimension 1 by 8 at [?,?] | optimize-kernel vectorize");
  EXPECT_EQ(Planned(R"(ENTRY e { x = f32[2,64] parameter(0)
  y = f32[3,64] parameter(1)
  ROOT r = f32[5,64] concatenate(x, y), dimensions={0} })"),
            "concatenate: lanes of dimension 1 by 8 at [0,0]; lanes of dimension 1 by 8 at [2,0] | "
            "optimize-kernel vectorize");
}

TEST(PlanKernel, TheTargetsOwnCodeIsAskedFor) {
  const std::string dot = R"(ENTRY e { x = f32[64,16] parameter(0)
  y = f32[16,64] parameter(1)
  ROOT r = f32[64,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} })";
  EXPECT_EQ(Planned(dot), "contraction: gemm | optimize-kernel blocked-dot");
  EXPECT_EQ(Planned(dot, 1), "nests: one by one | optimize-kernel blocked-dot? vectorize?");
  const std::string sort = R"(less { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY e { x = s32[64] parameter(0)
  ROOT r = s32[64] sort(x), dimensions={0}, to_apply=less })";
  EXPECT_EQ(Planned(sort), "native: radix | optimize-kernel sort-by-key");
  EXPECT_EQ(Planned(sort, 1), "native: merge | optimize-kernel sort-by-key?");
}

TEST(PlanKernel, ResultsOfOneKernelHaveOneSize) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(R"(HloModule m
less { a = f32[] parameter(0)
  ROOT b = (f32[2], f32[3]) custom-call(a), custom_call_target="two" }
ENTRY e { x = f32[] parameter(0)
  ROOT r = (f32[2], f32[3]) fusion(x), kind=kLoop, calls=less })");
  ASSERT_TRUE(module.ok()) << module.status();
  Gates gates;
  const KernelBuffers buffers{{{{3, 0}}}, {{4, 0}, {5, 0}}};
  const auto plan = PlanKernel(*(*module)->entry()->root(), TestTarget(), gates, buffers);
  EXPECT_NE(plan.status().message().find("test: results of different sizes"), std::string::npos);
}

TEST(Support, IsWhatTheTableOfTheTargetSays) {
  EXPECT_TRUE(IsCompiled(TestTarget(), Opcode::kAdd));
  EXPECT_TRUE(IsCompiled(TestTarget(), Opcode::kWhile));
  EXPECT_FALSE(IsCompiled(TestTarget(), Opcode::kFft));
  EXPECT_TRUE(IsCompiledFor(TestTarget(), Opcode::kAdd, ElementType::kF32));
  EXPECT_FALSE(IsCompiledFor(TestTarget(), Opcode::kAdd, ElementType::kS32));
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(
      "HloModule m\nENTRY e { x = c64[4] parameter(0)\n ROOT r = c64[4] fft(x), fft_type=FFT, "
      "fft_length={4} }");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_NE(CheckSupported(TestTarget(), **module).message().find("test: no code for"),
            std::string::npos);
}

}  // namespace
}  // namespace assay
