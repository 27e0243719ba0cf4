// assay reduce: a failing module becomes a bug folder with the smallest program that shows the bug.
#include <memory>

#include "absl/strings/str_format.h"
#include "fuzz/triage/triage.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
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
               {"backend_version", report.page.backend_version},
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

absl::StatusOr<int> Run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<FailureCase> failure, OpenFailure(options.failure));
  FailureCase& c = *failure;
  if (!options.json) Print(WhoIs(c.backend->Describe()));
  const Outcome outcome = CheckIsolated(c.Subject(), c.Case()).outcome;
  const std::string detail = outcome.Describe();
  if (!outcome.IsFailure() && options.json) {
    PrintJson({{"confirmed", false}, {"status", StateWord(outcome)}, {"detail", detail}});
    return kExitOk;
  }
  if (!outcome.IsFailure()) {
    Print(StrCat("nothing to reduce: the verdict on ", c.finding.backend, " is ",
                 StateWord(outcome)));
    if (!detail.empty()) Print(detail);
    return kExitOk;
  }
  c.finding.kind = outcome.kind;
  c.finding.judgement = detail;
  ProgressLine progress;
  TriageOptions triage;
  triage.pages = options.out;
  triage.reduce_seconds = options.seconds;
  triage.progress = [&](const ReduceProgress& now) {
    progress.Show(absl::StrFormat("%d probes, %d instructions, %d elements left: %s", now.probes,
                                  now.instructions, now.elements, now.step));
  };
  const InterruptGuard guard;
  absl::StatusOr<TriageReport> report = Triage(c.finding, *c.oracle, *c.backend, triage);
  progress.Clear();
  if (!report.ok()) return report.status();
  if (!report->result.confirmed) {
    if (options.json) {
      PrintJson({{"confirmed", false}, {"status", StateWord(outcome)}, {"detail", detail}});
      return kExitFailure;
    }
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
  line.AddDuration("--seconds", options->seconds, "Longest reduction; the best so far is kept");
  line.AddFlag("--json", options->json, "One JSON object");
  action = [options] { return Run(*options); };
}

}  // namespace assay
