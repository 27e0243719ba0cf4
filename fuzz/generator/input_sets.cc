// Rotates the families of values over the parameters of a program.
#include "fuzz/generator/input_sets.h"

#include <array>
#include <optional>

#include "fuzz/generator/values.h"

namespace assay {
namespace {

// The places of edge values depend on the set, and most places stay ordinary: a flood of NaN would
// drown everything else.
Literal WithEdges(const Shape& shape, int64_t set, Choices& choices) {
  constexpr int64_t kEvery = 3;
  return LiteralWithEdges(shape, set % kEvery, kEvery, choices);
}

// A scalar whose value changes no loop: it says only where slices begin.
bool IsStart(const Instruction& parameter) {
  if (!parameter.shape().IsScalar() || !IsIndexType(parameter.shape().element_type())) return false;
  for (const Instruction* user : parameter.users()) {
    const int64_t first = user->opcode() == Opcode::kDynamicSlice         ? 1
                          : user->opcode() == Opcode::kDynamicUpdateSlice ? 2
                                                                          : user->operand_count();
    for (int64_t i = 0; i < user->operand_count(); ++i) {
      if (user->operand(i) == &parameter && i < first) return false;
    }
  }
  return true;
}

// An edge of the type, or a place around a small array.
Literal DrawStart(const Shape& shape, Choices& choices) {
  Literal start(shape);
  if (choices.Percent(30)) {
    RandomStream stream = choices.Fork();
    start.SetBits(0, EdgeCode(shape.element_type(), stream));
  } else {
    start.SetInteger(0, choices.Range(-3, 12));
  }
  return start;
}

}  // namespace

std::vector<Literal> InputSet(const Case& made, uint64_t seed, uint64_t index, int64_t set) {
  if (set == 0) return made.inputs;
  // Nothing stands for edges: they come every other time.
  static constexpr std::array<std::optional<ValueFamily>, 8> kRotation = {
      ValueFamily::kOrdinary, std::nullopt, ValueFamily::kWide,       std::nullopt,
      ValueFamily::kSpecials, std::nullopt, ValueFamily::kOneSpecial, std::nullopt};
  Choices choices = Choices::FromSeed(MixSeeds(MixSeeds(seed, index), static_cast<uint64_t>(set)));
  std::vector<Literal> inputs;
  for (size_t i = 0; i < made.inputs.size(); ++i) {
    if (made.inputs[i].BitwiseEqual(made.exact_inputs[i])) {
      const Instruction& parameter = *made.module->entry()->parameter(static_cast<int64_t>(i));
      if (IsStart(parameter)) {
        inputs.push_back(DrawStart(parameter.shape(), choices));
        continue;
      }
      inputs.push_back(made.inputs[i]);
      continue;
    }
    const Shape& shape = made.inputs[i].shape();
    const std::optional<ValueFamily> family =
        kRotation[(static_cast<size_t>(set) + i) % kRotation.size()];
    inputs.push_back(family.has_value() ? LiteralOfFamily(shape, *family, choices)
                                        : WithEdges(shape, set, choices));
  }
  return inputs;
}

}  // namespace assay
