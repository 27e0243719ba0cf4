// Collects the modules and hands them over.
#include "tools/assay/conform/invalid_cases.h"

#include <map>

#include "fuzz/matrix/invalid.h"
#include "nlohmann/json.hpp"
#include "reports/case_name.h"
#include "spec/backend/outcome.h"
#include "spec/base/case_file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"
#include "tools/assay/conform/rejected_files.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"

namespace assay {
namespace {

// The constraints of the documents as somebody wrote them down, one module each.
absl::Status AddByHand(std::vector<InvalidCase>& cases) {
  for (const Embedded& file : RejectedFiles()) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<CaseBlock> blocks,
                           ParseCases(file.name, file.content, {"expect"}));
    for (const CaseBlock& block : blocks) {
      InvalidCase one = {StrCat("by-hand__", block.name), block.text, nullptr};
      absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(block.text);
      if (module.ok() && Verify(**module).ok())
        return absl::InternalError(StrCat(one.name, ": nothing is wrong with it"));
      if (module.ok()) one.module = *std::move(module);
      cases.push_back(std::move(one));
    }
  }
  return absl::OkStatus();
}

// The first line of what a compiler said, and where it died by a check of its own, that check.
std::string WordsOf(std::string_view message) {
  std::string words(message.substr(0, message.find('\n')));
  const size_t check = message.find("Check failed", words.size());
  if (check != std::string_view::npos) {
    const std::string_view rest = message.substr(check);
    StrAppend(&words, "; ", rest.substr(0, rest.find('\n')));
  }
  return words;
}

CaseRow Judge(const InvalidCase& one, Backend& backend, const Limits& limits) {
  CaseRow row;
  row.name = one.name;
  if (backend.Describe().in_process || one.module == nullptr) {
    if (one.module == nullptr && !backend.Describe().in_process) {
      row.status = "unsupported";
      row.detail = "a text that no module can be made of";
      return row;
    }
    const absl::Status status =
        one.module == nullptr ? ReadModule(one.text).status() : Verify(*one.module);
    row.status = status.ok() ? "failed" : "passed";
    row.detail = status.ok() ? "no error" : std::string(status.message());
    return row;
  }
  CompileOptions options;
  options.limits = limits;
  options.limits.backtraces = false;
  const auto executable = backend.Compile(*one.module, options);
  if (executable.ok()) {
    row.status = "failed";
    row.detail = "it compiles";
    return row;
  }
  row.detail = WordsOf(ToStd(executable.status().message()));
  const ErrorClass error = ClassOf(executable.status());
  // XLA's verifier answers with an internal error; what names the check has seen the mistake.
  const bool says_why = row.detail.find("RET_CHECK") != std::string::npos ||
                        row.detail.find("hlo verifier") != std::string::npos ||
                        row.detail.find("INTERNAL") != std::string::npos;
  row.status = error == ErrorClass::kRejected || (error == ErrorClass::kCompileCrash && says_why)
                   ? "passed"
                   : std::string(StatusWord(OutcomeOf(executable.status(), Phase::kCompile).kind));
  return row;
}

void PrintByRule(const std::vector<CaseRow>& rows) {
  std::map<std::string, std::map<std::string, int64_t>> by_rule;
  for (const CaseRow& row : rows) ++by_rule[std::string(FamilyOfCase(row.name))][row.status];
  Table table({{"rule"},
               {"refused", Table::kRight},
               {"accepted", Table::kRight},
               {"unsupported", Table::kRight},
               {"crashed", Table::kRight},
               {"other", Table::kRight}});
  for (auto& [rule, counts] : by_rule) {
    const auto cell = [&counts = counts](const char* status) {
      const int64_t count = counts[status];
      return count == 0 ? std::string("-") : Grouped(count);
    };
    int64_t others = 0;
    for (const char* status : {"timed out", "out of memory", "rejected", "waived"})
      others += counts[status];
    table.Add({rule, cell("passed"), cell("failed"), cell("unsupported"), cell("crashed"),
               others == 0 ? "-" : Grouped(others)});
  }
  Print(table.ToString());
}

}  // namespace

absl::StatusOr<std::vector<InvalidCase>> InvalidCases(const std::string& filter) {
  std::vector<InvalidCase> cases;
  ASSAY_RETURN_IF_ERROR(AddByHand(cases));
  for (InvalidModule& derived : DerivedInvalidModules()) {
    const size_t slash = derived.name.find('/');
    cases.push_back({StrCat(derived.name.substr(0, slash), "__", derived.name.substr(slash + 1)),
                     "", std::move(derived.module)});
  }
  std::erase_if(cases,
                [&](const InvalidCase& one) { return one.name.find(filter) == std::string::npos; });
  if (!cases.empty()) return cases;
  return absl::NotFoundError(StrCat("no case's name has '", filter, "' in it"));
}

absl::StatusOr<std::vector<CaseRow>> RunInvalid(const InvalidOptions& options, Backend& backend,
                                                KnownCases& known) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<InvalidCase> cases, InvalidCases(options.filter));
  std::vector<CaseRow> rows;
  StepProgress progress("handing over", cases.size());
  for (const InvalidCase& one : cases) {
    if (InterruptRequested()) break;
    progress.Begin(one.name);
    rows.push_back(Judge(one, backend, options.limits));
    rows.back().subject = options.backend;
    if (const std::string why = known.Excuse(one.name, rows.back().status); !why.empty()) {
      rows.back().detail = StrCat(why, "\n", rows.back().status, ": ", rows.back().detail);
      rows.back().status = "waived";
    }
    progress.Clear();
    if (options.json) {
      PrintJson({{"type", "invalid"},
                 {"name", rows.back().name},
                 {"status", rows.back().status},
                 {"detail", rows.back().detail}});
    }
  }
  if (options.json) return rows;
  PrintByRule(rows);
  constexpr int64_t kMostTold = 40;
  int64_t told = 0;
  for (const CaseRow& row : rows) {
    const bool is_told =
        row.status != "passed" && row.status != "unsupported" && row.status != "waived";
    if (!is_told || ++told > kMostTold) continue;
    Print(StrCat(Styled(Style::kBad, row.status == "failed" ? "accepted" : row.status), " ",
                 row.name, ": ", row.detail));
  }
  if (told > kMostTold) Print(StrCat(told - kMostTold, " more (--json tells all)"));
  return rows;
}

}  // namespace assay
