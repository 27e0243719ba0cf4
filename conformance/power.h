// The power of the derived bounds to convict, measured on one module: outputs that are plainly
// wrong must be called so. Document: design, "a bound too loose to convict is a bug too".
#pragma once

#include <string>
#include <vector>

#include "conformance/module_check.h"

namespace assay {

// Other legal answers for a program, of several devices as the tuple of their results; what it
// gives, the bounds must allow.
using LegalAnswers = std::function<absl::StatusOr<std::vector<Literal>>(const CheckCase&)>;

// A float output of which an element was moved, all in the units of the move (below).
struct MovedOutput {
  int64_t output = 0;
  double deviation = 0;  // the largest of the legal answers
  double radius = 0;     // what the bound allows the element, in either direction
  bool caught = false;
};

struct ModulePower {
  std::string name;
  // Float outputs of which one random element was moved: by 16 times the largest deviation of the
  // legal answers at hand (stored, of the backend, of `legal`), and by 16 units in the last place
  // at least. Both are counted in units of the larger of the element and its output's root mean
  // square, which is what makes a bound useful.
  int64_t moved = 0, moved_caught = 0;
  // Outputs that are integers, predicates, or floats with exactly one right answer, of which one
  // bit of one element was flipped.
  int64_t flipped = 0, flipped_caught = 0;
  // Legal evaluations, and those that the bounds reject: a defect of the bounds.
  int64_t legal = 0, legal_rejected = 0;
  // Outputs without an element to bend: none that is finite, not zero, and judged by itself. What
  // is undecided is bent and counts as missed.
  int64_t skipped = 0;
  std::vector<MovedOutput> outputs;
  std::vector<std::string> missed;  // "output 1, element 30: moved by 160 units"
};

// `backend` and `legal` may be nullptr; the backend's answer is a legal one if the oracle allows
// it.
absl::StatusOr<ModulePower> MeasurePower(const CaseFile& file, Oracle& oracle, Backend* backend,
                                         const LegalAnswers& legal, const CheckOptions& options);

}  // namespace assay
