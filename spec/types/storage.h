// The bytes of a literal. Large blocks lie on huge pages where the system has them and are kept for
// the next literal of about their size: a fresh page costs more to touch than to fill.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay {

class Storage {
 public:
  Storage() = default;
  // Undefined bytes, aligned to 16 at least, which is enough for every element type.
  explicit Storage(size_t size);
  Storage(const Storage& other);
  Storage(Storage&& other) noexcept;
  Storage& operator=(Storage other) noexcept;
  ~Storage();

  uint8_t* data() { return begin_; }
  const uint8_t* data() const { return begin_; }
  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  bool empty() const { return begin_ == end_; }
  bool operator==(const Storage& other) const;

 private:
  uint8_t* begin_ = nullptr;
  uint8_t* end_ = nullptr;    // of what is used
  uint8_t* limit_ = nullptr;  // of the block
};

}  // namespace assay
