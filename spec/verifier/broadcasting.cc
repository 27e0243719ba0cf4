// Implicit broadcasting of operands of different ranks, as explicit broadcasts.
#include "spec/verifier/broadcasting.h"

#include <numeric>
#include <string>

#include "absl/strings/str_join.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

template <typename... Parts>
absl::Status BroadcastError(const Parts&... parts) {
  return absl::InvalidArgumentError(StrCat("broadcasting: ", parts...));
}

std::string ListText(absl::Span<const int64_t> list) {
  return StrCat("[", absl::StrJoin(list, ","), "]");
}

DimVector Identity(int64_t rank) {
  DimVector identity(rank);
  std::iota(identity.begin(), identity.end(), int64_t{0});
  return identity;
}

absl::Status CheckIncreasing(absl::Span<const int64_t> mapping, int64_t rank) {
  for (size_t i = 0; i < mapping.size(); ++i) {
    if (mapping[i] < 0 || mapping[i] >= rank) {
      return BroadcastError("dimension ", mapping[i], " is not in [0, ", rank, ")");
    }
    if (i > 0 && mapping[i] <= mapping[i - 1]) {
      return BroadcastError("dimensions ", ListText(mapping), " are not strictly increasing");
    }
  }
  return absl::OkStatus();
}

// Maps the dimensions of the operand of lower (or equal) rank to those of the other.
absl::StatusOr<DimVector> Mapping(int64_t lower, int64_t higher,
                                  absl::Span<const int64_t> broadcast_dimensions) {
  if (lower == higher || lower == 0) {
    const DimVector identity = Identity(lower);
    if (broadcast_dimensions.empty() || broadcast_dimensions == absl::MakeConstSpan(identity))
      return identity;
    return BroadcastError("broadcast_dimensions ", ListText(broadcast_dimensions),
                          " for operands of ranks ", lower, " and ", higher, "; leave them out");
  }
  if (broadcast_dimensions.empty()) {
    return BroadcastError("operands of ranks ", lower, " and ", higher,
                          " need broadcast_dimensions");
  }
  if (static_cast<int64_t>(broadcast_dimensions.size()) != lower) {
    return BroadcastError("broadcast_dimensions has ", broadcast_dimensions.size(),
                          " entries for rank ", lower);
  }
  ASSAY_RETURN_IF_ERROR(CheckIncreasing(broadcast_dimensions, higher));
  return DimVector(broadcast_dimensions.begin(), broadcast_dimensions.end());
}

}  // namespace

absl::StatusOr<DimVector> BroadcastDimensions(absl::Span<const int64_t> lhs,
                                              absl::Span<const int64_t> rhs,
                                              absl::Span<const int64_t> broadcast_dimensions) {
  const bool lhs_is_lower = lhs.size() <= rhs.size();
  const absl::Span<const int64_t> lower = lhs_is_lower ? lhs : rhs;
  const absl::Span<const int64_t> higher = lhs_is_lower ? rhs : lhs;
  ASSAY_ASSIGN_OR_RETURN(const DimVector mapping,
                         Mapping(lower.size(), higher.size(), broadcast_dimensions));
  DimVector result(higher.begin(), higher.end());
  for (size_t i = 0; i < lower.size(); ++i) {
    int64_t& size = result[mapping[i]];
    if (size == lower[i] || lower[i] == 1) continue;
    if (size != 1) {
      return BroadcastError("dimension ", i, " of ", ListText(lower), " has size ", lower[i],
                            ", dimension ", mapping[i], " of ", ListText(higher), " has ", size,
                            "; neither is 1");
    }
    size = lower[i];
  }
  return result;
}

absl::StatusOr<Instruction*> BroadcastInDim(Computation& computation, Instruction* operand,
                                            absl::Span<const int64_t> dimensions,
                                            absl::Span<const int64_t> mapping) {
  const Shape& shape = operand->shape();
  if (!shape.IsArray()) return BroadcastError(shape.ToString(), " is not an array");
  if (static_cast<int64_t>(mapping.size()) != shape.rank()) {
    return BroadcastError("the mapping ", ListText(mapping), " has ", mapping.size(),
                          " entries for rank ", shape.rank());
  }
  ASSAY_RETURN_IF_ERROR(CheckIncreasing(mapping, dimensions.size()));
  DimVector kept, kept_mapping;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const int64_t size = shape.dimension(i), wanted = dimensions[mapping[i]];
    if (size == wanted) {
      kept.push_back(size);
      kept_mapping.push_back(mapping[i]);
    } else if (size != 1) {
      return BroadcastError("dimension ", i, " of ", shape.ToString(), " has size ", size,
                            ", result dimension ", mapping[i], " has ", wanted);
    }
  }
  if (shape.dimensions() == dimensions) return operand;
  const ElementType type = shape.element_type();
  if (static_cast<int64_t>(kept.size()) != shape.rank()) {
    const Shape squeezed = Shape::Array(type, kept);
    ASSAY_ASSIGN_OR_RETURN(
        operand, computation.AddInferred(Opcode::kReshape, {&operand, 1}, {}, {}, &squeezed));
  }
  const Shape result = Shape::Array(type, dimensions);
  return computation.AddInferred(
      Opcode::kBroadcast, {&operand, 1},
      Attributes().Set(Attr::kDimensions, absl::MakeConstSpan(kept_mapping)), {}, &result);
}

absl::StatusOr<std::pair<Instruction*, Instruction*>> BroadcastOperands(
    Computation& computation, Instruction* lhs, Instruction* rhs,
    absl::Span<const int64_t> broadcast_dimensions) {
  for (const Instruction* operand : {lhs, rhs}) {
    if (!operand->shape().IsArray())
      return BroadcastError(operand->shape().ToString(), " is not an array");
  }
  if (lhs->shape().element_type() != rhs->shape().element_type()) {
    return BroadcastError("element types differ: ", Name(lhs->shape().element_type()), " and ",
                          Name(rhs->shape().element_type()), "; convert one of the operands");
  }
  ASSAY_ASSIGN_OR_RETURN(const DimVector dimensions,
                         BroadcastDimensions(lhs->shape().dimensions(), rhs->shape().dimensions(),
                                             broadcast_dimensions));
  const int64_t lower = std::min(lhs->shape().rank(), rhs->shape().rank());
  ASSAY_ASSIGN_OR_RETURN(const DimVector mapping,
                         Mapping(lower, dimensions.size(), broadcast_dimensions));
  const DimVector identity = Identity(dimensions.size());
  for (Instruction** operand : {&lhs, &rhs}) {
    const bool is_lower = (*operand)->shape().rank() < static_cast<int64_t>(dimensions.size());
    ASSAY_ASSIGN_OR_RETURN(
        *operand, BroadcastInDim(computation, *operand, dimensions, is_lower ? mapping : identity));
  }
  return std::make_pair(lhs, rhs);
}

absl::StatusOr<Instruction*> AddBinary(Computation& computation, Opcode opcode, Instruction* lhs,
                                       Instruction* rhs,
                                       absl::Span<const int64_t> broadcast_dimensions,
                                       Attributes attributes) {
  const OpInfo& info = Info(opcode);
  if (!info.Is(kElementwise) || info.operands.max != 2) {
    return BroadcastError(info.name, " is not an element-wise binary op");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto operands,
                         BroadcastOperands(computation, lhs, rhs, broadcast_dimensions));
  Instruction* const both[] = {operands.first, operands.second};
  return computation.AddInferred(opcode, both, std::move(attributes));
}

}  // namespace assay
