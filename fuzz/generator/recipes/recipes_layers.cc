// Products of matrices large enough to be packed, with what networks make of them: bias,
// activation, residual, scale, conversion.
#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

// One more op behind a product, of the kind that compilers make together with its sums.
Instruction* BehindProduct(Program& program, Instruction* value) {
  Choices& choices = program.choices();
  const Shape shape = value->shape();
  const ElementType type = shape.element_type();
  const DimVector dimensions(shape.dimensions().begin(), shape.dimensions().end());
  const auto either = [&](Opcode opcode, Instruction* other) {
    return choices.Percent(50) ? program.Binary(opcode, value, other)
                               : program.Binary(opcode, other, value);
  };
  const Opcode opcode =
      choices.Pick({Opcode::kAdd, Opcode::kAdd, Opcode::kMultiply, Opcode::kSubtract});
  switch (choices.Weighted({30, 20, 15, 15, 10, 10})) {
    case 0: {  // a bias along one dimension
      const auto d = static_cast<int64_t>(choices.Draw(shape.rank()));
      Instruction* bias = program.OperandOf(type, {shape.dimension(d)});
      return either(opcode, program.Broadcast(bias, dimensions, {d}));
    }
    case 1:  // a residual
      return either(opcode, LargeOperand(program, type, dimensions));
    case 2:  // its square, so that several read it
      return program.Binary(opcode, value, value);
    case 3: {
      if (IsComplex(type)) return value;
      Instruction* zero = program.Splat(program.ScalarConstant(type, 0), dimensions);
      return either(Opcode::kMaximum, zero);
    }
    case 4:
      return IsFloat(type) ? program.Unary(choices.Pick({Opcode::kTanh, Opcode::kLogistic}), value)
                           : program.Unary(Opcode::kNegate, value);
    default:
      if (choices.Percent(40)) {
        return program.Transpose(value, RandomPermutation(choices, shape.rank()));
      }
      return IsComplex(type) ? value : program.Convert(value, program.DrawType(kI | kF));
  }
}

// A product of two matrices that is surely packed, with lines to finish one by one, and what is
// made of it.
Instruction* BuildLayer(Program& program, Opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  constexpr int64_t kProducts = 1 << 16;
  const ElementType type = program.DrawType(kI | kF);
  const int64_t m = choices.Pick<int64_t>({7, 16, 31, 33, 48, 65});
  const int64_t n = choices.Pick<int64_t>({16, 31, 32, 33, 48, 65, 96, 131});
  const int64_t k = kProducts / (m * n) + choices.Range(1, 9);
  const bool lhs_turned = choices.Percent(25), rhs_turned = choices.Percent(25);
  DimVector lhs = {lhs_turned ? k : m, lhs_turned ? m : k};
  DimVector rhs = {rhs_turned ? n : k, rhs_turned ? k : n};
  DimVector result = {m, n};
  Attributes attributes;
  const bool is_batched = choices.Percent(20);
  if (is_batched) {
    for (DimVector* sizes : {&lhs, &rhs, &result}) sizes->insert(sizes->begin(), 2);
    attributes.Set(Attr::kLhsBatchDims, {0}).Set(Attr::kRhsBatchDims, {0});
  }
  const int64_t first = is_batched ? 1 : 0;
  attributes.Set(Attr::kLhsContractingDims, {lhs_turned ? first : first + 1});
  attributes.Set(Attr::kRhsContractingDims, {rhs_turned ? first + 1 : first});
  Instruction* x = program.Emit(
      Opcode::kDot, Shape::Array(type, result),
      {LargeOperand(program, type, lhs), LargeOperand(program, type, rhs)}, std::move(attributes));
  for (int64_t more = choices.Range(1, 4); more > 0; --more) x = BehindProduct(program, x);
  return x;
}

constexpr Recipe kRecipes[] = {
    {Opcode::kDot, "layer", RecipeGroup::kDot, 6, BuildLayer, kNotPortable},
};

}  // namespace

absl::Span<const Recipe> LayerRecipes() { return kRecipes; }

}  // namespace assay
