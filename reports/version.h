// Version, commit and build of this program, for reports and --version.
#pragma once

namespace assay {

extern const char kAssayVersion[];
extern const char kAssayCommit[];  // short hash at configure time, "+" when the tree had changes

}  // namespace assay
