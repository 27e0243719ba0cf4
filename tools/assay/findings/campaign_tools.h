// The parts of other rooms that a campaign needs: oracle, backends by name, triage.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/triage/known.h"

namespace assay {

// Bug pages go to OUT/bugs. Without triage, findings are counted and bucketed only.
CampaignTools MakeCampaignTools(const std::string& out, const std::string& python, bool triage);

// Reads what --known names: a file of known bugs (docs/json.md), or a ledger of causes, of which
// each that lives is known by its bucket and has its name for a reason.
absl::StatusOr<std::vector<KnownBug>> KnownBugsOf(const std::string& path);

}  // namespace assay
