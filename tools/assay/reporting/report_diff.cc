// Finds two runs and tells their difference.
#include "tools/assay/reporting/report_diff.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/numbers.h"
#include "reports/forms/run_diff.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

// The run of `number` (0: the newest with cases), `before` runs earlier.
absl::StatusOr<RunRow> RunIn(const std::string& db, int64_t number, int64_t before) {
  if (std::error_code error; !std::filesystem::exists(db, error)) {
    return absl::NotFoundError(StrCat("there is no result store ", db));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::Open(db));
  ASSAY_ASSIGN_OR_RETURN(std::vector<RunRow> runs, store->Headers(1'000'000));
  for (RunRow& run : runs) {
    if (number > 0 && run.id != number) continue;
    ASSAY_RETURN_IF_ERROR(store->Fill(run));
    if (number > 0) return run;
    if (!run.cases.empty() && before-- == 0) return run;
    run = {};
  }
  return absl::NotFoundError(number > 0 ? StrCat("the store ", db, " has no run ", number)
                                        : StrCat("the store ", db,
                                                 " has not so many runs with "
                                                 "verdicts; assay report html lists them"));
}

absl::StatusOr<RunRow> RunNamed(const std::string& name, const std::string& db) {
  int64_t number = 0;
  if (absl::SimpleAtoi(name, &number) && number > 0) return RunIn(db, number, 0);
  if (name == "last") return RunIn(db, 0, 0);
  if (name.rfind("last~", 0) == 0 && absl::SimpleAtoi(name.substr(5), &number) && number >= 0) {
    return RunIn(db, 0, number);
  }
  if (std::error_code error; std::filesystem::exists(name, error)) return RunIn(name, 0, 0);
  const size_t colon = name.rfind(':');
  if (colon != std::string::npos && absl::SimpleAtoi(name.substr(colon + 1), &number) &&
      number > 0) {
    return RunIn(name.substr(0, colon), number, 0);
  }
  return absl::InvalidArgumentError(
      StrCat("'", name, "' is no run: a number, last, last~1, FILE.db or FILE.db:RUN"));
}

}  // namespace

absl::StatusOr<int> ReportDiff(const DiffRequest& request) {
  if (request.runs.size() != 2) {
    return absl::InvalidArgumentError("assay report diff needs two runs, such as last~1 last");
  }
  ASSAY_ASSIGN_OR_RETURN(const RunRow before, RunNamed(request.runs[0], request.db));
  ASSAY_ASSIGN_OR_RETURN(const RunRow after, RunNamed(request.runs[1], request.db));
  const RunDiff diff = DiffRuns(before, after);
  constexpr size_t kMostOnScreen = 60, kMostOnPage = 200;
  const std::string text = request.form == "json" ? DiffJson(before, after, diff)
                           : request.form == "markdown"
                               ? DiffMarkdown(before, after, diff, kMostOnPage)
                               : DiffText(before, after, diff, kMostOnScreen);
  if (request.out.empty()) {
    Print(text);
  } else {
    ASSAY_RETURN_IF_ERROR(WriteFile(request.out, text + "\n"));
  }
  return diff.worse > 0 ? kExitFailure : kExitOk;
}

}  // namespace assay
