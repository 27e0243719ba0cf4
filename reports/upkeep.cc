// Work on a store as a whole: it is looked through, joined with another, emptied of what is old.
#include "nlohmann/json.hpp"
#include "reports/sqlite.h"
#include "reports/store.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {

absl::Status Store::Check() {
  Statement whole(database_, "PRAGMA integrity_check(20)");
  std::string wrong;
  while (whole.Step()) {
    if (whole.Text(0) != "ok") wrong += StrCat(wrong.empty() ? "" : "; ", whole.Text(0));
  }
  ASSAY_RETURN_IF_ERROR(whole.status());
  Statement owners(database_, "PRAGMA foreign_key_check");
  int64_t orphans = 0;
  while (owners.Step()) ++orphans;
  ASSAY_RETURN_IF_ERROR(owners.status());
  if (orphans > 0) wrong += StrCat(wrong.empty() ? "" : "; ", orphans, " rows without owner");
  if (wrong.empty()) return absl::OkStatus();
  return absl::DataLossError(StrCat("the result store is damaged: ", wrong,
                                    "; merge what can be read into a new one (assay db merge)"));
}

absl::StatusOr<int64_t> Store::Merge(const std::string& other_path) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Store> other, Open(other_path));
  Statement newest(other->database_, "SELECT COUNT(*) FROM runs");
  if (!newest.Step()) return newest.status();
  ASSAY_ASSIGN_OR_RETURN(std::vector<RunRow> runs, other->Latest(newest.Integer(0)));
  Statement have(database_,
                 "SELECT COUNT(*) FROM runs WHERE verb=? AND backend=? AND command=? AND "
                 "started_ms=? AND machine=? AND summary=?");
  int64_t added = 0;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    have.Bind(run->verb).Bind(run->backend).Bind(run->command).Bind(run->started_ms);
    have.Bind(run->machine).Bind(run->summary);
    const bool is_there = have.Step() && have.Integer(0) > 0;
    have.Reset();
    ASSAY_RETURN_IF_ERROR(have.status());
    if (is_there) continue;
    ASSAY_RETURN_IF_ERROR(Add(*run).status());
    ++added;
  }
  ASSAY_ASSIGN_OR_RETURN(std::vector<PointRow> points, other->Points());
  Statement known(database_,
                  "SELECT COUNT(*) FROM points WHERE workload=? AND subject=? AND machine=? AND "
                  "taken_ms=? AND commit_id=?");
  std::vector<PointRow> fresh;
  for (PointRow& point : points) {
    known.Bind(point.workload).Bind(point.subject).Bind(point.machine).Bind(point.taken_ms);
    known.Bind(point.commit);
    const bool is_there = known.Step() && known.Integer(0) > 0;
    known.Reset();
    ASSAY_RETURN_IF_ERROR(known.status());
    if (is_there) continue;
    for (const auto& [kind, hash] : point.hashes) {
      absl::StatusOr<std::string> text = other->Text(hash);
      if (text.ok()) point.texts[kind] = *std::move(text);
    }
    fresh.push_back(std::move(point));
  }
  ASSAY_RETURN_IF_ERROR(AddPoints(fresh));
  return added + static_cast<int64_t>(fresh.size());
}

absl::StatusOr<int64_t> Store::Prune(int64_t before_ms) {
  Transaction transaction(database_);
  ASSAY_RETURN_IF_ERROR(transaction.status());
  int64_t removed = 0;
  // A bucket belongs to the run that found it first: what later runs found in it stays, and so
  // does the bucket's first run.
  for (const char* sql :
       {"DELETE FROM points WHERE taken_ms < ?",
        "DELETE FROM runs WHERE started_ms < ? AND id NOT IN (SELECT first_run FROM buckets)"}) {
    Statement remove(database_, sql);
    ASSAY_RETURN_IF_ERROR(remove.Bind(before_ms).Run());
    removed += sqlite3_changes(database_);
  }
  ASSAY_RETURN_IF_ERROR(
      Execute(database_, "DELETE FROM texts WHERE hash NOT IN (SELECT hash FROM made)"));
  ASSAY_RETURN_IF_ERROR(transaction.Commit());
  return removed;
}

absl::StatusOr<std::vector<std::string>> Store::Query(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    return absl::InvalidArgumentError(StrCat("the query is wrong: ", sqlite3_errmsg(database_)));
  }
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(statement, sqlite3_finalize);
  if (statement == nullptr || sqlite3_stmt_readonly(statement) == 0 ||
      sqlite3_column_count(statement) == 0) {
    return absl::InvalidArgumentError("the query must be one SELECT; a store is changed by verbs");
  }
  std::vector<std::string> rows;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    nlohmann::json row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      nlohmann::json& cell = row[sqlite3_column_name(statement, i)];
      const auto* text = sqlite3_column_text(statement, i);
      switch (sqlite3_column_type(statement, i)) {
        case SQLITE_INTEGER:
          cell = sqlite3_column_int64(statement, i);
          break;
        case SQLITE_FLOAT:
          cell = sqlite3_column_double(statement, i);
          break;
        case SQLITE_NULL:
          break;
        default:
          cell = reinterpret_cast<const char*>(text);
      }
    }
    rows.push_back(row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  if (code != SQLITE_DONE) return SqliteError(database_, "the query");
  return rows;
}

}  // namespace assay
