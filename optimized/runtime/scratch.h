// Memory that kernels of the runtime work in, kept from call to call: a block that is asked for
// anew every time would be paid for in page faults.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace assay {

// Safe to use from several threads.
class ScratchPool {
 public:
  // 64-byte aligned and undefined; goes back to the pool when it dies.
  class Block {
   public:
    Block(Block&& other) noexcept = default;
    ~Block();
    template <typename T>
    T* as() const {
      return reinterpret_cast<T*>(memory_.get());
    }

   private:
    friend class ScratchPool;
    struct Free {
      void operator()(uint8_t* memory) const;
    };
    Block(ScratchPool* pool, std::unique_ptr<uint8_t, Free> memory, int64_t bytes)
        : pool_(pool), memory_(std::move(memory)), bytes_(bytes) {}
    ScratchPool* pool_;
    std::unique_ptr<uint8_t, Free> memory_;
    int64_t bytes_;
  };

  Block Take(int64_t bytes);

 private:
  struct Kept {
    std::unique_ptr<uint8_t, Block::Free> memory;
    int64_t bytes;
  };
  std::mutex mutex_;
  std::vector<Kept> kept_;
};

}  // namespace assay
