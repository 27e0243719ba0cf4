// Memory that a process shares with the children it forks later: what a child writes there outlives
// it, so the parent can tell where it was when it died.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace assay {

// `count` default-constructed values. Where the machine has no shared memory left, private memory
// stands in for it: the parent then keeps reading the initial values.
template <typename T>
class SharedArray {
 public:
  static_assert(std::is_trivially_destructible_v<T>);

  explicit SharedArray(size_t count) : count_(count) {
    void* memory =
        mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    is_shared_ = memory != MAP_FAILED;
    if (!is_shared_) memory = ::operator new(bytes());
    values_ = static_cast<T*>(memory);
    std::uninitialized_value_construct_n(values_, count_);
  }
  ~SharedArray() {
    if (is_shared_) {
      munmap(values_, bytes());
    } else {
      ::operator delete(values_);
    }
  }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;

  bool is_shared() const { return is_shared_; }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return values_[i]; }
  const T& operator[](size_t i) const { return values_[i]; }

 private:
  size_t bytes() const { return count_ * sizeof(T); }

  size_t count_;
  bool is_shared_ = false;
  T* values_ = nullptr;
};

}  // namespace assay
