// Measures how the work of a program grows with its size: modules with a size n left open are run
// at n, 4n and 16n and held against the growth that the definition of the op has. Steps are counted
// by the program itself, so that the answer does not hang on what the machine does meanwhile; times
// stand beside them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "spec/backend/backend.h"

namespace assay {

// n^power, times log n where `logarithm`.
struct GrowthLaw {
  double power = 1;
  bool logarithm = false;

  double Of(double n) const;
  std::string ToString() const;  // "n", "n^2", "n log n"
};

struct GrowthCase {
  std::string name;
  GrowthLaw law;
  int64_t n = 0;     // the smallest of the three sizes
  std::string text;  // HLO text in which {n}, {n*K}, {n/K}, {n+K} and {n-K} stand for numbers

  std::string ModuleText(int64_t size) const;
};

// Cases of a file: each begins with a line "== NAME | LAW | N", or "== NAME | LAW | N | OP OP ..."
// for one case per op, whose name is NAME/OP and in whose text {op} is the op. Lines before the
// first case that begin with # are comments. Errors (invalid argument) name the line.
absl::StatusOr<std::vector<GrowthCase>> ParseGrowthCases(absl::string_view text);

struct GrowthPoint {
  int64_t n = 0;
  double seconds = 0;  // median of the timed runs
  double steps = 0;    // of one run; 0: the backend counts none, or all is moved as whole blocks
};

struct GrowthResult {
  std::string name;
  GrowthLaw law;
  std::array<GrowthPoint, 3> points = {};
  std::string error;  // the points are not filled then

  // By how much more the last point takes than the first.
  double DefinedRatio() const;
  double StepRatio() const;  // 0: no steps
  double TimeRatio() const;
  // Steps that grow by half as much again as the definition does, or less. Blocks, remainders and
  // what is spent once per row keep ratios from being exact; the next worse law at sixteen times
  // the size is at least four times as much.
  bool GrowsAsDefined() const { return StepRatio() <= 1.5 * DefinedRatio(); }
};

// `timed` and `counting` compile the case at n, 4n and 16n; `counting` reports its steps as the
// statistic "work.steps". Without `timed` no time is taken; `rounds` runs of each otherwise.
GrowthResult MeasureGrowth(const GrowthCase& one, Backend* timed, Backend& counting, int64_t n,
                           int rounds);

// The results as a Markdown page, made by `command`.
std::string GrowthPage(const std::string& command, const std::vector<GrowthResult>& results);

}  // namespace assay
