// The memory that a plain evaluation holds at most, for the programs of testdata/memory.txt. Every
// allocation of this program is counted.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/case_file_for_test.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace {

std::atomic<int64_t> live_bytes{0}, peak_bytes{0};

void Count(void* block, int64_t sign) {
  if (block == nullptr) return;
  const int64_t live =
      live_bytes.fetch_add(sign * static_cast<int64_t>(malloc_usable_size(block))) +
      sign * static_cast<int64_t>(malloc_usable_size(block));
  int64_t peak = peak_bytes.load();
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
}

}  // namespace

void* operator new(size_t size) {
  void* block = std::malloc(size);
  if (block == nullptr) std::abort();
  Count(block, 1);
  return block;
}
void operator delete(void* block) noexcept {
  Count(block, -1);
  std::free(block);
}
void operator delete(void* block, size_t) noexcept { operator delete(block); }

namespace assay::reference {
namespace {

constexpr const char* kComputations = R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT }
)";

TEST(MemoryTest, PeakIsAFewTimesTheLiveValues) {
  CasesForTest cases("reference/testdata/memory.txt", {"most"});
  EXPECT_GE(cases.blocks().size(), 15u);
  for (const CaseBlock& block : cases.blocks()) {
    SCOPED_TRACE(block.name);
    double most = 0;
    ASSERT_TRUE(absl::SimpleAtod(ToAbsl(block.Value("most")), &most));
    const std::string entry = absl::StrReplaceAll(block.text, {{"[N]", "[1048576]"}});
    auto module = ReadModule(StrCat("HloModule m\n", kComputations, "ENTRY e {\n", entry, "\n}\n"));
    ASSERT_TRUE(module.ok()) << module.status().message();
    ASSERT_TRUE(Verify(**module).ok()) << Verify(**module);
    std::vector<Literal> inputs;
    int64_t values = 0;
    for (const Instruction* parameter : (*module)->entry()->parameters()) {
      inputs.emplace_back(parameter->shape());
      uint32_t state = 1;
      for (float& x : inputs.back().data<float>()) {
        state = state * 1664525 + 1013904223;
        x = static_cast<float>(state >> 8) * 0x1p-24f;
      }
      values += parameter->shape().ByteSize();
    }
    std::vector<const Literal*> arguments;
    for (const Literal& input : inputs) arguments.push_back(&input);
    const int64_t given = values, before = live_bytes.load();
    peak_bytes = before;
    absl::StatusOr<Literal> result = MakeOracle()->Evaluate(**module, arguments, Limits{});
    ASSERT_TRUE(result.ok()) << result.status();
    values += result->shape().ByteSize();
    const auto peak = static_cast<double>(peak_bytes.load() - before + given);
    std::printf("%-16s %5.1f MB of values, at most %.2f times that\n", block.name.c_str(),
                static_cast<double>(values) / (1 << 20), peak / static_cast<double>(values));
    EXPECT_LE(peak, most * static_cast<double>(values));
  }
}

}  // namespace
}  // namespace assay::reference
