// Series of performance in the store.
#include "reports/sqlite.h"
#include "reports/store.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

absl::Status AddPoint(sqlite3* database, const PointRow& point) {
  Statement insert(database, "INSERT INTO points VALUES(NULL,?,?,?,?,?,?,?,?)");
  ASSAY_RETURN_IF_ERROR(insert.Bind(point.workload)
                            .Bind(point.subject)
                            .Bind(point.machine)
                            .Bind(point.reference)
                            .Bind(point.version)
                            .Bind(point.commit)
                            .Bind(point.flags)
                            .Bind(point.taken_ms)
                            .Run());
  const int64_t id = sqlite3_last_insert_rowid(database);
  Statement measure(database, "INSERT INTO measures VALUES(?,?,?)");
  for (const auto& [name, value] : point.measures) {
    ASSAY_RETURN_IF_ERROR(measure.Bind(id).Bind(name).Bind(value).Run());
  }
  std::map<std::string, std::string> hashes = point.hashes;
  Statement text(database, "INSERT INTO texts VALUES(?,?) ON CONFLICT(hash) DO NOTHING");
  for (const auto& [kind, content] : point.texts) {
    hashes[kind] = HashOfContent(content);
    ASSAY_RETURN_IF_ERROR(text.Bind(hashes[kind]).Bind(content).Run());
  }
  Statement made(database, "INSERT INTO made VALUES(?,?,?)");
  for (const auto& [kind, hash] : hashes) {
    ASSAY_RETURN_IF_ERROR(made.Bind(id).Bind(kind).Bind(hash).Run());
  }
  return absl::OkStatus();
}

}  // namespace

std::string HashOfContent(std::string_view bytes) {
  const auto prime = (static_cast<__uint128_t>(1) << 88) | 0x13b;
  __uint128_t hash = (static_cast<__uint128_t>(0x6c62272e07bb0142u) << 64) | 0x62b821756295c58du;
  for (char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= prime;
  }
  std::string text(32, '0');
  for (size_t i = text.size(); i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

absl::Status Store::AddPoints(const std::vector<PointRow>& points) {
  Transaction transaction(database_);
  ASSAY_RETURN_IF_ERROR(transaction.status());
  for (const PointRow& point : points) ASSAY_RETURN_IF_ERROR(AddPoint(database_, point));
  return transaction.Commit();
}

absl::StatusOr<std::vector<PointRow>> Store::Points(const std::string& workload) {
  std::vector<PointRow> points;
  Statement query(database_,
                  "SELECT id, workload, subject, machine, reference, version, commit_id, flags, "
                  "taken_ms FROM points WHERE ?1 = '' OR workload = ?1 ORDER BY taken_ms, id");
  query.Bind(workload);
  Statement measures(database_, "SELECT name, value FROM measures WHERE point_id=?");
  Statement made(database_, "SELECT kind, hash FROM made WHERE point_id=?");
  while (query.Step()) {
    PointRow point;
    point.id = query.Integer(0);
    point.workload = query.Text(1);
    point.subject = query.Text(2);
    point.machine = query.Text(3);
    point.reference = query.Text(4);
    point.version = query.Text(5);
    point.commit = query.Text(6);
    point.flags = query.Text(7);
    point.taken_ms = query.Integer(8);
    measures.Bind(point.id);
    while (measures.Step()) point.measures[measures.Text(0)] = measures.Real(1);
    measures.Reset();
    made.Bind(point.id);
    while (made.Step()) point.hashes[made.Text(0)] = made.Text(1);
    made.Reset();
    points.push_back(std::move(point));
  }
  for (const Statement* statement : {&query, &measures, &made}) {
    ASSAY_RETURN_IF_ERROR(statement->status());
  }
  return points;
}

absl::StatusOr<std::string> Store::Text(const std::string& hash) {
  Statement query(database_, "SELECT content FROM texts WHERE hash=?");
  query.Bind(hash);
  if (query.Step()) return query.Text(0);
  ASSAY_RETURN_IF_ERROR(query.status());
  return absl::NotFoundError(StrCat("the result store has no text ", hash));
}

}  // namespace assay
