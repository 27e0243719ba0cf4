// The names of all claims that rules ask.
#include "optimized/gates/claim_names.h"

#include <algorithm>
#include <iterator>

#include "spec/attributes/opcode.h"
#include "spec/base/nearest_word.h"

namespace assay {
namespace {

using enum ClaimKind;

// By name.
constexpr ClaimName kClaims[] = {
    {"abs-of-sign-change/signed", kCondition},
    {"add-zero/negative-zero", kCondition},
    {"alias-reshape/same-order", kCondition},
    {"all-reduce-of-replicated/same", kCondition},
    {"and-identity/all-ones", kCondition},
    {"and-zero/zero", kCondition},
    {"bitcast-to-reshape/row-major", kCondition},
    {"blocked-dot/base-dilation", kNumber},
    {"blocked-dot/columns", kNumber},
    {"blocked-dot/lhs-step", kNumber},
    {"blocked-dot/rows", kNumber},
    {"blocked-dot/tail", kNumber},
    {"blocked-dot/window-dilation", kNumber},
    {"blocked-dot/window-low", kNumber},
    {"blocked-dot/window-stride", kNumber},
    {"broadcast-to-reshape/in-order", kCondition},
    {"clamp-of-clamp/same-high", kCondition},
    {"clamp-of-clamp/same-low", kCondition},
    {"clamp-one-sided/high-at-end", kCondition},
    {"clamp-one-sided/low-at-end", kCondition},
    {"common-subexpression/commutes", kCondition},
    {"common-subexpression/same-operation", kCondition},
    {"compare-self/not-number", kCondition},
    {"compare-with-end/least", kCondition},
    {"compare-with-end/most", kCondition},
    {"concatenate-adjacent-slices/same-array", kCondition},
    {"concatenate-adjacent-slices/same-elsewhere", kCondition},
    {"conditional-constant/branch", kNumber},
    {"conv-bias/features", kCondition},
    {"conv-bias/no-activation", kCondition},
    {"conv-bias/single-user", kCondition},
    {"conv-clamp-bytes/high", kCondition},
    {"conv-clamp-bytes/low", kCondition},
    {"conv-input-gradient/reversed", kCondition},
    {"conv-relu/single-user", kCondition},
    {"conv-relu/zero", kCondition},
    {"conv-scale/single-user", kCondition},
    {"conv-side-input/no-activation", kCondition},
    {"conv-side-input/single-user", kCondition},
    {"convert-of-convert/bits-fit", kCondition},
    {"convert-of-convert/integer-exact", kCondition},
    {"convert-of-convert/no-overflow", kCondition},
    {"convert-of-convert/no-underflow", kCondition},
    {"convert-of-convert/precision", kCondition},
    {"convert-of-convert/saturates-alike", kCondition},
    {"convert-of-convert/sign-kept", kCondition},
    {"cumulative-window/forward", kCondition},
    {"cumulative-window/stride", kNumber},
    {"dead-loop-element/dead", kCondition},
    {"direct-code/below-half", kCondition},
    {"direct-code/high-bits-clear", kCondition},
    {"direct-code/in-range", kCondition},
    {"direct-code/lane-shift", kNumber},
    {"direct-code/lanes-below-half", kCondition},
    {"direct-code/lanes-not-negative", kCondition},
    {"direct-code/no-nan", kCondition},
    {"direct-code/phis-apart", kCondition},
    {"direct-code/picked-lane", kNumber},
    {"direct-code/predicate", kNumber},
    {"direct-code/shift", kNumber},
    {"direct-code/short-not-negative", kCondition},
    {"direct-code/stored-bytes", kNumber},
    {"direct-code/zeros-alike", kCondition},
    {"divide-power-of-two/exact", kCondition},
    {"divide-power-of-two/normal", kCondition},
    {"dot-of-nothing/empty", kCondition},
    {"ds-constant-start/start", kNumber},
    {"ds-of-dus/same-starts", kCondition},
    {"ds-of-slice/unit-strides", kCondition},
    {"dus-empty/no-elements", kCondition},
    {"dus-of-dus/same-sizes", kCondition},
    {"dus-of-dus/same-starts", kCondition},
    {"dus-of-own-slice/same-array", kCondition},
    {"dus-of-own-slice/same-starts", kCondition},
    {"element-of-tuple/index", kNumber},
    {"fuse-results/result", kNumber},
    {"fuse-results/same-operation", kCondition},
    {"gemm-alpha/single-user", kCondition},
    {"gemm-beta/c-single-user", kCondition},
    {"gemm-beta/no-epilogue", kCondition},
    {"gemm-beta/single-user", kCondition},
    {"gemm-bias/columns", kCondition},
    {"gemm-bias/no-activation", kCondition},
    {"gemm-bias/single-user", kCondition},
    {"gemm-relu/single-user", kCondition},
    {"gemm-relu/zero", kCondition},
    {"in-place-dus/operand-dies", kCondition},
    {"in-place-dus/updates-apart", kCondition},
    {"in-place-scatter/operand-dies", kCondition},
    {"in-place-scatter/updates-apart", kCondition},
    {"maximum-absorber/not-float", kCondition},
    {"maximum-identity/lowest", kCondition},
    {"minimum-absorber/not-float", kCondition},
    {"minimum-identity/highest", kCondition},
    {"move-reshape/alike", kCondition},
    {"multiply-zero/integers", kCondition},
    {"negate-of-subtract/integers", kCondition},
    {"norm-to-library/epsilon", kCondition},
    {"norm-to-library/feature-index", kNumber},
    {"not-of-compare/not-number", kCondition},
    {"optimize-kernel/angle-not-huge", kCondition},
    {"optimize-kernel/away-from-pi", kCondition},
    {"optimize-kernel/base-dilation", kNumber},
    {"optimize-kernel/bitcast-keeps-order", kCondition},
    {"optimize-kernel/cholesky-lower", kCondition},
    {"optimize-kernel/cholesky-matrices", kNumber},
    {"optimize-kernel/cholesky-order", kNumber},
    {"optimize-kernel/combiner-selects", kCondition},
    {"optimize-kernel/exp-exact", kCondition},
    {"optimize-kernel/exp-one-step", kCondition},
    {"optimize-kernel/fft-batch", kNumber},
    {"optimize-kernel/fft-kind", kNumber},
    {"optimize-kernel/fft-length", kNumber},
    {"optimize-kernel/fft-rank", kNumber},
    {"optimize-kernel/gather-limit", kNumber},
    {"optimize-kernel/gather-start-unsigned", kCondition},
    {"optimize-kernel/group-outputs", kNumber},
    {"optimize-kernel/imaginary-bits", kNumber},
    {"optimize-kernel/lane-remainder", kNumber},
    {"optimize-kernel/lapack-conjugated", kCondition},
    {"optimize-kernel/lapack-lower", kCondition},
    {"optimize-kernel/lapack-matrices", kNumber},
    {"optimize-kernel/lapack-reflectors", kNumber},
    {"optimize-kernel/lapack-transposed", kCondition},
    {"optimize-kernel/lapack-unit-diagonal", kCondition},
    {"optimize-kernel/lapack-values-only", kCondition},
    {"optimize-kernel/log-normal", kCondition},
    {"optimize-kernel/log1p-exact", kCondition},
    {"optimize-kernel/neutral-extreme-zero", kCondition},
    {"optimize-kernel/neutral-zero-positive", kCondition},
    {"optimize-kernel/pad-low", kNumber},
    {"optimize-kernel/pad-step", kNumber},
    {"optimize-kernel/part-bits", kNumber},
    {"optimize-kernel/part-size", kNumber},
    {"optimize-kernel/power-not-odd", kCondition},
    {"optimize-kernel/random-count", kNumber},
    {"optimize-kernel/random-mask", kNumber},
    {"optimize-kernel/scatter-limit", kNumber},
    {"optimize-kernel/scatter-start-small", kCondition},
    {"optimize-kernel/slice-start", kNumber},
    {"optimize-kernel/slice-stride", kNumber},
    {"optimize-kernel/solve-left", kCondition},
    {"optimize-kernel/solve-lower", kCondition},
    {"optimize-kernel/solve-matrices", kNumber},
    {"optimize-kernel/solve-not-conjugated", kCondition},
    {"optimize-kernel/solve-not-transposed", kCondition},
    {"optimize-kernel/solve-unit-diagonal", kCondition},
    {"optimize-kernel/start-limit", kNumber},
    {"optimize-kernel/start-unsigned", kCondition},
    {"optimize-kernel/top-k-largest", kCondition},
    {"optimize-kernel/top-k-size", kNumber},
    {"optimize-kernel/update-extent", kNumber},
    {"optimize-kernel/window-dilation", kNumber},
    {"optimize-kernel/window-low", kNumber},
    {"optimize-kernel/window-not-reversed", kCondition},
    {"optimize-kernel/window-stride", kNumber},
    {"or-identity/zero", kCondition},
    {"or-ones/all-ones", kCondition},
    {"pad-conv/multiple", kNumber},
    {"pad-dot/multiple", kNumber},
    {"pad-of-empty/no-elements", kCondition},
    {"pad-of-pad/edges-merge", kCondition},
    {"pad-of-pad/same-value", kCondition},
    {"pad-of-splat/same-value", kCondition},
    {"power-constant/exponent-one", kCondition},
    {"power-constant/exponent-two", kCondition},
    {"power-constant/exponent-zero", kCondition},
    {"reduce-by-one-op/means-one-op", kCondition},
    {"reduce-of-nothing/no-elements", kCondition},
    {"reduce-of-reduce/identity", kCondition},
    {"reduce-of-reduce/same-combiner", kCondition},
    {"reduce-unit-dims/identity", kCondition},
    {"reduce-window-by-one-op/means-one-op", kCondition},
    {"reverse-of-broadcast/repeated", kCondition},
    {"select-of-select/same-predicate", kCondition},
    {"select-same-arms/same-value", kCondition},
    {"shift-by-zero/zero", kCondition},
    {"shift-too-far/width-reached", kCondition},
    {"slice-of-dynamic-slice/unit-strides", kCondition},
    {"slice-of-pad/no-interior", kCondition},
    {"slice-of-padding/holes", kNumber},
    {"slice-of-padding/low-edge", kNumber},
    {"slice-of-padding/outside", kCondition},
    {"slice-of-reverse/stride", kNumber},
    {"sort-by-key/ascending", kCondition},
    {"sort-by-key/lost-bits", kNumber},
    {"sort-by-key/nan-first", kCondition},
    {"sort-by-key/tells-zeros", kCondition},
    {"sort-by-key/unsigned", kCondition},
    {"sort-unused-operand/not-compared", kCondition},
    {"split-kernel/unit", kNumber},
    {"subtract-from-zero/negative-zero", kCondition},
    {"subtract-self/integers", kCondition},
    {"subtract-zero/positive-zero", kCondition},
    {"transpose-to-reshape/order-kept", kCondition},
    {"trivial-broadcast/in-order", kCondition},
    {"trivial-pad/edges-zero", kCondition},
    {"trivial-pad/no-interior", kCondition},
    {"trivial-reverse/one-element", kCondition},
    {"trivial-transpose/in-order", kCondition},
    {"tuple-of-elements/in-order", kCondition},
    {"tuple-of-elements/one-source", kCondition},
    {"unsigned-divide-to-shift/unsigned", kCondition},
    {"unsigned-remainder-to-and/unsigned", kCondition},
    {"vectorize/squares-fit", kCondition},
    {"while-constant-sinking/invariant", kCondition},
    {"while-dead-element/none-through-others", kCondition},
    {"while-init-in-place/alone", kCondition},
    {"while-invariant-motion/element-invariant", kCondition},
    {"while-invariant-motion/operands-invariant", kCondition},
    {"while-invariant-result/invariant", kCondition},
    {"xor-ones/all-ones", kCondition},
    {"zero-sized/no-effect", kCondition},
};

static_assert(std::is_sorted(std::begin(kClaims), std::end(kClaims),
                             [](const ClaimName& a, const ClaimName& b) {
                               return a.name < b.name;
                             }));

}  // namespace

absl::Span<const ClaimName> ClaimNames() { return kClaims; }

std::string_view RuleOf(std::string_view gate) { return gate.substr(0, gate.find('/')); }

std::string_view ClaimOf(std::string_view gate) {
  const size_t stroke = gate.find('/');
  return stroke == std::string_view::npos ? std::string_view() : gate.substr(stroke + 1);
}

std::optional<ClaimKind> FindClaim(std::string_view gate) {
  const auto at = std::lower_bound(
      std::begin(kClaims), std::end(kClaims), gate,
      [](const ClaimName& claim, std::string_view wanted) { return claim.name < wanted; });
  if (at != std::end(kClaims) && at->name == gate) return at->kind;
  if (!OpcodeFromName(ClaimOf(gate))) return std::nullopt;
  if (RuleOf(gate) == "constant-folding") return kFolded;
  if (RuleOf(gate) == "optimize-kernel") return kElement;
  return std::nullopt;
}

std::string_view NearestClaim(std::string_view gate) {
  constexpr size_t kLongest = 96;  // a name that is longer is like none of them anyway
  const std::string_view wanted = gate.substr(0, kLongest);
  return std::min_element(std::begin(kClaims), std::end(kClaims),
                          [&](const ClaimName& a, const ClaimName& b) {
                            return EditDistance(a.name, wanted) < EditDistance(b.name, wanted);
                          })
      ->name;
}

}  // namespace assay
