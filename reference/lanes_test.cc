// A computation of scalars that is applied to many elements at once says of each what it says of
// one: calls, branches and moves of one element (Interpreter::RunLifted).
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "reference/interpreter/interpreter.h"
#include "reference/interpreter/plan.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay::reference {
namespace {

constexpr char kCallees[] = R"(HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
twice { a = f32[] parameter(0) s = f32[] call(a, a), to_apply=sum ROOT r = f32[] sine(s) }
pair { a = f32[] parameter(0) n = f32[] negate(a) ROOT r = (f32[], f32[]) tuple(n, a) }
other { a = f32[] parameter(0) e = f32[] exponential(a) ROOT r = (f32[], f32[]) tuple(a, e) }
nothing { n = () parameter(0) o = f32[] constant(1) ROOT r = (f32[], f32[]) tuple(o, o) }
first { t = (f32[], f32[]) parameter(0) ROOT r = f32[] get-tuple-element(t), index=0 }
second { t = (f32[], f32[]) parameter(0) ROOT r = f32[] get-tuple-element(t), index=1 }
before { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }
)";

// Bodies on x and y, f32; it is unclear in some of them which of the two runs decides.
const char* const kBodies[] = {
    "c = f32[] call(x, y), to_apply=sum d = f32[] call(c), to_apply=twice "
    "ROOT r = f32[] multiply(d, y)",
    "t = (f32[], f32[]) tuple(x, y) g = pred[] compare(x, y), direction=GT "
    "ROOT r = f32[] conditional(g, t, t), true_computation=first, false_computation=second",
    "e = f32[] exponential(x) t = (f32[], f32[]) tuple(e, y) "
    "g = pred[] compare(e, y), direction=GT "
    "ROOT r = f32[] conditional(g, t, t), true_computation=first, false_computation=second",
    "i = s32[] convert(y) t = (f32[], f32[]) conditional(i, x, y, x), "
    "branch_computations={pair, other, other} a = f32[] get-tuple-element(t), index=0 "
    "b = f32[] get-tuple-element(t), index=1 ROOT r = f32[] subtract(a, b)",
    "e = f32[] exponential(x) u = f32[] subtract(e, y) i = s32[] convert(u) "
    "n = () tuple() t = (f32[], f32[]) conditional(i, x, n, y), "
    "branch_computations={pair, nothing, other} ROOT r = f32[] get-tuple-element(t), index=1",
    "b = f32[1,1] broadcast(x), dimensions={} s = f32[1,1] sort(b), dimensions={1}, "
    "to_apply=before c = f32[1,1] sine(s) d = f32[1,1] slice(c), slice={[0:1], [0:1]} "
    "k = f32[1,1] constant({{2}}) m = f32[1,1] multiply(d, k) "
    "v = f32[1,1] reverse(m), dimensions={0} h = f32[1,1] transpose(v), dimensions={1,0} "
    "q = f32[] reshape(h) ROOT r = f32[] call(q, y), to_apply=sum",
};

std::unique_ptr<Module> Read(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  EXPECT_TRUE(Verify(**module).ok()) << Verify(**module) << text;
  return *std::move(module);
}

// `body` applied by `op`, map or call, to operands of shape f32[SIZES].
std::unique_ptr<Module> Applied(const std::string& body, std::string_view op,
                                std::string_view sizes) {
  return Read(
      StrCat(kCallees, "body { x = f32[] parameter(0) y = f32[] parameter(1) ", body, " }\n",
             absl::StrReplaceAll("ENTRY e { x = F parameter(0) y = F parameter(1) "
                                 "ROOT m = F OP(x, y), to_apply=body }",
                                 {{"F", StrCat("f32[", sizes, "]")}, {"OP", std::string(op)}})));
}

Literal Floats(absl::Span<const float> values, const Shape& shape) {
  Literal literal(shape);
  for (size_t i = 0; i < values.size(); ++i) literal.SetDouble(static_cast<int64_t>(i), values[i]);
  return literal;
}

// Tells what is expected of an element of the first output, but for the sign of a zero, of which
// the rule for batches of numbers knows more than that for one, and for what additions may see.
std::string Said(const Expectation& expectation, int64_t i) {
  EXPECT_EQ(expectation.inconclusive, "");
  const ArrayExpectation& array = expectation.leaves[0];
  const std::string plain = StrCat(array.plain.GetBits(i));
  const auto choices = array.choices.find(i);
  if (choices != array.choices.end()) return StrCat("one of ", choices->second.size(), plain);
  if (array.bounds.empty()) return plain;
  const ElementBound& bound = array.bounds[static_cast<size_t>(i)];
  const uint32_t flags = bound.flags & 0xffffu & ~uint32_t{kZeroSignFree};
  if ((flags & kForced) != 0 || (bound.radius == 0 && flags == 0)) return plain;
  return StrCat(plain, " ", bound.centre, " ", bound.radius, " ", flags);
}

TEST(Lanes, EachElementIsWhatTheComputationMakesOfItAlone) {
  // Exponentials of 0 and 1 lie at y, as near as f32 has them.
  const std::vector<float> x = {0, 1, 1, -2.5f, 3, INFINITY, -0.0f, 0.1f, 80};
  const std::vector<float> y = {1, 2.7182817f, 2.7182820f, 0, -7, 1, NAN, 2, 1e30f};
  const Literal xs = Floats(x, Shape::Array(ElementType::kF32, {9}));
  const Literal ys = Floats(y, Shape::Array(ElementType::kF32, {9}));
  int64_t unclear = 0;
  for (const char* body : kBodies) {
    const std::unique_ptr<Module> applied = Applied(body, "map", "9"),
                                  alone = Applied(body, "call", "");
    MemoryMeter memory(1 << 20);
    Plans plans(/*bounding=*/true);
    EXPECT_TRUE((*plans.PlanOf(*applied->entry()->root()->callee(), memory))->liftable) << body;
    for (const Profile* profile : {&Profile::Strict(), &Profile::Xla()}) {
      const absl::StatusOr<Expectation> all =
          MakeOracle()->Expect(*applied, {&xs, &ys}, *profile, Limits{});
      ASSERT_TRUE(all.ok()) << all.status() << body;
      for (size_t i = 0; i < x.size(); ++i) {
        const Literal one = Floats({x[i]}, Shape::Scalar(ElementType::kF32));
        const Literal two = Floats({y[i]}, Shape::Scalar(ElementType::kF32));
        const absl::StatusOr<Expectation> single =
            MakeOracle()->Expect(*alone, {&one, &two}, *profile, Limits{});
        ASSERT_TRUE(single.ok()) << single.status() << body;
        const std::string said = Said(*all, static_cast<int64_t>(i));
        EXPECT_EQ(said, Said(*single, 0)) << body << " of " << x[i] << " and " << y[i];
        if (said.find(' ') != std::string::npos) ++unclear;
      }
    }
  }
  EXPECT_GT(unclear, 20);
}

// Each of 40 levels branches to the next one on either side: what runs on all elements for both
// would run 2^40 times.
TEST(Lanes, BranchesRunOnWhatTakesThemAlone) {
  std::string text = "HloModule m\nlevel0 { x = s32[] parameter(0) ROOT r = s32[] negate(x) }\n";
  for (int level = 1; level <= 40; ++level) {
    StrAppend(&text, "level", level, " { x = s32[] parameter(0) b = s32[] constant(", level,
              ") s = s32[] shift-right-logical(x, b) o = s32[] constant(1) ",
              "l = s32[] and(s, o) t = s32[] add(x, o) ROOT r = s32[] conditional(l, x, t), ",
              "branch_computations={level", level - 1, ", level", level - 1, "} }\n");
  }
  StrAppend(&text, "ENTRY e { x = s32[1000] iota(), iota_dimension=0 ",
            "ROOT m = s32[1000] map(x), dimensions={0}, to_apply=level40 }");
  const std::unique_ptr<Module> module = Read(text);
  Limits limits;
  limits.steps = 10'000'000;
  const absl::StatusOr<Literal> result = MakeOracle()->Evaluate(*module, {}, limits);
  ASSERT_TRUE(result.ok()) << result.status();
  for (int64_t i = 0; i < 1000; ++i) {
    int32_t x = static_cast<int32_t>(i);
    for (int level = 40; level > 0; --level) {
      const uint32_t bits = static_cast<uint32_t>(x);
      x += level < 32 ? static_cast<int32_t>(bits >> level & 1) : 0;
    }
    ASSERT_EQ(result->GetInteger(i), -x) << i;
  }
}

TEST(Lanes, NoElementIsNoWork) {
  const std::unique_ptr<Module> module = Applied(kBodies[3], "map", "0");
  const Literal none(Shape::Array(ElementType::kF32, {0}));
  const absl::StatusOr<Literal> result = MakeOracle()->Evaluate(*module, {&none, &none}, Limits{});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->element_count(), 0);
}

TEST(Lanes, ManyElementsWithinAreOneAfterTheOther) {
  const char* const kOthers[] = {
      "b = f32[2] broadcast(x), dimensions={} s = f32[1] slice(b), slice={[1:2]} "
      "q = f32[] reshape(s) ROOT r = f32[] add(q, y)",
      "z = f32[] constant(0) b = f32[1] broadcast(x), dimensions={} "
      "ROOT r = f32[] reduce(b, z), dimensions={0}, to_apply=sum",
  };
  for (const char* body : kOthers) {
    const std::unique_ptr<Module> module = Applied(body, "map", "3");
    MemoryMeter memory(1 << 20);
    Plans plans(/*bounding=*/true);
    EXPECT_FALSE((*plans.PlanOf(*module->entry()->root()->callee(), memory))->liftable) << body;
  }
}

}  // namespace
}  // namespace assay::reference
