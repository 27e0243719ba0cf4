// The modules for several devices on the backend gpu, by stand-ins for its driver and for NCCL:
// devices are threads of this process, each with a GPU of its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "conformance/module_check.h"
#include "optimized/gpu/driver/testing/stand_in_for_test.h"
#include "optimized/gpu/gpu_sim_backend.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

struct Way {
  const char *name, *backend;
};
class CollectivesOnGpu : public testing::TestWithParam<Way> {};

TEST_P(CollectivesOnGpu, AllModulesPass) {
  setenv("ASSAY_STAND_IN_DEVICES", "4", 1);
  setenv("ASSAY_LIBCUDA", ASSAY_STAND_IN, 1);
  setenv("ASSAY_LIBNCCL", ASSAY_STAND_IN, 1);
  for (const char* variable :
       {"ASSAY_LIBCUBLASLT", "ASSAY_LIBCUDNN", "ASSAY_LIBCUSOLVER", "ASSAY_LIBCUFFT"})
    setenv(variable, "libno-such-library.so", 1);
  BackendRegistry registry;
  RegisterGpu(registry);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create(GetParam().backend);
  ASSERT_TRUE(backend.ok()) << backend.status();
  absl::StatusOr<std::vector<CaseFile>> files =
      FindCases(std::string(ASSAY_SOURCE_DIR) + "/conformance/corpus_collectives");
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->size(), 22u);
  auto oracle = MakeOracle();
  CheckOptions options;
  options.profile = &Profile::Xla();
  for (const CaseFile& file : *files) {
    const ModuleResult result = CheckModule(file, *oracle, backend->get(), options);
    std::string detail = result.outcome.Describe();
    for (const SubjectResult& subject : result.subjects)
      StrAppend(&detail, subject.outcome.Describe());
    EXPECT_EQ(StatusWord(result.outcome.kind), "passed") << file.name << ": " << detail;
  }
  EXPECT_EQ(gpu::ReportOfStandIn(), "");
  EXPECT_EQ(gpu::LivingInStandIn(), 0);
}
INSTANTIATE_TEST_SUITE_P(Ways, CollectivesOnGpu,
                         testing::Values(Way{"over_the_host", "gpu:image-ir=on"},
                                         Way{"by_nccl", "gpu:image-ir=on,libraries=on"}),
                         [](const auto& which) { return std::string(which.param.name); });

}  // namespace
}  // namespace assay
