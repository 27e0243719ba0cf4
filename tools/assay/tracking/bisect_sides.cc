// assay bench --bisect GOOD BAD: where between two sides the time of a workload changed.
#include <cmath>
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "bench/statistics.h"
#include "bench/tracking/bisection.h"
#include "bench/tracking/commits.h"
#include "bench/workload.h"
#include "fuzz/backends/peer.h"
#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/json_line.h"
#include "tools/assay/peers.h"
#include "tools/assay/terminal.h"
#include "tools/assay/tracking/sides.h"
#include "tools/assay/tracking/tracking.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

constexpr char kPeer[] = "xla@";

// The names between GOOD and BAD, both included, oldest first.
absl::StatusOr<std::vector<std::string>> NamesBetween(const std::string& good,
                                                      const std::string& bad) {
  if (!absl::StartsWith(good, kPeer)) return CommitsBetween(good, bad);
  const size_t prefix = sizeof(kPeer) - 1;
  const std::string newest = absl::StartsWith(bad, kPeer) ? bad.substr(prefix) : bad;
  ASSAY_ASSIGN_OR_RETURN(std::vector<std::string> names,
                         ReleasesBetween(good.substr(prefix), newest));
  for (std::string& name : names) name = kPeer + name;
  return names;
}

// The words of the command line as a row of sides, oldest first, and the workload.
struct Question {
  std::vector<std::string> names;
  std::string path;
};
// Programs and backends stand for themselves.
bool HasNothingBetween(const std::string& name) {
  std::error_code error;
  return std::filesystem::is_regular_file(name, error) || name == "cpu" ||
         name.rfind("cpu:", 0) == 0;
}

absl::StatusOr<Question> QuestionOf(const std::vector<std::string>& words) {
  const size_t dots = words.empty() ? std::string::npos : words[0].find("..");
  const bool is_range = words.size() == 2 && dots != std::string::npos && dots > 0;
  if (words.size() < 3 && !is_range) {
    return absl::InvalidArgumentError(
        "assay bench --bisect GOOD BAD MODULE or GOOD..BAD MODULE with commits or releases "
        "(xla@0.4.31..0.10.2), or GOOD BETWEEN ... BAD MODULE with any sides");
  }
  Question question{{}, words.back()};
  if (words.size() == 3 && (HasNothingBetween(words[0]) || HasNothingBetween(words[1]))) {
    return absl::InvalidArgumentError(
        StrCat("between '", words[0], "' and '", words[1],
               "' lie neither commits nor releases: assay bench --ab compares the two, and "
               "--bisect takes more sides, oldest first"));
  }
  if (is_range || words.size() == 3) {
    const std::string good = is_range ? words[0].substr(0, dots) : words[0];
    const std::string bad = is_range ? words[0].substr(dots + 2) : words[1];
    ASSAY_ASSIGN_OR_RETURN(question.names, NamesBetween(good, bad));
  } else {
    question.names.assign(words.begin(), words.end() - 1);
  }
  if (question.names.size() >= 2) return question;
  return absl::InvalidArgumentError("there is nothing between the two sides");
}

// One side beside the two ends, which are sampled again each time, as the machine of now is not
// that of an hour ago.
struct Nearness {
  double seconds = 0;
  double to_good = 1, to_bad = 1;  // median ratios of its time to the ends'
  bool is_bad = false;
};

class TwoEnds {
 public:
  TwoEnds(Side good, Side bad, std::string path, const SampleOptions& sampling)
      : good_(std::move(good)), bad_(std::move(bad)), path_(std::move(path)), sampling_(sampling) {
    code_of_good_ = CodeOf(good_, path_, sampling_.timeout);
    code_of_bad_ = CodeOf(bad_, path_, sampling_.timeout);
  }

  // The ratio of the ends, BAD over GOOD. FailedPrecondition: they do not differ by `margin`.
  absl::StatusOr<double> CheckEnds(double margin) const {
    if (!code_of_good_.empty() && code_of_good_ == code_of_bad_) {
      return absl::FailedPreconditionError(
          StrCat(good_.label, " and ", bad_.label,
                 " make the same machine code of it: what changed is the machine or a library"));
    }
    std::vector<double> good, bad;
    for (int round = 0; round < kRounds; ++round) {
      ASSAY_ASSIGN_OR_RETURN(const SideSample x, TakeSample(good_, path_, sampling_));
      ASSAY_ASSIGN_OR_RETURN(const SideSample y, TakeSample(bad_, path_, sampling_));
      good.push_back(x.run_seconds);
      bad.push_back(y.run_seconds);
    }
    const double ratio = EstimateMedian(PairedRatios(bad, good)).median;
    if (std::fabs(std::log(ratio)) >= std::log1p(margin)) return ratio;
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s takes %.3f times as long as %s, which is within --margin: there is nothing to find",
        bad_.label, ratio, good_.label));
  }

  absl::StatusOr<Nearness> Ask(const Side& one, int rounds = kRounds) const {
    Nearness near;
    std::vector<double> good, bad, own;
    for (int round = 0; round < rounds; ++round) {
      for (const auto& [side, into] :
           {std::pair(&good_, &good), std::pair(&one, &own), std::pair(&bad_, &bad)}) {
        ASSAY_ASSIGN_OR_RETURN(const SideSample sample, TakeSample(*side, path_, sampling_));
        into->push_back(sample.run_seconds);
      }
    }
    near.seconds = EstimateMedian(own).median;
    near.to_good = EstimateMedian(PairedRatios(own, good)).median;
    near.to_bad = EstimateMedian(PairedRatios(own, bad)).median;
    near.is_bad = std::fabs(std::log(near.to_bad)) < std::fabs(std::log(near.to_good));
    // A side with the same code as one end is that end, whatever the clock says.
    const std::string code = CodeOf(one, path_, sampling_.timeout);
    if (!code.empty() && code == code_of_good_) near.is_bad = false;
    if (!code.empty() && code == code_of_bad_) near.is_bad = true;
    return near;
  }

 private:
  static constexpr int kRounds = 9;

  Side good_, bad_;
  std::string path_;
  SampleOptions sampling_;
  std::string code_of_good_, code_of_bad_;
};

void TellStep(const std::string& name, const absl::StatusOr<Nearness>& near, bool as_json) {
  if (as_json) {
    nlohmann::json json = {{"type", "step"}, {"side", name}};
    if (near.ok()) {
      json["verdict"] = near->is_bad ? "bad" : "good";
      json["run_seconds"] = near->seconds;
      json["ratio_to_good"] = near->to_good;
      json["ratio_to_bad"] = near->to_bad;
    } else {
      json["verdict"] = "skipped";
      json["reason"] = ToStd(near.status().message());
    }
    PrintJson(json);
  } else if (near.ok()) {
    Print(absl::StrFormat("%s: %s, %s: %.2f of GOOD's time, %.2f of BAD's", name,
                          near->is_bad ? "bad" : "good", Seconds(near->seconds), near->to_good,
                          near->to_bad));
  } else {
    Print(StrCat(name, ": skipped: ", ToStd(near.status().message())));
  }
}

// Finds, for two releases of a peer, the former way of working under which the later one is as the
// earlier, as a sentence; "" where none is. Releases refuse flags that they do not know.
std::string FormerWay(const Side& before, const Side& after, const std::string& path,
                      const SampleOptions& sampling) {
  constexpr int kFewRounds = 5;
  if (after.python.empty()) return "";
  const TwoEnds ends(before, after, path, sampling);
  for (const PeerFlag& flag : PeerOfFamily(BackendFamily(after.backend)).former) {
    Side former = after;
    former.backend += StrCat(after.backend.find(':') == std::string::npos ? ":" : ",", flag.name,
                             "=", flag.value);
    const absl::StatusOr<Nearness> near = ends.Ask(former, kFewRounds);
    if (!near.ok() || near->is_bad) continue;
    return absl::StrFormat("with %s=%s it takes %.2f of what it does, %.2f of what it did",
                           flag.name, flag.value, near->to_bad, near->to_good);
  }
  return "";
}

absl::Status TellResult(const Question& question, const Bisection& found, double ratio,
                        const TrackingOptions& options, const TrackingSetting& setting,
                        const SampleOptions& sampling) {
  const std::vector<std::string>& names = question.names;
  ASSAY_ASSIGN_OR_RETURN(const Side before, OneSide(names[found.good], options, setting));
  ASSAY_ASSIGN_OR_RETURN(const Side after, OneSide(names[found.bad], options, setting));
  ChangeCause cause = ExplainSides(before, after, question.path, sampling);
  const std::string former = FormerWay(before, after, question.path, sampling);
  if (!former.empty()) StrAppend(&cause.sentence, "; ", former);
  const std::vector<std::string> between(
      names.begin() + static_cast<std::ptrdiff_t>(found.good) + 1,
      names.begin() + static_cast<std::ptrdiff_t>(found.bad));
  if (setting.json) {
    PrintJson({{"type", "bisection"},
               {"good", names[found.good]},
               {"bad", names[found.bad]},
               {"skipped_between", between},
               {"ratio", ratio},
               {"cause", cause.sentence},
               {"differences", cause.details}});
    return absl::OkStatus();
  }
  Print(absl::StrFormat("first bad: %s (good: %s)%s; the ends differ by a factor of %.3g",
                        names[found.bad], names[found.good],
                        between.empty() ? ""
                                        : absl::StrFormat(", or one of %d between them that were "
                                                          "skipped",
                                                          between.size()),
                        ratio));
  Print(StrCat("why: ", cause.sentence));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> BisectSides(const TrackingOptions& options, const TrackingSetting& setting) {
  ASSAY_ASSIGN_OR_RETURN(const Question question, QuestionOf(setting.paths));
  const std::vector<std::string>& names = question.names;
  const InterruptGuard guard(/*ends_evaluations=*/true);
  const SampleOptions sampling{setting.min_seconds, setting.max_seconds, setting.seed};
  ASSAY_ASSIGN_OR_RETURN(Side good, OneSide(names.front(), options, setting));
  ASSAY_ASSIGN_OR_RETURN(Side bad, OneSide(names.back(), options, setting));
  const TwoEnds ends(std::move(good), std::move(bad), question.path, sampling);
  ASSAY_ASSIGN_OR_RETURN(const double ratio, ends.CheckEnds(options.margin / 100));
  if (!setting.json) {
    Print(absl::StrFormat("%d between %s and %s, which takes %.3g times as long", names.size() - 2,
                          names.front(), names.back(), ratio));
  }
  const double deadline = options.budget > 0 ? Now() + options.budget : 0;
  const absl::StatusOr<Bisection> found =
      Bisect(names.size(), [&](size_t at) -> absl::StatusOr<SideVerdict> {
        if (deadline > 0 && Now() > deadline) {
          return absl::DeadlineExceededError(
              StrCat("the budget is over before ", names[at], " was measured; raise --budget"));
        }
        const absl::StatusOr<Side> one = OneSide(names[at], options, setting);
        const absl::StatusOr<Nearness> near =
            one.ok() ? ends.Ask(*one) : absl::StatusOr<Nearness>(one.status());
        if (InterruptRequested()) return absl::CancelledError("interrupted");
        TellStep(names[at], near, setting.json);
        if (!near.ok()) return SideVerdict::kSkip;
        return near->is_bad ? SideVerdict::kBad : SideVerdict::kGood;
      });
  if (absl::IsCancelled(found.status())) return kExitInterrupted;
  ASSAY_RETURN_IF_ERROR(found.status());
  ASSAY_RETURN_IF_ERROR(TellResult(question, *found, ratio, options, setting, sampling));
  return kExitOk;
}

}  // namespace assay
