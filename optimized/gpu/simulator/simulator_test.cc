// Kernels as text, with what they leave in memory or what must be found wrong with them:
// testdata/*.txt. And mistakes that are planted in the good ones.
#include "optimized/gpu/simulator/simulator.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "optimized/gpu/defects/kernel_mutations.h"
#include "optimized/gpu/simulator/testing/case_run.h"
#include "spec/base/error.h"

namespace assay::gpu {
namespace {

void CheckCase(const CaseBlock& block, uint64_t seed) {
  const CaseOutcome outcome = RunCase(block, seed);
  const absl::Status& status = outcome.status;
  const std::string_view finding = block.Value("finding"), error = block.Value("error");
  if (!error.empty()) {
    EXPECT_NE(std::string(status.message()).find(error), std::string::npos) << status;
    return;
  }
  if (finding.empty()) {
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(outcome.mismatch, "");
    return;
  }
  const std::optional<KernelFinding> found = FindingOf(status);
  ASSERT_TRUE(found.has_value()) << status;
  // It ran, so it was compiled.
  EXPECT_EQ(ClassOf(status), ErrorClass::kRunCrash) << status;
  EXPECT_EQ(FindingName(found->kind), finding) << status;
  EXPECT_NE(ToString(*found).find(block.Value("at")), std::string::npos) << status;
}

class SimulatorCases : public testing::TestWithParam<const char*> {};

TEST_P(SimulatorCases, AreAsExpected) {
  const auto blocks = SimulatorCaseBlocks(GetParam());
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_FALSE(blocks->empty());
  for (const CaseBlock& block : *blocks) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(absl::StrCat(block.name, ", seed ", seed));
      CheckCase(block, seed);
      if (HasFailure()) break;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Files, SimulatorCases,
                         testing::Values("memory.txt", "findings.txt", "lanes.txt"));

// Every mistake at every place of every good kernel: a finding, a wrong result, or nothing that one
// could see.
TEST(PlantedMistakes, AreFound) {
  int planted = 0, killed = 0;
  std::map<std::string, int> of_mutation;
  std::string survivors;
  for (const char* file : {"memory.txt", "lanes.txt"}) {
    const auto blocks = SimulatorCaseBlocks(file);
    ASSERT_TRUE(blocks.ok()) << blocks.status();
    for (const CaseBlock& block : *blocks) {
      if (!block.Value("error").empty()) continue;
      for (const KernelMutation& mutation : KernelMutations()) {
        // Taking the work of one warp for that of all changes nothing where there is one.
        const bool has_one_warp = std::stoi(std::string(block.Value("block"))) <= 32;
        if (mutation.name == "warp-forgotten" && has_one_warp) continue;
        size_t places = 1;
        for (size_t place = 0; place < places; ++place) {
          bool is_killed = false;
          for (uint64_t seed = 0; seed < 3 && !is_killed; ++seed) {
            const CaseOutcome outcome = RunCase(block, seed, [&](llvm::Function& kernel) {
              places = CountPlaces(mutation, kernel);
              Mutate(mutation, place, kernel);
            });
            is_killed = !outcome.status.ok() || !outcome.mismatch.empty();
          }
          if (place >= places) break;
          ++planted;
          ++of_mutation[std::string(mutation.name)];
          killed += is_killed ? 1 : 0;
          if (!is_killed) {
            absl::StrAppend(&survivors, block.name, ": ", std::string(mutation.name), " ", place,
                            "\n");
          }
        }
      }
    }
  }
  EXPECT_EQ(of_mutation.size(), KernelMutations().size()) << "a mistake has no place";
  EXPECT_GT(planted, 100);
  EXPECT_GE(killed * 100, planted * 95) << killed << " of " << planted << ", survivors:\n"
                                        << survivors;
  RecordProperty("planted", planted);
  RecordProperty("killed", killed);
}

}  // namespace
}  // namespace assay::gpu
