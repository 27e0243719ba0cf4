// The oracle, the backends and the triage of campaigns that verbs start.
#include "tools/assay/verbs/campaign_tools.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
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

std::string InterpreterOf(const std::string& backend, const std::string& python) {
  const size_t colon = backend.find(':');
  if (colon == backend.npos) return python;
  for (const std::string& option :
       std::vector<std::string>(absl::StrSplit(backend.substr(colon + 1), ','))) {
    constexpr std::string_view kPython = "python=";
    if (option.starts_with(kPython)) return option.substr(kPython.size());
  }
  return python;
}

}  // namespace assay
