// A folder per bug, to work with and to paste into a tracker: repro.hlo, repro.npz (in0, in1, ...),
// finding.json (what Assay needs to repeat it), original.hlo (before reduction), README.md,
// repro.sh, where jax shows the bug repro.py (no Assay needed), second_opinion.py where numpy was
// asked, and bug.html, one page that opens from disk.
#pragma once

#include <string>
#include <vector>

#include "fuzz/blame/blame.h"
#include "fuzz/blame/pass_blame.h"
#include "fuzz/finding.h"
#include "fuzz/opinions/second_opinion.h"
#include "fuzz/triage/wrong_element.h"

namespace assay {

struct BugPage {
  Finding finding;  // reduced: module_text and inputs are those of repro.hlo
  TriageResult result;
  std::string backend_version;
  std::string original_text;  // module before reduction
  std::string expected, got;  // outputs as HLO literals; "" when large or not there
  WrongElement wrong;
  std::string difference;  // "abs(-4): the sign is wrong"; "": not said
  Blame blame;
  PassBlame pass_blame;
  SecondOpinion opinion;
  std::string releases;            // DescribeReleases; "": none was asked
  std::vector<std::string> steps;  // what triage did, a sentence each, with numbers
  int64_t duplicates = 0;          // other findings in this bucket
  std::string program = "assay";
  bool is_jax = false;  // BackendDescription::is_jax: the folder holds repro.py
};

// Writes all files; the folder is made. Errors name the file.
absl::Status WriteBugPage(const BugPage& page, const std::string& folder);

// finding.json, repro.hlo and repro.npz back into a finding. Hostile-safe.
absl::StatusOr<Finding> LoadFinding(const std::string& folder);

// The texts alone.
std::string BugMarkdown(const BugPage& page);
std::string BugHtml(const BugPage& page);

// For scripts that show a bug without Assay. The name of a type in numpy and ml_dtypes; an .npz
// file holds those of the latter as integers.
std::string NumpyName(ElementType type);
// The number of the signal that a judgement says the compiler died of; 0: of none, or nobody knows.
int SignalOfDeath(const std::string& judgement);
// The part of a compiler's last words that tells this death from others: the check that failed, or
// the error that it reported. "": it died without any.
std::string WordsOfDeath(const BugPage& page);

// Lines of two texts side by side in one list: ' ' common, '-' only before, '+' only after.
std::vector<std::string> DiffLines(const std::string& before, const std::string& after);

}  // namespace assay
