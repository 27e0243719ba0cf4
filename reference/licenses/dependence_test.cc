// Divisors that a compiler may take for constants. In the module below the name of an instruction
// tells what it is: none_..., partly_..., varies_....
#include "reference/licenses/dependence.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay::reference {
namespace {

constexpr std::string_view kModule = R"(HloModule m
add {
  a = f64[] parameter(0)
  b = f64[] parameter(1)
  ROOT s = f64[] add(a, b)
}
second {
  a = f64[] parameter(0)
  ROOT b = f64[] parameter(1)
}
not_less {
  a = f64[] parameter(0)
  b = f64[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE
}
ENTRY e {
  varies_y = f64[3] parameter(0)
  varies_at = s32[] parameter(1)
  varies_empty = f64[3,0] parameter(2)
  varies_choice = pred[3] parameter(3)
  varies_whole = s32[3] parameter(4)
  varies_at_all = f64[] parameter(5)
  none_five = f64[] constant(5)
  none_zero = f64[] constant(0)
  none_row = f64[3] constant({1, 2, 3})
  none_one = f64[1] constant({7})
  none_mask = pred[3] constant({1, 0, 1})
  none_matrix = f64[1,1] constant({{5}})
  none_begin = s32[] constant(0)
  none_places = s32[1,1] constant({{0}})

  none_sum_of_nothing = f64[3] reduce(varies_empty, none_five), dimensions={1}, to_apply=add
  none_start = f64[3] reduce(varies_empty, varies_at_all), dimensions={1}, to_apply=add
  varies_from = f64[] reduce(none_row, varies_at_all), dimensions={0}, to_apply=add
  varies_sum = f64[] reduce(varies_y, none_zero), dimensions={0}, to_apply=add
  varies_size_of = f64[3] negate(varies_y)
  none_size = s32[] get-dimension-size(varies_y), dimensions={0}
  none_zeros = f64[3] broadcast(none_zero), dimensions={}
  none_power = f64[3] power(varies_y, none_zeros)
  varies_square = f64[3] power(varies_y, none_row)
  none_convolution = f64[1,1] convolution(none_matrix, none_matrix), dim_labels=bf_io->bf
  none_root = f64[1,1] cholesky(none_matrix), lower=true
  none_scattered = f64[3] select-and-scatter(none_row, none_row, none_zero), window={size=1}, select=not_less, scatter=add

  partly_pad = f64[6] pad(varies_y, none_five), padding=2_1
  partly_cut = f64[4] pad(varies_y, none_five), padding=2_-1
  none_cut = f64[2] pad(varies_y, varies_sum), padding=2_-3
  partly_constant = f64[6] pad(none_row, varies_sum), padding=2_1
  partly_filled = f64[6] pad(varies_y, varies_sum), padding=2_1
  partly_joined = f64[4] concatenate(varies_y, none_one), dimensions={0}
  varies_joined = f64[6] concatenate(varies_y, varies_y), dimensions={0}
  partly_turned = f64[6] reverse(partly_pad), dimensions={0}
  partly_scaled = f64[6] negate(partly_turned)
  varies_added = f64[6] add(partly_scaled, varies_joined)
  partly_updated = f64[3] dynamic-update-slice(varies_y, none_one, varies_at)
  none_updated = f64[3] dynamic-update-slice(varies_y, none_row, none_begin)
  varies_updated = f64[3] dynamic-update-slice(varies_y, varies_size_of, none_begin)
  partly_put = f64[3] scatter(varies_y, none_places, none_one), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second
  none_slice = f64[2] slice(partly_pad), slice={[0:2]}
  none_step = f64[2] slice(partly_pad), slice={[1:6:4]}
  partly_slice = f64[2] slice(partly_pad), slice={[2:4]}
  none_part = f64[1] slice(partly_joined), slice={[3:4]}
  partly_part = f64[2] slice(partly_joined), slice={[0:4:3]}
  none_taken = f64[2] dynamic-slice(partly_scaled, varies_at), dynamic_slice_sizes={2}
  varies_slice = f64[2] slice(varies_y), slice={[0:2]}
  none_gathered = f64[1] gather(partly_joined, none_places), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}

  none_chosen = f64[3] select(none_mask, varies_y, none_row)
  none_either = f64[3] select(varies_choice, none_row, none_zeros)
  varies_chosen = f64[3] select(varies_choice, varies_y, none_row)
  none_clamped = f64[3] clamp(none_five, varies_y, none_five)
  none_vanishes = s32[3] subtract(varies_whole, varies_whole)
  varies_difference = f64[3] subtract(varies_y, varies_y)
  ROOT none_all = () tuple()
})";

TEST(DependenceTest, IsWhatTheNamesSay) {
  const absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(kModule);
  ASSERT_TRUE(module.ok()) << module.status();
  Dependences known;
  for (const Instruction* instruction : *(*module)->entry()) {
    known[instruction] = DependenceOf(*instruction, /*is_entry=*/true, known);
    const std::string name(instruction->name());
    const Dependence wanted = absl::StartsWith(name, "none_")     ? Dependence::kNone
                              : absl::StartsWith(name, "partly_") ? Dependence::kPartly
                                                                  : Dependence::kVaries;
    EXPECT_EQ(known[instruction], wanted) << name;
  }
}

}  // namespace
}  // namespace assay::reference
