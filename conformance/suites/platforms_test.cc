// Rows about what two platforms have in common: the CPU's compiler and that for GPUs, on its
// simulator. Each case of testdata/platform_rows.txt is one test.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "conformance/inputs/random_literal.h"
#include "conformance/module_check.h"
#include "optimized/cpu/cpu_backend.h"
#include "optimized/gpu/gpu_sim_backend.h"
#include "optimized/pipeline/pipeline.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/check.h"
#include "spec/base/case_file_for_test.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/status_macros.h"
#include "spec/text/reader.h"
#include "spec/types/literal.h"

namespace assay {
namespace {

std::unique_ptr<Backend> Open(const std::string& name) {
  BackendRegistry registry;
  RegisterCpu(registry);
  RegisterGpuSim(registry);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create(name);
  EXPECT_TRUE(backend.ok()) << backend.status();
  return backend.ok() ? *std::move(backend) : nullptr;
}

// Compiles for one platform, takes from the optimized module what only that one can use, and
// compiles what is left for another, which runs it.
class OnAnotherPlatform : public Backend {
 public:
  OnAnotherPlatform(const std::string& first, const std::string& second)
      : first_(Open(first)), second_(Open(second)) {}

  const BackendDescription& Describe() const override { return second_->Describe(); }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module& module,
                                                      const CompileOptions& options) override {
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> compiled,
                           first_->Compile(module, options));
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> moved, compiled->OptimizedModule());
    Gates gates;
    PipelineOptions despecializer;
    despecializer.passes = DespecializerPasses();
    despecializer.verify_each = true;
    ASSAY_RETURN_IF_ERROR(Optimize(*moved, gates, despecializer));
    fusions_ += moved->HasAny({Opcode::kFusion}) ? 1 : 0;
    schedules_ += moved->has_schedule() ? 1 : 0;
    return second_->Compile(*moved, options);
  }
  int left() const { return fusions_ + schedules_; }

 private:
  std::unique_ptr<Backend> first_, second_;
  int fusions_ = 0, schedules_ = 0;  // modules that still had some
};

std::string CorpusFrom(const std::string& first, const std::string& second) {
  OnAnotherPlatform backend(first, second);
  const absl::StatusOr<std::vector<CaseFile>> files =
      FindCases(std::string(ASSAY_SOURCE_DIR) + "/conformance/corpus");
  EXPECT_TRUE(files.ok()) << files.status();
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  CheckOptions options;
  options.profile = &Profile::Xla();
  int passed = 0, open = 0, other = 0;
  for (size_t i = 0; files.ok() && i < files->size(); i += 3) {
    const ModuleResult result = CheckModule((*files)[i], *oracle, &backend, options);
    // A module whose stored answer is wrong is waived, and has passed.
    const bool has_passed = StatusWord(result.outcome.kind) == "passed";
    const bool is_open = result.outcome.kind == Outcome::kInconclusive;
    (has_passed ? passed : is_open ? open : other) += 1;
    if (has_passed || is_open) continue;
    std::string detail = result.outcome.Describe();
    for (const SubjectResult& subject : result.subjects)
      absl::StrAppend(&detail, "; ", subject.outcome.Describe());
    ADD_FAILURE() << (*files)[i].name << ": " << detail;
  }
  return absl::StrCat(first, " to ", second, ": ", passed, " passed, ", open, " open, ", other,
                      " others; ", backend.left(), " with fusions or a schedule");
}

// A transform of two lines of real numbers, or of complex ones, which have two parts.
std::string Transform(int64_t length, const std::string& kind, bool is_double) {
  const std::string real = is_double ? "f64" : "f32", complex = is_double ? "c128" : "c64";
  const auto lines = [](int64_t of) { return absl::StrCat("[2,", of, "]"); };
  const std::string from = lines(kind == "IRFFT" ? length / 2 + 1 : length);
  const std::string to = lines(kind == "RFFT" ? length / 2 + 1 : length);
  return absl::StrCat(
      "HloModule m\nENTRY e { a = ", real, from, " parameter(0)\n  b = ", real, from,
      " parameter(1)\n  x = ",
      kind == "RFFT" ? real + from + " add(a, b)" : complex + from + " complex(a, b)",
      "\n  ROOT y = ", kind == "IRFFT" ? real : complex, to, " fft(x), fft_type=", kind,
      ", fft_length={", length, "} }");
}

std::string TransformsOn(const std::string& name) {
  const std::unique_ptr<Backend> backend = Open(name);
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  int passed = 0, others = 0;
  for (const int64_t length : {1,  2,  3,   4,   5,   7,   8,   11,  12,  13,  16,  17,   31,  60,
                               64, 97, 100, 127, 128, 211, 243, 256, 257, 360, 512, 1021, 1024}) {
    for (const char* kind : {"FFT", "IFFT", "RFFT", "IRFFT"}) {
      for (const bool is_double : {false, true}) {
        const auto module = ReadModule(Transform(length, kind, is_double));
        if (!module.ok()) {
          ADD_FAILURE() << module.status();
          continue;
        }
        std::vector<Literal> inputs;
        for (const Instruction* parameter : (*module)->entry()->parameters())
          inputs.push_back(*RandomLiteral(parameter->shape(), {}, 1, inputs.size()));
        const CheckSubject subject = {*oracle, *backend, Profile::Strict(), {}, {}};
        const CheckResult result = Checker(subject, CheckCase::Of(**module, inputs)).Check();
        (result.outcome.kind == Outcome::kPassed ? passed : others) += 1;
        EXPECT_EQ(Name(result.outcome.kind), Name(Outcome::kPassed))
            << Transform(length, kind, is_double) << "\n"
            << result.outcome.Describe();
      }
    }
  }
  return absl::StrCat(name, ": ", passed, " within the bound, ", others, " not");
}

TEST(PlatformRows, EveryRowOfTheDocuments) {
  Observations see;
  see["pipe-fft-implementation"] = [] {
    return absl::StrCat(TransformsOn("cpu"), "; ", TransformsOn("gpu-sim"));
  };
  see["pipe-platform-independence"] = [] {
    return absl::StrCat(CorpusFrom("gpu-sim:libraries=on", "cpu"), "; ",
                        CorpusFrom("cpu", "gpu-sim"));
  };
  CheckRowTable("conformance/testdata/platform_rows.txt", see);
}

}  // namespace
}  // namespace assay
