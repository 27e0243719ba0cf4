// Writes the journal of a campaign: OUT/results.jsonl, one JSON object per line, each with a
// "type":
//   begin          seed, first, backends, versions, jobs, options; "campaign": what makes it this
//                  one and no other; "resumed" where it goes on
//   finding        one confirmed finding; its case is in OUT/cases/SEED-INDEX.hlo and .npz
//   unconfirmed    a failure that did not repeat in a fresh process
//   screened only  a failure of what is compiled cheaply, and not as users compile
//   alike          one that was only counted, as many like it failed
//   triage         index and what triage made of it
//   progress       every few seconds: "next", before which all cases have ended, and how many
//   end            the summary
// Lines are appended and flushed one by one, so a killed campaign leaves a readable file. The file
// is locked while a campaign runs. One that begins anew in a folder that another has used adds its
// lines behind those: a reader goes by the last one that began.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "fuzz/campaign/campaign.h"

namespace assay {

nlohmann::json FindingToJson(const CampaignFinding& finding);

// The facts that make a campaign: program i is the same, and is judged in the same way, if all of
// them are. By names for people: "seed", "backend", "version", "defect", ...
using CampaignIdentity = std::map<std::string, std::string>;
CampaignIdentity IdentityOf(const CampaignOptions& options, const CampaignSummary& summary);

// The contents of a journal of a campaign that was ended in whatever way.
struct EarlierCampaign {
  CampaignIdentity identity;
  int64_t first = 0, next = 0;  // the case to go on with
  int64_t programs = 0;
  std::vector<CampaignFinding> findings;  // with triage, where it was made
  // Suspects that are no findings.
  std::vector<CampaignFinding> unconfirmed, screened_only, alike;
};
// Lines that are cut off or make no sense are left out. Errors: there is no journal in `out_dir`,
// or it has no beginning.
absl::StatusOr<EarlierCampaign> ReadJournal(const std::string& out_dir);
// An error that names all that differs, unless the two are one campaign. What `now` does not have
// is not known yet.
absl::Status ExpectSameCampaign(const EarlierCampaign& earlier, const CampaignIdentity& now,
                                const std::string& out_dir);

class Journal {
 public:
  Journal() = default;
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Makes the folder, opens the file and locks it; nothing is ever written when options.out_dir is
  // empty. Errors: another campaign has it, or it is no regular file.
  absl::Status Open(const CampaignOptions& options);
  // In a process that was forked: it has no part in the lock.
  void LeaveToParent();
  absl::Status Begin(const CampaignSummary& summary, const CampaignOptions& options);
  absl::Status Found(const CampaignFinding& finding);
  absl::Status Unconfirmed(const CampaignFinding& finding);
  absl::Status ScreenedOnly(const CampaignFinding& finding);
  absl::Status Alike(const CampaignFinding& finding);
  absl::Status Triaged(const CampaignFinding& finding);
  // Not more often than every two seconds.
  absl::Status Progress(int64_t next, int64_t programs);
  absl::Status End(const CampaignSummary& summary);

 private:
  absl::Status WriteFinding(const char* type, const CampaignFinding& finding);
  absl::Status Write(nlohmann::json line);
  absl::Status WriteText(const std::string& text);
  // An error where others would not find in the folder what is written.
  absl::Status ExpectThere() const;

  int fd_ = -1;
  double progressed_ = 0;  // Now() of the last progress
  std::string path_;
};

}  // namespace assay
