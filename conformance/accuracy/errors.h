// The errors of one function on many arguments.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/accuracy/truth.h"
#include "nlohmann/json_fwd.hpp"

namespace assay::accuracy {

// Upper ends of the classes of errors, in ulps; the last has none.
inline constexpr std::array<double, 11> kErrorClasses = {0.5, 1, 1.5, 2, 3, 4, 8, 16, 64, 1024, 0};

// One argument and what came of it.
struct Sample {
  double x = 0, y = 0, got = 0, want = 0;
};

// A count, and the first sample that made it.
struct Noted {
  int64_t count = 0;
  Sample first;

  void Note(const Sample& sample) {
    if (count++ == 0) first = sample;
  }
  void Merge(const Noted& other);
};

struct Errors {
  int64_t inputs = 0;
  int64_t nearest = 0;  // the nearest number of the type, NaN for NaN
  int64_t asked = 0;    // so many that MPFR had to decide
  Noted flushed_in;     // right if the subnormal argument had been zero
  Noted flushed_out;    // zero where the truth is subnormal
  Noted other_class;    // NaN, an infinity or a number where another of them is right
  Noted subnormal;      // other results of subnormal arguments, on backends that flush
  Noted zero_sign;      // the other zero
  Noted not_monotone;   // of two neighbours the wrong one is larger; the second is noted
  Noted not_symmetric;  // f(-x) is neither f(x) nor -f(x), whichever it must be
  int64_t pairs = 0;    // neighbours and mirror images that were compared
  std::array<int64_t, kErrorClasses.size()> histogram = {};
  double worst = 0;  // in ulps
  Sample worst_at;
  std::vector<Sample> specials;  // special arguments whose results are wrong

  // Counts the distance of one result, in ulps.
  void Count(double ulps, const Sample& sample);
  void Merge(const Errors& other);
};

nlohmann::json ToJson(const Errors& errors);
absl::StatusOr<Errors> ErrorsFromJson(const nlohmann::json& json);

// Judges results one by one.
class ErrorCounter {
 public:
  // `argument`: the type of the arguments. `flushes`: the backend takes subnormal numbers for zero.
  ErrorCounter(const TrueFunction& function, ElementType argument, ElementType result,
               bool flushes);
  void Add(double x, double y, double got);
  // Two results of neighbours, `from` at the smaller argument; direction 1 or -1.
  void AddNeighbours(const Sample& from, const Sample& to, int direction);
  void AddMirror(const Sample& one, const Sample& other, Parity parity);
  Errors Take();

 private:
  void Judge(const Sample& sample, const TrueValue& truth);
  bool IsFlushedInput(const Sample& sample);

  Truth truth_;
  Units units_;
  double least_argument_;  // the smallest normal one
  bool flushes_;
  Errors errors_;
};

}  // namespace assay::accuracy
