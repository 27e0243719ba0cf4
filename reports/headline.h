// The sentence at the top of the page: what is wrong, with whom, and since when.
#pragma once

#include <string>
#include <vector>

#include "reports/store.h"

namespace assay {

// `shown`: the newest run of each kind. `all`: the runs of the store, newest first; they tell how
// long a case has been failing, or a bug been known. Plain text.
std::string Headline(const std::vector<const RunRow*>& shown, const std::vector<RunRow>& all);

}  // namespace assay
