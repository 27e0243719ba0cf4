// A finding: one program on which something under test misbehaved, as the campaign hands it to
// triage, and what triage gives back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/culprit.h"
#include "spec/backend/backend.h"
#include "spec/backend/oracle.h"
#include "spec/backend/outcome.h"
#include "spec/types/literal.h"

namespace assay {

struct Finding {
  Outcome::Kind kind = Outcome::kWrong;  // a failure, or kOurFault
  Phase phase = Phase::kJudge;
  std::string backend;          // name for BackendRegistry::Create
  CompileOptions options;       // with the planted defect, if there is one
  std::string profile;          // name of the numeric profile of the verdict
  uint64_t seed = 0;            // of the campaign; 0 with index -1: not generated
  int64_t index = -1;           // of the case in the campaign
  int64_t input_set = 0;        // of the case: `inputs` are InputSet(..., input_set)
  std::string module_text;      // HLO, long form; reads back to the same module
  std::vector<Literal> inputs;  // in parameter order
  std::string judgement;        // for people, several lines: DescribeFailure, or the error of the
                                // backend, or how it died
  // What the second check said; empty until it was made ("repeats in a fresh process; also with
  // exact inputs").
  std::string second_check;
  double triage_seconds = 0;  // that triage may take of it; 0: no limit but its own
};

// The result of triage: blame, a smaller program and a page.
struct TriageResult {
  bool confirmed = false;  // it failed again, by itself
  Culprit culprit;         // of the reduced program
  std::string bucket;      // BucketName of it
  std::string
      title;  // one line for a list: "ds-of-ds: wrong value in dynamic-slice(dynamic-slice)"
  std::string blamed_rule;  // "" when the backend has no gates or blame did not converge
  std::string blamed_where;
  std::string silencing;  // where no pass is to blame: one without which the program is right
  int64_t blamed_decision = -1;
  int64_t instructions = 0;    // of the reduced program, parameters and constants included
  std::string variant;         // of it (VariantOf): its bucket keeps pages of two
  bool is_smallest = false;    // the reducer ended before its time was up
  std::string notable;         // not empty: no failure, but a user may want to know
  std::string second_opinion;  // the name of an OpinionState; "": nobody was asked
  std::string page;            // folder of the bug page
};
using TriageFunction = std::function<absl::StatusOr<TriageResult>(
    const Finding& finding, Oracle& oracle, Backend& backend)>;

}  // namespace assay
