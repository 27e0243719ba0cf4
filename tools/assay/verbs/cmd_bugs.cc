// assay bugs: the distinct bugs of all campaigns in the result store, as a table, JSON or Markdown.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <system_error>
#include <vector>

#include "fuzz/triage/known.h"
#include "nlohmann/json.hpp"
#include "reports/numbers.h"
#include "reports/store.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string db = kDefaultStore;
  std::string backend;  // family; "": all
  std::string known;    // file of known bugs
  std::string markdown;
  int64_t runs = 200;
  bool json = false;
};

// A bucket over all runs, told by the newest finding of it.
struct Bug {
  FindingRow newest;
  std::string backend_version, seed, opinion, releases, known, program, judgement;
  int64_t campaigns = 0;
};

nlohmann::json Parsed(const std::string& text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : nlohmann::json::object();
}

// Reads the bug page beside the store, if it is still there.
void ReadPage(Bug& bug) {
  if (bug.newest.page.empty()) return;
  const std::filesystem::path folder(bug.newest.page);
  if (absl::StatusOr<std::string> text = ReadFile((folder / "finding.json").string()); text.ok()) {
    const nlohmann::json finding = Parsed(*text);
    if (finding.contains("second_opinion") && finding["second_opinion"].is_string()) {
      bug.opinion = finding["second_opinion"].get<std::string>();
    }
    if (finding.contains("releases") && finding["releases"].is_string()) {
      bug.releases = finding["releases"].get<std::string>();
    }
    if (finding.contains("judgement") && finding["judgement"].is_string()) {
      bug.judgement = finding["judgement"].get<std::string>();
    }
  }
  constexpr int64_t kMostBytes = 1 << 16;
  absl::StatusOr<std::string> program = ReadFile((folder / "repro.hlo").string(), kMostBytes);
  if (program.ok()) bug.program = *std::move(program);
}

std::vector<Bug> Collect(const std::vector<RunRow>& runs, const Options& options,
                         const std::vector<KnownBug>& known) {
  std::map<std::string, Bug> bugs;
  for (const RunRow& run : runs) {  // newest first
    if (run.verb != "fuzz") continue;
    if (!options.backend.empty() && run.backend.rfind(options.backend, 0) != 0) continue;
    const nlohmann::json summary = Parsed(run.summary);
    for (const FindingRow& finding : run.findings) {
      Bug& bug = bugs[finding.fingerprint];
      if (bug.campaigns++ > 0) continue;
      bug.newest = finding;
      bug.backend_version = run.backend_version;
      bug.seed =
          StrCat("seed ", summary.value("seed", uint64_t{0}), ", program ", finding.case_index);
      const KnownBug* as = FindKnownBug(known, finding.fingerprint, "", run.backend_version);
      if (as != nullptr) bug.known = as->reason;
      ReadPage(bug);
    }
  }
  std::vector<Bug> list;
  for (auto& entry : bugs) list.push_back(std::move(entry.second));
  return list;
}

std::string MarkdownOf(const std::vector<Bug>& bugs) {
  std::string text =
      "| # | what | kind | seen on | releases | numpy | instructions | found by |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  int64_t number = 0;
  for (const Bug& bug : bugs) {
    StrAppend(&text, "| ", ++number, " | `", bug.newest.title, "` | ", bug.newest.kind, " | ",
              bug.backend_version, " | ", bug.releases, " | ", bug.opinion, " | ",
              bug.newest.instructions, " | ", bug.seed,
              bug.known.empty() ? "" : StrCat("; known: ", bug.known), " |\n");
  }
  number = 0;
  for (const Bug& bug : bugs) {
    ++number;
    if (bug.program.empty()) continue;
    StrAppend(&text, "\n", number, ". ", bug.newest.title, "\n\n```\n", bug.program, "```\n");
    if (!bug.judgement.empty()) {
      StrAppend(&text, "\n```\n", bug.judgement, bug.judgement.back() == '\n' ? "" : "\n", "```\n");
    }
  }
  return text;
}

// The lines between which the list stands in a file that somebody has written the rest of.
constexpr char kBegin[] = "<!-- assay bugs: the list begins -->\n";
constexpr char kEnd[] = "<!-- assay bugs: the list ends -->\n";

// The list as a file of its own, or in its place in `before`.
std::string WithList(const std::string& before, const std::string& list) {
  const std::string marked = StrCat(kBegin, list, kEnd);
  const size_t begin = before.find(kBegin), end = before.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) return marked;
  return StrCat(before.substr(0, begin), marked, before.substr(end + sizeof(kEnd) - 1));
}

absl::StatusOr<int> Run(const Options& options) {
  if (std::error_code error; !std::filesystem::exists(options.db, error)) {
    return absl::NotFoundError(
        StrCat("there is no result store ", options.db, "; assay fuzz writes one (--db)"));
  }
  std::vector<KnownBug> known;
  if (!options.known.empty()) {
    ASSAY_ASSIGN_OR_RETURN(known, ReadKnownBugs(options.known));
    RemoveExpired(known, TodayUtc());
  }
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, Store::Open(options.db));
  ASSAY_ASSIGN_OR_RETURN(std::vector<RunRow> runs, store->Latest(options.runs));
  const std::vector<Bug> bugs = Collect(runs, options, known);
  if (!options.markdown.empty()) {
    std::string before;
    if (std::error_code error; std::filesystem::exists(options.markdown, error)) {
      ASSAY_ASSIGN_OR_RETURN(before, ReadFile(options.markdown));
      if (before.find(kBegin) == std::string::npos) {
        return absl::AlreadyExistsError(StrCat(options.markdown,
                                               " has no place for the list: add the lines ", kBegin,
                                               "and ", kEnd, "or name another file"));
      }
    }
    ASSAY_RETURN_IF_ERROR(WriteFile(options.markdown, WithList(before, MarkdownOf(bugs))));
    Print(StrCat("wrote ", options.markdown));
    return kExitOk;
  }
  if (options.json) {
    for (const Bug& bug : bugs) {
      PrintJson({{"bucket", bug.newest.fingerprint},
                 {"title", bug.newest.title},
                 {"kind", bug.newest.kind},
                 {"backend_version", bug.backend_version},
                 {"second_opinion", bug.opinion},
                 {"releases", bug.releases},
                 {"instructions", bug.newest.instructions},
                 {"found_by", bug.seed},
                 {"campaigns", bug.campaigns},
                 {"known", bug.known},
                 {"page", bug.newest.page}});
    }
    PrintJson({{"type", "summary"}, {"bugs", bugs.size()}});
    return kExitOk;
  }
  Table table({{"bug"}, {"kind"}, {"numpy"}, {"campaigns", Table::kRight}, {"known"}});
  for (const Bug& bug : bugs) {
    table.Add({bug.newest.title, bug.newest.kind, bug.opinion, Grouped(bug.campaigns), bug.known});
  }
  Print(table.ToString());
  Print(Count(static_cast<int64_t>(bugs.size()), "bug"));
  return kExitOk;
}

}  // namespace

void DeclareBugs(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("--db", options->db, "The result store").ShowDefault();
  line.Add("--backend", options->backend, "Only bugs of backends whose name begins so");
  line.Add("--known", options->known, "File of known bugs, as assay fuzz takes it: marks them");
  line.Add("--markdown", options->markdown,
           "Write the list with its programs to this file, or to its place in it");
  line.Add("--runs", options->runs, "Look at so many of the newest runs").Positive().ShowDefault();
  line.AddFlag("--json", options->json, "A JSON object per bug");
  action = [options] { return Run(*options); };
}

}  // namespace assay
