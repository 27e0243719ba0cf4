// Ops with the Broadcastable trait as MLIR writes them, for the examples of the trait's page:
//   %r = "test.broadcastable"(%a, %b) : (tensor<4xi32>, tensor<2x?xi1>) -> tensor<2x4xi64>
// and MLIR's helpers on types. Document: the page of the Broadcastable trait; the helpers mean what
// those of OpTrait::util mean.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/verifier/broadcastable.h"

namespace assay {

// tensor<2x?xi32>, tensor<*xf32>, vector<4xi8>, or another type such as f32 or index.
struct TraitType {
  enum class Kind : uint8_t { kTensor, kVector, kOther };
  Kind kind = Kind::kOther;
  std::string element;  // of kOther the whole type
  TraitShape shape;     // of kOther rank 0
  std::string ToString() const;
  bool operator==(const TraitType&) const = default;
};

struct BroadcastableOp {
  std::string name;  // test.broadcastable
  std::vector<TraitType> operands, results;
};

absl::StatusOr<TraitType> ParseTraitType(std::string_view text);
// One line; the results, if there are several or none, in parentheses. Errors name what is missing.
absl::StatusOr<BroadcastableOp> ParseBroadcastableOp(std::string_view line);

// At least one operand, exactly one result, tensors or vectors only, and VerifyBroadcastable.
absl::Status Verify(const BroadcastableOp& op,
                    ImplicitCast dynamic_to_static = ImplicitCast::kAccept);
// Verify under the name that MLIR's verifier of the trait has.
inline absl::Status VerifyCompatibleOperandBroadcast(const BroadcastableOp& op) {
  return Verify(op);
}

// The shape that two broadcast to; nothing if they do not.
std::optional<std::vector<int64_t>> GetBroadcastedShape(absl::Span<const int64_t> a,
                                                        absl::Span<const int64_t> b);
// The type that two broadcast to, with `element` for its elements ("": those of both, which must be
// equal). Unranked if one of them is; a vector or tensor beside a scalar stays one. Nothing: shapes
// that do not broadcast, different elements, a vector beside a tensor.
std::optional<TraitType> GetBroadcastedType(const TraitType& a, const TraitType& b,
                                            std::string_view element = "");

}  // namespace assay
