// Result types of the Broadcastable trait, dimension by dimension.
#include "spec/verifier/broadcastable.h"

#include <algorithm>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

std::string SizeText(int64_t size) { return size == kDynamicSize ? "?" : std::to_string(size); }

// Sizes at run time that a type allows: its rank, its static sizes.
bool Allows(const TraitShape& type, const std::vector<int64_t>& sizes) {
  if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; })) return false;
  if (!type.IsRanked()) return true;
  return std::equal(
      type.sizes->begin(), type.sizes->end(), sizes.begin(), sizes.end(),
      [](int64_t known, int64_t size) { return known == kDynamicSize || known == size; });
}

absl::Status BrokenPromise(std::string_view what) {
  return absl::FailedPreconditionError(StrCat("undefined behavior: at run time ", what));
}

}  // namespace

bool TraitShape::IsStatic() const {
  return IsRanked() && std::find(sizes->begin(), sizes->end(), kDynamicSize) == sizes->end();
}

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

absl::Status VerifyBroadcastable(absl::Span<const TraitShape> operands, const TraitShape& result,
                                 ImplicitCast dynamic_to_static) {
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
    if (want == have || have == kDynamicSize) continue;
    if (want == kDynamicSize && dynamic_to_static == ImplicitCast::kAccept) continue;
    return absl::InvalidArgumentError(StrCat("dimension ", i, ": the operands broadcast to size ",
                                             SizeText(want), ", the result ", result.ToString(),
                                             " has ", have));
  }
  return absl::OkStatus();
}

bool StaticallyKnownBroadcastable(absl::Span<const TraitShape> shapes) {
  int64_t rank = 0;
  for (const TraitShape& shape : shapes) {
    if (!shape.IsRanked()) return false;
    rank = std::max(rank, shape.rank());
  }
  for (int64_t i = 0; i < rank; ++i) {
    std::optional<int64_t> wide;  // the size other than 1 that was seen
    for (const TraitShape& shape : shapes) {
      const int64_t size = ExpandRank(*shape.sizes, rank)[i];
      if (size == 1) continue;
      if (wide.has_value() && (size == kDynamicSize || size != *wide)) return false;
      wide = size;
    }
  }
  return true;
}

absl::StatusOr<std::vector<int64_t>> RunTimeResultSizes(
    absl::Span<const TraitShape> operands, const TraitShape& result,
    absl::Span<const std::vector<int64_t>> at_run_time) {
  ASSAY_RETURN_IF_ERROR(VerifyBroadcastable(operands, result));
  if (at_run_time.size() != operands.size()) {
    return absl::InvalidArgumentError(
        StrCat(operands.size(), " operands, sizes of ", at_run_time.size()));
  }
  std::vector<TraitShape> actual;
  for (size_t i = 0; i < operands.size(); ++i) {
    actual.push_back(TraitShape::Ranked(at_run_time[i]));
    if (Allows(operands[i], at_run_time[i])) continue;
    return absl::InvalidArgumentError(StrCat("operand ", i, " of type ", operands[i].ToString(),
                                             " cannot have the sizes ", actual[i].ToString()));
  }
  absl::StatusOr<TraitShape> inferred = InferResultShape(actual);
  if (!inferred.ok()) return BrokenPromise(ToStd(inferred.status().message()));
  if (!Allows(result, *inferred->sizes)) {
    return BrokenPromise(StrCat("the operands broadcast to ", inferred->ToString(),
                                ", the result's type is ", result.ToString()));
  }
  return *std::move(inferred->sizes);
}

}  // namespace assay
