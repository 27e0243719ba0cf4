// assay reduce: a failing module becomes a bug folder with the smallest program that shows the bug.
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>

#include "absl/strings/str_format.h"
#include "conformance/recorded_result.h"
#include "fuzz/backends/process_backend.h"
#include "fuzz/blame/requests.h"
#include "fuzz/reduce/command_predicate.h"
#include "fuzz/triage/triage.h"
#include "nlohmann/json.hpp"
#include "reference/interpreter/interpreter.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "spec/text/writer.h"
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
  int jobs = 0;
  std::string predicate;
  double predicate_seconds = 60;
  bool json = false;

  int Jobs() const {
    return jobs > 0 ? jobs : static_cast<int>(std::thread::hardware_concurrency());
  }
};

void Show(ProgressLine& line, const ReduceProgress& now) {
  line.Show(absl::StrFormat("%d probes, %d instructions, %d elements left: %s", now.probes,
                            now.instructions, now.elements, now.step));
}

int PrintReport(const TriageReport& report, bool json) {
  const TriageResult& result = report.result;
  if (json) {
    PrintJson({{"confirmed", result.confirmed},
               {"bucket", result.bucket},
               {"title", result.title},
               {"rule", result.blamed_rule},
               {"decision", result.blamed_decision},
               {"instructions", result.instructions},
               {"notable", result.notable},
               {"backend_version", report.page.backend_version},
               {"page", result.page}});
    return kExitFailure;
  }
  Print(Styled(Style::kBold, result.title));
  for (const std::string& step : report.page.steps) Print("  " + step);
  if (!result.notable.empty()) Print(StrCat("  Notable, and no failure: ", result.notable, "."));
  Print(StrCat("reduced to ", Count(result.instructions, "instruction"), ":"));
  Print(report.page.finding.module_text);
  if (!result.page.empty()) Print("bug page: " + result.page + "/bug.html");
  if (!result.is_smallest && !result.page.empty()) {
    Print(StrCat("it may become smaller: assay reduce ", result.page, " goes on from there"));
  }
  return kExitFailure;
}

// The module that another program's failure is kept in, rewritten after each step, so that a
// reduction that was ended in any way goes on from there.
absl::StatusOr<int> RunByCommand(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const ReadCase read, ReadFailure(options.failure));
  const Finding& finding = read.finding;
  ASSAY_ASSIGN_OR_RETURN(const ReduceCase given, CaseOf(finding));
  const std::filesystem::path folder = options.out;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string name = std::filesystem::path(options.failure.path).stem().string();
  const std::string path = (folder / (name.empty() ? "reduced" : name + ".reduced")).string();
  const ReducePredicate predicate =
      MakeCommandPredicate(options.predicate, options.predicate_seconds);
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  ProgressLine progress;
  absl::Status written = WriteCase(given, path);
  ReduceOptions reduce;
  reduce.seconds = options.seconds;
  reduce.jobs = options.Jobs();
  reduce.progress = [&](const ReduceProgress& now) { Show(progress, now); };
  reduce.best = [&](const ReduceCase& best) { written.Update(WriteCase(best, path)); };
  reduce.evaluate = [&](const Module& module, const std::vector<Literal>& inputs) {
    return oracle->Evaluate(module, CheckCase::Of(module, inputs).arguments[0], kTriageLimits);
  };
  ASSAY_RETURN_IF_ERROR(written);
  const InterruptGuard guard;
  absl::StatusOr<ReduceResult> reduced = Reduce(*given.module, given.inputs, predicate, reduce);
  progress.Clear();
  if (absl::IsFailedPrecondition(reduced.status())) {
    Print(StrCat("nothing to reduce: the command does not end with status 0 on ", path, ".hlo"));
    return kExitUsage;
  }
  if (!reduced.ok()) return reduced.status();
  ASSAY_RETURN_IF_ERROR(written);
  const ReduceProgress& done = reduced->progress;
  if (options.json) {
    PrintJson({{"instructions", reduced->reduced.module->InstructionCount()},
               {"probes", done.probes},
               {"seconds", done.seconds},
               {"complete", reduced->complete},
               {"module", path + ".hlo"}});
    return kExitFailure;
  }
  Print(absl::StrFormat("reduced from %d to %s with %s tried:", given.module->InstructionCount(),
                        Count(reduced->reduced.module->InstructionCount(), "instruction"),
                        Count(done.probes, "program")));
  Print(WriteModule(*reduced->reduced.module, WriteOptions::Long()));
  Print(StrCat("module and inputs: ", path, ".hlo, ", path, ".npz"));
  if (!reduced->complete) {
    Print(StrCat("it may become smaller: the same command on ", path, ".hlo goes on from there"));
  }
  return InterruptRequested() ? kExitInterrupted : kExitFailure;
}

// Nothing that runs here fails, but what was recorded is wrong: the part of the program that leads
// to the wrong array is all that can be told without the compiler that gave it.
absl::StatusOr<int> ReduceRecorded(const Options& options, const FailureCase& failure,
                                   const Outcome& recorded, const Profile& profile) {
  ASSAY_ASSIGN_OR_RETURN(
      const RecordedPart part,
      WriteWrongPart(failure.file, *failure.oracle, profile, kTriageLimits, options.out));
  if (options.json) {
    PrintJson({{"confirmed", false},
               {"status", "recorded result is wrong"},
               {"detail", recorded.Describe()},
               {"output", part.output},
               {"instructions", part.instructions},
               {"module", part.path}});
    return kExitFailure;
  }
  Print(StrCat(WrongRecord(failure.file, failure.finding.backend), ":"));
  Print(recorded.Describe());
  Print(StrCat("what leads to out", part.output, " is ", part.instructions, " of ", part.of,
               " instructions: ", part.path, ", with the recorded arrays beside it"));
  Print(
      StrCat("smaller programs have to run on the compiler that gave it: name it by --backend "
             "(xla, process:COMMAND)"));
  return kExitFailure;
}

absl::StatusOr<int> Run(const Options& options) {
  if (!options.predicate.empty()) return RunByCommand(options);
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<FailureCase> failure, OpenFailure(options.failure));
  FailureCase& c = *failure;
  if (!options.json) {
    Print(StrCat(WhoIs(c.backend->Describe()), c.inputs.empty() ? "" : "; ", c.inputs));
  }
  const Outcome outcome = CheckIsolated(c.Subject(), c.Case()).outcome;
  const std::string detail = outcome.Describe();
  if (!outcome.IsFailure()) {
    // A recorded result is XLA's, whatever the backend promises of its own.
    const Profile& profile = options.failure.profile.empty() ? Profile::Xla() : *c.profile;
    const std::optional<Outcome> recorded =
        JudgeRecorded(c.file, *c.oracle, profile, kTriageLimits);
    if (recorded.has_value() && recorded->kind == Outcome::kWrong)
      return ReduceRecorded(options, c, *recorded, profile);
  }
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
  triage.jobs = options.Jobs();
  if (!c.backend->Describe().in_process)
    triage.python = PythonOf(c.finding.backend, options.failure.python);
  triage.progress = [&](const ReduceProgress& now) { Show(progress, now); };
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
  line.Add("--jobs", options->jobs, "Programs tried at once (default: one per core)").Positive();
  line.Add(
      "--predicate", options->predicate,
      "Keep what this shell command ends with status 0 on; {} is the module's path, its inputs "
      "stand beside it in an .npz (no backend is asked)");
  line.AddDuration("--predicate-seconds", options->predicate_seconds,
                   "Longest run of that command");
  line.AddFlag("--json", options->json, "One JSON object");
  action = [options] { return Run(*options); };
}

}  // namespace assay
