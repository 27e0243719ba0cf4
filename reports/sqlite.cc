// Statements and errors of SQLite as values.
#include "reports/sqlite.h"

#include "spec/base/strings.h"

namespace assay {

absl::Status SqliteError(sqlite3* database, std::string_view what) {
  const char* name = database == nullptr ? nullptr : sqlite3_db_filename(database, "main");
  const std::string text =
      StrCat("result store", name == nullptr || *name == '\0' ? "" : " ",
             name == nullptr ? "" : name, ": ", what, ": ", sqlite3_errmsg(database));
  switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(StrCat(text,
                                        "; the file is damaged: take what can be read of it into a "
                                        "new one by assay db merge"));
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return absl::ResourceExhaustedError(StrCat(
          text, "; is the disk full? What was there before is still there: make room and go on"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(StrCat(text, "; another program has it for long"));
    default:
      return absl::UnavailableError(text);
  }
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
