// What a campaign has learned: counts verdicts, keeps suspects until they are checked a second time
// and findings until they are explained. Starts no process and reads no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/campaign/campaign.h"

namespace assay {

// A failure that was seen once.
struct Suspect {
  int64_t index = -1;
  size_t backend = 0;  // number in the campaign
  BackendRecord record;
};

// The result of checking a suspect a second time.
struct Confirmation {
  bool confirmed = false;  // false: it did not repeat and may be the machine's fault
  CampaignFinding finding;
};

class Tally {
 public:
  explicit Tally(const CampaignOptions& options) : options_(options) {}

  // Counts a case; its failures become suspects, up to options.most_checked of them.
  void TakeRecord(const CaseRecord& record);
  // Suspects in the order in which they were seen.
  bool HasSuspect() const { return !suspects_.empty(); }
  Suspect NextSuspect();
  // The second check of a suspect. What fails only now and then is nondeterministic.
  Confirmation TakeConfirm(const Suspect& suspect, const ConfirmRecord& confirm);

  // The finding with the smallest program that triage has not looked at: it is the quickest to
  // explain.
  std::optional<size_t> NextToTriage() const;
  CampaignFinding& finding(size_t at) { return findings_[at]; }
  // Suspects that are left will not be checked; findings get their buckets and their order.
  void Finish(bool with_triage);

  const CampaignSummary& summary() const { return summary_; }
  CampaignSummary& summary() { return summary_; }

 private:
  void Suspicion(Suspect suspect);

  const CampaignOptions& options_;
  CampaignSummary summary_;
  std::deque<Suspect> suspects_;
  std::vector<CampaignFinding> findings_;  // confirmed, in order of confirmation
  int64_t checked_ = 0;
};

// The first line of a message without numbers and instruction texts, so that a thousand cases make
// a short table.
std::string ReasonOf(const std::string& text);

}  // namespace assay
