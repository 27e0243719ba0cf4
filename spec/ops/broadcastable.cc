#include "spec/ops/broadcastable.h"

#include <algorithm>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

std::string SizeText(int64_t size) { return size == kDynamicSize ? "?" : std::to_string(size); }

}  // namespace

std::string TraitShape::ToString() const {
  if (!IsRanked()) return "*";
  std::string text;
  for (size_t i = 0; i < sizes->size(); ++i)
    StrAppend(&text, i == 0 ? "" : "x", SizeText((*sizes)[i]));
  return text;
}

absl::StatusOr<int64_t> InferDim(int64_t a, int64_t b) {
  if (a == b) return a;
  if (a == 1) return b;
  if (b == 1) return a;
  // A static size other than one is what the dynamic one must turn out to be, or one.
  if (a == kDynamicSize) return b;
  if (b == kDynamicSize) return a;
  return absl::InvalidArgumentError(
      StrCat("sizes ", a, " and ", b, " do not broadcast: neither is 1"));
}

std::vector<int64_t> ExpandRank(absl::Span<const int64_t> sizes, int64_t rank) {
  std::vector<int64_t> expanded(std::max<int64_t>(0, rank - static_cast<int64_t>(sizes.size())), 1);
  expanded.insert(expanded.end(), sizes.begin(), sizes.end());
  return expanded;
}

absl::StatusOr<std::vector<int64_t>> InferShape(absl::Span<const int64_t> a,
                                                absl::Span<const int64_t> b) {
  const int64_t rank = static_cast<int64_t>(std::max(a.size(), b.size()));
  const std::vector<int64_t> wide_a = ExpandRank(a, rank), wide_b = ExpandRank(b, rank);
  std::vector<int64_t> result(rank);
  for (int64_t i = 0; i < rank; ++i) {
    const absl::StatusOr<int64_t> size = InferDim(wide_a[i], wide_b[i]);
    if (!size.ok()) {
      return absl::InvalidArgumentError(
          StrCat("dimension ", i, ": ", ToStd(size.status().message())));
    }
    result[i] = *size;
  }
  return result;
}

absl::StatusOr<TraitShape> InferResultShape(absl::Span<const TraitShape> operands) {
  TraitShape result = TraitShape::Unranked();
  for (const TraitShape& operand : operands) {
    if (!operand.IsRanked()) continue;
    if (!result.IsRanked()) {
      result = operand;
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(result.sizes, InferShape(*result.sizes, *operand.sizes));
  }
  return result;
}

absl::Status VerifyBroadcastable(absl::Span<const TraitShape> operands, const TraitShape& result) {
  if (operands.empty())
    return absl::InvalidArgumentError("a broadcastable op has at least one operand");
  ASSAY_ASSIGN_OR_RETURN(const TraitShape inferred, InferResultShape(operands));
  if (!inferred.IsRanked() || !result.IsRanked()) return absl::OkStatus();
  if (inferred.sizes->size() != result.sizes->size()) {
    return absl::InvalidArgumentError(StrCat(
        "the operands broadcast to ", inferred.ToString(), " of rank ", inferred.sizes->size(),
        ", the result ", result.ToString(), " has rank ", result.sizes->size()));
  }
  for (size_t i = 0; i < inferred.sizes->size(); ++i) {
    const int64_t want = (*inferred.sizes)[i], have = (*result.sizes)[i];
    if (want == have || want == kDynamicSize || have == kDynamicSize) continue;
    return absl::InvalidArgumentError(StrCat("dimension ", i, ": the operands broadcast to size ",
                                             want, ", the result ", result.ToString(), " has ",
                                             have));
  }
  return absl::OkStatus();
}

}  // namespace assay
