// The oracle, the backends and the triage of campaigns that verbs start.
#include "tools/assay/findings/campaign_tools.h"

#include <filesystem>
#include <system_error>

#include "conformance/known/ledger.h"
#include "fuzz/backends/process_backend.h"
#include "fuzz/triage/triage.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/status_macros.h"
#include "tools/assay/environment.h"
#include "tools/assay/peers.h"

namespace assay {

CampaignTools MakeCampaignTools(const std::string& out, const std::string& python, bool triage) {
  CampaignTools tools;
  tools.make_oracle = []() -> absl::StatusOr<std::unique_ptr<Oracle>> { return MakeOracle(); };
  tools.make_backend = [python](const std::string& name) { return OpenBackend(name, python); };
  if (triage) {
    TriageOptions options;
    options.pages = out + "/bugs";
    options.python = tools.python = ChoosePython(python);
    options.releases = ReleasesOf(ListPeers());
    tools.prepare_triage = [releases = options.releases] {
      for (const Release& release : releases) release.prepare();
    };
    tools.triage = MakeTriage(std::move(options));
  }
  return tools;
}

absl::StatusOr<std::vector<KnownBug>> KnownBugsOf(const std::string& path) {
  if (std::error_code error; !std::filesystem::is_directory(path, error))
    return ReadKnownBugs(path);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Cause> causes, ReadLedger(path));
  std::vector<KnownBug> known;
  for (const Cause& cause : causes) {
    if (cause.status != CauseStatus::kLive) continue;
    known.push_back({.bucket = cause.measured.bucket,
                     .case_name = cause.name,
                     .reason = cause.name,
                     .owner = "the ledger"});
  }
  return known;
}

}  // namespace assay
