// Statements of the algebraic simplifier's rules that move data, along one axis, which can be
// proved for all sizes (prove.h). A test holds each against the code on drawn instances, and a
// claim is one of optimized/gates/claim_names.h.
#pragma once

#include <string_view>

#include "absl/types/span.h"

namespace assay {

struct IndexClaim {
  std::string_view name;   // behind "RULE/"
  std::string_view holds;  // a condition, or "same(x, y)" of two arrays
  // The rule is right without it, too: it follows from what is given, as is proved.
  bool follows = false;
};

struct IndexRule {
  std::string_view rule;     // its name in optimized/gates/rule_names.h
  std::string_view form;     // which of the rule's forms; "": it has one
  std::string_view numbers;  // integers: sizes, starts, strides, and values of elements (v, w)
  std::string_view arrays;   // "x(n), y(m)": names and sizes
  // Guaranteed by a verified module, or looked at by the rule itself; k is the size of the result.
  std::string_view given;
  std::string_view before, after;
  IndexClaim claims[2] = {};
};

absl::Span<const IndexRule> IndexRules();

}  // namespace assay
