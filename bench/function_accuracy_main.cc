// Measures how far the compiler's functions are from the true values. Those of f32: over all 2^32
// inputs, or every so manieth; where f64 settles beyond doubt what is asked of an input it is
// enough, all else is judged by 80-bit arithmetic, whose own error is below 2^-11 of an ulp of f32.
// Those of f64: on a sample of all exponents and of what is difficult, judged by double-double
// arithmetic. What it prints is the page on accuracy among the documents.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "bench/double_double.h"
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
  double worst_at = 0;
  double worst_at_second = 0;  // of two arguments

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
    worst_at_second = part.worst_at_second;
  }

  // A result of f64 that is so many ulps off.
  void AddUlps(double x, double y, double result, double ulps) {
    ++inputs;
    if (ulps <= 0.5) {
      ++rounded;
    } else if (std::isinf(ulps) || std::isnan(ulps)) {
      ++others;
    } else if (result == 0) {
      ++flushed;
    } else if (ulps > worst) {
      worst = ulps;
      worst_at = x;
      worst_at_second = y;
    }
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

// The sum of what `part` finds, one thread for each.
absl::StatusOr<Errors> InParts(int64_t parts,
                               const std::function<absl::StatusOr<Errors>(int64_t)>& part) {
  std::vector<absl::StatusOr<Errors>> results(static_cast<size_t>(parts), Errors());
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < parts; ++i) {
    threads.emplace_back([&, i] { results[static_cast<size_t>(i)] = part(i); });
  }
  for (std::thread& thread : threads) thread.join();
  Errors sum;
  for (const absl::StatusOr<Errors>& result : results) {
    ASSAY_RETURN_IF_ERROR(result.status());
    sum.Merge(*result);
  }
  return sum;
}

// All inputs, divided among the cores.
absl::StatusOr<Errors> Measure(Backend& backend, const Function& function, uint64_t stride) {
  const uint64_t parts = std::max(1U, std::thread::hardware_concurrency());
  const uint64_t inputs = ((uint64_t{1} << 32) + stride - 1) / stride;
  return InParts(static_cast<int64_t>(parts), [&](int64_t i) {
    const auto part = static_cast<uint64_t>(i);
    return MeasurePart(backend, function, stride, inputs * part / parts * stride,
                       inputs * (part + 1) / parts * stride);
  });
}

constexpr int64_t kBlocksOfDoubles = 48;  // of kBlock inputs each

double Uniform(std::mt19937_64& random) {
  return static_cast<double>(static_cast<int64_t>(random())) * 0x1p-63;
}

// Draws special values, and one kind of inputs after the other: any code; exponents from -30 to 9;
// numbers up to 750, where exponentials overflow; numbers near 1; neighbours of multiples of pi / 2
// up to 2^31; numbers up to 6.
double Input(std::mt19937_64& random, int64_t i) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kSpecial[] = {0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 kInfinity,
                                 -kInfinity,
                                 std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::denorm_min(),
                                 -std::numeric_limits<double>::denorm_min(),
                                 std::numeric_limits<double>::min(),
                                 std::numeric_limits<double>::max(),
                                 std::numeric_limits<double>::lowest(),
                                 709.782712893384,
                                 709.7827128933841,
                                 -745.1332191019411,
                                 -745.1332191019412,
                                 -708.3964185322641,
                                 0x1.6ac5b262ca1ffp849};
  if (i < static_cast<int64_t>(std::size(kSpecial))) return kSpecial[i];
  const auto less = [&](uint64_t most) {
    return std::ldexp(1.0, -static_cast<int>(random() % most));
  };
  switch (i % 6) {
    case 0:
      return std::bit_cast<double>(random());
    case 1:
      return (1 + std::fabs(Uniform(random))) * less(40) * (random() % 2 == 0 ? 512 : -512);
    case 2:
      return Uniform(random) * 750;
    case 3:
      return 1 + Uniform(random) * less(45);
    case 4: {
      const uint64_t k = random() % (uint64_t{1} << (random() % 31));
      const double near = static_cast<double>(k) * 1.5707963267948966;
      return std::bit_cast<double>(std::bit_cast<uint64_t>(near) + random() % 9) - less(60);
    }
    default:
      return Uniform(random) * 6;
  }
}

double UlpsOf(const DoubleFunction& function, double x, double result) {
  const double quick = function.quick(x);
  if (std::isfinite(x) && std::isfinite(quick) && quick != 0 && !std::isnan(result)) {
    return UlpsFrom(result, function.truth(x));
  }
  const bool same = std::isnan(quick)
                        ? std::isnan(result)
                        : std::bit_cast<uint64_t>(quick) == std::bit_cast<uint64_t>(result);
  return same ? 0 : std::numeric_limits<double>::infinity();
}

// A function of two arguments of f64.
struct DoublePairFunction {
  const char* op;
  void (*input)(std::mt19937_64& random, int64_t i, double& x, double& y);
  double (*ulps)(double x, double y, double result);
};

// Both arguments of a power: any, near overflow, a base near one, and small whole exponents.
void PowerInput(std::mt19937_64& random, int64_t i, double& x, double& y) {
  x = std::fabs(Input(random, i));
  y = Input(random, random() % 1000);
  if (i % 4 == 1) y = Uniform(random) * 745 / std::log(x);
  if (i % 4 == 2) {
    x = 1 + Uniform(random) * std::ldexp(1.0, -static_cast<int>(random() % 45));
    y = Uniform(random) * 745 / std::log(x);
  }
  if (i % 4 == 3) y = static_cast<double>(random() % 41) - 20;
}

double UlpsOfPower(double x, double y, double result) {
  const double quick = std::pow(x, y);
  if (std::isfinite(quick) && quick != 0 && !std::isnan(result) && y != 0 && x != 1 &&
      std::isfinite(x) && std::isfinite(y)) {
    return UlpsFrom(result, PrecisePower(x, y));
  }
  const bool same = std::isnan(quick) ? std::isnan(result) : quick == result;
  return same ? 0 : std::numeric_limits<double>::infinity();
}

// Angles of any pair, and of pairs of like size.
void AngleInput(std::mt19937_64& random, int64_t i, double& y, double& x) {
  y = Input(random, i);
  x = i % 2 == 0 ? Input(random, static_cast<int64_t>(random() % 1000)) : y * Uniform(random) * 8;
}

double UlpsOfAngle(double y, double x, double result) {
  const double quick = std::atan2(y, x);
  if (quick != 0 && !std::isnan(quick) && !std::isnan(result)) {
    return UlpsFrom(result, PreciseAtan2(y, x));
  }
  const bool same = std::isnan(quick) ? std::isnan(result) : quick == result;
  return same ? 0 : std::numeric_limits<double>::infinity();
}

constexpr DoublePairFunction kDoublePairFunctions[] = {
    {"atan2", AngleInput, UlpsOfAngle},
    {"power", PowerInput, UlpsOfPower},
};

// The measurement of one function of one argument or of two.
struct Measured {
  std::string call;  // of the parameters x and y
  std::function<void(std::mt19937_64&, int64_t, double& x, double& y)> input;
  std::function<double(double x, double y, double result)> ulps;
};

// Runs it on the blocks from `first` on, every `step`-th.
template <typename T>
absl::StatusOr<Errors> MeasureBlocks(Backend& backend, const Measured& function, int64_t first,
                                     int64_t step) {
  const std::string type = StrCat(sizeof(T) == 4 ? "f32[" : "f64[", kBlock, "]");
  const std::string text =
      StrCat("HloModule m\nENTRY e {\n  x = ", type, " parameter(0)\n  y = ", type,
             " parameter(1)\n  ROOT r = ", type, " ", function.call, "\n}");
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ReadModule(text));
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> code,
                         backend.Compile(*module, CompileOptions()));
  Errors errors;
  Literal x(module->entry()->parameter(0)->shape()), y(x.shape());
  for (int64_t block = first; block < kBlocksOfDoubles; block += step) {
    std::mt19937_64 random(static_cast<uint64_t>(block));
    for (int64_t i = 0; i < kBlock; ++i) {
      double a = 0, b = 0;
      function.input(random, block * kBlock + i, a, b);
      x.data<T>()[i] = static_cast<T>(a);
      y.data<T>()[i] = static_cast<T>(b);
    }
    ASSAY_ASSIGN_OR_RETURN(const RunResult run, code->Run({{&x, &y}}));
    for (int64_t i = 0; i < kBlock; ++i) {
      const T a = x.data<T>()[i], b = y.data<T>()[i], result = run.outputs[0].data<T>()[i];
      errors.AddUlps(a, b, result, function.ulps(a, b, result));
    }
  }
  return errors;
}

template <typename T>
absl::StatusOr<Errors> MeasureSample(Backend& backend, const Measured& function) {
  const int64_t parts = std::max(1U, std::thread::hardware_concurrency());
  return InParts(parts,
                 [&](int64_t part) { return MeasureBlocks<T>(backend, function, part, parts); });
}

Measured OfOne(const DoubleFunction& function) {
  return {StrCat(function.op, "(x)"),
          [](std::mt19937_64& random, int64_t i, double& x, double&) { x = Input(random, i); },
          [&function](double x, double, double result) { return UlpsOf(function, x, result); }};
}

// A function of two arguments of f32, and its values in 80 bits.
struct FloatPairFunction {
  const char* op;
  long double (*value)(long double, long double);
};

constexpr FloatPairFunction kFloatPairFunctions[] = {
    {"atan2", [](long double y, long double x) { return std::atan2(y, x); }},
    {"power", [](long double x, long double y) { return std::pow(x, y); }},
    {"remainder", [](long double x, long double y) { return std::fmod(x, y); }},
};

// Any codes, pairs of like size, what overflows as a power, and small whole numbers.
void FloatPairInput(std::mt19937_64& random, int64_t i, double& x, double& y) {
  x = std::bit_cast<float>(static_cast<uint32_t>(random()));
  y = std::bit_cast<float>(static_cast<uint32_t>(random()));
  if (i % 4 == 1) y = x * Uniform(random) * 8;
  if (i % 4 == 2) {
    x = static_cast<float>(1 + Uniform(random) * std::ldexp(1.0, -static_cast<int>(random() % 22)));
    y = Uniform(random) * 100 / std::log(x);
  }
  if (i % 4 == 3) {
    x = Uniform(random) * 20;
    y = static_cast<double>(random() % 41) - 20;
  }
}

double UlpsOfFloat(long double truth, float result) {
  const auto nearest = static_cast<float>(truth);
  if (result == nearest || (std::isnan(result) && std::isnan(nearest))) return 0;
  if (!std::isfinite(result) || !std::isfinite(nearest)) {
    return std::numeric_limits<double>::infinity();
  }
  int exponent = 0;
  std::frexp(truth, &exponent);
  return static_cast<double>(std::fabs(result - truth)) *
         std::ldexp(1.0, 23 - std::max(exponent - 1, -126));
}

// A row per function is asked for if no names are given, or its own, or that with its type.
bool IsWanted(const std::vector<std::string>& names, const char* type, const char* op) {
  return names.empty() || absl::c_linear_search(names, op) ||
         absl::c_linear_search(names, StrCat(type, ":", op));
}

void WriteRow(const char* op, const Errors& errors, const std::string& at) {
  std::cout << absl::StrFormat(
                   "| %s | %d | %.3f | %.3f | %s | %d | %d |\n", op, errors.inputs,
                   100.0 * static_cast<double>(errors.rounded) / static_cast<double>(errors.inputs),
                   errors.worst, at, errors.flushed, errors.others)
            << std::flush;
}

constexpr char kTableHead[] =
    "| function | inputs | nearest % | worst ulps | at | flushed | another class |\n"
    "| --- | --- | --- | --- | --- | --- | --- |\n";

absl::Status WriteFloats(Backend& backend, uint64_t stride, const std::vector<std::string>& names) {
  std::cout << kTableHead;
  for (const Function& function : kFunctions) {
    if (!IsWanted(names, "f32", function.op)) continue;
    ASSAY_ASSIGN_OR_RETURN(const Errors errors, Measure(backend, function, stride));
    WriteRow(function.op, errors, absl::StrFormat("%.9g", errors.worst_at));
  }
  for (const FloatPairFunction& function : kFloatPairFunctions) {
    if (!IsWanted(names, "f32", function.op)) continue;
    const Measured measured = {
        StrCat(function.op, "(x, y)"), FloatPairInput, [&](double x, double y, double result) {
          return UlpsOfFloat(function.value(x, y), static_cast<float>(result));
        }};
    ASSAY_ASSIGN_OR_RETURN(const Errors errors, MeasureSample<float>(backend, measured));
    WriteRow(function.op, errors,
             absl::StrFormat("%.9g, %.9g", errors.worst_at, errors.worst_at_second));
  }
  return absl::OkStatus();
}

absl::Status WriteDoubles(Backend& backend, const std::vector<std::string>& names) {
  std::cout
      << "\n## f64\n\nA sample, the same in every run: any code; exponents from -30 to 9; numbers "
         "up to 750; numbers near 1;\nneighbours of multiples of pi / 2 up to 2^31; numbers up to "
         "6; and what is special. It is judged by\ndouble-double arithmetic, whose own error is "
         "below 2^-37 of an ulp; sines, cosines and tangents of\narguments beyond 2^30 by 80-bit "
         "arithmetic, to 2^-10. Powers have positive bases: any, near overflow, near 1,\nand small "
         "whole exponents; angles are of any pair, and of pairs of like size.\n\n"
      << kTableHead;
  for (const DoubleFunction& function : DoubleFunctions()) {
    if (!IsWanted(names, "f64", function.op)) continue;
    ASSAY_ASSIGN_OR_RETURN(const Errors errors, MeasureSample<double>(backend, OfOne(function)));
    WriteRow(function.op, errors, absl::StrFormat("%.17g", errors.worst_at));
  }
  for (const DoublePairFunction& function : kDoublePairFunctions) {
    if (!IsWanted(names, "f64", function.op)) continue;
    const Measured measured = {StrCat(function.op, "(x, y)"), function.input, function.ulps};
    ASSAY_ASSIGN_OR_RETURN(const Errors errors, MeasureSample<double>(backend, measured));
    WriteRow(function.op, errors,
             absl::StrFormat("%.17g, %.17g", errors.worst_at, errors.worst_at_second));
  }
  return absl::OkStatus();
}

absl::Status WritePage(uint64_t stride, const std::vector<std::string>& names) {
  BackendRegistry registry;
  RegisterCpu(registry);
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend, registry.Create("cpu:threads=1"));
  std::cout
      << "# Accuracy of functions on `cpu`\n\n"
      << "Written by `function_accuracy " << stride << "`: of f32 "
      << (stride == 1 ? "every" : StrCat("one in ", stride))
      << " of the 2^32 inputs, judged by 80-bit arithmetic where f64 does not settle it, and of "
         "two "
         "arguments\na sample of 3145728 pairs. An ulp is that of the true value. *Flushed* are "
         "zeros where the nearest number is\nsubnormal; *another class* counts NaN, infinity and "
         "numbers that stand for one another.\n\n## f32\n\n";
  ASSAY_RETURN_IF_ERROR(WriteFloats(*backend, stride, names));
  return WriteDoubles(*backend, names);
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  uint64_t stride = 1;
  if (argc > 1 && (!absl::SimpleAtoi(argv[1], &stride) || stride == 0)) {
    std::cerr << "usage: function_accuracy [STRIDE [NAME | f32:NAME | f64:NAME]...] > "
                 "docs/accuracy-cpu.md\n";
    return 2;
  }
  const std::vector<std::string> names(argv + std::min(argc, 2), argv + argc);
  const absl::Status status = assay::WritePage(stride, names);
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
