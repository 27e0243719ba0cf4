// assay fuzz: a campaign of random programs against the oracle.
#include <memory>

#include "fuzz/backends/process_backend.h"
#include "fuzz/campaign/campaign.h"
#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/cases/known_option.h"
#include "tools/assay/cases/shard.h"
#include "tools/assay/defect_option.h"
#include "tools/assay/environment.h"
#include "tools/assay/findings/campaign_tools.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/texts/campaign_text.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string backend = "cpu";
  std::string python;  // of the xla backends
  std::string defect;
  std::string out = "assay-out/fuzz";
  KnownOption known;
  ShardOption shard;
  std::vector<std::string> alarms;  // of known bugs that have ended
  CampaignOptions campaign;
  bool no_triage = false, no_notable = false;
  bool json = false;
  RecordOptions record;
};

// The part of the programs that a shard has: a stretch of a campaign by count, else numbers that no
// other shard reaches.
void TakeShard(const Shard& shard, CampaignOptions& campaign) {
  constexpr int64_t kFarAway = 1'000'000'000;
  if (shard.IsAll()) return;
  if (campaign.count == 0) {
    campaign.first += shard.index * kFarAway;
    return;
  }
  const int64_t begin = campaign.count * shard.index / shard.count;
  const int64_t end = campaign.count * (shard.index + 1) / shard.count;
  campaign.first += begin;
  campaign.count = end - begin;
}

absl::Status Complete(Options& options) {
  options.campaign.backends = {options.backend};
  if (options.campaign.seconds == 0 && options.campaign.count == 0) options.campaign.seconds = 30;
  if (!options.defect.empty()) {
    ASSAY_ASSIGN_OR_RETURN(std::string defect, DefectJson(options.defect));
    options.campaign.compile.defect = defect;
  }
  if (!options.known.path.empty()) {
    ASSAY_ASSIGN_OR_RETURN(options.campaign.known, KnownBugsOf(options.known.path));
    // A random program is no case with a name, so nobody can say here that a known bug is gone.
    options.alarms = KnownCases(options.campaign.known, "", TodayUtc()).Alarms();
    RemoveExpired(options.campaign.known, TodayUtc());
  }
  ASSAY_ASSIGN_OR_RETURN(const Shard shard, options.shard.Get());
  const bool is_counted = options.campaign.count > 0;
  TakeShard(shard, options.campaign);
  if (is_counted && options.campaign.count == 0) {
    return absl::InvalidArgumentError(
        StrCat("--shard ", options.shard.text, " has no program of so few"));
  }
  options.campaign.notable = !options.no_notable;
  options.campaign.out_dir = options.out;
  options.campaign.seconds_include_triage = true;
  return absl::OkStatus();
}

absl::StatusOr<int> Run(Options options) {
  ASSAY_RETURN_IF_ERROR(Complete(options));
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> probe,
                         OpenBackend(options.backend, options.python));
  const BackendDescription who = probe->Describe();
  if (!options.json) Print(WhoIs(who));
  ProgressLine progress;
  options.campaign.progress = [&](const CampaignProgress& now) {
    progress.Show(ProgressText(now));
  };
  RunRow run = BeginRun("fuzz", options.backend, CommandLine());
  run.backend_version = who.version;
  absl::StatusOr<CampaignSummary> summary = RunCampaign(
      options.campaign, MakeCampaignTools(options.out, PythonOf(options.backend, options.python),
                                          !options.no_triage));
  progress.Clear();
  if (!summary.ok()) return summary.status();
  nlohmann::json json = CampaignJson(*summary, options.defect);
  json["backend_version"] = who.version;
  if (!options.shard.text.empty()) json["shard"] = options.shard.text;
  if (!options.known.path.empty()) json["alarms"] = options.alarms;
  run.seconds = summary->seconds;
  run.summary = JsonText(json);
  AddFindings(*summary, run);
  options.record.Save(run);
  if (options.json) {
    PrintJson(json);
  } else {
    PrintCampaign(*summary, options.defect);
  }
  PrintAlarms(options.alarms, options.json);
  ASSAY_RETURN_IF_ERROR(summary->error);
  if (summary->interrupted) {
    PrintError("interrupted; --resume goes on");
    return kExitInterrupted;
  }
  return summary->Failures() > 0 || !options.alarms.empty() ? kExitFailure : kExitOk;
}

}  // namespace

void DeclareFuzz(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  AddBackendOption(line, options->backend, options->python, "Who is compared with the oracle");
  line.AddDuration("--time", options->campaign.seconds,
                   "How long, start and triage included: 30s, 10m, 1h (default 30s)");
  line.Add("--count", options->campaign.count, "How many programs").Positive();
  line.Add("--seed", options->campaign.seed, "Program i is a function of the seed and i")
      .ShowDefault();
  line.Add("--first", options->campaign.first, "Begin with this program").NonNegative();
  line.Add("--jobs", options->campaign.jobs, "Worker processes (default: one per core)").Positive();
  line.Add("--input-sets", options->campaign.input_sets,
           "Runs of each executable with different inputs (default: 8 for other processes, else 2)")
      .Positive();
  line.Add("--most-triaged", options->campaign.most_triaged,
           "Reduce and explain so many findings (default: of every kind one, and some more)")
      .Positive();
  options->known.Declare(line);
  options->shard.Declare(line);
  AddProfileOption(line, options->campaign.profile,
                   "By which programs are judged (default: the backend's)");
  line.Add("--defect", options->defect,
           "Plant a defect in the backend: a name of assay defects, or a JSON file");
  line.Add("--stop-after", options->campaign.stop_after_findings,
           "End after so many confirmed findings")
      .Positive();
  line.AddDuration("--case-seconds", options->campaign.case_seconds,
                   "A program that takes longer is a finding");
  line.Add("--out", options->out, "Folder for cases, bug pages and results.jsonl").ShowDefault();
  line.AddFlag(
      "--resume", options->campaign.resume,
      "Go on with the campaign whose results are in --out: this backend, seed and options");
  line.AddFlag("--foreign", options->campaign.portable,
               "Only what every implementation of HLO promises (always so for other processes)");
  line.Add("--screened", options->campaign.screened_percent,
           "Programs of 100 that other processes compile cheaply at first, several as one")
      .NonNegative()
      .ShowDefault();
  line.AddFlag("--check-all", options->campaign.check_all,
               "Compile every suspect as users do, however many like it were checked");
  line.AddFlag("--no-notable", options->no_notable,
               "Do not look for what is legal and yet far off, nor explain what is only notable");
  line.AddFlag("--no-triage", options->no_triage, "Count findings; do not blame, reduce, explain");
  line.AddFlag("--json", options->json, "One JSON object at the end");
  options->record.Declare(line);
  action = [options] { return Run(*options); };
}

}  // namespace assay
