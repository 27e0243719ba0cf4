// Properties of the bounds on random programs: nothing legal is called a failure (soundness), and
// what is plainly wrong is (power). Seeds are printed with every failure.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "reference/interpreter/interpreter.h"
#include "reference/testing/float_program.h"
#include "reference/testing/legal_evaluator.h"
#include "spec/verifier/verifier.h"

namespace assay::reference {
namespace {

constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF64, ElementType::kF16,
                                  ElementType::kBF16};
// The types of at most 8 bits.
constexpr ElementType kTinyTypes[] = {
    ElementType::kF8E5M2,        ElementType::kF8E4M3,     ElementType::kF8E4M3FN,
    ElementType::kF8E4M3B11FNUZ, ElementType::kF8E5M2FNUZ, ElementType::kF8E4M3FNUZ,
    ElementType::kF8E3M4,        ElementType::kF4E2M1FN,   ElementType::kF8E8M0FNU};

struct Case {
  Random random;
  FloatProgram program;
  const Profile* profile;

  explicit Case(uint64_t seed)
      : random(seed),
        profile(seed % 8 < 6    ? &Profile::Xla()
                : seed % 16 < 8 ? &Profile::Strict()
                                : &Profile::XlaGpu()) {
    const int64_t size = 1 + random.Below(8);
    const int instructions = 2 + static_cast<int>(random.Below(8));
    ElementType type = kTypes[seed % 4];
    if (random.OneIn(4)) type = kTinyTypes[random.Below(std::size(kTinyTypes))];
    program = RandomFloatProgram(random, type, size, instructions);
  }
};

TEST(Soundness, NothingLegalFails) {
  constexpr uint64_t kPrograms = 20000;
  constexpr int kRuns = 8;
  auto oracle = MakeOracle();
  int64_t elements = 0, inconclusive = 0, forced = 0, failures = 0;
  for (uint64_t seed = 1; seed <= kPrograms && failures < 5; ++seed) {
    Case c(seed);
    ASSERT_TRUE(Verify(*c.program.module).ok()) << "seed " << seed << "\n"
                                                << Verify(*c.program.module);
    absl::StatusOr<Expectation> expectation =
        oracle->Expect(*c.program.module, c.program.Arguments(), *c.profile, Limits{});
    if (!expectation.ok()) {
      ADD_FAILURE() << "seed " << seed << ": " << expectation.status() << "\n"
                    << c.program.module->ToString() << c.program.DescribeInputs();
      ++failures;
      continue;
    }
    for (int run = 0; run < kRuns; ++run) {
      const Literal legal =
          EvaluateLegally(*c.program.module, c.program.Arguments(), *c.profile, c.random);
      const Judgement judgement = Judge(*expectation, legal);
      elements += judgement.elements;
      inconclusive += judgement.inconclusive;
      forced += judgement.forced;
      if (judgement.verdict != Verdict::kFail) continue;
      ++failures;
      ADD_FAILURE() << "seed " << seed << " run " << run << " profile " << c.profile->name() << "\n"
                    << DescribeFailure(*expectation, legal, judgement)
                    << c.program.module->ToString() << c.program.DescribeInputs();
      break;
    }
  }
  std::printf("soundness: %lld elements judged, %.1f %% forced, %.1f %% inconclusive\n",
              static_cast<long long>(elements), 100.0 * forced / elements,
              100.0 * inconclusive / elements);
  EXPECT_GT(elements, 100000);
  EXPECT_LT(inconclusive, elements / 2);
}

// Ulps between two codes, large when one is special.
double Distance(const Literal& a, const Literal& b, int64_t i) {
  const int64_t ulps = UlpDistance(Format(a.element_type()), a.GetBits(i), b.GetBits(i));
  return static_cast<double>(ulps);
}

TEST(Power, MovedElementsFail) {
  constexpr uint64_t kPrograms = 1500;
  auto oracle = MakeOracle();
  int64_t moved = 0, caught = 0, undecided = 0, forced = 0, forced_caught = 0;
  for (uint64_t seed = 100001; seed <= 100000 + kPrograms; ++seed) {
    Case c(seed);
    absl::StatusOr<Expectation> expectation =
        oracle->Expect(*c.program.module, c.program.Arguments(), *c.profile, Limits{});
    ASSERT_TRUE(expectation.ok()) << "seed " << seed << ": " << expectation.status();
    std::vector<Literal> outputs;
    for (const ArrayExpectation& leaf : expectation->leaves) outputs.push_back(leaf.plain);
    const int64_t k = c.random.Below(static_cast<int64_t>(outputs.size()));
    const int64_t i = c.random.Below(outputs[k].element_count());
    const double plain = outputs[k].GetDouble(i);
    if (!std::isfinite(plain) || plain == 0) continue;
    double worst = 0;
    for (int run = 0; run < 16; ++run) {
      const Literal legal =
          EvaluateLegally(*c.program.module, c.program.Arguments(), *c.profile, c.random);
      worst = std::max(worst, Distance(outputs[k], *Leaves(legal)[k], i));
    }
    const ArrayExpectation& leaf = expectation->leaves[k];
    const bool is_forced = leaf.bounds.empty() || (leaf.bounds[i].flags & kForced) != 0;
    const double steps = std::max(16.0, 16 * worst);
    if (steps > 1e6) continue;  // the program itself does not fix this element
    const uint64_t code = outputs[k].GetBits(i);
    outputs[k].SetBits(i, is_forced ? code ^ 1 : code + static_cast<uint64_t>(steps));
    const Judgement judgement = Judge(*expectation, Literal::Tuple(outputs));
    if (is_forced) {
      ++forced;
      forced_caught += judgement.verdict == Verdict::kFail;
      EXPECT_EQ(judgement.verdict, Verdict::kFail) << "seed " << seed;
    } else {
      ++moved;
      caught += judgement.verdict == Verdict::kFail;
      undecided += judgement.verdict == Verdict::kInconclusive;
    }
  }
  std::printf(
      "power: %lld of %lld moved elements fail (%.1f %%), %lld inconclusive; %lld of %lld "
      "flipped bits of forced elements fail\n",
      static_cast<long long>(caught), static_cast<long long>(moved), 100.0 * caught / moved,
      static_cast<long long>(undecided), static_cast<long long>(forced_caught),
      static_cast<long long>(forced));
  EXPECT_GT(moved, 200);
  EXPECT_GT(forced, 200);
  EXPECT_GE(caught, moved * 9 / 10);
}

}  // namespace
}  // namespace assay::reference
