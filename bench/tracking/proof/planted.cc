// Takes the series: sides of one program with other options.
#include "bench/tracking/proof/planted.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>

#include "absl/strings/str_format.h"
#include "bench/statistics.h"
#include "bench/tracking/point.h"
#include "bench/workload.h"
#include "nlohmann/json.hpp"
#include "reports/store.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

std::map<std::string, std::set<std::string>> RulesByPass(const std::string& program,
                                                         const std::string& path) {
  std::map<std::string, std::set<std::string>> rules;
  const absl::StatusOr<Ran> ran =
      RunCommand({program, "print", path, "--optimized", "cpu", "--passes", "--json"}, 120);
  if (!ran.ok()) return rules;
  std::istringstream lines(ran->out);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.value("changed", false)) continue;
    std::set<std::string>& of_pass = rules[json.value("pass", "")];
    std::istringstream words(json.value("rules", ""));
    for (std::string word; words >> word;) {
      if (word.back() == ',') word.pop_back();
      of_pass.insert(word);
    }
  }
  return rules;
}

namespace {

// All sides have the loop, LLVM's code, and as many bytes of it: too many turns to be unrolled.
constexpr int64_t kUsualTurns = 1000;
constexpr char kUsual[] = "cpu:threads=1,idle=1000";

Side SideOf(const PlantedOptions& options, const std::string& backend) {
  return {backend, options.program, backend, ""};
}

std::string WithIdle(int64_t turns) { return StrCat("cpu:threads=1,idle=", turns); }

class Planter {
 public:
  Planter(const std::string& path, const PlantedOptions& options)
      : path_(path), options_(options), usual_(SideOf(options, kUsual)) {}

  // All changes of this module, without points.
  absl::StatusOr<std::vector<PlantedChange>> Choose();
  // `count` points of a side, numbered from `first` on.
  // `like`: the level before, or nullptr where these are.
  absl::StatusOr<Series> Points(const std::string& backend, int64_t count, int64_t first,
                                const Series* like);

 private:
  absl::Status AddIdle(std::vector<PlantedChange>& changes);
  void AddCompiler(std::vector<PlantedChange>& changes);
  void AddOne(const std::string& kind, const std::string& name, const std::string& option,
              const std::set<std::string>& causes, std::vector<PlantedChange>& changes);
  // The median ratio of times of a side to the usual one, of `pairs` pairs.
  absl::StatusOr<double> RatioOf(const std::string& backend, int pairs);

  std::string path_;
  PlantedOptions options_;
  Side usual_;
  Made made_;  // of the usual side
  int64_t of_compiler_ = 0;
};

absl::StatusOr<double> Planter::RatioOf(const std::string& backend, int pairs) {
  std::vector<double> changed, usual;
  for (int i = 0; i < pairs; ++i) {
    ASSAY_ASSIGN_OR_RETURN(const SideSample x,
                           TakeSample(SideOf(options_, backend), path_, options_.sampling));
    ASSAY_ASSIGN_OR_RETURN(const SideSample y, TakeSample(usual_, path_, options_.sampling));
    changed.push_back(x.run_seconds);
    usual.push_back(y.run_seconds);
  }
  return EstimateMedian(PairedRatios(changed, usual)).median;
}

// A turn is timed where all turns take about as long as the work itself.
absl::Status Planter::AddIdle(std::vector<PlantedChange>& changes) {
  int64_t turns = 1000;
  double ratio = 1;
  while (turns < 1000000000 && ratio < 1.5) {
    turns *= 8;
    ASSAY_ASSIGN_OR_RETURN(ratio, RatioOf(WithIdle(turns), 1));
  }
  ASSAY_ASSIGN_OR_RETURN(ratio, RatioOf(WithIdle(turns), 7));
  const double turns_of_a_run = static_cast<double>(turns) / (ratio - 1);
  std::map<double, int> times;
  for (double step : options_.steps) {
    PlantedChange change;
    change.kind = absl::StrFormat("idle, %.0f %% of the time", step * 100);
    if (const int time = ++times[step]; time > 1) change.name = StrCat("again ", time);
    change.backend = WithIdle(kUsualTurns + std::llround(step * turns_of_a_run));
    change.causes = {"code generation"};
    change.step = step;
    changes.push_back(std::move(change));
  }
  if (!options_.count_instructions) return absl::OkStatus();
  const absl::StatusOr<Instructions> few = CountInstructions(usual_, path_, options_.sampling);
  const absl::StatusOr<Instructions> many =
      few.ok() ? CountInstructions(SideOf(options_, WithIdle(kUsualTurns + 1000000)), path_,
                                   options_.sampling)
               : few;
  if (!many.ok()) {
    // A module that is too large for valgrind has its other measures.
    std::fprintf(stderr, "%s: %s\n", path_.c_str(), many.status().ToString().c_str());
    options_.count_instructions = false;
    return absl::OkStatus();
  }
  const double per_turn = (many->per_run - few->per_run) / 1e6;
  PlantedChange change;
  change.kind = "idle, 1 % of the instructions";
  change.backend = WithIdle(kUsualTurns + std::llround(0.01 * few->per_run / per_turn));
  change.causes = {"code generation"};
  changes.push_back(std::move(change));
  return absl::OkStatus();
}

void Planter::AddOne(const std::string& kind, const std::string& name, const std::string& option,
                     const std::set<std::string>& causes, std::vector<PlantedChange>& changes) {
  if (of_compiler_ >= options_.most_of_compiler) return;
  const std::string backend = StrCat(kUsual, ",", option);
  const Made made = MadeBy(SideOf(options_, backend), path_, options_.sampling.timeout);
  if (made.count("hlo") == 0 || made.count("code") == 0) return;
  if (made.at("code") == made_["code"]) return;  // it came out the same
  ++of_compiler_;
  PlantedChange change;
  change.kind = kind;
  change.name = name;
  change.backend = backend;
  change.causes = causes;
  changes.push_back(std::move(change));
}

void Planter::AddCompiler(std::vector<PlantedChange>& changes) {
  std::map<std::string, std::set<std::string>> names_of;  // what stands for a rule, too
  std::vector<std::string> rules;
  for (auto [pass, of_pass] : RulesByPass(options_.program, path_)) {
    for (const std::string& rule : of_pass) names_of[rule].insert(pass);
    of_pass.insert(pass);
    AddOne("pass left out", pass, StrCat("without=", pass), of_pass, changes);
    if (of_compiler_ * 2 >= options_.most_of_compiler) break;
  }
  std::istringstream lines(made_["decisions"]);
  for (std::string kind, rule, count; lines >> kind >> rule >> count;) {
    if (kind != "rewrite" && kind != "kernel" && kind != "llvm") continue;
    std::set<std::string> causes = names_of[rule];
    causes.insert(rule);
    AddOne(StrCat(kind, " refused"), rule, StrCat("refuse=", rule), causes, changes);
  }
}

absl::StatusOr<std::vector<PlantedChange>> Planter::Choose() {
  std::vector<PlantedChange> changes;
  made_ = MadeBy(usual_, path_, options_.sampling.timeout);
  ASSAY_RETURN_IF_ERROR(AddIdle(changes));
  AddCompiler(changes);
  return changes;
}

// True if a measure that is the same in every run differs; times and instructions are left out.
bool IsToldApart(const PointRow& x, const PointRow& y) {
  for (const char* name : {"kernels", "bytes_moved", "peak_bytes", "code.bytes", "arena.bytes"}) {
    const auto a = x.measures.find(name), b = y.measures.find(name);
    const bool is_there = a != x.measures.end() && b != y.measures.end();
    if (is_there && a->second != b->second) return true;
  }
  return false;
}

absl::StatusOr<Series> Planter::Points(const std::string& backend, int64_t count, int64_t first,
                                       const Series* like) {
  const Side side = SideOf(options_, backend);
  const Made made = MadeBy(side, path_, options_.sampling.timeout);
  Series points;
  SampleOptions sampling = options_.sampling;
  double instructions = 0;
  for (int64_t i = 0; i < count; ++i) {
    PointRow blank;
    blank.subject = "cpu";
    blank.commit = absl::StrFormat("p%02d", first + i);
    blank.taken_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    // Samples of different points are taken in different orders.
    sampling.seed = options_.sampling.seed + static_cast<uint64_t>(first + i);
    ASSAY_ASSIGN_OR_RETURN(PointRow point,
                           TakePoint(side, usual_, path_, options_.pairs, sampling, blank));
    for (const auto& [kind, text] : made) point.texts[kind] = text;
    const bool may_count =
        options_.count_instructions && (like == nullptr || !IsToldApart(point, like->back()));
    if (may_count && i == 0) {
      const absl::StatusOr<Instructions> counted =
          CountInstructions(side, path_, options_.sampling);
      if (counted.ok()) instructions = counted->per_run;
    }
    if (instructions > 0) point.measures["instructions"] = instructions;
    points.push_back(std::move(point));
  }
  return points;
}

// Gives a change its points, behind those of the level before.
absl::Status AddPoints(Planter& planter, const PlantedOptions& options, const Series& before,
                       PlantedChange& change) {
  ASSAY_ASSIGN_OR_RETURN(const Series after,
                         planter.Points(change.backend, options.after, options.before, &before));
  change.points = before;
  change.at = before.size();
  change.points.insert(change.points.end(), after.begin(), after.end());
  for (PointRow& point : change.points) {
    point.workload =
        StrCat(change.workload, ", ", change.kind, change.name.empty() ? "" : " " + change.name);
    point.flags = FlagsOf(change);
  }
  return absl::OkStatus();
}

absl::Status TakeModule(const std::string& path, const PlantedOptions& options,
                        const std::function<absl::Status(const PlantedChange&)>& keep,
                        std::vector<PlantedChange>& all) {
  Planter planter(path, options);
  ASSAY_ASSIGN_OR_RETURN(std::vector<PlantedChange> changes, planter.Choose());
  Series before;
  for (PlantedChange& change : changes) {
    change.workload = NameOfWorkload(path);
    if (before.empty() || (options.own_levels && change.step > 0)) {
      ASSAY_ASSIGN_OR_RETURN(before, planter.Points(kUsual, options.before, 0, nullptr));
    }
    ASSAY_RETURN_IF_ERROR(AddPoints(planter, options, before, change));
    ASSAY_RETURN_IF_ERROR(keep(change));
    all.push_back(std::move(change));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<PlantedChange>> TakePlanted(
    const std::vector<std::string>& paths, const PlantedOptions& options,
    const std::function<absl::Status(const PlantedChange&)>& keep) {
  std::vector<PlantedChange> all;
  for (const std::string& path : paths) {
    const absl::Status status = TakeModule(path, options, keep, all);
    if (!status.ok()) std::fprintf(stderr, "%s: %s\n", path.c_str(), status.ToString().c_str());
  }
  if (all.empty() && !paths.empty()) return absl::UnavailableError("no module gave a series");
  return all;
}

}  // namespace assay
