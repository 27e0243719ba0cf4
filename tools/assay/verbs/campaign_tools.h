// The parts of other rooms that a campaign needs: oracle, backends by name, triage.
#pragma once

#include <string>

#include "fuzz/campaign/campaign.h"

namespace assay {

// Bug pages go to OUT/bugs. Without triage, findings are counted and bucketed only.
CampaignTools MakeCampaignTools(const std::string& out, const std::string& python, bool triage);

}  // namespace assay
