// Programs by way of the driver and NVIDIA's libraries, with stand-ins: near the numbers of
// gpu-sim, by the calls that they should be made of; an error at each call; and mistakes in calls,
// planted.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "optimized/cpu/testing.h"
#include "optimized/gpu/backends_for_test.h"
#include "optimized/gpu/cuda_host.h"
#include "optimized/gpu/driver/testing/stand_in_for_test.h"
#include "spec/base/case_file.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using gpu::CallsSoFar;
using gpu::CountOf;
using gpu::FailAt;

void Reset() {
  gpu::ForgetCudaHost();
  gpu::ResetStandIn();
  for (const char* variable : {"ASSAY_LIBCUDA", "ASSAY_LIBCUBLASLT", "ASSAY_LIBCUDNN",
                               "ASSAY_LIBCUSOLVER", "ASSAY_LIBCUFFT"})
    setenv(variable, ASSAY_STAND_IN, 1);
}

constexpr const char* kDevice = "gpu:image-ir=on,libraries=on";

struct Program {
  std::string name;
  std::vector<std::string> calls;
  std::unique_ptr<Module> module;
  std::vector<Literal> arguments;
  std::vector<const Literal*> Pointers() const {
    std::vector<const Literal*> pointers;
    for (const Literal& argument : arguments) pointers.push_back(&argument);
    return pointers;
  }
};

// Small numbers; squares are positive definite, so that they have a factor.
Literal ArgumentOf(const Shape& shape, int seed) {
  Literal literal(shape);
  const int64_t rank = shape.rank();
  const int64_t n = rank == 0 ? 1 : shape.dimension(rank - 1);
  const bool is_square = rank >= 2 && shape.dimension(rank - 2) == n;
  for (int64_t k = 0; k < literal.element_count(); ++k) {
    const int64_t row = k / n % n, column = k % n;
    const int64_t number = is_square ? row * column + row + column : k;
    literal.SetDouble(k, static_cast<double>((number * 7 + seed) % 5 - 2) +
                             (is_square && row == column ? 40.0 : 0.0));
  }
  return literal;
}

std::vector<Program> Programs() {
  std::vector<Program> programs;
  const std::string path = StrCat(ASSAY_SOURCE_DIR, "/optimized/gpu/testdata/device_programs.txt");
  const auto text = ReadCaseText(path);
  EXPECT_TRUE(text.ok()) << text.status();
  if (!text.ok()) return programs;
  const std::string_view keys[] = {"calls", "module"};
  const auto file = ParseCases(path, *text, keys);
  EXPECT_TRUE(file.ok()) << file.status();
  if (!file.ok()) return programs;
  for (const CaseBlock& block : *file) {
    Program program{block.name, block.Words("calls"), MustRead(block.Find("module")->text), {}};
    if (program.module == nullptr) continue;
    int seed = 1;
    for (const Instruction* parameter : program.module->entry()->parameters())
      program.arguments.push_back(ArgumentOf(parameter->shape(), seed++));
    programs.push_back(std::move(program));
  }
  return programs;
}

void Numbers(const Literal& literal, std::vector<double>& numbers) {
  if (literal.shape().IsTuple()) {
    for (const Literal& element : literal.elements()) Numbers(element, numbers);
    return;
  }
  const bool is_complex = IsComplex(literal.shape().element_type());
  for (int64_t k = 0; k < literal.element_count(); ++k) {
    if (is_complex) {
      const auto* parts = reinterpret_cast<const float*>(literal.bytes().data());
      numbers.push_back(parts[2 * k]);
      numbers.push_back(parts[2 * k + 1]);
    } else {
      numbers.push_back(literal.GetDouble(k));
    }
  }
}

bool Near(const Literal& a, const Literal& b) {
  std::vector<double> left, right;
  Numbers(a, left);
  Numbers(b, right);
  if (left.size() != right.size()) return false;
  for (size_t k = 0; k < left.size(); ++k) {
    const bool both_nan = std::isnan(left[k]) && std::isnan(right[k]);
    if (!both_nan && !(std::abs(left[k] - right[k]) <= 1e-4 * (1 + std::abs(right[k]))))
      return false;
  }
  return true;
}

TEST(GpuDevice, LibrariesGiveTheNumbersOfKernels) {
  for (const Program& program : Programs()) {
    for (const char* graphs : {"", ",graphs=on"}) {
      SCOPED_TRACE(StrCat(program.name, graphs));
      Reset();
      const Literal wanted =
          RunModule(*OpenGpuBackend("gpu-sim"), *program.module, program.arguments);
      auto executable = OpenGpuBackend(StrCat(kDevice, graphs))->Compile(*program.module, {});
      ASSERT_TRUE(executable.ok()) << executable.status();
      for (int k = 0; k < 3; ++k) {
        const auto run = (*executable)->Run({program.Pointers()});
        ASSERT_TRUE(run.ok()) << run.status() << gpu::ReportOfStandIn();
        EXPECT_TRUE(Near(run->outputs[0], wanted))
            << run->outputs[0].ToString() << " for " << wanted.ToString();
      }
      for (const std::string& call : program.calls) EXPECT_GT(CountOf(call), 0) << call;
      executable = absl::UnavailableError("");
      EXPECT_EQ(gpu::LivingInStandIn(), 0);
      EXPECT_EQ(gpu::ReportOfStandIn(), "");
    }
  }
}

// An error that loses nothing is told, leaves nothing behind, and the next run is right.
TEST(GpuDevice, AnswersAnErrorAtEachCall) {
  constexpr int kOutOfMemory = 2, kNotSupported = 3000;
  int failed = 0;
  for (const Program& program : Programs()) {
    Reset();
    const std::unique_ptr<Backend> device = OpenGpuBackend(StrCat(kDevice, ",graphs=on"));
    const Literal wanted =
        RunModule(*OpenGpuBackend("gpu-sim"), *program.module, program.arguments);
    auto executable = device->Compile(*program.module, {});
    ASSERT_TRUE(executable.ok()) << executable.status();
    for (const int code : {kOutOfMemory, kNotSupported}) {
      for (int at = 0, runs = 0; runs < 4; ++at) {
        SCOPED_TRACE(StrCat(program.name, ", call ", at, " gives ", code));
        const int before = CallsSoFar();
        const int64_t lived = gpu::LivingInStandIn();
        FailAt(at, code);
        const auto run = (*executable)->Run({program.Pointers()});
        const bool was_told = CallsSoFar() > before + at;
        FailAt(-1, 0);
        if (run.ok()) {
          EXPECT_TRUE(Near(run->outputs[0], wanted));
          // The later runs have fewer calls: those of the first are behind.
          if (!was_told) {
            at = -1;
            ++runs;
          }
          continue;
        }
        ASSERT_TRUE(was_told) << run.status();
        ++failed;
        EXPECT_GT(run.status().message().size(), 12u);
        EXPECT_EQ(gpu::ReportOfStandIn(), "");
        // A run that did not get to begin leaves what the one before keeps for it.
        EXPECT_TRUE(gpu::LivingInStandIn() == 0 || gpu::LivingInStandIn() == lived)
            << gpu::LivingInStandIn();
        ASSERT_LT(at, 2000);
      }
    }
    executable = absl::UnavailableError("");
    EXPECT_EQ(gpu::LivingInStandIn(), 0);
  }
  EXPECT_GT(failed, 500);
}

// A context that is lost is lost for all that follows, and says so.
TEST(GpuDevice, ALostContextIsPlainlySo) {
  constexpr int kLaunchFailed = 719;
  const std::vector<Program> programs = Programs();
  const Program& program = programs.back();
  int lost = 0;
  for (int at = 0;; at += 5) {
    SCOPED_TRACE(at);
    Reset();
    auto executable = OpenGpuBackend(kDevice)->Compile(*program.module, {});
    ASSERT_TRUE(executable.ok()) << executable.status();
    const int before = CallsSoFar();
    FailAt(at, kLaunchFailed);
    const auto run = (*executable)->Run({program.Pointers()});
    const bool was_told = CallsSoFar() > before + at;
    FailAt(-1, 0);
    if (!was_told) break;
    ++lost;
    EXPECT_FALSE(run.ok());
    const auto again = (*executable)->Run({program.Pointers()});
    ASSERT_FALSE(again.ok());
    EXPECT_NE(std::string(again.status().message()).find("only a new process"), std::string::npos)
        << again.status();
  }
  EXPECT_GT(lost, 5);
}

// Each mistake in a call is noticed: by an error, or by other numbers.
TEST(GpuDevice, MistakesInCallsAreFound) {
  const std::vector<Program> programs = Programs();
  std::ifstream in(StrCat(ASSAY_SOURCE_DIR, "/optimized/gpu/testdata/call_defects.txt"));
  int planted = 0;
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    if (line[0] == '#' || fields.size() != 4) continue;
    SCOPED_TRACE(line);
    const Program* program = nullptr;
    for (const Program& each : programs)
      if (each.name == fields[3]) program = &each;
    ASSERT_NE(program, nullptr);
    Reset();
    const Literal wanted =
        RunModule(*OpenGpuBackend("gpu-sim"), *program->module, program->arguments);
    int64_t by = 0;
    ASSERT_TRUE(absl::SimpleAtoi(fields[2], &by));
    auto executable = OpenGpuBackend(kDevice)->Compile(*program->module, {});
    ASSERT_TRUE(executable.ok()) << executable.status();
    gpu::BendCall(fields[1], by);
    const auto run = (*executable)->Run({program->Pointers()});
    EXPECT_GT(CountOf(fields[1]), 0);
    EXPECT_TRUE(!run.ok() || !Near(run->outputs[0], wanted));
    ++planted;
  }
  EXPECT_GE(planted, 17);
}

}  // namespace
}  // namespace assay
