// Findings: something wrong with a kernel, as a value that is carried by the error that ends the
// launch.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace assay::gpu {

enum class FindingKind {
  kOutOfBounds,        // an address outside of what the pointer was made for
  kUninitialised,      // bytes are read that nobody wrote
  kMisaligned,         // an address that the instruction's alignment forbids
  kRaceInWarp,         // two lanes of one warp, at least one writes, nothing orders them
  kRaceBetweenWarps,   // two warps of a block, no barrier in between
  kRaceBetweenBlocks,  // two blocks of one launch
  kDivergentBarrier,   // a barrier that only some threads of a warp reach together
  kMissingBarrier,     // threads wait at a barrier that others never reach
  kLaneNotInvolved,    // a shuffle or vote with lanes that take no part
  kAtomicScope,        // atomics of block scope that meet those of another block
  kReadOnlyWritten,    // a write to constant memory
  kUndefined,          // division by zero and the like
  kAsyncCopy,          // an asynchronous copy is read, or met by a write, before it was waited for
  kWrongPhase,         // an mbarrier is asked for a phase that is long over, or too many arrive
};

// A stable name, such as "race-between-warps".
std::string_view FindingName(FindingKind kind);

struct KernelFinding {
  FindingKind kind = FindingKind::kOutOfBounds;
  std::string kernel;
  std::string instruction;
  // The line of the instruction's debug location, 0 without one; and what is computed there, for
  // whoever made the kernel to say.
  uint32_t line = 0;
  std::string computes;
  std::array<uint32_t, 3> block = {};
  std::array<uint32_t, 3> thread = {};
  uint64_t address = 0;
  // The name of the allocation, or "shared", "local"; and the byte in it. May be outside.
  std::string allocation;
  int64_t offset = 0;
  uint64_t seed = 0;
  std::string detail;
};

std::string ToString(const KernelFinding& finding);

// Internal, with the text, and with the finding as payload.
absl::Status StatusOf(const KernelFinding& finding);
std::optional<KernelFinding> FindingOf(const absl::Status& status);

}  // namespace assay::gpu
