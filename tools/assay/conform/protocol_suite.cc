// Cases, their table and their page.
#include "tools/assay/conform/protocol_suite.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "fuzz/backends/pjrt/pjrt_backend.h"
#include "fuzz/backends/pjrt/protocol/suite.h"
#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"

namespace assay {
namespace {

using pjrt::CaseEnd;
using pjrt::CaseLevel;
using pjrt::CaseResult;
using pjrt::ProtocolCase;

struct Ended {
  const ProtocolCase* one;
  CaseResult result;
};

bool IsOpen(const Ended& ended) { return ended.one->level == CaseLevel::kOpen; }
std::string GroupOf(const ProtocolCase& one) { return one.name.substr(0, one.name.find('/')); }

struct GroupCounts {
  std::map<CaseEnd, int64_t> must, open;
};
// In the order of the cases.
std::vector<std::pair<std::string, GroupCounts>> ByGroup(const std::vector<Ended>& all) {
  std::vector<std::pair<std::string, GroupCounts>> groups;
  for (const Ended& ended : all) {
    const std::string group = GroupOf(*ended.one);
    auto at = std::find_if(groups.begin(), groups.end(),
                           [&](const auto& each) { return each.first == group; });
    if (at == groups.end()) at = groups.insert(groups.end(), {group, {}});
    ++(IsOpen(ended) ? at->second.open : at->second.must)[ended.result.end];
  }
  return groups;
}

std::string CountText(const std::map<CaseEnd, int64_t>& counts, CaseEnd end) {
  const auto at = counts.find(end);
  return at == counts.end() ? "-" : Grouped(at->second);
}

constexpr CaseEnd kEnds[] = {CaseEnd::kPassed, CaseEnd::kViolates, CaseEnd::kCrashed,
                             CaseEnd::kNotThere};

void PrintGroups(const std::vector<Ended>& all) {
  std::vector<Table::Column> columns = {{"group"}};
  for (const CaseEnd end : kEnds) columns.push_back({std::string(pjrt::Name(end)), Table::kRight});
  columns.push_back({"open: passed", Table::kRight});
  columns.push_back({"no error", Table::kRight});
  columns.push_back({"died", Table::kRight});
  Table table(columns);
  for (const auto& [group, counts] : ByGroup(all)) {
    std::vector<std::string> row = {group};
    for (const CaseEnd end : kEnds) row.push_back(CountText(counts.must, end));
    for (const CaseEnd end : {CaseEnd::kPassed, CaseEnd::kViolates, CaseEnd::kCrashed})
      row.push_back(CountText(counts.open, end));
    table.Add(row);
  }
  Print(table.ToString());
}

std::string OneLine(const std::string& text) {
  constexpr size_t kMost = 160;
  std::string line = text.substr(0, text.find('\n'));
  if (line.size() > kMost) line = StrCat(line.substr(0, kMost), "...");
  return line;
}

void PrintBad(const std::vector<Ended>& all, bool every) {
  for (const Ended& ended : all) {
    const bool is_bad =
        ended.result.end == CaseEnd::kViolates || ended.result.end == CaseEnd::kCrashed;
    if (!every && (!is_bad || IsOpen(ended))) continue;
    Print(StrCat(Styled(is_bad ? Style::kBad : Style::kGood,
                        StrCat(pjrt::Name(ended.result.end), IsOpen(ended) ? " (open)" : "")),
                 " ", ended.one->name, ": ", ended.one->rule,
                 ended.result.detail.empty() ? "" : "; ", OneLine(ended.result.detail)));
  }
}

std::string Cell(const std::string& text) {
  return absl::StrReplaceAll(OneLine(text), {{"|", "\\|"}, {"<", "&lt;"}});
}

absl::Status WritePage(const ProtocolOptions& options, const std::string& version,
                       const std::vector<Ended>& all) {
  std::ofstream file(options.page);
  file << "# Protocol of " << options.backend.substr(options.backend.rfind('/') + 1) << "\n\n"
       << "Written by `assay conform --suite protocol --page`. " << version << ".\n\n"
       << "A case is *open* where the document does not say what happens, or where no caller may "
          "make the call.\n\n| group |";
  for (const char* level : {"", "open: "})
    for (const CaseEnd end : kEnds) file << " " << level << pjrt::Name(end) << " |";
  file << "\n| --- |";
  for (int i = 0; i < 8; ++i) file << " ---: |";
  for (const auto& [group, counts] : ByGroup(all)) {
    file << "\n| " << group << " |";
    for (const auto* level : {&counts.must, &counts.open})
      for (const CaseEnd end : kEnds) file << " " << CountText(*level, end) << " |";
  }
  file << "\n\n## What it gets wrong, and what it dies of\n\n| case | rule | result |\n"
          "| --- | --- | --- |\n";
  for (const Ended& ended : all) {
    if (ended.result.end != CaseEnd::kViolates && ended.result.end != CaseEnd::kCrashed) continue;
    file << "| " << ended.one->name << " | " << ended.one->rule << " | "
         << (IsOpen(ended) ? "open: " : "") << pjrt::Name(ended.result.end) << ": "
         << Cell(ended.result.detail) << " |\n";
  }
  file << "\n## All cases\n\n| case | rule | result |\n| --- | --- | --- |\n";
  for (const Ended& ended : all) {
    file << "| " << ended.one->name << " | " << ended.one->rule << " | "
         << (IsOpen(ended) ? "open: " : "") << pjrt::Name(ended.result.end) << " |\n";
  }
  file.flush();
  if (!file) return absl::InvalidArgumentError(StrCat("cannot write ", options.page));
  return absl::OkStatus();
}

// The word of the store: what is open is never a failure.
std::string StatusOf(const Ended& ended) {
  switch (ended.result.end) {
    case CaseEnd::kPassed:
      return "passed";
    case CaseEnd::kNotThere:
      return "unsupported";
    case CaseEnd::kViolates:
      return IsOpen(ended) ? "inconclusive" : "failed";
    case CaseEnd::kCrashed:
      return IsOpen(ended) ? "inconclusive" : "crashed";
  }
  return "?";
}

void Count(const Ended& ended, ProtocolTotals& totals) {
  int64_t* counts[2][4] = {
      {&totals.passed, &totals.violates, &totals.crashed, &totals.not_there},
      {&totals.open_passed, &totals.open_violates, &totals.open_crashed, &totals.open_not_there}};
  ++*counts[IsOpen(ended) ? 1 : 0][static_cast<size_t>(ended.result.end)];
}

}  // namespace

absl::StatusOr<ProtocolTotals> RunProtocol(const ProtocolOptions& options) {
  if (!absl::StartsWith(options.backend, "pjrt:")) {
    return absl::InvalidArgumentError(
        "--suite protocol is of plug-ins: --backend pjrt:./plugin.so");
  }
  ASSAY_ASSIGN_OR_RETURN(const ProcessBackendOptions parsed,
                         PjrtOptions(options.backend.substr(5), "assay"));
  const std::string& plugin = parsed.argv[2];
  ProtocolTotals totals;
  ASSAY_ASSIGN_OR_RETURN(totals.version, pjrt::TryPlugin(plugin));
  if (!options.json) Print(StrCat(options.backend, ": ", totals.version));
  std::vector<ProtocolCase> cases = pjrt::ProtocolCases();
  std::erase_if(cases, [&](const ProtocolCase& one) {
    return one.name.find(options.filter) == std::string::npos;
  });
  if (cases.empty())
    return absl::NotFoundError(StrCat("no case's name has '", options.filter, "' in it"));
  std::vector<Ended> all;
  StepProgress progress("calling", cases.size());
  for (const ProtocolCase& one : cases) {
    if (InterruptRequested()) break;
    progress.Begin(one.name);
    all.push_back({&one, pjrt::RunProtocolCase(one, plugin, options.seconds)});
    const Ended& ended = all.back();
    Count(ended, totals);
    CaseRow row;
    row.name = StrCat(GroupOf(one), "__", one.name);
    row.subject = options.backend;
    row.status = StatusOf(ended);
    row.detail = ended.result.detail;
    totals.rows.push_back(std::move(row));
    progress.Clear();
    if (options.json) {
      PrintJson({{"type", "protocol"},
                 {"name", one.name},
                 {"level", IsOpen(ended) ? "open" : "must"},
                 {"rule", one.rule},
                 {"status", std::string(pjrt::Name(ended.result.end))},
                 {"detail", ended.result.detail},
                 {"seconds", ended.result.seconds}});
    }
  }
  if (!options.json) {
    PrintGroups(all);
    PrintBad(all, options.all);
  }
  if (!options.page.empty()) ASSAY_RETURN_IF_ERROR(WritePage(options, totals.version, all));
  return totals;
}

}  // namespace assay
