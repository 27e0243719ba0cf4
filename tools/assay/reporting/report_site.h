// assay report html: the site, with what other rooms know of the store's series and causes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "reports/site/site.h"

namespace assay {

struct SiteRequest {
  std::string folder;
  int64_t runs = 200;
  std::vector<std::string> ledgers;    // folders of causes
  std::vector<std::string> campaigns;  // folders of campaigns (`--out` of assay fuzz)
};

// Looks over the series of the store as `assay bench --watch` does, reads the ledgers, and writes
// the site.
absl::StatusOr<SiteTotals> WriteSiteOf(Store& store, const SiteRequest& request);

}  // namespace assay
