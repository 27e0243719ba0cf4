// The duties of a worker process of a campaign: running cases, checking a suspect again, or triage.
// A duty hands out requests, takes the answers, and knows what the death of its worker means.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/campaign/tally.h"

namespace assay {

// State that all duties of a campaign share.
struct CampaignDesk {
  const CampaignOptions& options;
  const CampaignTools& tools;
  Tally tally;
  Journal journal;
  int64_t next_index = 0;  // of the next case to hand out
  int64_t batch = 1;       // cases that a worker gets at once
  std::set<int64_t> cases_in_hand = {};
  // Cases whose worker died of another one; each is handed out again, alone.
  std::deque<int64_t> again = {};
  double started = 0;    // Now() when the first case was handed out
  double ends = 0;       // Now() from which on no case is handed out; 0: no such time
  bool is_over = false;  // no case is handed out any more, for whatever reason
  // Numbers of findings whose triage was begun and ended, and how long those that ended took.
  int64_t triages_begun = 0, triages_ended = 0;
  double triage_seconds = 0;
  // Second checks that ended, and how long those took.
  int64_t checks_ended = 0;
  double check_seconds = 0;
  // Processor time of second checks and triage that have ended, in seconds.
  double cpu_seconds_of_checks = 0, cpu_seconds_of_triage = 0;
  int64_t late_workers = 1;  // of second checks, and of triage, once the cases are over

  bool CasesLeft() const;
  // The time of one case, after which its worker is killed.
  double CaseSeconds() const;
  // The number of cases that are handed out together, beginning with this one.
  int64_t BatchFrom(int64_t index) const;
  // All cases before it have ended.
  int64_t AllEndedBefore() const {
    return cases_in_hand.empty() ? next_index : *cases_in_hand.begin();
  }
  // Wall clock seconds that triage of all signatures which it has not seen will take.
  double TriageBacklog() const;
  // The seconds that the second checks of all waiting suspects will take.
  double CheckBacklog() const;
  // Now() from which on no finding is handed to triage; 0: no such time.
  double TriageEnds() const { return options.seconds_include_triage ? ends : 0; }
};

struct WorkOrder {
  nlohmann::json request;
  double seconds = 0;  // until the worker is killed
};

// The death of a worker: its signal or limit, and the backend and case that it was running.
struct WorkerDeath {
  BackendRecord record;
  size_t backend = 0;
  int64_t index = -1;  // -1: several at once
};

class Duty {
 public:
  explicit Duty(CampaignDesk& desk) : desk_(desk) {}
  virtual ~Duty() = default;
  Duty(const Duty&) = delete;
  Duty& operator=(const Duty&) = delete;

  virtual bool HasWork() const = 0;
  // True if each piece of work begins in a process that has done nothing else.
  virtual bool WantsFreshProcess() const { return true; }
  // Only where there is work.
  virtual WorkOrder Next() = 0;
  // Errors end the campaign. Throws nlohmann::json::exception on a reply that makes no sense.
  virtual absl::Status TakeReply(const nlohmann::json& reply) = 0;
  virtual absl::Status TakeDeath(const WorkerDeath& death) = 0;
  // Its worker was lost, for which nobody is to blame: the work in hand is to be done again.
  virtual void TakeLoss() = 0;

 protected:
  CampaignDesk& desk_;
};

std::unique_ptr<Duty> MakeCaseDuty(CampaignDesk& desk);
// A spare one works only when more suspects wait than one can check, or when no case is left.
std::unique_ptr<Duty> MakeConfirmDuty(CampaignDesk& desk, bool is_spare);
// A spare one works only when no case is left: until then one at a time is enough.
std::unique_ptr<Duty> MakeTriageDuty(CampaignDesk& desk, bool is_spare);

}  // namespace assay
