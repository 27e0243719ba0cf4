// RngBitGenerator: a pure function from a state to bits and the next state. Document: operation
// semantics chapter 13.
#include <algorithm>

#include "reference/bounds/elements.h"
#include "reference/interpreter/interpreter.h"
#include "reference/scalar/random_bits.h"
#include "reference/values/lines.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// The operand of the op, which it advances: a key and a counter.
struct State {
  std::vector<uint64_t> words;
};

// The dimension along which three_fry pairs elements: the first of even size, else the first of the
// largest.
int64_t PairedDimension(const Shape& shape) {
  int64_t largest = 0;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimension(d) % 2 == 0) return d;
    if (shape.dimension(d) > shape.dimension(largest)) largest = d;
  }
  return largest;
}

void ThreeFryWords(State& state, Literal& bits) {
  const std::array<uint32_t, 2> key = {LowWord(state.words[0]), HighWord(state.words[0])};
  uint64_t& counter = state.words[1];
  auto next = [&] {
    const std::array<uint32_t, 2> block = ThreeFry({LowWord(counter), HighWord(counter)}, key);
    ++counter;
    return block;
  };
  const Shape& shape = bits.shape();
  if (BitWidth(shape.element_type()) == 64) {
    for (int64_t i = 0; i < bits.element_count(); ++i) {
      const auto [low, high] = next();
      bits.SetBits(i, low | static_cast<uint64_t>(high) << 32);
    }
    return;
  }
  if (shape.rank() == 0) {
    bits.SetInteger(0, next()[0]);
    return;
  }
  // The two words of a block go to neighbours along the paired dimension.
  const Lines lines(shape, PairedDimension(shape));
  for (int64_t o = 0; o < lines.outer; ++o) {
    for (int64_t at = 0; at < lines.length; at += 2) {
      for (int64_t i = 0; i < lines.inner; ++i) {
        const auto [first, second] = next();
        bits.SetInteger(lines.Block(o, at) + i, first);
        if (at + 1 < lines.length) bits.SetInteger(lines.Block(o, at + 1) + i, second);
      }
    }
  }
}

void PhiloxWords(State& state, Literal& bits) {
  const uint64_t key = state.words[0];
  uint64_t low = state.words[1];
  // A state of two words has the key for its counter's high half, and forgets the carry into it.
  uint64_t high = state.words.size() == 3 ? state.words[2] : key;
  std::array<uint32_t, 4> block{};
  const bool wide = BitWidth(bits.element_type()) == 64;
  const int64_t per_block = wide ? 2 : 4;
  for (int64_t i = 0; i < bits.element_count(); ++i) {
    const int64_t word = i % per_block;
    if (word == 0) {
      block = Philox({LowWord(low), HighWord(low), LowWord(high), HighWord(high)},
                     {LowWord(key), HighWord(key)});
      if (++low == 0) ++high;
    }
    if (wide) {
      bits.SetBits(i, block[2 * word] | static_cast<uint64_t>(block[2 * word + 1]) << 32);
    } else {
      bits.SetInteger(i, block[word]);
    }
  }
  state.words[1] = low;
  if (state.words.size() == 3) state.words[2] = high;
}

absl::StatusOr<Value> ApplyRngBitGenerator(Interpreter& interpreter, const OpContext& op) {
  // The next state may be left out of the result.
  const bool alone = op.shape.IsArray();
  const Shape& shape = alone ? op.shape : op.shape.elements()[1];
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(shape.ElementCount()));
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(shape.ByteSize()));
  const Array& initial = op.array(0);
  State state;
  for (uint64_t word : initial.literal.data<uint64_t>()) state.words.push_back(word);
  Array bits{Literal(shape)}, next{Literal(initial.literal.shape())};
  const auto algorithm = op.instruction.attributes().Word<RngAlgorithm>(Attr::kRngAlgorithm);
  if (algorithm == RngAlgorithm::kThreeFry) {
    ThreeFryWords(state, bits.literal);
  } else {  // rng_default is philox
    PhiloxWords(state, bits.literal);
  }
  std::copy(state.words.begin(), state.words.end(), next.literal.data<uint64_t>().begin());
  if (!initial.Certain()) {
    MakeUndecided(bits);
    MakeUndecided(next);
  }
  if (alone) return MakeValue(std::move(bits), interpreter.memory());
  return Value::Tuple({MakeValue(std::move(next), interpreter.memory()),
                       MakeValue(std::move(bits), interpreter.memory())});
}

}  // namespace

absl::Span<const OpEvaluation> RngBitGeneratorEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kRngBitGenerator, .apply = ApplyRngBitGenerator},
  };
  return kRows;
}

}  // namespace assay::reference
