// The power of verdicts by cuts, measured on one program: single mistakes in what the backend
// compiles must fail, in the stretch where they are, and no legal recompilation may. Document:
// design, "a bound too loose to convict is a bug too".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/power.h"

namespace assay {

struct MistakePower {
  std::string instruction, kind, what;
  // The distance of the results from the right ones, in parts of the worst that legal evaluations
  // showed: above 1 the mistake is visible. Infinite where those agree.
  double visibility = 0;
  bool fails = false;
  bool in_its_stretch = false;  // the first stretch that fails holds the instruction
  std::string reason;           // what the verdict said
};

struct CutPower {
  std::string name;
  int64_t tried = 0;                   // mistakes, visible or not
  std::vector<MistakePower> mistakes;  // the visible ones
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
