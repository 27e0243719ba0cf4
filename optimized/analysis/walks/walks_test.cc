// Tests how elements can be walked together with what they read, without any code.
#include "optimized/analysis/walks/walks.h"

#include "gtest/gtest.h"
#include "optimized/analysis/walks/contraction_views.h"
#include "optimized/analysis/walks/lane_access.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

// The root of a fusion whose operands lie in memory.
struct Fused {
  explicit Fused(const std::string& body) {
    absl::StatusOr<std::unique_ptr<Module>> read = ReadModule("HloModule m\nf { " + body + R"( }
ENTRY e { x = f32[4,16] parameter(0)
  y = f32[16] parameter(1)
  i = s32[] parameter(2)
  ROOT r = f32[4,16] fusion(x, y, i), kind=kLoop, calls=f })");
    EXPECT_TRUE(read.ok()) << read.status();
    module = *std::move(read);
    const Instruction* fusion = module->entry()->root();
    for (const Instruction* operand : fusion->operands()) walks.AddSource({nullptr, operand});
    root = {walks.CalleeFrame({nullptr, fusion}), fusion->callee()->root()};
  }

  std::unique_ptr<Module> module;
  Walks walks;
  Seen root;
};

constexpr char kParameters[] =
    "a = f32[4,16] parameter(0)\n b = f32[16] parameter(1)\n i = s32[] parameter(2)\n ";

TEST(Walks, AreLinearWhereAllElementsHaveOnePlace) {
  Fused fused(std::string(kParameters) + "ROOT s = f32[4,16] add(a, a)");
  EXPECT_TRUE(fused.walks.CanWalkLinearly(fused.root));
  EXPECT_TRUE(fused.walks.CanWalkLanes(fused.root, 1));
  EXPECT_FALSE(fused.walks.CanWalkLanes(fused.root, 0));
}

TEST(Walks, HaveLanesAlongWhatABroadcastKeeps) {
  Fused fused(std::string(kParameters) +
              "c = f32[4,16] broadcast(b), dimensions={1}\n ROOT s = f32[4,16] add(a, c)");
  EXPECT_FALSE(fused.walks.CanWalkLinearly(fused.root));
  EXPECT_TRUE(fused.walks.CanWalkLanes(fused.root, 1));
}

TEST(Walks, HaveNoLanesWhereNeighboursLieApart) {
  Fused fused(std::string(kParameters) +
              "c = f32[16,4] reshape(a)\n t = f32[4,16] transpose(c), dimensions={1,0}\n "
              "ROOT s = f32[4,16] add(a, t)");
  EXPECT_FALSE(fused.walks.CanWalkLinearly(fused.root));
  EXPECT_FALSE(fused.walks.CanWalkLanes(fused.root, 1));
}

TEST(Walks, SeeThroughTuplesBuiltInTheKernel) {
  Fused fused(std::string(kParameters) +
              "t = (f32[16], f32[4,16]) tuple(b, a)\n "
              "g = f32[4,16] get-tuple-element(t), index=1\n ROOT s = f32[4,16] negate(g)");
  EXPECT_TRUE(fused.walks.CanWalkLinearly(fused.root));
}

TEST(Walks, ParametersThatHaveValuesAreEverywhereTheSame) {
  Fused fused(std::string(kParameters) + "ROOT s = f32[4,16] add(a, a)");
  const CallFrame* frame = fused.walks.NewFrame({.binds_values = true});
  EXPECT_TRUE(fused.walks.CanWalkLinearly({frame, fused.root.instruction}));
  EXPECT_FALSE(fused.walks.CanWalkLanes({frame, fused.root.instruction}, 1));
}

TEST(LanesOf, ASliceWithStridesHasNone) {
  Fused fused(std::string(kParameters) +
              "a0 = f32[] constant(0)\n p = f32[8,32] pad(a, a0), padding=0_4x0_16\n "
              "ROOT s = f32[4,16] slice(p), slice={[0:4], [0:32:2]}");
  EXPECT_EQ(LanesOf(*fused.root.instruction, 0, 0).kind, LaneAccess::kLanes);
  EXPECT_EQ(LanesOf(*fused.root.instruction, 0, 1).kind, LaneAccess::kImpossible);
}

// The sums of a contraction before its epilogue; "" where it is none.
std::string SumsOf(const std::string& behind, const std::string& result) {
  const absl::StatusOr<std::unique_ptr<Module>> read = ReadModule(
      "HloModule m\nf { x = f32[8,4] parameter(0)\n y = f32[4,16] parameter(1)\n "
      "z = f32[16] parameter(2)\n d = f32[8,16] dot(x, y), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={0}\n " +
      behind + " }\nENTRY e { x = f32[8,4] parameter(0)\n y = f32[4,16] parameter(1)\n " +
      "z = f32[16] parameter(2)\n ROOT r = " + result + " fusion(x, y, z), kind=kLoop, calls=f }");
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok()) return "";
  const Instruction* sums = SumsBeforeEpilogue(*(*read)->entry()->root());
  return sums == nullptr ? "" : std::string(sums->name());
}

// An epilogue gets the sums block by block: what reads them elsewhere is none.
TEST(ContractionViews, AnEpilogueReadsSumsAtItsOwnPlace) {
  const std::string bias =
      "b = f32[8,16] broadcast(z), dimensions={1}\n s = f32[8,16] add(d, b)\n ";
  EXPECT_EQ(SumsOf(bias + "ROOT t = f32[8,16] tanh(s)", "f32[8,16]"), "d");
  EXPECT_EQ(SumsOf(bias + "w = f32[1,16] reshape(z)\n "
                          "c = f32[9,16] concatenate(s, w), dimensions={0}\n "
                          "ROOT t = f32[1,16] slice(c), slice={[8:9], [0:16]}",
                   "f32[1,16]"),
            "");
  EXPECT_EQ(SumsOf(bias + "r = f32[8,16] reverse(s), dimensions={1}\n "
                          "ROOT t = f32[8,16] add(r, s)",
                   "f32[8,16]"),
            "");
  // Results that are not made of the sums are written along with them, over their dimensions.
  EXPECT_EQ(SumsOf(bias + "t = f32[8,16] tanh(s)\n ROOT o = (f32[8,16], f32[8,16]) tuple(t, b)",
                   "(f32[8,16], f32[8,16])"),
            "d");
  EXPECT_EQ(SumsOf(bias + "t = f32[8,16] tanh(s)\n ROOT o = (f32[8,16], f32[16]) tuple(t, z)",
                   "(f32[8,16], f32[16])"),
            "");
}

}  // namespace
}  // namespace assay
