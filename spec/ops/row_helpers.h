// Shorthands for the rows of the op table.
#pragma once

#include "spec/ops/op_table.h"
#include "spec/ops/shape_inference.h"

namespace assay::rows {

constexpr AttrSpec Required(Attr attr) { return {attr, AttrSpec::kRequired, 0}; }
constexpr AttrSpec Always(Attr attr, int64_t default_value = 0) {
  return {attr, AttrSpec::kAlways, default_value};
}
constexpr AttrSpec Optional(Attr attr, int64_t default_value = 0) {
  return {attr, AttrSpec::kOptional, default_value};
}

// `attr` is absent unless it was written: no value of it is a default.
constexpr AttrSpec AsWritten(Attr attr) { return {attr, AttrSpec::kOptional, -1}; }

constexpr TypeMask kFC = kF | kC;
constexpr TypeMask kIFC = kI | kF | kC;
constexpr TypeMask kPI = kP | kI;

constexpr uint32_t kPointwise = kElementwise | kShapeInferable;
constexpr uint32_t kFunction = kPointwise | kTakesAccuracy;
// The combiners that reductions, scans and scatters recognise: kAssociative says so to their
// readers.
constexpr uint32_t kSemigroup = kPointwise | kCommutative | kAssociative;
constexpr uint32_t kPassThrough = kForwardsLayout | kMixesFloatTypes;

constexpr NumericContract kBitsContract{.comparison = ComparisonClass::kBits};
constexpr NumericContract kExactContract{.comparison = ComparisonClass::kExact};
constexpr NumericContract kOrderContract{.comparison = ComparisonClass::kOrder};
constexpr NumericContract kBodyContract{.comparison = ComparisonClass::kBody};
constexpr NumericContract kResidualContract{.comparison = ComparisonClass::kResidual};
constexpr NumericContract kStatisticalContract{.comparison = ComparisonClass::kStatistical};
constexpr NumericContract kUnspecifiedContract{.comparison = ComparisonClass::kUnspecified};

// Operation semantics 1.8: `wide` ulps for f32 and f64, one for the types that are computed in f32
// and rounded once; k of NORM(k) for complex types that the op takes. Both profiles.
constexpr NumericContract Ulps(double wide, double complex = 0) {
  const UlpBudget budget{.f32 = wide, .f64 = wide, .f16 = 1, .bf16 = 1, .complex = complex};
  return {.comparison = ComparisonClass::kUlp, .strict = budget, .xla = budget};
}
// A contract in ulps, with what deployed XLA needs beyond it and the evidence. `xla.complex` left
// at 0 is that of strict.
constexpr NumericContract Ulps(double wide, double complex, UlpBudget xla,
                               std::string_view source) {
  NumericContract contract = Ulps(wide, complex);
  if (xla.complex == 0) xla.complex = complex;
  contract.xla = xla;
  contract.xla_source = source;
  return contract;
}
// Exact on real types, NORM(k) on complex ones.
constexpr NumericContract ExactOrNorm(double complex) {
  const UlpBudget budget{.complex = complex};
  return {.comparison = ComparisonClass::kExact, .strict = budget, .xla = budget};
}

}  // namespace assay::rows
