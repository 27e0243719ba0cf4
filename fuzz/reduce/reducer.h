// Makes a failing program small: as few instructions as it takes, small shapes, plain types and
// values, while a predicate holds. The predicate decides what "the same failure" is; every
// candidate verifies before it is asked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/reduce/edit.h"

namespace assay {

// True: the candidate shows the failure that is being reduced.
using ReducePredicate = std::function<bool(const Module&, const std::vector<Literal>&)>;
// The plain value of a module on inputs, as the oracle gives it. Lets the reducer cut a program
// where a value is known.
using EvaluateFunction =
    std::function<absl::StatusOr<Literal>(const Module&, const std::vector<Literal>&)>;

struct ReduceProgress {
  int64_t probes = 0, accepted = 0;
  int64_t instructions = 0, elements = 0;  // of the best so far
  double seconds = 0;
  std::string step;  // the latest one that was accepted
};

struct ReduceOptions {
  double seconds = 30;  // best so far is returned then
  int64_t max_probes = 20000;
  // Candidates that are tried at once, each by the predicate in a forked copy of this process; with
  // more than one the calling process must be single-threaded.
  int jobs = 1;
  EvaluateFunction evaluate;                            // optional
  std::function<void(const ReduceProgress&)> progress;  // optional, after each accepted step
  std::function<void(const ReduceCase&)> best;          // optional, likewise
  // Optional: what computes the failure is found first, before sizes, types and values get small;
  // true of that ends the reduction.
  std::function<bool(const ReduceCase&)> is_enough;
};

struct ReduceResult {
  ReduceCase reduced;
  ReduceProgress progress;
  // No step is left that the predicate accepts; false: time or probes ran out, or it was enough.
  bool complete = false;
  bool was_enough = false;
};

// Errors: the module does not verify, or the predicate does not hold for what was given.
// Deterministic as long as the predicate is and time does not run out. The same predicate answer is
// never asked for twice.
absl::StatusOr<ReduceResult> Reduce(const Module& module, const std::vector<Literal>& inputs,
                                    const ReducePredicate& predicate,
                                    const ReduceOptions& options = {});

}  // namespace assay
