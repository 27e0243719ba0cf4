// Memory that holds code. It is written while it cannot run, and runs once it cannot be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace assay::direct {

class CodeBlock {
 public:
  // nullptr: the system gives no memory for code. Safe to call from several threads.
  static std::unique_ptr<CodeBlock> Make(const std::vector<uint8_t>& bytes);
  // Keeps the pages for the next block: new ones take longer to get than small code to write.
  ~CodeBlock();
  CodeBlock(const CodeBlock&) = delete;
  CodeBlock& operator=(const CodeBlock&) = delete;

  void* At(int64_t place) const { return pages_.begin + place; }

  struct Pages {
    uint8_t* begin;
    size_t bytes;
  };

 private:
  explicit CodeBlock(Pages pages) : pages_(pages) {}
  Pages pages_;
};

}  // namespace assay::direct
