// The schema of the result store, its migrations, and its rows.
#include "reports/store.h"

#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "reports/sqlite.h"
#include "reports/version.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

struct Migration {
  int version;
  const char* description;
  const char* sql;
};

// Append only: a file that was made by an older Assay gets the rows it lacks, in order.
constexpr Migration kMigrations[] = {
    {1, "runs, cases, buckets, findings, benchmarks", R"sql(
CREATE TABLE runs(
  id INTEGER PRIMARY KEY, verb TEXT NOT NULL, backend TEXT NOT NULL, command TEXT NOT NULL,
  started_ms INTEGER NOT NULL, seconds REAL NOT NULL, machine TEXT NOT NULL, cpu TEXT NOT NULL,
  cores INTEGER NOT NULL, version TEXT NOT NULL, commit_id TEXT NOT NULL, summary TEXT NOT NULL);
CREATE INDEX runs_by_start ON runs(started_ms);
CREATE TABLE cases(
  id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  name TEXT NOT NULL, subject TEXT NOT NULL, status TEXT NOT NULL, detail TEXT NOT NULL,
  elements INTEGER NOT NULL, failed INTEGER NOT NULL, inconclusive INTEGER NOT NULL,
  forced INTEGER NOT NULL, bound_used REAL NOT NULL, compile_seconds REAL NOT NULL,
  run_seconds REAL NOT NULL);
CREATE INDEX cases_by_run ON cases(run_id);
CREATE INDEX cases_by_name ON cases(name, subject);
CREATE TABLE buckets(
  id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
  rule TEXT NOT NULL, first_run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE);
CREATE TABLE findings(
  id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  bucket_id INTEGER NOT NULL REFERENCES buckets(id) ON DELETE CASCADE,
  title TEXT NOT NULL, kind TEXT NOT NULL, page TEXT NOT NULL,
  case_index INTEGER NOT NULL, instructions INTEGER NOT NULL);
CREATE INDEX findings_by_run ON findings(run_id);
CREATE TABLE benchmarks(
  id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  name TEXT NOT NULL, metric TEXT NOT NULL, subject TEXT NOT NULL, value REAL NOT NULL,
  lower REAL NOT NULL, upper REAL NOT NULL, samples INTEGER NOT NULL);
CREATE INDEX benchmarks_by_name ON benchmarks(name, metric, subject);
)sql"},
    {2, "who the backend was", R"sql(
ALTER TABLE runs ADD COLUMN backend_version TEXT NOT NULL DEFAULT '';
)sql"},
    {3, "which module a case is, and on which inputs", R"sql(
ALTER TABLE cases ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE cases ADD COLUMN inputs TEXT NOT NULL DEFAULT '';
)sql"},
    {4, "series of performance", R"sql(
CREATE TABLE texts(hash TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE points(
  id INTEGER PRIMARY KEY, workload TEXT NOT NULL, subject TEXT NOT NULL, machine TEXT NOT NULL,
  reference TEXT NOT NULL, version TEXT NOT NULL, commit_id TEXT NOT NULL, flags TEXT NOT NULL,
  taken_ms INTEGER NOT NULL);
CREATE INDEX points_by_series ON points(workload, subject, machine, reference, taken_ms);
CREATE TABLE measures(
  point_id INTEGER NOT NULL REFERENCES points(id) ON DELETE CASCADE, name TEXT NOT NULL,
  value REAL NOT NULL, PRIMARY KEY(point_id, name)) WITHOUT ROWID;
CREATE TABLE made(
  point_id INTEGER NOT NULL REFERENCES points(id) ON DELETE CASCADE, kind TEXT NOT NULL,
  hash TEXT NOT NULL, PRIMARY KEY(point_id, kind)) WITHOUT ROWID;
)sql"},
};

absl::Status AddCases(sqlite3* database, int64_t run, const std::vector<CaseRow>& rows) {
  Statement insert(database, "INSERT INTO cases VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  for (const CaseRow& row : rows) {
    ASSAY_RETURN_IF_ERROR(insert.Bind(run)
                              .Bind(row.name)
                              .Bind(row.subject)
                              .Bind(row.status)
                              .Bind(row.detail)
                              .Bind(row.elements)
                              .Bind(row.failed)
                              .Bind(row.inconclusive)
                              .Bind(row.forced)
                              .Bind(row.bound_used)
                              .Bind(row.compile_seconds)
                              .Bind(row.run_seconds)
                              .Bind(row.source)
                              .Bind(row.inputs)
                              .Run());
  }
  return insert.status();
}

absl::Status AddFindings(sqlite3* database, int64_t run, const std::vector<FindingRow>& rows) {
  Statement bucket(database,
                   "INSERT INTO buckets VALUES(NULL,?,?,?,?) ON CONFLICT(fingerprint) DO NOTHING");
  Statement finding(database,
                    "INSERT INTO findings VALUES(NULL,?,"
                    "(SELECT id FROM buckets WHERE fingerprint=?),?,?,?,?,?)");
  for (const FindingRow& row : rows) {
    ASSAY_RETURN_IF_ERROR(
        bucket.Bind(row.fingerprint).Bind(row.title).Bind(row.rule).Bind(run).Run());
    ASSAY_RETURN_IF_ERROR(finding.Bind(run)
                              .Bind(row.fingerprint)
                              .Bind(row.title)
                              .Bind(row.kind)
                              .Bind(row.page)
                              .Bind(row.case_index)
                              .Bind(row.instructions)
                              .Run());
  }
  return absl::OkStatus();
}

absl::Status AddBenchmarks(sqlite3* database, int64_t run, const std::vector<BenchmarkRow>& rows) {
  Statement insert(database, "INSERT INTO benchmarks VALUES(NULL,?,?,?,?,?,?,?,?)");
  for (const BenchmarkRow& row : rows) {
    ASSAY_RETURN_IF_ERROR(insert.Bind(run)
                              .Bind(row.name)
                              .Bind(row.metric)
                              .Bind(row.subject)
                              .Bind(row.value)
                              .Bind(row.lower)
                              .Bind(row.upper)
                              .Bind(row.samples)
                              .Run());
  }
  return insert.status();
}

// The longest wait for another process that has the store open.
constexpr std::chrono::milliseconds kPatience{20000};

// SQLite does not wait for others where a file changes its journal mode, whatever the timeout: two
// that make the same store at once would be told that it is locked.
absl::Status EnterWriteAheadLog(sqlite3* database) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    absl::Status status = Execute(database, "PRAGMA journal_mode=WAL;");
    const int code = sqlite3_errcode(database) & 0xff;
    if (status.ok() || (code != SQLITE_BUSY && code != SQLITE_LOCKED) ||
        std::chrono::steady_clock::now() > deadline) {
      return status;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::string CpuName() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    size_t colon = line.find(':');
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(std::min(line.size(), colon + 2));
    }
  }
  return "unknown";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& path) {
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  // With a pipe, nobody knows how long the library would wait.
  const std::filesystem::file_status there = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    return absl::InvalidArgumentError(
        StrCat(path, " is no regular file; name another one with --db, or none with --no-db"));
  }
  sqlite3* database = nullptr;
  int code =
      sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  std::unique_ptr<Store> store(new Store(database));
  if (code != SQLITE_OK) return SqliteError(database, StrCat("cannot open ", path));
  sqlite3_busy_timeout(database, kPatience.count());
  absl::Status status = EnterWriteAheadLog(database);
  if (status.ok()) status = Execute(database, "PRAGMA foreign_keys=ON;");
  if (status.ok()) status = store->Migrate();
  if (status.ok()) return store;
  const std::string message(status.message());
  const bool is_named = message.find(path) != std::string::npos;
  return absl::Status(status.code(), StrCat(is_named ? "" : path, is_named ? "" : ": ", message,
                                            "; name another file with --db, or none with --no-db"));
}

Store::~Store() { sqlite3_close(database_); }

absl::Status Store::Migrate() {
  Transaction transaction(database_);
  ASSAY_RETURN_IF_ERROR(transaction.status());
  {
    // Somebody else's database is left as it is.
    Statement query(database_,
                    "SELECT COUNT(*), COALESCE(SUM(name = 'schema_migrations'), 0) "
                    "FROM sqlite_master WHERE type = 'table'");
    const bool is_read = query.Step();
    ASSAY_RETURN_IF_ERROR(query.status());
    if (is_read && query.Integer(0) > 0 && query.Integer(1) == 0) {
      return absl::FailedPreconditionError("the database is no result store of Assay");
    }
  }
  ASSAY_RETURN_IF_ERROR(Execute(database_,
                                "CREATE TABLE IF NOT EXISTS schema_migrations("
                                "version INTEGER PRIMARY KEY, description TEXT NOT NULL, "
                                "applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)"));
  int64_t have = 0;
  {
    Statement query(database_, "SELECT COALESCE(MAX(version), 0) FROM schema_migrations");
    if (query.Step()) have = query.Integer(0);
    ASSAY_RETURN_IF_ERROR(query.status());
  }
  if (have > kSchemaVersion) {
    return absl::FailedPreconditionError(StrCat("the result store has schema ", have,
                                                ", this program knows ", kSchemaVersion,
                                                "; use a newer assay"));
  }
  for (const Migration& migration : kMigrations) {
    if (migration.version <= have) continue;
    ASSAY_RETURN_IF_ERROR(Execute(database_, migration.sql));
    Statement note(database_, "INSERT INTO schema_migrations(version, description) VALUES(?,?)");
    ASSAY_RETURN_IF_ERROR(note.Bind(int64_t{migration.version}).Bind(migration.description).Run());
  }
  return transaction.Commit();
}

absl::StatusOr<int64_t> Store::Add(const RunRow& run) {
  Transaction transaction(database_);
  ASSAY_RETURN_IF_ERROR(transaction.status());
  Statement insert(database_, "INSERT INTO runs VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?)");
  ASSAY_RETURN_IF_ERROR(insert.Bind(run.verb)
                            .Bind(run.backend)
                            .Bind(run.command)
                            .Bind(run.started_ms)
                            .Bind(run.seconds)
                            .Bind(run.machine)
                            .Bind(run.cpu)
                            .Bind(run.cores)
                            .Bind(run.version)
                            .Bind(run.commit)
                            .Bind(run.summary)
                            .Bind(run.backend_version)
                            .Run());
  int64_t id = sqlite3_last_insert_rowid(database_);
  ASSAY_RETURN_IF_ERROR(AddCases(database_, id, run.cases));
  ASSAY_RETURN_IF_ERROR(AddFindings(database_, id, run.findings));
  ASSAY_RETURN_IF_ERROR(AddBenchmarks(database_, id, run.benchmarks));
  ASSAY_RETURN_IF_ERROR(transaction.Commit());
  return id;
}

RunRow BeginRun(std::string verb, std::string backend, std::string command) {
  RunRow run;
  run.verb = std::move(verb);
  run.backend = std::move(backend);
  run.command = std::move(command);
  run.started_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  utsname system{};
  if (uname(&system) == 0) run.machine = StrCat(system.nodename, " (", system.machine, ")");
  run.cpu = CpuName();
  run.cores = std::max(1u, std::thread::hardware_concurrency());
  run.version = kAssayVersion;
  run.commit = kAssayCommit;
  return run;
}

}  // namespace assay
