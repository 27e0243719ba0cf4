// Random bits and draws, asked only what has one answer (requirement 46).
#include <algorithm>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

// A state whose counters stand at the ends of their words or are about to pass them, or any state.
Instruction* RandomState(Program& program, const Shape& shape) {
  Choices& choices = program.choices();
  if (!choices.Percent(40)) return program.OperandLike(shape);
  Literal state = LiteralWithEdges(shape, 0, choices.Range(1, 2), choices);
  for (int64_t i = 0; i < state.element_count(); ++i)
    if (choices.Percent(50)) state.SetInteger(i, -choices.Range(1, 5));
  if (!program.scope().entry) return program.Constant(std::move(state));
  return program.GivenParameter(std::move(state));
}

// An annotation, which changes nothing.
Instruction* BuildCustomCall(Program& program, Opcode) {
  Instruction* x = program.Operand(kAnyArray);
  Attributes attributes;
  attributes.Set(Attr::kCustomCallTarget, "Sharding");
  return program.Emit(Opcode::kCustomCall, x->shape(), {x}, std::move(attributes));
}

Instruction* BuildRngBitGenerator(Program& program, Opcode) {
  Choices& choices = program.choices();
  const auto algorithm =
      static_cast<RngAlgorithm>(choices.Range(0, static_cast<int64_t>(RngAlgorithm::kPhilox)));
  const int64_t words = algorithm == RngAlgorithm::kThreeFry || choices.Percent(50) ? 2 : 3;
  const ElementType type =
      choices.Pick({ElementType::kU32, ElementType::kU64, ElementType::kU16, ElementType::kU8});
  if (!program.options().Takes(type) || !program.options().Takes(ElementType::kU64)) return nullptr;
  const Shape state = Shape::Array(ElementType::kU64, {words});
  const Shape bits = Shape::Array(type, program.DrawDimensions());
  if (!program.Fits(bits)) return nullptr;
  Instruction* initial = RandomState(program, state);
  Attributes attributes;
  attributes.Set(Attr::kRngAlgorithm, algorithm);
  Instruction* pair = program.Emit(Opcode::kRngBitGenerator, Shape::Tuple({state, bits}), {initial},
                                   std::move(attributes));
  if (choices.Percent(30)) program.GetTupleElement(pair, 0);
  return program.GetTupleElement(pair, 1);
}

// Draws nobody can predict; what is asked of them has one answer.
// In the entry only: a fused computation may not keep a draw that nobody reads.
Instruction* BuildRng(Program& program, Opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  const ElementType type = program.DrawType(kF);
  // Nothing is said of draws in a byte or less, where few numbers are between the ends.
  if (BitWidth(type) < 16) return nullptr;
  const DimVector dimensions = program.DrawDimensions();
  const Shape shape = Shape::Array(type, dimensions);
  if (!program.Fits(shape)) return nullptr;
  const bool normal = choices.Percent(40);
  const int64_t from = choices.Range(-4, 4);
  Instruction* a = program.ScalarConstant(type, from);
  Instruction* b = program.ScalarConstant(type, normal ? 0 : from + choices.Range(1, 8));
  Attributes attributes;
  attributes.Set(Attr::kDistribution,
                 normal ? RngDistribution::kNormal : RngDistribution::kUniform);
  Instruction* drawn = program.Emit(Opcode::kRng, shape, {a, b}, std::move(attributes));
  if (normal) return drawn;
  std::erase(program.scope().values, drawn);
  // A number below all draws: of one that may be drawn no comparison is sure.
  Instruction* below = program.ScalarConstant(type, from - 1);
  return program.Compare(Direction::kGe, drawn, program.Splat(below, dimensions));
}

Instruction* BuildRandomState(Program& program, Opcode) {
  if (!program.scope().entry || !program.options().Takes(ElementType::kU64)) return nullptr;
  Attributes attributes;
  attributes.Set(Attr::kDelta, AttrValue(program.choices().Range(1, 100)));
  Instruction* state =
      program.Emit(Opcode::kRngGetAndUpdateState, Shape::Array(ElementType::kU64, {2}), {},
                   std::move(attributes));
  std::erase(program.scope().values, state);
  return program.Compare(Direction::kEq, state, state);
}

constexpr RecipeGroup kGroup = RecipeGroup::kDot;
constexpr Recipe kRecipes[] = {
    {Opcode::kRngBitGenerator, "rng-bit-generator", kGroup, 2, BuildRngBitGenerator},
    // Not random: it stands here because a seed means a program by the order of rows.
    {Opcode::kCustomCall, "annotation", kGroup, 3, BuildCustomCall, kNotPortable},
    {Opcode::kRng, "rng", kGroup, 1, BuildRng},
    {Opcode::kRngGetAndUpdateState, "random-state", kGroup, 1, BuildRandomState, kNotPortable},
};

}  // namespace

absl::Span<const Recipe> RandomRecipes() { return kRecipes; }

}  // namespace assay
