// Tells whether two findings that triage has put into different buckets are the same bug.
#pragma once

#include "fuzz/campaign/campaign.h"

namespace assay {

// True if what the reduced program of `large` shows is probably the bug of `small`, whose reduced
// program needs no other opcodes. Both were triaged. A pass that is to blame makes many rewrites,
// which opcodes tell apart, so there only a program that was not reduced to the end is taken for
// another's; and so is what an import changes when the rest only moves elements. Where code
// generation is to blame the opcodes are the bug: more of them, a crash instead of a wrong value,
// minimum instead of maximum make no other one.
bool IsDuplicate(const CampaignFinding& large, const CampaignFinding& small);

// How many opcodes the reduced program has.
size_t OpcodeCount(const CampaignFinding& finding);

}  // namespace assay
