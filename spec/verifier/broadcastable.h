// The Broadcastable trait: result types of element-wise ops over ranked, dynamic and unranked
// tensors. Document: operation semantics chapter 3.3 and errata 20.4 (B1: the page's table accepts
// an inferred `?` against a static actual size, its formal part and an example reject it;
// ImplicitCast decides, and accepts where nothing is said; B2: the size 0 counts as a static size
// other than one).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace assay {

// A size that is known at run time only.
inline constexpr int64_t kDynamicSize = -1;

// The part of an operand or result that the trait sees: its sizes, if it has a rank. Element types
// do not matter.
struct TraitShape {
  std::optional<std::vector<int64_t>> sizes;  // nullopt: unranked

  static TraitShape Unranked() { return {}; }
  static TraitShape Ranked(std::vector<int64_t> sizes) { return {std::move(sizes)}; }
  bool IsRanked() const { return sizes.has_value(); }
  bool IsStatic() const;  // ranked, and every size is known
  int64_t rank() const { return IsRanked() ? static_cast<int64_t>(sizes->size()) : -1; }
  std::string ToString() const;  // "2x?x3", "*", "" for rank 0
  bool operator==(const TraitShape&) const = default;
};

// The common size of two, symmetric; an error for two different sizes of which neither is one.
absl::StatusOr<int64_t> InferDim(int64_t a, int64_t b);

// Sizes with ones put in front up to `rank`.
std::vector<int64_t> ExpandRank(absl::Span<const int64_t> sizes, int64_t rank);

// InferDim per position of the two, expanded to the larger rank.
absl::StatusOr<std::vector<int64_t>> InferShape(absl::Span<const int64_t> a,
                                                absl::Span<const int64_t> b);

// Left to right over the ranked operands; unranked if there is none ("not inferable").
absl::StatusOr<TraitShape> InferResultShape(absl::Span<const TraitShape> operands);

// The answer of rule B1 to a result that is static where the operands leave it to run time.
enum class ImplicitCast { kAccept, kReject };

// OK if an op of these operands, at least one, may have this result.
absl::Status VerifyBroadcastable(absl::Span<const TraitShape> operands, const TraitShape& result,
                                 ImplicitCast dynamic_to_static = ImplicitCast::kAccept);

// True if the shapes broadcast whatever the sizes are at run time: per dimension at most one size
// that is not 1, or equal static ones. MLIR's staticallyKnownBroadcastable.
bool StaticallyKnownBroadcastable(absl::Span<const TraitShape> shapes);
inline bool StaticallyKnownBroadcastable(const TraitShape& a, const TraitShape& b) {
  return StaticallyKnownBroadcastable({a, b});
}

// The sizes that the result has when the operands have the sizes `at_run_time`, one list per
// operand. Errors: operands whose sizes are not those of their types, and promises of the program
// that these sizes break (they do not broadcast, or not to the result's static sizes), which the
// document calls undefined behavior.
absl::StatusOr<std::vector<int64_t>> RunTimeResultSizes(
    absl::Span<const TraitShape> operands, const TraitShape& result,
    absl::Span<const std::vector<int64_t>> at_run_time);

}  // namespace assay
