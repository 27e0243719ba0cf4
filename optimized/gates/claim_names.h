// The names of what a rule takes for granted: its side conditions, and the numbers it goes by.
// Planted defects aim at them, as they aim at the rules of rule_names.h themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/types/span.h"

namespace assay {

enum class ClaimKind : uint8_t {
  kCondition,  // asked by Holds: may be forgotten
  kNumber,     // asked by Number: may be off
  kFolded,     // of one opcode: values computed at compile time
  kElement,    // of one opcode: values and indices of the elements that a kernel computes
  kCode,       // the code of a kernel, as a whole
};

struct ClaimName {
  std::string_view name;  // "slice-of-pad/no-interior": rule, claim
  ClaimKind kind;
};

absl::Span<const ClaimName> ClaimNames();  // by name; those of one opcode are not listed

// The parts of the gate of a defect: "slice-of-pad/no-interior" is the claim no-interior of the
// rule slice-of-pad; a gate without a stroke is a rule, and its claim is empty.
std::string_view RuleOf(std::string_view gate);
std::string_view ClaimOf(std::string_view gate);

// Beside the listed ones there are "constant-folding/OPCODE" and "optimize-kernel/OPCODE". Nothing:
// no rule asks that claim.
std::optional<ClaimKind> FindClaim(std::string_view gate);
// The listed claim whose name is spelt most like `gate`.
std::string_view NearestClaim(std::string_view gate);

}  // namespace assay
