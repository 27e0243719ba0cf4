// Results that somebody recorded, where the compiler that gave them need not be here: of a run in a
// dump, or out0, out1, ... in an .npz.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "conformance/case_files.h"
#include "spec/backend/oracle.h"
#include "spec/backend/outcome.h"

namespace assay {

// The verdict on the recorded result of the case, which child processes find; nullopt: none was
// recorded, or the case comes from no file.
std::optional<Outcome> JudgeRecorded(const CaseFile& file, Oracle& oracle, const Profile& profile,
                                     const Limits& limits);

// "the result recorded in F is wrong, and cpu is right on the same inputs": for verbs that have
// nothing else to look into.
std::string WrongRecord(const CaseFile& file, const std::string& backend);

// The part of the program that leads to its first wrong recorded array, with the recorded arrays:
// NAME.hlo and NAME.npz in `folder`, on which `assay check --backend none` fails. Returns the path
// of the module.
struct RecordedPart {
  std::string path;
  int64_t output = 0;  // the number of the wrong array
  int64_t instructions = 0, of = 0;
};
absl::StatusOr<RecordedPart> WriteWrongPart(const CaseFile& file, Oracle& oracle,
                                            const Profile& profile, const Limits& limits,
                                            const std::string& folder);

}  // namespace assay
