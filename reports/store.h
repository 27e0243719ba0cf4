// The result store: one SQLite file that every verb appends its run to at the end, and that pages
// are made from. Safe for several writing processes (write-ahead log, one transaction per run);
// schema changes are numbered migrations and are applied when a file is opened.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
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

// One workload at one time in a series of performance: what was measured and what the compiler
// made. Points with equal workload, subject, machine and reference are one series.
struct PointRow {
  int64_t id = 0;         // given by the store
  std::string workload;   // name of the module
  std::string subject;    // backend as on the command line
  std::string machine;    // name and processor; times of two machines are never compared
  std::string reference;  // hash of the frozen executable that ran beside it; "" when none did
  std::string version, commit, flags;
  int64_t taken_ms = 0;  // since 1970, UTC
  // "ratio" (time / the reference's time), "run_seconds", "kernels", "bytes_moved", "peak_bytes",
  // "code_bytes", "instructions", "compile.STAGE", ...
  std::map<std::string, double> measures;
  // The work of the compiler, by kind: "hlo", "plan", "decisions", "passes", "code". The store
  // keeps each text once; a loaded point has only the hashes.
  std::map<std::string, std::string> texts, hashes;
};
// 32 hexadecimal digits that name a text or an executable (FNV-1a of 128 bits).
std::string HashOfContent(std::string_view bytes);

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
  static constexpr int kSchemaVersion = 4;

  // Creates the file and its folder when missing. A file of a newer schema is an error that names
  // both versions.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& path);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // All of the run or nothing. Returns its id.
  absl::StatusOr<int64_t> Add(const RunRow& run);

  // All of the points or none.
  absl::Status AddPoints(const std::vector<PointRow>& points);
  // The points of a workload ("": of all), oldest first.
  absl::StatusOr<std::vector<PointRow>> Points(const std::string& workload = "");
  // The text of this hash. NotFound: the store has none.
  absl::StatusOr<std::string> Text(const std::string& hash);
  // OK, or what is wrong with the file: damaged pages, rows whose owner is missing.
  absl::Status Check();
  // All runs and points of another store, which this one does not have yet. Returns how many.
  absl::StatusOr<int64_t> Merge(const std::string& other_path);
  // Removes runs and points older than this. Returns how many.
  absl::StatusOr<int64_t> Prune(int64_t before_ms);
  // The rows of one SELECT, a JSON object each. Nothing is changed, whatever the statement says.
  absl::StatusOr<std::vector<std::string>> Query(const std::string& sql);

  // The newest `limit` runs, newest first, complete.
  absl::StatusOr<std::vector<RunRow>> Latest(int64_t limit);
  // These have no cases, findings and benchmarks; Fill adds them to one.
  absl::StatusOr<std::vector<RunRow>> Headers(int64_t limit);
  absl::Status Fill(RunRow& run);
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
