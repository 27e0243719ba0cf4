// The functions of one kind of machine by name. Included by one file per kind of machine: all that
// depends on the compiler's flags has no name outside of it.
#pragma once

#include <cstdint>

#include "optimized/runtime/functions/complex_formulas.h"
#include "optimized/runtime/symbols.h"

namespace assay {
namespace {

template <double (*kFunction)(double)>
void OnLanes(double* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = kFunction(values[i]);
}
template <double (OnDoubles::*kFormula)(double)>
void FormulaOnLanes(double* values, int64_t count) {
  OnLanes<OfOne<kFormula>>(values, count);
}
template <double (OnDoubles::*kFormula)(double, double)>
void FormulaOfTwo(double* x, const double* y, int64_t count) {
  Scalars scalars;
  OnDoubles formulas(scalars);
  for (int64_t i = 0; i < count; ++i) x[i] = (formulas.*kFormula)(x[i], y[i]);
}
// The function of f64 whose name begins with that letter, of arguments too large for its formula.
template <char kLetter>
double FarFunction(double x) {
  constexpr char kName[] = {kLetter, 0};
  return OfFar(kName, x);
}
template <double (*kFunction)(double)>
void OnFloatLanes(float* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(kFunction(values[i]));
}

template <auto kFunction>
void* Address() {
  return reinterpret_cast<void*>(kFunction);
}

// Made when it is first asked for: a machine that cannot run this code never does.
absl::Span<const RuntimeSymbol> Table() {
#define ASSAY_ONE(name, function)                                                  \
  {"assay_complex_" #name "_c64", Address<OfComplex<double, function<double>>>()}, \
      {"assay_complex_" #name "_c128", Address<OfComplex<Twofold, function<Twofold>>>()},
#define ASSAY_TWO(name, function)                                                     \
  {"assay_complex_" #name "_c64", Address<OfTwoComplex<double, function<double>>>()}, \
      {"assay_complex_" #name "_c128", Address<OfTwoComplex<Twofold, function<Twofold>>>()},
  static const RuntimeSymbol kTable[] = {
      ASSAY_COMPLEX_FUNCTIONS(ASSAY_ONE, ASSAY_TWO)
#undef ASSAY_ONE
#undef ASSAY_TWO
          {"assay_complex_abs_c64", Address<AbsOfComplex<double>>()},
      {"assay_complex_abs_c128", Address<AbsOfComplex<Twofold>>()},
      {"assay_acos", Address<Acos>()},
      {"assay_acosh", Address<Acosh>()},
      {"assay_asin", Address<Asin>()},
      {"assay_asinh", Address<Asinh>()},
      {"assay_atan2", Address<static_cast<double (*)(double, double)>(Atan2)>()},
      {"assay_atanh", Address<Atanh>()},
      {"assay_cbrt", Address<Cbrt>()},
      {"assay_cosh", Address<Cosh>()},
      {"assay_sinh", Address<Sinh>()},
      {"assay_tan", Address<Tan>()},
      {"assay_lanes_cos_f32", Address<OnFloatLanes<OfOne<&OnDoubles::Cosine>>>()},
      {"assay_lanes_sin_f32", Address<OnFloatLanes<OfOne<&OnDoubles::Sine>>>()},
      {"assay_lanes_atan2", Address<FormulaOfTwo<&OnDoubles::Atan2>>()},
      {"assay_lanes_cbrt", Address<FormulaOnLanes<&OnDoubles::Cbrt>>()},
      {"assay_lanes_cos", Address<FormulaOnLanes<&OnDoubles::Cosine>>()},
      {"assay_lanes_erf", Address<FormulaOnLanes<&OnDoubles::Erf>>()},
      {"assay_lanes_exp", Address<FormulaOnLanes<&OnDoubles::Exp>>()},
      {"assay_lanes_expm1", Address<FormulaOnLanes<&OnDoubles::Expm1>>()},
      {"assay_lanes_far_cos", Address<OnLanes<FarFunction<'c'>>>()},
      {"assay_lanes_far_sin", Address<OnLanes<FarFunction<'s'>>>()},
      {"assay_lanes_far_tan", Address<OnLanes<FarFunction<'t'>>>()},
      {"assay_lanes_log", Address<FormulaOnLanes<&OnDoubles::Log>>()},
      {"assay_lanes_log1p", Address<FormulaOnLanes<&OnDoubles::Log1p>>()},
      {"assay_lanes_logistic", Address<FormulaOnLanes<&OnDoubles::Logistic>>()},
      {"assay_lanes_pow", Address<FormulaOfTwo<&OnDoubles::Power>>()},
      {"assay_lanes_sin", Address<FormulaOnLanes<&OnDoubles::Sine>>()},
      {"assay_lanes_tan", Address<FormulaOnLanes<&OnDoubles::Tan>>()},
      {"assay_lanes_tanh", Address<FormulaOnLanes<&OnDoubles::Tanh>>()},
  };
  return kTable;
}

}  // namespace
}  // namespace assay
