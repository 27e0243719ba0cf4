// The ledger of causes: what is known to be wrong with a compiler, a folder per cause, kept over
// all campaigns. A folder is named after the cause and holds
//   cause.json    what a person said of it, and under "measured" what `assay known --refresh` found
//   program.hlo   the smallest program, as it was sent
//   program.npz   its inputs and what is right: in0, in1, ..., out0, ...
//   repro.py      shows it with jaxlib alone: 1 while it lives, 0 when it is gone, 2 if it cannot
//   tell jax.py        the same written in JAX, where JAX can write it before.hlo, after.hlo   the
//   module around the pass that is to blame
// so that each is a case for `assay check`, too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "conformance/case_files.h"

namespace assay {

// The harm that a bug does to a user, the worst first.
enum class Severity : uint8_t { kWrongValue, kMemory, kLostNan, kAbort, kError, kParser };
inline constexpr int kSeverityCount = 6;
std::string_view Name(Severity severity);

// Tells whether the bug lives in the newest release that was asked.
enum class CauseStatus : uint8_t {
  kLive,
  kFixed,     // `reason` names the release
  kRefuted,   // it was none; `reason` says why
  kLicensed,  // a clause of the profile permits it; `reason` names it
  kNotRerun,  // nobody has the machine that it was seen on; `reason` says which
};
inline constexpr int kCauseStatusCount = 5;
std::string_view Name(CauseStatus status);

// The findings of a command about a cause; all of them can be found again.
struct MeasuredCause {
  std::string kind;                          // Name(Outcome::Kind): "wrong value"
  std::string seen_on;                       // "XLA:CPU of jaxlib 0.10.2"
  std::string bucket;                        // of the campaigns' findings that are this one
  std::string pass;                          // that is to blame; "" if none is
  std::string verdict;                       // what is to blame, in a sentence
  std::map<std::string, std::string> flags;  // the state under each flag that was tried
  std::vector<std::string> inputs;           // as text
  std::string expected, got;                 // of the first wrong element, or how it ended
  std::string message;                       // words of a crash that tell it from others
  std::string numpy;                         // what the second opinion is
  std::string first_bad, last_asked;         // releases
  std::string releases;                      // how each of them fares
  std::vector<std::string> fails, passes;    // siblings: what was changed
  bool has_jax = false;                      // jax.py shows it
};

struct Cause {
  std::string name, folder;
  std::string title;  // one sentence
  Severity severity = Severity::kWrongValue;
  std::string component;  // of the compiler: "HLO pass algsimp", "code generation", "HLO parser"
  std::string sentence;   // of the semantics, which it breaks, with its chapter
  CauseStatus status = CauseStatus::kLive;
  std::string reason;
  std::string found_by;  // "seed 20269447, program 22314"
  std::string profile = "xla";
  MeasuredCause measured;

  // program.hlo with program.npz where it is there, as checks take them.
  CaseFile Case() const;
  // JAX's users get a wrong answer and no word of it.
  bool IsSilentInJax() const { return severity == Severity::kWrongValue && measured.has_jax; }
};

// One folder. Errors name the file, the field and what may stand there.
absl::StatusOr<Cause> ReadCause(const std::string& folder);
// All folders of a ledger by name. A folder without cause.json is an error.
absl::StatusOr<std::vector<Cause>> ReadLedger(const std::string& folder);
// cause.json anew.
absl::Status WriteCause(const Cause& cause);

// The list by severity: silent wrong values that JAX can write first. `link`: from the page to the
// ledger's folder.
std::string LedgerMarkdown(std::vector<Cause> causes, const std::string& link);
// An object per line (docs/json.md), for other programs.
std::string LedgerJson(absl::Span<const Cause> causes);

}  // namespace assay
