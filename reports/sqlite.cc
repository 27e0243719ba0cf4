// Statements and errors of SQLite as values.
#include "reports/sqlite.h"

#include "spec/base/strings.h"

namespace assay {

absl::Status SqliteError(sqlite3* database, std::string_view what) {
  return absl::UnavailableError(StrCat("result store: ", what, ": ", sqlite3_errmsg(database)));
}

absl::Status Execute(sqlite3* database, const std::string& sql) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) {
    return absl::OkStatus();
  }
  return SqliteError(database, sql.substr(0, 60));
}

Statement::Statement(sqlite3* database, std::string_view sql) : database_(database) {
  if (sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement_,
                         nullptr) != SQLITE_OK) {
    status_ = SqliteError(database, sql.substr(0, 60));
  }
}

Statement& Statement::Bind(std::string_view text) {
  sqlite3_bind_text(statement_, next_++, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::Bind(int64_t value) {
  sqlite3_bind_int64(statement_, next_++, value);
  return *this;
}

Statement& Statement::Bind(double value) {
  sqlite3_bind_double(statement_, next_++, value);
  return *this;
}

bool Statement::Step() {
  if (!status_.ok()) return false;
  int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) status_ = SqliteError(database_, "step");
  return false;
}

absl::Status Statement::Run() {
  while (Step()) {
  }
  sqlite3_reset(statement_);
  next_ = 1;
  return status_;
}

std::string Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return "";
  return std::string(reinterpret_cast<const char*>(text),
                     static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}

}  // namespace assay
