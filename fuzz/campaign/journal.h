// Writes the journal of a campaign: OUT/results.jsonl, one JSON object per line, each with a
// "type":
//   begin        seed, first, backends, versions, jobs, options
//   finding      one confirmed finding; its case is in OUT/cases/SEED-INDEX.hlo and .npz
//   unconfirmed  a timeout or memory failure that did not repeat
//   triage       index and what triage made of it
//   end          the summary
// Lines are appended and flushed one by one, so a killed campaign leaves a readable file.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "fuzz/campaign/campaign.h"

namespace assay {

nlohmann::json FindingToJson(const CampaignFinding& finding);

class Journal {
 public:
  Journal() = default;
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Makes the folder and opens the file; nothing is ever written when options.out_dir is empty.
  absl::Status Open(const CampaignOptions& options);
  absl::Status Begin(const CampaignSummary& summary, const CampaignOptions& options);
  absl::Status Found(const CampaignFinding& finding);
  absl::Status Unconfirmed(const CampaignFinding& finding);
  absl::Status Triaged(const CampaignFinding& finding);
  absl::Status End(const CampaignSummary& summary);

 private:
  absl::Status Write(nlohmann::json line);

  int fd_ = -1;
  std::string path_;
};

}  // namespace assay
