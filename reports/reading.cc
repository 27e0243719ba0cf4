// Reads runs out of the result store.
#include "reports/sqlite.h"
#include "reports/store.h"
#include "spec/base/status_macros.h"

namespace assay {
namespace {

absl::Status LoadCases(sqlite3* database, RunRow& run) {
  Statement cases(database,
                  "SELECT name, subject, status, detail, elements, failed, inconclusive, forced, "
                  "bound_used, compile_seconds, run_seconds, source, inputs FROM cases WHERE "
                  "run_id=? ORDER BY id");
  cases.Bind(run.id);
  while (cases.Step()) {
    CaseRow row;
    row.name = cases.Text(0);
    row.subject = cases.Text(1);
    row.status = cases.Text(2);
    row.detail = cases.Text(3);
    row.elements = cases.Integer(4);
    row.failed = cases.Integer(5);
    row.inconclusive = cases.Integer(6);
    row.forced = cases.Integer(7);
    row.bound_used = cases.Real(8);
    row.compile_seconds = cases.Real(9);
    row.run_seconds = cases.Real(10);
    row.source = cases.Text(11);
    row.inputs = cases.Text(12);
    run.cases.push_back(std::move(row));
  }
  return cases.status();
}

absl::Status LoadFindings(sqlite3* database, RunRow& run) {
  Statement findings(database,
                     "SELECT b.fingerprint, f.title, f.kind, b.rule, f.page, f.case_index, "
                     "f.instructions FROM findings f JOIN buckets b ON b.id = f.bucket_id "
                     "WHERE f.run_id=? ORDER BY f.id");
  findings.Bind(run.id);
  while (findings.Step()) {
    run.findings.push_back({findings.Text(0), findings.Text(1), findings.Text(2), findings.Text(3),
                            findings.Text(4), findings.Integer(5), findings.Integer(6)});
  }
  return findings.status();
}

absl::Status LoadBenchmarks(sqlite3* database, RunRow& run) {
  Statement benchmarks(database,
                       "SELECT name, metric, subject, value, lower, upper, samples "
                       "FROM benchmarks WHERE run_id=? ORDER BY id");
  benchmarks.Bind(run.id);
  while (benchmarks.Step()) {
    run.benchmarks.push_back({benchmarks.Text(0), benchmarks.Text(1), benchmarks.Text(2),
                              benchmarks.Real(3), benchmarks.Real(4), benchmarks.Real(5),
                              benchmarks.Integer(6)});
  }
  return benchmarks.status();
}

}  // namespace

absl::StatusOr<std::vector<RunRow>> Store::Headers(int64_t limit) {
  std::vector<RunRow> runs;
  Statement query(
      database_,
      "SELECT id, verb, backend, command, started_ms, seconds, machine, cpu, cores, "
      "version, commit_id, summary, backend_version FROM runs ORDER BY id DESC LIMIT ?");
  query.Bind(limit);
  while (query.Step()) {
    RunRow run;
    run.id = query.Integer(0);
    run.verb = query.Text(1);
    run.backend = query.Text(2);
    run.command = query.Text(3);
    run.started_ms = query.Integer(4);
    run.seconds = query.Real(5);
    run.machine = query.Text(6);
    run.cpu = query.Text(7);
    run.cores = query.Integer(8);
    run.version = query.Text(9);
    run.commit = query.Text(10);
    run.summary = query.Text(11);
    run.backend_version = query.Text(12);
    runs.push_back(std::move(run));
  }
  ASSAY_RETURN_IF_ERROR(query.status());
  return runs;
}

absl::Status Store::Fill(RunRow& run) {
  ASSAY_RETURN_IF_ERROR(LoadCases(database_, run));
  ASSAY_RETURN_IF_ERROR(LoadFindings(database_, run));
  return LoadBenchmarks(database_, run);
}

absl::StatusOr<std::vector<RunRow>> Store::Latest(int64_t limit) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<RunRow> runs, Headers(limit));
  for (RunRow& run : runs) ASSAY_RETURN_IF_ERROR(Fill(run));
  return runs;
}

absl::StatusOr<std::vector<std::pair<std::string, int64_t>>> Store::BucketCounts() {
  std::vector<std::pair<std::string, int64_t>> counts;
  Statement query(database_,
                  "SELECT b.fingerprint, COUNT(*) FROM findings f JOIN buckets b "
                  "ON b.id = f.bucket_id GROUP BY b.id ORDER BY b.id");
  while (query.Step()) counts.emplace_back(query.Text(0), query.Integer(1));
  ASSAY_RETURN_IF_ERROR(query.status());
  return counts;
}

}  // namespace assay
