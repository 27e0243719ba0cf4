// The present state of knowledge: the newest run of each kind, with what earlier ones have told of
// cases that it did not look at.
#pragma once

#include <string>
#include <vector>

#include "reports/store.h"

namespace assay {

// Two runs with the same kind measure the same thing on the same release of the same backend.
// Modules are judged by the command's choice, so that a look at one does not hide a whole corpus.
std::string KindOf(const RunRow& run);

// True if it looked at all cases that it could have looked at. Runs of older versions say in their
// command alone that they were filtered.
bool IsWhole(const RunRow& run);

// True of an answer that is somebody's fault: failed, crashed, timed out, rejected.
bool IsBad(const CaseRow& row);

// True if the two are results of one case on the same inputs: of modules from different places that
// share a name, and of recorded and of drawn inputs, each stands for itself.
bool IsSameCase(const CaseRow& a, const CaseRow& b);

// `runs` newest first; what is returned is oldest first, one of each kind. A run that looked at
// some cases alone (a filter, an interrupt) has those of earlier runs beside its own, back to one
// that looked at all. A failure on recorded inputs stays until the case passes on recorded inputs.
std::vector<RunRow> LatestOfEachKind(const std::vector<RunRow>& runs);

}  // namespace assay
