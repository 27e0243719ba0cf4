// assay bench --ab A B: which of two is faster, decided while samples are taken.
#include <algorithm>
#include <random>

#include "absl/strings/str_format.h"
#include "bench/tracking/rank_tests.h"
#include "bench/tracking/side.h"
#include "bench/workload.h"
#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/tracking/sides.h"
#include "tools/assay/tracking/tracking.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Duel {
  std::string path;
  PairedSamples samples;
  Comparison result;
  std::string error;
  ChangeCause cause;
};

// One more pair, in random order.
absl::Status TakePair(const Side& a, const Side& b, const SampleOptions& sampling,
                      std::mt19937_64& order, Duel& duel) {
  double seconds[2] = {0, 0};
  const bool a_first = (order() & 1) == 0;
  for (const bool is_a : {a_first, !a_first}) {
    ASSAY_ASSIGN_OR_RETURN(const SideSample sample, TakeSample(is_a ? a : b, duel.path, sampling));
    seconds[is_a ? 0 : 1] = sample.run_seconds;
  }
  duel.samples.a.push_back(seconds[0]);
  duel.samples.b.push_back(seconds[1]);
  return absl::OkStatus();
}

void Decide(std::vector<Duel>& duels, double margin) {
  std::vector<PairedSamples> all;
  for (const Duel& duel : duels) all.push_back(duel.samples);
  const std::vector<Comparison> results = Compare(all, margin);
  for (size_t i = 0; i < duels.size(); ++i) duels[i].result = results[i];
}

// Samples in rounds of growing size until each workload is decided or the time is up. The number of
// looks that the correction counts is set before: what is seen does not change it.
void Fight(const Side& a, const Side& b, double margin, double budget,
           const SampleOptions& sampling, std::vector<Duel>& duels) {
  constexpr size_t kLooks[] = {8, 12, 18, 28, 44, 70, 110};
  std::mt19937_64 order(sampling.seed);
  const double deadline = Now() + budget;
  ProgressLine progress;
  for (size_t look = 0; look < std::size(kLooks); ++look) {
    std::vector<Duel*> open;
    for (Duel& duel : duels) {
      if (duel.error.empty() && duel.result.change == Change::kUndecided) open.push_back(&duel);
    }
    if (open.empty()) break;
    for (size_t i = 0; i < kLooks[look]; ++i) {
      std::shuffle(open.begin(), open.end(), order);
      for (Duel* duel : open) {
        if (duel->samples.a.size() >= kLooks[look] || !duel->error.empty()) continue;
        if (Now() > deadline || InterruptRequested()) break;
        progress.Show(StrCat("sampling ", duel->samples.workload));
        const absl::Status status = TakePair(a, b, sampling, order, *duel);
        if (!status.ok()) duel->error = ToStd(status.message());
      }
    }
    for (Duel* duel : open) duel->samples.looks = static_cast<int>(look) + 1;
    Decide(duels, margin);
    if (Now() > deadline || InterruptRequested()) break;
  }
}

std::string RatioText(const Comparison& one) {
  return absl::StrFormat("%.3f [%.3f, %.3f]", one.ratio.median, one.ratio.lower, one.ratio.upper);
}

std::string Markdown(const Side& a, const Side& b, double margin, const std::vector<Duel>& duels) {
  std::string page = absl::StrFormat(
      "## %s against %s\n\nTime of the second divided by the first's: above 1 the second is "
      "slower; same: within %.3g %%.\n\n| workload | verdict | ratio | p | effect | samples | why "
      "|\n| --- | --- | ---: | ---: | ---: | ---: | --- |\n",
      b.label, a.label, margin * 100);
  for (const Duel& duel : duels) {
    if (!duel.error.empty()) {
      page += StrCat("| ", duel.samples.workload, " | not measured | | | | | ", duel.error, " |\n");
      continue;
    }
    page +=
        absl::StrFormat("| %s | %s | %s | %.2g | %.2f | %d | %s |\n", duel.samples.workload,
                        Name(duel.result.change), RatioText(duel.result), duel.result.adjusted_p,
                        duel.result.delta, duel.result.ratio.samples, duel.cause.sentence);
  }
  return page;
}

nlohmann::json DuelJson(const Duel& duel) {
  nlohmann::json json = {{"type", "comparison"}, {"name", duel.samples.workload}};
  if (!duel.error.empty()) {
    json["error"] = duel.error;
    return json;
  }
  json["verdict"] = Name(duel.result.change);
  json["ratio"] = {{"median", duel.result.ratio.median},
                   {"lower", duel.result.ratio.lower},
                   {"upper", duel.result.ratio.upper}};
  json["samples"] = duel.result.ratio.samples;
  json["p"] = duel.result.adjusted_p;
  json["effect"] = duel.result.delta;
  json["cause"] = duel.cause.sentence;
  json["cause_key"] = duel.cause.key;
  json["differences"] = duel.cause.details;
  return json;
}

void PrintDuels(const std::vector<Duel>& duels) {
  Table table({{"workload"},
               {"verdict"},
               {"B / A", Table::kRight},
               {"p", Table::kRight},
               {"samples", Table::kRight},
               {"why"}});
  for (const Duel& duel : duels) {
    if (!duel.error.empty()) {
      Print(StrCat(Styled(Style::kBad, "not measured "), duel.samples.workload, ": ", duel.error));
      continue;
    }
    table.Add({duel.samples.workload, Name(duel.result.change), RatioText(duel.result),
               absl::StrFormat("%.2g", duel.result.adjusted_p), StrCat(duel.result.ratio.samples),
               duel.cause.sentence});
  }
  if (!table.empty()) Print(table.ToString());
}

}  // namespace

absl::StatusOr<int> CompareSides(const TrackingOptions& options, const TrackingSetting& setting) {
  ASSAY_ASSIGN_OR_RETURN(const TwoSides sides, SidesOf(options, setting));
  std::vector<Duel> duels;
  for (const std::string& path : sides.workloads) {
    Duel duel;
    duel.path = path;
    duel.samples.workload = NameOfWorkload(path);
    duels.push_back(std::move(duel));
  }
  const SampleOptions sampling{setting.min_seconds, setting.max_seconds, setting.seed};
  const InterruptGuard guard(/*ends_evaluations=*/true);
  const double budget = options.budget > 0 ? options.budget : kUsualBudget;
  Fight(sides.a, sides.b, options.margin / 100, budget, sampling, duels);
  int64_t slower = 0, open = 0, errors = 0;
  for (Duel& duel : duels) {
    if (InterruptRequested()) return kExitInterrupted;
    errors += duel.error.empty() ? 0 : 1;
    slower += duel.result.change == Change::kSlower ? 1 : 0;
    open += duel.error.empty() && duel.result.change == Change::kUndecided ? 1 : 0;
    const bool differs =
        duel.result.change == Change::kSlower || duel.result.change == Change::kFaster;
    if (duel.error.empty() && differs) {
      duel.cause = ExplainSides(sides.a, sides.b, duel.path, sampling);
    }
    if (setting.json) PrintJson(DuelJson(duel));
  }
  if (!setting.json) {
    PrintDuels(duels);
    Print(StrCat(Count(static_cast<int64_t>(duels.size()), "workload"), ", ", slower, " slower, ",
                 open, " need more samples, ", errors, " not measured"));
  }
  if (!options.markdown.empty()) {
    ASSAY_RETURN_IF_ERROR(
        WriteFile(options.markdown, Markdown(sides.a, sides.b, options.margin / 100, duels)));
  }
  if (errors > 0) return kExitFailure;
  return options.gate && slower > 0 ? kExitFailure : kExitOk;
}

}  // namespace assay
