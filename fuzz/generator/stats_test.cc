// The generator reaches what its requirements name.
#include "fuzz/generator/stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace assay {
namespace {

GeneratorStats Collect(uint64_t count, const GeneratorOptions& options = {}) {
  GeneratorStats stats;
  for (uint64_t i = 0; i < count; ++i) stats.Add(GenerateCase(21, i, options));
  return stats;
}

TEST(GeneratorStatsTest, EveryRequirementIsShown) {
  // The rarest, a loop in a loop, is in one of 2,000 programs.
  constexpr uint64_t kPrograms = 20000;
  const GeneratorStats own = Collect(kPrograms);
  for (size_t i = 0; i < AllTriggers().size(); ++i) {
    EXPECT_GT(own.triggers()[i], 0)
        << "requirement " << AllTriggers()[i].requirement << ": " << AllTriggers()[i].name
        << " in none of " << kPrograms << " programs";
  }
}

// What is behind many defects is in one of 1,000 programs for other compilers; the rest, the second
// tier of the requirements, in one of 5,000.
TEST(GeneratorStatsTest, ForeignProgramsHoldEveryFloor) {
  constexpr int64_t kPrograms = 20000;
  constexpr int kSecondTier[] = {35, 36, 37, 40, 42, 45, 48, 50, 52};
  GeneratorOptions options;
  options.portable = true;
  const GeneratorStats stats = Collect(kPrograms, options);
  for (size_t i = 0; i < AllTriggers().size(); ++i) {
    const RequirementTrigger& trigger = AllTriggers()[i];
    const bool is_second =
        std::count(std::begin(kSecondTier), std::end(kSecondTier), trigger.requirement) > 0;
    EXPECT_GE(stats.triggers()[i] * (is_second ? 5000 : 1000), kPrograms)
        << "requirement " << trigger.requirement << ": " << trigger.name;
  }
}

// Ops that work element by element appear on every type. The others are dear or rare, and must
// appear at all.
TEST(GeneratorStatsTest, EveryOpOnEveryTypeItAdmits) {
  GeneratorStats stats = Collect(20000);
  std::set<Opcode> drawn;
  for (const auto& [op_and_type, count] : stats.op_types()) drawn.insert(op_and_type.first);
  for (const OpInfo& info : AllOps()) {
    if (!info.IsDefined()) continue;
    EXPECT_TRUE(drawn.contains(info.opcode)) << info.name << " never";
    if (!info.Is(kElementwise)) continue;
    // Statistics are by the type of the result.
    bool by_result = info.opcode != Opcode::kCompare && info.opcode != Opcode::kIsFinite &&
                     info.opcode != Opcode::kComplex && info.opcode != Opcode::kStochasticConvert;
    // The document of the text format gives predicates no iota, and leaves their width in
    // bitcast-convert to the backend.
    bool of_pred = info.opcode != Opcode::kIota && info.opcode != Opcode::kBitcastConvert;
    if (!by_result) continue;
    for (ElementType type : ComputedTypes()) {
      if (!Matches(info.types, type) || (!of_pred && IsPred(type))) continue;
      EXPECT_TRUE(stats.op_types().contains({info.opcode, type}))
          << info.name << " never on " << Name(type);
    }
  }
}

TEST(GeneratorStatsTest, HalfOfTheProgramsAreSmall) {
  GeneratorStats stats = Collect(2000);
  int64_t small = 0;
  for (const auto& [size, count] : stats.sizes()) small += size <= 12 ? count : 0;
  EXPECT_GT(2 * small, stats.programs());
}

TEST(GeneratorStatsTest, TablesNameWhatTheyCount) {
  std::string text = Collect(50).ToString();
  EXPECT_NE(text.find("dynamic-slice of dynamic-slice"), std::string::npos);
  EXPECT_NE(text.find("bf16"), std::string::npos);
}

}  // namespace
}  // namespace assay
