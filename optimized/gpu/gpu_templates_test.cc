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
#include "nlohmann/json.hpp"
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

std::vector<TemplateCase> CasesOfFile(const std::string& name = "templates.txt") {
  std::ifstream in(StrCat(ASSAY_SOURCE_DIR, "/optimized/gpu/testdata/", name));
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
    if (IsFloat(type) && BitWidth(type) == 8) {
      // 0, 1, 1.5 or 2, of either sign.
      const int one = type == ElementType::kF8E5M2 ? 15 << 2 : 7 << 3;
      const int half = type == ElementType::kF8E5M2 ? 2 : 4;
      const int codes[] = {0, one, one + half, one + 2 * half};
      bytes[at] = static_cast<uint8_t>(codes[number & 3] | (number < 0 ? 128 : 0));
      continue;
    }
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
    for (const char* options :
         {"seed=1", "seed=2,arch=sm_80", "seed=3,arch=sm_100", "checks=off"}) {
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

// A file of planted defects; `modules` names those of the test in one of which each must be found,
// by its gate.
nlohmann::json DefectsOfFile(const std::string& name) {
  std::ifstream in(StrCat(ASSAY_SOURCE_DIR, "/fuzz/defects/", name));
  return nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
}

class PlantedMistakes : public testing::Test {
 protected:
  PlantedMistakes() {
    for (const TemplateCase& each : CasesOfFile("templates.txt")) Add(each);
    for (const TemplateCase& each : CasesOfFile("modules.txt")) Add(each);
  }

  // By the simulator, or by what comes out.
  bool IsFoundIn(const std::string& module_name, const nlohmann::json& defect) {
    Subject& subject = subjects_.at(module_name);
    CompileOptions planted;
    planted.defect = defect.dump();
    planted.limits.seconds = 1;  // some make loops endless
    std::vector<const Literal*> pointers;
    for (const Literal& argument : subject.arguments) pointers.push_back(&argument);
    const auto compiled = gpu_->Compile(*subject.module, planted);
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    if (!compiled.ok()) return false;
    const auto ran = (*compiled)->Run({pointers});
    if (!ran.ok()) return true;
    if (subject.expected.empty()) {
      subject.expected = RunModule(*gpu_, *subject.module, subject.arguments).ToString();
    }
    return ran->outputs[0].ToString() != subject.expected;
  }
  bool Has(const std::string& module_name) const { return subjects_.contains(module_name); }

 private:
  struct Subject {
    std::unique_ptr<Module> module;
    std::vector<Literal> arguments;
    std::string expected;  // made when it is first asked for
  };
  void Add(const TemplateCase& from) {
    Subject subject;
    subject.module = MustRead(from.text);
    ASSERT_NE(subject.module, nullptr) << from.name;
    subject.arguments = ArgumentsOf(*subject.module);
    subjects_[from.name] = std::move(subject);
  }

  const std::unique_ptr<Backend> gpu_ = MakeGpuSim("seed=5");
  std::map<std::string, Subject> subjects_;
};

TEST_F(PlantedMistakes, OfTemplatesAreFound) {
  std::ifstream in(StrCat(ASSAY_SOURCE_DIR, "/optimized/gpu/testdata/template_defects.txt"));
  int count = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    SCOPED_TRACE(line);
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    ASSERT_EQ(fields.size(), 5u);
    nlohmann::json defect = {
        {"name", fields[0]}, {"gate", fields[1]}, {"kind", "kernel"}, {"op", fields[2]}};
    if (!fields[3].empty()) defect["parameters"] = {{"by", std::stoll(fields[3])}};
    ASSERT_TRUE(Has(fields[4])) << fields[4];
    EXPECT_TRUE(IsFoundIn(fields[4], defect));
    ++count;
  }
  EXPECT_GE(count, 90);
}

TEST_F(PlantedMistakes, OfKernelsAreFoundSomewhere) {
  const nlohmann::json file = DefectsOfFile("gpu-kernels.json");
  ASSERT_GE(file["defects"].size(), 45u);
  for (const nlohmann::json& defect : file["defects"]) {
    const auto name = defect["name"].get<std::string>();
    SCOPED_TRACE(name);
    const auto gate = defect["gate"].get<std::string>();
    bool is_found = false;
    for (const nlohmann::json& module : file["modules"][gate]) {
      ASSERT_TRUE(Has(module.get<std::string>())) << module;
      is_found = is_found || IsFoundIn(module.get<std::string>(), defect);
    }
    EXPECT_TRUE(is_found);
  }
}

}  // namespace
}  // namespace assay
