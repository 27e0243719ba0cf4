// Measures how far the compiler's f32 functions are from the true values: over all 2^32 inputs, or
// every so manieth. Where f64 settles beyond doubt what is asked of an input it is enough; all else
// is judged by 80-bit arithmetic, whose own error is below 2^-11 of an ulp of f32. What it prints
// is the page on accuracy among the documents.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "optimized/cpu/cpu_backend.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

template <typename T>
T Rsqrt(T x) {
  return 1 / std::sqrt(x);
}
template <typename T>
T Logistic(T x) {
  return 1 / (1 + std::exp(-x));
}

struct Function {
  const char* op;
  double (*quick)(double);  // within kQuickError of the truth, relative to it
  long double (*value)(long double);
};

// Each of these is at most a few ulps of f64 (2^-53) off.
constexpr double kQuickError = 0x1p-49;

#define ASSAY_FUNCTION(op, name) \
  {op, [](double x) { return name(x); }, [](long double x) { return name(x); }}
constexpr Function kFunctions[] = {
    ASSAY_FUNCTION("cbrt", std::cbrt),
    ASSAY_FUNCTION("cosine", std::cos),
    ASSAY_FUNCTION("erf", std::erf),
    ASSAY_FUNCTION("exponential", std::exp),
    ASSAY_FUNCTION("exponential-minus-one", std::expm1),
    ASSAY_FUNCTION("log", std::log),
    ASSAY_FUNCTION("log-plus-one", std::log1p),
    ASSAY_FUNCTION("logistic", Logistic),
    ASSAY_FUNCTION("rsqrt", Rsqrt),
    ASSAY_FUNCTION("sine", std::sin),
    ASSAY_FUNCTION("sqrt", std::sqrt),
    ASSAY_FUNCTION("tan", std::tan),
    ASSAY_FUNCTION("tanh", std::tanh),
};
#undef ASSAY_FUNCTION

struct Errors {
  int64_t inputs = 0;
  int64_t rounded = 0;  // the nearest f32
  int64_t flushed = 0;  // zero where the nearest f32 is subnormal
  int64_t others = 0;   // NaN, an infinity or a number where another of them is right
  double worst = 0;     // in ulps of the true value
  float worst_at = 0;

  void Add(const Function& function, float x, float result) {
    ++inputs;
    if (!IsSettled(function.quick(x), result)) Judge(x, result, function.value(x));
  }

  void Merge(const Errors& part) {
    inputs += part.inputs;
    rounded += part.rounded;
    flushed += part.flushed;
    others += part.others;
    if (part.worst <= worst) return;
    worst = part.worst;
    worst_at = part.worst_at;
  }

 private:
  // True if the truth, which is within kQuickError of `quick`, rounds to one number whatever it is,
  // and the result is that number or certainly not the worst.
  bool IsSettled(double quick, float result) {
    if (!(std::fabs(quick) > 0x1p-120 && std::fabs(quick) < 0x1p127) || !std::isfinite(result)) {
      return false;
    }
    const auto nearest = static_cast<float>(quick * (1 - kQuickError));
    if (nearest != static_cast<float>(quick * (1 + kQuickError))) return false;
    if (result == nearest) {
      ++rounded;
      return true;
    }
    int exponent = 0;
    std::frexp(quick, &exponent);
    constexpr double kSlack = 0x1p-20;  // in ulps of f32; far more than kQuickError is
    return std::fabs(result - quick) <
           (worst - kSlack) * std::ldexp(1.0, std::max(exponent - 1, -126) - 23);
  }

  void Judge(float x, float result, long double truth) {
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

// Inputs from the code `next` on, every `stride`-th, up to the code `end`.
absl::StatusOr<Errors> MeasurePart(Backend& backend, const Function& function, uint64_t stride,
                                   uint64_t next, uint64_t end) {
  const std::string text =
      StrCat("HloModule m\nENTRY e {\n  x = f32[", kBlock, "] parameter(0)\n  ROOT r = f32[",
             kBlock, "] ", function.op, "(x)\n}");
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ReadModule(text));
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> code,
                         backend.Compile(*module, CompileOptions()));
  Errors errors;
  Literal x(module->entry()->parameter(0)->shape());
  while (next < end) {
    const absl::Span<float> inputs = x.data<float>();
    int64_t count = 0;
    for (; count < kBlock && next < end; next += stride) {
      inputs[count++] = std::bit_cast<float>(static_cast<uint32_t>(next));
    }
    ASSAY_ASSIGN_OR_RETURN(const RunResult run, code->Run({{&x}}));
    const absl::Span<const float> results = run.outputs[0].data<float>();
    for (int64_t i = 0; i < count; ++i) errors.Add(function, inputs[i], results[i]);
  }
  return errors;
}

// All inputs, divided among the cores.
absl::StatusOr<Errors> Measure(Backend& backend, const Function& function, uint64_t stride) {
  const uint64_t parts = std::max(1U, std::thread::hardware_concurrency());
  const uint64_t inputs = ((uint64_t{1} << 32) + stride - 1) / stride;
  std::vector<absl::StatusOr<Errors>> results(parts, Errors());
  std::vector<std::thread> threads;
  for (uint64_t part = 0; part < parts; ++part) {
    threads.emplace_back([&, part] {
      results[part] = MeasurePart(backend, function, stride, inputs * part / parts * stride,
                                  inputs * (part + 1) / parts * stride);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Errors sum;
  for (const absl::StatusOr<Errors>& result : results) {
    ASSAY_RETURN_IF_ERROR(result.status());
    sum.Merge(*result);
  }
  return sum;
}

absl::Status WritePage(uint64_t stride) {
  BackendRegistry registry;
  RegisterCpu(registry);
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend, registry.Create("cpu:threads=1"));
  std::cout
      << "# Accuracy of f32 functions on `cpu`\n\n"
      << "Written by `function_accuracy " << stride
      << "`: " << (stride == 1 ? "every" : StrCat("one in ", stride))
      << " of the 2^32 inputs, judged by 80-bit arithmetic where f64 does not settle it. An ulp "
         "is that\nof the true value. *Flushed* are zeros where the nearest number is "
         "subnormal; *another class* counts NaN,\ninfinity and numbers that stand for one "
         "another.\n\n"
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
