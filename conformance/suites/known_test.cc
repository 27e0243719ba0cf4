// The ledgers of causes: what lies there as right is right, and our own compiler has none of them.
#include <gtest/gtest.h>

#include <filesystem>

#include "conformance/known/ledger.h"
#include "conformance/module_check.h"
#include "optimized/cpu/cpu_backend.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/case_file_for_test.h"
#include "spec/base/strings.h"
#include "spec/types/npz.h"

namespace assay {
namespace {

std::vector<Cause> Causes(const std::string& ledger) {
  absl::StatusOr<std::vector<Cause>> causes =
      ReadLedger(TestDataDir() + "/conformance/known/" + ledger);
  EXPECT_TRUE(causes.ok()) << causes.status();
  return causes.ok() ? *std::move(causes) : std::vector<Cause>();
}

CheckOptions OptionsFor(const Cause& cause) {
  CheckOptions options;
  const absl::StatusOr<const Profile*> profile = Profile::Find(cause.profile);
  EXPECT_TRUE(profile.ok()) << cause.name << ": " << profile.status();
  options.profile = profile.ok() ? *profile : &Profile::Xla();
  return options;
}

TEST(Known, OurCompilerHasNoneOfThem) {
  BackendRegistry registry;
  RegisterCpu(registry);
  absl::StatusOr<std::unique_ptr<Backend>> cpu = registry.Create("cpu");
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  int passed = 0;
  std::vector<Cause> causes = Causes("xla-cpu");
  for (Cause& cause : Causes("xla-gpu")) causes.push_back(std::move(cause));
  for (const Cause& cause : causes) {
    const ModuleResult result = CheckModule(cause.Case(), *oracle, cpu->get(), OptionsFor(cause));
    EXPECT_FALSE(result.outcome.IsFailure()) << cause.name << ": " << result.outcome.Describe();
    passed += result.outcome.IsPass() ? 1 : 0;
  }
  EXPECT_GE(passed, 140);
}

// Moves the first number of the first output that somebody said is right.
bool Alter(const std::string& arrays) {
  absl::StatusOr<std::map<std::string, Literal>> read = ReadNpz(arrays);
  if (!read.ok()) return false;
  const auto right = read->find("out0");
  if (right == read->end() || right->second.element_count() == 0) return false;
  right->second.bytes()[0] ^= 1;
  right->second.bytes().back() ^= 0x10;
  std::vector<std::pair<std::string, const Literal*>> all;
  for (const auto& [name, value] : *read) all.emplace_back(name, &value);
  return WriteNpz(arrays, all).ok();
}

TEST(Known, AnAlteredValueIsNotedInAnyFolder) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  const std::string folder = testing::TempDir() + "/assay_known";
  int altered = 0, noted = 0;
  for (const Cause& cause : Causes("xla-cpu")) {
    if (cause.measured.kind != "wrong value") continue;
    std::filesystem::remove_all(folder);
    std::filesystem::copy(cause.folder, folder);
    if (!Alter(folder + "/program.npz")) continue;
    ++altered;
    Cause copy = cause;
    copy.folder = folder;
    const ModuleResult result =
        CheckModule(copy.Case(), *oracle, /*backend=*/nullptr, OptionsFor(cause));
    noted += result.outcome.kind == Outcome::kWrong ? 1 : 0;
  }
  EXPECT_GE(altered, 60);
  // A number in a wide bound, or NaN with another payload, may be as right as the one before.
  EXPECT_GE(noted, altered * 9 / 10);
}

}  // namespace
}  // namespace assay
