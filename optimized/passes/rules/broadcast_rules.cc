// broadcast, and reshapes of broadcasts.
#include <algorithm>
#include <utility>
#include <vector>

#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

absl::Span<const int64_t> Dims(const Instruction* inst) {
  return inst->attributes().Integers(Attr::kDimensions);
}

bool IsIncreasing(absl::Span<const int64_t> dims) {
  return std::adjacent_find(dims.begin(), dims.end(),
                            [](int64_t a, int64_t b) { return a >= b; }) == dims.end();
}

bool TrivialBroadcast(Instruction* broadcast, RuleContext& context, std::string_view rule) {
  // A full list of dimensions in increasing order is the identity.
  if (!context.gates.Holds("trivial-broadcast/in-order", broadcast,
                           IsIncreasing(Dims(broadcast))) ||
      static_cast<int64_t>(Dims(broadcast).size()) != broadcast->shape().rank()) {
    return false;
  }
  return ReplaceByExisting(broadcast, broadcast->operand(0), context, rule);
}

bool BroadcastOfBroadcast(Instruction* broadcast, RuleContext& context, std::string_view rule) {
  Instruction* inner = broadcast->operand(0);
  if (inner->opcode() != Opcode::kBroadcast) return false;
  std::vector<int64_t> merged;
  for (int64_t d : Dims(inner)) merged.push_back(Dims(broadcast)[d]);
  return RewriteTo(broadcast, context, rule, Opcode::kBroadcast, {inner->operand(0)},
                   DimensionsAttr(merged));
}

// A broadcast that adds only dimensions of size 1 keeps all elements in their order.
bool BroadcastToReshape(Instruction* broadcast, RuleContext& context, std::string_view rule) {
  if (!context.gates.Holds("broadcast-to-reshape/in-order", broadcast,
                           IsIncreasing(Dims(broadcast))) ||
      broadcast->shape().ElementCount() != broadcast->operand(0)->shape().ElementCount()) {
    return false;
  }
  return RewriteTo(broadcast, context, rule, Opcode::kReshape, {broadcast->operand(0)});
}

bool BroadcastToTranspose(Instruction* broadcast, RuleContext& context, std::string_view rule) {
  const Shape& operand = broadcast->operand(0)->shape();
  if (operand.rank() != broadcast->shape().rank()) return false;
  std::vector<int64_t> permutation(operand.rank());
  for (int64_t i = 0; i < operand.rank(); ++i) {
    if (operand.dimension(i) != broadcast->shape().dimension(Dims(broadcast)[i])) return false;
    permutation[Dims(broadcast)[i]] = i;
  }
  return RewriteTo(broadcast, context, rule, Opcode::kTranspose, {broadcast->operand(0)},
                   DimensionsAttr(permutation));
}

bool ReshapeOfSplat(Instruction* reshape, RuleContext& context, std::string_view rule) {
  Instruction* broadcast = reshape->operand(0);
  if (broadcast->opcode() != Opcode::kBroadcast || broadcast->operand(0)->shape().rank() != 0 ||
      reshape->shape().rank() == 0) {
    return false;
  }
  return RewriteTo(reshape, context, rule, Opcode::kBroadcast, {broadcast->operand(0)},
                   DimensionsAttr({}));
}

// Tells where each dimension of `from` that is not of size 1 stands in `to`, when the reshape adds
// and removes only dimensions of size 1; -1 for those. Empty if the reshape does more.
std::vector<int64_t> UnitReshapeMap(const Shape& from, const Shape& to) {
  std::vector<int64_t> map(from.rank(), -1);
  int64_t at = 0;
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (from.dimension(d) == 1) continue;
    while (at < to.rank() && to.dimension(at) == 1) ++at;
    if (at == to.rank() || to.dimension(at) != from.dimension(d)) return {};
    map[d] = at++;
  }
  while (at < to.rank() && to.dimension(at) == 1) ++at;
  return at == to.rank() ? map : std::vector<int64_t>{};
}

bool ReshapeOfBroadcast(Instruction* reshape, RuleContext& context, std::string_view rule) {
  Instruction* broadcast = reshape->operand(0);
  if (broadcast->opcode() != Opcode::kBroadcast) return false;
  const std::vector<int64_t> map = UnitReshapeMap(broadcast->shape(), reshape->shape());
  if (map.empty()) return false;
  std::vector<int64_t> dims;
  for (int64_t d : Dims(broadcast)) {
    if (map[d] < 0) return false;  // comes from an operand's dimension of size 1
    dims.push_back(map[d]);
  }
  return RewriteTo(reshape, context, rule, Opcode::kBroadcast, {broadcast->operand(0)},
                   DimensionsAttr(dims));
}

constexpr Rule kRules[] = {
    {"trivial-broadcast", Opcode::kBroadcast, TrivialBroadcast,
     "broadcast to the same shape -> operand"},
    {"broadcast-of-broadcast", Opcode::kBroadcast, BroadcastOfBroadcast, "two broadcasts -> one"},
    {"broadcast-to-reshape", Opcode::kBroadcast, BroadcastToReshape,
     "broadcast that only adds dimensions of size 1 -> reshape"},
    {"broadcast-to-transpose", Opcode::kBroadcast, BroadcastToTranspose,
     "broadcast that only reorders dimensions -> transpose"},
    {"reshape-of-splat", Opcode::kReshape, ReshapeOfSplat,
     "reshape of a broadcast scalar -> broadcast"},
    {"reshape-of-broadcast", Opcode::kReshape, ReshapeOfBroadcast,
     "reshape that adds or removes dimensions of size 1 of a broadcast -> broadcast"},
};

}  // namespace

absl::Span<const Rule> BroadcastRules() { return kRules; }

}  // namespace assay
