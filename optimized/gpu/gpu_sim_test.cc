// gpu-sim against cpu on modules of one answer, bit for bit, with all checks of the simulator; its
// options; and its kernels as PTX.
#include "optimized/gpu/gpu_sim_backend.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "optimized/cpu/testing.h"
#include "optimized/plan/program_plan.h"
#include "spec/base/strings.h"
#include "spec/base/temporary_folder.h"

namespace assay {
namespace {

struct NamedModule {
  std::string name, text;
};

std::vector<NamedModule> ModulesOfFile() {
  std::ifstream in(StrCat(ASSAY_SOURCE_DIR, "/optimized/gpu/testdata/modules.txt"));
  std::vector<NamedModule> modules;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== ")) {
      modules.push_back({line.substr(4), ""});
    } else if (!modules.empty()) {
      StrAppend(&modules.back().text, line, "\n");
    }
  }
  return modules;
}

// Numbers of some size of either sign, none of which is a NaN.
Literal Drawn(const Shape& shape, std::mt19937_64& random) {
  Literal value = *Literal::Create(shape);
  const absl::Span<uint8_t> bytes = value.bytes();
  const ElementType type = shape.element_type();
  const size_t width = bytes.size() / static_cast<size_t>(shape.ElementCount());
  for (size_t at = 0; at < bytes.size(); at += width) {
    const int number = static_cast<int>(random() % 200) - 100;
    if (type == ElementType::kF32) {
      const float real = static_cast<float>(number) / 7;
      std::memcpy(&bytes[at], &real, 4);
    } else if (type == ElementType::kF64) {
      const double real = static_cast<double>(number) / 7;
      std::memcpy(&bytes[at], &real, 8);
    } else if (type == ElementType::kBF16) {
      const float real = static_cast<float>(number) / 7;
      std::memcpy(&bytes[at], reinterpret_cast<const char*>(&real) + 2, 2);
    } else {
      const int64_t whole = width == 4 ? number % 25 : number;
      std::memcpy(&bytes[at], &whole, width);
    }
  }
  return value;
}

std::unique_ptr<Backend> MakeGpu(const std::string& options) {
  BackendRegistry registry;
  RegisterGpuSim(registry);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create("gpu-sim:" + options);
  EXPECT_TRUE(backend.ok()) << backend.status();
  return backend.ok() ? *std::move(backend) : nullptr;
}

TEST(GpuSimTest, GivesTheBitsOfTheCpu) {
  const std::vector<NamedModule> modules = ModulesOfFile();
  ASSERT_GE(modules.size(), 11u);
  for (const NamedModule& each : modules) {
    SCOPED_TRACE(each.name);
    const std::unique_ptr<Module> module = MustRead(each.text);
    ASSERT_NE(module, nullptr);
    std::mt19937_64 random(7);
    std::vector<Literal> arguments;
    for (const Instruction* parameter : module->entry()->parameters()) {
      arguments.push_back(Drawn(parameter->shape(), random));
    }
    const std::string expected = RunModule(*MakeCpu(), *module, arguments).ToString();
    for (const char* options : {"arch=sm_80,seed=1", "checks=off,seed=2", "passes=off,seed=3"}) {
      EXPECT_EQ(RunModule(*MakeGpu(options), *module, arguments).ToString(), expected) << options;
    }
    // Without its kernel a factor is a loop of products, and a select-and-scatter a sum of shifted
    // windows, which add in an order of their own.
    if (module->HasAny({Opcode::kCholesky, Opcode::kTriangularSolve, Opcode::kSelectAndScatter})) {
      continue;
    }
    for (const int64_t limit : {int64_t{0}, int64_t{3}}) {
      CompileOptions first;
      first.decision_limit = limit;
      EXPECT_EQ(RunModule(*MakeGpu("seed=4"), *module, arguments, first).ToString(), expected)
          << "first decisions: " << limit;
    }
  }
}

TEST(GpuSimTest, TellsWhatItCannotDo) {
  BackendRegistry registry;
  RegisterGpuSim(registry);
  for (const auto& [options, word] : {std::pair("arch=sm_10", "sm_80, sm_90, sm_100"),
                                      {"checks=maybe", "on or off"},
                                      {"seed=x", "a number"},
                                      {"speed=9", "speed"}}) {
    const auto backend = registry.Create(StrCat("gpu-sim:", options));
    ASSERT_FALSE(backend.ok()) << options;
    EXPECT_NE(backend.status().message().find(word), std::string::npos) << backend.status();
  }
  const std::unique_ptr<Module> module = MustRead(
      "HloModule m\nENTRY e { x = f32[2] parameter(0) t = token[] after-all() s = (f32[2], u32[], "
      "token[]) send(x, t), channel_id=1 ROOT d = token[] send-done(s), channel_id=1 }");
  const auto send = MakeGpu("arch=sm_90")->Compile(*module, {});
  ASSERT_FALSE(send.ok());
  EXPECT_EQ(ClassOf(send.status()), ErrorClass::kUnsupported) << send.status();
  CompileOptions many;
  many.devices.replicas = 300;
  EXPECT_EQ(ClassOf(MakeGpu("arch=sm_90")->Compile(*module, many).status()),
            ErrorClass::kUnsupported);
}

// Integers may be added in any order: as many threads as there are updates work, not one.
TEST(GpuSimTest, ScattersInParallel) {
  const std::unique_ptr<Module> module = MustRead(
      "HloModule m\nadd { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) "
      "}\n"
      "ENTRY e { x = s32[64] parameter(0) i = s32[2048] parameter(1) ROOT r = s32[64] scatter(x, "
      "i, "
      "i), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
      "index_vector_dim=1, to_apply=add }");
  const auto compiled = MakeGpu("seed=5")->Compile(*module, {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const Literal x = *Literal::Create(module->entry()->parameter(0)->shape());
  const Literal i = *Literal::Create(module->entry()->parameter(1)->shape());
  ASSERT_TRUE((*compiled)->Run({{&x, &i}}).ok());
  EXPECT_LT((*compiled)->Statistics().at("gpu.instructions"), 2048 * 4);
}

// Steps without a kernel are done by the host, and are counted.
TEST(GpuSimTest, CountsStepsOfTheHost) {
  const std::unique_ptr<Module> module = MustRead(
      "HloModule m\nENTRY e { a = f64[3,3] parameter(0) ROOT c = (f64[3,3], s32[3], s32[]) "
      "custom-call(a), custom_call_target=\"lapack_dgetrf_ffi\" }");
  const auto compiled = MakeGpu("trace=on")->Compile(*module, {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ((*compiled)->Statistics().at("host.steps"), 1);
  EXPECT_EQ((*compiled)->Statistics().at("kernels"), 0);
  const auto* planned = dynamic_cast<const PlannedExecutable*>(compiled->get());
  ASSERT_NE(planned, nullptr);
  EXPECT_EQ(planned->plan()[0].plan, "native: host assay_lapack");
}

// Devices that wait for one that never comes, and a device whose kernel is at fault, end the run
// for all.
TEST(GpuSimTest, DevicesReduceAndNobodyWaitsForEver) {
  const std::string add =
      "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) "
      "}\n";
  const std::unique_ptr<Module> sum =
      MustRead(add +
               "ENTRY e { x = f32[5] parameter(0) ROOT r = f32[5] all-reduce(x), "
               "replica_groups={{0,2},{1,3}}, to_apply=add }");
  const std::unique_ptr<Module> stuck = MustRead(
      add +
      "quiet { x = f32[5] parameter(0) ROOT r = f32[5] all-reduce(x), to_apply=add }\n"
      "loud { x = f32[5] parameter(0) ROOT r = f32[5] negate(x) }\n"
      "ENTRY e { x = f32[5] parameter(0) i = u32[] replica-id() z = u32[] constant(1) c = pred[] "
      "compare(i, z), direction=LT ROOT r = f32[5] conditional(c, x, x), true_computation=quiet, "
      "false_computation=loud }");
  CompileOptions four;
  four.devices.replicas = 4;
  std::vector<Literal> inputs;
  std::vector<std::vector<const Literal*>> arguments;
  for (const char* text : {"{1,2,3,4,5}", "{10,20,30,40,50}", "{0,0,0,0,1}", "{5,5,5,5,5}"}) {
    inputs.push_back(MustReadLiteral("f32[5]", text));
  }
  for (const Literal& input : inputs) arguments.push_back({&input});
  const auto compiled = MakeGpu("seed=3")->Compile(*sum, four);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto run = (*compiled)->Run(arguments);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->outputs[0].ToString(), MustReadLiteral("f32[5]", "{1,2,3,4,6}").ToString());
  EXPECT_EQ(run->outputs[3].ToString(), MustReadLiteral("f32[5]", "{15,25,35,45,55}").ToString());
  const auto waiting = MakeGpu("seed=3")->Compile(*stuck, four);
  ASSERT_TRUE(waiting.ok()) << waiting.status();
  const auto ended = (*waiting)->Run(arguments);
  ASSERT_FALSE(ended.ok());
  EXPECT_NE(ended.status().message().find("gpu-sim: replica 0 waits in all-reduce"),
            std::string::npos)
      << ended.status();
}

TEST(GpuSimTest, CountsWhatKernelsDoAndShowsItsPlan) {
  const std::unique_ptr<Module> module =
      MustRead("HloModule m\nENTRY e { x = f32[256] parameter(0) ROOT f = f32[256] negate(x) }");
  const auto compiled = MakeGpu("trace=on")->Compile(*module, {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const Literal input = *Literal::Create(module->entry()->parameter(0)->shape());
  ASSERT_TRUE((*compiled)->Run({{&input}}).ok());
  const std::map<std::string, double> statistics = (*compiled)->Statistics();
  EXPECT_EQ(statistics.at("kernels"), 1);
  EXPECT_EQ(statistics.at("gpu.launches"), 1);
  EXPECT_EQ(statistics.at("gpu.bytes"), 2 * 256 * 4);
  EXPECT_EQ(statistics.at("gpu.sectors"), statistics.at("gpu.sectors.least"));
  const auto* planned = dynamic_cast<const PlannedExecutable*>(compiled->get());
  ASSERT_NE(planned, nullptr);
  ASSERT_EQ(planned->plan().size(), 1u);
  EXPECT_EQ(planned->plan()[0].plan, "nests: linear by 4; vectors: 4 neighbours per thread");
}

// If ptxas is installed, it has the last word; how it optimizes is not the question.
TEST(GpuSimTest, KernelsAreValidPtxForEveryArchitecture) {
  const std::string ptxas = "/usr/local/cuda/bin/ptxas";
  const bool assembles = std::filesystem::exists(ptxas);
  TemporaryFolder folder("gpu-ptx");
  for (const NamedModule& each : ModulesOfFile()) {
    const std::unique_ptr<Module> module = MustRead(each.text);
    for (const std::string arch : {"sm_80", "sm_90", "sm_100"}) {
      SCOPED_TRACE(StrCat(each.name, " for ", arch));
      const auto compiled =
          MakeGpu(StrCat("arch=", arch, ",dump-ptx=", folder.path()))->Compile(*module, {});
      ASSERT_TRUE(compiled.ok()) << compiled.status();
      const std::string path = StrCat(folder.path(), "/m.ptx");
      std::stringstream text;
      text << std::ifstream(path).rdbuf();
      EXPECT_NE(text.str().find(StrCat(".target ", arch)), std::string::npos);
      EXPECT_NE(text.str().find(".entry kernel_"), std::string::npos) << text.str();
      if (!assembles) continue;
      const std::string command = StrCat(ptxas, " -O1 -arch=", arch, " -o /dev/null ", path);
      EXPECT_EQ(std::system(command.c_str()), 0) << text.str();
    }
  }
}

}  // namespace
}  // namespace assay
