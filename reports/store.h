// The result store: one SQLite file that every verb appends its run to at the end, and that pages
// are made from. Safe for several writing processes (write-ahead log, one transaction per run);
// schema changes are numbered migrations and are applied when a file is opened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

struct sqlite3;

namespace assay {

// One judged answer, or one golden.
struct CaseRow {
  std::string name;     // of the module or golden
  std::string subject;  // "cpu", "stored"; "" when the case ended before anything was judged
  // passed, failed, inconclusive, nothing to judge, unsupported, crashed, unreadable
  std::string status;
  std::string detail;
  int64_t elements = 0, failed = 0, inconclusive = 0, forced = 0;
  double bound_used = 0;
  double compile_seconds = 0, run_seconds = 0;
  // The place of the module, and the inputs on which it was judged: kRecorded, or "drawn from seed
  // 1"; "" where there is only one such case, and in files of older versions.
  std::string source, inputs;
  static constexpr char kRecorded[] = "recorded";
};

struct FindingRow {
  std::string fingerprint;  // of the bucket: equal for findings that are the same bug
  std::string title;
  std::string kind;  // wrong value, compile crash, ...
  std::string rule;  // blamed decision; "" when none
  std::string page;  // folder of the bug page
  int64_t case_index = -1;
  int64_t instructions = 0;  // of the reduced program
};

// One measured quantity with its 95 % confidence interval.
struct BenchmarkRow {
  std::string name;     // of the workload
  std::string metric;   // run_seconds, compile_seconds, run_speedup, compile_speedup, ...
  std::string subject;  // backend; for speed-ups "peer/backend"
  double value = 0, lower = 0, upper = 0;
  int64_t samples = 0;
};

struct RunRow {
  int64_t id = 0;    // given by the store
  std::string verb;  // check, fuzz, conform, bench, defects
  std::string backend;
  std::string backend_version;  // as the backend says who it is; "" in files of older versions
  std::string command;          // as typed
  int64_t started_ms = 0;       // since 1970, UTC
  double seconds = 0;
  std::string machine, cpu;
  int64_t cores = 0;
  std::string version, commit;  // of Assay
  std::string summary;          // the verb's last --json line (docs/json.md)
  std::vector<CaseRow> cases;
  std::vector<FindingRow> findings;
  std::vector<BenchmarkRow> benchmarks;
};

class Store {
 public:
  static constexpr int kSchemaVersion = 3;

  // Creates the file and its folder when missing. A file of a newer schema is an error that names
  // both versions.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& path);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // All of the run or nothing. Returns its id.
  absl::StatusOr<int64_t> Add(const RunRow& run);

  // The newest `limit` runs, newest first, complete.
  absl::StatusOr<std::vector<RunRow>> Latest(int64_t limit);
  // The number of findings in each bucket over all runs: fingerprint -> findings.
  absl::StatusOr<std::vector<std::pair<std::string, int64_t>>> BucketCounts();

 private:
  explicit Store(sqlite3* database) : database_(database) {}
  absl::Status Migrate();

  sqlite3* database_;
};

// A run with verb, command, machine, version and start time filled in.
RunRow BeginRun(std::string verb, std::string backend, std::string command);

}  // namespace assay
