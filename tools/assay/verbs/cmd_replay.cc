// assay replay: one case again, from a bug folder, a module, or a campaign's seed and index.
#include <memory>

#include "spec/base/strings.h"
#include "tools/assay/failure_options.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  FailureOptions failure;
  int64_t limit = -1;
  bool repeat = false;
  bool show = false;
  bool json = false;
};

int Run(const Options& options) {
  absl::StatusOr<std::unique_ptr<FailureCase>> failure = OpenFailure(options.failure);
  if (!failure.ok()) return Fail(failure.status());
  const FailureCase& c = **failure;
  CheckOutcome outcome =
      CheckIsolated(c.Subject(), *c.module, c.finding.inputs, options.limit, options.repeat);
  bool fails = outcome.state == CheckOutcome::State::kFail;
  if (options.json) {
    PrintJson({{"backend", c.finding.backend},
               {"state", Name(outcome.state)},
               {"kind", fails ? Name(outcome.kind) : ""},
               {"detail", outcome.detail},
               {"decisions", outcome.decisions.size()}});
    return fails ? kExitFailure : kExitOk;
  }
  if (options.show) Print(c.finding.module_text);
  Print(StrCat(c.finding.backend, ": ",
               Styled(fails ? Style::kBad : Style::kGood, Name(outcome.state)),
               fails ? StrCat(", ", Name(outcome.kind)) : "", ", profile ", c.profile->name(), ", ",
               Count(static_cast<int64_t>(outcome.decisions.size()), "decision")));
  if (!outcome.detail.empty()) Print(outcome.detail);
  return fails ? kExitFailure : kExitOk;
}

}  // namespace

void DeclareReplay(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  options->failure.Declare(line, true);
  line.Add("--limit", options->limit, "Refuse the backend's decisions above this number");
  line.AddFlag("--repeat", options->repeat, "Compile and run several times; bits must not differ");
  line.AddFlag("--show", options->show, "Print the program first");
  line.AddFlag("--json", options->json, "One JSON object");
  action = [options] { return Run(*options); };
}

}  // namespace assay
