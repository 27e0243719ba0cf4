// The words of a campaign: the progress line, the summary for people, the record for the store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/campaign/campaign.h"
#include "reports/store.h"

namespace assay {

std::string ProgressText(const CampaignProgress& progress);

// Counters, the split of time, and each bucket with its blame, its reduced program and its page.
void PrintCampaign(const CampaignSummary& summary, const std::string& defect);

// The summary as the last --json line, docs/json.md.
nlohmann::json CampaignJson(const CampaignSummary& summary, const std::string& defect);
void AddFindings(const CampaignSummary& summary, RunRow& run);

// A bucket, told by the finding that shows it best.
struct BucketShown {
  const CampaignFinding* finding = nullptr;
  int64_t first = -1;   // program that found it first
  int64_t number = 0;   // in the list, from 1 on
  int64_t same_as = 0;  // the number of the bug that it probably is; 0: of none
  std::string why;
};
// The buckets in the order in which they were found.
std::vector<BucketShown> BucketsShown(const CampaignSummary& summary);

}  // namespace assay
