// The goldens on the compilers, and on gpu-sim the modules of the corpora.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string_view>

#include "conformance/golden.h"
#include "conformance/module_check.h"
#include "optimized/cpu/cpu_backend.h"
#include "optimized/gpu/gpu_sim_backend.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/case_file_for_test.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

std::set<std::string> NotCompiled() {
  std::ifstream in(TestDataDir() + "/conformance/goldens_not_compiled.list");
  EXPECT_TRUE(in.good());
  std::set<std::string> names;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') names.insert(line);
  return names;
}

BackendRegistry Compilers() {
  BackendRegistry registry;
  RegisterCpu(registry);
  RegisterGpuSim(registry);
  return registry;
}

// `looser` is a golden whose bound is that of a transform by halves, which others exceed.
struct Compiler {
  const char *name, *backend;
  std::string_view looser = {};
};
class GoldensOn : public testing::TestWithParam<Compiler> {};

// There is one list for all: what has no code on one has none on the others.
TEST_P(GoldensOn, PassOrAreListed) {
  std::set<std::string> listed = NotCompiled();
  absl::StatusOr<std::unique_ptr<Backend>> backend = Compilers().Create(GetParam().backend);
  ASSERT_TRUE(backend.ok()) << backend.status();
  absl::StatusOr<std::vector<GoldenCase>> cases =
      GoldensOfFolder(TestDataDir() + "/conformance/goldens");
  ASSERT_TRUE(cases.ok()) << cases.status();
  int passed = 0, of_several_devices = 0;
  for (const GoldenCase& golden : *cases) {
    const GoldenResult result = RunGolden(golden, **backend, {});
    if (golden.name == GetParam().looser) continue;
    const Outcome::Kind wanted =
        listed.erase(golden.name) != 0 ? Outcome::kUnsupported : Outcome::kPassed;
    EXPECT_EQ(Name(result.outcome.kind), Name(wanted))
        << golden.name << ": " << result.outcome.Describe();
    if (result.outcome.kind != Outcome::kPassed) continue;
    ++passed;
    of_several_devices += golden.devices.replicas * golden.devices.partitions > 1 ? 1 : 0;
  }
  EXPECT_GE(passed, 510);
  EXPECT_GE(of_several_devices, 33);
  EXPECT_TRUE(listed.empty()) << "no golden has the name " << *listed.begin();
}
// With refuse=library, passes write in other ops what native kernels make; with libraries=on,
// passes make calls of libraries of what kernels would make.
constexpr Compiler kCompilers[] = {
    {"cpu", "cpu"},
    {"cpu_without_native_kernels", "cpu:refuse=library", "fft-rfft-3"},
    {"gpu_sim", "gpu-sim"},
    {"gpu_sim_with_libraries", "gpu-sim:libraries=on"},
};
INSTANTIATE_TEST_SUITE_P(Compilers, GoldensOn, testing::ValuesIn(kCompilers),
                         [](const auto& which) { return std::string(which.param.name); });

struct Corpus {
  const char* folder;
  int modules, undecided;
};
class CorpusOnGpuSim : public testing::TestWithParam<Corpus> {};

TEST_P(CorpusOnGpuSim, NothingFailsOrIsUnsupported) {
  absl::StatusOr<std::unique_ptr<Backend>> backend = Compilers().Create("gpu-sim:seed=1");
  ASSERT_TRUE(backend.ok()) << backend.status();
  absl::StatusOr<std::vector<CaseFile>> files =
      FindCases(std::string(ASSAY_SOURCE_DIR) + "/conformance/" + GetParam().folder);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->size(), GetParam().modules);
  auto oracle = MakeOracle();
  CheckOptions options;
  options.profile = &Profile::Xla();
  int undecided = 0;
  for (const CaseFile& file : *files) {
    const ModuleResult result = CheckModule(file, *oracle, backend->get(), options);
    std::string detail = result.outcome.Describe();
    for (const SubjectResult& subject : result.subjects)
      StrAppend(&detail, subject.outcome.Describe());
    undecided += result.outcome.kind == Outcome::kInconclusive ? 1 : 0;
    if (result.outcome.kind == Outcome::kInconclusive) continue;
    EXPECT_EQ(StatusWord(result.outcome.kind), "passed") << file.name << ": " << detail;
  }
  EXPECT_LE(undecided, GetParam().undecided);
}
INSTANTIATE_TEST_SUITE_P(Corpora, CorpusOnGpuSim,
                         testing::Values(Corpus{"corpus", 153, 2},
                                         Corpus{"corpus_collectives", 22, 0}),
                         [](const auto& which) { return std::string(which.param.folder); });

}  // namespace
}  // namespace assay
