// Does a plug-in keep the protocol of the PJRT C API? Cases of one call or a few, each in a process
// of its own, so that a plug-in that dies of one is asked the next. Document: XLA's pjrt_c_api.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "fuzz/backends/pjrt/protocol/session.h"

namespace assay::pjrt {

enum class CaseLevel : uint8_t {
  kMust,  // the document says so
  kOpen,  // it does not say, or no caller may do this: an error is best, a death no violation
};

struct ProtocolCase {
  std::string name;  // "struct-size/PJRT_Buffer_Device"
  CaseLevel level = CaseLevel::kMust;
  std::string rule;  // a sentence
  std::function<absl::Status(Session&)> body;
  int devices = 1;  // that it needs
};

// All, in a fixed order.
std::vector<ProtocolCase> ProtocolCases();

enum class CaseEnd : uint8_t { kPassed, kViolates, kCrashed, kNotThere };
std::string_view Name(CaseEnd end);  // "passed", "violates", "crashed", "not there"

struct CaseResult {
  CaseEnd end = CaseEnd::kPassed;
  std::string detail;
  double seconds = 0;
};

// Loads the plug-in in a forked process and runs the case there. The caller has one thread.
CaseResult RunProtocolCase(const ProtocolCase& one, const std::string& plugin, double seconds);

// Loads the plug-in in a forked process, to know whether there is one. Errors: sick machine.
absl::StatusOr<std::string> TryPlugin(const std::string& plugin);

// A case whose body knows all: the tables of the parts.
struct CaseRow {
  const char* name;
  const char* rule;
  absl::Status (*body)(Session&);
  int devices = 1;
  CaseLevel level = CaseLevel::kMust;
};
void AddRows(absl::Span<const CaseRow> rows, std::vector<ProtocolCase>& cases);

// The parts, which suite.cc joins.
void AddAskedCases(std::vector<ProtocolCase>& cases);    // every function of the table that tells
void AddObjectCases(std::vector<ProtocolCase>& cases);   // table, errors, events, client, devices
void AddBufferCases(std::vector<ProtocolCase>& cases);   // transfers
void AddProgramCases(std::vector<ProtocolCase>& cases);  // compilation, execution, donation
void AddHostileCases(std::vector<ProtocolCase>& cases);  // what no caller may do

}  // namespace assay::pjrt
