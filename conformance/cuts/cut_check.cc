// Decides where a program is cut, round by round, and gives the verdict of all rounds.
#include "conformance/cuts/cut_check.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "conformance/cuts/array_judgement.h"
#include "conformance/cuts/rounds.h"
#include "spec/backend/check.h"
#include "spec/base/clock.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/open_elements.h"
#include "spec/numerics/sharpness.h"
#include "spec/process/cpu_time.h"
#include "spec/process/worker_process.h"

namespace assay {
namespace {

constexpr int kMostRounds = 6;
constexpr int kMostSteps = 3;  // back from results that moved
// Compilations in search of captures that move no result. It takes at most so long, or twice what
// everything before took.
constexpr int kMostTrials = 60;
constexpr double kTrialSeconds = 60;
// The share of an array's elements that may not follow from what was captured before it, where the
// compiler computed that anew for this reader.
constexpr double kMostRefused = 0.25;

// CPU time of the check, here and in workers: others may have the cores in between.
double WorkSeconds() { return CpuSecondsOfTree(getpid()) + CpuSecondsOfWorkersElsewhere(); }

class CutCheck {
 public:
  CutCheck(const CutSubject& subject, CutReport& report) : subject_(subject), report_(report) {}

  absl::Status Run() {
    ASSAY_ASSIGN_OR_RETURN(flat_, Flatten(subject_.module));
    rounds_.emplace(subject_, flat_);
    if (subject_.choose != nullptr) {
      ASSAY_RETURN_IF_ERROR(CutOnce(subject_.choose(*flat_.module)));
    } else if (subject_.everywhere) {
      ASSAY_RETURN_IF_ERROR(CutOnce(Everywhere()));
      ReachMovedResults();
      if (report_.failed > 0) FindSmallest();
    } else {
      ASSAY_RETURN_IF_ERROR(CutMoreAndMore());
      ReachMovedResults();
      if (!subject_.has_whole_verdict) ReachThroughQuietCaptures();
      if (report_.failed > 0) FindSmallest();
      if (report_.failed == 0 && report_.undecided > 0 && !subject_.has_whole_verdict)
        CompareWithDraws();
    }
    Conclude();
    return absl::OkStatus();
  }

 private:
  absl::Status CutOnce(const std::vector<CapturePoint>& points) {
    Round round;
    ASSAY_RETURN_IF_ERROR(rounds_->Capture(points, round));
    ASSAY_RETURN_IF_ERROR(rounds_->Read(round));
    Keep(std::move(round));
    return absl::OkStatus();
  }

  std::vector<CapturePoint> Everywhere() const {
    std::vector<CapturePoint> points = SumsOf(*flat_.module, /*only_contractions=*/false);
    PointSet known(points.begin(), points.end());
    for (const CapturePoint& point : AllPoints(*flat_.module))
      if (known.insert(point).second) points.push_back(point);
    return points;
  }

  // Contractions first, then more where verdicts are open.
  absl::Status CutMoreAndMore() {
    std::vector<CapturePoint> points = SumsOf(*flat_.module, /*only_contractions=*/true);
    bool has_all_sums = false;
    for (int number = 0; number < kMostRounds; ++number) {
      Round round;
      absl::Status status = rounds_->Capture(points, round);
      if (!status.ok() && best_.has_value()) break;
      if (!status.ok()) return status;
      ASSAY_RETURN_IF_ERROR(rounds_->Read(round, /*may_capture_more=*/number == 0));
      const int64_t before = best_.has_value() ? report_.undecided : -1;
      std::vector<CapturePoint> more = AroundLossesOf(round);
      Keep(std::move(round));
      const bool is_decided =
          report_.UndecidedShare() <= kFewUndecided && report_.OpenResult(plain_).empty();
      // A result that is left open is worth another compilation.
      const bool is_stuck = has_all_sums && before >= 0 && report_.undecided * 10 > before * 9 &&
                            (number > 2 || report_.OpenResult(plain_).empty());
      if (report_.failed > 0 || is_decided || is_stuck) break;
      if (rounds_->IsBig()) more = PointsAlike(*flat_.module, more);
      if (!has_all_sums) {
        for (const CapturePoint& point : SumsOf(*flat_.module, /*only_contractions=*/false))
          more.push_back(point);
        has_all_sums = true;
      }
      PointSet known(points.begin(), points.end());
      const size_t count = points.size();
      for (const CapturePoint& point : more)
        if (known.insert(point).second) points.push_back(point);
      if (points.size() == count) break;
    }
    return absl::OkStatus();
  }

  // The results that differ from those of the plain program, and lie outside the bound that comes
  // of the captures, are reached without the captures next to them.
  void ReachMovedResults() {
    const Instruction* root = flat_.module->entry()->root();
    const bool is_one_array = root->shape().IsArray();
    if ((root->opcode() != Opcode::kTuple && !is_one_array) || subject_.plain.empty()) return;
    std::vector<CapturePoint> points = best_->points;
    for (int step = 0; step < kMostSteps && report_.failed == 0; ++step) {
      const PointSet captured(points.begin(), points.end());
      PointSet dropped;
      for (size_t k = 0; k < plain_.size(); ++k) {
        if (plain_[k].failed == 0 || (rounds_->ResultAt(k) == root && !is_one_array)) continue;
        for (const CapturePoint& point : NearestCaptures(*rounds_->ResultAt(k), captured))
          dropped.insert(point);
      }
      if (dropped.empty()) return;
      std::erase_if(points, [&](const CapturePoint& point) { return dropped.contains(point); });
      Round round;
      if (!rounds_->Capture(points, round).ok() || !rounds_->Read(round).ok()) return;
      JudgeOrKeep(std::move(round));
    }
  }

  // Results that stay outside are reached through the captures with which they are as in the plain
  // program, and more of these around what loses precision then.
  void ReachThroughQuietCaptures() {
    std::vector<size_t> wanted;
    for (size_t k = 0; k < plain_.size(); ++k) {
      const Judgement captured = rounds_->ResultJudgement(*best_, k, best_->results[k], nullptr);
      if (plain_[k].failed > 0 || (IsLeftOpen(plain_[k]) && !IsLeftOpen(captured)))
        wanted.push_back(k);
    }
    if (wanted.empty() || report_.failed > 0) return;
    const double used = WorkSeconds(), until = used + std::max(kTrialSeconds, 2 * (used - begun_));
    Round quiet;
    auto is_quiet = [&](const std::vector<CapturePoint>& points) {
      Round round;
      if (WorkSeconds() > until || points == best_->points || !rounds_->Capture(points, round).ok())
        return false;
      const bool is_same = std::all_of(wanted.begin(), wanted.end(), [&](size_t k) {
        return subject_.plain[k]->bytes() == round.results[k].bytes();
      });
      if (is_same) quiet = std::move(round);
      return is_same;
    };
    QuietCaptures captures(is_quiet, kMostTrials);
    if (!is_quiet({}) || !captures.Grow(best_->points)) return;
    for (int step = 0; step < kMostRounds; ++step) {
      if (!rounds_->Read(quiet).ok()) return;
      const std::vector<CapturePoint> more = AroundLosses(
          quiet.reading.first_losses, PointSet(quiet.points.begin(), quiet.points.end()));
      JudgeOrKeep(std::move(quiet));
      const bool is_reached = std::none_of(wanted.begin(), wanted.end(), [&](size_t k) {
        return plain_[k].failed > 0 || IsLeftOpen(plain_[k]);
      });
      if (is_reached || report_.failed > 0 || !captures.Grow(more)) return;
    }
  }

  // A further round counts for the given results only, unless it shows something wrong.
  void JudgeOrKeep(Round round) {
    const bool is_wrong = std::any_of(
        round.reading.order.begin(), round.reading.order.end(),
        [&](const CapturePoint& p) { return rounds_->CapturedJudgement(round, p).failed > 0; });
    if (is_wrong) {
      Keep(std::move(round));
    } else {
      JudgeGiven(round);
    }
  }

  // Judges the given results by the bounds of the round. Each keeps the best of its verdicts: what
  // lies inside a bound that right values lead to is right.
  void JudgeGiven(const Round& round) {
    auto judge = [&](const std::vector<const Literal*>& given, std::vector<Judgement>& best) {
      for (size_t k = 0; k < std::min(given.size(), round.results.size()); ++k) {
        const Judgement judgement = rounds_->ResultJudgement(round, k, *given[k], nullptr);
        if (best.size() <= k) {
          best.push_back(judgement);
        } else if (std::pair(judgement.failed, judgement.inconclusive) <
                   std::pair(best[k].failed, best[k].inconclusive)) {
          best[k] = judgement;
        }
      }
    };
    judge(subject_.plain, plain_);
    judge(subject_.stored, stored_);
    is_equal_.resize(round.results.size());
    for (size_t k = 0; k < std::min(subject_.plain.size(), round.results.size()); ++k)
      is_equal_[k] = is_equal_[k] || subject_.plain[k]->bytes() == round.results[k].bytes();
  }

  // Takes the round's verdict over unless that of one before says more.
  void Keep(Round round) {
    JudgeGiven(round);
    CutReport report;
    report.captures = static_cast<int64_t>(round.points.size());
    for (const CapturePoint& point : round.reading.order) {
      Stretch stretch = Named(*point.instruction);
      stretch.judgement = rounds_->CapturedJudgement(round, point);
      if (stretch.judgement.failed > 0) stretch.failure = FailureAt(round, point);
      stretch.refused =
          std::min(stretch.judgement.inconclusive, round.reading.captured.at(point).failed);
      auto left = round.reading.not_sampled.find(point);
      if (left != round.reading.not_sampled.end()) stretch.not_sampled = left->second;
      report.Add(std::move(stretch));
    }
    report.outputs = static_cast<int64_t>(round.results.size());
    for (size_t k = 0; k < round.results.size(); ++k) {
      Stretch stretch;
      stretch.name = OutputName(k);
      stretch.is_output = true;
      stretch.judgement = rounds_->ResultJudgement(round, k, round.results[k], &stretch.failure);
      report.Add(std::move(stretch));
    }
    const bool is_better = !best_.has_value() || report.failed > 0 ||
                           report.UndecidedShare() <= report_.UndecidedShare();
    if (!is_better) return;
    report.is_sharp = Rounds::IsRightBySharpBounds(round);
    report_ = std::move(report);
    best_ = std::move(round);
  }

  std::string OutputName(size_t number) const {
    if (!rounds_->HasDevices()) return StrCat("output ", number);
    const auto leaves = static_cast<size_t>(
        std::max<int64_t>(LeafCount(flat_.module->entry()->root()->shape()), 1));
    return StrCat("output ", number % leaves, " of device ", number / leaves);
  }

  Stretch Named(const Instruction& instruction) const {
    Stretch stretch;
    auto found = flat_.origin.find(&instruction);
    const Instruction& origin =
        found == flat_.origin.end() || found->second == nullptr ? instruction : *found->second;
    stretch.name = origin.name();
    stretch.opcode = Name(origin.opcode());
    stretch.op_name = OpNameOf(origin);
    stretch.source = SourceOf(origin);
    return stretch;
  }

  std::vector<CapturePoint> AroundLossesOf(const Round& round) {
    const PointSet captured(round.points.begin(), round.points.end());
    losses_ = Losses(*flat_.module, round.reading.useless, captured);
    return AroundLosses(losses_, captured);
  }

  // The captured array, or the result, that is the first to be wrong.
  CapturePoint FirstFailing() const {
    for (const CapturePoint& point : best_->reading.order)
      if (rounds_->CapturedJudgement(*best_, point).failed > 0) return point;
    size_t result = 0;
    for (const Stretch& stretch : report_.stretches) {
      if (!stretch.is_output) continue;
      if (stretch.judgement.failed > 0) return {rounds_->ResultAt(result), 0};
      ++result;
    }
    return {flat_.module->entry()->root(), 0};
  }

  // The captures that the careful reading follows: a stretch that fails begins there.
  PointSet Followed() const {
    PointSet followed;
    for (const CapturePoint& point : best_->points)
      if (IsOneForAllReaders(*point.instruction)) followed.insert(point);
    return followed;
  }

  // Captures all of the first failing stretch: the first of it that fails by itself.
  void FindSmallest() {
    const std::vector<const Instruction*> stretch = StretchOf(FirstFailing(), Followed());
    for (Stretch& named : report_.stretches) {
      if (named.judgement.failed == 0) continue;
      for (const Instruction* each : stretch) named.instructions.push_back(Named(*each).name);
      break;
    }
    const PointSet captured(best_->points.begin(), best_->points.end());
    const std::vector<CapturePoint> more = AroundLosses(stretch, captured);
    Reading reading;
    if (ReadAlsoAt(more, reading)) {
      for (const CapturePoint& point : reading.order) {
        if (reading.captured.at(point).failed == 0) continue;
        if (std::find(stretch.begin(), stretch.end(), point.instruction) == stretch.end()) continue;
        return NameSmallest(*point.instruction, reading.failures.at(point));
      }
    }
    // Nothing that was captured is wrong beside what was captured before it.
    const CapturePoint first = FirstFailing();
    const Reading& careful = best_->careful.has_value() ? *best_->careful : best_->reading;
    const auto failure = careful.failures.find(first);
    if (failure != careful.failures.end()) NameSmallest(*first.instruction, failure->second);
  }

  void NameSmallest(const Instruction& instruction, const std::string& failure) {
    const Stretch named = Named(instruction);
    report_.smallest_instruction = named.name;
    report_.smallest =
        StrCat(named.opcode, " ", named.name,
               named.op_name.empty() ? "" : StrCat(" (", named.op_name, ")"), "\n", failure);
  }

  // Reads all captures of the best round and `more`; false if they cannot be made.
  bool ReadAlsoAt(const std::vector<CapturePoint>& more, Reading& reading) {
    if (more.empty()) {
      reading = best_->reading;
      return true;
    }
    Round round;
    std::vector<CapturePoint> points = best_->points;
    points.insert(points.end(), more.begin(), more.end());
    if (!rounds_->Capture(points, round).ok() ||
        !rounds_->ReadOnce(round, Way::kBold, reading).ok())
      return false;
    return true;
  }

  // The elements that no reading calls right, of the captured arrays as they were shown, and of the
  // results.
  ElementLists OpenInAll() const {
    const Round& round = *best_;
    std::vector<const Reading*> readings = {&round.reading};
    if (round.as_seen.has_value()) readings.push_back(&*round.as_seen);
    if (round.careful.has_value()) readings.push_back(&*round.careful);
    ElementLists open = round.reading.open;
    auto keep_common = [](std::vector<int64_t>& mine, const std::vector<int64_t>& others) {
      std::erase_if(mine, [&](int64_t element) {
        return !std::binary_search(others.begin(), others.end(), element);
      });
    };
    for (const Reading* reading : readings)
      for (size_t k = 0; reading->open.size() == open.size() && k < open.size(); ++k)
        keep_common(open[k], reading->open[k]);
    const PointSet captured(round.points.begin(), round.points.end());
    for (size_t k = 0; k < round.results.size(); ++k) {
      // An array that is captured shows this one as well.
      const bool is_shown = CapturedSource(*rounds_->ResultAt(k), captured).has_value();
      open.push_back(is_shown ? std::vector<int64_t>() : AllOf(round.results[k]));
      for (const Reading* reading : readings) {
        const Expectation& results = reading->results;
        if (results.inconclusive.empty() && k < results.leaves.size())
          keep_common(open.back(), OpenElements(results.leaves[k], round.results[k]));
      }
    }
    return open;
  }

  static std::vector<int64_t> AllOf(const Literal& array) {
    std::vector<int64_t> all(static_cast<size_t>(array.element_count()));
    std::iota(all.begin(), all.end(), int64_t{0});
    return all;
  }

  // Compares elements that stay undecided with random legal evaluations from the captured values.
  // It takes at most as long as everything before took.
  void CompareWithDraws() {
    if (rounds_->HasDevices()) return;
    const double until = Now() + std::max(1.0, Now() - started_);
    report_.drawn = CompareWithLegalValues(
        {*flat_.module, subject_.arguments, subject_.oracle, subject_.options.limits,
         best_->captures, best_->results, subject_.draws, subject_.seed, until},
        OpenInAll());
  }

  // True if an array holds much that does not follow from what was captured before it, and is right
  // by blunt bounds at most: nobody knows whether a mistake was made there.
  bool ConcludeRefused() {
    for (const Stretch& stretch : report_.stretches) {
      if (static_cast<double>(stretch.refused) <=
          kMostRefused * static_cast<double>(stretch.judgement.elements))
        continue;
      report_.reason = StrCat(stretch.refused, " of ", stretch.judgement.elements, " elements of ",
                              stretch.name, " do not follow from what was captured before");
      return true;
    }
    return false;
  }

  void Conclude() {
    report_.everywhere = subject_.everywhere;
    report_.rounds = rounds_->compilations();
    report_.backend_seconds = rounds_->backend_seconds();
    for (const Judgement& judgement : plain_) AddTo(report_.plain, judgement);
    for (const Judgement& judgement : stored_) AddTo(report_.stored, judgement);
    report_.outputs_equal = std::count(is_equal_.begin(), is_equal_.end(), true);
    if (report_.failed > 0) {
      report_.verdict = Verdict::kFail;
      for (const Stretch& stretch : report_.stretches) {
        if (stretch.judgement.failed == 0) continue;
        report_.reason =
            StrCat("the stretch to ", stretch.name, " is wrong in ", stretch.judgement.failed,
                   " of ", stretch.judgement.elements, " elements");
        break;
      }
      return;
    }
    if (report_.plain.failed > 0) {
      report_.reason =
          StrCat(report_.plain.failed, " elements of the results lie outside the ",
                 "bound that the program with captures has: it was compiled otherwise");
      return;
    }
    const int64_t open = report_.undecided + report_.plain.inconclusive;
    const int64_t all = report_.elements + report_.plain.elements;
    const std::string open_result = report_.OpenResult(plain_);
    if (subject_.everywhere && ConcludeRefused()) return;
    const bool is_decided = static_cast<double>(open) <= kMostUndecided * static_cast<double>(all);
    if (is_decided && open_result.empty()) {
      report_.verdict = Verdict::kPass;
      return;
    }
    report_.reason =
        StrCat(report_.undecided, " of ", report_.elements, " elements stay undecided with ",
               report_.captures, report_.captures == 1 ? " capture" : " captures");
    if (is_decided) StrAppend(&report_.reason, ", among them ", open_result);
    if (!losses_.empty()) {
      const Stretch named = Named(*losses_.front());
      StrAppend(&report_.reason, "; the first op that loses precision is ", named.opcode, " ",
                named.name);
    }
  }

  const CutSubject& subject_;
  CutReport& report_;
  const double started_ = Now(), begun_ = WorkSeconds();
  FlatModule flat_;
  std::optional<Rounds> rounds_;
  std::optional<Round> best_;
  std::vector<const Instruction*> losses_;
  std::vector<Judgement> plain_, stored_;  // by result
  std::vector<bool> is_equal_;             // to the plain program's, in some round
};

}  // namespace

CutReport CheckByCuts(const CutSubject& subject) {
  CutReport report;
  const double start = Now();
  absl::Status status = CutCheck(subject, report).Run();
  if (!status.ok()) {
    report.verdict = Verdict::kInconclusive;
    report.reason =
        StrCat("no verdict by cuts: ", Name(ClassOf(status)), ": ", ToStd(status.message()));
  }
  report.seconds = Now() - start;
  return report;
}

}  // namespace assay
