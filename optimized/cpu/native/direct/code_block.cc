// Pages of the system, kept from program to program.
#include "optimized/cpu/native/direct/code_block.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace assay::direct {
namespace {

constexpr size_t kPage = 4096;
// Blocks grow by this much, so that a kept one serves most programs; so many are kept.
constexpr size_t kUnit = size_t{1} << 16;
constexpr size_t kMostKept = 16;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

struct Kept {
  std::mutex mutex;
  std::vector<CodeBlock::Pages> pages;
};
Kept& KeptPages() {
  static Kept& kept = *new Kept();
  return kept;
}

CodeBlock::Pages Take(size_t bytes) {
  {
    Kept& kept = KeptPages();
    std::lock_guard<std::mutex> lock(kept.mutex);
    const auto fits =
        std::find_if(kept.pages.rbegin(), kept.pages.rend(),
                     [&](const CodeBlock::Pages& pages) { return pages.bytes >= bytes; });
    if (fits != kept.pages.rend()) {
      const CodeBlock::Pages pages = *fits;
      kept.pages.erase(std::next(fits).base());
      return pages;
    }
  }
  const size_t wanted = RoundUp(bytes, kUnit);
  void* begin = mmap(nullptr, wanted, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) return {nullptr, 0};
  return {static_cast<uint8_t*>(begin), wanted};
}

}  // namespace

std::unique_ptr<CodeBlock> CodeBlock::Make(const std::vector<uint8_t>& bytes) {
  const Pages pages = Take(bytes.size());
  if (pages.begin == nullptr) return nullptr;
  auto block = std::unique_ptr<CodeBlock>(new CodeBlock(pages));
  const size_t used = RoundUp(bytes.size(), kPage);
  if (mprotect(pages.begin, used, PROT_READ | PROT_WRITE) != 0) return nullptr;
  std::memcpy(pages.begin, bytes.data(), bytes.size());
  if (mprotect(pages.begin, used, PROT_READ | PROT_EXEC) != 0) return nullptr;
  return block;
}

CodeBlock::~CodeBlock() {
  Kept& kept = KeptPages();
  {
    std::lock_guard<std::mutex> lock(kept.mutex);
    if (kept.pages.size() < kMostKept) {
      kept.pages.push_back(pages_);
      return;
    }
  }
  munmap(pages_.begin, pages_.bytes);
}

}  // namespace assay::direct
