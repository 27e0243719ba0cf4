#include "fuzz/finding.h"

#include <array>

namespace assay {
namespace {

constexpr std::array<std::string_view, kFindingKindCount> kKindNames = {
    "wrong value", "nondeterministic", "rejected",      "compile crash",
    "run crash",   "timeout",          "out of memory", "harness"};
constexpr std::array<std::string_view, 6> kPhaseNames = {"idle",    "generate", "oracle",
                                                         "compile", "run",      "judge"};

}  // namespace

std::string_view Name(FindingKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::optional<FindingKind> FindingKindFromName(std::string_view name) {
  for (size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<FindingKind>(i);
  }
  return std::nullopt;
}

std::string_view Name(CasePhase phase) { return kPhaseNames[static_cast<size_t>(phase)]; }

}  // namespace assay
