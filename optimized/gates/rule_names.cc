// The names of all rules that ask a gate.
#include "optimized/gates/rule_names.h"

#include <algorithm>
#include <iterator>

#include "spec/base/nearest_word.h"

namespace assay {
namespace {

using enum DecisionKind;

// By name.
constexpr DecisionRule kRules[] = {
    {"abs-of-sign-change", kRewrite},
    {"add-negate", kRewrite},
    {"add-zero", kRewrite},
    {"alias-donated-parameter", kBuffer},
    {"alias-reshape", kBuffer},
    {"and-identity", kRewrite},
    {"and-self", kRewrite},
    {"and-zero", kRewrite},
    {"bitcast-convert-pair", kRewrite},
    {"bitcast-to-reshape", kRewrite},
    {"blocked-dot", kKernel},
    {"broadcast-of-broadcast", kRewrite},
    {"broadcast-to-reshape", kRewrite},
    {"broadcast-to-transpose", kRewrite},
    {"call-inline", kRewrite},
    {"canonicalize-convolution", kRewrite},
    {"clamp-of-clamp", kRewrite},
    {"clamp-one-sided", kRewrite},
    {"combine-all-reduces", kRewrite},
    {"common-subexpression", kRewrite},
    {"compare-self", kRewrite},
    {"compare-with-end", kRewrite},
    {"concatenate-adjacent-slices", kRewrite},
    {"concatenate-empty", kRewrite},
    {"concatenate-nested", kRewrite},
    {"concatenate-single", kRewrite},
    {"conditional-constant", kRewrite},
    {"conditional-to-select", kRewrite},
    {"constant-folding", kRewrite},
    {"convert-of-convert", kRewrite},
    {"copy-branch-result", kRequired},
    {"copy-late", kRequired},
    {"copy-live-out", kRequired},
    {"copy-loop-state", kRequired},
    {"copy-next-state", kRequired},
    {"cumulative-window", kKernel},
    {"defuse", kRewrite},
    {"direct-code", kKernel},
    {"divide-one", kRewrite},
    {"divide-power-of-two", kRewrite},
    {"dot-of-nothing", kRewrite},
    {"dot-of-transpose", kRewrite},
    {"ds-constant-start", kRewrite},
    {"ds-full-size", kRewrite},
    {"ds-of-ds", kRewrite},
    {"ds-of-dus", kRewrite},
    {"ds-of-slice", kRewrite},
    {"dus-empty", kRewrite},
    {"dus-full-size", kRewrite},
    {"dus-of-dus", kRewrite},
    {"dus-of-own-slice", kRewrite},
    {"element-of-tuple", kRewrite},
    {"expand-async", kRequired},
    {"expand-batch-norm", kRequired},
    {"expand-ragged-dot", kRequired},
    {"expand-rng", kRequired},
    {"expand-scaled-dot", kRequired},
    {"expand-scan", kRequired},
    {"expand-top-k", kRequired},
    {"fuse-horizontally", kKernel},
    {"fuse-loop", kKernel},
    {"fuse-results", kKernel},
    {"fusion-to-call", kRequired},
    {"group-reduced-dims", kRewrite},
    {"in-place-dus", kBuffer},
    {"in-place-scatter", kBuffer},
    {"insert-domain", kRewrite},
    {"maximum-absorber", kRewrite},
    {"maximum-identity", kRewrite},
    {"maximum-self", kRewrite},
    {"minimum-absorber", kRewrite},
    {"minimum-identity", kRewrite},
    {"minimum-self", kRewrite},
    {"multiply-minus-one", kRewrite},
    {"multiply-one", kRewrite},
    {"multiply-zero", kRewrite},
    {"negate-of-negate", kRewrite},
    {"negate-of-subtract", kRewrite},
    {"negative-pad", kRewrite},
    {"normalize-bf16", kRewrite},
    {"normalize-reduced-layout", kRewrite},
    {"not-of-compare", kRewrite},
    {"not-of-not", kRewrite},
    {"optimize-kernel", kKernel},
    {"or-identity", kRewrite},
    {"or-ones", kRewrite},
    {"or-self", kRewrite},
    {"pad-of-empty", kRewrite},
    {"pad-of-pad", kRewrite},
    {"pad-of-splat", kRewrite},
    {"power-constant", kRewrite},
    {"reciprocal-division", kRewrite},
    {"reduce-of-nothing", kRewrite},
    {"reduce-of-reduce", kRewrite},
    {"reduce-of-transpose", kRewrite},
    {"reduce-unit-dims", kRewrite},
    {"remove-degenerate-reduced-dims", kRewrite},
    {"remove-domain", kRewrite},
    {"reshape-of-broadcast", kRewrite},
    {"reshape-of-reshape", kRewrite},
    {"reshape-of-splat", kRewrite},
    {"reuse-elementwise", kBuffer},
    {"reverse-of-broadcast", kRewrite},
    {"reverse-of-reverse", kRewrite},
    {"scatter-rows", kKernel},
    {"select-constant", kRewrite},
    {"select-of-booleans", kRewrite},
    {"select-of-not", kRewrite},
    {"select-of-select", kRewrite},
    {"select-same-arms", kRewrite},
    {"share-arena", kBuffer},
    {"share-computation", kRewrite},
    {"shift-by-zero", kRewrite},
    {"shift-too-far", kRewrite},
    {"slice-of-broadcast", kRewrite},
    {"slice-of-concatenate", kRewrite},
    {"slice-of-dynamic-slice", kRewrite},
    {"slice-of-pad", kRewrite},
    {"slice-of-padding", kRewrite},
    {"slice-of-reverse", kRewrite},
    {"slice-of-slice", kRewrite},
    {"slice-of-transpose", kRewrite},
    {"sort-by-key", kKernel},
    {"split-dynamic-index", kRequired},
    {"split-kernel", kTask},
    {"store-together", kKernel},
    {"subtract-from-zero", kRewrite},
    {"subtract-negate", kRewrite},
    {"subtract-self", kRewrite},
    {"subtract-zero", kRewrite},
    {"tile-transpose", kKernel},
    {"transpose-of-transpose", kRewrite},
    {"transpose-to-reshape", kRewrite},
    {"tree-reduction", kRewrite},
    {"trip-count", kFact},
    {"trivial-bitcast", kRewrite},
    {"trivial-bitcast-convert", kRewrite},
    {"trivial-broadcast", kRewrite},
    {"trivial-convert", kRewrite},
    {"trivial-copy", kRewrite},
    {"trivial-pad", kRewrite},
    {"trivial-reshape", kRewrite},
    {"trivial-reverse", kRewrite},
    {"trivial-slice", kRewrite},
    {"trivial-transpose", kRewrite},
    {"tuple-of-elements", kRewrite},
    {"unsigned-divide-to-shift", kRewrite},
    {"unsigned-remainder-to-and", kRewrite},
    {"vectorize", kKernel},
    {"while-constant-sinking", kRewrite},
    {"while-copy-elision", kBuffer},
    {"while-dead-element", kRewrite},
    {"while-init-in-place", kBuffer},
    {"while-invariant-motion", kRewrite},
    {"while-invariant-result", kRewrite},
    {"while-no-trip", kRewrite},
    {"while-one-trip", kRewrite},
    {"while-unroll", kRewrite},
    {"xor-identity", kRewrite},
    {"xor-ones", kRewrite},
    {"xor-self", kRewrite},
};

static_assert(std::is_sorted(std::begin(kRules), std::end(kRules),
                             [](const DecisionRule& a, const DecisionRule& b) {
                               return a.name < b.name;
                             }));

}  // namespace

absl::Span<const DecisionRule> DecisionRules() { return kRules; }

const DecisionRule* FindRule(std::string_view name) {
  const auto at = std::lower_bound(
      std::begin(kRules), std::end(kRules), name,
      [](const DecisionRule& rule, std::string_view wanted) { return rule.name < wanted; });
  return at != std::end(kRules) && at->name == name ? at : nullptr;
}

const DecisionRule& NearestRule(std::string_view name) {
  constexpr size_t kLongest = 64;  // a name that is longer is like none of them anyway
  const std::string_view wanted = name.substr(0, kLongest);
  return *std::min_element(std::begin(kRules), std::end(kRules),
                           [&](const DecisionRule& a, const DecisionRule& b) {
                             return EditDistance(a.name, wanted) < EditDistance(b.name, wanted);
                           });
}

}  // namespace assay
