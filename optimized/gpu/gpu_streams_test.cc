// Launches on several streams: the bits of one stream in any order, and what is found where a wait
// is forgotten. On gpu-sim, and by way of the stand-in for the driver with and without graphs.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "optimized/cpu/testing.h"
#include "optimized/gpu/backends_for_test.h"
#include "spec/base/case_file.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

struct StreamCase {
  std::string name, defect;
  std::unique_ptr<Module> module;
  std::vector<Literal> arguments;
};

Literal ArgumentOf(const Shape& shape, int seed) {
  Literal literal(shape);
  for (int64_t k = 0; k < literal.element_count(); ++k)
    literal.SetDouble(k, static_cast<double>((k * 7 + seed) % 5));
  if (shape.rank() == 2)  // positive definite
    for (int64_t k = 0; k < shape.dimension(0); ++k)
      literal.SetDouble(k * shape.dimension(1) + k, 100.0 + seed);
  return literal;
}

std::vector<StreamCase> Cases() {
  std::vector<StreamCase> cases;
  const std::string path = StrCat(ASSAY_SOURCE_DIR, "/optimized/gpu/testdata/stream_defects.txt");
  const auto text = ReadCaseText(path);
  EXPECT_TRUE(text.ok()) << text.status();
  if (!text.ok()) return cases;
  const std::string_view keys[] = {"gate", "by", "module"};
  const auto file = ParseCases(path, *text, keys);
  EXPECT_TRUE(file.ok()) << file.status();
  if (!file.ok()) return cases;
  for (const CaseBlock& block : *file) {
    StreamCase one;
    one.name = block.name;
    const std::string by(block.Value("by"));
    one.defect = StrCat(R"({"name": "d", "kind": "task", "gate": ")", block.Value("gate"),
                        R"(", "op": ")", by.empty() ? "claim-true" : "integer-offset", "\"",
                        by.empty() ? "" : StrCat(R"(, "parameters": {"by": )", by, "}"), "}");
    one.module = MustRead(block.Find("module")->text);
    EXPECT_NE(one.module, nullptr) << block.name;
    if (one.module == nullptr) continue;
    int seed = 1;
    for (const Instruction* parameter : one.module->entry()->parameters())
      one.arguments.push_back(ArgumentOf(parameter->shape(), seed++));
    cases.push_back(std::move(one));
  }
  return cases;
}

std::vector<const Literal*> PointersTo(const std::vector<Literal>& arguments) {
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  return pointers;
}

TEST(GpuStreams, GiveTheBitsOfOne) {
  for (const StreamCase& one : Cases()) {
    SCOPED_TRACE(one.name);
    const std::string wanted =
        RunModule(*OpenGpuBackend("gpu-sim:streams=1"), *one.module, one.arguments).ToString();
    for (const int seed : {0, 1, 2}) {
      const std::unique_ptr<Backend> several =
          OpenGpuBackend(StrCat("gpu-sim:streams=4,seed=", seed));
      EXPECT_EQ(RunModule(*several, *one.module, one.arguments).ToString(), wanted);
    }
  }
}

TEST(GpuStreams, WhatIsNotWaitedForIsFound) {
  for (const StreamCase& one : Cases()) {
    for (const char* options : {"gpu-sim:streams=4", "gpu-sim:streams=4,seed=5,checks=off"}) {
      SCOPED_TRACE(StrCat(one.name, " on ", options));
      CompileOptions planted;
      planted.defect = one.defect;
      const auto run =
          CompileAndRun(*OpenGpuBackend(options), *one.module, PointersTo(one.arguments), planted);
      ASSERT_FALSE(run.ok());
      EXPECT_NE(std::string(run.status().message()).find("missing stream dependency"),
                std::string::npos)
          << run.status();
    }
  }
}

// Two factors that depend on nothing of each other, and a sum of both: side by side they take
// little longer than one, by the simulator's clock, whatever the seed; on one stream as long as
// both.
TEST(GpuStreams, OverlapIsSeenByTheClock) {
  const std::unique_ptr<Module> module = MustRead(
      "HloModule m\nENTRY main {\n x = f32[8,8] parameter(0)\n y = f32[8,8] parameter(1)\n"
      " a = f32[8,8] cholesky(x), lower=true\n b = f32[8,8] cholesky(y), lower=true\n"
      " ROOT r = f32[8,8] add(a, b)\n}\n");
  ASSERT_NE(module, nullptr);
  const std::vector<Literal> arguments = {ArgumentOf(module->entry()->parameters()[0]->shape(), 1),
                                          ArgumentOf(module->entry()->parameters()[1]->shape(), 2)};
  struct Times {
    double path = 0, total = 0;
  };
  const auto times_on = [&](const std::string& options) {
    auto executable = OpenGpuBackend(options)->Compile(*module, {});
    EXPECT_TRUE(executable.ok()) << executable.status();
    if (!executable.ok()) return Times();
    EXPECT_TRUE((*executable)->Run({PointersTo(arguments)}).ok());
    const auto statistics = (*executable)->Statistics();
    return Times{statistics.at("gpu.clock.path"), statistics.at("gpu.clock.total")};
  };
  const Times one = times_on("gpu-sim:streams=1");
  EXPECT_GT(one.path, 0);
  EXPECT_EQ(one.path, one.total);
  for (const int seed : {0, 1, 2, 3}) {
    const Times four = times_on(StrCat("gpu-sim:streams=4,seed=", seed));
    EXPECT_EQ(four.total, one.total);
    EXPECT_LT(four.path, 0.8 * one.path);
    EXPECT_GT(four.path, 0.5 * one.path);
    // The order in which streams went on is not seen.
    EXPECT_EQ(four.path, times_on("gpu-sim:streams=4").path);
  }
}

// An executable runs again on the memory that it has, from the second time on by graphs.
TEST(GpuStreams, GraphsGiveTheSameBits) {
  for (const char* variable : {"ASSAY_LIBCUDA", "ASSAY_LIBCUBLASLT", "ASSAY_LIBCUDNN",
                               "ASSAY_LIBCUSOLVER", "ASSAY_LIBCUFFT"})
    setenv(variable, ASSAY_STAND_IN, 1);
  for (const char* options : {"gpu:image-ir=on", "gpu:image-ir=on,graphs=on"}) {
    const std::unique_ptr<Backend> device = OpenGpuBackend(options);
    ASSERT_NE(device, nullptr);
    for (const StreamCase& one : Cases()) {
      SCOPED_TRACE(StrCat(one.name, " on ", options));
      const std::string wanted =
          RunModule(*OpenGpuBackend("gpu-sim:streams=1"), *one.module, one.arguments).ToString();
      auto executable = device->Compile(*one.module, {});
      ASSERT_TRUE(executable.ok()) << executable.status();
      for (int k = 0; k < 4; ++k) {
        const auto run = (*executable)->Run({PointersTo(one.arguments)});
        ASSERT_TRUE(run.ok()) << run.status();
        EXPECT_EQ(run->outputs[0].ToString(), wanted);
      }
    }
  }
}

}  // namespace
}  // namespace assay
