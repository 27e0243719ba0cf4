// The loop over batches says of f32 sums and products what the rule of single elements says.
#include <gtest/gtest.h>

#include "reference/bounds/elementwise/binary.h"
#include "reference/testing/float_program.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

// Numbers, intervals and unrounded products in any order; few are special.
Array RandomOperand(Random& random, int64_t count, bool has_bounds) {
  Array array(Literal(Shape::Array(ElementType::kF32, {count})));
  absl::Span<float> values = array.literal.data<float>();
  for (float& value : values)
    value = static_cast<float>(random.OneIn(50) ? RandomValue(random, ElementType::kF32)
                                                : random.Between(-4, 4));
  if (!has_bounds) return array;
  MakeBounds(array);
  for (int64_t i = 0; i < count; ++i) {
    ElementBound& bound = array.facts().bounds[i];
    const double value = values[i];
    if (!std::isfinite(value)) continue;
    const double off = value * random.Between(-0x1p-24, 0x1p-24);
    switch (random.Below(12)) {
      case 0:
        bound = {0, 0, 0, kUndecided};
        break;
      case 1:
        bound = {value, 0, std::fabs(value) * 0x1p-20, kMayBeZero};
        break;
      case 2:
      case 3:
      case 4:
        if (off != 0) bound = {value + off, 0, std::fabs(off), uint32_t{kForced} | kSumView};
        break;
      case 5:
      case 6:
      case 7:
      case 8:
        bound = {value + off, 0, std::fabs(off) + random.Between(0, 0x1p-20), 0};
        break;
      default:
        break;
    }
  }
  return array;
}

// Compares them; how many elements are not forced.
template <typename Rule>
int64_t Compare(Opcode opcode, uint64_t seed, bool contract) {
  Random random(seed);
  const int64_t count = 1 + random.Below(700);
  const Shape shape = Shape::Array(ElementType::kF32, {count});
  Module module("m");
  Computation* entry = module.AddComputation("main");
  module.set_entry(entry);
  Instruction* a = entry->AddParameter(0, shape);
  Instruction* b = entry->AddParameter(1, shape);
  const Instruction* instruction = entry->Add(opcode, shape, {a, b});
  MemoryMeter meter(int64_t{1} << 40);
  const bool first_has = !random.OneIn(4), second_has = random.Coin();
  const Value x = MakeValue(RandomOperand(random, count, first_has), meter);
  const Value y = MakeValue(RandomOperand(random, count, second_has), meter);
  const Value* operands[] = {&x, &y};
  ClauseSet clauses = ClauseSet().With(ClauseId::kFlushSubnormals);
  if (contract) clauses = clauses.With(ClauseId::kContraction);
  const Analysis analysis;
  const OpContext op{*instruction, shape, operands, clauses, analysis};
  Array loop{Literal(shape)};
  EXPECT_TRUE(EvaluateBinary<typename Rule::Op>(op, loop.literal).ok());
  Array single = loop;
  EXPECT_TRUE(BoundBinary<Rule>(op, loop).ok());
  int64_t bounded = 0;
  for (int64_t i = 0; i < count; ++i) {
    BoundBinaryElement<Rule, float>(op, single, i, 0);
    const bool has = !single.facts().bounds.empty();
    const ElementBound wanted = has ? single.facts().bounds[i] : ElementBound{0, 0, 0, kForced};
    const ElementBound got = loop.facts().BoundOf(i);
    if (wanted.flags != kForced) ++bounded;
    if (got.flags == wanted.flags && got.centre == wanted.centre &&
        got.centre_low == wanted.centre_low && got.radius == wanted.radius)
      continue;
    // Zero times what is not zero has a known sign, of which the rule does not make use.
    const bool is_zero = wanted.centre == 0 && wanted.radius == 0 && wanted.flags == kZeroSignFree;
    if (is_zero && got.flags == kForced && loop.literal.GetDouble(i) == 0) continue;
    ADD_FAILURE() << StrCat("seed ", seed, ", element ", i, ": ", got.centre, " +- ", got.radius,
                            " flags ", got.flags, ", the single element gives ", wanted.centre,
                            " +- ", wanted.radius, " flags ", wanted.flags);
    return bounded;
  }
  return bounded;
}

TEST(FloatLoopTest, SaysWhatSingleElementsSay) {
  int64_t bounded = 0;
  for (uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    for (bool contract : {false, true}) {
      bounded += Compare<AddBound>(Opcode::kAdd, seed, contract);
      bounded += Compare<SubtractBound>(Opcode::kSubtract, seed, contract);
      bounded += Compare<MultiplyBound>(Opcode::kMultiply, seed, contract);
    }
  }
  EXPECT_GE(bounded, 100'000);
}

}  // namespace
}  // namespace assay::reference
