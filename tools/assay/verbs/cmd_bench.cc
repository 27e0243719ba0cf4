// assay bench: run and compile time of a backend, beside a peer, interleaved.
#include <map>
#include <memory>

#include "absl/strings/str_format.h"
#include "bench/measure.h"
#include "bench/statistics.h"
#include "bench/workload.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/expectation.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string backend = "cpu";
  std::string python;  // of the xla backends
  std::string peer;
  double min_seconds = 0.5;
  int compiles = 6;
  uint64_t seed = 1;
  bool unjudged = false;
  bool json = false;
  LimitOptions limits;
  RecordOptions record;
};

// One workload, measured: ours first, then the peer's if there is one.
struct Measured {
  std::string name;
  std::string error;                  // nothing else is filled then
  std::vector<std::string> verdicts;  // per backend: pass, fail, inconclusive, or why not judged
  std::vector<MedianInterval> run, compile;
  MedianInterval run_ratio, compile_ratio;  // no samples without a peer
};

// Right before fast: what was timed is judged by the oracle's bounds.
std::vector<std::string> JudgeOutputs(const Options& options, const Workload& workload,
                                      const std::vector<Timings>& timings, const Profile& profile) {
  if (options.unjudged) return std::vector<std::string>(timings.size(), "not judged");
  std::unique_ptr<Oracle> oracle = MakeOracle();
  absl::StatusOr<Expectation> expectation =
      oracle->Expect(*workload.module, Pointers(workload.inputs), profile, options.limits.Get());
  std::vector<std::string> verdicts;
  for (const Timings& timing : timings) {
    if (!expectation.ok()) {
      verdicts.push_back(
          StrCat("not judged: the oracle ended with ", Name(ClassOf(expectation.status()))));
    } else {
      verdicts.emplace_back(Name(Judge(*expectation, timing.output).verdict));
    }
  }
  return verdicts;
}

Measured MeasureOne(const Options& options, const std::string& path,
                    const std::vector<Backend*>& backends, const MeasureOptions& measure) {
  Measured result;
  absl::StatusOr<Workload> workload = LoadWorkload(path, options.seed);
  result.name = path;
  if (!workload.ok()) {
    result.error = std::string(workload.status().message());
    return result;
  }
  result.name = workload->name;
  absl::StatusOr<std::vector<Timings>> timings =
      MeasureInterleaved(backends, *workload->module, Pointers(workload->inputs), measure);
  if (!timings.ok()) {
    result.error = std::string(timings.status().message());
    return result;
  }
  for (const Timings& timing : *timings) {
    result.run.push_back(EstimateMedian(timing.run_seconds));
    result.compile.push_back(EstimateMedian(timing.compile_seconds));
  }
  if (timings->size() == 2) {
    const Timings &ours = (*timings)[0], &peers = (*timings)[1];
    result.run_ratio = EstimateMedian(PairedRatios(ours.run_seconds, peers.run_seconds));
    result.compile_ratio =
        EstimateMedian(PairedRatios(ours.compile_seconds, peers.compile_seconds));
  }
  const Profile* profile = backends[0]->Describe().profile;
  result.verdicts =
      JudgeOutputs(options, *workload, *timings, profile != nullptr ? *profile : Profile::Xla());
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

nlohmann::json ToJson(const Measured& measured, const std::vector<std::string>& names) {
  nlohmann::json json = {{"type", "workload"}, {"name", measured.name}};
  if (!measured.error.empty()) {
    json["error"] = measured.error;
    return json;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    json["backends"].push_back({{"backend", names[i]},
                                {"verdict", measured.verdicts[i]},
                                {"run_seconds", IntervalJson(measured.run[i])},
                                {"compile_seconds", IntervalJson(measured.compile[i])}});
  }
  if (names.size() == 2) {
    json["run_ratio"] = IntervalJson(measured.run_ratio);
    json["compile_ratio"] = IntervalJson(measured.compile_ratio);
  }
  return json;
}

void PrintTable(const std::vector<Measured>& all, const std::vector<std::string>& names) {
  bool peer = names.size() == 2;
  std::vector<Table::Column> columns = {{"workload"}, {"verdict"}};
  for (const std::string& name : names) columns.push_back({name + " run", Table::kRight});
  if (peer) columns.push_back({"run ratio", Table::kRight});
  for (const std::string& name : names) columns.push_back({name + " compile", Table::kRight});
  if (peer) columns.push_back({"compile ratio", Table::kRight});
  Table table(columns);
  for (const Measured& measured : all) {
    if (!measured.error.empty()) continue;
    std::vector<std::string> row = {measured.name, measured.verdicts[0]};
    for (const MedianInterval& run : measured.run) row.push_back(Seconds(run.median));
    if (peer) row.push_back(RatioCell(measured.run_ratio));
    for (const MedianInterval& compile : measured.compile) row.push_back(Seconds(compile.median));
    if (peer) row.push_back(RatioCell(measured.compile_ratio));
    table.Add(std::move(row));
  }
  if (!table.empty()) Print(table.ToString());
  for (const Measured& measured : all) {
    if (!measured.error.empty()) {
      Print(StrCat(Styled(Style::kBad, "not measured "), measured.name, ": ", measured.error));
    }
  }
}

void AddRows(const Measured& measured, const std::vector<std::string>& names, RunRow& run) {
  auto add = [&](const std::string& metric, const std::string& subject,
                 const MedianInterval& interval) {
    if (interval.samples == 0) return;
    run.benchmarks.push_back({measured.name, metric, subject, interval.median, interval.lower,
                              interval.upper, interval.samples});
  };
  for (size_t i = 0; i < measured.run.size(); ++i) {
    add("run_seconds", names[i], measured.run[i]);
    add("compile_seconds", names[i], measured.compile[i]);
  }
  if (names.size() == 2) {
    add("run_ratio", names[0] + "/" + names[1], measured.run_ratio);
    add("compile_ratio", names[0] + "/" + names[1], measured.compile_ratio);
  }
}

nlohmann::json Summarize(const std::vector<Measured>& all, const Options& options, double seconds) {
  int64_t measured = 0, failed = 0, errors = 0;
  std::vector<double> run_ratios, compile_ratios;
  for (const Measured& one : all) {
    if (!one.error.empty()) {
      ++errors;
      continue;
    }
    ++measured;
    failed += one.verdicts[0] == Name(Verdict::kFail) ? 1 : 0;
    if (one.run_ratio.samples > 0) run_ratios.push_back(one.run_ratio.median);
    if (one.compile_ratio.samples > 0) compile_ratios.push_back(one.compile_ratio.median);
  }
  nlohmann::json json = {{"type", "summary"},          {"verb", "bench"},
                         {"backend", options.backend}, {"peer", options.peer},
                         {"measured", measured},       {"failed", failed},
                         {"errors", errors},           {"seconds", seconds}};
  if (!run_ratios.empty()) json["run_ratio"] = GeometricMean(run_ratios);
  if (!compile_ratios.empty()) json["compile_ratio"] = GeometricMean(compile_ratios);
  return json;
}

void PrintSummary(const nlohmann::json& summary, const Options& options) {
  if (summary.contains("run_ratio")) {
    Print(absl::StrFormat("geometric means against %s: run %.2f, compile %.2f; below 1 is faster",
                          options.peer, summary["run_ratio"].get<double>(),
                          summary["compile_ratio"].get<double>()));
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

absl::StatusOr<int> Run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<std::string> paths, AllPaths(options));
  std::vector<std::string> names = {options.backend};
  if (!options.peer.empty()) names.push_back(options.peer);
  std::vector<std::unique_ptr<Backend>> owned;
  std::vector<Backend*> backends;
  for (const std::string& name : names) {
    ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend, OpenBackend(name, options.python));
    if (!options.json) Print(WhoIs(backend->Describe()));
    backends.push_back(backend.get());
    owned.push_back(std::move(backend));
  }
  MeasureOptions measure;
  measure.compiles = options.compiles;
  measure.min_seconds = options.min_seconds;
  measure.compile.limits = options.limits.Get();

  RunRow run = BeginRun("bench", options.backend, CommandLine());
  run.backend_version = backends.front()->Describe().version;
  double start = Now();
  std::vector<Measured> all;
  ProgressLine progress;
  for (const std::string& path : paths) {
    progress.Show(StrCat("measuring ", all.size() + 1, " of ", paths.size(), ": ", path));
    all.push_back(MeasureOne(options, path, backends, measure));
    AddRows(all.back(), names, run);
    progress.Clear();
    if (options.json) PrintJson(ToJson(all.back(), names));
  }
  run.seconds = Now() - start;
  nlohmann::json summary = Summarize(all, options, run.seconds);
  summary["backend_version"] = run.backend_version;
  if (!options.peer.empty()) summary["peer_version"] = backends.back()->Describe().version;
  run.summary = JsonText(summary);
  options.record.Save(run);
  if (options.json) {
    PrintJson(summary);
  } else {
    PrintTable(all, names);
    PrintSummary(summary, options);
  }
  return summary["failed"].get<int64_t>() + summary["errors"].get<int64_t>() > 0 ? kExitFailure
                                                                                 : kExitOk;
}

}  // namespace

void DeclareBench(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("PATH", options->paths,
           "Modules, or folders of modules; manifest.json says how inputs are drawn")
      .Required();
  AddBackendOption(line, options->backend, options->python, "Who is measured");
  line.Add("--peer", options->peer, "Beside whom; it gets the same arrays, turn by turn");
  line.AddDuration("--min-time", options->min_seconds, "Of timed runs per workload and backend");
  line.Add("--compiles", options->compiles, "Timed compilations per workload and backend")
      .Positive()
      .ShowDefault();
  line.Add("--seed", options->seed, "Of the inputs").ShowDefault();
  line.AddFlag("--unjudged", options->unjudged, "Do not judge the outputs by the oracle");
  line.AddFlag("--json", options->json, "One JSON object per workload, then a summary");
  options->limits.Declare(line);
  options->record.Declare(line);
  action = [options] { return Run(*options); };
}

}  // namespace assay
