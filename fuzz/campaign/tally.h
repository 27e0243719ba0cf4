// Keeps what a campaign has learned: counts verdicts, keeps suspects until they are checked a
// second time and findings until they are explained. Starts no process and reads no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/triage/signature.h"

namespace assay {

// A failure that was seen once.
struct Suspect {
  int64_t index = -1;
  size_t backend = 0;  // number in the campaign
  BackendRecord record;
};

// The result of checking a suspect a second time.
struct Confirmation {
  bool confirmed = false;  // false: it did not repeat
  CampaignFinding finding = {};
};

class Tally {
 public:
  explicit Tally(const CampaignOptions& options) : options_(options) {}

  // Counts a case; its failures become suspects, up to options.most_checked of them. Returns those
  // that are only counted, because many died in the same words.
  std::vector<CampaignFinding> TakeRecord(const CaseRecord& record);
  // True if there is a suspect; with `slow` false, one that needs no waiting for a limit.
  bool HasSuspect(bool slow = true) const;
  size_t Suspects() const { return suspects_.size(); }
  // True if there is a suspect that looks like none that was handed out.
  bool HasNovelSuspect() const;
  // Hands out suspects that need no waiting first, then those whose looks (as the first check
  // describes them) were handed out most seldom, then in the order in which they were seen.
  Suspect NextSuspect();
  // It was handed out and not looked at.
  void GiveBack(Suspect suspect) { suspects_.push_back(std::move(suspect)); }
  // The places at which all failures had one signature, seen often enough to save the next one
  // there most of its second check; every so often a place is left out, and looked at in full.
  FamiliarPlaces Familiar() const;
  // The second check of a suspect. A case that fails only now and then is nondeterministic.
  Confirmation TakeConfirm(const Suspect& suspect, const ConfirmRecord& confirm);

  // A finding that triage has not looked at: of the signature that triage has seen least, limits of
  // time and memory last, then the smallest program, which is the quickest to explain. Of a
  // signature that is seen again and again it is a sample, unless the user has said how many.
  std::optional<size_t> NextToTriage() const;
  // True if triage has looked at this signature in one variant, and the finding is another one.
  bool IsSecondVariant(const CampaignFinding& finding) const;
  // True if triage has looked at no finding with this signature yet.
  bool IsNovel(const CampaignFinding& finding) const;
  // Signatures that triage has not looked at, limits of time and memory not counted.
  int64_t UntriagedSignatures() const;
  // Takes over what the same campaign had seen before it was resumed; findings that have no triage
  // get it.
  void Restore(EarlierCampaign earlier);
  // A finding is handed to triage.
  CampaignFinding& BeginTriage(size_t at);
  void GiveBackToTriage(size_t at);
  CampaignFinding& finding(size_t at) { return findings_[at]; }
  // Triage has put it into a bucket, by which it may turn out to be known.
  void EndTriage(size_t at);
  // Suspects that are left will not be checked; findings get their buckets and their order.
  void Finish(bool with_triage);

  const CampaignSummary& summary() const { return summary_; }
  CampaignSummary& summary() { return summary_; }

 private:
  std::optional<CampaignFinding> AddSuspect(Suspect suspect);
  CampaignFinding CountAlike(CampaignFinding finding, const std::string& place);
  // True for the first and some of the rest of what is notable by a licence in one way: these are
  // checked.
  bool IsSampled(const std::string& notable);
  // The suspect as a finding, before anybody has looked at it again.
  CampaignFinding FindingOf(const Suspect& suspect) const;
  void Keep(CampaignFinding finding);
  // The reason of the known bug that it is; "" if it is news.
  std::string KnownAs(const CampaignFinding& finding) const;
  // Notes which buckets are probably the bug of one with a smaller program.
  void NoteDoubles();
  // Gives what is known of findings that triage has looked at to those that look the same.
  void SpreadKnown();
  size_t BestSuspect() const;  // its number in suspects_, which is not empty

  const CampaignOptions& options_;
  CampaignSummary summary_;
  std::deque<Suspect> suspects_;
  std::vector<CampaignFinding> findings_;  // confirmed, in order of confirmation
  int64_t checked_ = 0;
  std::map<std::string, int64_t> handed_out_;                      // suspects by how they look
  std::map<std::string, int64_t> triaged_;                         // findings by signature
  std::map<std::string, std::set<std::string>> triaged_buckets_;   // and what they turned out to be
  std::map<std::string, std::set<std::string>> triaged_variants_;  // CampaignFinding::variant
  // By Signature::place, and of compilers that die by their last words: how often suspects of it
  // were confirmed, and with which signatures; how often they failed only while they were screened,
  // and how often they were only counted.
  struct Place {
    int64_t seen = 0;
    std::map<std::string, Culprit> culprits;  // by signature
    int64_t screened_only = 0, alike = 0;

    // Enough is known of it to count the next suspect without checking it as users compile. One of
    // eight is checked so all the same.
    bool HasEnough() const;
  };
  std::map<std::string, Place> places_;
  std::map<std::string, int64_t> by_licence_;  // seen, by what is notable of it
  std::set<int64_t> restored_;                 // cases of restored suspects
  std::set<size_t> in_triage_;                 // numbers of findings that were handed to it
};

// The first line of a message without numbers and instruction texts, so that a thousand cases make
// a short table.
std::string ReasonOf(const std::string& text);

}  // namespace assay
