// The suite "matrix" of `assay conform`: cells of the conformance matrix, judged by the oracle.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/triage/known_cases.h"
#include "reports/store.h"
#include "spec/backend/backend.h"
#include "tools/assay/conform/level_claims.h"

namespace assay {

struct MatrixOptions {
  std::string backend;  // as it is named in the store
  std::string tier = "smoke";
  int64_t shard_index = 0, shard_count = 1;
  std::string filter;   // in the names of cells
  std::string level;    // cells of this level of conformance and those before it; "": all
  std::string profile;  // by which is judged; "": the backend's
  std::string page;     // Markdown file of the table by op and type; "": none
  std::string cases;    // folder for the programs and inputs of failing cells; "": none
  bool all = false;     // a line for every op
  bool json = false;
  Limits limits;
};

struct MatrixTotals {
  int64_t passed = 0, failed = 0, inconclusive = 0, unsupported = 0, rejected = 0, crashed = 0,
          timed_out = 0;
  int64_t waived = 0;
  int64_t not_for_mode = 0;  // cells whose program has no such mode
  int64_t beyond_level = 0;  // cells of a level that was not asked for
  int64_t not_run = 0;       // that an interrupt left out
  LevelClaims levels;
  std::string profile;         // by which was judged
  std::vector<CaseRow> cases;  // a row per judged cell, for the store: OP__NAME
};

// Members of the summary, and its last lines for people: what was counted, and the claim.
nlohmann::json SummaryOf(const MatrixOptions& options, const MatrixTotals& totals);
void PrintTotals(const MatrixOptions& options, const MatrixTotals& totals, double seconds);
// True if the level that was asked for is held; where none was, if nothing is wrong.
bool IsHeld(const MatrixOptions& options, const MatrixTotals& totals);

// Runs the cells and prints what came out. `backend` is used in this process where it lives in
// another one, and behind forks otherwise. Errors: options that make no sense; interrupted.
// `known` excuses cells that fail, by their names.
absl::StatusOr<MatrixTotals> RunMatrix(const MatrixOptions& options, Backend& backend,
                                       KnownCases& known);

}  // namespace assay
