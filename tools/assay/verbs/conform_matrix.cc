// Judges cells and counts by op and element type.
#include "tools/assay/verbs/conform_matrix.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "absl/strings/str_replace.h"
#include "fuzz/matrix/matrix.h"
#include "nlohmann/json.hpp"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/check.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"
#include "spec/process/interrupt.h"
#include "spec/text/writer.h"
#include "spec/types/npz.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"

namespace assay {
namespace {

// Failures that are told with their words; the rest is counted.
constexpr int64_t kMostTold = 20;

using Counts = std::map<std::string, int64_t, std::less<>>;  // by status word

struct Tally {
  std::map<std::string, std::map<std::string, Counts>> cells;  // op, element type
  std::map<std::string, Counts> ops;
  Counts all;
  int64_t told = 0, not_for_mode = 0;
  std::vector<CaseRow> rows;

  void Add(const MatrixCell& cell, std::string_view status) {
    const std::string op(Name(cell.opcode())), type(Name(cell.pattern.type));
    for (Counts* counts : {&cells[op][type], &ops[op], &all}) ++(*counts)[std::string(status)];
  }
};

int64_t CountOf(const Counts& counts, std::string_view status) {
  const auto at = counts.find(status);
  return at == counts.end() ? 0 : at->second;
}

// The letter of a cell of the page: the worst that happened there.
std::string_view Symbol(const Counts& counts) {
  constexpr std::pair<std::string_view, std::string_view> kSymbols[] = {
      {"failed", "**F**"},       {"crashed", "**C**"}, {"timed out", "**T**"},
      {"rejected", "**R**"},     {"waived", "w"},      {"inconclusive", "?"},
      {"nothing to judge", "?"}, {"passed", "ok"},     {"unsupported", "-"},
  };
  for (const auto& [status, symbol] : kSymbols)
    if (CountOf(counts, status) > 0) return symbol;
  return " ";
}

absl::Status WritePage(const MatrixOptions& options, const BackendDescription& backend,
                       const Tally& tally) {
  std::ofstream file(options.page);
  file << "# Conformance of " << backend.name << "\n\n"
       << backend.version << "; tier " << options.tier
       << ". ok: all cells passed; **F** some are wrong, **C** the compiler or the program died, "
          "**T** it took too long, **R** a legal program was refused as wrong, ? the bound leaves "
          "it open, w waived, - not supported.\n\n| op |";
  for (const ElementType type : MatrixTypes()) file << " " << Name(type) << " |";
  file << "\n| --- |";
  for (size_t i = 0; i < MatrixTypes().size(); ++i) file << " --- |";
  for (const auto& [op, by_type] : tally.cells) {
    file << "\n| " << op << " |";
    for (const ElementType type : MatrixTypes()) {
      const auto at = by_type.find(std::string(Name(type)));
      file << " " << (at == by_type.end() ? " " : Symbol(at->second)) << " |";
    }
  }
  file << "\n";
  file.flush();
  if (!file) return absl::InvalidArgumentError(StrCat("cannot write ", options.page));
  return absl::OkStatus();
}

void PrintTally(const MatrixOptions& options, const Tally& tally) {
  constexpr std::string_view kColumns[] = {"passed",   "failed",  "inconclusive", "unsupported",
                                           "rejected", "crashed", "timed out"};
  std::vector<Table::Column> columns = {{"op"}, {"types", Table::kRight}};
  for (const std::string_view column : kColumns)
    columns.push_back({std::string(column), Table::kRight});
  Table table(columns);
  size_t silent = 0;
  for (const auto& [op, counts] : tally.ops) {
    if (!options.all && CountOf(counts, "passed") > 0 && counts.size() == 1) {
      ++silent;
      continue;
    }
    std::vector<std::string> row = {op, Grouped(static_cast<int64_t>(tally.cells.at(op).size()))};
    for (const std::string_view column : kColumns) {
      const int64_t count = CountOf(counts, column);
      row.push_back(count == 0 ? "-" : Grouped(count));
    }
    table.Add(row);
  }
  Print(table.ToString());
  if (silent > 0) Print(StrCat(silent, " ops more, of which every cell passed (--all shows them)"));
}

// A cell that failed, as a module and its inputs that every verb reads: dot-f32-small-....hlo.
absl::Status WriteCase(const std::string& folder, const MatrixCell& cell, const Case& built) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string stem = StrCat(folder, "/", absl::StrReplaceAll(cell.Name(), {{"/", "-"}}));
  std::ofstream file(stem + ".hlo");
  file << WriteModule(*built.module, WriteOptions::Long());
  file.flush();
  if (!file) return absl::InvalidArgumentError(StrCat("cannot write ", stem, ".hlo"));
  return WriteInputs(stem + ".npz", built.inputs);
}

CaseRow RowOf(const MatrixCell& cell, const std::string& backend, const CheckResult& result,
              const std::string& excuse) {
  CaseRow row;
  row.name = StrCat(Name(cell.opcode()), "__", cell.Name());
  row.subject = backend;
  row.status = StatusWord(result.outcome.kind);
  if (!result.outcome.IsPass()) row.detail = result.outcome.Describe();
  if (!excuse.empty()) {
    row.status = "waived";
    row.detail = StrCat(excuse, "\n", row.detail);
  }
  const Judgement& judgement = result.outcome.judgement;
  row.elements = judgement.elements;
  row.failed = judgement.failed;
  row.inconclusive = judgement.inconclusive;
  row.forced = judgement.forced;
  row.bound_used = judgement.max_ulps_used;
  return row;
}

bool IsBad(const Outcome& outcome) {
  const std::string_view status = StatusWord(outcome.kind);
  return status == "failed" || status == "crashed" || status == "timed out" || status == "rejected";
}

void Tell(const MatrixOptions& options, const MatrixCell& cell, const Outcome& outcome,
          const std::string& excuse, Tally& tally) {
  if (options.json) {
    nlohmann::json line = {{"type", "cell"},
                           {"name", cell.Name()},
                           {"op", std::string(Name(cell.opcode()))},
                           {"element_type", std::string(Name(cell.pattern.type))},
                           {"mode", std::string(Name(cell.mode))},
                           {"status", excuse.empty() ? StatusWord(outcome.kind) : "waived"},
                           {"detail", outcome.IsPass() ? "" : outcome.Describe()}};
    if (!excuse.empty()) line["known"] = excuse;
    PrintJson(line);
    return;
  }
  const std::string_view status = StatusWord(outcome.kind);
  if (IsBad(outcome) && excuse.empty() && tally.told++ < kMostTold) {
    // A compiler that dies writes many lines; the first says of what.
    const std::string words = outcome.Describe();
    Print(StrCat(Styled(Style::kBad, std::string(status)), " ", cell.Name(), ": ",
                 words.substr(0, words.find('\n'))));
  }
}

}  // namespace

absl::StatusOr<MatrixTotals> RunMatrix(const MatrixOptions& options, Backend& backend,
                                       KnownCases& known) {
  ASSAY_ASSIGN_OR_RETURN(const MatrixTier tier, MatrixTierOf(options.tier));
  std::vector<MatrixCell> cells = MatrixCells(tier, options.shard_index, options.shard_count);
  std::erase_if(cells, [&](const MatrixCell& cell) {
    return cell.Name().find(options.filter) == std::string::npos;
  });
  if (cells.empty())
    return absl::NotFoundError(StrCat("no cell's name has '", options.filter, "' in it"));
  const BackendDescription& description = backend.Describe();
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  const Profile& profile =
      description.profile != nullptr ? *description.profile : Profile::Strict();
  const CheckSubject subject{*oracle, backend, profile, {}, options.limits};
  Tally tally;
  StepProgress progress("judging", cells.size());
  for (const MatrixCell& cell : cells) {
    if (InterruptRequested()) break;
    progress.Begin(cell.Name());
    const std::optional<Case> built = BuildCell(cell);
    if (!built.has_value()) {
      ++tally.not_for_mode;
      continue;
    }
    const CheckResult result = CheckIsolated(subject, CheckCase::Of(*built->module, built->inputs));
    if (InterruptRequested()) break;
    const std::string excuse = known.Excuse(cell.Name(), StatusWord(result.outcome.kind));
    const std::string_view status = excuse.empty() ? StatusWord(result.outcome.kind) : "waived";
    tally.Add(cell, status);
    tally.rows.push_back(RowOf(cell, options.backend, result, excuse));
    progress.Clear();
    Tell(options, cell, result.outcome, excuse, tally);
    if (!options.cases.empty() && IsBad(result.outcome))
      ASSAY_RETURN_IF_ERROR(WriteCase(options.cases, cell, *built));
  }
  progress.Clear();
  const int64_t not_run =
      static_cast<int64_t>(cells.size() - tally.rows.size()) - tally.not_for_mode;
  if (!options.page.empty()) ASSAY_RETURN_IF_ERROR(WritePage(options, description, tally));
  if (!options.json) {
    if (tally.told > kMostTold)
      Print(StrCat(Grouped(tally.told - kMostTold), " more that failed (--json tells all)"));
    PrintTally(options, tally);
  }
  const auto count = [&tally](std::string_view status) { return CountOf(tally.all, status); };
  return MatrixTotals{
      count("passed"),    count("failed"),  count("inconclusive"), count("unsupported"),
      count("rejected"),  count("crashed"), count("timed out"),    count("waived"),
      tally.not_for_mode, not_run,          std::move(tally.rows)};
}

}  // namespace assay
