// Threads take the parts of a kernel from a shared counter.
#include "optimized/runtime/thread_pool.h"

#include <emmintrin.h>

#include <algorithm>

namespace assay {
namespace {

// Looks, some tens of nanoseconds apart, before a thread sleeps: kernels follow each other within
// microseconds, and to wake a thread takes longer than many of them.
constexpr int kLooks = 800;

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { Work(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::TakeParts() {
  while (true) {
    const int64_t begin = next_.fetch_add(grain_);
    if (begin >= extent_) return;
    (*part_)(begin, std::min(extent_, begin + grain_));
  }
}

// A run is closed before its caller waits for those inside: who comes later sees that, and who came
// before is counted.
void ThreadPool::Serve() {
  inside_.fetch_add(1);
  if (is_open_) TakeParts();
  if (inside_.fetch_sub(1) == 1 && is_waiting_) {
    std::lock_guard<std::mutex> lock(mutex_);
    done_.notify_all();
  }
}

bool ThreadPool::SpinForRun(int64_t served) const {
  for (int look = 0; look < kLooks; ++look) {
    if (runs_ != served || stop_) return true;
    _mm_pause();
  }
  return false;
}

void ThreadPool::Work() {
  int64_t served = 0;
  while (true) {
    if (!SpinForRun(served)) {
      std::unique_lock<std::mutex> lock(mutex_);
      ++sleepers_;
      wake_.wait(lock, [&] { return stop_ || runs_ != served; });
      --sleepers_;
    }
    if (stop_) return;
    served = runs_;
    Serve();
  }
}

void ThreadPool::Run(int64_t extent, int64_t grain,
                     const std::function<void(int64_t, int64_t)>& part) {
  std::lock_guard<std::mutex> only(one_run_);
  part_ = &part;
  extent_ = extent;
  grain_ = std::max<int64_t>(1, grain);
  next_ = 0;
  is_open_ = true;
  ++runs_;
  if (sleepers_ > 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    wake_.notify_all();
  }
  TakeParts();
  is_open_ = false;
  for (int look = 0; inside_ > 0 && look < kLooks; ++look) _mm_pause();
  if (inside_ > 0) {
    std::unique_lock<std::mutex> lock(mutex_);
    is_waiting_ = true;
    done_.wait(lock, [this] { return inside_ == 0; });
    is_waiting_ = false;
  }
  part_ = nullptr;
}

}  // namespace assay
