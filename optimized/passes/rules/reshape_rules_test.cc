// transpose, reshape, broadcast, reverse; dot and reduce of them.
#include "optimized/passes/pass_testing.h"
#include "optimized/passes/rules/algebraic_simplifier.h"

namespace assay {
namespace {

void Rewrites(const std::string& before, const std::string& after) {
  ExpectRewrite<AlgebraicSimplifier>(before, after);
}
void Untouched(const std::string& before) { ExpectUntouched<AlgebraicSimplifier>(before); }

TEST(ReshapeRules, TransposesComposeInOrder) {
  Rewrites(R"(
    x = s32[2,3,5] parameter(0)
    a = s32[3,5,2] transpose(x), dimensions={1,2,0}
    ROOT b = s32[3,2,5] transpose(a), dimensions={0,2,1})",
           R"(
    x = s32[2,3,5] parameter(0)
    ROOT b = s32[3,2,5] transpose(x), dimensions={1,0,2})");
  Untouched(R"(
    x = s32[2,3,5] parameter(0)
    ROOT a = s32[3,5,2] transpose(x), dimensions={1,2,0})");
}

TEST(ReshapeRules, TransposeOfUnitDimensionsIsAReshape) {
  Rewrites(R"(
    x = s32[2,1,5] parameter(0)
    ROOT a = s32[1,2,5] transpose(x), dimensions={1,0,2})",
           R"(
    x = s32[2,1,5] parameter(0)
    ROOT a = s32[1,2,5] reshape(x))");
}

TEST(ReshapeRules, ReverseOfReverseKeepsWhatOneReverses) {
  Rewrites(R"(
    x = s32[2,3,5] parameter(0)
    a = s32[2,3,5] reverse(x), dimensions={0,1}
    ROOT b = s32[2,3,5] reverse(a), dimensions={1,2})",
           R"(
    x = s32[2,3,5] parameter(0)
    ROOT b = s32[2,3,5] reverse(x), dimensions={0,2})");
}

TEST(BroadcastRules, BroadcastOfBroadcast) {
  Rewrites(R"(
    x = s32[3] parameter(0)
    a = s32[2,3] broadcast(x), dimensions={1}
    ROOT b = s32[2,4,3] broadcast(a), dimensions={0,2})",
           R"(
    x = s32[3] parameter(0)
    ROOT b = s32[2,4,3] broadcast(x), dimensions={2})");
}

TEST(BroadcastRules, ReshapeOfBroadcastMovesOnlyUnitDimensions) {
  Rewrites(R"(
    x = s32[3] parameter(0)
    a = s32[1,3,4] broadcast(x), dimensions={1}
    ROOT b = s32[3,1,4] reshape(a))",
           R"(
    x = s32[3] parameter(0)
    ROOT b = s32[3,1,4] broadcast(x), dimensions={0})");
  Untouched(R"(
    x = s32[3] parameter(0)
    a = s32[3,4] broadcast(x), dimensions={0}
    ROOT b = s32[12] reshape(a))");
}

TEST(ContractionRules, DotTakesOverATranspose) {
  Rewrites(R"(
    x = f32[3,2] parameter(0)
    y = f32[3,5] parameter(1)
    t = f32[2,3] transpose(x), dimensions={1,0}
    ROOT d = f32[2,5] dot(t, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
           R"(
    x = f32[3,2] parameter(0)
    y = f32[3,5] parameter(1)
    ROOT d = f32[2,5] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0})");
  // The free dimensions would come out in another order.
  Untouched(R"(
    x = f32[2,7,3] parameter(0)
    y = f32[3,5] parameter(1)
    t = f32[7,2,3] transpose(x), dimensions={1,0,2}
    ROOT d = f32[7,2,5] dot(t, y), lhs_contracting_dims={2}, rhs_contracting_dims={0})");
}

constexpr char kReduceOfTranspose[] = R"(HloModule m
  c { a = s32[] parameter(0)
      b = s32[] parameter(1)
      ROOT r = s32[] COMBINER(a, b) }
  ENTRY main {
    x = s32[2,3,5] parameter(0)
    z = s32[] parameter(1)
    t = s32[5,2,3] transpose(x), dimensions={2,0,1}
    ROOT r = s32[2,3] reduce(t, z), dimensions={0}, to_apply=c })";

std::string With(std::string text, const std::string& combiner) {
  return text.replace(text.find("COMBINER"), 8, combiner);
}

TEST(ContractionRules, ReduceOfTransposeForRecognisedCombinersOnly) {
  Rewrites(With(kReduceOfTranspose, "add"), R"(HloModule m
  c { a = s32[] parameter(0)
      b = s32[] parameter(1)
      ROOT r = s32[] add(a, b) }
  ENTRY main {
    x = s32[2,3,5] parameter(0)
    z = s32[] parameter(1)
    ROOT r = s32[2,3] reduce(x, z), dimensions={2}, to_apply=c })");
  Untouched(With(kReduceOfTranspose, "subtract"));
}

TEST(ContractionRules, ReduceOfUnitDimensionsNeedsTheIdentity) {
  const std::string text = R"(HloModule m
  c { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT r = f32[] add(a, b) }
  ENTRY main {
    x = f32[4,1] parameter(0)
    z = f32[] constant(COMBINER)
    ROOT r = f32[4] reduce(x, z), dimensions={1}, to_apply=c })";
  ExpectRewrite<AlgebraicSimplifier>(With(text, "-0"), R"(
    x = f32[4,1] parameter(0)
    ROOT r = f32[4] reshape(x))");
  Untouched(With(text, "0"));  // turns -0 to +0
}

}  // namespace
}  // namespace assay
