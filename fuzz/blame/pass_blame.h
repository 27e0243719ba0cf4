// Blame for XLA, which does not number its decisions: the module is dumped after every pass, each
// snapshot runs on the oracle, as it is written and as its notes about loops say, and the first one
// whose answer is wrong names the pass. Where all are right, passes are disabled one after the
// other. Flags then tell passes from code generation.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spec/backend/check.h"

namespace assay {

struct PassBlame {
  std::string pass;           // "algsimp"; "" when every snapshot is right
  std::string pipeline;       // "simplification"
  std::string before, after;  // the snapshots around it
  std::string note;  // what it noted about a loop, if that is wrong and not the module, in words
  // When every snapshot is right: the last of the passes that changed the program without which it
  // does not fail; "" if there is none.
  std::string silencing;
  // The state of the program ("pass", "fail", ...) under each flag that disables something.
  std::vector<std::pair<std::string, std::string>> checks;
  std::string verdict;                    // one sentence: what is guilty, as far as this tells
  int64_t snapshots = 0, unreadable = 0;  // unreadable: with calls or ops that have no meaning here
};

// `subject.backend` must be one whose description says dumps_passes. The program is known to fail
// as `kind`. Needs a writable temporary folder; without one `verdict` says so.
PassBlame BlamePass(const CheckSubject& subject, const Module& module,
                    const std::vector<Literal>& inputs, Outcome::Kind kind);

// The part of it that runs the snapshots: `pass`, `before`, `after` and the counts.
PassBlame FindWrongSnapshot(const CheckSubject& subject, const Module& module,
                            const std::vector<Literal>& inputs);

// The opcodes that the guilty pass made more or fewer of; those of the
// snapshot after it where the counts are equal. Parameters, constants, tuples and the scalar
// computations of reductions and the like do not count: they stand around a bug.
std::set<std::string> ChangedOpcodes(const PassBlame& blame);

}  // namespace assay
