// Constants read and made, and replacement through the gate.
#include "optimized/passes/util/rule_util.h"

#include <cmath>
#include <limits>
#include <utility>

#include "spec/ir/computation.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

bool AllElementsEqual(const Literal& literal) {
  const size_t width = StorageBytes(literal.element_type());
  const absl::Span<const uint8_t> bytes = literal.bytes();
  return bytes.size() >= width &&
         std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
}

}  // namespace

bool SameShape(const Instruction* a, const Instruction* b) { return a->shape() == b->shape(); }

bool ReplaceByExisting(Instruction* inst, Instruction* with, RuleContext& context,
                       std::string_view rule) {
  if (!SameShape(inst, with)) return false;
  Rewrite rewrite(context.gates, rule, inst);
  return rewrite && rewrite.Replace(with);
}

const Literal* ConstantValue(const Instruction* inst) {
  return inst->opcode() == Opcode::kConstant && inst->shape().IsArray() ? inst->literal() : nullptr;
}

const Literal* SplatElement(const Instruction* inst) {
  while (inst->opcode() == Opcode::kBroadcast) inst = inst->operand(0);
  const Literal* literal = ConstantValue(inst);
  return literal != nullptr && AllElementsEqual(*literal) ? literal : nullptr;
}

std::optional<int64_t> SplatInteger(const Instruction* inst) {
  const ElementType type = inst->shape().element_type();
  if (!IsInteger(type) && !IsPred(type)) return std::nullopt;
  const Literal* literal = SplatElement(inst);
  if (literal == nullptr) return std::nullopt;
  return literal->GetInteger(0);
}

std::optional<double> SplatFloat(const Instruction* inst) {
  if (!IsFloat(inst->shape().element_type())) return std::nullopt;
  const Literal* literal = SplatElement(inst);
  if (literal == nullptr) return std::nullopt;
  return literal->GetDouble(0);
}

bool IsSplat(const Instruction* inst, double value) {
  if (const std::optional<int64_t> integer = SplatInteger(inst)) {
    return static_cast<double>(*integer) == value;
  }
  const std::optional<double> real = SplatFloat(inst);
  return real && *real == value && std::signbit(*real) == std::signbit(value);
}

bool SameValue(const Instruction* a, const Instruction* b) {
  if (a == b) return true;
  const Literal* x = ConstantValue(a);
  const Literal* y = ConstantValue(b);
  return x != nullptr && y != nullptr && x->element_type() == y->element_type() &&
         x->BitwiseEqual(*y);
}

int64_t MinInteger(ElementType type) {
  if (!IsSigned(type)) return 0;
  return std::numeric_limits<int64_t>::min() >> (64 - BitWidth(type));
}

int64_t MaxInteger(ElementType type) {
  if (IsPred(type)) return 1;
  const int bits = BitWidth(type) - (IsSigned(type) ? 1 : 0);
  return bits >= 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1;
}

Instruction* AddScalarInteger(Computation* computation, ElementType type, int64_t value) {
  Literal literal(Shape::Scalar(type));
  literal.SetInteger(0, value);
  return computation->AddConstant(std::move(literal));
}

Instruction* AddScalarFloat(Computation* computation, ElementType type, double value) {
  Literal literal(Shape::Scalar(type));
  literal.SetDouble(0, value);
  return computation->AddConstant(std::move(literal));
}

Instruction* AddSplat(Computation* computation, const Shape& shape, Instruction* scalar) {
  if (shape.rank() == 0) return scalar;
  return computation->Add(Opcode::kBroadcast, shape, {scalar}, DimensionsAttr({}));
}

Instruction* AddSplatInteger(Computation* computation, const Shape& shape, int64_t value) {
  const ElementType type = shape.element_type();
  Instruction* scalar = IsFloat(type)
                            ? AddScalarFloat(computation, type, static_cast<double>(value))
                            : AddScalarInteger(computation, type, value);
  return AddSplat(computation, shape, scalar);
}

Attributes DimensionsAttr(absl::Span<const int64_t> dimensions) {
  return Attributes().Set(Attr::kDimensions, dimensions);
}

Attributes SliceAttr(std::vector<SliceRange> ranges) {
  return Attributes().Set(Attr::kSlice, AttrValue(std::move(ranges)));
}

SliceRange TightRange(int64_t start, int64_t stride, int64_t size) {
  if (size == 0) return {start, start, 1};
  return {start, start + (size - 1) * stride + 1, size == 1 ? 1 : stride};
}

bool ReplaceByNew(Rewrite& rewrite, Instruction* inst, Opcode opcode,
                  std::initializer_list<Instruction*> operands, Attributes attributes) {
  return rewrite.Replace(
      inst->parent()->Add(opcode, inst->shape(), operands, std::move(attributes)));
}

bool RewriteTo(Instruction* inst, RuleContext& context, std::string_view rule, Opcode opcode,
               std::initializer_list<Instruction*> operands, Attributes attributes) {
  Rewrite rewrite(context.gates, rule, inst);
  return rewrite && ReplaceByNew(rewrite, inst, opcode, operands, std::move(attributes));
}

std::optional<Opcode> RecognisedCombiner(const Computation* computation) {
  const Instruction* root = computation->root();
  if (computation->parameter_count() != 2 || root->operand_count() != 2) return std::nullopt;
  const Instruction* a = root->operand(0);
  const Instruction* b = root->operand(1);
  if (a->opcode() != Opcode::kParameter || b->opcode() != Opcode::kParameter || a == b ||
      a->shape().element_type() != root->shape().element_type() ||
      b->shape().element_type() != root->shape().element_type()) {
    return std::nullopt;
  }
  if (!Info(root->opcode()).Is(kAssociative)) return std::nullopt;
  return root->opcode();
}

}  // namespace assay
