// Findings as texts, and as payloads of errors.
#include "optimized/gpu/simulator/finding.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "spec/base/error.h"

namespace assay::gpu {
namespace {

constexpr absl::string_view kPayload = "assay.gpu/finding";

struct NamedKind {
  FindingKind kind;
  std::string_view name;
};
constexpr NamedKind kNamedKinds[] = {
    {FindingKind::kOutOfBounds, "out-of-bounds"},
    {FindingKind::kUninitialised, "uninitialised"},
    {FindingKind::kMisaligned, "misaligned"},
    {FindingKind::kRaceInWarp, "race-in-warp"},
    {FindingKind::kRaceBetweenWarps, "race-between-warps"},
    {FindingKind::kRaceBetweenBlocks, "race-between-blocks"},
    {FindingKind::kDivergentBarrier, "divergent-barrier"},
    {FindingKind::kMissingBarrier, "missing-barrier"},
    {FindingKind::kLaneNotInvolved, "lane-not-involved"},
    {FindingKind::kAtomicScope, "atomic-scope"},
    {FindingKind::kReadOnlyWritten, "read-only-written"},
    {FindingKind::kUndefined, "undefined"},
    {FindingKind::kAsyncCopy, "async-copy"},
    {FindingKind::kWrongPhase, "wrong-phase"},
};

}  // namespace

std::string_view FindingName(FindingKind kind) {
  for (const NamedKind& row : kNamedKinds) {
    if (row.kind == kind) return row.name;
  }
  return "unknown";
}

std::string ToString(const KernelFinding& finding) {
  std::string text = absl::StrFormat("%s in kernel \"%s\", block (%d,%d,%d), thread (%d,%d,%d): %s",
                                     FindingName(finding.kind), finding.kernel, finding.block[0],
                                     finding.block[1], finding.block[2], finding.thread[0],
                                     finding.thread[1], finding.thread[2], finding.detail);
  if (!finding.allocation.empty()) {
    absl::StrAppendFormat(&text, "; address 0x%x, byte %d of \"%s\"", finding.address,
                          finding.offset, finding.allocation);
  }
  absl::StrAppend(&text, "; at: ", finding.instruction);
  if (!finding.computes.empty()) absl::StrAppend(&text, "; computes ", finding.computes);
  absl::StrAppend(&text, "; seed ", finding.seed);
  return text;
}

absl::Status StatusOf(const KernelFinding& finding) {
  absl::Status status = MakeError(ErrorClass::kRunCrash, ToString(finding));
  nlohmann::json json = {{"kind", std::string(FindingName(finding.kind))},
                         {"kernel", finding.kernel},
                         {"instruction", finding.instruction},
                         {"line", finding.line},
                         {"computes", finding.computes},
                         {"block", finding.block},
                         {"thread", finding.thread},
                         {"address", finding.address},
                         {"allocation", finding.allocation},
                         {"offset", finding.offset},
                         {"seed", finding.seed},
                         {"detail", finding.detail}};
  // Names of a program may hold bytes that are no UTF-8.
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  // The constructor for strings that move in has another symbol in libraries that GCC compiled than
  // clang looks for.
  status.SetPayload(kPayload, absl::Cord(absl::string_view(text)));
  return status;
}

std::optional<KernelFinding> FindingOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(std::string(*payload), nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  KernelFinding finding;
  const std::string kind = json.value("kind", "");
  for (const NamedKind& row : kNamedKinds) {
    if (row.name == kind) finding.kind = row.kind;
  }
  finding.kernel = json.value("kernel", "");
  finding.instruction = json.value("instruction", "");
  finding.line = json.value("line", uint32_t{0});
  finding.computes = json.value("computes", "");
  finding.block = json.value("block", std::array<uint32_t, 3>());
  finding.thread = json.value("thread", std::array<uint32_t, 3>());
  finding.address = json.value("address", uint64_t{0});
  finding.allocation = json.value("allocation", "");
  finding.offset = json.value("offset", int64_t{0});
  finding.seed = json.value("seed", uint64_t{0});
  finding.detail = json.value("detail", "");
  return finding;
}

}  // namespace assay::gpu
