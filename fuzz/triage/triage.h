// From a failure to a bug that somebody can work on: confirm it, blame a decision or pass, reduce
// the program, sort it into a bucket, write its page. Used by campaigns (a TriageFunction) and by
// `assay reduce`, `assay blame`, `assay replay`.
#pragma once

#include <functional>
#include <string>

#include "fuzz/backends/releases.h"
#include "fuzz/blame/blame.h"
#include "fuzz/blame/requests.h"
#include "fuzz/finding.h"
#include "fuzz/reduce/reducer.h"
#include "fuzz/triage/bug_page.h"

namespace assay {

struct TriageOptions {
  std::string pages;           // folder that receives a folder per bucket; "": no pages
  double reduce_seconds = 60;  // what comes out then is the best so far
  int jobs = 1;                // as of ReduceOptions
  bool blame = true, reduce = true;
  // Smaller programs may be wrong only in the order of their arithmetic (rearranged.h).
  bool may_rearrange = true;
  Limits limits = kTriageLimits;
  std::string python;             // who is asked for a second opinion; "": nobody
  std::string program = "assay";  // how the pages spell the command line
  std::vector<Release> releases;  // that each page tells about
  std::function<void(const ReduceProgress&)> progress;  // optional
  std::function<bool(const ReduceCase&)> is_enough;     // as of ReduceOptions
};

// Everything that triage learned. `page` borrows nothing.
struct TriageReport {
  TriageResult result;
  BugPage page;
};

// Errors: the finding's module does not read or verify, or its profile is unknown; a page could not
// be written. A finding that does not repeat is no error: result.confirmed is false. When the
// bucket has a page already, the one with the smaller program stays, and the page counts the
// duplicates; what would not be smaller is not reduced to its end. The calling process must be
// single-threaded if the backend runs in it.
absl::StatusOr<TriageReport> Triage(const Finding& finding, Oracle& oracle, Backend& backend,
                                    const TriageOptions& options = {});

// A function that triages with these options, as a campaign takes it.
TriageFunction MakeTriage(TriageOptions options);

// Parts, for the verbs. The finding's program, as a case.
absl::StatusOr<ReduceCase> CaseOf(const Finding& finding);

// A finding that was not found by a campaign: `module` fails on `subject.backend` now. `kind` of
// the failure, or an error that says that it passes.
absl::StatusOr<Finding> FindingOf(const CheckSubject& subject, const Module& module,
                                  const std::vector<Literal>& inputs);

}  // namespace assay
