// Finds a required pass that is wrong, for a program that fails with every decision refused: what
// such a pass rewrites has no code otherwise, so no limit leaves it out. The compiler shows the
// module as each pass left it, and the oracle says which is the first that does not mean the
// program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/backend/check.h"

namespace assay {

struct RequiredPass {
  std::string pass;  // "": every pass leaves the module right, so the code is wrong
  // The required decision of the pass, its first one if it made several; a pass that made none is a
  // rule itself, with number 0.
  Decision decision;
  std::string before, after;  // the module, as HLO
  std::string code;           // without a guilty pass: the op whose code is wrong; "": not known
};

// Nothing: the backend does not show its passes (the options trace and until of our own), or the
// oracle has no answer. Compiles some ten times, and runs, in the calling process.
std::optional<RequiredPass> FindRequiredPass(const CheckSubject& subject, const Module& module,
                                             const std::vector<Literal>& inputs);

}  // namespace assay
