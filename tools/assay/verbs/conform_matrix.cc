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
  LevelClaims levels;
  int64_t told = 0, not_for_mode = 0, beyond_level = 0;
  std::vector<CaseRow> rows;

  void Add(const MatrixCell& cell, ConformanceLevel level, std::string_view status) {
    levels.Add(level, cell.Name(), status);
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
  file << "\n\n## Levels\n\n" << tally.levels.MarkdownTable();
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
  Print(tally.levels.TextTable());
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

void Tell(const MatrixOptions& options, const MatrixCell& cell, ConformanceLevel level,
          const Outcome& outcome, const std::string& excuse, Tally& tally) {
  if (options.json) {
    nlohmann::json line = {{"type", "cell"},
                           {"name", cell.Name()},
                           {"op", std::string(Name(cell.opcode()))},
                           {"element_type", std::string(Name(cell.pattern.type))},
                           {"mode", std::string(Name(cell.mode))},
                           {"level", static_cast<int>(level)},
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

absl::StatusOr<const Profile*> ProfileOfMatrix(const std::string& name,
                                               const BackendDescription& backend) {
  if (!name.empty()) return Profile::Find(name);
  return backend.profile != nullptr ? backend.profile : &Profile::Strict();
}

MatrixTotals TotalsOf(Tally tally, int64_t cells) {
  const auto count = [&tally](std::string_view status) { return CountOf(tally.all, status); };
  MatrixTotals totals;
  totals.passed = count("passed");
  totals.failed = count("failed");
  totals.inconclusive = count("inconclusive");
  totals.unsupported = count("unsupported");
  totals.rejected = count("rejected");
  totals.crashed = count("crashed");
  totals.timed_out = count("timed out");
  totals.waived = count("waived");
  totals.not_for_mode = tally.not_for_mode;
  totals.beyond_level = tally.beyond_level;
  totals.not_run =
      cells - static_cast<int64_t>(tally.rows.size()) - tally.not_for_mode - tally.beyond_level;
  totals.levels = tally.levels;
  totals.cases = std::move(tally.rows);
  return totals;
}

}  // namespace

absl::StatusOr<MatrixTotals> RunMatrix(const MatrixOptions& options, Backend& backend,
                                       KnownCases& known) {
  ASSAY_ASSIGN_OR_RETURN(const MatrixTier tier, MatrixTierOf(options.tier));
  ConformanceLevel highest = ConformanceLevels().back().level;
  if (!options.level.empty()) {
    ASSAY_ASSIGN_OR_RETURN(highest, ConformanceLevelOf(options.level));
  }
  std::vector<MatrixCell> cells = MatrixCells(tier, options.shard_index, options.shard_count);
  std::erase_if(cells, [&](const MatrixCell& cell) {
    return cell.Name().find(options.filter) == std::string::npos;
  });
  if (cells.empty())
    return absl::NotFoundError(StrCat("no cell's name has '", options.filter, "' in it"));
  const BackendDescription& description = backend.Describe();
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  ASSAY_ASSIGN_OR_RETURN(const Profile* profile, ProfileOfMatrix(options.profile, description));
  const CheckSubject subject{*oracle, backend, *profile, {}, options.limits};
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
    const ConformanceLevel level = LevelOf(*built->module);
    if (level > highest) {
      ++tally.beyond_level;
      continue;
    }
    const CheckResult result = CheckIsolated(subject, CheckCase::Of(*built->module, built->inputs));
    if (InterruptRequested()) break;
    const std::string excuse = known.Excuse(cell.Name(), StatusWord(result.outcome.kind));
    tally.Add(cell, level, excuse.empty() ? StatusWord(result.outcome.kind) : "waived");
    tally.rows.push_back(RowOf(cell, options.backend, result, excuse));
    progress.Clear();
    Tell(options, cell, level, result.outcome, excuse, tally);
    if (!options.cases.empty() && IsBad(result.outcome))
      ASSAY_RETURN_IF_ERROR(WriteCase(options.cases, cell, *built));
  }
  progress.Clear();
  if (!options.page.empty()) ASSAY_RETURN_IF_ERROR(WritePage(options, description, tally));
  if (!options.json) {
    if (tally.told > kMostTold)
      Print(StrCat(Grouped(tally.told - kMostTold), " more that failed (--json tells all)"));
    PrintTally(options, tally);
  }
  MatrixTotals totals = TotalsOf(std::move(tally), static_cast<int64_t>(cells.size()));
  totals.profile = profile->name();
  return totals;
}

nlohmann::json SummaryOf(const MatrixOptions& options, const MatrixTotals& totals) {
  return {{"type", "summary"},
          {"verb", "conform"},
          {"suite", "matrix"},
          {"tier", options.tier},
          {"filter", options.filter},
          {"level", options.level},
          {"profile", totals.profile},
          {"levels", totals.levels.ToJson()},
          {"holds", totals.levels.held()},
          {"backend", options.backend},
          {"passed", totals.passed},
          {"failed", totals.failed},
          {"inconclusive", totals.inconclusive},
          {"unsupported", totals.unsupported},
          {"rejected", totals.rejected},
          {"crashed", totals.crashed},
          {"timed out", totals.timed_out},
          {"waived", totals.waived},
          {"not for their mode", totals.not_for_mode},
          {"beyond the level", totals.beyond_level},
          {"not_run", totals.not_run}};
}

void PrintTotals(const MatrixOptions& options, const MatrixTotals& totals, double seconds) {
  Print(StrCat(Grouped(totals.passed), " passed, ", Grouped(totals.failed), " failed, ",
               Grouped(totals.inconclusive), " inconclusive, ", Grouped(totals.unsupported),
               " unsupported, ", Grouped(totals.rejected), " rejected, ", Grouped(totals.crashed),
               " crashed, ", Grouped(totals.timed_out), " timed out",
               totals.waived > 0 ? StrCat(", ", totals.waived, " waived") : "", " in ",
               Grouped(static_cast<int64_t>(seconds)), " s; ", Grouped(totals.not_for_mode),
               " programs have no such mode"));
  // Whoever left cells out claims nothing.
  const bool is_part = totals.not_run > 0 || options.shard_count > 1 || !options.filter.empty();
  Print(StrCat("tier ", options.tier, is_part ? ", of which a part was run" : "", ": ",
               totals.levels.Sentence(totals.profile)));
}

bool IsHeld(const MatrixOptions& options, const MatrixTotals& totals) {
  if (options.level.empty())
    return totals.failed + totals.rejected + totals.crashed + totals.timed_out == 0;
  const absl::StatusOr<ConformanceLevel> asked = ConformanceLevelOf(options.level);
  for (const LevelInfo& info : ConformanceLevels())
    if (asked.ok() && info.level <= *asked && totals.levels.counts(info.level).against() > 0)
      return false;
  return asked.ok() && totals.not_run == 0;
}

}  // namespace assay
