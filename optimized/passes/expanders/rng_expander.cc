// Uniform numbers are scaled bits, normal ones follow Box and Muller.
#include "optimized/passes/expanders/rng_expander.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"
#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

class Expansion {
 public:
  explicit Expansion(Instruction* op)
      : op_(*op), into_(op->parent()), type_(op->shape().element_type()) {
    wide_ = type_ == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32;
  }

  Instruction* Expand() {
    if (IsPred(type_)) {
      const Shape bits = Like(ElementType::kU32);
      Instruction* one = Binary(Opcode::kAnd, Bits(bits), AddSplatInteger(into_, bits, 1));
      return Compare(one, AddSplatInteger(into_, bits, 0), Direction::kNe);
    }
    if (IsInteger(type_)) return UniformInteger();
    const bool normal =
        op_.attributes().Word<RngDistribution>(Attr::kDistribution) == RngDistribution::kNormal;
    return normal ? Normal() : UniformFloat();
  }

 private:
  Shape Like(ElementType type) const { return Shape::Array(type, op_.shape().dimensions()); }
  Instruction* Binary(Opcode opcode, Instruction* x, Instruction* y) {
    return into_->Add(opcode, x->shape(), {x, y});
  }
  Instruction* Compare(Instruction* x, Instruction* y, Direction direction) {
    return into_->Add(Opcode::kCompare, Shape::Array(ElementType::kPred, x->shape().dimensions()),
                      {x, y}, Attributes().Set(Attr::kDirection, direction));
  }
  Instruction* Select(Instruction* which, Instruction* x, Instruction* y) {
    return into_->Add(Opcode::kSelect, x->shape(), {which, x, y});
  }
  Instruction* As(ElementType type, Instruction* value) {
    if (value->shape().element_type() == type) return value;
    return into_->Add(Opcode::kConvert, Shape::Array(type, value->shape().dimensions()), {value});
  }
  Instruction* SameBits(ElementType type, Instruction* value) {
    if (value->shape().element_type() == type) return value;
    return into_->Add(Opcode::kBitcastConvert, Shape::Array(type, value->shape().dimensions()),
                      {value});
  }
  Instruction* Spread(Instruction* scalar) {
    return AddSplat(into_, Like(scalar->shape().element_type()), scalar);
  }
  Instruction* Number(double value) { return Spread(AddScalarFloat(into_, wide_, value)); }

  // Random bits of a stream that nobody else draws from.
  Instruction* Bits(const Shape& shape) {
    const Shape state = Shape::Array(ElementType::kU64, {2});
    Instruction* own = into_->Add(
        Opcode::kRngGetAndUpdateState, state, {},
        Attributes().Set(Attr::kDelta, AttrValue(std::max<int64_t>(1, shape.ElementCount()))));
    Instruction* drawn = into_->Add(Opcode::kRngBitGenerator, Shape::Tuple({state, shape}), {own},
                                    Attributes().Set(Attr::kRngAlgorithm, RngAlgorithm::kThreeFry));
    return AddElement(into_, drawn, 1);
  }

  // Takes as many bits as the significand of the wide type holds, as an integer in that type.
  Instruction* Fraction() {
    const bool is_double = wide_ == ElementType::kF64;
    const Shape bits = Like(is_double ? ElementType::kU64 : ElementType::kU32);
    Instruction* high = Binary(Opcode::kShiftRightLogical, Bits(bits),
                               AddSplatInteger(into_, bits, is_double ? 11 : 8));
    return As(wide_, high);
  }
  Instruction* Scale() { return Number(wide_ == ElementType::kF64 ? 0x1p-53 : 0x1p-24); }

  // In [a, b); a where that is no interval, and where rounding gives b.
  Instruction* UniformFloat() {
    Instruction *a = As(wide_, op_.operand(0)), *b = As(wide_, op_.operand(1));
    Instruction* span = Binary(Opcode::kSubtract, b, a);
    Instruction* finite =
        Compare(span, AddScalarFloat(into_, wide_, std::numeric_limits<double>::infinity()),
                Direction::kLt);
    Instruction* valid = Binary(Opcode::kAnd, Compare(a, b, Direction::kLt), finite);
    Instruction* unit = Binary(Opcode::kMultiply, Fraction(), Scale());
    Instruction* value =
        Binary(Opcode::kAdd, Spread(a), Binary(Opcode::kMultiply, Spread(span), unit));
    value = As(type_, value);
    Instruction* inside = Compare(As(wide_, value), Spread(b), Direction::kLt);
    return Select(Binary(Opcode::kAnd, Spread(valid), inside), value, Spread(op_.operand(0)));
  }

  Instruction* Normal() {
    Instruction *mean = As(wide_, op_.operand(0)), *deviation = As(wide_, op_.operand(1));
    // Above 0, so that the logarithm is finite.
    Instruction* u =
        Binary(Opcode::kMultiply, Binary(Opcode::kAdd, Fraction(), Number(1)), Scale());
    Instruction* angle = Binary(Opcode::kMultiply, Fraction(), Scale());
    angle = Binary(Opcode::kMultiply, angle, Number(2 * std::numbers::pi));
    Instruction* radius = into_->Add(Opcode::kLog, u->shape(), {u});
    radius = Binary(Opcode::kMultiply, radius, Number(-2));
    radius = into_->Add(Opcode::kSqrt, radius->shape(), {radius});
    Instruction* z =
        Binary(Opcode::kMultiply, radius, into_->Add(Opcode::kCosine, angle->shape(), {angle}));
    return As(type_,
              Binary(Opcode::kAdd, Spread(mean), Binary(Opcode::kMultiply, Spread(deviation), z)));
  }

  // a + bits % (b - a), where b is above a; modulo 2^64, in which no type overflows.
  Instruction* UniformInteger() {
    const ElementType widest = IsSigned(type_) ? ElementType::kS64 : ElementType::kU64;
    Instruction *a = op_.operand(0), *b = op_.operand(1);
    Instruction* valid = Compare(a, b, Direction::kLt);
    Instruction* first = SameBits(ElementType::kU64, As(widest, a));
    Instruction* size =
        Binary(Opcode::kSubtract, SameBits(ElementType::kU64, As(widest, b)), first);
    size = Select(valid, size, AddScalarInteger(into_, ElementType::kU64, 1));
    Instruction* offset = Binary(Opcode::kRemainder, Bits(Like(ElementType::kU64)), Spread(size));
    Instruction* value = Binary(Opcode::kAdd, Spread(first), offset);
    return As(type_, SameBits(widest, value));
  }

  const Instruction& op_;
  Computation* into_;
  ElementType type_, wide_;
};

}  // namespace

absl::StatusOr<bool> RngExpander::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kRng})) return false;
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kRng) continue;
      Rewrite rewrite(context.gates, "expand-rng", inst, /*required=*/true);
      changed |= rewrite.Replace(Expansion(inst).Expand());
    }
  }
  return changed;
}

}  // namespace assay
