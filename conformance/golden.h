// Goldens: worked examples of the documents as data (conformance/goldens/README.md has the form).
// They are judged without the oracle, so they check it as they check any backend.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/backend/backend.h"
#include "spec/backend/outcome.h"
#include "spec/ir/module.h"
#include "spec/types/literal.h"

namespace assay {

enum class GoldenComparison : uint8_t {
  kBits,   // every bit
  kExact,  // every bit, but any NaN for a NaN
  kUlp,    // at most `ulps` apart; special values exact
};

struct GoldenCase {
  std::string file;  // of the suite
  int64_t line = 0;  // where the case begins
  std::string name;
  std::vector<std::string> ops;  // that it is about
  std::string citation;
  std::vector<std::string> checklist;  // rows of the documents' checklist, for the coverage table
  GoldenComparison comparison = GoldenComparison::kExact;
  int64_t ulps = 0;
  std::shared_ptr<Module> module;
  DeviceAssignment devices;
  struct Row {
    std::vector<Literal> inputs;    // per device (replica major), then per parameter
    std::vector<Literal> expected;  // per device, then per leaf of the result
    // Per device, in order; empty when the case has none.
    std::vector<std::vector<Literal>> infeed, outfeed;
    std::string error;  // not "": the run ends with an error that says this
  };
  std::vector<Row> rows;
};

// Reads a suite file. Errors name file and line.
absl::StatusOr<std::vector<GoldenCase>> ParseGoldens(std::string_view file, std::string_view text);

// The goldens of the documents, built into the program.
absl::StatusOr<std::vector<GoldenCase>> DocumentGoldens();
// Reads the goldens in the files of a folder, sorted by name.
absl::StatusOr<std::vector<GoldenCase>> GoldensOfFolder(const std::string& folder);

// "" when `got` is what the case expects, otherwise what differs: leaf, element, expected, got.
std::string CompareGolden(const GoldenCase& golden, const GoldenCase::Row& row, const Literal& got);

struct GoldenResult {
  std::string name;
  Outcome outcome;         // passed, wrong (with row and citation), or how the backend ended
  std::string known = {};  // why a failure of it is waived; "" if nobody knows of it
};
// Compiles once and runs every row. Phases are noted in `note`, so that a caller can say where a
// child process died.
GoldenResult RunGolden(const GoldenCase& golden, Backend& backend, const CompileOptions& options,
                       std::atomic<Phase>* note = nullptr);
// Runs a golden in a child process, on the backend that it makes there. The calling process must
// be single-threaded.
GoldenResult RunGoldenIsolated(
    const GoldenCase& golden,
    const std::function<absl::StatusOr<std::unique_ptr<Backend>>()>& make_backend,
    const CompileOptions& options);

}  // namespace assay
