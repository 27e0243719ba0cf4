// The templates of GPU kernels: that plans choose them, that their results have cpu's bits in every
// order of blocks and warps with all checks on, and how they use memory by the simulator's
// counters.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "optimized/cpu/testing.h"
#include "optimized/gpu/gpu_sim_backend.h"
#include "optimized/plan/program_plan.h"
#include "spec/base/strings.h"
#include "spec/base/temporary_folder.h"

namespace assay {
namespace {

struct TemplateCase {
  std::string name, plan, counts, text;
};

std::vector<TemplateCase> CasesOfFile() {
  std::ifstream in(StrCat(ASSAY_SOURCE_DIR, "/optimized/gpu/testdata/templates.txt"));
  std::vector<TemplateCase> cases;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== ")) {
      cases.push_back({line.substr(4), "", "", ""});
    } else if (line.starts_with("plan: ")) {
      cases.back().plan = line.substr(6);
    } else if (line.starts_with("counts:")) {
      cases.back().counts = line.substr(7);
    } else if (!cases.empty()) {
      StrAppend(&cases.back().text, line, "\n");
    }
  }
  return cases;
}

Literal WholeNumbers(const Shape& shape, std::mt19937_64& random) {
  Literal value = *Literal::Create(shape);
  const absl::Span<uint8_t> bytes = value.bytes();
  const ElementType type = shape.element_type();
  const size_t width = bytes.size() / static_cast<size_t>(shape.ElementCount());
  for (size_t at = 0; at < bytes.size(); at += width) {
    const int number = static_cast<int>(random() % 17) - 8;
    const auto single = static_cast<float>(number);
    const double real = number;
    const int64_t whole = IsPred(type) ? number & 1 : number;
    const void* from = type == ElementType::kF64    ? static_cast<const void*>(&real)
                       : type == ElementType::kF32  ? &single
                       : type == ElementType::kBF16 ? reinterpret_cast<const char*>(&single) + 2
                                                    : static_cast<const void*>(&whole);
    std::memcpy(&bytes[at], from, width);
  }
  return value;
}

std::vector<Literal> ArgumentsOf(const Module& module) {
  std::mt19937_64 random(11);
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    arguments.push_back(WholeNumbers(parameter->shape(), random));
  }
  return arguments;
}

std::unique_ptr<Backend> MakeGpuSim(const std::string& options) {
  BackendRegistry registry;
  RegisterGpuSim(registry);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create("gpu-sim:" + options);
  EXPECT_TRUE(backend.ok()) << backend.status();
  return backend.ok() ? *std::move(backend) : nullptr;
}

void CheckCounts(const std::string& counts, const std::map<std::string, double>& statistics) {
  const auto value = [&](const std::string& name) { return statistics.at(StrCat("gpu.", name)); };
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(counts, ' '))) {
    if (word == "wide") {
      EXPECT_GT(value("loads.16"), 0);
      EXPECT_GT(value("stores.16"), 0);
      for (const char* narrow : {"1", "2", "4", "8"}) {
        EXPECT_EQ(value(StrCat("loads.", narrow)), 0) << narrow;
        EXPECT_EQ(value(StrCat("stores.", narrow)), 0) << narrow;
      }
    } else if (word == "coalesced") {
      EXPECT_LE(value("sectors"), 1.05 * value("sectors.least"));
    } else if (word == "meets") {
      EXPECT_GT(value("barriers"), 0);
    } else if (word == "barriers") {
      EXPECT_GT(value("barriers"), 0);
      EXPECT_GT(value("shared"), 0);
    } else if (word.starts_with("conflicts=")) {
      double percent = 0;
      ASSERT_TRUE(absl::SimpleAtod(word.substr(10), &percent)) << word;
      EXPECT_LE(value("bank.conflicts"), percent / 100 * value("shared"));
    } else {
      EXPECT_EQ(word, "");
    }
  }
}

TEST(GpuTemplates, AreChosenGiveOneAnswerAndUseMemoryWell) {
  const std::vector<TemplateCase> cases = CasesOfFile();
  ASSERT_GE(cases.size(), 20u);
  for (const TemplateCase& each : cases) {
    SCOPED_TRACE(each.name);
    const std::unique_ptr<Module> module = MustRead(each.text);
    ASSERT_NE(module, nullptr);
    const std::vector<Literal> arguments = ArgumentsOf(*module);
    const auto compiled = MakeGpuSim("trace=on")->Compile(*module, {});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    std::string plan;
    for (const StepText& step : dynamic_cast<PlannedExecutable&>(**compiled).plan()) {
      StrAppend(&plan, step.plan, "\n");
    }
    EXPECT_THAT(plan, testing::HasSubstr(each.plan));
    std::vector<const Literal*> pointers;
    for (const Literal& argument : arguments) pointers.push_back(&argument);
    const std::string expected = RunModule(*MakeCpu(), *module, arguments).ToString();
    const auto ran = (*compiled)->Run({pointers});
    ASSERT_TRUE(ran.ok()) << ran.status();
    EXPECT_EQ(ran->outputs[0].ToString(), expected);
    CheckCounts(each.counts, (*compiled)->Statistics());
    for (const char* options : {"seed=1", "seed=2,arch=sm_80", "checks=off"}) {
      EXPECT_EQ(RunModule(*MakeGpuSim(options), *module, arguments).ToString(), expected)
          << options;
    }
    CompileOptions dull;
    dull.decision_limit = 0;
    EXPECT_EQ(RunModule(*MakeGpuSim("seed=3"), *module, arguments, dull).ToString(), expected);
  }
}

// ptxas, where it is installed, tells what registers cannot hold.
TEST(GpuTemplates, AssembleWithoutSpills) {
  const std::string ptxas = "/usr/local/cuda/bin/ptxas";
  if (!std::filesystem::exists(ptxas)) GTEST_SKIP() << "no ptxas here";
  const TemporaryFolder folder("gpu-templates");
  for (const TemplateCase& each : CasesOfFile()) {
    const std::unique_ptr<Module> module = MustRead(each.text);
    ASSERT_NE(module, nullptr);
    for (const std::string arch : {"sm_80", "sm_90", "sm_100"}) {
      SCOPED_TRACE(StrCat(each.name, " for ", arch));
      const auto compiled =
          MakeGpuSim(StrCat("arch=", arch, ",dump-ptx=", folder.path()))->Compile(*module, {});
      ASSERT_TRUE(compiled.ok()) << compiled.status();
      const std::string said = StrCat(folder.path(), "/said");
      const std::string command = StrCat(ptxas, " -v -arch=", arch, " -o /dev/null ", folder.path(),
                                         "/m.ptx > ", said, " 2>&1");
      std::stringstream text;
      EXPECT_EQ(std::system(command.c_str()), 0);
      text << std::ifstream(said).rdbuf();
      EXPECT_THAT(text.str(), testing::HasSubstr("0 bytes spill stores, 0 bytes spill loads"));
      EXPECT_THAT(text.str(), testing::Not(testing::ContainsRegex("[1-9][0-9]* bytes spill")));
    }
  }
}

// For tools/gpu-page, which names a folder: counters of each module, and its kernels as PTX.
TEST(GpuTemplates, PageOfTheDocumentation) {
  const char* folder = std::getenv("ASSAY_GPU_PAGE");
  if (folder == nullptr) GTEST_SKIP() << "no page was asked for";
  std::ofstream table(StrCat(folder, "/counters.tsv"));
  int number = -1;
  for (const TemplateCase& each : CasesOfFile()) {
    ++number;
    const std::unique_ptr<Module> module = MustRead(each.text);
    ASSERT_NE(module, nullptr);
    const std::vector<Literal> arguments = ArgumentsOf(*module);
    std::vector<const Literal*> pointers;
    double elements = 0;
    for (const Literal& argument : arguments) pointers.push_back(&argument);
    const auto compiled = MakeGpuSim("trace=on")->Compile(*module, {});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const auto ran = (*compiled)->Run({pointers});
    ASSERT_TRUE(ran.ok()) << ran.status();
    for (const Literal& argument : arguments) {
      elements += static_cast<double>(argument.shape().ElementCount());
    }
    table << each.name << '\t' << each.plan << '\t' << elements;
    const std::map<std::string, double> statistics = (*compiled)->Statistics();
    for (const char* name : {"instructions", "bytes", "sectors", "sectors.least", "shared",
                             "bank.conflicts", "barriers", "loads.16", "stores.16"}) {
      table << '\t' << statistics.at(StrCat("gpu.", name));
    }
    table << '\n';
    for (const std::string arch : {"sm_80", "sm_90", "sm_100"}) {
      const std::string of_case = StrCat(folder, "/", number, "/", arch);
      std::filesystem::create_directories(of_case);
      const auto code =
          MakeGpuSim(StrCat("arch=", arch, ",dump-ptx=", of_case))->Compile(*module, {});
      ASSERT_TRUE(code.ok()) << code.status();
    }
  }
}

struct PlantedMistake {
  std::string name, gate, op, by, module;
};
std::vector<PlantedMistake> MistakesOfFile() {
  std::ifstream in(StrCat(ASSAY_SOURCE_DIR, "/optimized/gpu/testdata/template_defects.txt"));
  std::vector<PlantedMistake> mistakes;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    EXPECT_EQ(fields.size(), 5u) << line;
    if (fields.size() == 5)
      mistakes.push_back({fields[0], fields[1], fields[2], fields[3], fields[4]});
  }
  return mistakes;
}

// Each is found, by the simulator or by what comes out.
TEST(GpuTemplates, EveryPlantedMistakeIsFound) {
  std::map<std::string, TemplateCase> modules;
  for (TemplateCase& each : CasesOfFile()) modules[each.name] = each;
  const std::vector<PlantedMistake> mistakes = MistakesOfFile();
  ASSERT_GE(mistakes.size(), 30u);
  for (const PlantedMistake& each : mistakes) {
    SCOPED_TRACE(each.name);
    ASSERT_TRUE(modules.contains(each.module)) << each.module;
    const std::unique_ptr<Module> module = MustRead(modules.at(each.module).text);
    ASSERT_NE(module, nullptr);
    const std::vector<Literal> arguments = ArgumentsOf(*module);
    std::vector<const Literal*> pointers;
    for (const Literal& argument : arguments) pointers.push_back(&argument);
    CompileOptions planted;
    planted.defect =
        StrCat(R"({"name": ")", each.name, R"(", "gate": ")", each.gate,
               R"(", "kind": "kernel", "op": ")", each.op, R"(")",
               each.by.empty() ? "" : StrCat(R"(, "parameters": {"by": )", each.by, "}"), "}");
    const std::unique_ptr<Backend> gpu = MakeGpuSim("seed=5");
    const auto compiled = gpu->Compile(*module, planted);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const auto ran = (*compiled)->Run({pointers});
    if (!ran.ok()) continue;
    EXPECT_TRUE(ran->outputs[0].ToString() != RunModule(*gpu, *module, arguments).ToString());
  }
}

}  // namespace
}  // namespace assay
