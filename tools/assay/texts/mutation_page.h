// The mutation score: what campaigns made of the planted defects, as lines of JSON and as the page
// docs/mutation.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "fuzz/defects/defects.h"
#include "nlohmann/json_fwd.hpp"

namespace assay {

// The result of a campaign with one defect.
struct MutationScore {
  PlantedDefect defect;
  std::string error;
  std::string backend;
  uint64_t seed = 0;
  double limit = 0;  // seconds that the campaign had
  bool killed = false;
  bool triaged = false;
  double seconds = 0;  // until the last program ended
  int64_t programs = 0;
  std::string blamed;
  bool blame_right = false;
  int64_t instructions = 0;
  int64_t bites = -1;  // of a screening: programs in which it may bite; -1: unknown
  std::string page;
};

nlohmann::json ToJson(const MutationScore& score);

// Adds the scores of a file of results, one object per line; of a defect that has two, the later
// one counts. Lines about defects that nobody knows any more are left out. InvalidArgument: a line
// is no score.
absl::Status ReadScores(std::string_view text, std::vector<MutationScore>& scores);

// Markdown: the score, in each class, the survivors, and a row for each defect.
std::string MutationPage(const std::vector<MutationScore>& scores);

}  // namespace assay
