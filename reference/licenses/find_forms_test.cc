// Which products, sums and quotients a compiler may give another form. In the module below the name
// of an instruction tells in which way it may be: both_... multiplies two scaled values, twice_...
// scales or shifts what was scaled or shifted, joins_... are exponentials, root_... is a root times
// itself, none_... has no other form.
#include "reference/licenses/find_forms.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "reference/interpreter/folding/constant_folder.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

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
  none_scaled = f32[2] multiply(none_square, c)
  abs_scaled = f32[2] abs(none_scaled)
  none_signed = f32[2] multiply(none_square, d)
  abs_signed = f32[2] abs(none_signed)
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
  none_signed_magnitude = f32[2] multiply(abs_signed, c)
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

// Constants that the oracle's interpreter folds.
class FoldedConstants : public Constants {
 public:
  explicit FoldedConstants(const InliningCallers& callers)
      : Constants(callers, [this](const Instruction& instruction, const Shape& shape,
                                  absl::Span<const Value* const> operands) {
          return folder_.Evaluate(instruction, shape, operands);
        }) {}

 private:
  ConstantFolder folder_;
};

TEST(LicensedForms, SignsAndNeedlessMagnitudesHideNone) {
  const auto module = ReadModule(kModule);
  ASSERT_TRUE(module.ok()) << module.status();
  const InliningCallers callers = FindInliningCallers(**module);
  FoldedConstants constants(callers);
  int64_t count = 0;
  for (const Instruction* instruction : *(*module)->entry()) {
    const std::string_view name = instruction->name();
    constexpr std::string_view kPrefixes[] = {"both_", "twice_", "joins_", "root_", "none_"};
    const bool is_asked =
        std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                    [name](std::string_view prefix) { return name.starts_with(prefix); });
    if (!is_asked) continue;
    ++count;
    const LicensedForms forms = LicensedFormsOf(*instruction, constants);
    EXPECT_EQ(forms.scale_of_both >= 0, name.starts_with("both_")) << name;
    EXPECT_EQ(forms.scales_twice || forms.shifts_twice, name.starts_with("twice_")) << name;
    EXPECT_EQ(forms.joins_exponentials, name.starts_with("joins_")) << name;
    EXPECT_EQ(forms.squares_root, name.starts_with("root_")) << name;
  }
  EXPECT_EQ(count, 27);
}

// A way in which `v` may be made, or may not, of a scaled or shifted `m`.
struct Way {
  std::string_view words;
  bool is_passed = true;
};
constexpr Way kWays[] = {
    {"v = f32[8] sort(m), dimensions={0}, to_apply=less"},
    {"s = (f32[8], f32[8]) sort(y, m), dimensions={0}, to_apply=first_less\n"
     "v = f32[8] get-tuple-element(s), index=1"},
    {"s = (f32[8], f32[8]) sort(y, m), dimensions={0}, to_apply=first_less\n"
     "v = f32[8] get-tuple-element(s), index=0",
     false},
    {"t = (f32[8], s32[8]) topk(m), k=8, largest=true\n"
     "v = f32[8] get-tuple-element(t), index=0"},
    {"v = f32[8] reduce-window(m, zero), window={size=1}, to_apply=sum"},
    {"v = f32[8] reduce-window(m, zero), window={size=3 pad=1_1}, to_apply=sum", false},
    {"w = f64[8] convert(m)\nv = f32[8] convert(w)"},
    {"w = bf16[8] convert(m)\nv = f32[8] convert(w)", false},
    {"z = c64[8] complex(m, y)\nv = f32[8] real(z)"},
    {"z = c64[8] complex(m, y)\nv = f32[8] imag(z)", false},
    {"i = s32[8] bitcast-convert(m)\nv = f32[8] bitcast-convert(i)"},
    {"i = s32[8] bitcast-convert(m)\nn = s32[8] negate(i)\nv = f32[8] bitcast-convert(n)", false},
    {"v = f32[8] gather(m, at), offset_dims={0}, collapsed_slice_dims={}, start_index_map={0}, "
     "index_vector_dim=0, slice_sizes={8}"},
    {"v = f32[8] scatter(y, at, m), update_window_dims={0}, inserted_window_dims={}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=second"},
    {"v = f32[8] scatter(y, at, m), update_window_dims={0}, inserted_window_dims={}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=sum",
     false},
    {"b = f32[8] broadcast(least), dimensions={}\nv = f32[8] maximum(b, m)"},
    {"v = f32[8] maximum(y, m)", false},
    {"k = f32[8] slice(m), slice={[0:8]}\nv = f32[8] maximum(k, m)"},
    {"k = f32[8] slice(m), slice={[0:8]}\nv = f32[8] minimum(m, k)"},
    {"k = f32[1] slice(m), slice={[0:1]}\nl = f32[] reshape(k)\n"
     "b = f32[8] broadcast(l), dimensions={}\nv = f32[8] maximum(b, m)",
     false},
    {"n = f32[] negate(least)\nv = f32[8] clamp(least, m, n)"},
    {"v = f32[8] clamp(zero, m, zero)", false},
    {"k = f32[16] concatenate(m, y), dimensions={0}\nv = f32[8] slice(k), slice={[0:8]}"},
    {"k = f32[16] pad(m, zero), padding=4_4\nv = f32[8] slice(k), slice={[4:12]}"},
    {"v = f32[8] dynamic-slice(m, start), dynamic_slice_sizes={8}"},
    {"v = f32[8] dynamic-update-slice(y, m, start)"},
    {"p = pred[8] compare(y, m), direction=LT\nv = f32[8] select(p, y, m)", false},
    {"h = f32[8,1] reshape(m)\no = f32[1] constant({1})\nv = f32[8] dot(h, o), "
     "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
    {"v = f32[8] all-reduce(m), replica_groups={}, to_apply=sum", false},
    {"v = f32[8] cosine(m)", false},
};

std::string TextOf(const Way& way, const std::string& op) {
  return absl::StrCat(R"(HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
first_less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT l = pred[] compare(a, b), direction=LT
}
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
second {
  a = f32[] parameter(0)
  ROOT b = f32[] parameter(1)
}
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  c = f32[8] constant({0.1, 3, 5, 7, 0.3, 0.7, 11, 13})
  zero = f32[] constant(0)
  least = f32[] constant(-inf)
  at = s32[1] constant({0})
  start = s32[] parameter(2)
  m = f32[8] )",
                      op, "(x, c)\n", std::string(way.words), "\nROOT r = f32[8] ", op,
                      "(v, c)\n}\n");
}

TEST(LicensedForms, MovesHideNone) {
  for (const Way& way : kWays) {
    for (const std::string op : {"multiply", "add"}) {
      const auto module = ReadModule(TextOf(way, op));
      ASSERT_TRUE(module.ok()) << way.words << module.status();
      EXPECT_EQ(absl::OkStatus(), Verify(**module)) << way.words;
      const InliningCallers callers = FindInliningCallers(**module);
      FoldedConstants constants(callers);
      const LicensedForms forms = LicensedFormsOf(*(*module)->entry()->root(), constants);
      EXPECT_EQ(op == "add" ? forms.shifts_twice : forms.scales_twice, way.is_passed)
          << op << " " << way.words;
    }
  }
}

}  // namespace
}  // namespace assay::reference
