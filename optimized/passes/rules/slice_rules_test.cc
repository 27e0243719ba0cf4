// slice, dynamic-slice, dynamic-update-slice, pad and concatenate.
#include "optimized/passes/expanders/dynamic_index_splitter.h"
#include "optimized/passes/pass_testing.h"
#include "optimized/passes/rules/algebraic_simplifier.h"

namespace assay {
namespace {

void Rewrites(const std::string& before, const std::string& after) {
  ExpectRewrite<AlgebraicSimplifier>(before, after);
}
void Untouched(const std::string& before) { ExpectUntouched<AlgebraicSimplifier>(before); }

TEST(SliceRules, SliceOfSliceMultipliesStrides) {
  Rewrites(R"(
    x = s32[20] parameter(0)
    a = s32[8] slice(x), slice={[2:18:2]}
    ROOT b = s32[2] slice(a), slice={[1:7:3]})",
           R"(
    x = s32[20] parameter(0)
    ROOT b = s32[2] slice(x), slice={[4:11:6]})");
}

TEST(SliceRules, EmptySliceBehindTheEndOfAStridedSlice) {
  Rewrites(R"(
    x = s32[5] parameter(0)
    a = s32[2] slice(x), slice={[0:5:3]}
    ROOT b = s32[0] slice(a), slice={[2:2]})",
           R"(
    x = s32[5] parameter(0)
    ROOT b = s32[0] slice(x), slice={[0:0]})");
}

TEST(SliceRules, TrivialSlice) {
  Rewrites(R"(
    x = s32[5] parameter(0)
    a = s32[5] slice(x), slice={[0:5]}
    ROOT n = s32[5] negate(a))",
           R"(
    x = s32[5] parameter(0)
    ROOT n = s32[5] negate(x))");
  Untouched(R"(
    x = s32[5] parameter(0)
    ROOT a = s32[4] slice(x), slice={[0:4]})");
}

TEST(DynamicIndexSplitter, VectorBecomesScalars) {
  ExpectRewrite<DynamicIndexSplitter>(R"(
    x = s32[4,5] parameter(0)
    u = s32[1,2] parameter(1)
    i = u8[2] parameter(2)
    s = s32[1,2] dynamic-slice(x, i), dynamic_slice_sizes={1,2}
    w = s32[4,5] dynamic-update-slice(x, u, i)
    ROOT t = (s32[1,2], s32[4,5]) tuple(s, w))",
                                      R"(
    x = s32[4,5] parameter(0)
    u = s32[1,2] parameter(1)
    i = u8[2] parameter(2)
    a = u8[1]{0} slice(i), slice={[0:1]}
    b = u8[] reshape(a)
    c = u8[1]{0} slice(i), slice={[1:2]}
    d = u8[] reshape(c)
    s = s32[1,2] dynamic-slice(x, b, d), dynamic_slice_sizes={1,2}
    e = u8[1]{0} slice(i), slice={[0:1]}
    f = u8[] reshape(e)
    g = u8[1]{0} slice(i), slice={[1:2]}
    h = u8[] reshape(g)
    w = s32[4,5] dynamic-update-slice(x, u, f, h)
    ROOT t = (s32[1,2], s32[4,5]) tuple(s, w))");
  ExpectUntouched<DynamicIndexSplitter>(R"(
    x = s32[4,5] parameter(0)
    i = u8[] parameter(1)
    ROOT s = s32[1,2] dynamic-slice(x, i, i), dynamic_slice_sizes={1,2})");
}

TEST(SliceRules, SliceOfConcatenate) {
  Rewrites(R"(
    x = s32[4] parameter(0)
    y = s32[6] parameter(1)
    c = s32[10] concatenate(x, y), dimensions={0}
    ROOT s = s32[3] slice(c), slice={[5:10:2]})",
           R"(
    x = s32[4] parameter(0)
    y = s32[6] parameter(1)
    ROOT s = s32[3] slice(y), slice={[1:6:2]})");
  Untouched(R"(
    x = s32[4] parameter(0)
    y = s32[6] parameter(1)
    c = s32[10] concatenate(x, y), dimensions={0}
    ROOT s = s32[2] slice(c), slice={[3:5]})");
}

TEST(SliceRules, SliceOfPad) {
  Rewrites(R"(
    x = s32[6] parameter(0)
    v = s32[] parameter(1)
    p = s32[11] pad(x, v), padding=2_3
    ROOT s = s32[3] slice(p), slice={[3:8:2]})",
           R"(
    x = s32[6] parameter(0)
    v = s32[] parameter(1)
    ROOT s = s32[3] slice(x), slice={[1:6:2]})");
  Rewrites(R"(
    x = s32[6] parameter(0)
    v = s32[] parameter(1)
    p = s32[11] pad(x, v), padding=2_3
    ROOT s = s32[3] slice(p), slice={[8:11]})",
           R"(
    x = s32[6] parameter(0)
    v = s32[] parameter(1)
    ROOT s = s32[3] broadcast(v), dimensions={})");
  Untouched(R"(
    x = s32[6] parameter(0)
    v = s32[] parameter(1)
    p = s32[11] pad(x, v), padding=2_3
    ROOT s = s32[3] slice(p), slice={[1:4]})");
}

TEST(SliceRules, SliceOfReverse) {
  Rewrites(R"(
    x = s32[9] parameter(0)
    r = s32[9] reverse(x), dimensions={0}
    ROOT s = s32[3] slice(r), slice={[1:8:3]})",
           R"(
    x = s32[9] parameter(0)
    s = s32[3] slice(x), slice={[1:8:3]}
    ROOT r = s32[3] reverse(s), dimensions={0})");
}

TEST(DynamicSliceRules, ConstantStartIsClampedFirst) {
  Rewrites(R"(
    x = s32[10] parameter(0)
    i = s8[] constant(9)
    ROOT d = s32[4] dynamic-slice(x, i), dynamic_slice_sizes={4})",
           R"(
    x = s32[10] parameter(0)
    ROOT d = s32[4] slice(x), slice={[6:10]})");
  Rewrites(R"(
    x = s32[10] parameter(0)
    i = u64[] constant(18446744073709551615)
    ROOT d = s32[4] dynamic-slice(x, i), dynamic_slice_sizes={4})",
           R"(
    x = s32[10] parameter(0)
    ROOT d = s32[4] slice(x), slice={[6:10]})");
  Untouched(R"(
    x = s32[10] parameter(0)
    i = s8[] parameter(1)
    ROOT d = s32[4] dynamic-slice(x, i), dynamic_slice_sizes={4})");
}

TEST(DynamicSliceRules, EachLevelIsClampedByItsOwnBound) {
  Rewrites(R"(
    x = s32[10] parameter(0)
    i = s32[] parameter(1)
    j = s32[] parameter(2)
    a = s32[6] dynamic-slice(x, i), dynamic_slice_sizes={6}
    ROOT b = s32[1] dynamic-slice(a, j), dynamic_slice_sizes={1})",
           R"(
    x = s32[10] parameter(0)
    i = s32[] parameter(1)
    j = s32[] parameter(2)
    zero = s32[] constant(0)
    four = s32[] constant(4)
    ci = s32[] clamp(zero, i, four)
    zero2 = s32[] constant(0)
    five = s32[] constant(5)
    cj = s32[] clamp(zero2, j, five)
    sum = s32[] add(ci, cj)
    ROOT b = s32[1] dynamic-slice(x, sum), dynamic_slice_sizes={1})");
}

TEST(DynamicSliceRules, MixedIndexTypesAreAddedInOneThatHoldsTheSum) {
  // s8 cannot spell the inner bound 194, nor hold the sum.
  Rewrites(R"(
    x = s32[200] parameter(0)
    i = s8[] parameter(1)
    j = u8[] parameter(2)
    a = s32[6] dynamic-slice(x, i), dynamic_slice_sizes={6}
    ROOT b = s32[1] dynamic-slice(a, j), dynamic_slice_sizes={1})",
           R"(
    x = s32[200] parameter(0)
    i = s8[] parameter(1)
    j = u8[] parameter(2)
    zero = s8[] constant(0)
    ci = s8[] maximum(i, zero)
    wi = s32[] convert(ci)
    five = u8[] constant(5)
    cj = u8[] minimum(j, five)
    wj = s32[] convert(cj)
    sum = s32[] add(wi, wj)
    ROOT b = s32[1] dynamic-slice(x, sum), dynamic_slice_sizes={1})");
}

TEST(DynamicSliceRules, UpdateIsReadBackOnlyWhereItWasWritten) {
  Rewrites(R"(
    x = s32[10] parameter(0)
    u = s32[3] parameter(1)
    i = s32[] parameter(2)
    w = s32[10] dynamic-update-slice(x, u, i)
    d = s32[3] dynamic-slice(w, i), dynamic_slice_sizes={3}
    ROOT n = s32[3] negate(d))",
           R"(
    x = s32[10] parameter(0)
    u = s32[3] parameter(1)
    i = s32[] parameter(2)
    ROOT n = s32[3] negate(u))");
  // Another size is clamped by another bound.
  Untouched(R"(
    x = s32[10] parameter(0)
    u = s32[3] parameter(1)
    i = s32[] parameter(2)
    w = s32[10] dynamic-update-slice(x, u, i)
    ROOT d = s32[2] dynamic-slice(w, i), dynamic_slice_sizes={2})");
}

TEST(DynamicSliceRules, UpdateOfUpdate) {
  Rewrites(R"(
    x = s32[10] parameter(0)
    u = s32[3] parameter(1)
    v = s32[3] parameter(2)
    i = s32[] parameter(3)
    a = s32[10] dynamic-update-slice(x, u, i)
    ROOT b = s32[10] dynamic-update-slice(a, v, i))",
           R"(
    x = s32[10] parameter(0)
    u = s32[3] parameter(1)
    v = s32[3] parameter(2)
    i = s32[] parameter(3)
    ROOT b = s32[10] dynamic-update-slice(x, v, i))");
  Untouched(R"(
    x = s32[10] parameter(0)
    u = s32[3] parameter(1)
    v = s32[2] parameter(2)
    i = s32[] parameter(3)
    a = s32[10] dynamic-update-slice(x, u, i)
    ROOT b = s32[10] dynamic-update-slice(a, v, i))");
}

TEST(PadRules, PadOfPadAddsEdges) {
  Rewrites(R"(
    x = s32[4] parameter(0)
    v = s32[] parameter(1)
    a = s32[9] pad(x, v), padding=1_1_1
    ROOT b = s32[10] pad(a, v), padding=3_-2)",
           R"(
    x = s32[4] parameter(0)
    v = s32[] parameter(1)
    ROOT b = s32[10] pad(x, v), padding=4_-1_1)");
  // What the inner pad cuts off must not come back.
  Untouched(R"(
    x = s32[4] parameter(0)
    v = s32[] parameter(1)
    a = s32[4] pad(x, v), padding=-1_1
    ROOT b = s32[5] pad(a, v), padding=1_0)");
}

TEST(PadRules, NegativePadIsASlice) {
  Rewrites(R"(
    x = s32[9] parameter(0)
    v = s32[] parameter(1)
    ROOT a = s32[6] pad(x, v), padding=-1_-2)",
           R"(
    x = s32[9] parameter(0)
    v = s32[] parameter(1)
    ROOT a = s32[6] slice(x), slice={[1:7]})");
  // Low and high cancel, but the elements move.
  Untouched(R"(
    x = s32[9] parameter(0)
    v = s32[] parameter(1)
    ROOT a = s32[9] pad(x, v), padding=-2_2)");
}

TEST(ConcatenateRules, AdjacentSlices) {
  Rewrites(R"(
    x = s32[10] parameter(0)
    y = s32[1] parameter(1)
    a = s32[3] slice(x), slice={[1:4]}
    b = s32[4] slice(x), slice={[4:8]}
    ROOT c = s32[8] concatenate(a, b, y), dimensions={0})",
           R"(
    x = s32[10] parameter(0)
    y = s32[1] parameter(1)
    a = s32[7] slice(x), slice={[1:8]}
    ROOT c = s32[8] concatenate(a, y), dimensions={0})");
  Untouched(R"(
    x = s32[10] parameter(0)
    a = s32[3] slice(x), slice={[1:4]}
    b = s32[4] slice(x), slice={[5:9]}
    ROOT c = s32[7] concatenate(a, b), dimensions={0})");
}

}  // namespace
}  // namespace assay
