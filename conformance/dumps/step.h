// A pass judged by what it made of a program, without the compiler and without its machine: the
// program after it runs on the oracle, and what it computes must be what the program before allows.
// Arrays that both programs have are cuts: the program after supplies them, and the program before
// is judged stretch by stretch between them, so that bounds stay short and one wrong instruction
// shows in its own stretch. Design: "Deep programs are cut"; docs/validate.md.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/dumps/program_run.h"
#include "spec/backend/oracle.h"

namespace assay {

struct StepVerdict {
  enum Kind : uint8_t {
    kUnchanged,  // the same program but for names, layouts and metadata
    kPassed,
    kInconclusive,
    kNotJudged,  // one of the programs has no meaning here, or they cannot be compared
    kFailed,
  };
  Kind kind = kUnchanged;
  std::string reason;  // one line: why neither unchanged nor passed
  // Elements of the shared arrays and of the results.
  int64_t elements = 0, failed = 0, undecided = 0;
  int64_t shared = 0;   // arrays that both programs have
  int64_t renamed = 0;  // of them, those that mean something else after the pass
  // Something means something else and is read as such, which does not show in the results: other
  // inputs may say more.
  bool is_doubtful = false;
  // The place of a failure: the first wrong array (its name before the pass, or "result 2"), what
  // is known of its instruction, the instructions that lead to it from the shared arrays before it,
  // and several lines on what is allowed and what came.
  std::string where, opcode, op_name, source;
  std::vector<std::string> stretch;
  std::string failure;
};
std::string_view Name(StepVerdict::Kind kind);

// Tells in one line why two programs cannot be compared. Empty if both take the same parameters and
// give results of the same shapes, layouts aside.
std::string WhyNotComparable(const Module& before, const Module& after);

// Judges the program `after` by what `before` allows; both ran on `arguments`, and they are
// comparable. The values of `after` are lent meanwhile, since two copies of all are much. Errors
// are the oracle's own (its limits).
absl::StatusOr<StepVerdict> JudgeStep(const ProgramRun& before, ProgramRun& after,
                                      const std::vector<const Literal*>& arguments, Oracle& oracle,
                                      const Profile& profile, const Limits& limits);

}  // namespace assay
