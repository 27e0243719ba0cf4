// assay defects: the planted defects, and the mutation score: how many a campaign of fixed effort
// kills, blames on the right decision, and reduces to how few instructions.
#include <algorithm>
#include <memory>

#include "absl/strings/str_format.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/defects/defects.h"
#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/texts/campaign_text.h"
#include "tools/assay/verb.h"
#include "tools/assay/verbs/campaign_tools.h"

namespace assay {
namespace {

struct Options {
  bool run = false;
  std::string backend = "cpu";
  std::string python;  // of the xla backends
  double seconds = 60;
  std::string only;
  std::string out = "assay-out/defects";
  uint64_t seed = 1;
  int jobs = 0;
  bool json = false;
  RecordOptions record;
};

// The result of a campaign with one defect.
struct Score {
  PlantedDefect defect;
  std::string error;
  bool killed = false;
  double seconds = 0;
  int64_t programs = 0;
  std::string blamed;
  bool blame_right = false;
  int64_t instructions = 0;
  std::string page;
};

Score RunOne(const Options& options, const PlantedDefect& defect, double seconds,
             ProgressLine& progress) {
  Score score;
  score.defect = defect;
  CampaignOptions campaign;
  campaign.seed = options.seed;
  campaign.seconds = seconds;
  campaign.jobs = options.jobs;
  campaign.backends = {options.backend};
  campaign.compile.defect = defect.json;
  campaign.out_dir = options.out + "/" + defect.name;
  campaign.stop_after_findings = 1;
  campaign.progress = [&](const CampaignProgress& now) {
    progress.Show(StrCat(defect.name, ": ", ProgressText(now)));
  };
  absl::StatusOr<CampaignSummary> summary =
      RunCampaign(campaign, MakeCampaignTools(campaign.out_dir, options.python, true));
  progress.Clear();
  if (!summary.ok()) {
    score.error = std::string(summary.status().message());
    return score;
  }
  score.seconds = summary->seconds;
  score.programs = summary->programs;
  score.killed = summary->findings > 0;
  for (const CampaignFinding* finding : FirstOfEachBucket(*summary)) {
    if (!finding->triaged) continue;
    score.blamed = finding->triage.blamed_rule;
    score.blame_right = score.blamed == defect.gate;
    score.instructions = finding->triage.instructions;
    score.page = finding->triage.page;
    if (score.blame_right) break;
  }
  return score;
}

nlohmann::json ToJson(const Score& score) {
  return {{"type", "defect"},
          {"defect", score.defect.name},
          {"kind", score.defect.kind},
          {"operator", score.defect.op},
          {"gate", score.defect.gate},
          {"killed", score.killed},
          {"seconds", score.seconds},
          {"programs", score.programs},
          {"blamed", score.blamed},
          {"blame_right", score.blame_right},
          {"instructions", score.instructions},
          {"page", score.page},
          {"error", score.error}};
}

void PrintScores(const std::vector<Score>& scores) {
  Table table({{"defect"},
               {"operator"},
               {""},
               {"after", Table::kRight},
               {"programs", Table::kRight},
               {"blamed"},
               {"reduced to", Table::kRight}});
  for (const Score& score : scores) {
    if (!score.error.empty()) {
      table.Add({score.defect.name, score.defect.op, Styled(Style::kBad, "error"), score.error});
      continue;
    }
    table.Add(
        {score.defect.name, score.defect.op,
         score.killed ? Styled(Style::kGood, "killed") : Styled(Style::kBad, "survived"),
         Seconds(score.seconds), Grouped(score.programs),
         score.blamed.empty() ? "-" : StrCat(score.blamed, score.blame_right ? "" : " (wrong)"),
         score.instructions > 0 ? Grouped(score.instructions) : "-"});
  }
  Print(table.ToString());
}

nlohmann::json Summarize(const std::vector<Score>& scores, const Options& options, double seconds) {
  int64_t killed = 0, right = 0, largest = 0;
  nlohmann::json table = nlohmann::json::array();
  for (const Score& score : scores) {
    killed += score.killed ? 1 : 0;
    right += score.blame_right ? 1 : 0;
    largest = std::max(largest, score.instructions);
    table.push_back(ToJson(score));
  }
  return {{"type", "summary"},
          {"verb", "defects"},
          {"backend", options.backend},
          {"defects", scores.size()},
          {"killed", killed},
          {"blame_right", right},
          {"largest_reduced", largest},
          {"score", Percent(static_cast<double>(killed), static_cast<double>(scores.size()))},
          {"seconds", seconds},
          {"table", table}};
}

int List(const Options& options) {
  Table table({{"defect"}, {"gate"}, {"kind"}, {"operator"}, {"what goes wrong"}});
  for (const PlantedDefect& defect : PlantedDefects()) {
    if (options.json) {
      PrintJson({{"defect", defect.name},
                 {"gate", defect.gate},
                 {"kind", defect.kind},
                 {"operator", defect.op},
                 {"summary", defect.summary}});
    } else {
      table.Add({defect.name, defect.gate, defect.kind, defect.op, defect.summary});
    }
  }
  if (!options.json) Print(table.ToString());
  return kExitOk;
}

absl::StatusOr<int> Run(const Options& options) {
  if (!options.run) return List(options);
  const double seconds = options.seconds;
  std::vector<PlantedDefect> chosen;
  if (options.only.empty()) {
    chosen = PlantedDefects();
  } else {
    ASSAY_ASSIGN_OR_RETURN(PlantedDefect one, FindDefect(options.only));
    chosen = {one};
  }
  RunRow run = BeginRun("defects", options.backend, CommandLine());
  double start = Now();
  std::vector<Score> scores;
  ProgressLine progress;
  for (const PlantedDefect& defect : chosen) {
    scores.push_back(RunOne(options, defect, seconds, progress));
    if (options.json) PrintJson(ToJson(scores.back()));
  }
  run.seconds = Now() - start;
  nlohmann::json summary = Summarize(scores, options, run.seconds);
  run.summary = JsonText(summary);
  options.record.Save(run);
  if (options.json) {
    PrintJson(summary);
  } else {
    PrintScores(scores);
    Print(StrCat("mutation score ", summary["score"].get<std::string>(), ": ",
                 summary["killed"].get<int64_t>(), " of ", scores.size(), " killed within ",
                 Seconds(seconds), ", ", summary["blame_right"].get<int64_t>(),
                 " blamed on their gate, reduced to at most ",
                 Count(summary["largest_reduced"].get<int64_t>(), "instruction")));
  }
  bool all = summary["killed"].get<size_t>() == scores.size();
  return all ? kExitOk : kExitFailure;
}

}  // namespace

void DeclareDefects(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.AddFlag("--run", options->run, "Run a campaign with each; exit status 1 if one survives");
  AddBackendOption(line, options->backend, options->python, "In whom they are planted");
  line.AddDuration("--time", options->seconds, "Longest campaign per defect");
  line.Add("--only", options->only, "Run this one alone");
  line.Add("--seed", options->seed, "Of the campaigns").ShowDefault();
  line.Add("--jobs", options->jobs, "Worker processes (default: one per core)").Positive();
  line.Add("--out", options->out, "Folder for cases and bug pages").ShowDefault();
  line.AddFlag("--json", options->json, "One JSON object per defect, then a summary");
  options->record.Declare(line);
  action = [options] { return Run(*options); };
}

}  // namespace assay
