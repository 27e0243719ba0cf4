// Which inputs say places, and that what is drawn for them mostly lies among those that there are.
#include "conformance/inputs/drawn_inputs.h"

#include <gtest/gtest.h>

#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

std::unique_ptr<Module> Read(const std::string& text) {
  auto module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// "0/0:[0,7]", with "s" for sorted and "u" for unique.
std::string RolesOf(const std::string& text) {
  const std::unique_ptr<Module> module = Read(text);
  std::string roles;
  const DrawnInputs inputs(*module);
  for (const auto& [place, role] : inputs.roles()) {
    StrAppend(&roles, roles.empty() ? "" : " ", place.first, "/", place.second, ":", role.last,
              role.is_sorted ? "s" : "", role.is_unique ? "u" : "", role.is_wrapped ? "w" : "");
  }
  return roles;
}

TEST(DrawnInputs, FollowsInputsToWhereTheyArePlaces) {
  EXPECT_EQ(RolesOf(R"(HloModule gather_behind_jax_wrapping
wrap {
  i = s32[6] parameter(0)
  n = s32[6] parameter(1)
  o = s32[6] broadcast(s32[] constant(0)), dimensions={}
  z = pred[6] compare(i, o), direction=LT
  a = s32[6] add(i, n)
  ROOT s = s32[6] select(z, a, i)
}
ENTRY e {
  x = f32[9,4] parameter(0)
  i = s32[6] parameter(1)
  n = s32[6] broadcast(s32[] constant(9)), dimensions={}
  w = s32[6] call(i, n), to_apply=wrap
  r = s32[6,1] reshape(w)
  ROOT g = f32[6,4] gather(x, r), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
})"),
            "1/0:8w");
  EXPECT_EQ(RolesOf(R"(HloModule starts
ENTRY e {
  x = f32[9,40] parameter(0)
  p = (s32[], (s64[], u8[])) parameter(1)
  i = s32[] get-tuple-element(p), index=0
  q = (s64[], u8[]) get-tuple-element(p), index=1
  j = s64[] get-tuple-element(q), index=0
  k = u8[] get-tuple-element(q), index=1
  i64 = s64[] convert(i)
  d = f32[2,8] dynamic-slice(x, i64, j), dynamic_slice_sizes={2,8}
  k32 = s32[] convert(k)
  z = s32[] constant(0)
  ROOT u = f32[9,40] dynamic-update-slice(x, d, z, k32)
})"),
            "1/0:7 1/1:32 1/2:32");
}

TEST(DrawnInputs, FollowsInputsIntoScattersAndLoops) {
  EXPECT_EQ(RolesOf(R"(HloModule scatter
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[10,5] parameter(0)
  i = s32[3,1] parameter(1)
  u = f32[3,2,5] parameter(2)
  ROOT s = f32[10,5] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=add
})"),
            "1/0:8u");
  EXPECT_EQ(RolesOf(R"(HloModule one_hot_in_a_loop
body {
  s = (s32[], s32[4], f32[4,10]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  y = s32[4] get-tuple-element(s), index=1
  yb = s32[4,10] broadcast(y), dimensions={0}
  c = s32[4,10] iota(), iota_dimension=1
  h = pred[4,10] compare(yb, c), direction=EQ
  f = f32[4,10] convert(h)
  one = s32[] constant(1)
  m = s32[] add(n, one)
  ROOT t = (s32[], s32[4], f32[4,10]) tuple(m, y, f)
}
condition {
  s = (s32[], s32[4], f32[4,10]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  ROOT c = pred[] compare(n, s32[] constant(3)), direction=LT
}
ENTRY e {
  y = s32[4] parameter(0)
  f = f32[4,10] parameter(1)
  i = (s32[], s32[4], f32[4,10]) tuple(s32[] constant(0), y, f)
  ROOT w = (s32[], s32[4], f32[4,10]) while(i), condition=condition, body=body
})"),
            "0/0:9");
  EXPECT_EQ(RolesOf("HloModule m\nENTRY e {\n  x = s32[4] parameter(0)\n  ROOT n = s32[4] "
                    "negate(x)\n}\n"),
            "");
}

TEST(DrawnInputs, DrawsPlacesMostlyInRange) {
  const std::unique_ptr<Module> module = Read(R"(HloModule m
ENTRY e {
  x = f32[1000] parameter(0)
  i = s32[4096,1] parameter(1)
  ROOT g = f32[4096] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
})");
  uint64_t stream = 0;
  const auto drawn = DrawnInputs(*module).Draw(*module->entry()->parameter(1), 1, stream);
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  int64_t inside = 0, low = 0, high = 0;
  for (int64_t i = 0; i < 4096; ++i) {
    const int64_t place = drawn->GetInteger(i);
    inside += place >= 0 && place < 1000 ? 1 : 0;
    low += place < 500 ? 1 : 0;
    high += place >= 500 ? 1 : 0;
  }
  EXPECT_GT(inside, 3600);
  EXPECT_LT(inside, 4096);
  EXPECT_GT(std::min(low, high), 1800);
}

TEST(DrawnInputs, KeepsPromises) {
  const std::unique_ptr<Module> module = Read(R"(HloModule m
ENTRY e {
  x = f32[10] parameter(0)
  i = s32[10,1] parameter(1)
  ROOT g = f32[10] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}, indices_are_sorted=true
})");
  uint64_t stream = 0;
  const auto drawn = DrawnInputs(*module).Draw(*module->entry()->parameter(1), 1, stream);
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  for (int64_t i = 1; i < 10; ++i) EXPECT_LE(drawn->GetInteger(i - 1), drawn->GetInteger(i));
}

}  // namespace
}  // namespace assay
