// A thin layer over SQLite's C interface: statements that cannot leak, errors as values.
#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace assay {

absl::Status SqliteError(sqlite3* database, std::string_view what);
absl::Status Execute(sqlite3* database, const std::string& sql);

class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Parameters in order of the question marks.
  Statement& Bind(std::string_view text);
  Statement& Bind(int64_t value);
  Statement& Bind(double value);

  // True: a row is there. False: no (more) rows, or an error, which status() tells.
  bool Step();
  // Step to the end; then the statement may be bound again.
  absl::Status Run();
  absl::Status status() const { return status_; }
  // Ready to be bound again, whatever rows are left.
  void Reset() {
    sqlite3_reset(statement_);
    next_ = 1;
  }

  std::string Text(int column) const;
  int64_t Integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double Real(int column) const { return sqlite3_column_double(statement_, column); }

 private:
  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
  absl::Status status_;
};

// Rolls back unless told that all went well.
class Transaction {
 public:
  explicit Transaction(sqlite3* database)
      : database_(database), status_(Execute(database, "BEGIN IMMEDIATE")) {}
  ~Transaction() {
    if (status_.ok() && !committed_) (void)Execute(database_, "ROLLBACK");
  }
  const absl::Status& status() const { return status_; }
  absl::Status Commit() {
    absl::Status done = Execute(database_, "COMMIT");
    committed_ = done.ok();
    return done;
  }

 private:
  sqlite3* database_;
  absl::Status status_;
  bool committed_ = false;
};

}  // namespace assay
