// assay report serve: the site on the loopback address, written again while results come in.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/assay/reporting/report_site.h"

namespace assay {

struct ServeRequest {
  SiteRequest site;
  std::string db, python;  // python: an interpreter of Python 3, whose http.server sends the files
  int64_t port = 8000;
  double every_seconds = 5;
};

// Until an interrupt. Errors: there is no interpreter, the port is taken; of the site.
absl::StatusOr<int> ReportServe(const ServeRequest& request);

}  // namespace assay
