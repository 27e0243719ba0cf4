// The oracle, the backends and the triage of campaigns that verbs start.
#include "tools/assay/verbs/campaign_tools.h"

#include "fuzz/backends/process_backend.h"
#include "fuzz/triage/triage.h"
#include "reference/interpreter/interpreter.h"
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

}  // namespace assay
