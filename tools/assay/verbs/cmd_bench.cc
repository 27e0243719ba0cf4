// assay bench: run and compile time of a backend, beside a peer, interleaved.
#include <memory>
#include <optional>
#include <thread>

#include "absl/strings/str_format.h"
#include "bench/growth.h"
#include "bench/measure.h"
#include "bench/performance_page.h"
#include "bench/roof.h"
#include "bench/statistics.h"
#include "bench/verdict.h"
#include "bench/workload.h"
#include "nlohmann/json.hpp"
#include "reference/interpreter/interpreter.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/expectation.h"
#include "spec/process/interrupt.h"
#include "tools/assay/cases/shard.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/tracking/tracking.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string backend = "cpu";
  std::string python;  // of the xla backends
  std::string peer;
  double min_seconds = 0.5, max_seconds = 30;
  double precision = 0;
  int compiles = 6;
  uint64_t seed = 1;
  bool unjudged = false, no_reused = false, no_roof = false;
  bool growth = false;
  int rounds = 0;
  TrackingOptions tracking;
  ShardOption shard;
  bool json = false;
  std::string page;
  LimitOptions limits;
  RecordOptions record;
};

// The executables that take turns: ours, the peer's, the peer's with its pages kept, and ours once
// more.
struct Contenders {
  std::vector<std::unique_ptr<Backend>> owned;
  std::vector<Backend*> turns;
  int peer = -1, reused = -1, again = -1;  // places in `turns`
};

// The statistic of this name that the executable reports, or 0.
double Statistic(const Timings& timings, const char* name) {
  auto it = timings.statistics.find(name);
  return it == timings.statistics.end() ? 0 : it->second;
}

WorkloadResult MeasureOne(const Options& options, const std::string& path,
                          const Contenders& contenders, const MeasureOptions& measure,
                          const std::optional<Roof>& roof) {
  WorkloadResult result;
  absl::StatusOr<Workload> workload = LoadWorkload(path, options.seed);
  result.name = path;
  if (!workload.ok()) {
    result.error = std::string(workload.status().message());
    result.is_unreadable = true;
    return result;
  }
  result.name = workload->name;
  result.work_class = workload->work_class;
  result.cost = workload->cost;
  if (roof.has_value()) result.limit_seconds = LimitSeconds(*roof, workload->cost);
  absl::StatusOr<std::vector<Timings>> timings =
      MeasureInterleaved(contenders.turns, *workload->module, Pointers(workload->inputs), measure);
  if (!timings.ok()) {
    result.error = std::string(timings.status().message());
    return result;
  }
  auto speedup = [&](int place) {
    if (place < 0) return MedianInterval();
    return EstimateMedian(PairedRatios((*timings)[static_cast<size_t>(place)].run_seconds,
                                       (*timings)[0].run_seconds));
  };
  result.run_speedup = speedup(contenders.peer);
  result.run_speedup_reused = speedup(contenders.reused);
  result.same = speedup(contenders.again);
  if (contenders.peer >= 0) {
    result.compile_speedup = EstimateMedian(
        PairedRatios((*timings)[static_cast<size_t>(contenders.peer)].compile_seconds,
                     (*timings)[0].compile_seconds));
  }
  const Profile* profile = contenders.turns[0]->Describe().profile;
  std::unique_ptr<Oracle> oracle = MakeOracle();
  const Limits limits = options.limits.Get();
  std::optional<TimedOutputs> judge;
  if (!options.unjudged) {
    judge.emplace(*workload, profile != nullptr ? *profile : Profile::Xla(), limits, *oracle);
  }
  for (int place : {0, contenders.peer}) {
    if (place < 0) continue;
    const Timings& timing = (*timings)[static_cast<size_t>(place)];
    Measured one;
    Backend& backend = *contenders.turns[static_cast<size_t>(place)];
    one.backend = backend.Describe().name;
    one.verdict = judge.has_value() ? judge->VerdictOn(backend, timing.output) : "not judged";
    one.run = EstimateMedian(timing.run_seconds);
    one.calm_run_seconds = CalmTenth(timing.run_seconds);
    one.compile = EstimateMedian(timing.compile_seconds);
    one.peak_bytes = timing.peak_bytes;
    one.kernels = Statistic(timing, "kernels");
    one.bytes_moved = Statistic(timing, "bytes.moved");
    one.statistics = timing.statistics;
    result.backends.push_back(std::move(one));
  }
  return result;
}

std::string RatioCell(const MedianInterval& ratio) {
  if (ratio.samples == 0) return "-";
  return absl::StrFormat("%.2f [%.2f, %.2f]", ratio.median, ratio.lower, ratio.upper);
}

nlohmann::json IntervalJson(const MedianInterval& interval) {
  return {{"median", interval.median},
          {"lower", interval.lower},
          {"upper", interval.upper},
          {"coverage", interval.coverage},
          {"samples", interval.samples}};
}

nlohmann::json ToJson(const WorkloadResult& one) {
  nlohmann::json json = {{"type", "workload"}, {"name", one.name}};
  if (!one.error.empty()) {
    json["error"] = one.error;
    return json;
  }
  for (const Measured& backend : one.backends) {
    json["backends"].push_back({{"backend", backend.backend},
                                {"verdict", backend.verdict},
                                {"run_seconds", IntervalJson(backend.run)},
                                {"calm_run_seconds", backend.calm_run_seconds},
                                {"compile_seconds", IntervalJson(backend.compile)},
                                {"peak_bytes", backend.peak_bytes},
                                {"kernels", backend.kernels},
                                {"bytes_moved", backend.bytes_moved},
                                {"statistics", backend.statistics}});
  }
  json["same"] = IntervalJson(one.same);
  json["flops"] = one.cost.flops;
  json["transcendentals"] = one.cost.transcendentals;
  json["compulsory_bytes"] = one.cost.bytes;
  if (one.limit_seconds > 0) json["limit_seconds"] = one.limit_seconds;
  if (one.run_speedup.samples > 0) {
    json["run_speedup"] = IntervalJson(one.run_speedup);
    json["compile_speedup"] = IntervalJson(one.compile_speedup);
  }
  if (one.run_speedup_reused.samples > 0) {
    json["run_speedup_reused"] = IntervalJson(one.run_speedup_reused);
  }
  return json;
}

nlohmann::json RoofJson(const Roof& roof) {
  nlohmann::json json = {{"type", "roof"},
                         {"threads", roof.threads},
                         {"fma_per_second", roof.fma_per_second},
                         {"transcendentals_per_second", roof.transcendentals_per_second}};
  for (const Roof::Bandwidth& copy : roof.copies) {
    json["copies"].push_back({{"level", copy.level},
                              {"working_set", copy.working_set},
                              {"bytes_per_second", copy.bytes_per_second}});
  }
  return json;
}

void PrintTable(const std::vector<WorkloadResult>& all, bool peer) {
  std::vector<Table::Column> columns = {{"workload"}, {"verdict"}, {"run", Table::kRight}};
  if (peer) {
    columns.push_back({"speed-up (peer / ours)", Table::kRight});
    columns.push_back({"pages reused", Table::kRight});
  }
  columns.push_back({"A/A", Table::kRight});
  columns.push_back({"share", Table::kRight});
  columns.push_back({"compile", Table::kRight});
  if (peer) columns.push_back({"speed-up (peer / ours)", Table::kRight});
  Table table(columns);
  for (const WorkloadResult& one : all) {
    if (!one.error.empty()) continue;
    const Measured& ours = one.backends[0];
    std::vector<std::string> row = {one.name, ours.verdict, Seconds(ours.run.median)};
    if (peer) {
      row.push_back(RatioCell(one.run_speedup));
      row.push_back(RatioCell(one.run_speedup_reused));
    }
    row.push_back(RatioCell(one.same));
    row.push_back(one.limit_seconds > 0 ? Percent(one.limit_seconds, ours.run.median) : "-");
    row.push_back(Seconds(ours.compile.median));
    if (peer) row.push_back(RatioCell(one.compile_speedup));
    table.Add(std::move(row));
  }
  if (!table.empty()) Print(table.ToString());
  for (const WorkloadResult& one : all) {
    if (!one.error.empty()) {
      Print(StrCat(Styled(Style::kBad, "not measured "), one.name, ": ", one.error));
    }
  }
}

void AddRows(const WorkloadResult& one, RunRow& run) {
  auto add = [&](const std::string& metric, const std::string& subject,
                 const MedianInterval& interval) {
    if (interval.samples == 0) return;
    run.benchmarks.push_back({one.name, metric, subject, interval.median, interval.lower,
                              interval.upper, interval.samples});
  };
  // The work, for the roofline of reports.
  for (const auto& [metric, value] :
       {std::pair("flops", one.cost.flops), std::pair("compulsory_bytes", one.cost.bytes)}) {
    if (value > 0) run.benchmarks.push_back({one.name, metric, "", value, value, value, 1});
  }
  for (const Measured& backend : one.backends) {
    add("run_seconds", backend.backend, backend.run);
    add("compile_seconds", backend.backend, backend.compile);
  }
  if (one.backends.size() == 2) {
    const std::string subject = one.backends[1].backend + "/" + one.backends[0].backend;
    add("run_speedup", subject, one.run_speedup);
    add("run_speedup_reused", subject, one.run_speedup_reused);
    add("compile_speedup", subject, one.compile_speedup);
  }
}

void AddRoof(const Roof& roof, RunRow& run) {
  const auto add = [&](const std::string& metric, double value) {
    if (value > 0) run.benchmarks.push_back({"machine", metric, "", value, value, value, 1});
  };
  add("roof.flops_per_second", roof.fma_per_second);
  for (const Roof::Bandwidth& copy : roof.copies)
    add("roof.bytes_per_second." + copy.level, copy.bytes_per_second);
}

nlohmann::json SummaryJson(const std::vector<WorkloadResult>& all, const Options& options,
                           double seconds) {
  const PerformanceSummary summary = Summarize(all);
  nlohmann::json json = {{"type", "summary"},
                         {"verb", "bench"},
                         {"backend", options.backend},
                         {"peer", options.peer},
                         {"measured", summary.measured},
                         {"failed", summary.failed},
                         {"errors", summary.errors},
                         {"seconds", seconds}};
  if (summary.run > 0) json["run_speedup"] = summary.run;
  if (summary.run_reused > 0) json["run_speedup_reused"] = summary.run_reused;
  if (summary.compile > 0) json["compile_speedup"] = summary.compile;
  if (summary.share > 0) json["share"] = summary.share;
  return json;
}

void PrintSummary(const nlohmann::json& summary, const Options& options) {
  if (summary.contains("run_speedup")) {
    Print(absl::StrFormat(
        "geometric means of %s's time / ours: run %.2f (pages reused %.2f), compile %.2f; above 1 "
        "is faster",
        options.peer, summary["run_speedup"].get<double>(),
        summary.value("run_speedup_reused", 0.0), summary["compile_speedup"].get<double>()));
  }
  Print(StrCat(summary["measured"].get<int64_t>(), " measured, ", summary["failed"].get<int64_t>(),
               " failed, ", summary["errors"].get<int64_t>(), " not measured"));
}

absl::StatusOr<std::vector<std::string>> AllPaths(const Options& options) {
  std::vector<std::string> all;
  for (const std::string& path : options.paths) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<std::string> found, FindWorkloads(path));
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

absl::StatusOr<Contenders> OpenContenders(const Options& options) {
  Contenders contenders;
  auto open = [&](const std::string& name) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                           OpenBackend(name, options.python, options.limits.timeout));
    contenders.turns.push_back(backend.get());
    contenders.owned.push_back(std::move(backend));
    return absl::OkStatus();
  };
  absl::Status status = open(options.backend);
  if (status.ok() && !options.peer.empty()) {
    contenders.peer = static_cast<int>(contenders.turns.size());
    status = open(options.peer);
    // Only the worker of XLA can be told how its allocator treats pages.
    const bool is_xla = options.peer == "xla" || options.peer.rfind("xla:", 0) == 0;
    if (status.ok() && is_xla && !options.no_reused) {
      contenders.reused = static_cast<int>(contenders.turns.size());
      status = open(options.peer + (options.peer == "xla" ? ":" : ",") + "pages=reused");
    }
  }
  if (!status.ok()) return status;
  contenders.again = static_cast<int>(contenders.turns.size());
  contenders.turns.push_back(contenders.turns[0]);
  return contenders;
}

MeasureOptions MeasureOptionsOf(const Options& options) {
  MeasureOptions measure;
  measure.min_seconds = options.min_seconds;
  measure.max_seconds = options.max_seconds;
  measure.compiles = options.compiles;
  measure.precision = options.precision / 100;
  measure.compile.limits = options.limits.Get();
  if (options.rounds > 0) {
    // So many and no more, whatever the clock says: the work of the process is always the same.
    measure.min_runs = measure.max_runs = options.rounds;
    measure.min_seconds = 0;
    measure.max_seconds = 1e9;
  }
  return measure;
}

absl::Status WritePage(const Options& options, const RunRow& run, const std::optional<Roof>& roof,
                       const std::vector<WorkloadResult>& all) {
  PageHead head;
  head.command = StrCat("assay bench ", options.paths.front(), " --backend ", options.backend,
                        options.peer.empty() ? "" : StrCat(" --peer ", options.peer), " --page ",
                        options.page);
  head.backend = options.backend;
  head.peer = options.peer;
  head.machine = StrCat(run.cpu, ", ", Count(run.cores, "core"));
  head.version = StrCat("Assay ", run.version, " (", run.commit, ")");
  return WriteFile(options.page, PerformancePage(head, roof, all));
}

nlohmann::json GrowthJson(const GrowthResult& one) {
  nlohmann::json json = {{"type", "growth"}, {"name", one.name}, {"law", one.law.ToString()}};
  if (!one.error.empty()) {
    json["error"] = one.error;
    return json;
  }
  for (const GrowthPoint& point : one.points) {
    json["points"].push_back({{"n", point.n}, {"seconds", point.seconds}, {"steps", point.steps}});
  }
  json["as_defined"] = one.GrowsAsDefined();
  return json;
}

// --growth: the paths are files of cases.
absl::StatusOr<int> RunGrowth(const Options& options) {
  constexpr int kRounds = 5;
  if (options.backend != "cpu") {
    return absl::InvalidArgumentError(
        "--growth counts the steps of loops, which only the backend cpu does");
  }
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> timed, OpenBackend("cpu"));
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> counting, OpenBackend("cpu:count=on,direct=off"));
  std::vector<GrowthResult> results;
  int64_t wrong = 0;
  const InterruptGuard guard(/*ends_evaluations=*/true);
  ProgressLine progress;
  for (const std::string& path : options.paths) {
    ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    absl::StatusOr<std::vector<GrowthCase>> cases = ParseGrowthCases(text);
    if (!cases.ok()) {
      return absl::InvalidArgumentError(StrCat(path, ": ", ToStd(cases.status().message())));
    }
    for (const GrowthCase& one : *cases) {
      if (InterruptRequested()) break;
      progress.Show(StrCat("measuring ", one.name));
      results.push_back(MeasureGrowth(one, timed.get(), *counting, one.n, kRounds));
      progress.Clear();
      const GrowthResult& result = results.back();
      if (!result.error.empty() || !result.GrowsAsDefined()) ++wrong;
      if (options.json) PrintJson(GrowthJson(result));
    }
  }
  const std::string command = StrCat("assay bench ", options.paths.front(), " --growth",
                                     options.page.empty() ? "" : " --page " + options.page);
  if (!options.page.empty()) {
    ASSAY_RETURN_IF_ERROR(WriteFile(options.page, GrowthPage(command, results)));
  } else if (!options.json) {
    Print(GrowthPage(command, results));
  }
  if (!options.json) {
    Print(StrCat(results.size(), " programs, ", wrong,
                 " grow faster than their definition or could not be measured"));
  }
  if (InterruptRequested()) {
    PrintError("interrupted: not all was measured");
    return kExitInterrupted;
  }
  return wrong > 0 ? kExitFailure : kExitOk;
}

// Unreadable files are a mistake of the caller, unless something failed.
int ExitStatusOf(const std::vector<WorkloadResult>& all, int64_t failed) {
  bool is_unreadable = false;
  for (const WorkloadResult& one : all) {
    is_unreadable = is_unreadable || one.is_unreadable;
    if (!one.error.empty() && !one.is_unreadable) ++failed;
  }
  if (failed > 0) return kExitFailure;
  return is_unreadable ? kExitUsage : kExitOk;
}

absl::StatusOr<int> Track(const Options& options, const Shard& shard) {
  if (!shard.IsAll() && !options.tracking.record) {
    return absl::InvalidArgumentError("--shard is of bench and of bench --record");
  }
  return RunTracking(options.tracking,
                     {options.paths, options.backend, options.python, options.record.path,
                      std::min(options.min_seconds, 0.05), std::min(options.max_seconds, 0.5),
                      options.seed, options.json, shard.index, shard.count});
}

absl::StatusOr<int> Run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const Shard shard, options.shard.Get());
  if (options.tracking.any()) return Track(options, shard);
  if (options.paths.empty()) {
    return absl::InvalidArgumentError("PATH is missing: modules, or folders of modules");
  }
  if (options.growth) return RunGrowth(options);
  ASSAY_ASSIGN_OR_RETURN(std::vector<std::string> paths, AllPaths(options));
  paths = shard.Of(paths);
  const MeasureOptions measure = MeasureOptionsOf(options);
  ASSAY_ASSIGN_OR_RETURN(const Contenders contenders, OpenContenders(options));
  for (const std::unique_ptr<Backend>& backend : contenders.owned) {
    if (!options.json) Print(WhoIs(backend->Describe()));
  }

  const InterruptGuard guard(/*ends_evaluations=*/true);
  RunRow run = BeginRun("bench", options.backend, CommandLine());
  run.backend_version = contenders.turns[0]->Describe().version;
  double start = Now();
  std::vector<WorkloadResult> all;
  ProgressLine progress;
  std::optional<Roof> roof;
  if (!options.no_roof) {
    progress.Show("measuring what the machine can do");
    roof = MeasureRoof(static_cast<int>(std::thread::hardware_concurrency()), 1);
    progress.Clear();
    AddRoof(*roof, run);
    if (options.json) PrintJson(RoofJson(*roof));
  }
  for (const std::string& path : paths) {
    if (InterruptRequested()) break;
    progress.Show(StrCat("measuring ", all.size() + 1, " of ", paths.size(), ": ", path));
    WorkloadResult one = MeasureOne(options, path, contenders, measure, roof);
    if (InterruptRequested()) break;
    all.push_back(std::move(one));
    AddRows(all.back(), run);
    progress.Clear();
    if (options.json) PrintJson(ToJson(all.back()));
  }
  run.seconds = Now() - start;
  nlohmann::json summary = SummaryJson(all, options, run.seconds);
  summary["backend_version"] = run.backend_version;
  if (!options.shard.text.empty()) summary["shard"] = options.shard.text;
  if (contenders.peer >= 0)
    summary["peer_version"] = contenders.turns[contenders.peer]->Describe().version;
  run.summary = JsonText(summary);
  options.record.Save(run);
  if (options.json) {
    PrintJson(summary);
  } else {
    PrintTable(all, contenders.peer >= 0);
    PrintSummary(summary, options);
  }
  if (!options.page.empty()) {
    ASSAY_RETURN_IF_ERROR(WritePage(options, run, roof, all));
  }
  if (all.size() < paths.size()) {
    PrintError(
        StrCat("interrupted: ", Count(static_cast<int64_t>(paths.size() - all.size()), "workload"),
               " not measured"));
    return kExitInterrupted;
  }
  return ExitStatusOf(all, summary["failed"].get<int64_t>());
}

}  // namespace

void DeclareBench(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("PATH", options->paths,
           "Modules, or folders of modules; manifest.json says how inputs are drawn");
  AddBackendOption(line, options->backend, options->python, "Who is measured");
  line.Add("--peer", options->peer, "Beside whom; it gets the same arrays, turn by turn");
  line.AddDuration("--min-time", options->min_seconds, "Of timed runs per workload and backend");
  line.AddDuration("--max-time", options->max_seconds, "Of all runs of a workload");
  line.Add("--precision", options->precision,
           "Go on until the speed-up is known to this many per cent, or --max-time is over; 0: no")
      .NonNegative()
      .ShowDefault();
  line.Add("--compiles", options->compiles, "Timed compilations per workload and backend")
      .Positive()
      .ShowDefault();
  line.Add("--seed", options->seed, "Of the inputs").ShowDefault();
  line.AddFlag("--unjudged", options->unjudged, "Do not judge the outputs by the oracle");
  line.AddFlag("--no-reused", options->no_reused,
               "Do not measure xla with its pages kept from run to run as well");
  line.AddFlag("--no-roof", options->no_roof, "Do not measure what the machine can do");
  line.AddFlag("--growth", options->growth,
               "The paths are files of programs with a size left open, such as "
               "bench/growth_cases.txt: how their work grows is held against its law");
  line.Add("--page", options->page, "Write the results as Markdown to this file");
  line.AddFlag("--json", options->json, "One JSON object per workload, then a summary");
  line.Add("--rounds", options->rounds, "Exactly so many timed runs; 0: by time").NonNegative();
  options->tracking.Declare(line);
  options->shard.Declare(line);
  options->limits.Declare(line);
  options->record.Declare(line);
  action = [options] { return Run(*options); };
}

}  // namespace assay
