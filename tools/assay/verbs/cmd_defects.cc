// assay defects: the planted defects, and the mutation score: how many a campaign of fixed effort
// kills, blames on the right decision, and reduces to how few instructions.
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "fuzz/campaign/campaign.h"
#include "fuzz/defects/defects.h"
#include "nlohmann/json.hpp"
#include "optimized/gates/claim_names.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/cases/shard.h"
#include "tools/assay/environment.h"
#include "tools/assay/findings/campaign_tools.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/texts/campaign_text.h"
#include "tools/assay/texts/defect_screen.h"
#include "tools/assay/texts/mutation_page.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  bool run = false;
  std::string backend = "cpu";
  std::string python;  // of the xla backends
  double seconds = 60;
  std::string only;
  std::string of_class;
  std::string out = "assay-out/defects";
  uint64_t seed = 1;
  int jobs = 0;
  std::string shard = "1/1";
  bool resume = false;
  bool no_triage = false;
  std::string page;
  std::string results;
  int64_t screen = 0;
  bool json = false;
  RecordOptions record;
};

// Nothing if it was interrupted, which says nothing of the defect.
std::optional<MutationScore> RunOne(const Options& options, const PlantedDefect& defect,
                                    double seconds, ProgressLine& progress) {
  MutationScore score;
  score.defect = defect;
  CampaignOptions campaign;
  campaign.seed = options.seed;
  campaign.seconds = seconds;
  campaign.jobs = options.jobs;
  campaign.backends = {BackendFor(defect, options.backend)};
  campaign.compile.defect = defect.json;
  campaign.out_dir = options.out + "/" + defect.name;
  score.limit = seconds;
  score.seed = options.seed;
  score.backend = options.backend;
  campaign.stop_after_findings = 1;
  campaign.progress = [&](const CampaignProgress& now) {
    progress.Show(StrCat(defect.name, ": ", ProgressText(now)));
  };
  absl::StatusOr<CampaignSummary> summary = RunCampaign(
      campaign, MakeCampaignTools(campaign.out_dir, options.python, !options.no_triage));
  progress.Clear();
  if (InterruptRequested()) return std::nullopt;
  if (!summary.ok()) {
    score.error = std::string(summary.status().message());
    return score;
  }
  score.seconds = summary->seconds;
  score.programs = summary->programs;
  for (const BucketShown& bucket : BucketsShown(*summary)) {
    if (bucket.finding->kind == Outcome::kOurFault) {
      // It says nothing about the defect, and ended the campaign.
      score.error = StrCat("a failure of Assay itself ended it: ", bucket.finding->text);
      continue;
    }
    score.killed = true;
    if (!bucket.finding->triaged) continue;
    const TriageResult& triage = bucket.finding->triage;
    score.blamed = triage.blamed_rule;
    score.triaged = true;
    score.blame_right = score.blamed == RuleOf(defect.gate);
    score.instructions = triage.instructions;
    score.page = triage.page;
    if (score.blame_right) break;
  }
  if (score.killed) score.error.clear();
  return score;
}

void PrintScores(const std::vector<MutationScore>& scores) {
  Table table({{"defect"},
               {"operator"},
               {""},
               {"after", Table::kRight},
               {"programs", Table::kRight},
               {"blamed"},
               {"reduced to", Table::kRight}});
  for (const MutationScore& score : scores) {
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

nlohmann::json Summarize(const std::vector<MutationScore>& scores, const Options& options,
                         double seconds) {
  int64_t killed = 0, right = 0, largest = 0;
  nlohmann::json table = nlohmann::json::array();
  for (const MutationScore& score : scores) {
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
                 {"class", defect.of_class},
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

// The defects number i, i + n, i + 2n, ... of shard "i/n".
absl::StatusOr<std::vector<PlantedDefect>> OfShard(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const Shard shard, ShardOption{options.shard}.Get());
  std::vector<PlantedDefect> defects;
  for (const PlantedDefect& defect : PlantedDefects()) {
    const bool is_asked_for = options.of_class.empty() || defect.of_class == options.of_class;
    if (is_asked_for && IsFor(defect, options.backend)) defects.push_back(defect);
  }
  if (defects.empty()) {
    return absl::NotFoundError(
        StrCat("no planted defect of class '", options.of_class, "' can bite on ", options.backend,
               "; those of gpu-... want --backend gpu-sim, library-calls gpu-sim:libraries=on"));
  }
  return shard.Of(std::move(defects));
}

// The file of a shard's results; one of another name for each shard, so that they may share --out.
std::string ResultsFile(const Options& options) {
  std::string shard = options.shard;
  std::replace(shard.begin(), shard.end(), '/', '-');
  return StrCat(options.out, "/results-", shard, ".jsonl");
}

// A line per result, kept at once.
class Lines {
 public:
  static absl::StatusOr<Lines> Open(const Options& options) {
    ASSAY_RETURN_IF_ERROR(MakeFolder(options.out));
    Lines lines(ResultsFile(options));
    ASSAY_ASSIGN_OR_RETURN(lines.file_, OpenForAppending(lines.path_, /*keeps=*/true));
    // Emptied only once it is known that nobody else writes to it.
    if (flock(lines.file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      return absl::FailedPreconditionError(
          StrCat("another run writes to ", lines.path_,
                 ": wait for it, or name another --out or --shard"));
    }
    if (!options.resume && ftruncate(lines.file_, 0) != 0) {
      return FileError(lines.path_, "cannot be emptied", errno);
    }
    return lines;
  }
  ~Lines() {
    if (file_ >= 0) close(file_);
  }
  Lines(Lines&& other) noexcept
      : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  Lines& operator=(Lines&&) = delete;

  absl::Status Add(const MutationScore& score) const {
    return AppendTo(file_, path_, JsonText(ToJson(score)) + "\n");
  }

 private:
  explicit Lines(std::string path) : path_(std::move(path)) {}

  std::string path_;
  int file_ = -1;
};

// Reads the scores of earlier runs, one for each defect: from the file of --results, or from all of
// --out.
absl::StatusOr<std::vector<MutationScore>> EarlierScores(const Options& options) {
  std::set<std::string> paths;
  std::error_code error;
  if (!options.results.empty()) {
    paths.insert(options.results);
  } else {
    for (const auto& entry : std::filesystem::directory_iterator(options.out, error)) {
      if (entry.path().extension() == ".jsonl") paths.insert(entry.path());
    }
  }
  std::vector<MutationScore> scores;
  for (const std::string& path : paths) {
    ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    ASSAY_RETURN_IF_ERROR(ReadScores(text, scores));
  }
  return scores;
}

absl::StatusOr<int> WritePage(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<MutationScore> scores, EarlierScores(options));
  ASSAY_RETURN_IF_ERROR(WriteFile(options.page, MutationPage(scores)));
  Print(StrCat("wrote ", options.page, ": ", Count(static_cast<int64_t>(scores.size()), "result")));
  return kExitOk;
}

// The defects that the options name and that have no result yet.
absl::StatusOr<std::vector<PlantedDefect>> Chosen(const Options& options) {
  std::vector<PlantedDefect> chosen;
  if (options.only.empty()) {
    ASSAY_ASSIGN_OR_RETURN(chosen, OfShard(options));
  } else {
    ASSAY_ASSIGN_OR_RETURN(PlantedDefect one, FindDefect(options.only));
    chosen = {one};
  }
  std::set<std::string> done;
  if (options.resume) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<MutationScore> earlier, EarlierScores(options));
    for (const MutationScore& score : earlier) done.insert(score.defect.name);
  }
  std::erase_if(chosen, [&](const PlantedDefect& defect) { return done.contains(defect.name); });
  return chosen;
}

absl::StatusOr<int> RunScreen(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<PlantedDefect> chosen, Chosen(options));
  ASSAY_ASSIGN_OR_RETURN(const Lines file, Lines::Open(options));
  ProgressLine progress;
  ScreenOptions screen;
  screen.backend = options.backend;
  screen.seed = options.seed;
  screen.programs = options.screen;
  screen.progress = [&](int64_t program, int64_t alive) {
    progress.Show(StrCat(program, " programs, ", alive, " defects alive"));
  };
  absl::Status written;
  std::vector<MutationScore> scores;
  screen.done = [&](const PlantedDefect& defect, const ScreenResult& result) {
    MutationScore score;
    score.defect = defect;
    score.backend = options.backend;
    score.seed = options.seed;
    score.killed = result.killed;
    score.programs = result.programs;
    score.bites = result.bites;
    score.seconds = result.seconds;
    written.Update(file.Add(score));
    if (options.json) PrintJson(ToJson(score));
    scores.push_back(std::move(score));
  };
  ASSAY_RETURN_IF_ERROR(ScreenDefects(chosen, screen).status());
  progress.Clear();
  if (!options.json) PrintScores(scores);
  ASSAY_RETURN_IF_ERROR(written);
  return kExitOk;
}

absl::StatusOr<int> Run(const Options& options) {
  if (options.screen > 0) return RunScreen(options);
  if (!options.run) {
    if (!options.page.empty()) return WritePage(options);
    return List(options);
  }
  const double seconds = options.seconds;
  ASSAY_ASSIGN_OR_RETURN(const std::vector<PlantedDefect> chosen, Chosen(options));
  ASSAY_ASSIGN_OR_RETURN(const Lines results, Lines::Open(options));
  RunRow run = BeginRun("defects", options.backend, CommandLine());
  double start = Now();
  std::vector<MutationScore> scores;
  ProgressLine progress;
  for (const PlantedDefect& defect : chosen) {
    std::optional<MutationScore> score = RunOne(options, defect, seconds, progress);
    if (!score.has_value()) break;
    scores.push_back(*std::move(score));
    ASSAY_RETURN_IF_ERROR(results.Add(scores.back()));
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
  if (scores.size() < chosen.size()) {
    PrintError(StrCat(
        "interrupted: ", Count(static_cast<int64_t>(chosen.size() - scores.size()), "defect"),
        " not run; --resume goes on"));
    return kExitInterrupted;
  }
  if (!options.page.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const int written, WritePage(options));
    if (written != kExitOk) return written;
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
  line.Add("--class", options->of_class, "Run those of this class alone: gpu-kernels");
  line.Add("--seed", options->seed, "Of the campaigns").ShowDefault();
  line.Add("--jobs", options->jobs, "Worker processes (default: one per core)").Positive();
  line.Add("--shard", options->shard, "I/N: every N-th defect, from the I-th on").ShowDefault();
  line.AddFlag("--resume", options->resume, "Leave out the defects with a result in --out");
  line.AddFlag("--no-triage", options->no_triage,
               "Only whether each is killed, not who is to blame");
  line.Add("--page", options->page, "Write a page of all results in --out (docs/mutation.md)");
  line.Add("--results", options->results, "Make the page from this file instead");
  line.Add("--screen", options->screen,
           "On cpu and gpu-sim: which defects the first N programs kill; each runs where it may "
           "bite")
      .Positive();
  line.Add("--out", options->out, "Folder for results, cases and bug pages").ShowDefault();
  line.AddFlag("--json", options->json, "One JSON object per defect, then a summary");
  options->record.Declare(line);
  action = [options] { return Run(*options); };
}

}  // namespace assay
