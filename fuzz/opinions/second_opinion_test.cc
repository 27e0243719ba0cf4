// The script of second opinions against the oracle, op by op; needs a Python with numpy, which
// ASSAY_XLA_PYTHON names.
#include "fuzz/opinions/second_opinion.h"

#include <cstdlib>

#include "fuzz/backends/process_backend.h"
#include "fuzz/choices.h"
#include "fuzz/generator/generate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

using testing::HasSubstr;

std::string Python() {
  const std::string python = ChoosePython("");
  const std::string command = StrCat("'", python, "' -c 'import numpy, ml_dtypes' 2>/dev/null");
  return std::system(command.c_str()) == 0 ? python : "";
}

struct Asked {
  std::unique_ptr<Module> module;
  std::vector<Literal> inputs;
  Expectation expectation;
};

Asked Prepare(const std::string& text, uint64_t seed = 3) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return {};
  Choices choices = Choices::FromSeed(seed);
  Asked asked{*std::move(module), {}, {}};
  asked.inputs = RandomInputs(*asked.module, ValueFamily::kOrdinary, choices);
  std::vector<const Literal*> arguments;
  for (const Literal& input : asked.inputs) arguments.push_back(&input);
  absl::StatusOr<Expectation> expectation =
      MakeOracle()->Expect(*asked.module, arguments, Profile::Strict(), Limits());
  EXPECT_TRUE(expectation.ok()) << expectation.status();
  if (expectation.ok()) asked.expectation = *std::move(expectation);
  return asked;
}

const char* const kPrograms[] = {
    "HloModule m\nENTRY e { x = s32[6] parameter(0) a = s32[] constant(3) b = s32[] constant(2)\n"
    "y = s32[3,2] dynamic-reshape(x, a, b)\n"
    "z = s32[3,2] set-dimension-size(y, a), dimensions={0}\n"
    "n = s32[] get-dimension-size(z), dimensions={1} ROOT r = (s32[3,2], s32[]) tuple(z, n) }",
    "HloModule m\nmost { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] maximum(a, "
    "b) }\n"
    "ENTRY e { x = s32[4,0] parameter(0) y = s32[0,4] parameter(1) z = s32[] constant(-2)\n"
    "n = s32[0] reduce(x, z), dimensions={0}, to_apply=most v = s32[4] parameter(2)\n"
    "i = s32[4] reduce(y, z), dimensions={0}, to_apply=most m = s32[4] add(i, v)\n"
    "ROOT r = (s32[0], s32[4]) tuple(n, m) }",
    "HloModule m\nENTRY e { x = s32[5] parameter(0) c = u8[] constant(255)\n"
    "ROOT r = s32[2] dynamic-slice(x, c), dynamic_slice_sizes={2} }",
    "HloModule m\nENTRY e { x = s8[6] parameter(0) y = s8[6] parameter(1) d = s8[6] divide(x, y)\n"
    "q = s8[6] remainder(x, y) p = s8[6] power(x, y) ROOT r = (s8[6], s8[6], s8[6]) tuple(d, q, p) "
    "}",
    "HloModule m\nENTRY e { x = bf16[7] parameter(0) y = s4[7] convert(x) z = f8e4m3fn[7] "
    "convert(x)\n"
    "w = f16[7] convert(z) ROOT r = (s4[7], f16[7]) tuple(y, w) }",
    "HloModule m\nENTRY e { x = f8e4m3[4] constant({0.00195, -0.00586, 0.0137, 0.0176})\n"
    "ROOT r = f8e4m3[4] reduce-precision(x), exponent_bits=11, mantissa_bits=2 }",
    "HloModule m\nENTRY e { x = c128[9] parameter(0) s = c128[9] sine(x) c = c128[9] cosine(x)\n"
    "t = c128[9] tan(x) h = c128[9] tanh(x) a = c128[9] acos(x) b = c128[9] asinh(x)\n"
    "l = c128[9] log-plus-one(x) e = c128[9] exponential-minus-one(x)\n"
    "ROOT r = (c128[9], c128[9], c128[9], c128[9], c128[9], c128[9], c128[9], c128[9]) "
    "tuple(s, c, t, h, a, b, l, e) }",
    "HloModule m\nENTRY e { x = f32[3,4] parameter(0) z = f32[] constant(-1)\n"
    "p = f32[4,7] pad(x, z), padding=1_0_0x-1_2_1 t = f32[7,4] transpose(p), dimensions={1,0}\n"
    "ROOT r = f32[7,4] reverse(t), dimensions={0} }",
    "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
    "ENTRY e { x = f32[5,6] parameter(0) z = f32[] constant(0)\n"
    "w = f32[5,3] reduce-window(x, z), window={size=2x3 stride=1x2 pad=1_0x0_1}, to_apply=add\n"
    "ROOT r = f32[5] reduce(w, z), dimensions={1}, to_apply=add }",
    "HloModule m\nmax { a = f32[] parameter(0) b = f32[] parameter(1)\n"
    "ROOT m = f32[] maximum(b, a) }\n"
    "sum { c = u4[] parameter(0) d = u4[] parameter(1) ROOT s = u4[] add(c, d) }\n"
    "ENTRY e { x = f32[3,40001] parameter(0) z = f32[] constant(-inf) y = u4[2,5,3] parameter(1)\n"
    "o = u4[] constant(7) r = f32[3] reduce(x, z), dimensions={1}, to_apply=max\n"
    "q = u4[5] reduce(y, o), dimensions={2,0}, to_apply=sum\n"
    "ROOT t = (f32[3], u4[5]) tuple(r, q) }",
    // Long ones, of which numpy combines all lines at once: in order, with edges and holes, of
    // pairs.
    "HloModule m\nmin { a = u8[] parameter(0) b = u8[] parameter(1) ROOT m = u8[] minimum(a, b) }\n"
    "half { c = f32[] parameter(0) d = f32[] parameter(1) s = f32[] add(c, d)\n"
    "h = f32[] constant(0.5) ROOT p = f32[] multiply(s, h) }\n"
    "first { e = s32[] parameter(0) f = f32[] parameter(1) g = s32[] parameter(2)\n"
    "h = f32[] parameter(3) l = pred[] compare(e, g), direction=LE\n"
    "i = s32[] select(l, e, g) j = f32[] select(l, f, h) ROOT t = (s32[], f32[]) tuple(i, j) }\n"
    "ENTRY e { x = u8[3,33584] parameter(0) o = u8[] constant(255) y = f32[3,40000] parameter(1)\n"
    "w = u8[2,33584] reduce-window(x, o), window={size=2x3 pad=0_0x1_1}, to_apply=min\n"
    "z = f32[] constant(1) r = f32[40000] reduce(y, z), dimensions={0}, to_apply=half\n"
    "k = s32[3,40000] iota(), iota_dimension=1 n = s32[] constant(7)\n"
    "v = (s32[3,26667], f32[3,26667]) reduce-window(k, y, n, z), "
    "window={size=1x4 stride=1x3 pad=0_0x1_3 lhs_dilate=1x2 rhs_dilate=1x2}, to_apply=first\n"
    "ROOT t = (u8[2,33584], f32[40000], (s32[3,26667], f32[3,26667])) tuple(w, r, v) }",
    "HloModule m\ngt { a = s32[] parameter(0) b = s32[] parameter(1)\n"
    "ROOT c = pred[] compare(a, b), direction=GT }\n"
    "ENTRY e { x = s32[3,5] parameter(0) ROOT r = s32[3,5] sort(x), dimensions={1}, to_apply=gt }",
    "HloModule m\nENTRY e { x = f32[2,5,3] parameter(0) y = f32[2,3,4] parameter(1)\n"
    "ROOT r = f32[2,5,4] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, "
    "lhs_contracting_dims={2}, rhs_contracting_dims={1} }",
    "HloModule m\nENTRY e { x = f32[2,6,5,4] parameter(0) k = f32[3,2,2,6] parameter(1)\n"
    "ROOT r = f32[2,7,2,6] convolution(x, k), window={size=3x2 stride=1x3 pad=1_2x0_1 "
    "rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, feature_group_count=2 }",
    "HloModule m\nENTRY e { x = f32[2,3] parameter(0) k = f32[3,4] parameter(1)\n"
    "ROOT r = f32[4,2] convolution(x, k), dim_labels=bf_io->fb }",
    "HloModule m\nENTRY e { x = f32[4,5] parameter(0) i = s32[3] parameter(1)\n"
    "ROOT r = f32[3,5] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
    "start_index_map={0}, index_vector_dim=1, slice_sizes={1,5} }",
    "HloModule m\nadd { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }\n"
    "ENTRY e { x = s32[4,5] parameter(0) i = s32[3] parameter(1) u = s32[3,5] parameter(2)\n"
    "ROOT r = s32[4,5] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add }",
    // 2^31 + 2^23 + 1 is rounded up to bf16; by way of f32 it would be a tie between two of them.
    "HloModule m\nENTRY e { c = u32[2] constant({2155872257, 3145728001}) x = bf16[2] convert(c)\n"
    "l = s64[1] constant({-4629700416936869889}) y = bf16[1] convert(l) z = f16[2] convert(c)\n"
    "ROOT r = (bf16[2], bf16[1], f16[2]) tuple(x, y, z) }",
    "HloModule m\nENTRY e { x = c64[3] constant({(-2.75, -1), (2, -1), (3, 4)})\n"
    "z = c64[3] constant({(-0, 0), (0, -0), (-0, 2)}) ROOT q = c64[3] divide(x, z) }",
    "HloModule m\nENTRY e { x = c64[4] parameter(0) y = c64[4] multiply(x, x)\n"
    "a = f32[4] abs(y) ROOT r = (c64[4], f32[4]) tuple(y, a) }",
    "HloModule m\nENTRY e { x = f4e2m1fn[4] constant({-4, 6, 0.5, 1.5})\n"
    "ROOT r = f4e2m1fn[4] reduce-precision(x), exponent_bits=2, mantissa_bits=18 }",
    "HloModule m\nENTRY e { x = c64[5] parameter(0) y = c64[5] parameter(1) s = c64[5] sine(x)\n"
    "c = c64[5] cosine(x) p = c64[5] power(x, y) l = c64[5] log-plus-one(x) t = c64[5] tanh(y)\n"
    "ROOT r = (c64[5], c64[5], c64[5], c64[5], c64[5]) tuple(s, c, p, l, t) }",
    // Near -1 what is left of 1 + z is far smaller than the squares of its parts say.
    "HloModule m\nENTRY e { x = c64[4] constant({(-1, 1.17549435e-38), (-0.99999994, 1e-20), "
    "(-1.5, 0.25), (1e-30, -3)}) ROOT l = c64[4] log-plus-one(x) }",
    "HloModule m\nENTRY e { x = f32[4,3,2] parameter(0) s = f32[3] parameter(1)\n"
    "o = f32[3] parameter(2) t = (f32[4,3,2], f32[3], f32[3]) batch-norm-training(x, s, o), "
    "epsilon=0.5, feature_index=1 v = f32[3] get-tuple-element(t), index=2\n"
    "m = f32[3] get-tuple-element(t), index=1 y = f32[4,3,2] get-tuple-element(t), index=0\n"
    "i = f32[4,3,2] batch-norm-inference(x, s, o, m, v), epsilon=0.25, feature_index=1\n"
    "g = (f32[4,3,2], f32[3], f32[3]) batch-norm-grad(x, s, m, v, y), epsilon=0.5, "
    "feature_index=1\nROOT r = ((f32[4,3,2], f32[3], f32[3]), f32[4,3,2]) tuple(g, i) }",
    "HloModule m\nENTRY e { x = f32[2,6] parameter(0)\n"
    "f = c64[2,4] fft(x), fft_type=RFFT, fft_length={6}\n"
    "ROOT b = f32[2,6] fft(f), fft_type=IRFFT, fft_length={6} }",
    "HloModule m\nENTRY e { a = f64[2,2] constant({{4, 1}, {2, 5}}) b = f64[2,3] parameter(0)\n"
    "x = f64[2,3] triangular-solve(a, b), left_side=true, lower=true, transpose_a=TRANSPOSE\n"
    "c = f64[3,2] transpose(b), dimensions={1,0}\n"
    "y = f64[3,2] triangular-solve(a, c), lower=false, unit_diagonal=true, "
    "transpose_a=NO_TRANSPOSE l = f64[2,2] cholesky(a), lower=true\n"
    "ROOT r = (f64[2,3], f64[3,2], f64[2,2]) tuple(x, y, l) }",
    "HloModule m\nc { s = (s32[], s32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0\n"
    "n = s32[] constant(3) ROOT l = pred[] compare(i, n), direction=LT }\n"
    "b { s = (s32[], s32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0\n"
    "v = s32[4] get-tuple-element(s), index=1 o = s32[] constant(1) j = s32[] add(i, o)\n"
    "w = s32[4] add(v, v) ROOT t = (s32[], s32[4]) tuple(j, w) }\n"
    "ENTRY e { x = s32[4] parameter(0) z = s32[] constant(0) t = (s32[], s32[4]) tuple(z, x)\n"
    "ROOT r = (s32[], s32[4]) while(t), condition=c, body=b }",
};

// Programs with bits of types below a byte, scans, the first few of a row, and a device that is
// alone.
const char* const kRarePrograms[] = {
    "HloModule m\nENTRY e { x = u16[2] parameter(0) a = u2[2,8] bitcast-convert(x)\n"
    "y = s4[3,2] parameter(1) b = s8[3] bitcast-convert(y) z = f4e2m1fn[5,4] parameter(2)\n"
    "c = s16[5] bitcast-convert(z) w = f32[2] parameter(3) d = s2[2,16] bitcast-convert(w)\n"
    "ROOT r = (u2[2,8], s8[3], s16[5], s2[2,16]) tuple(a, b, c, d) }",
    "HloModule m\nstep { a = s32[2] parameter(0) c = s32[2] parameter(1)\n"
    "s = s32[2] subtract(a, c) d = s32[2] multiply(s, a)\n"
    "ROOT t = (s32[2], s32[2]) tuple(d, s) }\n"
    "ENTRY e { x = s32[2,5] parameter(0) i = s32[2] parameter(1)\n"
    "f = (s32[2,5], s32[2]) scan(x, i), dimensions={1}, num_carries=1, to_apply=step\n"
    "ROOT b = (s32[2,5], s32[2]) scan(x, i), dimensions={1}, num_carries=1, is_reverse=true, "
    "to_apply=step }",
    "HloModule m\nENTRY e { c = f32[7] constant({1, nan, 3, 3, -inf, -0, 0})\n"
    "a = (f32[4], s32[4]) topk(c), k=4, largest=true\n"
    "b = (f32[3], s32[3]) topk(c), k=3, largest=false\n"
    "x = u64[3,9] parameter(0) d = (u64[3,4], s32[3,4]) topk(x), k=4, largest=true\n"
    "y = f4e2m1fn[9] parameter(1) f = (f4e2m1fn[4], s32[4]) topk(y), k=4, largest=false\n"
    "ROOT r = ((f32[4], s32[4]), (f32[3], s32[3]), (u64[3,4], s32[3,4]), (f4e2m1fn[4], s32[4])) "
    "tuple(a, b, d, f) }",
    "HloModule m\nENTRY e { x = f8e4m3fnuz[8] constant({3, 6, -12, 1.5, 0.0146484375, "
    "0.0009765625, 5, 20})\n"
    "a = f8e4m3fnuz[8] reduce-precision(x), exponent_bits=9, mantissa_bits=0\n"
    "y = f16[8] constant({3, 6, -12, 1.5, 6e-08, 9.15527e-05, nan, -inf})\n"
    "b = f16[8] reduce-precision(y), exponent_bits=3, mantissa_bits=0\n"
    "z = f32[5] parameter(0) c = f32[5] reduce-precision(z), exponent_bits=6, mantissa_bits=0\n"
    "ROOT r = (f8e4m3fnuz[8], f16[8], f32[5]) tuple(a, b, c) }",
    "HloModule m\nENTRY e { a = f8e5m2[6] constant({nan, -nan(0x1), -0, -inf, nan(0x3), -1})\n"
    "b = f8e5m2[6] constant({nan(0x1), -nan, 0, -nan, inf, -2})\n"
    "c = f8e4m3fnuz[4] constant({nan, -240, 0, 1}) d = f8e4m3fnuz[4] constant({-240, 0, nan, 2})\n"
    "e = f8e8m0fnu[3] constant({0.5, 4, nan}) f = f8e8m0fnu[3] constant({4, 0.25, 4})\n"
    "g = f4e2m1fn[3] constant({-0, -6, 2}) h = f4e2m1fn[3] constant({0, 6, -2})\n"
    "p = pred[6] compare(a, b), direction=LT, type=TOTALORDER\n"
    "q = pred[4] compare(c, d), direction=GE, type=TOTALORDER\n"
    "r = pred[3] compare(e, f), direction=LT, type=TOTALORDER\n"
    "s = pred[3] compare(g, h), direction=GT, type=TOTALORDER\n"
    "t = (f8e5m2[6], s32[6]) topk(a), k=6, largest=true\n"
    "u = (f8e4m3fnuz[4], s32[4]) topk(d), k=4, largest=false\n"
    "ROOT v = (pred[6], pred[4], pred[3], pred[3], (f8e5m2[6], s32[6]), (f8e4m3fnuz[4], s32[4])) "
    "tuple(p, q, r, s, t, u) }",
    "HloModule m\nadd { a = s8[] parameter(0) b = s8[] parameter(1) ROOT s = s8[] add(a, b) }\n"
    "ENTRY e { x = s8[2,3] parameter(0) r = s8[2,3] all-reduce(x), replica_groups={}, "
    "to_apply=add\n"
    "g = s8[2,3] all-gather(r), replica_groups={{0}}, dimensions={1}\n"
    "s = s8[2,3] reduce-scatter(g), replica_groups={{0}}, dimensions={0}, to_apply=add\n"
    "k = s8[2,3] collective-permute(x), source_target_pairs={{0,0}}\n"
    "y = f8e8m0fnu[2] constant({4, 0.5})\n"
    "z = f8e8m0fnu[2] collective-permute(y), source_target_pairs={}\n"
    "ROOT t = (s8[2,3], s8[2,3], f8e8m0fnu[2]) tuple(s, k, z) }",
};

// More instructions than are asked about.
std::string LongProgram() {
  std::string text = "HloModule m\nENTRY e { x0 = f32[] parameter(0)\n";
  for (int64_t i = 0; i < kMostOpinionInstructions; ++i) {
    StrAppend(&text, i + 1 == kMostOpinionInstructions ? "ROOT " : "", "x", i + 1,
              " = f32[] negate(x", i, ")\n");
  }
  return text + "}";
}

std::vector<const char*> AllPrograms() {
  std::vector<const char*> programs(std::begin(kPrograms), std::end(kPrograms));
  programs.insert(programs.end(), std::begin(kRarePrograms), std::end(kRarePrograms));
  return programs;
}

TEST(SecondOpinionTest, AgreesWithTheOracle) {
  const std::string python = Python();
  if (python.empty()) GTEST_SKIP() << "ASSAY_XLA_PYTHON names no Python with jax";
  for (const char* text : AllPrograms()) {
    const Asked asked = Prepare(text);
    const SecondOpinion opinion =
        AskSecondOpinion(python, *asked.module, asked.inputs, asked.expectation, Literal());
    EXPECT_EQ(Name(opinion.state), "agrees") << text << "\n" << opinion.text;
    EXPECT_THAT(opinion.script, HasSubstr("give_opinion("));
  }
}

// Whatever the program is, its answer is computed: where the oracle speaks of other inputs nobody
// agrees with it.
TEST(SecondOpinionTest, AgreesWithNothingElse) {
  const std::string python = Python();
  if (python.empty()) GTEST_SKIP() << "ASSAY_XLA_PYTHON names no Python with jax";
  for (const char* text : AllPrograms()) {
    const Asked asked = Prepare(text), other = Prepare(text, /*seed=*/4);
    if (asked.inputs.empty()) continue;
    const SecondOpinion opinion =
        AskSecondOpinion(python, *asked.module, asked.inputs, other.expectation, Literal());
    EXPECT_EQ(Name(opinion.state), "differs") << text << "\n" << opinion.text;
  }
}

// An oracle that is wrong, and a backend that is right.
TEST(SecondOpinionTest, RefutesWhatIsWrong) {
  const std::string python = Python();
  if (python.empty()) GTEST_SKIP() << "ASSAY_XLA_PYTHON names no Python with jax";
  Asked asked =
      Prepare("HloModule m\nENTRY e { x = s32[3] parameter(0) ROOT r = s32[3] add(x, x) }");
  const Literal right = asked.expectation.leaves[0].plain;
  Literal& plain = asked.expectation.leaves[0].plain;
  plain.SetInteger(1, plain.GetInteger(1) + 1);
  auto state = [&](const Literal& answer) {
    return AskSecondOpinion(python, *asked.module, asked.inputs, asked.expectation, answer).state;
  };
  EXPECT_EQ(state(right), OpinionState::kRefutes);
  Literal other = right;
  other.SetInteger(1, right.GetInteger(1) + 7);
  EXPECT_EQ(state(other), OpinionState::kDiffers);
}

TEST(SecondOpinionTest, DeclinesWhatItDoesNotKnow) {
  const std::string python = Python();
  if (python.empty()) GTEST_SKIP() << "ASSAY_XLA_PYTHON names no Python with jax";
  const Asked asked = Prepare(
      "HloModule m\nENTRY e { z = f32[] constant(0) o = f32[] constant(1)\n"
      "ROOT r = f32[3] rng(z, o), distribution=rng_uniform }");
  const SecondOpinion opinion =
      AskSecondOpinion(python, *asked.module, asked.inputs, asked.expectation, Literal());
  EXPECT_EQ(opinion.state, OpinionState::kDeclined);
  EXPECT_THAT(opinion.text, HasSubstr("rng"));
}

TEST(SecondOpinionTest, NobodyIsAskedWithoutAnInterpreterOrAboutLongPrograms) {
  const Asked asked = Prepare(kPrograms[0]);
  EXPECT_EQ(AskSecondOpinion("", *asked.module, asked.inputs, asked.expectation, Literal()).state,
            OpinionState::kNone);
  const Asked longer = Prepare(LongProgram());
  EXPECT_EQ(
      AskSecondOpinion("python3", *longer.module, longer.inputs, longer.expectation, Literal())
          .state,
      OpinionState::kNone);
}

}  // namespace
}  // namespace assay
