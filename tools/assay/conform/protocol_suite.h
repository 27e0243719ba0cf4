// The suite "protocol" of assay conform: does a PJRT plug-in keep the C API's rules?
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "reports/store.h"

namespace assay {

struct ProtocolOptions {
  std::string backend, filter, page;  // page: a file for the table, or ""
  bool json = false, all = false;     // all: a line for every case
  double seconds = 60;                // for each case
};

struct ProtocolTotals {
  int64_t passed = 0, violates = 0, crashed = 0, not_there = 0;
  // The document says nothing about these calls, or no caller may make them.
  int64_t open_passed = 0, open_violates = 0, open_crashed = 0, open_not_there = 0;
  std::string version;  // the plug-in's API
  std::vector<CaseRow> rows;
};

// Runs every case in a process of its own and prints a table by group. Errors: a backend that is no
// plug-in, one that cannot be loaded, a filter that no case has.
absl::StatusOr<ProtocolTotals> RunProtocol(const ProtocolOptions& options);

}  // namespace assay
