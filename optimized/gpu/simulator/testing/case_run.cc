// Cases of testdata: buffers, launches, comparisons.
#include "optimized/gpu/simulator/testing/case_run.h"

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "spec/base/status_macros.h"

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

  CaseOutcome Run(const std::function<void(llvm::Function&)>& change) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic diagnostic;
    const CaseField* ir = block_.Find("ir");
    if (ir == nullptr) return Broken("no ir");
    const std::unique_ptr<llvm::Module> module =
        llvm::parseAssemblyString(absl::StrCat(std::string(kHead), ir->text), diagnostic, context);
    if (module == nullptr) {
      return Broken(absl::StrCat(diagnostic.getMessage().str(), " in line ",
                                 diagnostic.getLineNo() + ir->line - 2));
    }
    llvm::Function* function = module->getFunction("k");
    if (function == nullptr) return Broken("no kernel k");
    if (change) change(*function);
    const auto kernel = Decode(*function, options_);
    if (!kernel.ok()) return {kernel.status(), ""};
    PlaceBuffers();
    LaunchShape shape = {.grid = ShapeOf(block_.Value("grid")),
                         .block = ShapeOf(block_.Value("block"))};
    shape.dynamic_shared_bytes = ShapeOf(block_.Value("shared"))[0] - 1;
    const absl::Status status = simulator_.Launch(**kernel, shape, arguments_, memory_);
    if (status.ok()) CompareAll();
    return {status, mismatch_};
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

  CaseOutcome Broken(const std::string& what) {
    ADD_FAILURE() << block_.name << ": " << what;
    return {absl::InternalError(what), ""};
  }

  void Differ(const std::string& text) {
    if (mismatch_.empty()) mismatch_ = text;
  }

  void CompareAll() {
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
    if (!copied.ok()) return Differ(std::string(copied.message()));
    const bool in_steps = words.back() == "...";
    for (size_t k = 0; k < buffer.count; ++k) {
      const double expected = in_steps
                                  ? Number(words[0]) + Number(words[1]) * static_cast<double>(k)
                                  : Number(words[k]);
      const double number = GetNumber(buffer.type, values.data() + k * bytes);
      if (number != expected) {
        Differ(absl::StrCat("element ", k, " is ", number, ", not ", expected));
      }
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
      if (static_cast<double>(value) != Number(words[1])) {
        Differ(absl::StrCat(words[0], " is ", value, ", not ", words[1]));
      }
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
  std::string mismatch_;
};

}  // namespace

absl::StatusOr<std::vector<CaseBlock>> SimulatorCaseBlocks(const std::string& file) {
  const std::string path =
      absl::StrCat(ASSAY_SOURCE_DIR, "/optimized/gpu/simulator/testdata/", file);
  ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadCaseText(path));
  return ParseCases(file, text, kKeys);
}

CaseOutcome RunCase(const CaseBlock& block, uint64_t seed,
                    const std::function<void(llvm::Function&)>& change) {
  return CaseRun(block, seed).Run(change);
}

}  // namespace assay::gpu
