// Walks that turn or choose among vector lanes, at sizes that fill vectors and sizes that do not,
// against the definition of the op.
#include <cmath>
#include <string>

#include "gtest/gtest.h"
#include "optimized/cpu/testing.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

Literal Counting(ElementType type, std::vector<int64_t> dimensions) {
  Literal literal(Shape::Array(type, dimensions));
  for (int64_t i = 0; i < literal.element_count(); ++i) literal.SetInteger(i, i * 7 % 127);
  return literal;
}

TEST(Lanes, TransposesOfEverySizeAreTurned) {
  std::unique_ptr<Backend> backend = MakeCpu();
  for (const char* type : {"f32", "f64", "s8", "bf16"}) {
    for (const auto& [rows, columns] :
         {std::pair(16, 16), {8, 24}, {17, 33}, {40, 100}, {16, 7}, {5, 64}}) {
      const std::string text = StrCat("HloModule m\nENTRY e {\n  x = ", type, "[3,", rows, ",",
                                      columns, "] parameter(0)\n  t = ", type, "[3,", columns, ",",
                                      rows, "] transpose(x), dimensions={0,2,1}\n  ROOT r = ", type,
                                      "[3,", columns, ",", rows, "] add(t, t)\n}");
      const Literal input = Counting(*ElementTypeFromName(type), {3, rows, columns});
      const Literal result = RunText(*backend, text, {input});
      for (int64_t b = 0; b < 3; ++b) {
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) {
            Literal twice(Shape::Scalar(input.element_type()));
            const double x = input.GetDouble((b * rows + i) * columns + j);
            if (IsInteger(input.element_type())) {
              twice.SetInteger(0, static_cast<int64_t>(2 * x));
            } else {
              twice.SetDouble(0, 2 * x);
            }
            ASSERT_EQ(result.GetBits((b * columns + j) * rows + i), twice.GetBits(0))
                << type << " " << rows << " " << columns << " " << i << " " << j;
          }
        }
      }
    }
  }
}

TEST(Lanes, ReversedOnesAreTurnedRound) {
  std::unique_ptr<Backend> backend = MakeCpu();
  for (const int64_t size : {3, 16, 67, 256}) {
    const std::string shape = StrCat("s32[2,", size, "]");
    const Literal input = Counting(ElementType::kS32, {2, size});
    const Literal result =
        RunText(*backend,
                StrCat("HloModule m\nENTRY e {\n  x = ", shape, " parameter(0)\n  v = ", shape,
                       " reverse(x), dimensions={1}\n  ROOT r = ", shape, " subtract(v, x)\n}"),
                {input});
    for (int64_t i = 0; i < size; ++i) {
      EXPECT_EQ(result.GetInteger(size + i),
                input.GetInteger(2 * size - 1 - i) - input.GetInteger(size + i))
          << size << " " << i;
    }
  }
}

// The place of the largest value, of the first where several are as large, whatever vector and lane
// it is in; a NaN is larger than all.
TEST(Lanes, ArgmaxFindsEveryPlace) {
  std::unique_ptr<Backend> backend = MakeCpu();
  constexpr int64_t kSize = 75;
  const std::string text = StrCat(R"(HloModule m
argmax {
  v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(v, w), direction=GT
  nan = pred[] compare(v, v), direction=NE
  first = pred[] or(more, nan)
  value = f32[] select(first, v, w)
  equal = pred[] compare(v, w), direction=EQ
  before = pred[] compare(i, j), direction=LT
  tie = pred[] and(equal, before)
  keep = pred[] or(first, tie)
  place = s32[] select(keep, i, j)
  ROOT r = (f32[], s32[]) tuple(value, place)
}
ENTRY e {
  p = f32[)",
                                  kSize, R"(] parameter(0)
  i = s32[)",
                                  kSize, R"(] iota(), iota_dimension=0
  m = f32[] constant(-inf)
  z = s32[] constant(0)
  r = (f32[], s32[]) reduce(p, i, m, z), dimensions={0}, to_apply=argmax
  ROOT a = s32[] get-tuple-element(r), index=1
})");
  for (int64_t place = 0; place < kSize; ++place) {
    Literal input(Shape::Array(ElementType::kF32, {kSize}));
    for (int64_t i = 0; i < kSize; ++i) input.SetDouble(i, static_cast<double>(i % 5));
    input.SetDouble(place, 9);
    if (place + 20 < kSize) input.SetDouble(place + 20, 9);
    EXPECT_EQ(RunText(*backend, text, {input}).GetInteger(0), place);
    input.SetDouble(place, std::nan(""));
    EXPECT_EQ(RunText(*backend, text, {input}).GetInteger(0), place);
  }
}

}  // namespace
}  // namespace assay
