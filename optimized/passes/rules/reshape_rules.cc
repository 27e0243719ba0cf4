// transpose, reshape, reverse, copy, bitcast: pure re-indexing.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "optimized/passes/rules/rules.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

absl::Span<const int64_t> Dims(const Instruction* inst) {
  return inst->attributes().Integers(Attr::kDimensions);
}

bool IsIdentityPermutation(absl::Span<const int64_t> permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Rule for ops that are the identity whenever operand and result have one shape and layout.
bool SameAsOperand(Instruction* inst, RuleContext& context, std::string_view rule) {
  return ReplaceByExisting(inst, inst->operand(0), context, rule);
}

bool TrivialTranspose(Instruction* transpose, RuleContext& context, std::string_view rule) {
  return context.gates.Holds("trivial-transpose/in-order", transpose,
                             IsIdentityPermutation(Dims(transpose))) &&
         SameAsOperand(transpose, context, rule);
}

bool TransposeOfTranspose(Instruction* transpose, RuleContext& context, std::string_view rule) {
  Instruction* inner = transpose->operand(0);
  if (inner->opcode() != Opcode::kTranspose) return false;
  std::vector<int64_t> merged;
  for (int64_t d : Dims(transpose)) merged.push_back(Dims(inner)[d]);
  return RewriteTo(transpose, context, rule, Opcode::kTranspose, {inner->operand(0)},
                   DimensionsAttr(merged));
}

// Only dimensions of size 1 change places: the row-major order of the elements stays.
bool TransposeToReshape(Instruction* transpose, RuleContext& context, std::string_view rule) {
  int64_t last = -1;
  for (int64_t d : Dims(transpose)) {
    if (transpose->operand(0)->shape().dimension(d) == 1) continue;
    if (!context.gates.Holds("transpose-to-reshape/order-kept", transpose, d >= last)) return false;
    last = d;
  }
  return RewriteTo(transpose, context, rule, Opcode::kReshape, {transpose->operand(0)});
}

bool ReshapeOfReshape(Instruction* reshape, RuleContext& context, std::string_view rule) {
  Instruction* inner = reshape->operand(0);
  if (inner->opcode() != Opcode::kReshape) return false;
  return RewriteTo(reshape, context, rule, Opcode::kReshape, {inner->operand(0)});
}

// A bitcast keeps physical order; when both orders are row-major that is what a reshape does.
bool BitcastToReshape(Instruction* bitcast, RuleContext& context, std::string_view rule) {
  const Shape& from = bitcast->operand(0)->shape();
  const Shape& to = bitcast->shape();
  const auto plain = [](const Shape& shape) {
    return shape.layout().IsRowMajor() && shape.layout().extras() == nullptr;
  };
  if (from.element_type() != to.element_type() ||
      !context.gates.Holds("bitcast-to-reshape/row-major", bitcast, plain(from) && plain(to))) {
    return false;
  }
  return RewriteTo(bitcast, context, rule, Opcode::kReshape, {bitcast->operand(0)});
}

bool ReverseOfReverse(Instruction* reverse, RuleContext& context, std::string_view rule) {
  Instruction* inner = reverse->operand(0);
  if (inner->opcode() != Opcode::kReverse) return false;
  std::vector<int64_t> once;  // reversed by one of the two only
  for (int64_t d = 0; d < reverse->shape().rank(); ++d) {
    const auto has = [d](absl::Span<const int64_t> dims) {
      return std::find(dims.begin(), dims.end(), d) != dims.end();
    };
    if (has(Dims(reverse)) != has(Dims(inner))) once.push_back(d);
  }
  if (once.empty()) return ReplaceByExisting(reverse, inner->operand(0), context, rule);
  return RewriteTo(reverse, context, rule, Opcode::kReverse, {inner->operand(0)},
                   DimensionsAttr(once));
}

bool TrivialReverse(Instruction* reverse, RuleContext& context, std::string_view rule) {
  for (int64_t d : Dims(reverse)) {
    const bool alone = reverse->shape().dimension(d) <= 1;
    if (!context.gates.Holds("trivial-reverse/one-element", reverse, alone)) return false;
  }
  return SameAsOperand(reverse, context, rule);
}

bool ReverseOfBroadcast(Instruction* reverse, RuleContext& context, std::string_view rule) {
  Instruction* broadcast = reverse->operand(0);
  if (broadcast->opcode() != Opcode::kBroadcast) return false;
  for (int64_t d : Dims(reverse)) {
    const absl::Span<const int64_t> dims = Dims(broadcast);
    const auto source = std::find(dims.begin(), dims.end(), d);
    const bool repeated = source == dims.end() ||
                          broadcast->operand(0)->shape().dimension(source - dims.begin()) <= 1;
    if (!context.gates.Holds("reverse-of-broadcast/repeated", reverse, repeated)) return false;
  }
  return ReplaceByExisting(reverse, broadcast, context, rule);
}

constexpr Rule kRules[] = {
    {"trivial-transpose", Opcode::kTranspose, TrivialTranspose, "transpose in order -> operand"},
    {"transpose-of-transpose", Opcode::kTranspose, TransposeOfTranspose,
     "two transposes -> one by the composed permutation"},
    {"transpose-to-reshape", Opcode::kTranspose, TransposeToReshape,
     "transpose that moves only dimensions of size 1 -> reshape"},
    {"trivial-reshape", Opcode::kReshape, SameAsOperand, "reshape to the same shape -> operand"},
    {"reshape-of-reshape", Opcode::kReshape, ReshapeOfReshape, "two reshapes -> one"},
    {"trivial-copy", Opcode::kCopy, SameAsOperand, "copy to the same layout -> operand"},
    {"trivial-bitcast", Opcode::kBitcast, SameAsOperand, "bitcast to the same shape -> operand"},
    {"bitcast-to-reshape", Opcode::kBitcast, BitcastToReshape,
     "bitcast between row-major layouts of one type -> reshape"},
    {"trivial-reverse", Opcode::kReverse, TrivialReverse,
     "reverse of dimensions of at most one element -> operand"},
    {"reverse-of-reverse", Opcode::kReverse, ReverseOfReverse,
     "two reverses -> the dimensions that only one of them reverses"},
    {"reverse-of-broadcast", Opcode::kReverse, ReverseOfBroadcast,
     "reverse of repeated dimensions -> operand"},
};

}  // namespace

absl::Span<const Rule> ReshapeRules() { return kRules; }

}  // namespace assay
