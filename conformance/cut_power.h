// The power of verdicts, measured on one program: single mistakes in what the backend compiles must
// fail, as a whole or in the stretch where they are, and no legal recompilation may. Document:
// design, "a bound too loose to convict is a bug too".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/power.h"

namespace assay {

// The answer of `check` to a program with a mistake, and whether the mistake can be seen.
struct MistakePower {
  enum Verdict : uint8_t { kFails, kPasses, kInconclusive };

  std::string instruction, kind, what;
  // The distance of the results from the right ones, in parts of the worst that legal evaluations
  // showed. Infinite where those agree.
  double visibility = 0;
  Verdict verdict = kPasses;
  bool is_whole = false;  // without cuts
  // Tells where the mistake is found: the first part that fails by itself is the instruction, or
  // one that reads it; the first stretch that fails holds it.
  bool is_named = false, in_its_stretch = false;
  std::string reason;  // what the verdict said

  bool Fails() const { return verdict == kFails; }
};
std::string_view Name(MistakePower::Verdict verdict);

struct CutPower {
  std::string name;
  // Mistakes, visible or not. One is visible where it takes results further from the right ones
  // than any legal evaluation at hand, and by more than what shows (spec/numerics/sharpness.h).
  int64_t tried = 0;
  std::map<std::string, int64_t> not_visible;  // by kind
  std::vector<MistakePower> mistakes;          // the visible ones
  int64_t recompiled = 0, recompiled_failed = 0, recompiled_open = 0;
  int64_t not_compiled = 0;         // recompilations that the backend refused
  std::vector<std::string> alarms;  // what the failing recompilations were, and why
  double seconds = 0;
};

struct CutPowerOptions {
  int64_t mistakes = 10;  // visible ones that are looked for
  int64_t recompilations = 30;
  // Flags of the backend with which legal recompilations are made, beside refused decisions.
  std::vector<std::map<std::string, std::string>> flags;
};

// `options.compile.flags` are the right compilation's. `legal` may be nullptr.
absl::StatusOr<CutPower> MeasureCutPower(const CaseFile& file, Oracle& oracle, Backend& backend,
                                         const LegalAnswers& legal, const CheckOptions& options,
                                         const CutPowerOptions& wanted);

}  // namespace assay
