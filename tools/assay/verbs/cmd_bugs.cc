// assay bugs: the distinct bugs of all campaigns in the result store, as a table or JSON.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "fuzz/backends/releases.h"
#include "fuzz/blame/requests.h"
#include "fuzz/triage/bug_page.h"
#include "fuzz/triage/known.h"
#include "nlohmann/json.hpp"
#include "reference/interpreter/interpreter.h"
#include "reports/numbers.h"
#include "reports/store.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "tools/assay/environment.h"
#include "tools/assay/findings/campaign_tools.h"
#include "tools/assay/json_line.h"
#include "tools/assay/peers.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string db = kDefaultStore;
  std::string backend;   // family; "": all
  std::string known;     // file of known bugs
  std::string versions;  // range of releases to be asked; "": none
  int64_t runs = 200;
  bool json = false;
};

// A bucket over all runs, told by the smallest program that the newest of them has for it.
struct Bug {
  FindingRow newest;
  int64_t run = -1;  // the newest one
  std::string backend_version, seed, opinion, releases, known;
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
  }
}

// True if the finding is to stand for the bug: one that triage did not look at has no instructions.
bool IsBetter(const RunRow& run, const FindingRow& finding, const Bug& bug) {
  if (bug.run < 0) return true;
  if (bug.run != run.id || finding.instructions <= 0) return false;
  return bug.newest.instructions <= 0 || finding.instructions < bug.newest.instructions;
}

std::vector<Bug> Collect(const std::vector<RunRow>& runs, const Options& options,
                         const std::vector<KnownBug>& known) {
  std::map<std::string, Bug> bugs;
  for (const RunRow& run : runs) {  // newest first
    if (run.verb != "fuzz") continue;
    if (!options.backend.empty() && run.backend.rfind(options.backend, 0) != 0) continue;
    const nlohmann::json summary = Parsed(run.summary);
    std::set<std::string> seen;
    for (const FindingRow& finding : run.findings) {
      Bug& bug = bugs[finding.fingerprint];
      if (seen.insert(finding.fingerprint).second) ++bug.campaigns;
      if (!IsBetter(run, finding, bug)) continue;
      bug.run = run.id;
      bug.newest = finding;
      bug.backend_version = run.backend_version;
      bug.seed =
          StrCat("seed ", summary.value("seed", uint64_t{0}), ", program ", finding.case_index);
      const KnownBug* as = FindKnownBug(known, finding.fingerprint, "", run.backend_version);
      if (as != nullptr) bug.known = as->reason;
    }
  }
  for (auto& entry : bugs) ReadPage(entry.second);
  std::vector<Bug> list;
  for (auto& entry : bugs) list.push_back(std::move(entry.second));
  return list;
}

// Asks each of the releases about all bugs, whose pages are still there and do not say it yet.
absl::Status AskReleases(const std::vector<InstalledPeer>& peers, std::vector<Bug>& bugs) {
  struct Asked {
    Bug* bug;
    Finding finding;
    std::unique_ptr<Module> module;
    std::vector<ReleaseState> states;
  };
  std::vector<Asked> asked;
  for (Bug& bug : bugs) {
    absl::StatusOr<Finding> finding = LoadFinding(bug.newest.page);
    if (!bug.releases.empty() || !finding.ok()) continue;
    absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(finding->module_text);
    if (module.ok()) asked.push_back({&bug, *std::move(finding), *std::move(module), {}});
  }
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  for (const Release& release : ReleasesOf(peers)) {
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend, release.open());
    for (Asked& one : asked) {
      ASSAY_ASSIGN_OR_RETURN(const Profile* profile, Profile::Find(one.finding.profile));
      const CheckSubject subject{*oracle, *backend, *profile, one.finding.options, kTriageLimits};
      one.states.push_back(
          {release.version, StateOn(subject, *one.module, one.finding.inputs, one.finding.kind)});
    }
  }
  for (Asked& one : asked) one.bug->releases = DescribeReleases(one.states);
  return absl::OkStatus();
}

absl::StatusOr<int> Run(const Options& options) {
  if (std::error_code error; !std::filesystem::exists(options.db, error)) {
    return absl::NotFoundError(
        StrCat("there is no result store ", options.db, "; assay fuzz writes one (--db)"));
  }
  std::vector<KnownBug> known;
  if (!options.known.empty()) {
    ASSAY_ASSIGN_OR_RETURN(known, KnownBugsOf(options.known));
    RemoveExpired(known, TodayUtc());
  }
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, Store::Open(options.db));
  ASSAY_ASSIGN_OR_RETURN(std::vector<RunRow> runs, store->Latest(options.runs));
  std::vector<Bug> bugs = Collect(runs, options, known);
  if (!options.versions.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<InstalledPeer> peers, PeersIn(options.versions));
    ASSAY_RETURN_IF_ERROR(AskReleases(peers, bugs));
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
  line.Add("--known", options->known, "Known bugs, as assay fuzz takes them: marks them");
  line.Add("--versions", options->versions,
           "Ask which releases fail where the page does not say: a range, or all; see assay peer");
  line.Add("--runs", options->runs, "Look at so many of the newest runs").Positive().ShowDefault();
  line.AddFlag("--json", options->json, "A JSON object per bug");
  action = [options] { return Run(*options); };
}

}  // namespace assay
