// The sentence at the top of the page: what is wrong, with whom, and since when.
#pragma once

#include <string>
#include <vector>

#include "reports/store.h"

namespace assay {

// `latest`: what is known of each kind of run (latest.h). `all`: the runs of the store, newest
// first; they tell how long a case has been failing, or a bug been known. Plain text.
std::string Headline(const std::vector<RunRow>& latest, const std::vector<RunRow>& all);

}  // namespace assay
