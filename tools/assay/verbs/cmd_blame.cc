// assay blame: the one decision of the compiler that makes a module fail.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "conformance/dumps/validate.h"
#include "conformance/inputs/dump_names.h"
#include "conformance/recorded_result.h"
#include "fuzz/blame/blame.h"
#include "fuzz/blame/pass_blame.h"
#include "fuzz/blame/requests.h"
#include "fuzz/triage/bug_page.h"
#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/failure_options.h"
#include "tools/assay/json_line.h"
#include "tools/assay/peers.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  FailureOptions failure;
  std::string versions;  // range of releases; "": the one that fails
  bool json = false;
};

absl::StatusOr<int> BlameReleases(const FailureCase& failure, const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<InstalledPeer> peers, PeersIn(options.versions));
  if (peers.empty()) {
    return absl::NotFoundError(
        StrCat("no release of ", options.versions, " is there; see assay peer"));
  }
  const std::vector<ReleaseState> states =
      CheckReleases(failure.Subject(), *failure.module, failure.finding.inputs, ReleasesOf(peers));
  for (const ReleaseState& one : states) {
    if (options.json) {
      PrintJson({{"version", one.version}, {"state", one.state}});
    } else {
      Print(StrCat(one.version, "  ", one.state));
    }
  }
  if (!options.json) Print(DescribeReleases(states));
  return kExitFailure;
}

void PrintDiff(const std::string& before, const std::string& after) {
  if (before.empty() && after.empty()) return;
  Print("what it changed in the optimized module:");
  for (const std::string& line : DiffLines(before, after)) {
    if (line.empty() || line[0] == ' ') continue;
    Print(StrCat("  ", Styled(line[0] == '-' ? Style::kBad : Style::kGood, line)));
  }
}

int PrintDecision(const Blame& blame, bool json) {
  if (json) {
    PrintJson({{"found", blame.found},
               {"decision", blame.decision.number},
               {"rule", blame.decision.rule},
               {"kind", Name(blame.decision.kind)},
               {"where", blame.decision.where},
               {"confirmed", blame.confirmed},
               {"total", blame.total},
               {"probes", blame.probes},
               {"pass", blame.pass},
               {"code", blame.code},
               {"note", blame.note}});
    return kExitFailure;
  }
  if (!blame.found) {
    Print(StrCat("no decision is to blame: ", blame.note));
    return kExitFailure;
  }
  if (!blame.pass.empty()) {
    Print(StrCat("pass ", blame.pass, " is to blame: ", Styled(Style::kAccent, blame.decision.rule),
                 " (", Name(blame.decision.kind), ")",
                 blame.decision.where.empty() ? "" : StrCat(" at ", blame.decision.where)));
    Print(StrCat("  the module is right before the pass and wrong after it; ", blame.note));
    PrintDiff(blame.before, blame.after);
    return kExitFailure;
  }
  Print(StrCat("decision ", blame.decision.number, " of ", blame.total,
               " is to blame: ", Styled(Style::kAccent, blame.decision.rule), " (",
               Name(blame.decision.kind), ") at ", blame.decision.where));
  Print(StrCat("  ",
               blame.confirmed ? "confirmed: it fails with it and passes with all before it"
                               : "not confirmed",
               ", ", Count(blame.probes, "probe")));
  if (!blame.note.empty()) Print("  " + blame.note);
  PrintDiff(blame.before, blame.after);
  return kExitFailure;
}

int PrintPass(const PassBlame& blame, bool json) {
  if (json) {
    PrintJson({{"pass", blame.pass},
               {"pipeline", blame.pipeline},
               {"note", blame.note},
               {"silencing", blame.silencing},
               {"verdict", blame.verdict},
               {"snapshots", blame.snapshots},
               {"unreadable", blame.unreadable}});
    return kExitFailure;
  }
  Print(blame.verdict);
  if (!blame.pass.empty()) {
    Print(StrCat("  pass ", Styled(Style::kAccent, blame.pass), " of pipeline ", blame.pipeline));
  }
  for (const auto& [flag, outcome] : blame.checks) Print(StrCat("  ", flag, ": ", outcome));
  PrintDiff(blame.before, blame.after);
  return kExitFailure;
}

// The first state of the dump around the module that is not what the state before it allows: the
// pass that made it is guilty of what was recorded. `note`: why none is named.
struct GuiltyStep {
  std::string pass, pipeline, reason, failure, note;
};

absl::StatusOr<GuiltyStep> FindGuiltyStep(const FailureCase& failure, const Profile& profile) {
  const std::filesystem::path path = failure.file.module_path;
  const std::string module = DumpedNameOf(path.filename().string()).module;
  GuiltyStep guilty;
  const std::string folder = path.parent_path().string();
  const absl::StatusOr<std::vector<DumpedModule>> dumps = FindDumps(folder.empty() ? "." : folder);
  auto dumped = dumps.ok()
                    ? std::find_if(dumps->begin(), dumps->end(),
                                   [&](const DumpedModule& each) { return each.name == module; })
                    : std::vector<DumpedModule>::const_iterator();
  if (!dumps.ok() || dumped == dumps->end()) {
    guilty.note =
        "no states between passes lie beside it (--xla_dump_hlo_pass_re=.*); where the compiler "
        "that gave it is here, name it by --backend";
    return guilty;
  }
  DumpedModule of_run = *dumped;
  of_run.recorded.clear();
  if (failure.file.IsRecorded()) of_run.recorded.push_back(failure.file.arrays_path);
  ValidateOptions validate;
  validate.profile = &profile;
  validate.limits = kTriageLimits;
  if (!failure.file.IsRecorded()) validate.inputs = failure.file.arrays_path;
  int64_t open = 0;
  ASSAY_RETURN_IF_ERROR(ValidateDump(of_run, *failure.oracle, validate, [&](const DumpStep& step) {
    const StepVerdict& verdict = step.verdict;
    open += verdict.kind == StepVerdict::kNotJudged || verdict.kind == StepVerdict::kInconclusive
                ? 1
                : 0;
    if (verdict.kind == StepVerdict::kFailed)
      guilty = {step.after.pass, step.after.pipeline, verdict.reason, verdict.failure, ""};
  }));
  if (guilty.pass.empty()) {
    guilty.note = StrCat("no pass of the dump fails by itself",
                         open == 0 ? "" : StrCat(", ", open, " stayed open"));
  } else if (guilty.pass == kRecordedRun) {
    guilty.pass.clear();
    guilty.note = StrCat(
        "every pass of the dump is right", open == 0 ? "" : StrCat(" or open (", open, ")"),
        ", and the last state does not allow the result: what comes after it is to blame (code "
        "generation, libraries, the machine)");
  }
  return guilty;
}

// Nothing that runs here fails, but what was recorded is wrong: the states of the dump tell.
absl::StatusOr<int> BlameRecorded(const Options& options, const FailureCase& failure,
                                  const Outcome& recorded, const Profile& profile) {
  ASSAY_ASSIGN_OR_RETURN(const GuiltyStep guilty, FindGuiltyStep(failure, profile));
  if (options.json) {
    PrintJson({{"found", !guilty.pass.empty()},
               {"pass", guilty.pass},
               {"pipeline", guilty.pipeline},
               {"note", guilty.pass.empty() ? guilty.note : guilty.reason},
               {"detail", recorded.Describe()}});
    return kExitFailure;
  }
  Print(StrCat(WrongRecord(failure.file, failure.finding.backend), ":"));
  Print(recorded.Describe());
  if (guilty.pass.empty()) {
    Print(guilty.note);
    return kExitFailure;
  }
  Print(StrCat("pass ", Styled(Style::kAccent, guilty.pass), " of pipeline ", guilty.pipeline,
               " is to blame: ", guilty.reason));
  Print(guilty.failure);
  return kExitFailure;
}

absl::StatusOr<int> Run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<FailureCase> failure, OpenFailure(options.failure));
  const FailureCase& c = *failure;
  CheckSubject subject = c.Subject();
  if (!options.json && !c.inputs.empty()) Print(c.inputs);
  const Outcome outcome = CheckIsolated(subject, c.Case()).outcome;
  if (!outcome.IsFailure()) {
    // A recorded result is XLA's, whatever the backend promises of its own.
    const Profile& profile = options.failure.profile.empty() ? Profile::Xla() : *c.profile;
    const std::optional<Outcome> recorded =
        JudgeRecorded(c.file, *c.oracle, profile, kTriageLimits);
    if (recorded.has_value() && recorded->kind == Outcome::kWrong)
      return BlameRecorded(options, c, *recorded, profile);
    const std::string detail = outcome.Describe();
    const std::string why =
        StrCat("nothing to blame: it ", outcome.IsPass() ? "passes" : StateWord(outcome), " on ",
               c.finding.backend);
    if (options.json) {
      PrintJson({{"found", false}, {"note", why}, {"detail", detail}});
      return kExitOk;
    }
    Print(why);
    if (!detail.empty()) Print(detail);
    return kExitOk;
  }
  if (!options.versions.empty()) return BlameReleases(c, options);
  if (!options.json) Print(StrCat(c.finding.backend, " fails: ", Name(outcome.kind)));
  if (c.backend->Describe().dumps_passes) {
    return PrintPass(BlamePass(subject, *c.module, c.finding.inputs, outcome.kind), options.json);
  }
  return PrintDecision(BlameDecision(subject, *c.module, c.finding.inputs, outcome.kind),
                       options.json);
}

}  // namespace

void DeclareBlame(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  options->failure.Declare(line, true);
  line.Add("--versions", options->versions,
           "Which releases fail: a range as 0.4.13..0.10.2, or all; see assay peer");
  line.AddFlag("--json", options->json, "One JSON object");
  action = [options] { return Run(*options); };
}

}  // namespace assay
