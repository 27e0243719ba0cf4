// A row for each clause, in the order of their numbers.
#include "spec/numerics/clause_limits.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr std::array<ClauseLimit, static_cast<size_t>(ClauseId::kClauseCount)> kLimits = {{
    {.id = ClauseId::kFlushSubnormals,
     .changes =
         "a subnormal number into zero, and so whatever an op makes of a zero (1 / x, log x)",
     .kept_by = "class-under-flush-subnormals"},
    {.id = ClauseId::kExcessPrecision,
     .changes = "digits; of types narrower than f32 also what overflows or vanishes between two "
                "ops, within the range of the wider type; of f32 and f64 no range",
     .kept_by = "class-under-excess-precision"},
    {.id = ClauseId::kContraction,
     .changes =
         "digits of a sum; a product that overflows by itself may still be added as a number",
     .kept_by = "class-under-contraction"},
    {.id = ClauseId::kReassociation,
     .changes = "the order of sums and products, and so whether one overflows on the way",
     .kept_by = "class-under-reassociation"},
    {.id = ClauseId::kReciprocalDivision,
     .changes = "digits; a zero where the reciprocal is subnormal and flushed",
     .kept_by = "class-under-reciprocal-division"},
    {.id = ClauseId::kReciprocalRoot,
     .changes = "digits",
     .kept_by = "class-under-reciprocal-root"},
    {.id = ClauseId::kNestedQuotients,
     .changes = "digits",
     .kept_by = "class-under-nested-quotients"},
    {.id = ClauseId::kConstantChains,
     .changes = "digits, of sums those of the larger operand",
     .kept_by = "class-under-constant-chains"},
    {.id = ClauseId::kExponentials,
     .changes = "digits; a zero where a reciprocal is subnormal and flushed",
     .kept_by = "exponentials-that-are-joined"},
    {.id = ClauseId::kLiteralReducer,
     .changes = "digits, and whether a sum overflows on the way",
     .kept_by = "class-under-literal-reducer"},
    {.id = ClauseId::kSumsOfSums,
     .changes = "the order of a sum",
     .kept_by = "class-under-sums-of-sums"},
    {.id = ClauseId::kScatterStarts,
     .changes = "the order of a sum",
     .kept_by = "class-under-scatter-starts"},
    {.id = ClauseId::kNarrowFactors, .changes = "digits", .kept_by = "class-under-narrow-factors"},
    {.id = ClauseId::kApproximateQuotients,
     .changes = "digits",
     .kept_by = "class-under-approximate-quotients"},
    {.id = ClauseId::kEitherRounding,
     .changes = "digits",
     .kept_by = "class-under-either-rounding"},
}};

// The first release of jaxlib with the gates, as far as is known: 0.11.1, of August 2026, has none.
constexpr std::pair<int, int> kGatedRelease{0, 12};

}  // namespace

const ClauseLimit& LimitOf(ClauseId id) { return kLimits[static_cast<size_t>(id)]; }

const Profile& ProfileOfJaxlib(const Profile& profile, std::string_view release) {
  const std::vector<std::string> numbers = absl::StrSplit(std::string(release), '.');
  std::pair<int, int> version;
  const bool is_known = numbers.size() >= 2 && absl::SimpleAtoi(numbers[0], &version.first) &&
                        absl::SimpleAtoi(numbers[1], &version.second);
  if (!is_known || version < kGatedRelease) return profile;
  const absl::StatusOr<const Profile*> gated = Profile::Find(StrCat(profile.name(), "@", kGated));
  return gated.ok() ? **gated : profile;
}

}  // namespace assay
