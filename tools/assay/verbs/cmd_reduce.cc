// assay reduce: a failing module becomes a bug folder with the smallest program that shows the bug.
#include <memory>

#include "absl/strings/str_format.h"
#include "fuzz/triage/triage.h"
#include "spec/base/strings.h"
#include "tools/assay/failure_options.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  FailureOptions failure;
  std::string out = "assay-out/bugs";
  double seconds = 60;
  bool json = false;
};

int PrintReport(const TriageReport& report, bool json) {
  const TriageResult& result = report.result;
  if (json) {
    PrintJson({{"confirmed", result.confirmed},
               {"bucket", result.bucket},
               {"title", result.title},
               {"rule", result.blamed_rule},
               {"decision", result.blamed_decision},
               {"instructions", result.instructions},
               {"page", result.page}});
    return kExitFailure;
  }
  Print(Styled(Style::kBold, result.title));
  for (const std::string& step : report.page.steps) Print("  " + step);
  Print(StrCat("reduced to ", Count(result.instructions, "instruction"), ":"));
  Print(report.page.finding.module_text);
  if (!result.page.empty()) Print("bug page: " + result.page + "/bug.html");
  return kExitFailure;
}

int Run(const Options& options) {
  absl::StatusOr<std::unique_ptr<FailureCase>> failure = OpenFailure(options.failure);
  if (!failure.ok()) return Fail(failure.status());
  FailureCase& c = **failure;
  CheckOutcome outcome = CheckIsolated(c.Subject(), *c.module, c.finding.inputs);
  if (outcome.state != CheckOutcome::State::kFail) {
    Print(StrCat("nothing to reduce: the verdict on ", c.finding.backend, " is ",
                 Name(outcome.state)));
    if (!outcome.detail.empty()) Print(outcome.detail);
    return kExitOk;
  }
  c.finding.kind = outcome.kind;
  c.finding.judgement = outcome.detail;
  ProgressLine progress;
  TriageOptions triage;
  triage.pages = options.out;
  triage.reduce_seconds = options.seconds;
  triage.progress = [&](const ReduceProgress& now) {
    progress.Show(absl::StrFormat("%d probes, %d instructions, %d elements left: %s", now.probes,
                                  now.instructions, now.elements, now.step));
  };
  absl::StatusOr<TriageReport> report = Triage(c.finding, *c.oracle, *c.backend, triage);
  progress.Clear();
  if (!report.ok()) return Fail(report.status());
  if (!report->result.confirmed) {
    Print("it failed once and not again: nothing was reduced");
    return kExitFailure;
  }
  return PrintReport(*report, options.json);
}

}  // namespace

void DeclareReduce(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  options->failure.Declare(line, true);
  line.Add("-o,--out", options->out, "Folder of the bug folders").ShowDefault();
  line.Add("--seconds", options->seconds, "Longest reduction; the best so far is kept")
      .Positive()
      .ShowDefault();
  line.AddFlag("--json", options->json, "One JSON object");
  action = [options] { return Run(*options); };
}

}  // namespace assay
