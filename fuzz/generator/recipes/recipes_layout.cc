// Copies and bitcasts with layouts, reinterpretation of bits (requirements 36, 42).
#include <vector>

#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

// A copy into another order of dimensions, then back or onwards.
Instruction* CopyTo(Program& program, Instruction* operand,
                    absl::Span<const int64_t> minor_to_major) {
  Shape shape = Shape::Array(operand->shape().element_type(), operand->shape().dimensions());
  shape.set_layout(Layout(minor_to_major));
  return program.Emit(Opcode::kCopy, std::move(shape), {operand});
}

Instruction* BuildCopy(Program& program, Opcode) {
  Instruction* x = program.Operand(kP | kI | kF);
  if (program.choices().Percent(40) || x->shape().rank() < 2) {
    return program.Emit(Opcode::kCopy,
                        Shape::Array(x->shape().element_type(), x->shape().dimensions()), {x});
  }
  Instruction* turned = CopyTo(program, x, RandomPermutation(program.choices(), x->shape().rank()));
  DimVector row_major;
  for (int64_t i = x->shape().rank() - 1; i >= 0; --i) row_major.push_back(i);
  return CopyTo(program, turned, row_major);
}

// A copy whose layout permutes, read through a bitcast in physical order: a transpose in disguise.
Instruction* BuildBitcast(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kP | kI | kF, 1);
  int64_t rank = x->shape().rank();
  if (choices.Percent(40) && rank >= 2) {
    DimVector order = RandomPermutation(choices, rank);
    Instruction* turned = CopyTo(program, x, order);
    DimVector physical;
    for (int64_t i = rank - 1; i >= 0; --i) physical.push_back(x->shape().dimension(order[i]));
    return program.Emit(Opcode::kBitcast, Shape::Array(x->shape().element_type(), physical),
                        {turned});
  }
  // In row-major order a bitcast is a reshape.
  DimVector flat = {x->shape().ElementCount()};
  return program.Emit(Opcode::kBitcast, Shape::Array(x->shape().element_type(), flat), {x});
}

ElementType TypeOfWidth(Choices& choices, int bits) {
  std::vector<ElementType> fitting;
  for (ElementType type : ComputedTypes()) {
    if (!IsPred(type) && BitWidth(type) == bits) fitting.push_back(type);
  }
  return choices.Pick(fitting);
}

Instruction* BuildBitcastConvert(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kI | kF);
  if (!IsComputed(x->shape().element_type()))
    return nullptr;  // widths below a byte have no partner
  int bits = BitWidth(x->shape().element_type());
  DimVector dimensions(x->shape().dimensions().begin(), x->shape().dimensions().end());
  int to = bits;
  if (choices.Percent(30)) {
    int64_t last = dimensions.empty() ? 0 : dimensions.back();
    if ((last == 2 || last == 4 || last == 8) && bits * last <= 64) {
      to = static_cast<int>(bits * last);
      dimensions.pop_back();
    } else if (bits > 8) {
      int64_t ratio = choices.Percent(50) || bits == 16 ? 2 : 4;
      to = static_cast<int>(bits / ratio);
      dimensions.push_back(ratio);
    }
  }
  return program.Emit(Opcode::kBitcastConvert, Shape::Array(TypeOfWidth(choices, to), dimensions),
                      {x});
}

// Bits of a float looked at as an integer, changed, and looked at as a float again.
Instruction* BuildBitTrick(Program& program, Opcode) {
  Choices& choices = program.choices();
  Instruction* x = program.Operand(kF);
  if (!IsComputed(x->shape().element_type())) return nullptr;
  ElementType home = x->shape().element_type();
  int bits = BitWidth(home);
  ElementType integer = bits == 16   ? ElementType::kU16
                        : bits == 32 ? ElementType::kU32
                                     : ElementType::kU64;
  DimVector dimensions(x->shape().dimensions().begin(), x->shape().dimensions().end());
  Instruction* as_bits =
      program.Emit(Opcode::kBitcastConvert, Shape::Array(integer, dimensions), {x});
  Instruction* mask = program.ScalarConstant(integer, choices.Percent(50) ? MaxOf(integer) : 1);
  if (!dimensions.empty()) mask = program.Splat(mask, dimensions);
  Instruction* changed =
      program.Binary(choices.Pick({Opcode::kAnd, Opcode::kXor, Opcode::kOr}), as_bits, mask);
  if (choices.Percent(50)) return changed;
  return program.Emit(Opcode::kBitcastConvert, Shape::Array(home, dimensions), {changed});
}

// A barrier around one array, or around two whose parts go on separately.
Instruction* BuildOptBarrier(Program& program, Opcode) {
  Instruction* x = program.Operand(kP | kI | kF);
  if (program.choices().Percent(50)) return program.Emit(Opcode::kOptBarrier, x->shape(), {x});
  Instruction* y = program.Operand(kP | kI | kF);
  Instruction* both = program.Tuple({x, y});
  Instruction* barrier = program.Emit(Opcode::kOptBarrier, both->shape(), {both});
  program.GetTupleElement(barrier, 1);
  return program.GetTupleElement(barrier, 0);
}

constexpr RecipeGroup kGroup = RecipeGroup::kLayout;
constexpr Recipe kRecipes[] = {
    {Opcode::kCopy, "copy", kGroup, 4, BuildCopy},
    {Opcode::kBitcast, "bitcast", kGroup, 2, BuildBitcast, kNotPortable},
    {Opcode::kBitcastConvert, "bitcast-convert", kGroup, 4, BuildBitcastConvert},
    {Opcode::kBitcastConvert, "bit-trick", kGroup, 2, BuildBitTrick},
    {Opcode::kOptBarrier, "opt-barrier", kGroup, 2, BuildOptBarrier},
};

}  // namespace

absl::Span<const Recipe> LayoutRecipes() { return kRecipes; }

}  // namespace assay
