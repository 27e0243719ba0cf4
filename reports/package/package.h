// A conformance run as a folder that its reader can check: manifest.json (who was judged, by what,
// where and when), results.jsonl (a line for every case), waivers.json (what was excused). Hashes
// and counts tie them together, so that an edit of any of them is seen. They are no signature: who
// writes all of it anew can say anything, which a second run of some cases then contradicts.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "reports/store.h"

namespace assay {

// The cases that a run was to have.
struct SuiteSelection {
  std::string suite, tier, filter, shard;
  std::string level;               // of the matrix: up to which; "": all
  std::string profile;             // of the matrix: by which was judged
  std::vector<std::string> names;  // of all cases, in order
  std::vector<int> levels;         // of conformance, of the cases of the matrix
  std::string hash;                // of their programs
};

// All results that a case may have.
bool IsCaseResult(std::string_view status);

// `waivers`: the text of the file of waivers; "" for none. Errors: the folder is there and not
// empty, or cannot be written; cases that the selection has not.
absl::Status WritePackage(const std::string& folder, const RunRow& run,
                          const SuiteSelection& selection, const std::string& waivers);

struct Package {
  RunRow run;                // with its cases
  SuiteSelection selection;  // without names
  std::string waivers;
};
// Reads a package and holds it against itself. Errors say which file and what about it was changed.
absl::StatusOr<Package> ReadPackage(const std::string& folder);
// Holds a package against the suite as this program has it: the same cases, the same programs.
absl::Status CheckAgainstSuite(const Package& package, const SuiteSelection& selection);

}  // namespace assay
