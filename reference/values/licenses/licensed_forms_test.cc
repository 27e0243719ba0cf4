// Which products, sums and quotients a compiler may give another form. In the module below the name
// of an instruction tells in which way it may be: both_... multiplies two scaled values, twice_...
// scales or shifts what was scaled or shifted, joins_... are exponentials, root_... is a root times
// itself, none_... has no other form.
#include "reference/values/licenses/licensed_forms.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "spec/text/reader.h"

namespace assay::reference {
namespace {

constexpr std::string_view kModule = R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  c = f32[2] constant({0.1, 3})
  d = f32[2] constant({0.7, -5})
  none_m = f32[2] multiply(x, c)
  none_n = f32[2] multiply(y, d)
  none_s = f32[2] add(x, c)
  minus_m = f32[2] negate(none_m)
  minus_n = f32[2] negate(none_n)
  minus_s = f32[2] negate(none_s)
  abs_m = f32[2] abs(none_m)
  abs_n = f32[2] abs(none_n)
  abs_x = f32[2] abs(x)
  abs_y = f32[2] abs(y)
  none_square = f32[2] multiply(abs_x, abs_x)
  none_scaled_square = f32[2] multiply(none_square, c)
  abs_square = f32[2] abs(none_scaled_square)
  positive = f32[2] constant({0.1, 3})
  none_scaled = f32[2] multiply(none_square, positive)
  abs_scaled = f32[2] abs(none_scaled)
  exp_x = f32[2] exponential(x)
  exp_y = f32[2] exponential(y)
  minus_exp = f32[2] negate(exp_y)
  abs_exp = f32[2] abs(exp_y)
  sqrt_x = f32[2] sqrt(x)
  minus_sqrt = f32[2] negate(sqrt_x)

  both_scaled = f32[2] multiply(none_m, none_n)
  both_magnitudes = f32[2] multiply(abs_m, abs_m)
  both_signs = f32[2] multiply(minus_m, none_n)
  none_one_magnitude = f32[2] multiply(abs_m, none_n)
  none_other_magnitude = f32[2] multiply(abs_m, abs_n)
  none_unscaled_magnitude = f32[2] multiply(abs_m, y)
  twice_scaled = f32[2] multiply(none_m, d)
  twice_signed = f32[2] multiply(d, minus_m)
  twice_divided = f32[2] divide(minus_m, d)
  twice_positive = f32[2] multiply(abs_scaled, d)
  none_magnitude = f32[2] multiply(abs_m, d)
  twice_shifted = f32[2] subtract(none_s, d)
  twice_shifted_back = f32[2] add(minus_s, d)
  none_shifted_once = f32[2] add(x, y)
  joins_product = f32[2] multiply(exp_x, exp_y)
  joins_signed = f32[2] multiply(exp_x, minus_exp)
  joins_positive = f32[2] divide(exp_x, abs_exp)
  none_exponential = f32[2] multiply(exp_x, abs_y)
  root_squared = f32[2] multiply(sqrt_x, sqrt_x)
  root_signed = f32[2] multiply(minus_sqrt, sqrt_x)
  ROOT t = () tuple()
})";

TEST(LicensedForms, SignsAndNeedlessMagnitudesHideNone) {
  const auto module = ReadModule(kModule);
  ASSERT_TRUE(module.ok()) << module.status();
  const InliningCallers callers = FindInliningCallers(**module);
  int64_t count = 0;
  for (const Instruction* instruction : *(*module)->entry()) {
    const std::string_view name = instruction->name();
    constexpr std::string_view kPrefixes[] = {"both_", "twice_", "joins_", "root_", "none_"};
    const bool is_asked =
        std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                    [name](std::string_view prefix) { return name.starts_with(prefix); });
    if (!is_asked) continue;
    ++count;
    const LicensedForms forms = LicensedFormsOf(*instruction, callers);
    EXPECT_EQ(forms.scale_of_both >= 0, name.starts_with("both_")) << name;
    EXPECT_EQ(forms.scales_twice || forms.shifts_twice, name.starts_with("twice_")) << name;
    EXPECT_EQ(forms.joins_exponentials, name.starts_with("joins_")) << name;
    EXPECT_EQ(forms.squares_root, name.starts_with("root_")) << name;
  }
  EXPECT_EQ(count, 26);
}

}  // namespace
}  // namespace assay::reference
