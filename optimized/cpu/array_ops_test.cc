// Ops with kernels of their own, and windows. Expected values by hand from the documents.
#include <utility>
#include <vector>

#include "optimized/cpu/testing.h"

namespace assay {
namespace {

struct Case {
  const char* name;
  const char* text;
  std::vector<std::pair<const char*, const char*>> arguments;  // shape, value
  const char* expected;
};

class ArrayOps : public ::testing::TestWithParam<Case> {};

// The writer's spacing of tuples and arrays differs.
std::string WithoutSpaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

// Every instruction set, one thread and several, passes or none: the same values.
TEST_P(ArrayOps, GivesExpectedValue) {
  const Case& c = GetParam();
  std::vector<Literal> arguments;
  for (const auto& [shape, value] : c.arguments) arguments.push_back(MustReadLiteral(shape, value));
  for (const char* options : {"threads=1", "threads=3,tier=full", "isa=baseline", "passes=off"}) {
    const Literal result = RunText(*MakeCpu(options), c.text, arguments);
    EXPECT_EQ(WithoutSpaces(result.ToString()), WithoutSpaces(c.expected)) << options;
  }
}

const Case kConvolutions[] = {
    {"convolution_padded_reversed",
     R"(HloModule m
ENTRY e {
  x = f32[1,4,1] parameter(0)
  w = f32[3,1,1] parameter(1)
  ROOT c = f32[1,4,1] convolution(x, w), window={size=3 pad=1_1 rhs_reversal=1}, dim_labels=b0f_0io->b0f
})",
     {{"f32[1,4,1]", "{{{1},{2},{3},{4}}}"}, {"f32[3,1,1]", "{{{1}},{{10}},{{100}}}"}},
     "{{{12}, {123}, {234}, {340}}}"},
    {"convolution_base_dilation",
     R"(HloModule m
ENTRY e {
  x = s32[1,3,1] parameter(0)
  w = s32[2,1,1] parameter(1)
  ROOT c = s32[1,3,1] convolution(x, w), window={size=2 stride=2 pad=0_2 lhs_dilate=2 rhs_dilate=2}, dim_labels=b0f_0io->b0f
})",
     {{"s32[1,3,1]", "{{{1},{2},{3}}}"}, {"s32[2,1,1]", "{{{1}},{{10}}}"}},
     "{{{21}, {32}, {3}}}"},
    {"convolution_feature_groups",
     R"(HloModule m
ENTRY e {
  x = f32[1,2,4] parameter(0)
  w = f32[1,2,2] parameter(1)
  ROOT c = f32[1,2,2] convolution(x, w), window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=2
})",
     {{"f32[1,2,4]", "{{{1,2,3,4},{5,6,7,8}}}"}, {"f32[1,2,2]", "{{{1,10},{100,1000}}}"}},
     "{{{201, 4030}, {605, 8070}}}"},
    {"convolution_batch_groups",
     R"(HloModule m
ENTRY e {
  x = f32[2,2,1] parameter(0)
  w = f32[1,1,2] parameter(1)
  ROOT c = f32[1,2,2] convolution(x, w), window={size=1}, dim_labels=b0f_0io->b0f, batch_group_count=2
})",
     {{"f32[2,2,1]", "{{{1},{2}},{{3},{4}}}"}, {"f32[1,1,2]", "{{{1,10}}}"}},
     "{{{1, 30}, {2, 40}}}"},
};
INSTANTIATE_TEST_SUITE_P(Convolution, ArrayOps, ::testing::ValuesIn(kConvolutions),
                         [](const auto& info) { return std::string(info.param.name); });

const Case kLinearAlgebra[] = {
    {"cholesky_lower",
     R"(HloModule m
ENTRY e {
  a = f64[2,2,2] parameter(0)
  ROOT c = f64[2,2,2] cholesky(a), lower=true
})",
     {{"f64[2,2,2]", "{{{4,99},{2,10}},{{1,0},{2,3}}}"}},
     "{{{2, 0}, {1, 3}}, {{nan, nan}, {nan, nan}}}"},
    {"cholesky_upper",
     R"(HloModule m
ENTRY e {
  a = bf16[2,2] parameter(0)
  ROOT c = bf16[2,2] cholesky(a)
})",
     {{"bf16[2,2]", "{{4,2},{99,10}}"}},
     "{{2, 1}, {0, 3}}"},
    {"solve_left_lower",
     R"(HloModule m
ENTRY e {
  a = f32[2,2] parameter(0)
  b = f32[2,1] parameter(1)
  ROOT x = f32[2,1] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
})",
     {{"f32[2,2]", "{{2,99},{3,4}}"}, {"f32[2,1]", "{{2},{11}}"}},
     "{{1}, {2}}"},
    {"solve_left_lower_transposed",
     R"(HloModule m
ENTRY e {
  a = f32[2,2] parameter(0)
  b = f32[2,1] parameter(1)
  ROOT x = f32[2,1] triangular-solve(a, b), left_side=true, lower=true, transpose_a=TRANSPOSE
})",
     {{"f32[2,2]", "{{2,99},{3,4}}"}, {"f32[2,1]", "{{8},{8}}"}},
     "{{1}, {2}}"},
    {"solve_right_upper_unit",
     R"(HloModule m
ENTRY e {
  a = f16[2,2] parameter(0)
  b = f16[1,2] parameter(1)
  ROOT x = f16[1,2] triangular-solve(a, b), unit_diagonal=true, transpose_a=NO_TRANSPOSE
})",
     {{"f16[2,2]", "{{7,3},{99,7}}"}, {"f16[1,2]", "{{1,5}}"}},
     "{{1, 2}}"},
};
INSTANTIATE_TEST_SUITE_P(LinearAlgebra, ArrayOps, ::testing::ValuesIn(kLinearAlgebra),
                         [](const auto& info) { return std::string(info.param.name); });

const Case kBatchNorm[] = {
    {"training",
     R"(HloModule m
ENTRY e {
  x = f32[4,1] parameter(0)
  s = f32[1] parameter(1)
  o = f32[1] parameter(2)
  ROOT r = (f32[4,1], f32[1], f32[1]) batch-norm-training(x, s, o), epsilon=4, feature_index=1
})",
     {{"f32[4,1]", "{{1},{3},{5},{7}}"}, {"f32[1]", "{3}"}, {"f32[1]", "{1}"}},
     "({{-2},{0},{2},{4}},{4},{5})"},
    {"inference",
     R"(HloModule m
ENTRY e {
  x = f16[2] parameter(0)
  p = f16[2,3] parameter(1)
  s = f16[2] parameter(2)
  ROOT r = f16[2,3] batch-norm-inference(p, x, s, x, s), epsilon=4, feature_index=0
})",
     {{"f16[2]", "{3,6}"}, {"f16[2,3]", "{{1,2,3},{6,9,12}}"}, {"f16[2]", "{5,0}"}},
     "{{3,4,5},{0,9,18}}"},
    {"gradient",
     R"(HloModule m
ENTRY e {
  x = f64[2,1] parameter(0)
  s = f64[1] parameter(1)
  m = f64[1] parameter(2)
  v = f64[1] parameter(3)
  g = f64[2,1] parameter(4)
  ROOT r = (f64[2,1], f64[1], f64[1]) batch-norm-grad(x, s, m, v, g), epsilon=1, feature_index=1
})",
     {{"f64[2,1]", "{{1},{3}}"},
      {"f64[1]", "{2}"},
      {"f64[1]", "{2}"},
      {"f64[1]", "{0}"},
      {"f64[2,1]", "{{1},{4}}"}},
     "({{0},{0}},{3},{5})"},
};
INSTANTIATE_TEST_SUITE_P(BatchNorm, ArrayOps, ::testing::ValuesIn(kBatchNorm),
                         [](const auto& info) { return std::string(info.param.name); });

const Case kIndexing[] = {
    {"gather_clamps",
     R"(HloModule m
ENTRY e {
  x = s32[4,3] parameter(0)
  i = s8[3] parameter(1)
  ROOT g = s32[3,3] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
})",
     {{"s32[4,3]", "{{0,1,2},{10,11,12},{20,21,22},{30,31,32}}"}, {"s8[3]", "{2,-5,100}"}},
     "{{20, 21, 22}, {0, 1, 2}, {30, 31, 32}}"},
    {"scatter_adds_and_skips",
     R"(HloModule m
f {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b)
}
ENTRY e {
  x = s32[4] parameter(0)
  i = s32[4,1] parameter(1)
  u = s32[4] parameter(2)
  ROOT s = s32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
})",
     {{"s32[4]", "{1,2,3,4}"}, {"s32[4,1]", "{{1},{1},{-1},{4}}"}, {"s32[4]", "{10,20,30,40}"}},
     "{1, 32, 3, 4}"},
    {"scatter_window_partly_outside",
     R"(HloModule m
f {
  a = f32[] parameter(0)
  ROOT b = f32[] parameter(1)
}
ENTRY e {
  x = f32[4] parameter(0)
  i = u64[1] parameter(1)
  u = f32[3] parameter(2)
  ROOT s = f32[4] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=f
})",
     {{"f32[4]", "{1,2,3,4}"}, {"u64[1]", "{2}"}, {"f32[3]", "{10,20,30}"}},
     "{1, 2, 10, 20}"},
    {"reduce_window_padded",
     R"(HloModule m
f {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] subtract(a, b)
}
ENTRY e {
  x = s32[4] parameter(0)
  z = s32[] parameter(1)
  ROOT w = s32[3] reduce-window(x, z), window={size=2 stride=2 pad=1_1}, to_apply=f
})",
     {{"s32[4]", "{1,2,3,4}"}, {"s32[]", "100"}},
     "{99, 95, 96}"},
    {"select_and_scatter",
     R"(HloModule m
ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE
}
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[3] parameter(1)
  z = f32[] parameter(2)
  ROOT s = f32[4] select-and-scatter(x, y, z), window={size=2}, select=ge, scatter=f
})",
     {{"f32[4]", "{1,5,5,2}"}, {"f32[3]", "{10,20,30}"}, {"f32[]", "0.5"}},
     "{0.5, 30.5, 30.5, 0.5}"},
};
INSTANTIATE_TEST_SUITE_P(Indexing, ArrayOps, ::testing::ValuesIn(kIndexing),
                         [](const auto& info) { return std::string(info.param.name); });

const Case kOrdering[] = {
    {"sort_is_stable_along_first",
     R"(HloModule m
lt {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  k = s32[5,2] parameter(0)
  v = s32[5,2] parameter(1)
  ROOT s = (s32[5,2], s32[5,2]) sort(k, v), dimensions={0}, to_apply=lt
})",
     {{"s32[5,2]", "{{3,1},{1,1},{3,0},{1,9},{2,0}}"},
      {"s32[5,2]", "{{0,5},{1,6},{2,7},{3,8},{4,9}}"}},
     "({{1, 0}, {1, 0}, {2, 1}, {3, 1}, {3, 9}}, {{1, 7}, {3, 9}, {4, 5}, {0, 6}, {2, 8}})"},
    {"topk_total_order",
     R"(HloModule m
ENTRY e {
  x = f32[2,4] parameter(0)
  ROOT t = (f32[2,2], s32[2,2]) topk(x), k=2, largest=true
})",
     {{"f32[2,4]", "{{-0,0,-1,0},{1,nan,inf,-nan}}"}},
     "({{0, 0}, {nan, inf}}, {{1, 3}, {1, 2}})"},
    {"map_squares",
     R"(HloModule m
f {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] multiply(a, a)
  ROOT r = s32[] subtract(c, b)
}
ENTRY e {
  x = s32[3] parameter(0)
  y = s32[3] parameter(1)
  ROOT m = s32[3] map(x, y), dimensions={0}, to_apply=f
})",
     {{"s32[3]", "{2,3,4}"}, {"s32[3]", "{1,1,0}"}},
     "{3, 8, 16}"},
};
INSTANTIATE_TEST_SUITE_P(Ordering, ArrayOps, ::testing::ValuesIn(kOrdering),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace assay
