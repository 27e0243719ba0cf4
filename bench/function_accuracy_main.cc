// Measures how far the compiler's f32 functions are from the true values: over all 2^32 inputs, or
// every so manieth, against 80-bit arithmetic, whose own error is below 2^-11 of an ulp of f32.
// What it prints is the page on accuracy among the documents.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "optimized/cpu/cpu_backend.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

struct Function {
  const char* op;
  long double (*value)(long double);
};

long double Rsqrt(long double x) { return 1 / std::sqrt(x); }
long double Logistic(long double x) { return 1 / (1 + std::exp(-x)); }

constexpr Function kFunctions[] = {
    {"cbrt", [](long double x) { return std::cbrt(x); }},
    {"cosine", [](long double x) { return std::cos(x); }},
    {"erf", [](long double x) { return std::erf(x); }},
    {"exponential", [](long double x) { return std::exp(x); }},
    {"exponential-minus-one", [](long double x) { return std::expm1(x); }},
    {"log", [](long double x) { return std::log(x); }},
    {"log-plus-one", [](long double x) { return std::log1p(x); }},
    {"logistic", Logistic},
    {"rsqrt", Rsqrt},
    {"sine", [](long double x) { return std::sin(x); }},
    {"sqrt", [](long double x) { return std::sqrt(x); }},
    {"tan", [](long double x) { return std::tan(x); }},
    {"tanh", [](long double x) { return std::tanh(x); }},
};

struct Errors {
  int64_t inputs = 0;
  int64_t rounded = 0;  // the nearest f32
  int64_t flushed = 0;  // zero where the nearest f32 is subnormal
  int64_t others = 0;   // NaN, an infinity or a number where another of them is right
  double worst = 0;     // in ulps of the true value
  float worst_at = 0;

  void Add(float x, float result, long double truth) {
    ++inputs;
    const auto nearest = static_cast<float>(truth);
    if (result == nearest || (std::isnan(result) && std::isnan(nearest))) {
      ++rounded;
      return;
    }
    if (!std::isfinite(result) || !std::isfinite(nearest)) {
      ++others;
      return;
    }
    if (result == 0 && std::fabs(nearest) < std::numeric_limits<float>::min()) {
      ++flushed;
      return;
    }
    int exponent = 0;
    std::frexp(truth, &exponent);
    const long double ulp = std::ldexp(1.0L, std::max(exponent - 1, -126) - 23);
    const auto error = static_cast<double>(std::fabs(result - truth) / ulp);
    if (error <= worst) return;
    worst = error;
    worst_at = x;
  }
};

constexpr int64_t kBlock = int64_t{1} << 16;  // inputs of one run

absl::StatusOr<Errors> Measure(Backend& backend, const Function& function, uint64_t stride) {
  const std::string text =
      StrCat("HloModule m\nENTRY e {\n  x = f32[", kBlock, "] parameter(0)\n  ROOT r = f32[",
             kBlock, "] ", function.op, "(x)\n}");
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ReadModule(text));
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> code,
                         backend.Compile(*module, CompileOptions()));
  Errors errors;
  Literal x(module->entry()->parameter(0)->shape());
  for (uint64_t next = 0; next >> 32 == 0;) {
    const absl::Span<float> inputs = x.data<float>();
    int64_t count = 0;
    for (; count < kBlock && next >> 32 == 0; next += stride) {
      inputs[count++] = std::bit_cast<float>(static_cast<uint32_t>(next));
    }
    ASSAY_ASSIGN_OR_RETURN(const RunResult run, code->Run({{&x}}));
    const absl::Span<const float> results = run.outputs[0].data<float>();
    for (int64_t i = 0; i < count; ++i) {
      errors.Add(inputs[i], results[i], function.value(inputs[i]));
    }
  }
  return errors;
}

absl::Status WritePage(uint64_t stride) {
  BackendRegistry registry;
  RegisterCpu(registry);
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend, registry.Create("cpu"));
  std::cout << "# Accuracy of f32 functions on `cpu`\n\n"
            << "Written by `function_accuracy " << stride
            << "`: " << (stride == 1 ? "every" : StrCat("one in ", stride))
            << " of the 2^32 inputs, judged by 80-bit arithmetic. An ulp is that of the true "
               "value. *Flushed* are\nzeros where the nearest number is subnormal; *another "
               "class* counts NaN, infinity and numbers that stand for\none another.\n\n"
            << "| function | inputs | nearest % | worst ulps | at | flushed | another class |\n"
            << "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Function& function : kFunctions) {
    ASSAY_ASSIGN_OR_RETURN(const Errors e, Measure(*backend, function, stride));
    std::cout << absl::StrFormat("| %s | %d | %.3f | %.3f | %.9g | %d | %d |\n", function.op,
                                 e.inputs, 100.0 * e.rounded / e.inputs, e.worst, e.worst_at,
                                 e.flushed, e.others)
              << std::flush;
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  uint64_t stride = 1;
  if (argc > 2 || (argc == 2 && (!absl::SimpleAtoi(argv[1], &stride) || stride == 0))) {
    std::cerr << "usage: function_accuracy [STRIDE] > docs/accuracy-cpu.md\n";
    return 2;
  }
  const absl::Status status = assay::WritePage(stride);
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
