// Reads the cases, measures them at three sizes, and shows the table.
#include "bench/growth.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "conformance/inputs/random_literal.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

constexpr int64_t kFactors[] = {1, 4, 16};
constexpr int64_t kLargestSize = int64_t{1} << 30;  // of n: sixteen times it is no overflow
constexpr char kStepsName[] = "work.steps";

absl::Status ErrorAt(int64_t line, absl::string_view what) {
  return absl::InvalidArgumentError(StrCat("line ", line, ": ", what));
}

std::optional<GrowthLaw> ParseLaw(absl::string_view word) {
  GrowthLaw law;
  law.logarithm = absl::ConsumeSuffix(&word, " log n");
  if (word == "n") return law;
  if (!absl::ConsumePrefix(&word, "n^") || !absl::SimpleAtod(word, &law.power) ||
      !(law.power >= 0 && law.power <= 8)) {
    return std::nullopt;
  }
  return law;
}

// The value of "n", "n*3", "n/4", "n+1" or "n-1"; nothing for other text.
std::optional<int64_t> ValueOf(absl::string_view expression, int64_t n) {
  if (!absl::ConsumePrefix(&expression, "n")) return std::nullopt;
  if (expression.empty()) return n;
  const char operation = expression.front();
  int64_t by = 0;
  if (!absl::SimpleAtoi(expression.substr(1), &by) || by <= 0 || by > kLargestSize) {
    return std::nullopt;
  }
  switch (operation) {
    case '*':
      return n * by;
    case '/':
      return n / by;
    case '+':
      return n + by;
    case '-':
      return n - by;
    default:
      return std::nullopt;
  }
}

// Reads a head line, and makes a case of it for each op.
absl::Status ParseHead(absl::string_view line, int64_t number, std::vector<GrowthCase>& cases,
                       std::vector<std::string>& ops) {
  std::vector<absl::string_view> fields = absl::StrSplit(line.substr(2), '|');
  for (absl::string_view& field : fields) field = absl::StripAsciiWhitespace(field);
  if (fields.size() < 3 || fields.size() > 4 || fields[0].empty()) {
    return ErrorAt(number, "expected == NAME | LAW | N, and | OP OP ... behind it");
  }
  GrowthCase one;
  one.name = std::string(fields[0]);
  const std::optional<GrowthLaw> law = ParseLaw(fields[1]);
  if (!law.has_value()) {
    return ErrorAt(number, StrCat("'", std::string(fields[1]),
                                  "' is no law; there are n, n^POWER, and log n behind them"));
  }
  one.law = *law;
  if (!absl::SimpleAtoi(fields[2], &one.n) || one.n < 1 || one.n > kLargestSize) {
    return ErrorAt(number, StrCat("'", std::string(fields[2]), "' is no size"));
  }
  if (fields.size() == 3) {
    ops = {""};
    cases.push_back(std::move(one));
    return absl::OkStatus();
  }
  ops = absl::StrSplit(fields[3], ' ', absl::SkipEmpty());
  if (ops.empty()) return ErrorAt(number, "the list of ops is empty");
  for (const std::string& op : ops) {
    cases.push_back(one);
    cases.back().name += "/" + op;
  }
  return absl::OkStatus();
}

struct Program {
  std::unique_ptr<Module> module;
  std::vector<Literal> inputs;
  std::vector<const Literal*> pointers;
  std::unique_ptr<Executable> timed, counting;
};

absl::StatusOr<Program> MakeProgram(const GrowthCase& one, Backend* timed, Backend& counting,
                                    int64_t n) {
  Program program;
  ASSAY_ASSIGN_OR_RETURN(program.module, ReadModule(one.ModuleText(n)));
  const Computation& entry = *program.module->entry();
  for (int64_t i = 0; i < entry.parameter_count(); ++i) {
    const Shape& shape = entry.parameter(i)->shape();
    ASSAY_ASSIGN_OR_RETURN(Literal input, RandomLiteral(shape, ValueRule::Default(shape), 1,
                                                        static_cast<uint64_t>(i)));
    program.inputs.push_back(std::move(input));
  }
  for (const Literal& input : program.inputs) program.pointers.push_back(&input);
  ASSAY_ASSIGN_OR_RETURN(program.counting, counting.Compile(*program.module, CompileOptions()));
  if (timed != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(program.timed, timed->Compile(*program.module, CompileOptions()));
  }
  return program;
}

double StepsOf(const Executable& executable) {
  const std::map<std::string, double> statistics = executable.Statistics();
  const auto steps = statistics.find(kStepsName);
  return steps == statistics.end() ? 0 : steps->second;
}

absl::Status Measure(const GrowthCase& one, Backend* timed, Backend& counting, int64_t n,
                     int rounds, GrowthResult& result) {
  std::vector<Program> programs;
  std::array<std::vector<double>, 3> seconds;
  for (size_t k = 0; k < result.points.size(); ++k) {
    GrowthPoint& point = result.points[k];
    point.n = n * kFactors[k];
    ASSAY_ASSIGN_OR_RETURN(Program program, MakeProgram(one, timed, counting, point.n));
    const double before = StepsOf(*program.counting);
    ASSAY_RETURN_IF_ERROR(program.counting->Run({program.pointers}).status());
    point.steps = StepsOf(*program.counting) - before;
    programs.push_back(std::move(program));
  }
  if (timed == nullptr) return absl::OkStatus();
  // The first round warms up and does not count.
  for (int round = 0; round <= rounds; ++round) {
    for (size_t k = 0; k < programs.size(); ++k) {
      ASSAY_ASSIGN_OR_RETURN(const RunResult run, programs[k].timed->Run({programs[k].pointers}));
      if (round > 0) seconds[k].push_back(run.seconds);
    }
  }
  for (size_t k = 0; k < programs.size(); ++k) {
    auto middle = seconds[k].begin() + static_cast<std::ptrdiff_t>(seconds[k].size() / 2);
    std::nth_element(seconds[k].begin(), middle, seconds[k].end());
    result.points[k].seconds = *middle;
  }
  return absl::OkStatus();
}

std::string RatioCell(double ratio) { return ratio > 0 ? absl::StrFormat("%.1f", ratio) : "-"; }
std::string TimeCell(double seconds) {
  return seconds > 0 ? absl::StrFormat("%.0f us", seconds * 1e6) : "-";
}

}  // namespace

double GrowthLaw::Of(double n) const {
  return std::pow(n, power) * (logarithm ? std::log2(std::max(n, 2.0)) : 1);
}

std::string GrowthLaw::ToString() const {
  const std::string factor = power == 1 ? "n" : absl::StrFormat("n^%g", power);
  return logarithm ? factor + " log n" : factor;
}

std::string GrowthCase::ModuleText(int64_t size) const {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.compare(at, 2, "{n") == 0 ? text.find('}', at) : std::string::npos;
    if (end == std::string::npos) {
      result += text[at++];
      continue;
    }
    // ParseGrowthCases has seen to it that there is a value.
    const auto expression = absl::string_view(text).substr(at + 1, end - at - 1);
    result += std::to_string(ValueOf(expression, size).value_or(size));
    at = end + 1;
  }
  return result;
}

absl::StatusOr<std::vector<GrowthCase>> ParseGrowthCases(absl::string_view text) {
  std::vector<GrowthCase> cases;
  std::vector<std::string> ops;  // of the last cases, in their order
  int64_t number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (absl::StartsWith(line, "==")) {
      ASSAY_RETURN_IF_ERROR(ParseHead(line, number, cases, ops));
      continue;
    }
    if (cases.empty()) {
      if (line.empty() || line.front() == '#') continue;
      return ErrorAt(number, "expected a line that begins with ==, or with # for a comment");
    }
    for (size_t at = line.find("{n"); at != absl::string_view::npos; at = line.find("{n", at + 1)) {
      const size_t end = line.find('}', at);
      if (end == absl::string_view::npos ||
          !ValueOf(line.substr(at + 1, end - at - 1), 1).has_value()) {
        return ErrorAt(number, "after {n there may be *K, /K, +K or -K, and then }");
      }
    }
    for (size_t k = 0; k < ops.size(); ++k) {
      cases[cases.size() - ops.size() + k].text +=
          absl::StrReplaceAll(line, {{"{op}", ops[k]}}) + "\n";
    }
  }
  return cases;
}

double GrowthResult::DefinedRatio() const {
  return law.Of(static_cast<double>(points[2].n)) / law.Of(static_cast<double>(points[0].n));
}
double GrowthResult::StepRatio() const { return points[2].steps / std::max(points[0].steps, 1.0); }
double GrowthResult::TimeRatio() const {
  return points[0].seconds > 0 ? points[2].seconds / points[0].seconds : 0;
}

GrowthResult MeasureGrowth(const GrowthCase& one, Backend* timed, Backend& counting, int64_t n,
                           int rounds) {
  GrowthResult result;
  result.name = one.name;
  result.law = one.law;
  const absl::Status status = Measure(one, timed, counting, n, rounds, result);
  if (!status.ok()) result.error = std::string(status.message());
  return result;
}

std::string GrowthPage(const std::string& command, const std::vector<GrowthResult>& results) {
  std::string page = StrCat(
      "# How work grows\n\nMade by `", command,
      "`; do not edit. Each program runs at n, 4n and 16n. *Definition*, *steps* and *time*: by "
      "how\nmuch more 16n takes than n. Steps are what loops of compiled code and kernels count "
      "(multiply-adds,\ncomparisons, butterflies, elements); none where everything is moved as "
      "whole blocks. Time holds fixed\ncosts and caches: what falls out of a cache between n and "
      "16n takes longer per element.\n\n"
      "| program | law | n | definition | steps | time | time at n | at 4n | at 16n |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const GrowthResult& one : results) {
    if (!one.error.empty()) {
      StrAppend(&page, "| ", one.name, " | ", one.law.ToString(), " | | | | | ", one.error,
                " | | |\n");
      continue;
    }
    StrAppend(&page, "| ", one.name, " | ", one.law.ToString(), " | ", one.points[0].n, " | ",
              RatioCell(one.DefinedRatio()), " | ", RatioCell(one.StepRatio()),
              one.GrowsAsDefined() ? "" : " **too much**", " | ", RatioCell(one.TimeRatio()));
    for (const GrowthPoint& point : one.points) {
      StrAppend(&page, " | ", TimeCell(point.seconds));
    }
    page += " |\n";
  }
  return page;
}

}  // namespace assay
