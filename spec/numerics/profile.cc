// The clauses, each with its meaning and source, and the profiles that grant them.
#include "spec/numerics/profile.h"

#include <array>
#include <string>

#include "spec/base/strings.h"
#include "spec/numerics/clause_limits.h"

namespace assay {
namespace {

// In the order of ClauseId, which is asserted below. "measured": XLA:CPU of jaxlib 0.10.2 with
// AVX-512, large arrays.
constexpr std::array<Clause, static_cast<size_t>(ClauseId::kClauseCount)> kClauses = {{
    {.id = ClauseId::kFlushSubnormals,
     .name = "flush-subnormals",
     .meaning = "subnormal inputs and results of arithmetic may become zero, but for those of f16, "
                "which are normal numbers of the f32 that computes them",
     .strict = false,
     .xla = true,
     .source = "operation semantics 1.4 and 19: the CPU client enables flush-to-zero; measured: "
               "exp in f32 gave zero for 836346 subnormal results, and cbrt, log and sqrt of no "
               "subnormal f16"},
    {.id = ClauseId::kExcessPrecision,
     .name = "excess-precision",
     .meaning =
         "intermediates of types narrower than f32, indices of iota included, may keep f32 "
         "precision, those of 8-bit floats that of f16 and its infinities; ops of 8-bit floats "
         "may be computed in f16, which rounds their results twice; a number of f64 that is "
         "converted to f32 and back may be what it was",
     .strict = false,
     .xla = true,
     .source = "operation semantics 1.4 and 19: fusions of bf16 and f16 keep excess precision by "
               "default; measured: 16 of 1793 f8e5m2fnuz sums of two products are rounded to f16 "
               "first; jaxlib 0.4.31 gives infinity for 352 + 352 in f8e4m3fn read as f32, and "
               "66048 for 257 * 257 of an iota in bf16; XLA's flag xla_allow_excess_precision, on "
               "by default: XLA:GPU of jaxlib 0.11.2 leaves out f64 to f32 to f64"},
    {.id = ClauseId::kContraction,
     .name = "contraction",
     .meaning =
         "a product that feeds an addition or subtraction, also through ops that only choose "
         "it, may stay unrounded",
     .strict = false,
     .xla = true,
     .source = "operation semantics 1.4; measured: 23 % of random f32 results of a*b+c differ from "
               "two roundings"},
    {.id = ClauseId::kReassociation,
     .name = "reassociation",
     .meaning =
         "sums and products of reductions, dots, convolutions and scans may be formed in any order",
     .strict = true,
     .xla = true,
     .source = "operation semantics 1.4 rule 8 and chapter 10 (order freedom): back ends may "
               "re-associate"},
    {.id = ClauseId::kReciprocalDivision,
     .name = "reciprocal-division",
     .meaning = "x / c may be x * (1 / c) when c is a constant or a broadcast scalar",
     .rewrites = true,
     .strict = false,
     .xla = true,
     .source =
         "operation semantics 1.4 and 18.2; measured: 33 % of random f32 results of x/3 differ"},
    {.id = ClauseId::kReciprocalRoot,
     .name = "reciprocal-root",
     .meaning = "x / sqrt(y) may be x * rsqrt(y)",
     .rewrites = true,
     .strict = false,
     .xla = true,
     .source = "measured: XLA:CPU's optimized modules have the product, and 39 % of random f32 "
               "results of x/sqrt(y) differ from two roundings, by up to 3 ulps"},
    {.id = ClauseId::kNestedQuotients,
     .name = "nested-quotients",
     .meaning = "(a / b) / c may be a / (b * c), a / (b / c) may be (a * c) / b, and "
                "(a / b) / (c / d) may be (a * d) / (b * c); of complex numbers, too; the logistic "
                "function is a quotient",
     .rewrites = true,
     .strict = false,
     .xla = true,
     .source = "measured: XLA:CPU's optimized modules have these forms, and 38 %, 37 % and 53 % of "
               "random f32 results differ, by up to 2 ulps"},
    {.id = ClauseId::kConstantChains,
     .name = "constant-chains",
     .meaning =
         "(x + c) + d may be x + (c + d), (x * c) * d may be x * (c * d), and (x * c) * (y * d) "
         "may be (x * y) * (c * d), where c and d are constants; differences from and quotients "
         "by constants, too; d may be a number that is broadcast, as in (x * c) * d or "
         "(x / c) * d, or is computed of such; of complex numbers, too, where x * 1 may be x",
     .rewrites = true,
     .strict = false,
     .xla = true,
     .source = "measured: XLA:CPU's optimized modules have one constant, and 51 % of random f32 "
               "results of (x + 3.3) - 3.1 and 25 % of (x * 3.3) * 1.7 differ; 32 % of "
               "(x * 0.3) * s with s a scalar parameter"},
    {.id = ClauseId::kExponentials,
     .name = "exponentials",
     .meaning = "exp(a) * exp(b) may be exp(a + b), exp(a) / exp(b) may be exp(a - b), exp(a) ^ b "
                "may be exp(a * b), x / f(a) with f exp or a power may multiply by that of the "
                "negative exponent, "
                "log(sqrt(a)) may be log(a) / 2, and sqrt(a) * sqrt(a) may be a",
     .rewrites = true,
     .strict = false,
     .xla = true,
     .source =
         "measured: XLA:CPU's optimized modules have these forms, and 83 % of random f32 results "
         "of exp(a) / exp(b) differ, by up to 14 ulps, 59 % of log(sqrt(x)), near 1 by up to 59; "
         "49 % of the squares of roots of |x|, by 1"},
    {.id = ClauseId::kLiteralReducer,
     .name = "literal-reducer",
     .meaning = "a sum or product of a type narrower than f32 may round at every step, as the text "
                "of the reducer does, instead of once at the end",
     .strict = false,
     .xla = true,
     .source = "the reducer's own text; measured: the bf16 sum of {0, 0.3672, 2, 0, -1, 0} gives "
               "1.375, rounded once it is 1.367"},
    {.id = ClauseId::kSumsOfSums,
     .name = "sums-of-sums",
     .meaning = "a reduction that adds up sums of another one may be one sum of all terms",
     .rewrites = true,
     .strict = false,
     .xla = true,
     .source = "measured: XLA:CPU's optimized modules have one reduction, and 79 % of random f32 "
               "sums of 9 sums of 7 terms differ"},
    {.id = ClauseId::kScatterStarts,
     .name = "scatter-starts",
     .meaning = "what is added to the result of a scatter that adds, which nothing else reads, may "
                "be added to what the scatter starts from",
     .rewrites = true,
     .strict = false,
     .xla = true,
     .source = "measured: XLA:CPU's optimized modules start the scatter with y for "
               "y + scatter(0, ...), and 48 % of random sums of five updates in f16 and in f32 "
               "differ"},
    {.id = ClauseId::kNarrowFactors,
     .name = "narrow-factors",
     .meaning =
         "the factors of a dot or a convolution of f32 or c64 whose precision is not highest "
         "may keep 10 bits of their fractions",
     .strict = false,
     .xla = false,
     .gpu = true,
     .source = "JAX's page of jax.default_matmul_precision: the default of GPUs is TensorFloat32; "
               "measured on an H200: 51504 of the 65536 results of a product of 256 x 256 matrices "
               "lie outside the bound of factors in f32"},
    {.id = ClauseId::kApproximateQuotients,
     .name = "approximate-quotients",
     .meaning = "a quotient of two f32 may be 2 ulps off, a square root of one 1 ulp",
     .strict = false,
     .xla = false,
     .gpu = true,
     .source = "PTX ISA, div.full.f32 (at most 2 ulps) and sqrt.approx.f32 (relative error at most "
               "2^-23); measured on an H200: 9 % of random f32 roots differ by one ulp"},
    {.id = ClauseId::kEitherRounding,
     .name = "either-rounding",
     .meaning =
         "an addition in a dot or a convolution whose sums are kept in f32 may be rounded to "
         "either neighbour",
     .strict = false,
     .xla = false,
     .gpu = true,
     .source = "PTX ISA, mma: additions are done with at least the precision of f32, and in what "
               "direction they are rounded is not specified; measured on an H200: the sum of the "
               "products -16777216 and -3.25 gives -16777218"},
}};

constexpr bool IsInOrder() {
  for (size_t i = 0; i < kClauses.size(); ++i)
    if (kClauses[i].id != static_cast<ClauseId>(i)) return false;
  return true;
}
static_assert(IsInOrder(), "the rows of clauses are in the order of ClauseId");

constexpr ClauseSet Granted(bool (*is_granted)(const Clause&)) {
  ClauseSet granted;
  for (const Clause& clause : kClauses)
    if (is_granted(clause)) granted = granted.With(clause.id);
  return granted;
}

constexpr bool IsStrict(const Clause& clause) { return clause.strict; }
constexpr bool IsOfXla(const Clause& clause) { return clause.xla; }
constexpr bool IsOfGpus(const Clause& clause) { return clause.xla || clause.gpu; }
constexpr bool IsOfGatedXla(const Clause& clause) { return IsOfXla(clause) && !IsGated(clause.id); }
constexpr bool IsOfGatedGpus(const Clause& clause) {
  return IsOfGpus(clause) && !IsGated(clause.id);
}

// The clauses of the set that do not put one form in place of another.
constexpr ClauseSet AsWrittenOf(ClauseSet clauses) {
  for (const Clause& clause : kClauses)
    if (clause.rewrites) clauses = clauses.Without(clause.id);
  return clauses;
}

// The places of the profiles in the list of all.
enum {
  kStrictAt,
  kXlaAt,
  kXlaGpuAt,
  kGatedXlaAt,
  kGatedXlaGpuAt,
  kXlaAsWrittenAt,
  kXlaGpuAsWrittenAt
};

}  // namespace

absl::Span<const Profile> Profile::All() {
  static constexpr Profile kProfiles[] = {
      {"strict", Granted(IsStrict), false},
      {"xla", Granted(IsOfXla), true},
      {"xla-gpu", Granted(IsOfGpus), true},
      {"xla@2026-09", Granted(IsOfGatedXla), true},
      {"xla-gpu@2026-09", Granted(IsOfGatedGpus), true},
      {"xla-as-written", AsWrittenOf(Granted(IsOfXla)), true},
      {"xla-gpu-as-written", AsWrittenOf(Granted(IsOfGpus)), true},
  };
  return kProfiles;
}

const Profile& Profile::Strict() { return All()[kStrictAt]; }
const Profile& Profile::Xla() { return All()[kXlaAt]; }
const Profile& Profile::XlaGpu() { return All()[kXlaGpuAt]; }

const Profile& Profile::AsWritten() const {
  if (this == &Xla() || this == &All()[kGatedXlaAt]) return All()[kXlaAsWrittenAt];
  if (this == &XlaGpu() || this == &All()[kGatedXlaGpuAt]) return All()[kXlaGpuAsWrittenAt];
  return *this;
}

absl::StatusOr<const Profile*> Profile::Find(std::string_view name) {
  for (const Profile& profile : All()) {
    if (profile.name() == name) return &profile;
  }
  return absl::InvalidArgumentError(
      StrCat("there is no profile \"", name, "\"; the profiles are ", Strict().name(), ", ",
             Xla().name(), " and ", XlaGpu().name(), "; @", kGated,
             " behind one of the latter two is that of releases from that month on"));
}

absl::Span<const Clause> AllClauses() { return kClauses; }

}  // namespace assay
