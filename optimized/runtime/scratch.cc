// Blocks of working memory that are kept and handed out again.
#include "optimized/runtime/scratch.h"

#include <cstdlib>
#include <new>

namespace assay {

namespace {
constexpr size_t kMaxKept = 16;  // blocks
}

void ScratchPool::Block::Free::operator()(uint8_t* memory) const { std::free(memory); }

ScratchPool::Block::~Block() {
  if (memory_ == nullptr) return;
  std::lock_guard<std::mutex> lock(pool_->mutex_);
  if (pool_->kept_.size() < kMaxKept) pool_->kept_.push_back({std::move(memory_), bytes_});
}

ScratchPool::Block ScratchPool::Take(int64_t bytes) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // The smallest that is large enough.
    size_t best = kept_.size();
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].bytes < bytes) continue;
      if (best == kept_.size() || kept_[i].bytes < kept_[best].bytes) best = i;
    }
    if (best < kept_.size()) {
      Kept found = std::move(kept_[best]);
      kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(best));
      return Block(this, std::move(found.memory), found.bytes);
    }
    if (!kept_.empty()) kept_.erase(kept_.begin());  // too small for what is asked for now
  }
  const size_t rounded = (static_cast<size_t>(bytes) + 127) / 64 * 64;
  std::unique_ptr<uint8_t, Block::Free> memory(
      static_cast<uint8_t*>(std::aligned_alloc(64, rounded)));
  if (memory == nullptr) throw std::bad_alloc();
  return Block(this, std::move(memory), static_cast<int64_t>(rounded));
}

}  // namespace assay
