// Takes small blocks from operator new, large ones from a list of those that were given back.
#include "spec/types/storage.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace assay {
namespace {

constexpr size_t kLarge = size_t{1} << 20;  // below this pages are no matter
constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kMaxKept = size_t{256} << 20;  // bytes that wait for another literal
constexpr size_t kMaxBlocks = 32;

struct Block {
  uint8_t* data;
  size_t capacity;
};

// Blocks that were given back. Whoever finds the list locked does without it: a process that was
// forked while another thread held the lock would wait for ever.
class KeptBlocks {
 public:
  static KeptBlocks& Get() {
    static KeptBlocks& blocks = *new KeptBlocks();
    return blocks;
  }

  // The smallest block that holds `size` bytes and is not much larger; no data: there is none.
  Block Take(size_t size) {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return {nullptr, 0};
    size_t best = kept_.size();
    for (size_t k = 0; k < kept_.size(); ++k) {
      const size_t capacity = kept_[k].capacity;
      if (capacity < size || capacity / 2 > size) continue;
      if (best == kept_.size() || capacity < kept_[best].capacity) best = k;
    }
    if (best == kept_.size()) return {nullptr, 0};
    const Block found = kept_[best];
    kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(best));
    bytes_ -= found.capacity;
    return found;
  }

  void FreeAll() {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    for (const Block& block : kept_) std::free(block.data);
    kept_.clear();
    bytes_ = 0;
  }

  void Give(Block block) {
    {
      const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
      if (lock.owns_lock() && block.capacity <= kMaxKept) {
        // The oldest go first.
        while (bytes_ + block.capacity > kMaxKept || kept_.size() >= kMaxBlocks) {
          bytes_ -= kept_.front().capacity;
          std::free(kept_.front().data);
          kept_.erase(kept_.begin());
        }
        kept_.push_back(block);
        bytes_ += block.capacity;
        return;
      }
    }
    std::free(block.data);
  }

 private:
  KeptBlocks() { kept_.reserve(kMaxBlocks); }

  std::mutex mutex_;
  std::vector<Block> kept_;  // oldest first
  size_t bytes_ = 0;
};

Block Allocate(size_t size) {
  const size_t alignment = size >= kHugePage ? kHugePage : 4096;
  const size_t capacity = (size + alignment - 1) / alignment * alignment;
  void* data = std::aligned_alloc(alignment, capacity);
  if (data == nullptr) {
    KeptBlocks::Get().FreeAll();  // a limit on the address space counts them
    data = std::aligned_alloc(alignment, capacity);
  }
  if (data == nullptr) throw std::bad_alloc();
  // Advice: without huge pages it is the same memory.
  if (alignment == kHugePage) (void)madvise(data, capacity, MADV_HUGEPAGE);
  return {static_cast<uint8_t*>(data), capacity};
}

}  // namespace

Storage::Storage(size_t size) {
  if (size == 0) return;
  Block block{nullptr, size};
  if (size < kLarge) {
    block.data = static_cast<uint8_t*>(::operator new(size));
  } else {
    block = KeptBlocks::Get().Take(size);
    if (block.data == nullptr) block = Allocate(size);
  }
  begin_ = block.data;
  end_ = begin_ + size;
  limit_ = begin_ + block.capacity;
}

Storage::Storage(const Storage& other) : Storage(other.size()) {
  if (!empty()) std::memcpy(begin_, other.begin_, size());
}

Storage::Storage(Storage&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)),
      end_(std::exchange(other.end_, nullptr)),
      limit_(std::exchange(other.limit_, nullptr)) {}

Storage& Storage::operator=(Storage other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(end_, other.end_);
  std::swap(limit_, other.limit_);
  return *this;
}

Storage::~Storage() {
  if (begin_ == nullptr) return;
  const auto capacity = static_cast<size_t>(limit_ - begin_);
  if (capacity < kLarge) {
    ::operator delete(begin_);
  } else {
    KeptBlocks::Get().Give({begin_, capacity});
  }
}

bool Storage::operator==(const Storage& other) const {
  return size() == other.size() && (empty() || std::memcmp(begin_, other.begin_, size()) == 0);
}

}  // namespace assay
