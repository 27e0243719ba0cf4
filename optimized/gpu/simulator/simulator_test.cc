// Kernels as text, with what they leave in memory or what must be found wrong with them:
// testdata/*.txt.
#include "optimized/gpu/simulator/simulator.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "spec/base/case_file.h"

namespace assay::gpu {
namespace {

constexpr std::string_view kHead =
    "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"\n"
    "target triple = \"nvptx64-nvidia-cuda\"\n";

constexpr std::string_view kKeys[] = {"grid",    "block", "shared",  "buffer", "scalar", "expect",
                                      "finding", "at",    "counter", "error",  "ir"};

std::vector<std::string> WordsOf(std::string_view text) {
  return absl::StrSplit(std::string(text), ' ', absl::SkipEmpty());
}

size_t SizeOfType(const std::string& type) {
  if (type == "i8") return 1;
  if (type == "i16" || type == "f16") return 2;
  if (type == "i64" || type == "f64") return 8;
  return 4;
}

void PutNumber(const std::string& type, double number, std::byte* to) {
  if (type == "f32") {
    const float value = static_cast<float>(number);
    std::memcpy(to, &value, 4);
  } else if (type == "f64") {
    std::memcpy(to, &number, 8);
  } else {
    const auto value = static_cast<int64_t>(number);
    std::memcpy(to, &value, SizeOfType(type));
  }
}

double GetNumber(const std::string& type, const std::byte* from) {
  if (type == "f32") {
    float value;
    std::memcpy(&value, from, 4);
    return value;
  }
  if (type == "f64") {
    double value;
    std::memcpy(&value, from, 8);
    return value;
  }
  uint64_t value = 0;
  std::memcpy(&value, from, SizeOfType(type));
  const int unused = 64 - 8 * static_cast<int>(SizeOfType(type));
  return static_cast<double>(static_cast<int64_t>(value << unused) >> unused);
}

// buffer: TYPE COUNT (iota | zero | fresh | NUMBERS)
struct Buffer {
  std::string type;
  size_t count = 0;
  uint64_t address = 0;
};

std::array<uint32_t, 3> ShapeOf(std::string_view text) {
  std::array<uint32_t, 3> shape = {1, 1, 1};
  const std::vector<std::string> words = WordsOf(text);
  for (size_t k = 0; k < words.size() && k < 3; ++k) {
    EXPECT_TRUE(absl::SimpleAtoi(words[k], &shape[k]));
  }
  return shape;
}

double Number(const std::string& word) {
  double number = NAN;
  EXPECT_TRUE(absl::SimpleAtod(word, &number)) << word;
  return number;
}

class CaseRun {
 public:
  CaseRun(const CaseBlock& block, uint64_t seed)
      : block_(block), options_{.seed = seed, .max_instructions = 1000000}, simulator_(options_) {}

  void Run() {
    llvm::LLVMContext context;
    llvm::SMDiagnostic diagnostic;
    const CaseField* ir = block_.Find("ir");
    ASSERT_NE(ir, nullptr);
    const std::unique_ptr<llvm::Module> module =
        llvm::parseAssemblyString(absl::StrCat(std::string(kHead), ir->text), diagnostic, context);
    ASSERT_NE(module, nullptr) << diagnostic.getMessage().str() << " in line "
                               << diagnostic.getLineNo() + ir->line - 2;
    llvm::Function* function = module->getFunction("k");
    ASSERT_NE(function, nullptr);
    const auto kernel = Decode(*function, options_);
    absl::Status status = kernel.status();
    if (kernel.ok()) {
      PlaceBuffers();
      LaunchShape shape = {.grid = ShapeOf(block_.Value("grid")),
                           .block = ShapeOf(block_.Value("block"))};
      shape.dynamic_shared_bytes = ShapeOf(block_.Value("shared"))[0] - 1;
      status = simulator_.Launch(**kernel, shape, arguments_, memory_);
    }
    Check(status);
  }

 private:
  void PlaceBuffers() {
    for (const CaseField& field : block_.fields) {
      const std::vector<std::string> words = WordsOf(field.value);
      if (field.key == "scalar") {
        arguments_.push_back(KernelArgument::Scalar(static_cast<int64_t>(Number(words[0]))));
      }
      if (field.key != "buffer") continue;
      ASSERT_GE(words.size(), 3u);
      Buffer buffer = {words[0], static_cast<size_t>(Number(words[1]))};
      const size_t bytes = SizeOfType(buffer.type);
      buffer.address =
          *memory_.Allocate(buffer.count * bytes, 16, absl::StrCat("buffer ", buffers_.size()));
      std::vector<std::byte> values(buffer.count * bytes);
      for (size_t k = 0; k < buffer.count; ++k) {
        const double number = words[2] == "iota"    ? static_cast<double>(k)
                              : words[2] == "zero"  ? 0
                              : words[2] == "fresh" ? 0
                                                    : Number(words[2 + k]);
        PutNumber(buffer.type, number, values.data() + k * bytes);
      }
      if (words[2] != "fresh") {
        ASSERT_TRUE(memory_.CopyIn(buffer.address, values).ok());
      }
      arguments_.push_back(KernelArgument::Buffer(buffer.address));
      buffers_.push_back(buffer);
    }
  }

  void Check(const absl::Status& status) {
    const std::string_view finding = block_.Value("finding"), error = block_.Value("error");
    if (!error.empty()) {
      EXPECT_NE(std::string(status.message()).find(error), std::string::npos) << status;
      return;
    }
    if (!finding.empty()) {
      const std::optional<KernelFinding> found = FindingOf(status);
      ASSERT_TRUE(found.has_value()) << status;
      EXPECT_EQ(FindingName(found->kind), finding) << status;
      EXPECT_NE(ToString(*found).find(block_.Value("at")), std::string::npos) << status;
      return;
    }
    ASSERT_TRUE(status.ok()) << status;
    for (const CaseField& field : block_.fields) {
      if (field.key == "expect") CheckBuffer(buffers_[field.index], WordsOf(field.value));
      if (field.key == "counter") CheckCounter(WordsOf(field.value));
    }
  }

  // expect[K]: NUMBERS of buffer K, or "FIRST STEP ..." for numbers in steps.
  void CheckBuffer(const Buffer& buffer, const std::vector<std::string>& words) {
    const size_t bytes = SizeOfType(buffer.type);
    std::vector<std::byte> values(buffer.count * bytes);
    const absl::Status copied = memory_.CopyOut(buffer.address, absl::MakeSpan(values));
    ASSERT_TRUE(copied.ok()) << copied;
    const bool in_steps = words.back() == "...";
    for (size_t k = 0; k < buffer.count; ++k) {
      const double expected = in_steps
                                  ? Number(words[0]) + Number(words[1]) * static_cast<double>(k)
                                  : Number(words[k]);
      EXPECT_EQ(GetNumber(buffer.type, values.data() + k * bytes), expected) << "element " << k;
    }
  }

  void CheckCounter(const std::vector<std::string>& words) {
    const Counters& counters = simulator_.counters();
    const std::pair<std::string_view, uint64_t> rows[] = {
        {"divergent-branches", counters.divergent_branches},
        {"loads-16", counters.global_loads[4]},
        {"loads-4", counters.global_loads[2]},
        {"stores-16", counters.global_stores[4]},
        {"sectors", counters.global_sectors},
        {"least-sectors", counters.least_global_sectors},
        {"bytes", counters.global_bytes},
        {"bank-conflicts", counters.bank_conflicts},
        {"barriers", counters.barriers},
        {"instructions", counters.warp_instructions},
    };
    for (const auto& [name, value] : rows) {
      if (name != words[0]) continue;
      EXPECT_EQ(static_cast<double>(value), Number(words[1])) << name;
      return;
    }
    ADD_FAILURE() << "no counter " << words[0];
  }

  const CaseBlock& block_;
  SimulatorOptions options_;
  Simulator simulator_;
  DeviceMemory memory_;
  std::vector<Buffer> buffers_;
  std::vector<KernelArgument> arguments_;
};

class SimulatorCases : public testing::TestWithParam<const char*> {};

TEST_P(SimulatorCases, AreAsExpected) {
  const std::string path =
      absl::StrCat(ASSAY_SOURCE_DIR, "/optimized/gpu/simulator/testdata/", GetParam());
  const auto text = ReadCaseText(path);
  ASSERT_TRUE(text.ok()) << text.status();
  const auto blocks = ParseCases(GetParam(), *text, kKeys);
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_FALSE(blocks->empty());
  for (const CaseBlock& block : *blocks) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(absl::StrCat(block.name, ", seed ", seed));
      CaseRun(block, seed).Run();
      if (HasFailure()) break;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Files, SimulatorCases,
                         testing::Values("memory.txt", "findings.txt", "lanes.txt"));

}  // namespace
}  // namespace assay::gpu
