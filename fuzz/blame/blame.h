// Finds the single decision of the compiler that makes a program fail by a binary search over
// CompileOptions::decision_limit, natively compiled and run. Design: "Every decision of the
// compiler passes a gate".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "spec/backend/check.h"

namespace assay {

struct BlameSearch {
  // The smallest limit that was seen to fail with its predecessor seen to pass; 0: none was found.
  int64_t guilty = 0;
  bool fails_without_decisions =
      false;  // refusing everything fails as well: no decision is to blame
  int probes = 0;
  std::string note;  // "" or what was unusual
};

enum class ProbeAnswer : uint8_t { kPass, kFail, kUnclear };

// The search alone. `probe(limit)` compiles and runs with decisions 1..limit allowed. `total` is
// known to fail; unclear answers are stepped around, and failures below the first answer (a search
// space that is not monotone) are looked for. `total` < 0: not known, because the compiler dies
// before it tells; found by doubling.
BlameSearch SearchBlame(int64_t total, const std::function<ProbeAnswer(int64_t limit)>& probe);

struct Blame {
  bool found = false;      // a decision, or a required pass
  Decision decision;       // the guilty one
  bool confirmed = false;  // it fails with it and passes with all before it, each seen again
  int64_t total = -1;      // decisions of the failing compilation; -1: it died before it told
  int probes = 0;
  std::string note;  // why nothing was found, or what was unusual
  // It fails with every decision refused: the required pass that is to blame, of which `decision`
  // is the one that it made (required_pass.h); or the op whose code is wrong, and `found` is false.
  bool fails_without_decisions = false;
  std::string pass, code;
  std::string before, after;  // optimized HLO without and with the guilty decision, "" if not shown
};

// The finding's program must fail as `kind` when nothing is refused; otherwise, or when the backend
// has no decisions, or when it fails with all of them refused, `found` is false and `note` says so.
// In-process backends run in children.
Blame BlameDecision(const CheckSubject& subject, const Module& module,
                    const std::vector<Literal>& inputs, Outcome::Kind kind);

// True if the program fails as `kind` and a decision of `rule` is one that makes the difference.
// Cheaper than BlameDecision; what keeps the reducer from sliding to another bug.
bool FailsByRule(const CheckSubject& subject, const Module& module,
                 const std::vector<Literal>& inputs, Outcome::Kind kind, const std::string& rule);

}  // namespace assay
