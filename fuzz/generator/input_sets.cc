// Rotates the families of values over the parameters of a program.
#include "fuzz/generator/input_sets.h"

#include <array>
#include <optional>

#include "fuzz/generator/values.h"

namespace assay {
namespace {

// Ordinary values with an edge at every third place, where it stands depends on the set: a flood of
// NaN would drown all else.
Literal WithEdges(const Shape& shape, int64_t set, Choices& choices) {
  constexpr int64_t kEvery = 3;
  Literal literal = LiteralOfFamily(shape, ValueFamily::kOrdinary, choices);
  RandomStream stream = choices.Fork();
  const int64_t count = literal.element_count();
  for (int64_t i = count == 1 ? 0 : set % kEvery; i < count; i += kEvery) {
    literal.SetBits(i, EdgeCode(literal.element_type(), stream));
  }
  return literal;
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
