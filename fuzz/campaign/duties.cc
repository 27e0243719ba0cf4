// The three duties of workers.
#include "fuzz/campaign/duties.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "fuzz/campaign/worker.h"
#include "fuzz/opinions/far_off.h"
#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// A worker that cannot work at all says so instead of an answer.
absl::Status ErrorIn(const nlohmann::json& reply) {
  if (!reply.contains("error")) return absl::OkStatus();
  return MakeError(ErrorClass::kSickMachine, reply.value("error", ""));
}

class CaseDuty : public Duty {
 public:
  using Duty::Duty;

  bool HasWork() const override { return desk_.CasesLeft(); }
  bool WantsFreshProcess() const override { return false; }

  WorkOrder Next() override {
    if (!desk_.again.empty()) {
      first_ = desk_.again.front();
      count_ = 1;
      desk_.again.pop_front();
    } else {
      first_ = desk_.next_index;
      count_ = desk_.BatchFrom(first_);
      desk_.next_index += count_;
    }
    for (int64_t i = 0; i < count_; ++i) desk_.cases_in_hand.insert(first_ + i);
    // The time of one case: the worker says when it begins the next one.
    return {{{"do", "cases"}, {"index", first_}, {"count", count_}}, desk_.CaseSeconds()};
  }

  absl::Status TakeReply(const nlohmann::json& reply) override {
    ASSAY_RETURN_IF_ERROR(ErrorIn(reply));
    std::vector<CaseRecord> records;
    for (const nlohmann::json& record : reply.at("records")) {
      records.push_back(CaseRecord::FromJson(record));
    }
    for (const CaseRecord& record : records) ASSAY_RETURN_IF_ERROR(Take(record));
    return absl::OkStatus();
  }

  // The verdicts of the backends before this one were lost with the worker; those after it never
  // ran. The other cases of the batch did nothing wrong.
  absl::Status TakeDeath(const WorkerDeath& death) override {
    const bool is_of_one = count_ == 1 || (death.index >= first_ && death.index < first_ + count_);
    const int64_t index = count_ == 1 ? first_ : death.index;
    for (int64_t i = first_; i < first_ + count_; ++i) {
      if (!is_of_one || i != index) desk_.again.push_back(i);
    }
    if (!is_of_one) return absl::OkStatus();
    CaseRecord dead;
    dead.index = index;
    dead.backends.resize(desk_.options.backends.size());
    for (BackendRecord& other : dead.backends) {
      other.kind = Outcome::kNotRun;
      other.text = "the worker died of another backend";
    }
    dead.backends[death.backend] = death.record;
    return Take(dead);
  }

  void TakeLoss() override {
    for (int64_t i = first_; i < first_ + count_; ++i) desk_.again.push_back(i);
  }

 private:
  absl::Status Take(const CaseRecord& record) {
    for (const CampaignFinding& alike : desk_.tally.TakeRecord(record)) {
      ASSAY_RETURN_IF_ERROR(desk_.journal.Alike(alike));
    }
    desk_.cases_in_hand.erase(record.index);
    return desk_.journal.Progress(desk_.AllEndedBefore(),
                                  desk_.tally.summary().earlier + desk_.tally.summary().programs);
  }

  int64_t first_ = -1, count_ = 0;  // of the cases in hand
};

class ConfirmDuty : public Duty {
 public:
  ConfirmDuty(CampaignDesk& desk, bool is_spare) : Duty(desk), is_spare_(is_spare) {}

  bool HasWork() const override {
    if (is_spare_ && desk_.CasesLeft() && desk_.tally.Suspects() < CheckPolicy::kManySuspects)
      return false;
    // At the end of a campaign nothing else is kept from being checked.
    const bool may_wait =
        !desk_.CasesLeft() ||
        (!is_spare_ && waited_ <= CheckPolicy::kShareOfWaiting * (Now() - desk_.started));
    return desk_.tally.HasSuspect(/*slow=*/may_wait);
  }

  WorkOrder Next() override {
    suspect_ = desk_.tally.NextSuspect();
    begun_ = Now();
    const BackendRecord& record = suspect_.record;
    CaseKey key{suspect_.index, suspect_.backend, record.exact, record.set, {}, record.screened};
    if (record.notable.empty()) key.output = record.leaf;
    key.by_licence = IsByLicence(record.notable);
    key.pack = record.pack;
    nlohmann::json request = key.ToJson();
    request["do"] = "confirm";
    const FamiliarPlaces familiar = desk_.tally.Familiar();
    request["familiar"] = nlohmann::json::object();
    for (const auto& [place, culprit] : familiar.culprits)
      request["familiar"][place] = ToJson(culprit);
    request["enough"] = familiar.enough;
    return {std::move(request), CheckPolicy::kTimesAsLong * desk_.options.case_seconds};
  }

  absl::Status TakeReply(const nlohmann::json& reply) override {
    ASSAY_RETURN_IF_ERROR(ErrorIn(reply));
    desk_.cpu_seconds_of_checks += reply.value("cpu_seconds", 0.0);
    return Take(ConfirmRecord::FromJson(reply));
  }

  absl::Status TakeDeath(const WorkerDeath& death) override {
    ConfirmRecord confirm;
    confirm.runs = 1;
    confirm.fails = IsFinding(death.record.kind) ? 1 : 0;
    // While it is judged it has failed again, in the way that was seen first.
    const bool is_late = death.record.phase == Phase::kJudge;
    confirm.record = is_late ? suspect_.record : death.record;
    return Take(confirm);
  }

  void TakeLoss() override { desk_.tally.GiveBack(std::move(suspect_)); }

 private:
  absl::Status Take(const ConfirmRecord& confirm) {
    ++desk_.checks_ended;
    desk_.check_seconds += Now() - begun_;
    const Outcome::Kind kind = suspect_.record.kind;
    if (kind == Outcome::kTimeout || kind == Outcome::kOutOfMemory) waited_ += Now() - begun_;
    const Confirmation result = desk_.tally.TakeConfirm(suspect_, confirm);
    if (!result.confirmed && confirm.alike) return desk_.journal.Alike(result.finding);
    if (!result.confirmed && confirm.fails_cheaply)
      return desk_.journal.ScreenedOnly(result.finding);
    return result.confirmed ? desk_.journal.Found(result.finding)
                            : desk_.journal.Unconfirmed(result.finding);
  }

  bool is_spare_;
  Suspect suspect_;  // in hand
  double begun_ = 0, waited_ = 0;
};

class TriageDuty : public Duty {
 public:
  TriageDuty(CampaignDesk& desk, bool is_spare) : Duty(desk), is_spare_(is_spare) {}

  // One of every signature, however long it takes; more only while there is time anyway.
  bool HasWork() const override {
    const int64_t most = desk_.options.most_triaged;
    if (!desk_.tools.triage || (most > 0 && desk_.triages_begun >= most)) return false;
    if (is_spare_ && desk_.CasesLeft()) return false;
    if (desk_.TriageEnds() > 0 && Now() + kLeastSeconds > desk_.TriageEnds()) return false;
    const std::optional<size_t> next = desk_.tally.NextToTriage();
    return next.has_value() &&
           (most > 0 || desk_.CasesLeft() || desk_.tally.IsNovel(desk_.tally.finding(*next)));
  }

  WorkOrder Next() override {
    ++desk_.triages_begun;
    begun_ = Now();
    finding_ = *desk_.tally.NextToTriage();
    const CampaignFinding& finding = desk_.tally.BeginTriage(finding_);
    const std::vector<std::string>& backends = desk_.options.backends;
    const auto backend = static_cast<size_t>(
        std::find(backends.begin(), backends.end(), finding.backend) - backends.begin());
    double seconds = desk_.options.triage_seconds;
    if (desk_.TriageEnds() > 0) seconds = std::min(seconds, desk_.TriageEnds() - begun_);
    nlohmann::json request = KeyOf(finding, backend).ToJson();
    request.update({{"do", "triage"},
                    {"kind", Name(finding.kind)},
                    {"phase", Name(finding.phase)},
                    {"text", finding.text},
                    {"second_check", finding.second_check},
                    {"seconds", seconds}});
    return {std::move(request), seconds};
  }

  absl::Status TakeReply(const nlohmann::json& reply) override {
    CountSeconds();
    desk_.cpu_seconds_of_triage += reply.value("cpu_seconds", 0.0);
    CampaignFinding& finding = desk_.tally.finding(finding_);
    if (reply.contains("error")) {
      finding.triage_error = StrCat("triage: ", reply.value("error", ""));
      return absl::OkStatus();
    }
    finding.triage = DecodeTriage(reply);
    finding.triaged = true;
    finding.bucket = finding.triage.bucket;
    desk_.tally.EndTriage(finding_);
    return desk_.journal.Triaged(finding);
  }

  absl::Status TakeDeath(const WorkerDeath& death) override {
    CountSeconds();
    desk_.tally.finding(finding_).triage_error = StrCat("triage: ", death.record.text);
    return absl::OkStatus();
  }

  void TakeLoss() override { desk_.tally.GiveBackToTriage(finding_); }

 private:
  static CaseKey KeyOf(const CampaignFinding& finding, size_t backend) {
    CaseKey key{finding.index, backend, finding.exact, finding.set};
    key.output = finding.output;
    key.by_licence = IsByLicence(finding.notable);
    key.with = finding.with;
    return key;
  }

  // In less than that nothing is explained.
  static constexpr double kLeastSeconds = 3;

  void CountSeconds() {
    ++desk_.triages_ended;
    desk_.triage_seconds += Now() - begun_;
  }

  bool is_spare_;
  size_t finding_ = 0;  // in hand: its number in the tally
  double begun_ = 0;
};

}  // namespace

bool CampaignDesk::CasesLeft() const {
  if (is_over || (ends > 0 && Now() >= ends)) return false;
  const int64_t enough = options.stop_after_findings;
  if (enough > 0 && tally.summary().findings >= enough) return false;
  return !again.empty() || options.count <= 0 || next_index < tally.summary().first + options.count;
}

double CampaignDesk::CaseSeconds() const {
  // A process of another compiler has limits of its own, and up to three times as long on a busy
  // machine; what waits for it is killed only if that does not help.
  constexpr double kTimesAsLongOutside = 4;
  return options.case_seconds * (tally.summary().portable ? kTimesAsLongOutside : 1);
}

int64_t CampaignDesk::BatchFrom(int64_t index) const {
  // Fewer at the beginning, so that something is to be seen soon, and when the time is nearly up.
  // A few are done within a fraction of a second.
  constexpr int64_t kParts = 4, kFew = 16;
  constexpr double kNearlyUp = 45;
  const bool is_short = batch > kFew && (index < batch || (ends > 0 && ends - Now() < kNearlyUp));
  const int64_t most = is_short ? std::max<int64_t>(1, batch / kParts) : batch;
  // Up to the end of a round of screening, so that there is as much to join in each batch.
  const int64_t left = most - index % most;
  return options.count <= 0 ? left : std::min(left, tally.summary().first + options.count - index);
}

double CampaignDesk::TriageBacklog() const {
  // Until the first finding was explained, what a small program of another compiler takes.
  constexpr double kUsualSeconds = 10;
  const double mean =
      triages_ended > 0 ? triage_seconds / static_cast<double>(triages_ended) : kUsualSeconds;
  const auto waiting = static_cast<double>(tally.UntriagedSignatures());
  return mean * std::ceil(waiting / static_cast<double>(late_workers));
}

double CampaignDesk::CheckBacklog() const {
  if (checks_ended == 0) return 0;
  const auto waiting = static_cast<double>(tally.Suspects());
  return check_seconds / static_cast<double>(checks_ended) * waiting /
         static_cast<double>(late_workers);
}

std::unique_ptr<Duty> MakeCaseDuty(CampaignDesk& desk) { return std::make_unique<CaseDuty>(desk); }
std::unique_ptr<Duty> MakeConfirmDuty(CampaignDesk& desk, bool is_spare) {
  return std::make_unique<ConfirmDuty>(desk, is_spare);
}
std::unique_ptr<Duty> MakeTriageDuty(CampaignDesk& desk, bool is_spare) {
  return std::make_unique<TriageDuty>(desk, is_spare);
}

}  // namespace assay
