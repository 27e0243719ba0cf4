// The claim that a run of the matrix carries: which levels of conformance a backend holds, and
// which cells stand in the way of the next.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "fuzz/matrix/levels.h"
#include "nlohmann/json.hpp"

namespace assay {

// Cells of a level by what they say of a claim.
struct LevelCounts {
  int64_t cells = 0;
  int64_t passed = 0;
  int64_t open = 0;    // the bound leaves it open, or nothing was to be judged: nothing against it
  int64_t waived = 0;  // excused by name, which the claim says
  int64_t wrong = 0;   // failed, crashed, timed out, rejected
  int64_t unsupported = 0;
  std::string first;  // the first cell that stands in the way, and its status

  int64_t against() const { return wrong + unsupported; }
};

class LevelClaims {
 public:
  void Add(ConformanceLevel level, const std::string& cell, std::string_view status);

  // The highest level whose cells, and those of all levels before it, say nothing against it and of
  // which there are cells; 0: none.
  int held() const;
  const LevelCounts& counts(ConformanceLevel level) const {
    return counts_[static_cast<size_t>(level) - 1];
  }
  // "holds level 6 of 8, collectives, by profile xla: 3,800 of 3,812 cells pass, 12 are open; level
  // 7, dynamic-shapes, lacks 27 of 81: the first is ... unsupported".
  std::string Sentence(std::string_view profile) const;
  // A row per level; "": as the terminal's, or of Markdown.
  std::string TextTable() const;
  std::string MarkdownTable() const;
  nlohmann::json ToJson() const;

 private:
  std::array<LevelCounts, kConformanceLevelCount> counts_;
};

}  // namespace assay
