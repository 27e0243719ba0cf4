// Steps taken through a block at a time say of every element what they say one after the other.
#include "reference/interpreter/blockwise.h"

#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "reference/interpreter/interpreter.h"
#include "reference/testing/float_program.h"
#include "spec/base/case_file_for_test.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay::reference {
namespace {

struct Outcome {
  std::vector<Array> leaves;
  int64_t peak = 0;
};

void CollectLeaves(const Value& value, std::vector<Array>& leaves) {
  if (!value.IsTuple()) return leaves.push_back(*value.array);
  for (const Value& element : value.elements) CollectLeaves(element, leaves);
}

// Results are not watched blockwise.
Outcome Run(const Module& module, const std::vector<Literal>& inputs, bool blockwise) {
  Budget budget((Limits()));
  Interpreter interpreter(budget, &Profile::Xla());
  if (!blockwise) interpreter.set_watch([](const Instruction&, const Value&) {});
  std::vector<Value> values;
  for (const Literal& input : inputs) values.push_back(MakeValue(input, interpreter.memory()));
  Outcome outcome;
  {
    const absl::StatusOr<Value> value = interpreter.Run(*module.entry(), values);
    EXPECT_TRUE(value.ok()) << value.status();
    if (value.ok()) CollectLeaves(*value, outcome.leaves);
  }
  outcome.peak = budget.memory().peak();
  return outcome;
}

std::string Describe(const ElementBound& bound) {
  return StrCat("[", bound.centre, " + ", bound.centre_low, " +- ", bound.radius, ", flags ",
                bound.flags, "]");
}

void ExpectSame(const Array& a, const Array& b) {
  EXPECT_TRUE(a.literal.BitwiseEqual(b.literal));
  EXPECT_EQ(a.facts().choices, b.facts().choices);
  EXPECT_EQ(a.facts().forms.size(), b.facts().forms.size());
  const ElementBound forced{0, 0, 0, kForced};
  const size_t count = std::max(a.facts().bounds.size(), b.facts().bounds.size());
  for (size_t i = 0; i < count; ++i) {
    const ElementBound& x = a.facts().bounds.empty() ? forced : a.facts().bounds[i];
    const ElementBound& y = b.facts().bounds.empty() ? forced : b.facts().bounds[i];
    ASSERT_EQ(Describe(x), Describe(y)) << "slot " << i;
  }
}

// Compares the two ways; true if the first one held less.
bool Compare(const Module& module, const std::vector<Literal>& inputs) {
  const Outcome blockwise = Run(module, inputs, true), stepwise = Run(module, inputs, false);
  EXPECT_EQ(blockwise.leaves.size(), stepwise.leaves.size());
  if (blockwise.leaves.size() != stepwise.leaves.size()) return false;
  for (size_t k = 0; k < blockwise.leaves.size(); ++k) {
    SCOPED_TRACE(StrCat("output ", k));
    ExpectSame(blockwise.leaves[k], stepwise.leaves[k]);
  }
  return blockwise.peak < stepwise.peak;
}

// The programs of testdata/blocks.txt: what is element by element beside float arithmetic.
TEST(BlockwiseTest, ProgramsAreTheSame) {
  CasesForTest cases("reference/testdata/blocks.txt", {"expect"});
  EXPECT_GE(cases.blocks().size(), 10u);
  for (const CaseBlock& block : cases.blocks()) {
    SCOPED_TRACE(block.name);
    ASSERT_NE(block.Find("expect"), nullptr);
    const std::string entry = absl::StrReplaceAll(block.text, {{"[N]", "[10001]"}});
    auto module = ReadModule(StrCat("HloModule m\nENTRY e {\n", entry, "\n}\n"));
    ASSERT_TRUE(module.ok()) << module.status().message();
    ASSERT_TRUE(Verify(**module).ok()) << Verify(**module);
    Random random(17);
    std::vector<Literal> inputs;
    for (const Instruction* parameter : (*module)->entry()->parameters()) {
      Literal& input = inputs.emplace_back(parameter->shape());
      const ElementType type = input.element_type();
      for (int64_t k = 0; k < input.component_count(); ++k) {
        const double x = RandomValue(random, ElementType::kF32);
        if (IsFloat(type)) input.SetDouble(k, x);
        if (IsComplex(type))
          input.SetComponentBits(k, std::bit_cast<uint32_t>(static_cast<float>(x)));
        if (!IsFloat(type) && !IsComplex(type)) input.SetInteger(k, random.Below(100));
      }
    }
    const bool holds_less = Compare(**module, inputs);
    cases.ExpectValue(*block.Find("expect"), holds_less ? "blockwise" : "stepwise");
  }
}

TEST(BlockwiseTest, RandomProgramsAreTheSame) {
  constexpr int kPrograms = 120;
  int less = 0;
  for (int seed = 1; seed <= kPrograms; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Random random(static_cast<uint64_t>(seed));
    static constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF32,
                                             ElementType::kF64, ElementType::kBF16,
                                             ElementType::kF16};
    const ElementType type = kTypes[seed % std::size(kTypes)];
    const FloatProgram program = RandomFloatProgram(random, type, 8192 + random.Below(4096), 12);
    if (Compare(*program.module, program.inputs)) ++less;
    if (HasFailure()) return;
  }
  std::printf("%d of %d random programs hold less\n", less, kPrograms);
  EXPECT_GE(less, kPrograms / 4);
}

TEST(BlockwiseTest, LimitsHold) {
  auto module = ReadModule(R"(HloModule m
ENTRY e {
  a = f32[100000] parameter(0)
  b = f32[100000] multiply(a, a)
  c = f32[100000] add(b, a)
  ROOT d = f32[100000] subtract(c, b)
})");
  ASSERT_TRUE(module.ok()) << module.status().message();
  Literal input((*module)->entry()->parameter(0)->shape());
  auto run = [&](const Limits& limits) {
    return MakeOracle()->Expect(**module, {&input}, Profile::Xla(), limits).status();
  };
  Limits limits;
  limits.memory_bytes = 5'000'000;
  EXPECT_TRUE(run(limits).ok()) << run(limits);
  limits.memory_bytes = 3'000'000;  // the result's bounds take more
  EXPECT_EQ(run(limits).code(), absl::StatusCode::kResourceExhausted) << run(limits);
  limits = Limits();
  limits.steps = 299'999;
  EXPECT_EQ(run(limits).code(), absl::StatusCode::kDeadlineExceeded) << run(limits);
  limits.steps = 300'010;
  EXPECT_TRUE(run(limits).ok()) << run(limits);
}

}  // namespace
}  // namespace assay::reference
