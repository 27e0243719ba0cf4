// Makes the folder of a cause (conformance/known/ledger.h): of a program that fails, its values,
// its scripts, and who is to blame.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "conformance/known/ledger.h"
#include "spec/backend/backend.h"
#include "spec/backend/oracle.h"
#include "spec/numerics/profile.h"

namespace assay {

// Whom it is asked of.
struct KnownPeer {
  Oracle& oracle;
  Backend& backend;
  const Profile& profile;
  std::string python;         // with jaxlib, which runs the scripts
  int64_t sets = 0;           // of inputs to try where none are noted
  double reduce_seconds = 0;  // 0: the program stays as it is
};

// Writes everything that can be found again: the values, the scripts and what is measured, but for
// releases. Errors: it does not fail, or not where its script runs it.
absl::Status RefreshFolder(Cause& cause, const KnownPeer& peer);

// The exit status of a script of the folder, in a fresh process: 1 it lives, 0 it is gone, else it
// cannot be told.
int RunScript(const Cause& cause, const std::string& script, const std::string& python);

}  // namespace assay
