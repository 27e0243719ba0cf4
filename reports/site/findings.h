// Bugs, campaigns and known causes as data of the site.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "reports/site/data_file.h"
#include "reports/store.h"

namespace assay {

// Takes runs one by one, newest first, and writes what they found together.
class SiteBugs {
 public:
  // `folder`: of the site; bug pages are linked relative to it.
  explicit SiteBugs(std::string folder) : folder_(std::move(folder)) {}
  void Take(const RunRow& run);
  // data/bugs.js, and data/bug-N.js with the reduced program of each.
  absl::Status Write(DataFiles& files) const;

 private:
  struct Bug {
    FindingRow shown;  // of the newest run that has a page, the smallest
    int64_t shown_run = 0;
    std::string backend, version;
    int64_t findings = 0, first_ms = 0, last_ms = 0;
    std::vector<int64_t> runs;
    std::vector<int64_t> cases;  // numbers of programs, the newest first
  };
  std::string folder_;
  std::vector<std::string> order_;
  std::map<std::string, Bug> bugs_;  // by fingerprint
};

// data/campaigns.js: the runs of `fuzz`, and the campaigns of the journals as far as they got.
absl::Status WriteCampaigns(const std::vector<RunRow>& runs,
                            const std::vector<std::string>& journals, DataFiles& files);

// data/causes.js, and data/cause-N.js with all of each.
absl::Status WriteCauses(const std::vector<std::string>& causes, DataFiles& files);

}  // namespace assay
