// Every claim of code generation and of buffer assignment, planted in a program that needs it.
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "optimized/cpu/native/optional_direct.h"
#include "optimized/cpu/testing.h"
#include "optimized/gates/claim_names.h"
#include "optimized/gates/rule_names.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

struct ClaimCase {
  std::string claim;       // or rule/opcode
  std::string parameters;  // of the operator; "" of claim-true
  std::string text;        // the lines of an entry, after those of `callees`
  std::string callees;
  std::string options =
      "threads=1,passes=off";  // what is read in no kernel of its own needs passes
};

const char kAdd[] =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
    " ROOT r = f32[] add(a, b) }\n";
const char kMax[] =
    "max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
    " ROOT r = f32[] maximum(a, b) }\n";
const char kLess[] =
    "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
    " ROOT r = pred[] compare(a, b), direction=LT }\n";

// A system with a lower triangle, its options being codes of letters.
std::string Trsm(int diagonal, int transposed) {
  return StrCat(
      "x = f32[2,2] constant({{4, 1}, {2, 9}})\n y = f32[2,1] constant({{1}, {2}})\n"
      "ROOT r = f32[2,1] custom-call(x, y), custom_call_target=\"blas_strsm_ffi\", "
      "api_version=API_VERSION_TYPED_FFI, backend_config={side = 76 : ui8, uplo = 76 : ui8, diag "
      "= ",
      diagonal, " : ui8, trans_x = ", transposed, " : ui8}");
}

// Windows and convolutions.
std::vector<ClaimCase> OfWindows() {
  return {
      {"optimize-kernel/window-stride", R"("by": -1)",
       "x = f32[9] iota(), iota_dimension=0\n i = f32[] constant(0)\n"
       "ROOT r = f32[4] reduce-window(x, i), window={size=2 stride=2}, to_apply=add",
       kAdd},
      {"optimize-kernel/window-dilation", R"("by": -1)",
       "x = f32[9] iota(), iota_dimension=0\n i = f32[] constant(0)\n"
       "ROOT r = f32[7] reduce-window(x, i), window={size=2 rhs_dilate=2}, to_apply=add",
       kAdd},
      {"optimize-kernel/window-low", R"("by": 1)",
       "x = f32[4] iota(), iota_dimension=0\n i = f32[] constant(0)\n"
       "ROOT r = f32[4] reduce-window(x, i), window={size=2 pad=1_0}, to_apply=add",
       kAdd},
      {"optimize-kernel/base-dilation", R"("by": 1)",
       "x = f32[4] iota(), iota_dimension=0\n i = f32[] constant(0)\n"
       "ROOT r = f32[6] reduce-window(x, i), window={size=2 lhs_dilate=2}, to_apply=add",
       kAdd},
      {"optimize-kernel/window-not-reversed", "",
       "x = f32[1,4,1] iota(), iota_dimension=1\n w = f32[2,1,1] iota(), iota_dimension=0\n"
       "ROOT r = f32[1,3,1] convolution(x, w), window={size=2 rhs_reversal=1}, "
       "dim_labels=b0f_0io->b0f",
       ""},
      {"optimize-kernel/group-outputs", R"("by": 1)",
       "x = f32[1,4,2] iota(), iota_dimension=2\n w = f32[2,1,2] iota(), iota_dimension=0\n"
       "ROOT r = f32[1,3,2] convolution(x, w), window={size=2}, dim_labels=b0f_0io->b0f, "
       "feature_group_count=2",
       ""},
  };
}

// Claims of code that moves data.
std::vector<ClaimCase> OfMovement() {
  return {
      {"optimize-kernel/gather-limit", R"("by": -1)",
       "x = f32[4] iota(), iota_dimension=0\n i = s32[1] constant({9})\n"
       "ROOT r = f32[1] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, "
       "start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
       ""},
      {"optimize-kernel/gather-start-unsigned", "",
       "x = f32[4] iota(), iota_dimension=0\n i = s32[1] constant({-1})\n"
       "ROOT r = f32[1] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, "
       "start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
       ""},
      {"optimize-kernel/start-limit", R"("by": -1)",
       "x = f32[4] iota(), iota_dimension=0\n i = s32[] constant(9)\n"
       "ROOT r = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}",
       ""},
      {"optimize-kernel/start-unsigned", "",
       "x = f32[4] iota(), iota_dimension=0\n i = s32[] constant(-1)\n"
       "ROOT r = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}",
       ""},
      {"optimize-kernel/slice-start", R"("by": -1)",
       "x = f32[4] iota(), iota_dimension=0\n ROOT r = f32[2] slice(x), slice={[1:3]}", ""},
      {"optimize-kernel/slice-stride", R"("by": -1)",
       "x = f32[9] iota(), iota_dimension=0\n ROOT r = f32[3] slice(x), slice={[0:9:3]}", ""},
      {"optimize-kernel/update-extent", R"("by": -1)",
       "x = f32[4] iota(), iota_dimension=0\n u = f32[2] slice(x), slice={[2:4]}\n"
       "i = s32[] constant(0)\n y = f32[4] negate(x)\n"
       "d = f32[4] dynamic-update-slice(y, u, i)\n n = f32[4] add(d, y)\n"
       "ROOT r = f32[4] add(n, d)",
       ""},
      {"optimize-kernel/pad-low", R"("by": 1)",
       "x = f32[4] iota(), iota_dimension=0\n v = f32[] constant(7)\n"
       "ROOT r = f32[6] pad(x, v), padding=1_1",
       ""},
      {"optimize-kernel/pad-step", R"("by": 1)",
       "x = f32[4] iota(), iota_dimension=0\n v = f32[] constant(7)\n"
       "ROOT r = f32[7] pad(x, v), padding=0_0_1",
       ""},
      {"optimize-kernel/part-size", R"("by": -1)",
       "x = f32[2] iota(), iota_dimension=0\n y = f32[2] negate(x)\n"
       "c = f32[4] concatenate(x, y), dimensions={0}\n ROOT r = f32[4] abs(c)",
       "", "threads=1"},
      {"optimize-kernel/part-bits", R"("by": -1)",
       "x = s32[2] iota(), iota_dimension=0\n k = s32[] constant(123456789)\n"
       "b = s32[2] broadcast(k), dimensions={}\n y = s32[2] add(x, b)\n"
       "ROOT r = u8[2,4] bitcast-convert(y)",
       ""},
      {"optimize-kernel/imaginary-bits", R"("by": -1)",
       "x = f64[1] constant({5})\n y = c128[1] complex(x, x)\n"
       "ROOT r = c64[1,2] bitcast-convert(y)",
       ""},
      {"optimize-kernel/bitcast-keeps-order", "",
       "x = s32[6] iota(), iota_dimension=0\n y = s32[2,3]{1,0} reshape(x)\n"
       "z = s32[2,3]{0,1} copy(y)\n ROOT r = s32[3,2]{1,0} bitcast(z)",
       ""},
  };
}

// Reductions, sorts and scatters.
std::vector<ClaimCase> OfKernels() {
  const std::string column = "x = f32[35] iota(), iota_dimension=0\n";
  return {
      {"optimize-kernel/lane-remainder", R"("by": -1)",
       column + "i = f32[] constant(0)\n ROOT r = f32[] reduce(x, i), dimensions={0}, to_apply=add",
       kAdd},
      {"optimize-kernel/neutral-zero-positive", "",
       "z = f32[] constant(-0)\n x = f32[35] broadcast(z), dimensions={}\n"
       "ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add",
       kAdd},
      {"optimize-kernel/neutral-extreme-zero", "",
       column + "n = f32[35] negate(x)\n s = f32[32] slice(n), slice={[3:35]}\n"
                "i = f32[] constant(-inf)\n"
                "ROOT r = f32[] reduce(s, i), dimensions={0}, to_apply=max",
       kMax},
      {"optimize-kernel/combiner-selects", "",
       "x = s32[128] iota(), iota_dimension=0\n i = s32[] constant(7)\n"
       "ROOT r = s32[] reduce(x, i), dimensions={0}, to_apply=order",
       "order { a = s32[] parameter(0)\n b = s32[] parameter(1)\n k = s32[] constant(3)\n"
       " m = s32[] multiply(a, k)\n ROOT r = s32[] add(m, b) }\n"},
      {"sort-by-key/tells-zeros", "",
       "x = f32[4] constant({0, -0, 0, -0})\n"
       "ROOT r = f32[4] sort(x), dimensions={0}, is_stable=true, to_apply=less",
       kLess},
      {"sort-by-key/nan-first", "",
       "x = f32[4] constant({nan, 1, -2, 3})\n"
       "ROOT r = f32[4] sort(x), dimensions={0}, is_stable=true, to_apply=less",
       kLess},
      {"sort-by-key/unsigned", "",
       "x = s32[2] constant({1, -1})\n"
       "ROOT r = s32[2] sort(x), dimensions={0}, to_apply=less",
       "less { a = s32[] parameter(0)\n b = s32[] parameter(1)\n"
       " ROOT r = pred[] compare(a, b), direction=LT }\n"},
      {"sort-by-key/ascending", "",
       "x = f32[4] constant({4, 1, -2, 3})\n"
       "ROOT r = f32[4] sort(x), dimensions={0}, to_apply=greater",
       "greater { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
       " ROOT r = pred[] compare(a, b), direction=GT }\n"},
      {"optimize-kernel/scatter-start-small", "",
       "x = f32[4] iota(), iota_dimension=0\n i = u64[1] constant({18446744073709551615})\n"
       "u = f32[1,2] constant({{5, 6}})\n"
       "ROOT r = f32[4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       kAdd},
  };
}

// Calls of the runtime.
std::vector<ClaimCase> OfCalls() {
  return {
      {"optimize-kernel/cholesky-lower", "",
       "x = f32[2,2] constant({{4, 1}, {2, 9}})\n ROOT r = f32[2,2] cholesky(x), lower=false", ""},
      {"optimize-kernel/solve-lower", "",
       "x = f32[2,2] constant({{4, 1}, {2, 9}})\n y = f32[2,1] constant({{1}, {2}})\n"
       "ROOT r = f32[2,1] triangular-solve(x, y), left_side=true, transpose_a=NO_TRANSPOSE",
       ""},
      {"optimize-kernel/solve-unit-diagonal", "",
       "x = f32[2,2] constant({{4, 1}, {2, 9}})\n y = f32[2,1] constant({{1}, {2}})\n"
       "ROOT r = f32[2,1] triangular-solve(x, y), left_side=true, lower=true, "
       "transpose_a=NO_TRANSPOSE",
       ""},
      {"optimize-kernel/solve-not-conjugated", "",
       "x = c64[1,1] constant({{(1, 2)}})\n y = c64[1,1] constant({{(1, 0)}})\n"
       "ROOT r = c64[1,1] triangular-solve(x, y), left_side=true, lower=true, "
       "transpose_a=ADJOINT",
       ""},
  };
}

// Calls of LAPACK's routines.
std::vector<ClaimCase> OfLapack() {
  return {
      {"optimize-kernel/lapack-lower", "",
       "x = f32[2,2] constant({{4, 1}, {2, 9}})\n y = (f32[2,2], s32[]) custom-call(x), "
       "custom_call_target=\"lapack_spotrf_ffi\", api_version=API_VERSION_TYPED_FFI, "
       "backend_config={uplo = 85 : ui8}\n ROOT r = f32[2,2] get-tuple-element(y), index=0",
       ""},
      {"optimize-kernel/lapack-matrices", R"("by": -1)",
       "x = f32[2,1,1] constant({{{4}}, {{9}}})\n y = (f32[2,1,1], s32[2]) custom-call(x), "
       "custom_call_target=\"lapack_spotrf_ffi\", api_version=API_VERSION_TYPED_FFI, "
       "backend_config={uplo = 85 : ui8}\n ROOT r = f32[2,1,1] get-tuple-element(y), index=0",
       ""},
      {"optimize-kernel/lapack-transposed", "", Trsm(78, 78), ""},
      {"optimize-kernel/lapack-unit-diagonal", "", Trsm(78, 78), ""},
      {"optimize-kernel/lapack-conjugated", "",
       "x = c64[1,1] constant({{(4, 3)}})\n y = c64[1,1] constant({{(1, 2)}})\n"
       "ROOT r = c64[1,1] custom-call(x, y), custom_call_target=\"blas_ctrsm_ffi\", "
       "api_version=API_VERSION_TYPED_FFI, backend_config={side = 76 : ui8, uplo = 76 : ui8, diag "
       "= 78 : ui8, trans_x = 84 : ui8}",
       ""},
      {"optimize-kernel/lapack-values-only", "",
       "x = f32[2,2] constant({{4, 1}, {1, 9}})\n y = (f32[2,2], f32[2], s32[]) custom-call(x), "
       "custom_call_target=\"lapack_ssyevd_ffi\", api_version=API_VERSION_TYPED_FFI, "
       "backend_config={mode = 86 : ui8, uplo = 76 : ui8}\n"
       "ROOT r = f32[2,2] get-tuple-element(y), index=0",
       ""},
      {"optimize-kernel/lapack-reflectors", R"("by": -1)",
       "x = f32[2,2] constant({{4, 1}, {1, 9}})\n t = f32[2] constant({1.5, 0.5})\n"
       "ROOT r = f32[2,2] custom-call(x, t), custom_call_target=\"lapack_sorgqr_ffi\", "
       "api_version=API_VERSION_TYPED_FFI",
       ""},
  };
}

// Transforms, selections, scatters and random numbers.
std::vector<ClaimCase> OfOtherCalls() {
  return {
      {"optimize-kernel/fft-kind", R"("by": 1)",
       "x = c64[4] constant({(1, 0), (2, 0), (3, 0), (4, 0)})\n"
       "ROOT r = c64[4] fft(x), fft_type=FFT, fft_length={4}",
       ""},
      {"optimize-kernel/fft-batch", R"("by": -1)",
       "x = c64[2,2] constant({{(1, 0), (2, 0)}, {(3, 0), (4, 0)}})\n"
       "ROOT r = c64[2,2] fft(x), fft_type=FFT, fft_length={2}",
       ""},
      {"optimize-kernel/fft-rank", R"("by": -1)",
       "x = c64[2,2] constant({{(1, 0), (2, 0)}, {(3, 0), (5, 0)}})\n"
       "ROOT r = c64[2,2] fft(x), fft_type=FFT, fft_length={2,2}",
       ""},
      {"optimize-kernel/fft-length", R"("by": -1)",
       "x = c64[4] constant({(1, 0), (2, 0), (3, 0), (4, 0)})\n"
       "ROOT r = c64[4] fft(x), fft_type=FFT, fft_length={4}",
       ""},
      {"optimize-kernel/cholesky-matrices", R"("by": -1)",
       "x = f32[2,1,1] constant({{{4}}, {{9}}})\n ROOT r = f32[2,1,1] cholesky(x), lower=true", ""},
      {"optimize-kernel/cholesky-order", R"("by": -1)",
       "x = f32[2,2] constant({{4, 1}, {2, 9}})\n ROOT r = f32[2,2] cholesky(x), lower=true", ""},
      {"optimize-kernel/solve-left", "",
       "x = f32[2,2] constant({{4, 0}, {2, 9}})\n y = f32[2,2] constant({{1, 2}, {3, 4}})\n"
       "ROOT r = f32[2,2] triangular-solve(x, y), lower=true, transpose_a=NO_TRANSPOSE",
       ""},
      {"optimize-kernel/solve-not-transposed", "",
       "x = f32[2,2] constant({{4, 0}, {2, 9}})\n y = f32[2,1] constant({{1}, {2}})\n"
       "ROOT r = f32[2,1] triangular-solve(x, y), left_side=true, lower=true, "
       "transpose_a=TRANSPOSE",
       ""},
      {"optimize-kernel/solve-matrices", R"("by": -1)",
       "x = f32[2,1,1] constant({{{4}}, {{9}}})\n y = f32[2,1,1] constant({{{1}}, {{2}}})\n"
       "ROOT r = f32[2,1,1] triangular-solve(x, y), left_side=true, lower=true, "
       "transpose_a=NO_TRANSPOSE",
       ""},
      {"optimize-kernel/top-k-largest", "",
       "x = f32[4] constant({3, 1, 4, 2})\n t = (f32[2], s32[2]) topk(x), k=2, largest=false\n"
       "ROOT r = f32[2] get-tuple-element(t), index=0",
       ""},
      {"optimize-kernel/top-k-size", R"("by": -1)",
       "x = f32[4] constant({3, 1, 2, 4})\n t = (f32[2], s32[2]) topk(x), k=2, largest=true\n"
       "ROOT r = f32[2] get-tuple-element(t), index=0",
       ""},
      {"optimize-kernel/scatter-limit", R"("by": -1)",
       "x = f32[4] iota(), iota_dimension=0\n i = s32[1] constant({2})\n"
       "u = f32[1,2] constant({{5, 6}})\n"
       "ROOT r = f32[4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       kAdd},
      {"optimize-kernel/random-count", R"("by": -1)",
       "s = u64[2] constant({1, 2})\n g = (u64[2], u32[4]) rng-bit-generator(s), "
       "algorithm=rng_philox\n ROOT r = u32[4] get-tuple-element(g), index=1",
       ""},
      {"optimize-kernel/random-mask", R"("by": -1)",
       "s = u64[2] constant({1, 2})\n g = (u64[2], u32[16]) rng-bit-generator(s), "
       "algorithm=rng_philox\n ROOT r = u32[16] get-tuple-element(g), index=1",
       ""},
  };
}

// A dot of f32 large enough to be packed: [m,k] x [k,n].
std::string LargeDot(int64_t m, int64_t k, int64_t n) {
  return StrCat("x = f32[", m, ",", k, "] iota(), iota_dimension=1\n y = f32[", k, ",", n,
                "] iota(), iota_dimension=0\nROOT r = f32[", m, ",", n,
                "] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
}
// A convolution of a line large enough to be packed, with that window.
std::string LargeConvolution(int64_t size, std::string_view window) {
  return StrCat(
      "x = f32[4,32,16] iota(), iota_dimension=1\n w = f32[3,16,16] iota(), "
      "iota_dimension=0\nROOT r = f32[4,",
      size, ",16] convolution(x, w), window={size=3", window, "}, dim_labels=b0f_0io->b0f");
}

// Contractions, running windows, transposes and results that are merged.
std::vector<ClaimCase> OfLargeKernels() {
  return {
      {"blocked-dot/rows", R"("by": -1)", LargeDot(64, 64, 64), ""},
      {"blocked-dot/columns", R"("by": -1)", LargeDot(64, 64, 64), ""},
      {"blocked-dot/lhs-step", R"("by": -1)", LargeDot(64, 64, 64), ""},
      {"blocked-dot/tail", R"("by": -1)",
       "x = f32[16,131] iota(), iota_dimension=1\n y = f32[16,131] iota(), iota_dimension=1\n"
       "ROOT r = f32[16,16] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
       ""},
      {"blocked-dot/window-low", R"("by": 1)", LargeConvolution(32, " pad=1_1"), ""},
      {"blocked-dot/window-stride", R"("by": -1)", LargeConvolution(15, " stride=2"), ""},
      {"blocked-dot/window-dilation", R"("by": -1)", LargeConvolution(28, " rhs_dilate=2"), ""},
      {"blocked-dot/base-dilation", R"("by": -1)", LargeConvolution(61, " lhs_dilate=2"), ""},
      {"cumulative-window/forward", "",
       "x = f32[9] iota(), iota_dimension=0\n i = f32[] constant(0)\n"
       "ROOT r = f32[9] reduce-window(x, i), window={size=9 pad=0_8}, to_apply=add",
       kAdd},
      {"cumulative-window/stride", R"("by": -1)",
       "x = f32[9,3] iota(), iota_dimension=0\n i = f32[] constant(0)\n"
       "ROOT r = f32[9,3] reduce-window(x, i), window={size=9x1 pad=8_0x0_0}, to_apply=add",
       kAdd},
      {"vectorize/squares-fit", "",
       "x = f32[67,69] iota(), iota_dimension=1\n ROOT r = f32[69,67] transpose(x), "
       "dimensions={1,0}",
       ""},
      {"sort-by-key/lost-bits", R"("by": 1)",
       "x = s32[4] constant({3, 2, 1, 0})\n"
       "ROOT r = s32[4] sort(x), dimensions={0}, is_stable=true, to_apply=less",
       "less { a = s32[] parameter(0)\n b = s32[] parameter(1)\n"
       " ROOT r = pred[] compare(a, b), direction=LT }\n"},
      {"fuse-results/same-operation", "",
       "x = f32[32] iota(), iota_dimension=0\n y = f32[32] sine(x)\n k = f32[] constant(2)\n"
       "l = f32[] constant(3)\n p = f32[32] broadcast(k), dimensions={}\n"
       "q = f32[32] broadcast(l), dimensions={}\n a = f32[32] multiply(y, p)\n"
       "b = f32[32] multiply(y, q)\n ROOT r = (f32[32], f32[32]) tuple(a, b)",
       "", "threads=1"},
      {"fuse-results/result", R"("by": -1, "least": 0)",
       "x = f32[32] iota(), iota_dimension=0\n y = f32[32] sine(x)\n a = f32[32] negate(y)\n"
       "b = f32[32] exponential(y)\n ROOT r = (f32[32], f32[32]) tuple(a, b)",
       "", "threads=1"},
  };
}

// A dot of such operands, large enough to be packed, and what is made of it.
std::string FusedDot(std::string_view before, std::string_view behind) {
  return StrCat(
      "x = f32[64,64] iota(), iota_dimension=1\n y = f32[64,64] iota(), "
      "iota_dimension=0\n z = f32[64,64] sine(x)\n",
      before, "\n", behind);
}

// Claims of dots that read and write through other ops.
std::vector<ClaimCase> OfFusedContractions() {
  const std::string dot =
      "f32[64,64] dot(a, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  return {
      {"blocked-dot/transposed-step", R"("by": -1, "least": 1)",
       FusedDot("b = f32[4,16,64] reshape(z)\n c = f32[16,4,64] transpose(b), "
                "dimensions={1,0,2}\n a = f32[64,64] reshape(c)",
                StrCat("ROOT r = ", dot)),
       "", "threads=1,without=constant-folding"},
      {"blocked-dot/result-step", R"("by": -1, "least": 1)",
       FusedDot(StrCat("a = f32[64,64] cosine(z)\n d = ", dot),
                "ROOT r = f32[64,64] transpose(d), dimensions={1,0}"),
       "", "threads=1,without=constant-folding"},
      {"blocked-dot/joined-step", R"("by": -1, "least": 1)",
       FusedDot("b = f32[4,16,64] reshape(z)\n c = f32[16,4,64] transpose(b), "
                "dimensions={1,0,2}\n a = f32[64,64] reshape(c)",
                StrCat("ROOT r = ", dot)),
       "", "threads=1,without=constant-folding"},
      {"blocked-dot/slice-start", R"("by": -1, "least": 0)",
       "x = f32[96,64] iota(), iota_dimension=0\n z = f32[96,64] sine(x)\n"
       "y = f32[64,64] iota(), iota_dimension=0\n a = f32[64,64] slice(z), slice={[9:73], "
       "[0:64]}\n ROOT r = f32[64,64] dot(a, y), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}",
       "", "threads=1,without=constant-folding"},
      {"blocked-dot/epilogue-begin", R"("by": 1)",
       FusedDot("a = f32[64,64] cosine(z)",
                StrCat("d = ", dot, "\n ROOT r = f32[64,64] subtract(d, y)")),
       "", "threads=1,without=constant-folding"},
      {"blocked-dot/epilogue-end", R"("by": -1)",
       FusedDot("a = f32[64,64] cosine(z)",
                StrCat("d = ", dot, "\n ROOT r = f32[64,64] subtract(d, x)")),
       "", "threads=1,without=constant-folding"},
      {"blocked-dot/epilogue-sums", R"("by": -1)",
       FusedDot("a = f32[64,64] cosine(z)",
                StrCat("d = ", dot, "\n ROOT r = f32[64,64] add(d, x)")),
       "", "threads=1,without=constant-folding"},
      {"blocked-dot/slice-stride", R"("by": -1, "least": 1)",
       "x = f32[128,64] iota(), iota_dimension=0\n z = f32[128,64] sine(x)\n"
       "y = f32[64,64] iota(), iota_dimension=0\n a = f32[64,64] slice(z), slice={[0:128:2], "
       "[0:64]}\n ROOT r = f32[64,64] dot(a, y), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}",
       "", "threads=1,without=constant-folding"},
  };
}

// The beginning of a program on one constant array.
std::string OfOne(std::string_view type, std::string_view values) {
  return StrCat("x = ", type, " constant(", values, ")\n ROOT r = ");
}

// Claims of machine code that is made without LLVM.
std::vector<ClaimCase> OfDirectCode() {
  if (!CanTranslateDirectly()) return {};
  return {
      {"direct-code/no-nan", "",
       "x = f32[2] constant({nan, 1})\n y = f32[2] constant({2, nan})\n"
       "ROOT r = f32[2] maximum(x, y)",
       ""},
      {"direct-code/zeros-alike", "",
       "x = f32[2] constant({0, -0})\n y = f32[2] constant({-0, 0})\n"
       "ROOT r = f32[2] maximum(x, y)",
       ""},
      {"direct-code/predicate", R"("by": -8, "least": 22, "most": 22)",
       "x = f32[3] constant({nan, 1, 2})\n y = f32[3] constant({1, 2, nan})\n"
       "ROOT r = pred[3] compare(x, y), direction=GT",
       ""},
      {"direct-code/high-bits-clear", "",
       StrCat(OfOne("u8[3]", "{200, 201, 202}"), "s32[3] fusion(x), kind=kLoop, calls=f"),
       "f { a = u8[3] parameter(0)\n b = u8[3] add(a, a)\n ROOT c = s32[3] convert(b) }\n"},
      {"direct-code/shift", R"("by": -1)",
       StrCat(OfOne("s32[3]", "{5, 6, 7}"), "s32[3] fusion(x), kind=kLoop, calls=f"),
       "f { a = s32[3] parameter(0)\n k = s32[] constant(3)\n"
       " b = s32[3] broadcast(k), dimensions={}\n ROOT c = s32[3] shift-left(a, b) }\n"},
      {"direct-code/short-not-negative", "",
       "x = s8[3] constant({-1, 1, 2})\n y = s8[3] constant({1, 2, -3})\n"
       "ROOT r = pred[3] compare(x, y), direction=LT",
       ""},
      {"direct-code/in-range", "", StrCat(OfOne("f32[3]", "{1000, 1, 2}"), "s8[3] convert(x)"), ""},
      {"direct-code/below-half", "",
       StrCat(OfOne("u64[3]", "{18446744073709551615, 1, 2}"), "f64[3] convert(x)"), ""},
      {"direct-code/phis-apart", "",
       "x = s32[35] iota(), iota_dimension=0\n i = s32[] constant(4)\n j = s32[] constant(5)\n"
       "ROOT r = (s32[], s32[]) reduce(x, x, i, j), dimensions={0}, to_apply=swap",
       "swap { a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = s32[] parameter(2)\n"
       " d = s32[] parameter(3)\n ROOT r = (s32[], s32[]) tuple(b, a) }\n"},
      {"direct-code/stored-bytes", R"("by": -16, "least": 16, "most": 16)",
       "x = f32[64] iota(), iota_dimension=0\n ROOT r = f32[64] negate(x)", ""},
      {"direct-code/lanes-not-negative", "",
       "x = s8[64] iota(), iota_dimension=0\n y = s8[64] negate(x)\n"
       "ROOT r = s32[64] convert(y)",
       ""},
      {"direct-code/lanes-below-half", "",
       "x = u8[64] iota(), iota_dimension=0\n y = u8[64] not(x)\n"
       "ROOT r = pred[64] compare(x, y), direction=LT",
       ""},
      {"direct-code/lane-shift", R"("by": -1)",
       "x = s32[64] iota(), iota_dimension=0\n ROOT r = s32[64] fusion(x), kind=kLoop, calls=f",
       "f { a = s32[64] parameter(0)\n k = s32[] constant(3)\n"
       " b = s32[64] broadcast(k), dimensions={}\n ROOT c = s32[64] shift-left(a, b) }\n"},
      {"direct-code/picked-lane", R"("by": -1, "least": 0)",
       "x = f32[64] iota(), iota_dimension=0\n ROOT r = f32[64] reverse(x), dimensions={0}", ""},
  };
}

// The formulas of functions of f64.
std::vector<ClaimCase> OfFunctions() {
  return {
      {"optimize-kernel/exp-one-step", "",
       "x = f64[2] constant({709.5, -740})\n ROOT r = f64[2] exponential(x)", ""},
      {"optimize-kernel/exp-exact", "",
       "x = f64[3] constant({50, -300, 700})\n ROOT r = f64[3] exponential(x)", ""},
      {"optimize-kernel/log-normal", "",
       "x = f64[2] constant({1e-310, 1})\n ROOT r = f64[2] log(x)", ""},
      {"optimize-kernel/log1p-exact", "",
       "x = f64[2] constant({1e-5, 1})\n ROOT r = f64[2] log-plus-one(x)", ""},
      {"optimize-kernel/away-from-pi", "",
       "x = f64[6] constant({22, 44, 355, 710, 1e6, 1e9})\n ROOT r = f64[6] sine(x)", ""},
      {"optimize-kernel/angle-not-huge", "",
       "x = f64[2] constant({1e22, 1})\n ROOT r = f64[2] cosine(x)", ""},
      {"optimize-kernel/power-not-odd", "",
       "x = f64[2] constant({-2, 1})\n y = f64[2] constant({3, 2})\n"
       "ROOT r = f64[2] power(x, y)",
       ""},
  };
}

// Claims of one opcode each: values and indices of elements.
std::vector<ClaimCase> OfElements() {
  return {
      {"optimize-kernel/maximum", R"("when": "nan", "becomes": "operand", "from": 1)",
       "x = f32[2] constant({nan, 1})\n y = f32[2] constant({2, 3})\n"
       "ROOT r = f32[2] maximum(x, y)",
       ""},
      {"optimize-kernel/negate", R"("when": "smallest", "becomes": "next")",
       "x = s8[2] constant({-128, 1})\n ROOT r = s8[2] negate(x)", ""},
      {"optimize-kernel/round-nearest-even", R"("when": "halfway", "becomes": "next")",
       "x = f32[2] constant({2.5, 1})\n ROOT r = f32[2] round-nearest-even(x)", ""},
      {"optimize-kernel/add", R"("when": "subnormal", "becomes": "zero")",
       "x = f64[2] constant({1e-310, 1})\n ROOT r = f64[2] add(x, x)", ""},
      {"optimize-kernel/abs", R"("when": "negative-zero", "becomes": "negate")",
       "x = bf16[2] constant({-0, 1})\n ROOT r = bf16[2] abs(x)", ""},
      {"optimize-kernel/popcnt", R"("when": "odd", "becomes": "one")",
       "x = u16[2] constant({7, 1})\n ROOT r = u16[2] popcnt(x)", ""},
      {"optimize-kernel/transpose", R"("where": "last")",
       "x = s32[2,3] iota(), iota_dimension=1\n ROOT r = s32[3,2] transpose(x), dimensions={1,0}",
       ""},
      {"optimize-kernel/reverse", R"("where": "first")",
       "x = s32[3,2] iota(), iota_dimension=0\n ROOT r = s32[3,2] reverse(x), dimensions={0}", ""},
      {"optimize-kernel/pad", R"("where": "all", "dim": 1)",
       "x = s32[2,3] iota(), iota_dimension=1\n v = s32[] constant(7)\n"
       "ROOT r = s32[2,4] pad(x, v), padding=0_0x1_0",
       ""},
  };
}

std::string DefectOf(const ClaimCase& one) {
  std::string op = "claim-true";
  const std::optional<ClaimKind> kind = FindClaim(one.claim);
  if (kind == ClaimKind::kNumber) op = "integer-offset";
  if (kind == ClaimKind::kElement) {
    op = one.parameters.find("where") != std::string::npos ? "element-index" : "element-value";
  }
  const DecisionRule* rule = FindRule(RuleOf(one.claim));
  EXPECT_NE(rule, nullptr) << one.claim;
  return StrCat(R"({"name": "d", "gate": ")", one.claim, R"(", "kind": ")",
                rule == nullptr ? "" : Name(rule->kind), R"(", "op": ")", op,
                R"(", "parameters": {)", one.parameters, "}}");
}

TEST(Claims, OfCodeChangeWhatComesOut) {
  std::set<std::string> shown;
  for (const auto& cases :
       {OfWindows(), OfMovement(), OfKernels(), OfLargeKernels(), OfFusedContractions(), OfCalls(),
        OfLapack(), OfOtherCalls(), OfFunctions(), OfElements(), OfDirectCode()}) {
    for (const ClaimCase& one : cases) {
      SCOPED_TRACE(one.claim);
      const std::unique_ptr<Module> module =
          MustRead(StrCat("HloModule m\n", one.callees, "ENTRY main {\n", one.text, "\n}\n"));
      ASSERT_NE(module, nullptr);
      const std::unique_ptr<Backend> backend = MakeCpu(one.options);
      CompileOptions planted;
      planted.defect = DefectOf(one);
      const Literal right = RunModule(*backend, *module, {});
      const Literal wrong = RunModule(*backend, *module, {}, planted);
      EXPECT_NE(right.ToString(), wrong.ToString()) << planted.defect;
      shown.insert(one.claim);
    }
  }
  // The claims of GPUs are planted by gpu_templates_test, from a file whose second field is the
  // claim, and one of defects.
  std::ifstream of_gpus(StrCat(ASSAY_SOURCE_DIR, "/optimized/gpu/testdata/template_defects.txt"));
  for (std::string line; std::getline(of_gpus, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    if (fields.size() > 1) shown.insert(fields[1]);
  }
  std::ifstream of_kernels(StrCat(ASSAY_SOURCE_DIR, "/fuzz/defects/gpu-kernels.json"));
  for (std::string line; std::getline(of_kernels, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, "\"gate\": \"");
    if (parts.size() == 2) shown.insert(parts[1].substr(0, parts[1].find('"')));
  }
  for (const ClaimName& claim : ClaimNames()) {
    if (RuleOf(claim.name) == "direct-code" && !CanTranslateDirectly()) continue;
    if (FindRule(RuleOf(claim.name))->kind == DecisionKind::kKernel) {
      EXPECT_TRUE(shown.contains(std::string(claim.name))) << claim.name;
    }
  }
}

}  // namespace
}  // namespace assay
