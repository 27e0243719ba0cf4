// The documents' worked examples on the oracle: its plain values are theirs, and no bound of either
// profile calls them wrong.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "conformance/golden.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/case_file_for_test.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Read at run time, from the source tree or from where ASSAY_DATA_DIR points: tools/coverage bends
// copies.
absl::StatusOr<std::vector<GoldenCase>> AllGoldens() {
  return GoldensOfFolder(TestDataDir() + "/conformance/goldens");
}

// Writes what the oracle computes into the `out:` fields of the file of `golden`.
void Bless(const GoldenCase& golden, Backend& oracle) {
  absl::StatusOr<std::string> text = ReadCaseText(golden.file);
  ASSERT_TRUE(text.ok()) << text.status();
  const absl::StatusOr<std::vector<CaseBlock>> blocks =
      ParseCases(golden.file, *text,
                 {"op", "cite", "compare", "devices", "in", "out", "infeed", "outfeed", "error"});
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  std::vector<const CaseField*> fields;
  for (const CaseBlock& block : *blocks) {
    if (block.name != golden.name) continue;
    for (const CaseField& field : block.fields) {
      if (field.key == "out") fields.push_back(&field);
    }
  }
  CaseEdits edits;
  size_t next = 0;
  const absl::StatusOr<std::unique_ptr<Executable>> executable = oracle.Compile(*golden.module, {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  for (const GoldenCase::Row& row : golden.rows) {
    if (!row.error.empty()) continue;
    std::vector<const Literal*> arguments;
    for (const Literal& input : row.inputs) arguments.push_back(&input);
    const absl::StatusOr<RunResult> run = (*executable)->Run({arguments});
    ASSERT_TRUE(run.ok()) << run.status();
    const std::vector<const Literal*> leaves = Leaves(run->outputs[0]);
    for (size_t i = 0; i < leaves.size(); ++i, ++next) {
      if (!leaves[i]->BitwiseEqual(row.expected.at(i)))
        edits.SetValue(*fields.at(next), leaves[i]->ToString());
    }
  }
  std::ofstream(golden.file, std::ios::binary) << edits.Apply(*text);
  std::printf("blessed %s of %s\n", golden.name.c_str(), golden.file.c_str());
}

TEST(GoldensOnReference, AllPass) {
  BackendRegistry registry;
  RegisterReference(registry);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create("reference");
  ASSERT_TRUE(backend.ok());
  absl::StatusOr<std::vector<GoldenCase>> cases = AllGoldens();
  ASSERT_TRUE(cases.ok()) << cases.status();
  for (const GoldenCase& golden : *cases) {
    const GoldenResult result = RunGolden(golden, **backend, {});
    if (result.outcome.kind == Outcome::kWrong && BlessIsWanted() &&
        golden.devices.replicas * golden.devices.partitions == 1) {
      ASSERT_NO_FATAL_FAILURE(Bless(golden, **backend));
      continue;
    }
    EXPECT_EQ(Name(result.outcome.kind), Name(Outcome::kPassed))
        << golden.name << ": " << result.outcome.Describe();
  }
}

TEST(GoldensOnReference, AreInsideTheBounds) {
  absl::StatusOr<std::vector<GoldenCase>> cases = AllGoldens();
  ASSERT_TRUE(cases.ok()) << cases.status();
  auto oracle = MakeOracle();
  for (const GoldenCase& golden : *cases) {
    const auto parameters = static_cast<size_t>(golden.module->entry()->parameter_count());
    const auto devices = static_cast<size_t>(golden.devices.replicas * golden.devices.partitions);
    for (const GoldenCase::Row& row : golden.rows) {
      if (!row.error.empty()) continue;
      std::vector<DeviceInputs> inputs(devices);
      for (size_t d = 0; d < devices; ++d) {
        for (size_t p = 0; p < parameters; ++p)
          inputs[d].arguments.push_back(&row.inputs[d * parameters + p]);
        if (!row.infeed.empty()) inputs[d].infeed = row.infeed[d];
      }
      for (const Profile* profile : {&Profile::Strict(), &Profile::Xla()}) {
        auto expected =
            oracle->ExpectDevices(*golden.module, golden.devices, inputs, *profile, Limits{});
        ASSERT_TRUE(expected.ok()) << golden.name << ": " << expected.status();
        const size_t leaves = row.expected.size() / devices;
        for (size_t d = 0; d < devices; ++d) {
          std::vector<const Literal*> values;
          for (size_t i = 0; i < leaves; ++i) values.push_back(&row.expected[d * leaves + i]);
          const Judgement judgement = JudgeLeaves((*expected)[d].result, values);
          EXPECT_NE(judgement.verdict, Verdict::kFail)
              << golden.name << " device " << d << ", " << profile->name() << ": "
              << judgement.reason;
        }
      }
    }
  }
}

// The worked examples leave one answer for each element: one flipped bit of it must not pass.
TEST(GoldensOnReference, WrongBitsOfWorkedExamplesFail) {
  auto oracle = MakeOracle();
  int examples = 0;
  const absl::StatusOr<std::vector<GoldenCase>> cases = AllGoldens();
  ASSERT_TRUE(cases.ok()) << cases.status();
  for (const GoldenCase& golden : *cases) {
    if (golden.file.find("worked_examples.txt") == std::string::npos) continue;
    SCOPED_TRACE(golden.name);
    ++examples;
    const bool last_bits_are_free =
        golden.name == "worked-power" || golden.name == "worked-remainder-f64";
    for (const GoldenCase::Row& row : golden.rows) {
      std::vector<const Literal*> arguments;
      for (const Literal& input : row.inputs) arguments.push_back(&input);
      const auto strict = oracle->Expect(*golden.module, arguments, Profile::Strict(), Limits{});
      ASSERT_TRUE(strict.ok()) << strict.status();
      ASSERT_EQ(row.expected.size(), 1u);
      const Literal& wanted = row.expected[0];
      for (int64_t i = 0; i < wanted.element_count() && !last_bits_are_free; ++i) {
        if (IsFloat(wanted.element_type()) &&
            IsNanCode(Format(wanted.element_type()), wanted.GetBits(i)))
          continue;
        Literal bent = wanted;
        bent.SetBits(i, bent.GetBits(i) ^ 1);
        EXPECT_EQ(JudgeLeaves(*strict, {&bent}).verdict, Verdict::kFail) << "element " << i;
      }
    }
  }
  EXPECT_GE(examples, 80);
}

}  // namespace
}  // namespace assay
